//! Root modules whose lock files are one file, through links: what is selected for one of them is selected for all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::targets::Targets;
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::outcome::RootOutcome;
use crate::path::{shown, worktree};
use crate::step::Step;
use crate::words::first_of;

/// How many root modules are named.
const MOST_NAMED: usize = 5;

/// Where a version does not suit one of several root modules with the same lock file, names all of them: to select another one
/// there is no way forward, because it may not suit the others.
pub(in crate::commands) fn name_sharers(targets: &Targets<'_>, outcomes: &mut [RootOutcome]) {
    let mut of_file: Option<BTreeMap<PathBuf, Vec<&Path>>> = None;
    for outcome in outcomes.iter_mut().filter(|outcome| advises_upgrade(outcome)) {
        let of_file = of_file.get_or_insert_with(|| sharers(targets));
        let Some(paths) = of_file.values().find(|paths| paths.len() > 1 && paths.contains(&outcome.path.as_path()))
        else {
            continue;
        };
        let names: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        let step = Step::text(format!(
            "{} share this lock file, so one version must suit all of them: make their constraints agree",
            first_of(&names, MOST_NAMED)
        ));
        if let Err(error) = &mut outcome.body {
            error.hints.retain(|hint| !is_upgrade(hint));
            error.hints.push(step.clone());
        }
        let findings = std::mem::take(&mut outcome.findings).into_iter();
        let remedied = |it: Finding| if is_about_version(&it) { it.remedied_by(step.clone()) } else { it };
        outcome.findings = findings.map(remedied).collect();
    }
}

fn advises_upgrade(outcome: &RootOutcome) -> bool {
    let of_error = |error: &Error| error.hints.iter().any(is_upgrade);
    outcome.body.as_ref().is_err_and(of_error) || outcome.findings.iter().any(is_about_version)
}

fn is_upgrade(hint: &Step) -> bool {
    hint.commands().any(|command| command.is("upgrade"))
}

fn is_about_version(finding: &Finding) -> bool {
    finding.rule == Rule::VersionNotAllowed
}

/// The root modules of each lock file.
fn sharers<'t>(targets: &'t Targets<'_>) -> BTreeMap<PathBuf, Vec<&'t Path>> {
    let mut of_file: BTreeMap<PathBuf, Vec<&Path>> = BTreeMap::new();
    for (path, file) in targets.paths.iter().zip(targets.lock_files()) {
        of_file.entry(worktree::absolute(&file)).or_default().push(path);
    }
    of_file
}

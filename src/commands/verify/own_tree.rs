//! The findings about the working tree as a whole that need no base.

use std::path::Path;

use super::base::Base;
use super::facts;
use super::opening::OpenedRoots;
use super::remedies::creation;
use super::root::create_with_tool;
use crate::commands::shared::targets::{Targets, with_ignore_rule};
use crate::finding::{Finding, Level, Rule};
use crate::lockfile;
use crate::outcome::RootOutcome;
use crate::path::{self, worktree};
use crate::step::Step;
use crate::verify::Completion;
use crate::workspace::{Scope, root_settings};

/// The findings of a run without a base, and directories without a lock file whose settings cannot be read.
pub fn of_own_tree(targets: &Targets<'_>, opened: &OpenedRoots, scope: &Scope) -> (Vec<Finding>, Vec<RootOutcome>) {
    let now = scope.environment.now;
    let mut findings = facts::of_names_in_trees(&scope.directories(), &opened.roots, &opened.tracked, now);
    let (stated, unsettled) = stated_missing(targets, None, &findings, scope);
    findings.extend(stated);
    (findings, unsettled)
}

/// The findings about directories without a lock file for which the settings state a level; else a note counts them. Also those
/// whose settings cannot be read.
pub(super) fn stated_missing(
    targets: &Targets<'_>,
    base: Option<&Base>,
    known: &[Finding],
    scope: &Scope,
) -> (Vec<Finding>, Vec<RootOutcome>) {
    let (mut findings, mut unsettled) = (Vec::new(), Vec::new());
    for (shown, place) in targets.unlocked_places() {
        let file = shown.join(lockfile::FILE_NAME);
        if known.iter().any(|it| it.rule == Rule::LockFileMissing && it.file.as_ref() == Some(&file)) {
            continue;
        }
        let settings = match base {
            Some(base) => base.applied_settings(&worktree::absolute(place)),
            None => root_settings(place, shown, scope).map(|root| root.settings),
        };
        let settings = match settings {
            Ok(settings) => settings,
            Err(error) => {
                unsettled.push(RootOutcome::failed(shown, error));
                continue;
            }
        };
        if settings.level(Rule::LockFileMissing.id()).is_some_and(|level| level > Level::Note) {
            let name = path::shown(shown);
            let message = format!("{name} has no dependency lock file, and the settings state a level for that");
            let finding = Finding::new(Rule::LockFileMissing, message).in_file(file);
            let finding = finding.remedied_by(remedy(targets, shown));
            let finding = with_ignore_rule(finding, targets.beside.ignored.get(shown));
            findings.extend(Completion::checking(&settings, scope.environment.now).complete_all(vec![finding]));
        }
    }
    (findings, unsettled)
}

/// What writes the lock file of a directory without one.
fn remedy(targets: &Targets<'_>, directory: &Path) -> Step {
    if let Some(reason) = targets.beside.unlocked_units.unread.get(directory) {
        return create_with_tool(reason);
    }
    if targets.is_created(directory) {
        return creation();
    }
    let from_here = path::shown(&targets.path_from_here(directory));
    if targets.needs_tool(directory) {
        return step!("Run `tflock -C {} lock --tool TOOL` and commit the file.", from_here);
    }
    step!("Run `tflock -C {} lock` and commit the file.", from_here)
}

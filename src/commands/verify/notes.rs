//! The notes of `verify`: what was not checked or judged, by which rules, and what was assumed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::VerifyOptions;
use super::base::UnitsBefore;
use super::root::{GateRoot, GateRoots};
use crate::addr::ProviderAddr;
use crate::commands::shared::tree_notes;
use crate::disk::modules_dir::COMPARED;
use crate::disk::roots::Tree;
use crate::error::{Error, ErrorKind};
use crate::finding::{Level, Rule};
use crate::outcome::{Body, Notes, Outcome, RootOutcome};
use crate::path::shown;
use crate::step::Step;
use crate::verify::{InstalledCount, Verified};
use crate::words::{counted, first_of};

/// How many unchecked root modules a note names.
const MOST_NAMED: usize = 5;

/// The note without --base.
pub(super) const OWN: &str =
    "checked only against the working tree's own settings and trust file; use --base REV to gate a pull request";

/// Notes on what was not checked, and on which settings and trust file were used.
pub(super) fn on_what_was_checked(
    outcome: &Outcome,
    judged_by: Option<String>,
    offline: bool,
    skipped: usize,
) -> Notes {
    let mut notes: Notes = if offline { unchecked(outcome).into_iter().collect() } else { Notes::default() };
    notes.extend(judged_by);
    let is_down = |root: &RootOutcome| match &root.body {
        Ok(Body::Verified(verified)) => verified.inconclusive.iter().any(|it| it.error.kind == ErrorKind::Unavailable),
        _ => false,
    };
    if outcome.roots.iter().any(is_down) {
        notes.push(step!("`tflock verify --offline` uses what earlier runs learned"));
    }
    notes.extend(day_one(outcome));
    notes.extend(not_checked(outcome));
    if skipped > 0 && outcome.many {
        notes.push(format!("skipped {}", counted(skipped, "unchanged root module")));
    }
    notes
}

/// A note on what was not checked.
fn unchecked(outcome: &Outcome) -> Option<String> {
    let unknown = outcome.roots.iter().map(|root| match &root.body {
        Ok(Body::Verified(verified)) => verified.unknown,
        _ => 0,
    });
    match unknown.sum() {
        0 => None,
        1 => Some("1 hash not checked against a registry".to_owned()),
        count => Some(format!("{count} hashes not checked against a registry")),
    }
}

/// The next step if no trust file has signers yet.
fn day_one(outcome: &Outcome) -> Option<Step> {
    let findings = outcome.roots.iter().flat_map(|root| &root.findings);
    let unpinned = findings.filter(|finding| finding.rule == Rule::SignerNotPinned && finding.level() == Level::Note);
    let providers: BTreeSet<&ProviderAddr> = unpinned.filter_map(|finding| finding.address.as_ref()).collect();
    let of = match providers.len() {
        0 => return None,
        1 => "the signer of 1 provider is".to_owned(),
        count => format!("the signers of {count} providers are"),
    };
    Some(step!("there is no trust file, so {} not checked: `tflock trust init` remembers them", of))
}

/// Names the root modules with unreadable configuration that the change does not touch.
fn not_checked(outcome: &Outcome) -> Vec<String> {
    let of_root = |root: &RootOutcome| match &root.body {
        Ok(Body::Verified(Verified { not_checked: Some(error), .. })) => Some(error.clone()),
        _ => None,
    };
    let errors: Vec<Error> = outcome.roots.iter().filter_map(of_root).collect();
    let note = |error: &Error| {
        let file = error.file.as_deref().map(|file| format!(" in {}", shown(file))).unwrap_or_default();
        format!("not checked: configuration that could not be read at the base either{file}: {}", error.message)
    };
    let mut notes: Vec<String> = errors.iter().take(MOST_NAMED).map(note).collect();
    if errors.len() > MOST_NAMED {
        notes.push(format!("not checked for such reasons: {} more root modules", errors.len() - MOST_NAMED));
    }
    if !errors.is_empty() {
        notes.push("`exclude` in .tflock.hcl leaves directories out of the search".to_owned());
    }
    notes
}

/// Names the root modules that are not judged, since they are in repositories of their own.
pub(super) fn not_judged(nested: &[PathBuf]) -> Option<String> {
    let names = first_of(&nested.iter().map(|path| shown(path)).collect::<Vec<_>>(), MOST_NAMED);
    (!nested.is_empty()).then(|| {
        format!("not checked: root modules of git repositories within this one, which have their own gate: {names}")
    })
}

/// How far locked modules, so many in all, were checked.
pub(super) fn on_modules(locked: usize, is_offline: bool, options: VerifyOptions, roots: &GateRoots) -> Notes {
    let mut notes = Notes::default();
    if locked > 0 && is_offline {
        notes.push(format!("{} not checked against their sources", counted(locked, "locked module")));
    }
    if options.installed && locked > 0 {
        notes.push(Step::from(COMPARED));
    } else {
        notes.extend(gap(roots));
    }
    notes
}

/// A limit of the check of modules. No command of tflock installs those of units.
fn gap(roots: &GateRoots) -> Option<Step> {
    let is_unit = |root: &GateRoot| root.tree().is_some_and(|tree| tree.unit.is_some());
    let mut names = Vec::new();
    for (path, root) in roots {
        if root.as_ref().is_ok_and(|root| root.locked_packages() > 0 && !is_unit(root)) {
            names.push(if path.as_os_str().is_empty() { ".".to_owned() } else { shown(path) });
        }
    }
    (!names.is_empty()).then(|| {
        step!(
            "`init` re-downloads the locked modules ({}), and a tag may move or a registry list a new version before that: run \
             `tflock get` first, or `tflock verify --installed` afterwards, to check what was installed",
            first_of(&names, MOST_NAMED)
        )
    })
}

/// How much of what is installed was hashed.
pub(super) fn installed(outcome: &Outcome, options: VerifyOptions) -> Option<String> {
    let counts = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Verified(verified)) => verified.installed,
        _ => None,
    });
    let all = counts.reduce(|one, other| InstalledCount {
        hashed: one.hashed + other.hashed,
        not_installed: one.not_installed + other.not_installed,
    });
    let InstalledCount { hashed, not_installed } = all.filter(|_| options.installed)?;
    let is_other_version = outcome.findings().any(|(_, finding)| finding.rule == Rule::InstalledDiffers);
    if hashed == 0 && !is_other_version {
        return Some("nothing installed to check: no package of a locked provider is installed".to_owned());
    }
    let left = if not_installed == 0 {
        String::new()
    } else {
        format!("; {} not installed", counted(not_installed, "locked provider"))
    };
    Some(format!("hashed {}{left}", counted(hashed, "installed package")))
}

/// What was assumed of units, where lock files of templates go, and which sources changed.
pub(super) fn on_units(roots: &GateRoots, before: Option<&UnitsBefore<'_>>) -> Vec<String> {
    let trees = roots.iter().filter_map(|(path, root)| Some((&**path, root.as_ref().ok()?.tree()?)));
    let is_template = |tree: &Tree| tree.unit.as_ref().is_some_and(|unit| unit.is_template);
    let mut templates = Vec::new();
    for (path, root) in roots {
        let Ok(root) = root else { continue };
        if root.has_lock_file() && root.unread().is_none() && root.tree().is_some_and(is_template) {
            templates.push(&**path);
        }
    }
    let assumed: Vec<_> = trees.map(|(path, tree)| tree_notes::assumed(path, tree)).collect();
    let old =
        before.filter(|_| assumed.iter().any(|of_root| !of_root.is_empty())).and_then(|units| units.assumed(roots));
    let mut notes = tree_notes::on_assumed(assumed, |reason| old.is_some_and(|old| old.contains(reason)));
    notes.extend(of_templates(&templates));
    notes.extend(before.map(|units| units.changed_sources(roots)).unwrap_or_default());
    notes
}

/// That lock files of templates, at these paths, go elsewhere.
fn of_templates(templates: &[&Path]) -> Option<String> {
    let first = shown(templates.first()?);
    let count = counted(templates.len(), "unit template");
    Some(format!(
        "{count} with a lock file, such as {first}: Terragrunt copies it to each unit that a stack generates, so lock it there"
    ))
}

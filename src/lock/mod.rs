//! Decides what a command writes into a lock file: which queries to send, and what to write by the answers. `plan`
//! makes queries from requirements, lock file and intent; `settle` turns the answers into a new lock file and findings.
//! Both are pure and make all decisions. `commit` comes last and writes: an error before it leaves the disk unchanged. What keeps
//! a provider from its newest release is explained by `held_back`.

pub mod plan;
pub mod settle;

use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::disk::atomic::{self, Expected, FileMode, NewFile, Replacement, StoreError, Stored};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::HashScheme;
use crate::interrupt::{Interrupt, What};
use crate::lockfile::LockEntry;
use crate::path::shown;
use crate::platform::Platform;
use crate::query::question::{Query, Selected, Selection};
use crate::query::select::Criteria;
use crate::requirements::{Origin, Requirement};
use crate::version::{Constraints, Version};

/// The mode of a lock file, whatever the umask and the earlier mode. Source: `internal/replacefile`.
const LOCK_FILE_MODE: FileMode = FileMode::Exactly(0o644);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub path: PathBuf,
    /// The text of the lock file; `None` to write the configuration alone.
    pub text: Option<String>,
    pub boundary: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    pub path: &'a Path,
    /// The expected current text; `None` if the file must not exist.
    pub old: Option<&'a str>,
    pub new: &'a str,
}

/// Writes a lock file, and after it the configuration; true if any bytes changed, `None` if the configuration changed
/// since it was read, so nothing was written. The caller must have the lock on the directory.
pub fn commit(write: &Write, edits: &[Edit<'_>], interrupt: &Interrupt) -> Result<Option<bool>, Error> {
    let lock = write.text.as_ref().map(|text| Replacement {
        file: NewFile { path: &write.path, bytes: text.as_bytes(), mode: LOCK_FILE_MODE, what: What::LockFile },
        was: Expected::Anything,
    });
    let first = usize::from(lock.is_some());
    let edits = edits.iter().map(|edit| Replacement {
        file: NewFile {
            path: edit.path,
            bytes: edit.new.as_bytes(),
            mode: FileMode::KeepOr(0o644),
            what: What::of_name(edit.path),
        },
        was: edit.old.map_or(Expected::Absent, |old| Expected::Bytes(old.as_bytes())),
    });
    let files: Vec<Replacement<'_>> = lock.into_iter().chain(edits).collect();
    let directory = write.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match atomic::store_all(&files, directory, &write.boundary, interrupt) {
        Ok(stored) => {
            // `add` creates such a file. What a run that is killed here leaves is empty, and means the same.
            let is_created = |path: &Path| path.file_stem().is_some_and(|stem| stem == "versions");
            let is_empty = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0);
            let emptied = files[first..]
                .iter()
                .map(|replacement| replacement.file)
                .filter(|file| is_created(file.path) && is_empty(file.path));
            emptied.for_each(|file| drop(std::fs::remove_file(file.path)));
            Ok(Some(stored.contains(&Stored::Written)))
        }
        Err(StoreError::Changed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The places in configuration whose constraints exclude a version.
pub fn holders<'a>(requirement: &'a Requirement, version: &'a Version) -> impl Iterator<Item = &'a Origin> {
    requirement.origins.iter().filter(move |origin| {
        let constraints = origin.constraint.as_deref().and_then(|text| Constraints::parse_config(text).ok());
        constraints.is_some_and(|constraints| !constraints.allows(version))
    })
}

/// Why the newest release was not selected although it was requested; `None` if it was. The file is the one of the first
/// constraint that excludes it, relative as in the requirement; the message names the other places.
pub fn held_back(
    addr: &ProviderAddr,
    step: &Query,
    requirement: Option<&Requirement>,
    facts: &Selected,
) -> Option<Finding> {
    let Selection::Newest(criteria) = &step.selection else { return None };
    let newest = facts.newest.as_ref().or_else(|| facts.passed_over.first().map(|(version, _)| version))?;
    let selected = facts.version();
    let stays = step.recorded.as_ref().is_some_and(|recorded| recorded.version == *selected);
    let mut message = if stays {
        format!("{addr} stays at {selected} ({newest} is available): ")
    } else {
        format!("{addr} {selected} is not the newest release ({newest} is available): ")
    };
    let reasons = reasons(criteria, requirement, facts, newest);
    message.push_str(&reasons.join("; "));
    let finding = Finding::new(Rule::HeldBack, message).about(addr);
    // A release that only the settings exclude is worth more attention than a constraint that stays.
    let finding = match facts.passed_over.first() {
        Some((version, _)) => finding.of_version(version),
        None => finding,
    };
    let mut holders = requirement.into_iter().flat_map(|requirement| holders(requirement, newest)).peekable();
    let finding = if step.is_rewritable || holders.peek().is_none() {
        finding
    } else {
        finding.remedied_by("Change the constraint where it is written: `--bump` does not rewrite it.")
    };
    // The user has to look at the constraint, not at the lock file.
    Some(match holders.find(|origin| !origin.file.as_os_str().is_empty()) {
        Some(origin) => finding.in_file(&origin.file).at(origin.position),
        None => finding,
    })
}

/// A warning if the new release has fewer packages covered than the recorded one. They are counted, since their
/// platforms may be unknown.
pub fn platforms_dropped(addr: &ProviderAddr, step: &Query, new: &LockEntry) -> Option<Finding> {
    let old = step.recorded.as_ref().filter(|old| old.version != new.version)?;
    let [had, has] = [old, new].map(|entry| entry.hashes.of(HashScheme::H1).count());
    if has >= had {
        return None;
    }
    let platforms: Vec<&str> = step.platforms.iter().map(Platform::as_str).collect();
    let message = format!(
        "{addr} {} records {had} h1, {} only {has} (for {}): on other platforms `init` changes or refuses this lock file",
        old.version,
        new.version,
        platforms.join(", "),
    );
    Some(Finding::new(Rule::PlatformsDropped, message).about(addr))
}

fn reasons(criteria: &Criteria, requirement: Option<&Requirement>, facts: &Selected, newest: &Version) -> Vec<String> {
    let mut reasons = Vec::new();
    if !criteria.allows_by_constraints(newest) {
        let holders = requirement.into_iter().flat_map(|requirement| holders(requirement, newest));
        reasons.extend(holders.enumerate().map(|(at, origin)| reason(origin, at > 0)));
        if reasons.is_empty() {
            reasons.push(format!("the constraint \"{}\" does not allow it", criteria.constraints));
        }
    }
    if let Some((within, from)) = criteria.within.as_ref().filter(|(within, from)| !within.allows(from, newest)) {
        reasons.push(format!("it is more than a {within} step from {from}"));
    }
    if let Some(same) = criteria.same.as_ref().filter(|same| same.allows(facts.version())) {
        let against = same.opposed_beside(&criteria.constraints, newest);
        reasons.extend(against.iter().map(|demand| format!("{demand} of another root module does not allow it")));
        if reasons.is_empty() && !same.allows(newest) {
            reasons.push("it is too great a step for another root module".to_owned());
        }
    }
    for (version, why) in &facts.passed_over {
        let subject = if version == newest { String::new() } else { format!("{version} is excluded: ") };
        reasons.push(format!("{subject}{why}"));
    }
    reasons
}

/// `"~> 5.0" of module.net does not allow it`, with the place of the constraint.
fn reason(origin: &Origin, with_place: bool) -> String {
    let (constraint, asker) = (origin.constraint.as_deref().unwrap_or_default(), origin.caller());
    let place = if with_place && !origin.file.as_os_str().is_empty() {
        format!(" ({}:{})", shown(&origin.file), origin.position)
    } else {
        String::new()
    };
    format!("{constraint:?} of {asker}{place} does not allow it")
}

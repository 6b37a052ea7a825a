//! Adds requirements to the configuration, or removes them, before locking or after versions are selected. The texts are
//! edited in memory and written together with the lock file, or not at all.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::addition::{Addition, Pending, is_entry, require};
use super::request::{Bump, Removal};
use super::root::LockRoot;

use crate::addr::ProviderAddr;
use crate::commands::shared::earlier;
use crate::config::edit::{self, AddRequest, EditError, FileEdit};
use crate::config::{RootKind, SourceFile};
use crate::disk::{files, roots};
use crate::error::{Error, ErrorKind};
use crate::git::GitError;
use crate::lock;
use crate::lock::plan::Reselect;
use crate::path::shown;
use crate::requirements::{Origin, Requirement};
use crate::step::Step;
use crate::version::{Constraints, Operator, Version};
use crate::workspace::{RunSettings, instance_names};

/// Writes requirements into the configuration of a root module, and restricts the run to them. Notes where the history is unknown.
pub(super) fn add(root: &mut LockRoot, additions: &[Addition], notes: &mut BTreeSet<Step>) -> Result<(), Error> {
    let dialect = root.settings().dialect;
    let named: Vec<_> = additions.iter().filter_map(|addition| addition.address(dialect).ok()).collect();
    root.refuse_edits(&named)?;
    let files = if additions.iter().all(|addition| addition.flags.lock_only) { Vec::new() } else { sources(root)? };
    let (mut edited, mut pending) = (files.clone(), Vec::new());
    for addition in additions {
        let addr = addition.address(dialect)?;
        if !addition.flags.no_lock
            && let Err(error) = remember(root, &addr)
        {
            notes.insert(step!("it is unknown whether {} was locked before: {}", addr.short(dialect), error));
        }
        let required = root.requirements.get(&addr).is_some_and(|required| required.origins.iter().any(is_entry));
        if !addition.flags.lock_only {
            // A constraint that cannot be written at any version is reported before any request.
            // A stack has no requirement without one; what is written depends on the selected version.
            let some = Some("0.0.0").filter(|_| root.kind() == RootKind::Stack);
            let request = addition.request(&addr, addition.constraint.as_deref().or(some));
            match edit::add(&edited, dialect, &request) {
                Ok(edits) => edited = edit::apply(&edited, &edits),
                Err(EditError::AlreadyRequired { .. }) if addition.wants_version() => {}
                Err(error) => return Err(root.settings().placed(error.into())),
            }
        }
        if !addition.flags.no_lock {
            keep_locked(root, &addr, addition)?;
        }
        // An existing requirement may turn out to be the new one; it applies until then.
        if !required || addition.flags.replace || addition.flags.lock_only || addition.constraint.is_some() {
            let constraint = addition.constraint.clone();
            require(&mut root.requirements, &addr, addition, constraint)?;
        }
        if addition.flags.replace || addition.flags.pin && addition.constraint.is_some() {
            let anew = if addition.constraint.is_none() { Reselect::Always } else { Reselect::IfNotAllowed };
            root.intent.reselected.insert(addr.clone(), anew);
        }
        pending.push((addr, addition.clone()));
    }
    let locked = pending.iter().filter(|(_, addition)| !addition.flags.no_lock);
    let only = locked.map(|(addr, _)| addr.clone()).collect();
    let edits = editable(edit::edits_between(&files, &edited), root.settings())?;
    root.intent.only = Some(only);
    if additions.iter().any(Addition::wants_version) {
        root.prepared.pending = Some(Pending { files, dialect, additions: pending });
    } else {
        root.edit(edits);
    }
    Ok(())
}

/// That a directory has lock files of Atmos instances alone, so it lacks no other one; `None` elsewhere, and where the lock file is
/// what is to change or to select a version.
pub(super) fn left_to_atmos(root: &LockRoot, additions: &[Addition]) -> Option<Step> {
    let settings = root.settings();
    let is_wanted = additions.iter().any(|addition| addition.flags.lock_only || addition.flags.pin);
    if is_wanted || settings.lock_file().exists() {
        return None;
    }
    let instances = instance_names(&settings.root);
    let first = instances.first()?;
    let others = match instances.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    Some(step!(
        "no lock file is written next to {}{}: Atmos adds the entry when it runs `init` for an instance",
        shown(&settings.path.join(first.as_str())),
        others
    ))
}

/// The required providers that an addition does not name and that have no entry in the lock file.
pub(super) fn others_without_entry(root: &LockRoot) -> Option<Step> {
    let requested: BTreeSet<ProviderAddr> = root.requested().into_iter().collect();
    let required = root.requirements.iter().map(|(addr, _)| addr);
    let others = required.filter(|addr| root.lock.get(addr).is_none() && !requested.contains(addr));
    let names: Vec<String> = others.map(|addr| addr.short(root.settings().dialect)).collect();
    let they = if names.len() == 1 { "is" } else { "are" };
    let file = root.settings().lock_file_shown();
    (!names.is_empty()).then(|| {
        step!(
            "{} {} required too and not in {}; `tflock lock` adds what is missing",
            names.join(", "),
            they,
            shown(&file)
        )
    })
}

/// Refuses a constraint that excludes the locked version if no new version is selected.
fn keep_locked(root: &LockRoot, addr: &ProviderAddr, addition: &Addition) -> Result<(), Error> {
    let (Some(text), Some(entry)) = (&addition.constraint, root.lock.get(addr)) else { return Ok(()) };
    let is_against = Constraints::parse_config(text).is_ok_and(|terms| !terms.allows(&entry.version));
    if addition.flags.replace || addition.flags.pin || !is_against {
        return Ok(());
    }
    let source = &addition.source;
    let message =
        format!("the constraint {text:?} does not allow the locked version {} of provider {source}", entry.version);
    let hint = if addition.flags.lock_only {
        step!("`tflock remove --lock-only {}` takes the entry out; then add it again", source)
    } else {
        step!("`tflock add {} --replace` selects a version that it allows", format!("{source}@{text}"))
    };
    Err(Error::new(ErrorKind::NotFound, message).about(addr.clone()).hint(hint))
}

/// The edits, unless a file is not UTF-8.
fn editable(edits: Vec<FileEdit>, settings: &RunSettings) -> Result<Vec<FileEdit>, Error> {
    for edit in &edits {
        // Decoding replaced each byte sequence that is not UTF-8 by this character.
        if edit.old.as_ref().is_some_and(|old| old.contains(char::REPLACEMENT_CHARACTER))
            && files::read_file(&settings.root.join(&edit.path))?
                .is_some_and(|bytes| std::str::from_utf8(&bytes).is_err())
        {
            let message = "the file has bytes that are not UTF-8, and is not edited";
            return Err(Error::new(ErrorKind::Configuration, message)
                .in_file(settings.path.join(&edit.path))
                .hint("save it as UTF-8, as the tools want it"));
        }
    }
    Ok(edits)
}

/// Looks up a provider that is new to the lock file in git's history.
fn remember(root: &mut LockRoot, addr: &ProviderAddr) -> Result<(), GitError> {
    if root.lock.get(addr).is_none()
        && let Some(earlier) = earlier::earlier(root.settings(), addr)?
    {
        root.prepared.earlier.insert(addr.clone(), earlier);
    }
    Ok(())
}

/// Removes requirements from the configuration of a root module, and entries that nothing else requires from its lock file.
pub(super) fn remove(root: &mut LockRoot, removal: &Removal) -> Result<(), Error> {
    let &Removal { ref providers, force, lock_only } = removal;
    let named: Vec<_> = providers.iter().filter_map(|name| root.names().resolve(name).ok()).collect();
    root.refuse_edits(&named)?;
    if !force && !lock_only {
        root.refuse_unread()?;
    }
    let files = if lock_only { Vec::new() } else { sources(root)? };
    let mut edited = files.clone();
    let (mut still, mut lost) = (Vec::new(), Vec::new());
    for text in providers {
        let addr = root.names().resolve(text)?;
        if !lock_only {
            match edit::remove(&edited, root.settings().dialect, &addr, force) {
                Ok(edits) => edited = edit::apply(&edited, &edits),
                // The user may have removed the requirement by hand, so only the lock file is left to edit.
                Err(EditError::NotRequired { uses, .. }) if uses.is_empty() && root.lock.get(&addr).is_some() => {}
                Err(error) => return Err(root.settings().placed(error.into())),
            }
            root.requirements.remove_origins(&addr, |origin| is_entry(origin) || force && origin.module.is_empty());
        }
        match root.requirements.get(&addr) {
            Some(_) if !lock_only => still.push(addr),
            _ => lost.push(addr),
        }
    }
    let edits = edit::edits_between(&files, &edited);
    root.intent.only = Some(still.into_iter().collect());
    root.intent.dropped = lost.into_iter().collect();
    root.edit(editable(edits, root.settings())?);
    Ok(())
}

/// Notes about providers that are still required, each with its first requirement.
pub(super) fn still_required(root: &LockRoot) -> impl Iterator<Item = Step> {
    root.requested().into_iter().filter_map(|addr| {
        let origin = root.requirements.get(&addr)?.origins.first()?;
        let caller = origin.caller();
        let name = addr.short(root.settings().dialect);
        let file = shown(&roots::file_from(&root.settings().path, &origin.file));
        Some(format!("{name} stays locked: {caller} requires it ({file}:{})", origin.position).into())
    })
}

/// Rewrites the constraints of the root module that exclude the wanted version of a provider: the requested version, or
/// the newest that all other constraints allow.
pub(super) fn bump(root: &mut LockRoot, bump: &Bump) -> Result<(), Error> {
    let offered = bump.offered.get(&root.settings().path).cloned().unwrap_or_else(|| Ok(Arc::default()))?;
    root.refuse_edits(&root.requested())?;
    let files = sources(root)?;
    let mut edited = files.clone();
    for addr in root.requested() {
        let Some(requirement) = root.requirements.get(&addr) else { continue };
        // A provider with unknown versions fails later, when it is locked.
        let releases = offered.get(&addr).into_iter().flatten().flatten();
        let releases = releases.filter(|version| !root.excludes(&addr, version));
        let newest = || newest_beside(requirement, releases, bump.prereleases);
        let Some(target) = root.intent.precise.get(&addr).or_else(newest) else { continue };
        let holders: Vec<Origin> = lock::holders(requirement, target).cloned().collect();
        if let Some(other) = holders.iter().find(|origin| !is_entry(origin)) {
            return Err(not_ours(&addr, target, other, root.settings()));
        }
        for holder in holders {
            let constraint = bumped(holder.constraint.as_deref().unwrap_or_default(), target);
            let request = AddRequest {
                name: Some(holder.local_name.clone()),
                source: addr.to_string(),
                constraint: Some(constraint.clone()),
                replace: true,
            };
            let edits = edit::add(&edited, root.settings().dialect, &request);
            let edits = edits.map_err(|error| root.settings().placed(error.into()))?;
            edited = edit::apply(&edited, &edits);
            let terms = Constraints::parse_config(&constraint).unwrap_or_default();
            let requirements = &mut root.requirements;
            requirements.remove_origins(&addr, |origin| *origin == holder);
            requirements.add(&addr, &terms, Origin { constraint: Some(constraint), ..holder });
        }
    }
    root.edit(editable(edit::edits_between(&files, &edited), root.settings())?);
    Ok(())
}

/// The newest version that satisfies all constraints which cannot be rewritten.
fn newest_beside<'a>(
    requirement: &Requirement,
    offered: impl Iterator<Item = &'a Version>,
    prereleases: bool,
) -> Option<&'a Version> {
    let releases = offered.filter(|version| prereleases || !version.is_prerelease());
    releases.filter(|version| lock::holders(requirement, version).all(is_entry)).max()
}

fn not_ours(addr: &ProviderAddr, target: &Version, other: &Origin, settings: &RunSettings) -> Error {
    let message = format!(
        "{} {target} is not allowed by the constraint {:?}, which is not in the required_providers of the root module",
        addr.short(settings.dialect),
        other.constraint.as_deref().unwrap_or_default(),
    );
    let error = Error::new(ErrorKind::NotFound, message).in_file(settings.path.join(&other.file)).at(other.position);
    error.hint("change it there, or leave out the version to take the newest version that it allows")
}

/// A constraint of the same kind that allows a version.
fn bumped(text: &str, target: &Version) -> String {
    let old = Constraints::parse_config(text).unwrap_or_default();
    match old.terms() {
        _ if target.is_prerelease() => target.to_string(),
        [term] if term.operator() == Operator::Equal => {
            let sign = if text.trim_start().starts_with('=') { "= " } else { "" };
            format!("{sign}{target}")
        }
        [term] if term.operator() == Operator::PessimisticPatch => {
            format!("~> {}.{}.{}", target.major(), target.minor(), target.patch())
        }
        _ => Constraints::compatible_with(target).to_string(),
    }
}

fn sources(root: &LockRoot) -> Result<Vec<SourceFile>, Error> {
    roots::sources(&root.settings().root, root.settings().dialect).map_err(Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bumped_constraint_keeps_its_kind() {
        let target: Version = "6.2.1".parse().unwrap();
        for (old, new) in [
            ("~> 5.0", "~> 6.2"),
            ("~> 5.0.3", "~> 6.2.1"),
            ("= 5.1.0", "= 6.2.1"),
            ("5.1.0", "6.2.1"),
            (">= 4.0, < 6.0", "~> 6.2"),
            ("!= 6.2.1", "~> 6.2"),
        ] {
            assert_eq!(bumped(old, &target), new, "{old}");
        }
        assert_eq!(bumped("~> 5.0", &"7.0.0-rc1".parse().unwrap()), "7.0.0-rc1");
    }
}

//! The new module lock file of a root module, which is written together with its lock file, as an edit.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::request::LockRequest;
use crate::config::edit::FileEdit;
use crate::disk::roots::{MissingModule, RemoteModuleCall, Reselected, Tree, file_from};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::modulelock::{
    self, FILE_NAME, ModuleChange, ModuleKey, ModuleLock, ModuleLockFile, Resolved, ambiguous_reference, changes,
};
use crate::workspace::RunSettings;

#[derive(Debug, Clone, Default)]
pub(crate) struct ModuleLockEdit {
    /// The new text, if it changed.
    pub(super) edit: Option<FileEdit>,
    pub(super) changes: Vec<ModuleChange>,
    /// Findings that prevent writing.
    pub(super) findings: Vec<Finding>,
    /// The locked packages of modules that the user named for a new selection.
    pub(crate) named: BTreeSet<String>,
}

impl ModuleLockEdit {
    /// Computes the new module lock file from a complete module tree.
    pub(super) fn of(tree: &Tree, settings: &RunSettings, request: &LockRequest) -> Result<Self, Error> {
        let read = tree.module_lock.as_deref();
        if read.is_none() && !request.lock_modules {
            return Ok(Self::default());
        }
        // Content that differs from the lock is refused, even if modules may be missing.
        let is_refuted = |module: &&MissingModule| module.is_refuted();
        if let Some(module) = tree.missing.iter().find(is_refuted) {
            return Err(settings.not_installed(module));
        }
        if let Some(part) = tree.unread_parts.first().filter(|_| request.lock_modules) {
            return Err(settings.placed(part.modules_unknown()));
        }
        if !tree.complete {
            return Ok(Self::default());
        }
        let findings: Vec<Finding> = tree.remote_modules.iter().filter_map(|call| ambiguous(call, settings)).collect();
        if !findings.is_empty() {
            return Ok(Self { findings, ..Self::default() });
        }
        let before = read.map(|read| read.file.lock.clone()).unwrap_or_default();
        let resolved = tree.remote_modules.iter().map(|call| resolved(call, &before, settings));
        let now = ModuleLock::of(resolved.collect::<Result<Vec<_>, _>>()?).map_err(|shared| {
            Error::new(ErrorKind::Configuration, shared.to_string())
                .in_file(settings.path.join(FILE_NAME))
                .hint("give both calls the same source, or the packages addresses that differ in more")
        })?;
        let file = match read {
            Some(read) => ModuleLockFile { lock: now, ..read.file.clone() },
            None => ModuleLockFile::new(now),
        };
        let (old, new) = (read.map(|read| read.text.clone()), file.encode());
        // Without module calls no file is created.
        let is_needless = old.is_none() && file.lock.is_empty();
        let changed = old.as_deref() != Some(new.as_str()) && !is_needless;
        let edit = changed.then(|| FileEdit { path: PathBuf::from(FILE_NAME), old, new });
        let named = match &request.reselected_modules {
            Reselected::Named(names) => {
                names.iter().filter(|name| !before.named(name, settings.dialect).is_empty()).cloned().collect()
            }
            _ => BTreeSet::new(),
        };
        let first_uses = if request.no_first_use { first_uses(&before, &file.lock) } else { Vec::new() };
        let first_uses = first_uses.into_iter().map(|finding| finding.in_file(settings.path.join(FILE_NAME)));
        Ok(Self { edit, changes: changes(&before, &file.lock), findings: first_uses.collect(), named })
    }
}

/// A call with its package; without a fetched package, the locked one stays.
fn resolved(call: &RemoteModuleCall, before: &ModuleLock, settings: &RunSettings) -> Result<Resolved, Error> {
    let source = call.address.as_ref();
    let constraints = call.constraints.as_ref();
    let known = || {
        let (key, block) = before.block(source?, &call.key, constraints)?;
        Some((key.clone(), block.content.clone()))
    };
    let fetched = || {
        let content = call.fetched.as_ref()?.content.clone()?;
        Some((ModuleKey { source: source?.package()?, version: call.version.clone() }, content))
    };
    let (key, content) = fetched().or_else(known).ok_or_else(|| {
        let message = format!("module {} is installed, but its package is not known, so it cannot be locked", call.key);
        let file = file_from(&settings.path, &call.place.file);
        Error::new(ErrorKind::Offline, message)
            .in_file(file)
            .at(call.place.position)
            .hint("run the command once without --offline, and with --modules auto")
    })?;
    Ok(Resolved { call: call.key.clone(), key, constraints: constraints.cloned(), content })
}

/// The finding for a call whose package cannot be locked.
fn ambiguous(call: &RemoteModuleCall, settings: &RunSettings) -> Option<Finding> {
    let source = call.address.as_ref()?;
    let of_package = call.fetched.as_ref().and_then(|fetched| fetched.ambiguity.clone());
    let ambiguity = of_package.or_else(|| ambiguous_reference(source))?;
    let file = file_from(&settings.path, &call.place.file);
    Some(modulelock::ambiguous(&source.package()?, &ambiguity).in_file(file).at(call.place.position))
}

/// Packages of repositories that were not locked before.
fn first_uses(before: &ModuleLock, now: &ModuleLock) -> Vec<Finding> {
    let known: BTreeSet<&str> = before.iter().map(|(key, _)| key.repository()).collect();
    let new = now.iter().map(|(key, _)| key).filter(|key| !known.contains(key.repository()));
    let finding = |key: &ModuleKey| {
        let message = format!("{} is not locked yet, and --no-first-use does not allow a first use", key.repository());
        Finding::new(Rule::FirstUseForbidden, message).about_module(&key.source)
    };
    new.map(finding).collect()
}

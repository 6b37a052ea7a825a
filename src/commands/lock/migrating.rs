//! Moves the entries of one tool's registry to the registry of the other, at the same versions. A source address without a host
//! means another provider under another tool, so its entry moves. An address with a host means the same, so its entry stays
//! unless the configuration is edited.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::request::Migration;
use super::root::LockRoot;
use crate::addr::{Hostname, ProviderAddr, default_host};
use crate::config::edit::{self, FileEdit};
use crate::config::is_of_tofu;
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::lockfile;
use crate::path::{shown, worktree};
use crate::requirements::{Origin, OriginKind};
use crate::workspace::{RunSettings, absent};

/// The registries to move from and to.
struct Direction {
    from: Hostname,
    to: Hostname,
}

/// Moves the entries of the other tool's registry in a root module that was read for the new tool; if the configuration is edited,
/// also those whose source in the working tree names the host.
pub(super) fn migrate(root: &mut LockRoot, migration: Migration) -> Result<(), Error> {
    let Migration { to, edit_config } = migration;
    let Some(bytes) = &root.read.bytes else {
        let settings = root.settings();
        let file = settings.lock_file_shown();
        if !roots::has_configuration(&settings.root) {
            return Err(absent(file, &settings.root));
        }
        let message = format!("there is no dependency lock file to migrate: {}", shown(&file));
        let hint = step!("`tflock lock --tool {}` writes one", to.program());
        return Err(Error::new(ErrorKind::LockFile, message).hint(hint));
    };
    let is_written_so = lockfile::detect_header(bytes) == Some(to);
    let way = Direction { from: default_host(to.other()), to: default_host(to) };
    let edits = if edit_config { edited(root, &way)? } else { Vec::new() };
    root.findings.extend(explicit(root, &way, edit_config));
    root.findings.extend(root.missing_modules.iter().map(|module| missing_module(module, &root.read.settings)));
    let (moves, dropped) = moves(root, &way);
    root.prepared.untouched = is_written_so && dropped.is_empty() && moves.is_empty() && edits.is_empty();
    root.intent.only = Some(moves.keys().cloned().collect());
    root.intent.moves = moves;
    root.intent.dropped = dropped.into_iter().collect();
    root.edit(edits);
    Ok(())
}

/// Warnings about what makes tflock, or the tool, treat the root module as the other tool's.
pub(super) fn remarks(settings: &RunSettings) -> Vec<String> {
    let to = settings.dialect;
    let mut remarks = Vec::new();
    if settings.settings.dialect().is_some_and(|stated| stated != to) {
        remarks.push(format!(
            "the settings (.tflock.hcl) say tool = \"{}\"; change that to \"{}\", or take it out",
            to.other().program(),
            to.program(),
        ));
    }
    if to == Dialect::Terraform {
        // An unreadable directory is reported elsewhere.
        let files = roots::sources(&settings.root, Dialect::OpenTofu).unwrap_or_default();
        let only_tofu = files.iter().filter(|file| is_of_tofu(&file.path.to_string_lossy()));
        let only_tofu = only_tofu.map(|file| shown(&settings.path.join(&file.path)));
        remarks.extend(only_tofu.map(|path| format!("Terraform does not read {path}")));
    }
    remarks
}

/// The new addresses of entries, and the entries to remove. An entry that nothing requires moves too, since the new
/// tool reads the state with its own addresses. An existing entry at the new address stays unchanged.
fn moves(root: &mut LockRoot, way: &Direction) -> (BTreeMap<ProviderAddr, ProviderAddr>, Vec<ProviderAddr>) {
    let (mut moves, mut dropped) = (BTreeMap::new(), Vec::new());
    let lock = root.lock.clone();
    for (old, entry) in lock.iter().filter(|(addr, _)| *addr.host() == way.from) {
        let new = old.at(way.to.clone());
        let stays = root.configured && root.requirements.get(old).is_some();
        if !stays {
            dropped.push(old.clone());
        }
        let is_required = root.requirements.get(&new).is_some();
        if lock.get(&new).is_some() || stays && !is_required {
            continue;
        }
        // What is not read requires is known from the entry only.
        if !is_required || !root.missing_modules.is_empty() || root.requirements_unread {
            root.requirements.add_entry(&new, entry);
        }
        moves.insert(new, old.clone());
    }
    (moves, dropped)
}

/// The entries of `required_providers` that name the old host.
fn named<'a>(root: &'a LockRoot, way: &'a Direction) -> impl Iterator<Item = (&'a ProviderAddr, &'a Origin)> {
    let of_host = root.requirements.iter().filter(|(addr, _)| *addr.host() == way.from);
    let origins = of_host.flat_map(|(addr, requirement)| requirement.origins.iter().map(move |origin| (addr, origin)));
    origins.filter(|(_, origin)| origin.kind == OriginKind::RequiredProviders)
}

fn explicit(root: &LockRoot, way: &Direction, edit_config: bool) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for (addr, origin) in named(root, way) {
        let why = if edit_config {
            "and the module is outside the working tree, so tflock cannot edit it"
        } else {
            "so it stays there; --edit-config writes the new host"
        };
        let message = format!("the source of {addr} names its host, {why}");
        let file = roots::file_from(&root.settings().path, &origin.file);
        let finding = Finding::new(Rule::ExplicitHost, message).about(addr).in_file(&file).at(origin.position);
        // A module may be called more than once.
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}

fn missing_module(module: &str, settings: &RunSettings) -> Finding {
    let message = format!(
        "module.{module} is not installed for {}: its requirements are taken from the lock file",
        settings.dialect,
    );
    Finding::new(Rule::ModuleNotInstalled, message).in_file(settings.lock_file_shown())
}

/// Writes the new host into the sources of all modules of the working tree that name the old one, whether or not the
/// provider is locked: the result for a file must not depend on its callers.
fn edited(root: &mut LockRoot, way: &Direction) -> Result<Vec<FileEdit>, Error> {
    let settings = root.settings();
    let directory = |origin: &Origin| origin.file.parent().map(Path::to_owned).unwrap_or_default();
    let directories: BTreeSet<PathBuf> = named(root, way).map(|(_, origin)| directory(origin)).collect();
    let directories: BTreeSet<PathBuf> = directories.into_iter().filter(|path| is_own(path, settings)).collect();
    let mut edits = Vec::new();
    for path in &directories {
        let in_module = |file: &Path| path.join(file);
        let shown = |mut error: Error| {
            error.file = error.file.map(|file| settings.path.join(in_module(&file)));
            error
        };
        let files = roots::sources(&settings.root.join(path), settings.dialect)?;
        let changed = edit::change_host(&files, settings.dialect, &way.from, &way.to);
        let changed = changed.map_err(|error| shown(error.into()))?;
        edits.extend(changed.into_iter().map(|edit| FileEdit { path: in_module(&edit.path), ..edit }));
    }
    let old: BTreeSet<ProviderAddr> = named(root, way).map(|(addr, _)| addr.clone()).collect();
    for addr in old {
        let new = addr.at(way.to.clone());
        root.requirements.move_origins(&addr, &new, |origin| directories.contains(&directory(origin)));
    }
    Ok(edits)
}

/// True for a module in the working tree that the tool did not install.
fn is_own(path: &Path, settings: &RunSettings) -> bool {
    let module = worktree::absolute(&settings.root.join(path));
    module.starts_with(worktree::absolute(&settings.boundary))
        && !module.starts_with(worktree::absolute(&settings.data_dir()))
}

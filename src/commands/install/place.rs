//! Links packages from the package store into root modules and plugin caches, and compares the modules of root modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::packages::{InstallRoot, PackageState, Want, cache_place, state_of};
use super::{InstallArgs, installed_differs, refused};

use crate::commands::get;
use crate::config::{Installed, Manifest, ModuleSource};
use crate::disk::atomic::failed;
use crate::disk::files::{around_data_dir, create_directory_below};
use crate::disk::linking::{self, Linker};
use crate::disk::mirror::FilesystemMirror;
use crate::disk::modules_dir::installed_hashes;
use crate::disk::package::KnownFiles;
use crate::disk::package_store::StoredPackage;
use crate::disk::root_files::DirectoryLock;
use crate::disk::roots::{MissingModules, ModuleLookup, Tree, installed_modules};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::modulelock::{LockedModule, ModuleKey, ModuleLock};
use crate::outcome::{InstallState, InstalledModule, InstalledModules};
use crate::path::shown;
use crate::query::PackageKey;
use crate::query::question::Refusal;
use crate::version::ModuleVersion;
use crate::workspace::RunSettings;

impl InstallRoot {
    /// Puts the packages that were found in their places. One that another run removed from the store meanwhile stays open.
    pub(super) fn place(
        &mut self,
        args: &InstallArgs,
        found: &BTreeMap<PackageKey, PackageState>,
        linker: &Linker,
        known: &KnownFiles,
    ) {
        let mut wants = std::mem::take(&mut self.wants);
        for want in wants.iter_mut().filter(|want| !want.is_settled) {
            want.is_settled = true;
            if want.state.is_installed() {
                self.tidy(want);
                continue;
            }
            let nothing = PackageState::default();
            let found = found.get(&want.key).unwrap_or(&nothing);
            match found.of(&want.recorded) {
                Some(stored) => {
                    want.downloaded += found.downloaded;
                    match self.place_one(want, stored, linker, known) {
                        Ok(is_placed) => want.is_settled = is_placed,
                        Err(error) => self.failed.push(error),
                    }
                }
                // Nothing was read, so nothing is known of it.
                None if found.refusal.is_none() && found.unrecorded.is_empty() => want.is_settled = false,
                None => self.explain(want, found),
            }
            if want.state == InstallState::Replaced {
                self.findings.push(installed_differs(want));
            }
        }
        self.wants = wants;
        if args.prune
            && let Err(error) = self.prune(linker)
        {
            self.failed.push(error);
        }
    }

    /// Reports the packages that are still open after the last attempt.
    pub(super) fn give_up(&mut self) {
        let open: Vec<Error> = self.lacking().map(|want| vanished(&want.key)).collect();
        self.failed.extend(open);
    }

    /// Removes what a run left that was killed after it had replaced the package. The package is installed all the same.
    fn tidy(&self, want: &Want) {
        let parent = want.place.parent().unwrap_or(&want.place);
        if linking::left_in(parent).next().is_some() {
            let _ = self.prepare(&want.place);
        }
    }

    /// False if the package is no longer in the store.
    fn place_one(
        &self,
        want: &mut Want,
        stored: &StoredPackage,
        linker: &Linker,
        known: &KnownFiles,
    ) -> Result<bool, Error> {
        if !linking::is_taken(&self.settings().root) {
            let message = format!("the root module {} was removed during the run", shown(&self.settings().root));
            return Err(Error::new(ErrorKind::Disk, message));
        }
        let _lock = self.prepare(&want.place)?;
        // Another run may have installed it meanwhile, or have been at it when it was looked at first.
        (want.state, want.h1) = state_of(&want.place, &want.recorded, known);
        if want.state == InstallState::Present {
            return Ok(true);
        }
        let Some(copied) = linker.place(&stored.path, &want.place)? else { return Ok(false) };
        let is_replaced = want.state == InstallState::Differs;
        want.state = if is_replaced { InstallState::Replaced } else { InstallState::Installed };
        (want.h1, want.bytes, want.copied) = (Some(stored.h1.clone()), linking::size_of(&want.place), copied);
        Ok(true)
    }

    fn prepare(&self, place: &Path) -> Result<DirectoryLock, Error> {
        prepare(around_data_dir(&self.settings().data_dir()), &self.providers, place)
    }

    /// Reports why a package is not installed.
    fn explain(&mut self, want: &Want, found: &PackageState) {
        match &found.refusal {
            Some(Refusal::Error(error)) => self.failed.push(error.clone()),
            Some(Refusal::Finding(finding, _)) => self.findings.push((**finding).clone()),
            None if found.is_of_release(&want.recorded) => self.uncovered.push(want.key.clone()),
            None => self.findings.push(refused(want, &found.unrecorded)),
        }
    }

    /// Removes versions that the lock file does not record.
    fn prune(&mut self, linker: &Linker) -> Result<(), Error> {
        let Ok(installed) = FilesystemMirror::open(&self.providers) else { return Ok(()) };
        for address in installed.providers()? {
            let locked = self.lock().get(&address).map(|entry| entry.version.clone());
            let versions = installed.versions(&address)?;
            for version in versions.into_iter().filter(|version| Some(version) != locked.as_ref()) {
                let place =
                    crate::disk::mirror_writer::directory_in(&self.providers, &address).join(version.to_string());
                let _lock = self.prepare(&place)?;
                linker.remove(&place)?;
                self.removed.push((address.clone(), version));
            }
        }
        Ok(())
    }
}

/// Creates the parent directory of `place`, without links below `top`, and waits until no other run writes below `shared`.
fn prepare(top: &Path, shared: &Path, place: &Path) -> Result<DirectoryLock, Error> {
    let parent = place.parent().unwrap_or(place);
    create_directory_below(top, parent).map_err(failed("create", parent))?;
    let lock = DirectoryLock::acquire(shared)?;
    linking::sweep(parent);
    Ok(lock)
}

/// Also puts packages into the plugin caches of the CLI configuration. Failures are only notes, since the root modules
/// have the packages.
pub(super) fn in_plugin_caches(
    roots: &[Result<InstallRoot, Error>],
    found: &BTreeMap<PackageKey, PackageState>,
    linker: &Linker,
    known: &KnownFiles,
) -> BTreeSet<String> {
    let mut notes = BTreeSet::new();
    let mut done: BTreeSet<PathBuf> = BTreeSet::new();
    for root in roots.iter().flatten() {
        let Some(cache) = &root.plugin_cache else { continue };
        for want in &root.wants {
            let place = cache_place(cache, &want.key);
            let Some(stored) = found.get(&want.key).and_then(|found| found.of(&want.recorded)) else { continue };
            if !done.insert(place.clone()) {
                continue;
            }
            let placed =
                prepare(cache, cache, &place).and_then(|_lock| match state_of(&place, &want.recorded, known) {
                    (InstallState::Present, _) => Ok(()),
                    _ => match linker.place(&stored.path, &place)? {
                        Some(_) => Ok(()),
                        None => Err(vanished(&want.key)),
                    },
                });
            notes.extend(placed.err().map(|error| format!("the plugin cache lacks a package: {}", error.message)));
        }
    }
    notes
}

/// The error for a package that other runs keep removing from the store.
pub(super) fn vanished(key: &PackageKey) -> Error {
    let message = format!("{key} was removed from the package store while it was being installed");
    Error::new(ErrorKind::Disk, message)
        .hint(step!("wait until `tflock cache prune` is done, and run `tflock install`"))
}

/// Compares the installed modules with those that `install` would install; `None` if it would leave them to `init`. No
/// request is sent for that: the list of calls is read from what is installed.
pub(super) fn check_modules(settings: &RunSettings) -> Result<Option<InstalledModules>, Error> {
    let mut settings = settings.clone();
    settings.modules.lookup = ModuleLookup::Auto;
    settings.modules.fetch = None;
    let data_dir = settings.data_dir_name();
    let path = settings.path.join(&data_dir).join("modules");
    // `install` writes a list anew that cannot be read.
    let manifest = installed_modules(&settings.root, &data_dir).unwrap_or_default();
    let check = ModuleCheck { settings: &settings, data_dir: &data_dir, manifest };
    let tree = settings.load_tree(&settings.tree_options(MissingModules::Skip));
    let modules = match tree {
        Ok(tree) => match &tree.module_lock {
            None if !tree.complete || !tree.remote_modules.is_empty() => return Ok(None),
            read => {
                get::all_locked(&tree, &settings)?;
                let mut modules = check.local(&tree);
                modules.extend(read.iter().flat_map(|read| check.locked(&read.file.lock, Some(&tree))));
                modules
            }
        },
        Err(errors) => {
            // What is installed may be the reason: then that is the result.
            let alone = Tree::of_modules_alone(&settings.root, settings.dialect);
            let modules: Vec<InstalledModule> =
                alone.module_lock.iter().flat_map(|read| check.locked(&read.file.lock, None)).collect();
            if modules.iter().all(|module| module.state.is_installed()) {
                let errors = errors.into_iter().map(|error| settings.tree_error(error));
                return Error::all(errors).map_or(Ok(None), Err);
            }
            modules
        }
    };
    Ok(Some(InstalledModules { path, modules }))
}

/// The warnings about modules that are not what is locked.
pub(super) fn differing_modules(installed: &InstalledModules) -> impl Iterator<Item = Finding> {
    let differing = installed.modules.iter().filter(|module| module.state == InstallState::Differs);
    differing.map(|module| {
        let message = format!("the installed module {} is not what is locked", module.call);
        let finding = Finding::new(Rule::InstalledDiffers, message).in_file(installed.path.join(&module.call));
        finding.at_level(Level::Warn).remedied_by(step!("`tflock install` replaces it."))
    })
}

struct ModuleCheck<'a> {
    settings: &'a RunSettings,
    data_dir: &'a Path,
    /// The list of installed modules.
    manifest: Manifest,
}

impl ModuleCheck<'_> {
    /// The local modules, which `install` only lists.
    fn local(&self, tree: &Tree) -> Vec<InstalledModule> {
        let is_local = |call: &str| tree.local_calls.iter().any(|local| local.key == call);
        let records = get::records(tree, self.data_dir).into_iter().filter(|(call, _)| is_local(call));
        let module = |(call, record): (String, Installed)| {
            let state = match self.manifest.get(&call) {
                None => InstallState::Missing,
                Some(listed) if *listed == record => InstallState::Present,
                Some(_) => InstallState::Differs,
            };
            InstalledModule { call, source: record.source, version: None, state, changed: false }
        };
        records.map(module).filter(|module| !module.state.is_installed()).collect()
    }

    /// The calls of locked packages; with a tree, only those that it still has.
    fn locked(&self, lock: &ModuleLock, tree: Option<&Tree>) -> Vec<InstalledModule> {
        let is_called = |call: &str| {
            tree.is_none_or(|tree| {
                let is_below = |key: &str| call.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
                tree.remote_modules.iter().any(|it| it.key == call)
                    || tree.missing.iter().any(|it| it.key == call || is_below(&it.key))
            })
        };
        let mut modules = Vec::new();
        for (key, block) in lock.iter() {
            for call in block.calls.iter().filter(|call| is_called(call)) {
                let version = key.version.as_ref().map(ModuleVersion::canonical);
                let state = self.state(call, key, block);
                modules.push(InstalledModule {
                    call: call.clone(),
                    source: key.source.clone(),
                    version,
                    state,
                    changed: false,
                });
            }
        }
        modules
    }

    fn state(&self, call: &str, key: &ModuleKey, block: &LockedModule) -> InstallState {
        let within = self.data_dir.join("modules").join(call);
        let place = self.settings.root.join(&within);
        let Some(record) = self.manifest.get(call).filter(|_| place.is_dir()) else { return InstallState::Missing };
        let source = ModuleSource::parse(&record.source, record.version.is_some(), self.settings.dialect);
        let version = |version: &Option<ModuleVersion>| version.as_ref().map(ModuleVersion::canonical);
        let is_recorded = source.is_ok_and(|source| source.package().as_ref() == Some(&key.source))
            && version(&record.version) == version(&key.version)
            && Path::new(&record.dir).starts_with(&within);
        let is_locked = is_recorded && installed_hashes(&place).is_ok_and(|found| found.contains(&block.content.hash));
        if is_locked { InstallState::Present } else { InstallState::Differs }
    }
}

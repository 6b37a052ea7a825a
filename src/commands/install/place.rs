//! Links packages from the package store into root modules and plugin caches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::fetch::Found;
use super::wanted::{Root, Want, cache_place, state_of};
use super::{InstallArgs, installed_differs, refused};
use crate::disk::atomic::failed;
use crate::disk::directories::{around, create_below};
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::linking::{self, Linker};
use crate::disk::mirror::FilesystemMirror;
use crate::disk::package::KnownFiles;
use crate::disk::package_store::StoredPackage;
use crate::error::{Error, ErrorKind};
use crate::outcome::InstallState;
use crate::path::shown;
use crate::query::PackageKey;
use crate::query::answer::Refusal;

impl Root {
    /// Puts the packages that were found in their places.
    pub(super) fn place(
        &mut self,
        args: &InstallArgs,
        found: &BTreeMap<PackageKey, Found>,
        linker: &Linker,
        known: &KnownFiles,
    ) {
        let mut wants = std::mem::take(&mut self.wants);
        for want in &mut wants {
            if want.state.is_installed() {
                self.tidy(want);
                continue;
            }
            let nothing = Found::default();
            let found = found.get(&want.key).unwrap_or(&nothing);
            match found.of(&want.recorded) {
                Some(stored) => {
                    if let Err(error) = self.place_one(want, stored, linker, known) {
                        self.failed.push(error);
                    } else {
                        want.downloaded = found.downloaded;
                    }
                }
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

    /// Removes what a run left that was killed after it had replaced the package. The package is installed all the same.
    fn tidy(&self, want: &Want) {
        let parent = want.place.parent().unwrap_or(&want.place);
        if linking::left_in(parent).next().is_some() {
            let _ = self.prepare(&want.place);
        }
    }

    fn place_one(
        &self,
        want: &mut Want,
        stored: &StoredPackage,
        linker: &Linker,
        known: &KnownFiles,
    ) -> Result<(), Error> {
        if !linking::is_taken(&self.settings.root) {
            let message = format!("the root module {} was removed during the run", shown(&self.settings.root));
            return Err(Error::new(ErrorKind::Disk, message));
        }
        let before = want.state;
        let _lock = self.prepare(&want.place)?;
        // Another run may have installed it meanwhile.
        (want.state, want.h1) = state_of(&want.place, &want.recorded, known);
        if want.state == InstallState::Present {
            return Ok(());
        }
        want.copied = linker.place(&stored.path, &want.place)?;
        want.state = if before == InstallState::Differs { InstallState::Replaced } else { InstallState::Installed };
        (want.h1, want.bytes) = (Some(stored.h1.clone()), linking::size_of(&stored.path));
        Ok(())
    }

    fn prepare(&self, place: &Path) -> Result<DirectoryLock, Error> {
        prepare(around(&self.settings.data_dir()), &self.providers, place)
    }

    /// Reports why a package is not installed.
    fn explain(&mut self, want: &Want, found: &Found) {
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
            let locked = self.locked.get(&address).map(|entry| entry.version.clone());
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
    create_below(top, parent).map_err(failed("create", parent))?;
    let lock = DirectoryLock::acquire(shared)?;
    linking::sweep(parent);
    Ok(lock)
}

/// Also puts packages into the plugin caches of the CLI configuration. Failures are only notes, since the root modules
/// have the packages.
pub(super) fn in_plugin_caches(
    roots: &[Result<Root, Error>],
    found: &BTreeMap<PackageKey, Found>,
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
                    _ => linker.place(&stored.path, &place).map(|_| ()).map_err(Error::from),
                });
            notes.extend(placed.err().map(|error| format!("the plugin cache lacks a package: {}", error.message)));
        }
    }
    notes
}

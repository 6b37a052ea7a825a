//! Measures the cache and makes it smaller.

use std::fs::{DirEntry, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::folder::{CacheError, Pruned, files_in, removed, size, written};
use super::{Cache, IndexOrigin, LAYOUT, MODULES, MODULES_IN_USE, index, programs, release};
use crate::disk::linking::size_of;
use crate::disk::own::OwnFolder;
use crate::disk::package_store::PackageStore;
use crate::disk::waiting::{self, Waited};
use crate::disk::{advisories, agreements, cache, provenance};

/// Where module packages are in their folder, and what is written last of each.
const PACKAGES: &str = "packages";
const RECORD: &str = "package.json";

/// How long runs that use module packages are waited for.
const PATIENCE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Stats {
    pub computed: usize,
    pub imported: usize,
    pub documents: usize,
    pub releases: usize,
    pub modules: usize,
    /// Packages of providers in the store.
    pub packages: usize,
    /// The size of all files, in bytes.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prune {
    All,
    /// What was imported.
    Imported,
    /// Documents, release records and module packages that were written before a time, what was learnt of modules before it,
    /// and useless lines of the index.
    OlderThan(SystemTime),
}

impl Cache {
    pub fn stats(&self) -> Stats {
        let entries = self.entries();
        let imported = entries.iter().filter(|entry| entry.origin == IndexOrigin::Imported).count();
        let mut stats = Stats { computed: entries.len() - imported, imported, ..Stats::default() };
        let Some(folder) = self.dir() else { return stats };
        let kept = Path::new(LAYOUT);
        stats.documents = files_in(folder, kept.join(cache::FOLDER)).len();
        stats.releases = files_in(folder, kept.join(release::FOLDER)).len();
        stats.modules = inside(folder, PACKAGES).count();
        let packages = PackageStore::existing_in(folder).map(|store| store.entries()).unwrap_or_default();
        stats.packages = packages.len();
        let stored: u64 = packages.iter().map(|package| size_of(package)).sum();
        stats.bytes = stored
            + [LAYOUT, MODULES].into_iter().flat_map(|way| files_in(folder, way)).map(|file| size(&file)).sum::<u64>();
        stats
    }

    /// Removes what is not wanted any more. Facts that another run records meanwhile may get lost, as if they had never
    /// been known.
    pub fn prune(&self, what: Prune) -> Result<Pruned, CacheError> {
        let mut pruned = Pruned::default();
        let Some(folder) = self.folder() else { return Ok(pruned) };
        self.flush()?;
        let before = match what {
            Prune::All => Some(None),
            Prune::OlderThan(time) => Some(Some(time)),
            Prune::Imported => None,
        };
        if let Some(before) = before {
            prune_modules(folder, before, &mut pruned)?;
        }
        let unwanted: Vec<DirEntry> = match what {
            Prune::All => files_in(folder, LAYOUT),
            Prune::Imported => Vec::new(),
            Prune::OlderThan(time) => {
                let [advisories, agreements] = [advisories::FOLDER, agreements::FOLDER];
                [cache::FOLDER, release::FOLDER, programs::PROGRAMS, advisories, provenance::FOLDER, agreements]
                    .iter()
                    .flat_map(|kind| files_in(folder, Path::new(LAYOUT).join(kind)))
                    .filter(|file| written(file).is_some_and(|at| at < time))
                    .collect()
            }
        };
        for file in unwanted {
            pruned.files += 1;
            pruned.bytes += size(&file);
            removed(std::fs::remove_file(file.path())).map_err(CacheError::at(&file.path()))?;
        }
        pruned.bytes += index::compact(folder, what != Prune::Imported)?;
        self.state().index = index::HashIndex::default();
        Ok(pruned)
    }
}

/// Removes module packages and what was learnt of modules: all, or what was written before a time. Runs that use them are waited for.
fn prune_modules(folder: &OwnFolder, before: Option<SystemTime>, pruned: &mut Pruned) -> Result<(), CacheError> {
    if folder.existing(Path::new(MODULES)).is_none() {
        return Ok(());
    }
    let _alone = alone(folder);
    let is_old = |written: Option<SystemTime>| before.is_none_or(|before| written.is_some_and(|at| at < before));
    let mut remove = |way: &Path| -> Result<(), CacheError> {
        let (found, place) = (files_in(folder, way), &folder.path(way));
        pruned.files += found.len();
        pruned.bytes += found.iter().map(size).sum::<u64>();
        // Without its record a package is none, whatever else of it is still there.
        let _ = std::fs::remove_file(place.join(RECORD));
        removed(std::fs::remove_dir_all(place)).map_err(CacheError::at(place))
    };
    let record_of = |package: &Path| folder.path(package).join(RECORD).symlink_metadata().ok()?.modified().ok();
    for package in inside(folder, PACKAGES).filter(|package| is_old(record_of(package))) {
        remove(&package)?;
    }
    if before.is_none() {
        // What killed runs left.
        inside(folder, "staging").try_for_each(|left| remove(&left))?;
    }
    for fact in files_in(folder, Path::new(MODULES).join("facts")).iter().filter(|fact| is_old(written(fact))) {
        pruned.files += 1;
        pruned.bytes += size(fact);
        removed(std::fs::remove_file(fact.path())).map_err(CacheError::at(&fact.path()))?;
    }
    Ok(())
}

/// Waits until no other run uses packages of modules.
fn alone(folder: &OwnFolder) -> Option<File> {
    let file = folder.lock_file(Path::new(MODULES_IN_USE)).ok()?;
    let done = waiting::lock(&file, File::try_lock, PATIENCE, &folder.place().join(MODULES));
    (done == Waited::Locked).then_some(file)
}

/// The ways to what is in a directory of the modules.
fn inside(folder: &OwnFolder, name: &str) -> impl Iterator<Item = PathBuf> + use<> {
    let way = Path::new(MODULES).join(name);
    let entries = folder.existing(&way).and_then(|place| std::fs::read_dir(place).ok());
    entries.into_iter().flatten().flatten().map(move |entry| way.join(entry.file_name()))
}

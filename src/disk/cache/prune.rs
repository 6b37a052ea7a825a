//! Measures the cache and makes it smaller.

use std::fs::{DirEntry, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::folder::{CacheError, Pruned, files, removed, size, written};
use super::{Cache, IndexOrigin, MODULES, MODULES_IN_USE, index, programs, release};
use crate::disk::files::open_lock;
use crate::disk::linking::size_of;
use crate::disk::package_store::PackageStore;
use crate::disk::{advisories, cache, provenance};

/// Where module packages are in their folder, and what is written last of each.
const PACKAGES: &str = "packages";
const RECORD: &str = "package.json";

/// Runs that use module packages are waited for: ten minutes, looked at every so often.
const ATTEMPTS: u32 = 30_000;
const PAUSE: Duration = Duration::from_millis(20);

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
    fn modules(&self) -> Option<PathBuf> {
        Some(self.dir()?.join(MODULES))
    }

    pub fn stats(&self) -> Stats {
        let entries = self.entries();
        let imported = entries.iter().filter(|entry| entry.origin == IndexOrigin::Imported).count();
        let mut stats = Stats { computed: entries.len() - imported, imported, ..Stats::default() };
        let (Some(folder), Some(modules)) = (self.folder(), self.modules()) else { return stats };
        stats.documents = files(&folder.join(cache::FOLDER)).len();
        stats.releases = files(&folder.join(release::FOLDER)).len();
        stats.modules = inside(&modules.join(PACKAGES)).count();
        let store = self.dir().map(PackageStore::in_cache);
        let packages = store.map(|store| store.entries()).unwrap_or_default();
        stats.packages = packages.len();
        let stored: u64 = packages.iter().map(|package| size_of(package)).sum();
        stats.bytes = stored
            + [&folder, &modules].into_iter().flat_map(|folder| files(folder)).map(|file| size(&file)).sum::<u64>();
        stats
    }

    /// Removes what is not wanted any more. Facts that another run records meanwhile may get lost, as if they had never
    /// been known.
    pub fn prune(&self, what: Prune) -> Result<Pruned, CacheError> {
        let mut pruned = Pruned::default();
        let (Some(folder), Some(modules)) = (self.folder(), self.modules()) else { return Ok(pruned) };
        self.flush()?;
        let before = match what {
            Prune::All => Some(None),
            Prune::OlderThan(time) => Some(Some(time)),
            Prune::Imported => None,
        };
        if let Some(before) = before {
            prune_modules(&modules, before, &mut pruned)?;
        }
        let unwanted: Vec<DirEntry> = match what {
            Prune::All => files(&folder),
            Prune::Imported => Vec::new(),
            Prune::OlderThan(time) => {
                [cache::FOLDER, release::FOLDER, programs::PROGRAMS, advisories::FOLDER, provenance::FOLDER]
                    .iter()
                    .flat_map(|kind| files(&folder.join(kind)))
                    .filter(|file| written(file).is_some_and(|at| at < time))
                    .collect()
            }
        };
        for file in unwanted {
            pruned.files += 1;
            pruned.bytes += size(&file);
            removed(std::fs::remove_file(file.path())).map_err(CacheError::at(&file.path()))?;
        }
        pruned.bytes += index::compact(&folder, what != Prune::Imported)?;
        self.state().index = index::HashIndex::default();
        Ok(pruned)
    }
}

/// Removes module packages and what was learnt of modules: all, or what was written before a time. Runs that use them are waited for.
fn prune_modules(modules: &Path, before: Option<SystemTime>, pruned: &mut Pruned) -> Result<(), CacheError> {
    if !modules.is_dir() {
        return Ok(());
    }
    let _alone = alone(modules);
    let is_old = |written: Option<SystemTime>| before.is_none_or(|before| written.is_some_and(|at| at < before));
    let mut remove = |place: &Path| -> Result<(), CacheError> {
        let found = files(place);
        pruned.files += found.len();
        pruned.bytes += found.iter().map(size).sum::<u64>();
        // Without its record a package is none, whatever else of it is still there.
        let _ = std::fs::remove_file(place.join(RECORD));
        removed(std::fs::remove_dir_all(place)).map_err(CacheError::at(place))
    };
    let record_of = |package: &Path| std::fs::metadata(package.join(RECORD)).and_then(|meta| meta.modified()).ok();
    for package in inside(&modules.join(PACKAGES)).filter(|package| is_old(record_of(package))) {
        remove(&package)?;
    }
    if before.is_none() {
        // What killed runs left.
        inside(&modules.join("staging")).try_for_each(|left| remove(&left))?;
    }
    for fact in files(&modules.join("facts")).iter().filter(|fact| is_old(written(fact))) {
        pruned.files += 1;
        pruned.bytes += size(fact);
        removed(std::fs::remove_file(fact.path())).map_err(CacheError::at(&fact.path()))?;
    }
    Ok(())
}

/// Waits until no other run uses packages of modules.
fn alone(modules: &Path) -> Option<File> {
    let file = open_lock(&modules.join(MODULES_IN_USE)).ok()?;
    for _ in 0..ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            locked => return locked.ok().map(|()| file),
        }
    }
    None
}

fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

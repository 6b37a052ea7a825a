//! The user's cache: facts about archives, and the signed documents that name them.
//!
//! - The index, `zh → (h1, size)`: a function of the archive, so an entry never goes stale.
//! - Documents by their digest, one file each: SHA256SUMS, signatures, lists of keys.
//! - Release records: which documents a release had when it was last seen, and which platform each archive is for. They
//!   are hints; the caller must check the documents again.
//!
//! The cache proves nothing about signers, and a run can do without it: a missing, damaged or contradictory entry counts
//! as absent. All three are written by [`Cache::flush`] only, so a run that fails leaves them unchanged. Several runs may read
//! and write at once.

pub mod exchange;
pub(super) mod folder;
mod index;
mod programs;
mod prune;
mod release;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use etcetera::BaseStrategy as _;

use super::own::OwnFolder;
use super::package_store::PackageStore;
use crate::hash::{PackageHash, Sha256Digest};
use crate::parallel::locked;
use crate::path::links::refuse_on_the_way;
use crate::path::worktree::{is_within, tops};
use crate::path::{lexical, shown};
use exchange::Exported;
use folder::{fan_out, replace};

pub(super) use folder::LAYOUT;
pub use folder::{CacheError, Pruned};
pub use index::{IndexEntry, IndexOrigin};
pub use programs::ProgramRecord;
pub use prune::{Prune, Stats};
pub use release::{LockedBy, ReleasePackage, ReleaseRecord};

/// The folder of module packages and of what is known of where they are, which has a layout of its own.
pub const MODULES: &str = "v2/modules";
/// The file that all runs lock while they use packages of modules.
pub const MODULES_IN_USE: &str = "v2/modules/locks/in-use";

/// Where the cache is, and whether it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheOptions {
    /// The value of `TFLOCK_CACHE_DIR`; none or empty for the default, `tflock` in the user's cache directory.
    pub directory: Option<PathBuf>,
    /// The working trees of this run, where the cache must not be.
    pub work_trees: Vec<PathBuf>,
    /// `--no-cache`: nothing is read from or written to disk.
    pub disabled: bool,
}

/// The cache of a run. May be shared between threads.
#[derive(Debug)]
pub struct Cache {
    folder: Option<Arc<OwnFolder>>,
    note: Option<String>,
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    index: index::HashIndex,
    documents: HashMap<Sha256Digest, Vec<u8>>,
    releases: HashMap<String, ReleaseRecord>,
    programs: HashMap<Sha256Digest, ProgramRecord>,
}

impl Cache {
    /// The cache at its place, which need not exist yet. Never fails: where there can be none, what is recorded lasts
    /// as long as the run, and [`Cache::note`] says why.
    pub fn open(options: CacheOptions) -> Self {
        if options.disabled {
            return Self::at(None, None);
        }
        match options.place() {
            Ok(folder) => Self::at(Some(folder), None),
            Err(note) => Self::at(None, Some(note)),
        }
    }

    fn at(folder: Option<OwnFolder>, note: Option<String>) -> Self {
        Self { folder: folder.map(Arc::new), note, state: Mutex::default() }
    }

    /// The directory, with whatever layouts are in it. `None` if there is no cache on disk.
    pub fn dir(&self) -> Option<&Arc<OwnFolder>> {
        self.folder.as_ref()
    }

    /// Writes what was put, and says what users should know of that.
    pub fn finish(&self) -> Vec<String> {
        let unwritten = self.flush().err().map(|problem| problem.to_string());
        self.note().into_iter().chain(unwritten).collect()
    }

    /// Why there is no cache on disk, though one was wanted; or why not all of it is used.
    pub fn note(&self) -> Option<String> {
        let part = || Some(format!("part of the cache is not used: {}", self.folder()?.problem()?));
        self.note.clone().or_else(part)
    }

    /// The `h1:` and the size in bytes of the archive with this digest, if they were computed here.
    pub fn h1_of(&self, zh: &Sha256Digest) -> Option<(PackageHash, u64)> {
        self.entry(zh, IndexOrigin::Computed)
    }

    /// The same from entries that were imported: reported by the export, not computed here.
    pub fn imported_h1_of(&self, zh: &Sha256Digest) -> Option<(PackageHash, u64)> {
        self.entry(zh, IndexOrigin::Imported)
    }

    fn entry(&self, zh: &Sha256Digest, origin: IndexOrigin) -> Option<(PackageHash, u64)> {
        self.state().index.lookup(self.folder(), zh, origin)
    }

    /// Remembers a pair. [`IndexOrigin::Computed`] is for pairs computed here from bytes whose `zh:` was checked, only.
    pub fn record(&self, entry: IndexEntry) {
        self.state().index.record(self.folder(), entry);
    }

    /// Remembers the hashes of an archive that was read here.
    pub fn record_computed(&self, zh: Sha256Digest, h1: &PackageHash, size: u64) {
        if let Some(entry) = IndexEntry::new(zh, h1, size, IndexOrigin::Computed) {
            self.record(entry);
        }
    }

    /// Takes in entries that others computed, as far as they are news; returns how many were.
    pub fn import(&self, Exported { entries, programs }: Exported) -> Result<usize, Vec<(IndexEntry, PackageHash)>> {
        const TOLD: usize = 10;
        let known = |entry: &IndexEntry| self.h1_of(&entry.zh).or_else(|| self.imported_h1_of(&entry.zh));
        let contradictions = entries.iter().filter_map(|entry| {
            let (h1, size) = known(entry)?;
            (h1 != entry.h1_hash() || size != entry.size).then(|| (entry.clone(), h1))
        });
        let contradictions: Vec<_> = contradictions.take(TOLD).collect();
        if !contradictions.is_empty() {
            return Err(contradictions);
        }
        let news: Vec<IndexEntry> = entries.into_iter().filter(|entry| known(entry).is_none()).collect();
        let count = news.len();
        for entry in news {
            self.record(IndexEntry { origin: IndexOrigin::Imported, ..entry });
        }
        for program in programs {
            self.record_program(program);
        }
        Ok(count)
    }

    /// All entries of the index, in no order; those that contradict each other are left out.
    pub fn entries(&self) -> Vec<IndexEntry> {
        self.state().index.entries(self.folder())
    }

    /// Keeps a document by its digest, which is returned.
    pub fn put_document(&self, bytes: &[u8]) -> Sha256Digest {
        let digest = Sha256Digest::of(bytes);
        self.state().documents.entry(digest).or_insert_with(|| bytes.to_owned());
        digest
    }

    /// The document with this digest, if it is there undamaged.
    pub fn document(&self, digest: &Sha256Digest) -> Option<Vec<u8>> {
        let kept = self.state().documents.get(digest).cloned();
        kept.or_else(|| load(self.folder()?, digest))
    }

    /// Keeps a list of ASCII-armored keys, in its order, as one document.
    pub fn put_keys(&self, keys: &[&str]) -> Sha256Digest {
        self.put_document(serde_json::Value::from(keys.to_vec()).to_string().as_bytes())
    }

    /// The list of keys with this digest.
    pub fn keys(&self, digest: &Sha256Digest) -> Option<Vec<String>> {
        serde_json::from_slice(&self.document(digest)?).ok()
    }

    /// Writes what was put and recorded since the last time. To be called at the end of a run; dropping does it too.
    pub fn flush(&self) -> Result<(), CacheError> {
        let mut state = self.state();
        let documents = std::mem::take(&mut state.documents);
        let releases = std::mem::take(&mut state.releases);
        let programs = std::mem::take(&mut state.programs);
        let Some(folder) = self.folder() else {
            (state.documents, state.releases, state.programs) = (documents, releases, programs);
            return Ok(());
        };
        let index = state.index.flush(folder);
        drop(state);
        let documents = documents.iter().map(|(digest, bytes)| store(folder, digest, bytes));
        // Records come last, so they never name documents that are missing.
        let releases = releases.values().map(|record| release::store(folder, record));
        let programs = programs::store(folder, programs.values());
        [index, programs].into_iter().chain(documents).chain(releases).fold(Ok(()), Result::and)
    }

    pub(super) fn folder(&self) -> Option<&OwnFolder> {
        self.folder.as_deref()
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        locked(&self.state)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        drop(self.flush());
    }
}

impl CacheOptions {
    /// Where the package store may be. It alone may be inside a working tree whose git ignores it.
    pub fn package_store(self, is_ignored: impl Fn(&Path, &Path) -> bool) -> Result<PackageStore, String> {
        let folder = find_folder(self.directory.clone())?;
        match self.tree_around(folder.place()) {
            Some(tree) if !is_ignored(&tree, folder.place()) => Err(forgeable(folder.place(), &tree)),
            _ => PackageStore::in_cache(&Arc::new(folder))
                .map_err(|reason| format!("no package store is used: {reason}")),
        }
    }

    /// Where the cache may be: outside of every working tree of this run, and of the one that the user names a directory of.
    fn place(self) -> Result<OwnFolder, String> {
        let folder = find_folder(self.directory.clone())?;
        match self.tree_around(folder.place()) {
            Some(tree) => Err(forgeable(folder.place(), &tree)),
            None => Ok(folder),
        }
    }

    fn tree_around(&self, place: &Path) -> Option<PathBuf> {
        let is_named = self.directory.as_ref().is_some_and(|given| !given.as_os_str().is_empty());
        let named = if is_named { tops(place) } else { Vec::new() };
        let mut trees = self.work_trees.iter().chain(&named);
        trees.find(|tree| is_within(place, std::slice::from_ref(tree))).cloned()
    }
}

fn forgeable(place: &Path, tree: &Path) -> String {
    format!(
        "no cache is used: {} is inside the working tree {}, so a change could forge it; set TFLOCK_CACHE_DIR",
        shown(place),
        shown(tree)
    )
}

/// The cache at its place as it is written, wherever links lead.
fn find_folder(directory: Option<PathBuf>) -> Result<OwnFolder, String> {
    let place = match directory.filter(|given| !given.as_os_str().is_empty()) {
        Some(given) => std::path::absolute(given).map_err(|reason| format!("no cache is used: {reason}"))?,
        None => etcetera::choose_base_strategy()
            .map_err(|_| "no cache is used: the user has no home directory; set TFLOCK_CACHE_DIR".to_owned())?
            .cache_dir()
            .join("tflock"),
    };
    // `missing/..` would lead elsewhere as soon as `missing` is made.
    let place = lexical(Path::new(""), &place);
    refuse_on_the_way(&place, &place)
        .map_err(|reason| format!("no cache is used: {reason}; remove it or set TFLOCK_CACHE_DIR"))?;
    OwnFolder::at(&place).map_err(|reason| format!("no cache is used: {reason}"))
}
const FOLDER: &str = "documents";

fn load(folder: &OwnFolder, digest: &Sha256Digest) -> Option<Vec<u8>> {
    let bytes = folder.read(&fan_out(FOLDER, &digest.to_hex()))?;
    (Sha256Digest::of(&bytes) == *digest).then_some(bytes)
}

fn store(folder: &OwnFolder, digest: &Sha256Digest, bytes: &[u8]) -> Result<(), CacheError> {
    match load(folder, digest) {
        Some(_) => Ok(()),
        None => replace(folder, &fan_out(FOLDER, &digest.to_hex()), bytes),
    }
}

#[cfg(test)]
mod tests;

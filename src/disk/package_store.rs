//! The package store: packages of providers, unpacked once for all root modules of this machine.
//!
//! ```text
//! CACHE/packages/v1/HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/H1/     H1: the digest of the package's `h1:`, in hex
//! ```
//!
//! An entry is complete or absent: it is unpacked next to its place and renamed. It is hashed before each use,
//! since another program may have changed it. Its files are read-only, because root modules link to them. Its directories are made
//! and checked by `own.rs`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use tempfile::TempDir;

use super::atomic::{StoreError, failed};
use super::cache::Pruned;
use super::mirror_writer::directory_in;
use super::own::{self, OwnFolder};
use super::package::{self, KnownFiles};
use super::root_files::DirectoryLock;
use super::{files, linking};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::{Contents, PackageFile};
use crate::hash::{HashScheme, PackageHash, PackageHashes, Sha256Digest};
use crate::parallel::locked;
use crate::platform::Platform;
use crate::version::Version;

/// Where the store is in the cache, with its layout.
pub const FOLDER: &str = "packages/v1";

/// All packages.
#[derive(Debug, Clone)]
pub struct PackageStore {
    folder: Arc<OwnFolder>,
    /// The directory of a store for one run, removed with the last copy of this handle.
    temporary: Option<Arc<TempDir>>,
}

/// The place of one package, which other content than the recorded one may also have taken.
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: Arc<OwnFolder>,
    way: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPackage {
    pub h1: PackageHash,
    pub path: PathBuf,
}

impl PackageStore {
    /// The store of a cache, made if it is missing.
    pub fn in_cache(cache: &Arc<OwnFolder>) -> io::Result<Self> {
        cache.shelf(Path::new(FOLDER))?;
        Ok(Self { folder: Arc::clone(cache), temporary: None })
    }

    /// The store of a cache, if there is one.
    pub fn existing_in(cache: &Arc<OwnFolder>) -> Option<Self> {
        cache.existing(Path::new(FOLDER)).map(|_| Self { folder: Arc::clone(cache), temporary: None })
    }

    /// A store for one run.
    pub fn temporary() -> Result<Self, Error> {
        let around = std::env::temp_dir();
        let directory =
            own::temporary_directory(".tflock-", &around).map_err(failed("create a directory in", &around))?;
        let failed = failed("create a directory in", directory.path());
        let folder = OwnFolder::at(directory.path()).and_then(|folder| folder.shelf(Path::new(FOLDER)).map(|_| folder));
        Ok(Self { folder: Arc::new(folder.map_err(failed)?), temporary: Some(Arc::new(directory)) })
    }

    /// True if no other run finds what this one stores.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }

    pub fn shelf(&self, addr: &ProviderAddr, version: &Version, platform: &Platform) -> Shelf {
        let way = directory_in(Path::new(FOLDER), addr).join(version.to_string()).join(platform.as_str());
        Shelf { folder: Arc::clone(&self.folder), way }
    }

    /// All entries, whatever package they are of.
    pub fn entries(&self) -> Vec<PathBuf> {
        // HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/H1
        let mut folders: Vec<PathBuf> = self.folder.existing(Path::new(FOLDER)).into_iter().collect();
        for _ in 0..6 {
            let inside = |folder: &PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
            let is_own = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(linking::OWN);
            let entries = folders.iter().flat_map(inside).filter(|entry| !is_own(entry));
            let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            folders = entries.map(|entry| entry.path()).collect();
        }
        folders
    }

    /// Removes the packages that were not used since a time, or all. A run that is about to link one downloads it again.
    pub fn prune(&self, before: Option<SystemTime>) -> Result<Pruned, StoreError> {
        let used = |entry: &Path| fs::metadata(entry).and_then(|found| found.modified()).ok();
        let mut pruned = Pruned::default();
        for entry in self.entries() {
            if before.is_some_and(|before| used(&entry).is_none_or(|used| used >= before)) {
                continue;
            }
            let around = entry.parent().unwrap_or(&entry);
            let _lock = DirectoryLock::acquire_patiently(around)?;
            linking::sweep(around);
            pruned.files += 1;
            pruned.bytes += linking::size_of(&entry);
            linking::remove(&entry)?;
        }
        Ok(pruned)
    }
}

impl Shelf {
    /// The entries by the name of a recorded `h1:`. Whether they still have that content is for the caller to find out.
    pub fn named(&self, recorded: &PackageHashes) -> Vec<StoredPackage> {
        let Some(directory) = self.folder.existing(&self.way) else { return Vec::new() };
        let stored = |h1: &PackageHash| Some(StoredPackage { h1: h1.clone(), path: directory.join(name_of(h1)?) });
        let exists = |stored: &StoredPackage| stored.path.symlink_metadata().is_ok_and(|found| found.is_dir());
        recorded.of(HashScheme::H1).filter_map(stored).filter(exists).collect()
    }

    /// Waits until no other run fills the shelf. What a killed run left there is removed.
    pub fn lock(&self) -> Result<DirectoryLock, StoreError> {
        let directory = self.folder.shelf(&self.way).map_err(failed("create", &self.directory()))?;
        let lock = DirectoryLock::acquire_patiently(&directory)?;
        linking::sweep(&directory);
        Ok(lock)
    }

    fn directory(&self) -> PathBuf {
        self.folder.path(&self.way)
    }
}

fn name_of(h1: &PackageHash) -> Option<String> {
    Some(Sha256Digest::from_base64(h1.as_str().strip_prefix("h1:")?)?.to_hex())
}

impl StoredPackage {
    /// Takes the entry away. A root module that links to its files keeps them.
    pub fn discard(&self) -> Result<(), StoreError> {
        linking::remove(&self.path)
    }

    /// True if the files are still those that the name says, and no other user may change them afterwards.
    pub fn is_intact(&self, known: &KnownFiles) -> bool {
        let hash = || package::hash_directory_once(&self.path, known).ok();
        let is_intact = package::is_ours_alone(&self.path) && hash().as_ref() == Some(&self.h1);
        if is_intact {
            // What is used is not old. Only pruning needs to know.
            let _ = File::open(&self.path).and_then(|directory| directory.set_modified(SystemTime::now()));
        }
        is_intact
    }
}

/// A package on its way into the store: a directory next to its place. Dropped, it is removed.
#[derive(Debug)]
pub struct StagedPackage {
    shelf: Shelf,
    state: Arc<Mutex<StagingState>>,
}

#[derive(Debug, Default)]
struct StagingState {
    directory: Option<TempDir>,
    /// How many files were begun.
    files: usize,
    failure: Option<StoreError>,
    finished: Option<(PackageHash, Vec<PackageFile>)>,
}

impl StagedPackage {
    /// Nothing is written yet.
    pub fn new(shelf: Shelf) -> Self {
        Self { shelf, state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, StagingState> {
        locked(&self.state)
    }

    /// Begins, or starts again.
    pub fn begin(&self) -> Result<(), StoreError> {
        let directory = linking::temporary_in(&self.shelf.directory())?;
        *self.state() = StagingState { directory: Some(directory), ..StagingState::default() };
        Ok(())
    }

    /// Where the files go.
    pub fn contents(&self) -> Box<dyn Contents> {
        let top = self.state().directory.as_ref().map(|directory| directory.path().to_owned());
        Box::new(PackageWriter { top: top.unwrap_or_default(), open: None, state: Arc::clone(&self.state) })
    }

    /// What went wrong so far.
    pub fn check(&self) -> Result<(), StoreError> {
        self.state().failure.take().map_or(Ok(()), Err)
    }

    /// Says what was unpacked.
    pub fn finish(&self, h1: &PackageHash, files: &[PackageFile]) {
        self.state().finished = Some((h1.clone(), files.to_vec()));
    }

    /// Puts the package in its place.
    pub fn keep(&self) -> Result<StoredPackage, Error> {
        let StagingState { directory, files, failure, finished } = std::mem::take(&mut *self.state());
        failure.map_or(Ok(()), Err)?;
        let (Some(directory), Some((h1, listed))) = (directory, finished) else {
            return Err(Error::new(ErrorKind::Disk, "a package was not unpacked to its end"));
        };
        let name = name_of(&h1).filter(|_| files == listed.len());
        let place = name.map(|name| self.shelf.directory().join(name));
        let place =
            place.ok_or_else(|| Error::new(ErrorKind::Package, "the archive has a directory by the name of a file"))?;
        for file in &listed {
            let path = path_in(directory.path(), &file.path).unwrap_or_default();
            linking::set_read_only(&path, file.executable).map_err(failed("write", &path))?;
        }
        linking::put_in_place(directory, &place)?;
        Ok(StoredPackage { h1, path: place })
    }
}

impl Drop for StagedPackage {
    /// A thread may still unpack; it finds nothing to write to.
    fn drop(&mut self) {
        drop(self.state().directory.take());
    }
}

/// Writes the files of one package.
struct PackageWriter {
    top: PathBuf,
    open: Option<(PathBuf, File)>,
    state: Arc<Mutex<StagingState>>,
}

impl PackageWriter {
    fn attempt(&mut self, path: &Path, action: impl FnOnce(&mut Self) -> io::Result<()>) {
        if let Err(reason) = action(self) {
            self.open = None;
            let mut state = locked(&self.state);
            state.failure.get_or_insert_with(|| failed("write", path)(reason));
        }
    }
}

impl Contents for PackageWriter {
    fn begin(&mut self, path: &[u8]) {
        let place = path_in(&self.top, path);
        let shown = place.clone().unwrap_or_else(|| self.top.clone());
        self.attempt(&shown, |writer| {
            let place = place.ok_or(io::ErrorKind::InvalidFilename)?;
            // With the lock: a directory that is being removed gets no file.
            let mut state = locked(&writer.state);
            if state.directory.as_ref().is_none_or(|directory| directory.path() != writer.top) {
                return Err(io::ErrorKind::NotFound.into());
            }
            create_within(&writer.top, &place)?;
            let file = own::new_file(&place)?;
            state.files += 1;
            drop(state);
            writer.open = Some((place, file));
            Ok(())
        });
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some((path, mut file)) = self.open.take() {
            self.attempt(&path.clone(), |writer| {
                file.write_all(bytes)?;
                writer.open = Some((path, file));
                Ok(())
            });
        }
    }

    fn end(&mut self) {
        self.open = None;
    }
}

/// Makes the directories of a file below `top`.
fn create_within(top: &Path, file: &Path) -> io::Result<()> {
    let folders: Vec<&Path> = file.ancestors().skip(1).take_while(|folder| *folder != top).collect();
    for folder in folders.into_iter().rev() {
        match files::directory_builder(own::SHELF).create(folder) {
            Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => return Err(reason),
            _ => {}
        }
    }
    Ok(())
}

/// A file of a package in a directory; `None` if its path leads outside or is no file name on this machine.
fn path_in(top: &Path, path: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(path);
    #[cfg(not(unix))]
    let name = std::str::from_utf8(path).ok()?;
    let name = Path::new(name);
    let is_plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain.then(|| top.join(name))
}

//! Files in the folders of the cache: how they are named, written, listed and removed, and what goes wrong.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk::own::{OwnFolder, known_as};
use crate::error::{Error, ErrorKind};

/// The folder of this layout. Another layout gets another folder; old ones are left alone.
pub(in crate::disk) const LAYOUT: &str = "v1";

/// Why the cache could not be written or pruned. Nothing but time is lost.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to the cache at {path}: {reason}")]
pub struct CacheError {
    /// The file or directory.
    pub path: PathBuf,
    /// Why not.
    #[source]
    pub reason: io::Error,
}

impl CacheError {
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = known_as(path);
        move |reason| Self { path, reason }
    }

    pub(super) fn in_folder(folder: &OwnFolder, way: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        Self::at(&folder.place().join(way))
    }
}

impl From<CacheError> for Error {
    fn from(error: CacheError) -> Self {
        Self::new(ErrorKind::Disk, error.to_string())
            .in_file(error.path)
            .hint("set TFLOCK_CACHE_DIR to a directory that can be written, or use --no-cache")
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub files: usize,
    pub bytes: u64,
}

/// The way to a file by its digest, under 256 folders.
pub(in crate::disk) fn fan_out(kind: &str, hex: &str) -> PathBuf {
    let start = hex.get(..2).unwrap_or(hex);
    [LAYOUT, kind, start, hex].iter().collect()
}

pub(in crate::disk) fn replace(folder: &OwnFolder, way: &Path, bytes: &[u8]) -> Result<(), CacheError> {
    folder.replace(way, bytes).map_err(CacheError::in_folder(folder, way))
}

/// All files below a directory of the cache, as far as the directories that they are in are used.
pub(super) fn files_in(folder: &OwnFolder, way: impl AsRef<Path>) -> Vec<DirEntry> {
    let way = way.as_ref();
    let entries = folder.existing(way).and_then(|place| std::fs::read_dir(place).ok());
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries.into_iter().flatten().flatten().partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    found.extend(folders.iter().flat_map(|inner| files_in(folder, way.join(inner.file_name()))));
    found
}

pub(super) fn size(file: &DirEntry) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

pub(super) fn written(file: &DirEntry) -> Option<SystemTime> {
    file.metadata().and_then(|metadata| metadata.modified()).ok()
}

/// Another run may have removed it.
pub(super) fn removed(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

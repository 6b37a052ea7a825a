//! Files in the folders of the cache: how they are named, written, listed and removed, and what goes wrong.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::disk::atomic::put_in_place;
use crate::disk::files::create_directory;
use crate::error::{Error, ErrorKind};

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
    pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |reason| Self { path, reason }
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

/// A file by its digest, under 256 folders.
pub(in crate::disk) fn fan_out(folder: &Path, kind: &str, hex: &str) -> PathBuf {
    folder.join(kind).join(&hex[..2]).join(hex)
}

/// Writes a file by renaming. It is not flushed to the disk: what is damaged counts as absent.
pub(in crate::disk) fn replace(path: &Path, bytes: &[u8]) -> Result<(), CacheError> {
    let directory = path.parent().unwrap_or(path);
    create_directory(directory).map_err(CacheError::at(directory))?;
    let file = tempfile::NamedTempFile::new_in(directory).map_err(CacheError::at(directory))?;
    std::fs::write(file.path(), bytes).map_err(CacheError::at(path))?;
    put_in_place(file, path).map_err(CacheError::at(path))
}

/// All files below a folder, links not followed.
pub(super) fn files(folder: &Path) -> Vec<DirEntry> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries.partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    found.extend(folders.iter().flat_map(|inner| files(&inner.path())));
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

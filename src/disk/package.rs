//! Packages on the disk: an archive or an unpacked directory, and the hashes of either.
//!
//! Knows nothing of where packages lie (mirrors, caches) or who vouches for them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::hash::archive::{ArchiveHasher, ArchiveHashes, BadArchive, Limits, Refusal, Threads, is_program_of};
use crate::hash::h1::{H1Error, h1};
use crate::hash::sha256::Sha256;
use crate::hash::{PackageHash, Sha256Digest};

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Archive { path: PathBuf, source: BadArchive },
    #[error("{} is a directory or a device, not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("{} has more than {limit} files", path.display())]
    TooManyFiles { path: PathBuf, limit: usize },
    #[error("{}: {source}", path.display())]
    H1 { path: PathBuf, source: H1Error },
}

pub fn hash_archive(path: &Path, threads: Threads) -> Result<ArchiveHashes, PackageError> {
    let read_error = |source| PackageError::Read { path: path.to_owned(), source };
    let mut file = open_file(path)?;
    let hashes = stream(&mut file, threads, Limits::default()).map_err(read_error)?;
    hashes.map_err(|refusal| PackageError::Archive { path: path.to_owned(), source: refusal.error })
}

/// The digest of an archive's bytes, whatever they are: its `zh:`.
pub fn digest(path: &Path) -> Result<Sha256Digest, PackageError> {
    hash_file(path, &mut vec![0; CHUNK])
}

/// Hashes an unpacked package: the `h1:` of its files, links followed.
///
/// Source: `golang.org/x/mod/sumdb/dirhash`, `HashDir`.
pub fn hash_directory(path: &Path) -> Result<PackageHash, PackageError> {
    let mut files = Vec::new();
    let mut buffer = vec![0; CHUNK];
    let limit = Limits::default().entries;
    let mut folders = vec![(path.to_owned(), Vec::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in read_folder(&folder)? {
            let (entry, kind) = entry.map_err(|source| PackageError::Read { path: folder.clone(), source })?;
            let mut name = prefix.clone();
            name.extend_from_slice(entry.file_name().as_encoded_bytes());
            if kind.is_dir() {
                name.push(b'/');
                folders.push((entry.path(), name));
            } else {
                files.push((name, hash_file(&entry.path(), &mut buffer)?));
            }
            if files.len() + folders.len() > limit {
                return Err(PackageError::TooManyFiles { path: path.to_owned(), limit });
            }
        }
    }
    h1(files).map_err(|source| PackageError::H1 { path: path.to_owned(), source })
}

pub fn has_program(path: &Path, kind: &str) -> Result<bool, PackageError> {
    for entry in read_folder(path)? {
        let (entry, file_type) = entry.map_err(|source| PackageError::Read { path: path.to_owned(), source })?;
        if !file_type.is_dir() && is_program_of(entry.file_name().as_encoded_bytes(), kind) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn stream(file: &mut File, threads: Threads, limits: Limits) -> io::Result<Result<ArchiveHashes, Refusal>> {
    let mut hasher = ArchiveHasher::on(threads, limits);
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = read_some(file, &mut buffer)?;
        if length == 0 || hasher.update(&buffer[..length]).is_err() {
            return Ok(hasher.finish());
        }
    }
}

type FolderEntry = io::Result<(fs::DirEntry, fs::FileType)>;

fn read_folder(path: &Path) -> Result<impl Iterator<Item = FolderEntry> + use<>, PackageError> {
    let entries = fs::read_dir(path).map_err(|source| PackageError::Read { path: path.to_owned(), source })?;
    Ok(entries.map(|entry| {
        let entry = entry?;
        let kind = entry.file_type()?;
        Ok((entry, kind))
    }))
}

/// A file, or the one that a link leads to, to be read.
fn open_file(path: &Path) -> Result<File, PackageError> {
    let read_error = |source| PackageError::Read { path: path.to_owned(), source };
    // Asked first: to open a pipe would wait for its other end.
    if !fs::metadata(path).map_err(read_error)?.is_file() {
        return Err(PackageError::NotAFile(path.to_owned()));
    }
    File::open(path).map_err(read_error)
}

/// The digest of a file, or of what a link leads to.
fn hash_file(path: &Path, buffer: &mut [u8]) -> Result<Sha256Digest, PackageError> {
    let read_error = |source| PackageError::Read { path: path.to_owned(), source };
    let mut file = open_file(path)?;
    let mut hasher = Sha256::new();
    loop {
        match read_some(&mut file, buffer).map_err(read_error)? {
            0 => return Ok(hasher.finish()),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// Reads at least a byte, unless the file ends.
fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl From<PackageError> for Error {
    fn from(error: PackageError) -> Self {
        let message = error.to_string();
        match error {
            PackageError::Read { path, .. } => Error::new(ErrorKind::Disk, message).in_file(path),
            PackageError::Archive { path, source } => Error { message, ..Error::from(source) }.in_file(path),
            PackageError::NotAFile(path) | PackageError::TooManyFiles { path, .. } | PackageError::H1 { path, .. } => {
                Error::new(ErrorKind::Package, message).in_file(path)
            }
        }
    }
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;

//! Packages on the disk: an archive or an unpacked directory, and the hashes of either.
//!
//! Knows nothing of where packages lie (mirrors, caches) or who signed them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use super::own;
use crate::error::{Error, ErrorKind};
use crate::goinfo::Scan;
use crate::hash::archive::{
    ArchiveHasher, ArchiveHashes, ArchiveRefusal, BadArchive, Contents, Limits, PackageFile, PackagePrograms,
    ProgramFiles, Threads, is_program_of,
};
use crate::hash::digest::Sha256;
use crate::hash::digest::{H1Error, h1};
use crate::hash::{PackageHash, Sha256Digest};
use crate::parallel::locked;
use crate::path::shown;

/// Bytes read at once.
const CHUNK: usize = 256 << 10;

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("cannot read {}: {source}", shown(path))]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: {source}", shown(path))]
    Archive { path: PathBuf, source: BadArchive },
    #[error("{} is a directory or a device, not a file", shown(.0))]
    NotAFile(PathBuf),
    #[error("{} has more than {limit} files", shown(path))]
    TooManyFiles { path: PathBuf, limit: usize },
    #[error("{}: {source}", shown(path))]
    H1 { path: PathBuf, source: H1Error },
}

pub fn hash_archive(path: &Path, threads: Threads) -> Result<ArchiveHashes, PackageError> {
    unpack_archive(path, threads, None, |_| {})
}

/// The same in the one pass in which its files, or its bytes, go somewhere.
pub fn unpack_archive(
    path: &Path,
    threads: Threads,
    contents: Option<Box<dyn Contents>>,
    show: impl FnMut(&[u8]),
) -> Result<ArchiveHashes, PackageError> {
    let read_error = |source| PackageError::Read { path: path.to_owned(), source };
    let mut file = open_file(path)?;
    let pass = ArchiveHasher::unpacking(threads, Limits::default(), contents);
    let hashes = stream(&mut file, pass, show).map_err(read_error)?;
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
    hash_directory_once(path, &KnownFiles::default())
}

/// The same, reading no file twice that many directories link to.
pub fn hash_directory_once(path: &Path, known: &KnownFiles) -> Result<PackageHash, PackageError> {
    let mut buffer = vec![0; CHUNK];
    let mut files = Vec::new();
    let found = identity(path);
    for (name, path) in files_below(path)? {
        files.push((name, known.digest(&path, &mut buffer)?));
    }
    check_unmoved(path, found)?;
    h1(files).map_err(|source| PackageError::H1 { path: path.to_owned(), source })
}

/// An unpacked package that was read.
pub struct ReadPackage {
    pub h1: PackageHash,
    pub files: Vec<PackageFile>,
    pub programs: PackagePrograms,
}

impl ReadPackage {
    /// True if the package has the program of a provider of this type.
    pub fn has_program(&self, kind: &str) -> bool {
        self.files.iter().any(|file| is_program_of(&file.path, kind))
    }
}

/// Hashes an unpacked package and reads its programs in one pass, in which its files may go somewhere too.
pub fn read_directory(path: &Path, mut contents: Option<&mut dyn Contents>) -> Result<ReadPackage, PackageError> {
    let mut buffer = vec![0; CHUNK];
    let (mut files, mut digests, mut programs) = (Vec::new(), Vec::new(), ProgramFiles::default());
    let found = identity(path);
    for (name, path) in files_below(path)? {
        if let Some(contents) = &mut contents {
            contents.begin(&name);
        }
        let executable = is_executable(&path);
        let (mut file, mut scan) = (open_file(&path)?, Scan::new());
        let digest = digest_of(&mut file, &mut buffer, |bytes| {
            scan.update(bytes);
            if let Some(contents) = &mut contents {
                contents.write(bytes);
            }
        });
        digests.push((name.clone(), digest.map_err(|source| PackageError::Read { path, source })?));
        if let Some(contents) = &mut contents {
            contents.end();
        }
        let in_file = |at, count| {
            let mut bytes = vec![0; count];
            file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes)).ok()?;
            Some(bytes)
        };
        programs.add(name.clone(), files.len(), scan.finish_with(in_file));
        files.push(PackageFile { path: name.into(), executable });
    }
    check_unmoved(path, found)?;
    let h1 = h1(digests).map_err(|source| PackageError::H1 { path: path.to_owned(), source })?;
    Ok(ReadPackage { h1, files, programs: programs.finish(|_| true) })
}

/// Fails if another directory is in that place by now, or none: what is being removed lists fewer files than it had.
fn check_unmoved(path: &Path, found: Option<(u64, u64)>) -> Result<(), PackageError> {
    if identity(path) == found {
        return Ok(());
    }
    let source = io::Error::new(io::ErrorKind::NotFound, "another program replaced it meanwhile");
    Err(PackageError::Read { path: path.to_owned(), source })
}

/// What identifies a directory, whatever becomes of its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    file_id(&fs::metadata(path).ok()?).map(|(device, number, ..)| (device, number))
}

/// The files of a directory by their names in it, with slashes.
fn files_below(path: &Path) -> Result<Vec<(Vec<u8>, PathBuf)>, PackageError> {
    let mut files = Vec::new();
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
                files.push((name, entry.path()));
            }
            if files.len() + folders.len() > limit {
                return Err(PackageError::TooManyFiles { path: path.to_owned(), limit });
            }
        }
    }
    Ok(files)
}

/// True if a directory has files and directories only, and none that others may write to. A link could lead to other content later,
/// and the owner of a file could write it anew.
pub fn is_ours_alone(path: &Path) -> bool {
    let found = |path: &Path| fs::symlink_metadata(path).ok().filter(own::is_safe);
    let is_ours = |file: &Path| {
        let is_file = found(file).is_some_and(|found| found.is_file());
        let mut around = file.ancestors().skip(1).take_while(|folder| folder.starts_with(path));
        is_file && around.all(|folder| found(folder).is_some())
    };
    files_below(path).is_ok_and(|files| files.iter().all(|(_, file)| is_ours(file)))
}

/// The digests of files that a run has read: hard links and symbolic links lead to one file.
#[derive(Debug, Default)]
pub struct KnownFiles(Mutex<HashMap<FileId, Sha256Digest>>);

/// A file, and when it was written.
type FileId = (u64, u64, u64, Option<SystemTime>);

impl KnownFiles {
    fn digest(&self, path: &Path, buffer: &mut [u8]) -> Result<Sha256Digest, PackageError> {
        let id = fs::metadata(path).ok().and_then(|found| file_id(&found));
        let known = || locked(&self.0);
        if let Some(digest) = id.and_then(|id| known().get(&id).copied()) {
            return Ok(digest);
        }
        let digest = hash_file(path, buffer)?;
        id.and_then(|id| known().insert(id, digest));
        Ok(digest)
    }
}

#[cfg(unix)]
fn file_id(found: &fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;

    Some((found.dev(), found.ino(), found.len(), found.modified().ok()))
}

#[cfg(not(unix))]
fn file_id(_: &fs::Metadata) -> Option<FileId> {
    None
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

fn stream(
    file: &mut File,
    mut hasher: ArchiveHasher,
    mut show: impl FnMut(&[u8]),
) -> io::Result<Result<ArchiveHashes, ArchiveRefusal>> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = read_some(file, &mut buffer)?;
        show(&buffer[..length]);
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
    // Before opening it: to open a pipe would wait for its other end.
    if !fs::metadata(path).map_err(read_error)?.is_file() {
        return Err(PackageError::NotAFile(path.to_owned()));
    }
    File::open(path).map_err(read_error)
}

/// The digest of a file, or of what a link leads to.
fn hash_file(path: &Path, buffer: &mut [u8]) -> Result<Sha256Digest, PackageError> {
    digest_of(&mut open_file(path)?, buffer, |_| {})
        .map_err(|source| PackageError::Read { path: path.to_owned(), source })
}

/// The digest of a file, its bytes shown on the way.
fn digest_of(file: &mut File, buffer: &mut [u8], mut show: impl FnMut(&[u8])) -> io::Result<Sha256Digest> {
    let mut hasher = Sha256::new();
    loop {
        match read_some(file, buffer)? {
            0 => return Ok(hasher.finish()),
            length => {
                hasher.update(&buffer[..length]);
                show(&buffer[..length]);
            }
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

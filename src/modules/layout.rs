//! Packages outside of the cache: copied whole to where they are used, and compared with what is locked where a tool laid them out in
//! its own way.
//!
//! A checkout of git may convert line ends and replace what Git LFS stores; second copies of a package come without what
//! begins with a dot. All else differs: packages that a checkout changes in other ways cannot be locked.
//!
//! Source: terraform `internal/copy/copy_dir.go`; `gitattributes(5)`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::store::PackageRecord;
use super::unpack::{UnpackError, counts, lay_links};
use crate::disk::modules_dir::{plain, read_regular};
use crate::disk::{files, own};
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::path::shown;

/// Copies a file; false if its digest is another.
fn copy_file((tree, to): (&Path, &Path), name: &str, digest: &str) -> io::Result<bool> {
    let (from, place) = (tree.join(name), to.join(name));
    let bytes = read_regular(&from)?;
    if Sha256Digest::of(&bytes).to_hex() != digest {
        return Ok(false);
    }
    own::make_directories(place.parent().unwrap_or(to))?;
    own::truncated_file(&place)?.write_all(&bytes)?;
    set_mode(&from, &place)?;
    Ok(true)
}

/// Copies a package of the cache, whose `tree` was given by a fetch, into a directory that is not there yet. Each file is
/// compared with the digest that was computed when the package was fetched.
pub fn copy_package(tree: &Path, to: &Path) -> Result<(), Error> {
    let record = record(tree)?;
    let failed = |reason: io::Error| unwritable(to, &reason);
    own::make_directories(to).map_err(failed)?;
    for (name, digest) in record.files.iter().chain(&record.others) {
        match copy_file((tree, to), name, digest) {
            Ok(true) => {}
            Ok(false) => return Err(damaged(tree)),
            Err(reason) if [io::ErrorKind::NotFound, io::ErrorKind::InvalidData].contains(&reason.kind()) => {
                return Err(damaged(tree));
            }
            Err(reason) => return Err(failed(reason)),
        }
    }
    lay_links(to, &record.links).map_err(|error| match error {
        UnpackError::Disk { path, reason } => unwritable(&path, &reason),
        error => failed(io::Error::other(error)),
    })
}

/// Makes a copy readable for all, whatever the umask of the run that filled the cache, and executable like the original.
#[cfg(unix)]
fn set_mode(from: &Path, place: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_executable = fs::metadata(from)?.permissions().mode() & 0o111 != 0;
    fs::set_permissions(place, fs::Permissions::from_mode(if is_executable { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// True if a directory contains exactly a package of the cache. Git's own files do not count.
pub fn is_laid_out(tree: &Path, at: &Path) -> Result<bool, Error> {
    let package = CachedPackage::open(tree)?;
    let mut names = BTreeSet::new();
    if list(at, "", &mut names).is_err() || names.len() != package.files.len() + package.record.links.len() {
        return Ok(false);
    }
    Ok(names.iter().all(|name| package.has(name, &at.join(name))))
}

/// The names of all files and links below a directory.
pub(super) fn list(top: &Path, within: &str, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(top.join(within))? {
        let entry = entry?;
        let own = entry.file_name().into_string().map_err(|_| io::ErrorKind::InvalidData)?;
        let name = if within.is_empty() { own } else { format!("{within}/{own}") };
        if name == ".git" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list(top, &name, names)?;
        } else {
            names.insert(name);
        }
    }
    Ok(())
}

pub(super) fn record(tree: &Path) -> Result<PackageRecord, Error> {
    let read = files::read_shared(&tree.with_file_name("package.json"), files::LIMIT);
    read.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| damaged(tree))
}

fn damaged(tree: &Path) -> Error {
    // What cannot be removed will be found damaged again.
    let _ = tree.parent().map(fs::remove_dir_all);
    Error::new(ErrorKind::Unavailable, "a module package in the cache was damaged and has been removed")
        .hint("run the command again: it fetches the package again")
}

fn unwritable(path: &Path, reason: &io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write {}: {reason}", shown(path))).in_file(path)
}

/// What the file of a stored object of Git LFS begins with.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The files of an installed copy that differ from those of a package of the cache, whose `tree` was given by a fetch. Names
/// that no hash covers are not looked at.
pub fn differences(tree: &Path, at: &Path) -> Result<BTreeSet<String>, Error> {
    let package = CachedPackage::open(tree)?;
    let mut names = BTreeSet::new();
    if list(at, "", &mut names).is_err() {
        return Ok(BTreeSet::from([".".to_owned()]));
    }
    let known = package.files.keys().chain(package.record.links.keys()).filter(|name| counts(name));
    names.extend(known.cloned());
    names.retain(|name| {
        counts(name) && !package.has(name, &at.join(name)) && !package.has_checked_out(name, &at.join(name))
    });
    Ok(names)
}

/// A package of the cache.
struct CachedPackage<'a> {
    tree: &'a Path,
    record: PackageRecord,
    /// All files with the digests of their contents.
    files: BTreeMap<String, String>,
}

impl<'a> CachedPackage<'a> {
    fn open(tree: &'a Path) -> Result<Self, Error> {
        let record = record(tree)?;
        let files: BTreeMap<String, String> =
            record.files.iter().chain(&record.others).map(|(name, digest)| (name.clone(), digest.clone())).collect();
        Ok(Self { tree, record, files })
    }

    /// True if what is at a place is this file or link of the package.
    fn has(&self, name: &str, place: &Path) -> bool {
        match (self.files.get(name), self.record.links.get(name)) {
            (_, Some(target)) => is_link(place, target),
            (Some(digest), None) => read_regular(place).is_ok_and(|there| Sha256Digest::of(&there).to_hex() == *digest),
            (None, None) => false,
        }
    }

    /// True if a checkout may make what is at a place of this file of the package.
    fn has_checked_out(&self, name: &str, place: &Path) -> bool {
        let (Some(digest), Ok(there)) = (self.files.get(name), read_regular(place)) else { return false };
        let stored = read_regular(&self.tree.join(name)).unwrap_or_default();
        if self.record.commit.is_none() || Sha256Digest::of(&stored).to_hex() != *digest {
            return false;
        }
        let object = stored.strip_prefix(LFS).and_then(|rest| {
            let line = rest.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"oid sha256:"))?;
            Some(String::from_utf8_lossy(line).into_owned())
        });
        object.is_some_and(|oid| oid == Sha256Digest::of(&there).to_hex()) || plain(&stored) == plain(&there)
    }
}

/// True if a link is there, or where there are none a file with its target.
fn is_link(place: &Path, target: &str) -> bool {
    match fs::read_link(place) {
        Ok(there) => there.to_string_lossy() == *target,
        Err(_) => cfg!(windows) && read_regular(place).is_ok_and(|there| there == target.as_bytes()),
    }
}

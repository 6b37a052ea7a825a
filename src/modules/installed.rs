//! Installed copies of packages against what is locked: is it the same, though a tool laid it out in its own way?
//!
//! A checkout of git may convert line ends and replace what Git LFS stores; second copies of a package come without what
//! begins with a dot. All else differs: packages that a checkout changes in other ways cannot be locked.
//!
//! Source: terraform `internal/copy/copy_dir.go`; `gitattributes(5)`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::layout::{list, record};
use super::store::PackageRecord;
use super::unpack::counts;
use crate::disk::installed_modules::{plain, read_regular};
use crate::error::Error;
use crate::hash::Sha256Digest;

/// What the file of a stored object of Git LFS begins with.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// The files of an installed copy that differ from those of a package of the cache, whose `tree` was given by a fetch. Names
/// that no hash covers are not looked at.
pub fn differences(tree: &Path, at: &Path) -> Result<BTreeSet<String>, Error> {
    let package = Package::open(tree)?;
    let mut names = BTreeSet::new();
    if list(at, "", &mut names).is_err() {
        return Ok(BTreeSet::from([".".to_owned()]));
    }
    let known = package.files.keys().chain(package.record.links.keys()).filter(|name| counts(name));
    names.extend(known.cloned());
    names.retain(|name| counts(name) && !package.is_same(name, &at.join(name)));
    Ok(names)
}

/// A package of the cache.
struct Package<'a> {
    tree: &'a Path,
    record: PackageRecord,
    /// All files with the digests of their contents.
    files: BTreeMap<String, String>,
}

impl<'a> Package<'a> {
    fn open(tree: &'a Path) -> Result<Self, Error> {
        let record = record(tree)?;
        let files: BTreeMap<String, String> =
            record.files.iter().chain(&record.others).map(|(name, digest)| (name.clone(), digest.clone())).collect();
        Ok(Self { tree, record, files })
    }

    fn is_same(&self, name: &str, place: &Path) -> bool {
        match (self.files.get(name), self.record.links.get(name)) {
            (_, Some(target)) => is_link(place, target),
            (Some(digest), None) => self.is_file(name, digest, place),
            (None, None) => false,
        }
    }

    fn is_file(&self, name: &str, digest: &str, place: &Path) -> bool {
        let Ok(there) = read_regular(place) else { return false };
        Sha256Digest::of(&there).to_hex() == digest || self.is_checked_out(name, digest, &there)
    }

    /// True if a checkout may make these bytes of a file.
    fn is_checked_out(&self, name: &str, digest: &str, there: &[u8]) -> bool {
        let stored = fs::read(self.tree.join(name)).unwrap_or_default();
        if self.record.commit.is_none() || Sha256Digest::of(&stored).to_hex() != digest {
            return false;
        }
        let object = stored.strip_prefix(LFS).and_then(|rest| {
            let line = rest.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"oid sha256:"))?;
            Some(String::from_utf8_lossy(line).into_owned())
        });
        object.is_some_and(|oid| oid == Sha256Digest::of(there).to_hex()) || plain(&stored) == plain(there)
    }
}

/// True if a link is there, or where there are none a file with its target.
fn is_link(place: &Path, target: &str) -> bool {
    match fs::read_link(place) {
        Ok(there) => there.to_string_lossy() == *target,
        Err(_) => cfg!(windows) && read_regular(place).is_ok_and(|there| there == target.as_bytes()),
    }
}

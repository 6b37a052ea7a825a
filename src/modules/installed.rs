//! Installed copies of packages against what is locked: is it the same, though a tool laid it out in its own way?
//!
//! A checkout of git may convert line ends, expand `$Id$` and run filters; archives come without links, and second copies of
//! a package without what begins with a dot. None of this is held against anybody.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `decompress_zip.go`, `decompress_tar.go`; terraform
//! `internal/copy/copy_dir.go`; `gitattributes(5)`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::layout::{list, record};
use super::store::PackageRecord;
use super::unpack::{ENCODING, counts, has_attribute};
use crate::disk::installed_modules::{plain, read_regular};
use crate::error::Error;
use crate::hash::Sha256Digest;

/// What the file of a stored object of Git LFS begins with.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// How an installed copy differs from a package. Names that no hash covers are not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// What is another file, is missing or is there beside.
    pub differ: BTreeSet<String>,
    /// What a filter of git may have made of a file, which cannot be told from outside.
    pub unknown: BTreeSet<String>,
}

/// Compares an installed copy with a package of the cache, whose `tree` was given by a fetch.
///
/// # Errors
///
/// As [`super::copy_package`].
pub fn differences(tree: &Path, at: &Path) -> Result<Differences, Error> {
    let package = Package::open(tree)?;
    let mut names = BTreeSet::new();
    if list(at, "", &mut names).is_err() {
        return Ok(Differences { differ: BTreeSet::from([".".to_owned()]), ..Differences::default() });
    }
    let known = package.files.keys().chain(package.record.links.keys()).filter(|name| counts(name));
    names.extend(known.cloned());
    let mut found = Differences::default();
    for name in names.into_iter().filter(|name| counts(name)) {
        match package.fate(&name, &at.join(&name)) {
            Fate::Same => {}
            Fate::Differs => drop(found.differ.insert(name)),
            Fate::Unknown => drop(found.unknown.insert(name)),
        }
    }
    Ok(found)
}

/// What became of a file.
enum Fate {
    Same,
    Differs,
    Unknown,
}

/// A package of the cache.
struct Package<'a> {
    tree: &'a Path,
    record: PackageRecord,
    /// All files with the digests of their contents.
    files: BTreeMap<String, String>,
    /// True if some of its files pass a filter when they are checked out.
    is_filtered: bool,
}

impl<'a> Package<'a> {
    fn open(tree: &'a Path) -> Result<Self, Error> {
        let record = record(tree)?;
        let files: BTreeMap<String, String> =
            record.files.iter().chain(&record.others).map(|(name, digest)| (name.clone(), digest.clone())).collect();
        let mut attributes = files.keys().filter(|name| name.rsplit('/').next() == Some(".gitattributes"));
        let is_filtered = attributes.any(|name| has_attribute(&tree.join(name), &[ENCODING, "filter="]));
        Ok(Self { tree, files, is_filtered: is_filtered && record.commit.is_some(), record })
    }

    fn fate(&self, name: &str, place: &Path) -> Fate {
        let is_same = match (self.files.get(name), self.record.links.get(name)) {
            (_, Some(target)) => self.is_link(place, target),
            (Some(digest), None) => return self.of_file(name, digest, place),
            (None, None) => false,
        };
        if is_same { Fate::Same } else { Fate::Differs }
    }

    fn of_file(&self, name: &str, digest: &str, place: &Path) -> Fate {
        let Ok(there) = read_regular(place) else { return Fate::Differs };
        if Sha256Digest::of(&there).to_hex() == digest {
            return Fate::Same;
        }
        if self.is_checked_out(name, digest, &there) {
            return Fate::Same;
        }
        if self.is_filtered { Fate::Unknown } else { Fate::Differs }
    }

    /// True if a link is what the tools make of one: from git a link, or a file with its target where there are no links; from a
    /// zip archive such a file, from others an empty one.
    fn is_link(&self, place: &Path, target: &str) -> bool {
        if let Ok(there) = fs::read_link(place) {
            return there.to_string_lossy() == *target;
        }
        let is_file = |there: &[u8]| there == target.as_bytes();
        let Ok(there) = read_regular(place) else { return false };
        match self.record.commit {
            Some(_) => cfg!(windows) && is_file(&there),
            None => there.is_empty() || is_file(&there),
        }
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

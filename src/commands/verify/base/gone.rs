//! Lock files that the change took away: with their root modules, to another directory, or from under them.

use std::path::{Path, PathBuf};

use super::went_on::goes_on;
use super::{Base, name_of, slashed};
use crate::addr::ProviderAddr;
use crate::config::is_configuration;
use crate::dialect::Dialect;
use crate::disk::{lock_file, text};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::lockfile::{self, FILE_NAME, LockEntry, LockFile};
use crate::verify::Compared;

/// A root module that lost its lock file and is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The directory, from the top.
    pub path: PathBuf,
    /// The directory, to be opened.
    pub place: PathBuf,
    /// True if there is configuration, which tells whether a lock file is needed at all.
    pub has_configuration: bool,
}

impl Gone {
    /// The finding on a root module without configuration, as Terragrunt leaves them.
    pub fn finding(&self, base: &Compared) -> Finding {
        let message = "the dependency lock file that was here at the base was removed";
        let finding = Finding::new(Rule::LockFileRemoved, message).in_file(self.path.join(FILE_NAME));
        finding.filled("REV", base.short())
    }
}

impl Base {
    /// The directories whose lock file is gone though something is left of the root module: configuration; or, where
    /// there was none, any file that git knew.
    pub fn gone(&self) -> Vec<Gone> {
        let mut found = Vec::new();
        for path in self.removed() {
            let directory = path.strip_suffix(FILE_NAME).unwrap_or(path).trim_end_matches('/');
            let place = self.top.join(directory);
            let has_configuration = text::names_in(&place).iter().any(|name| is_configuration(name));
            let was_bare = !self.before.names(directory).any(is_configuration);
            let is_left = || self.before.names(directory).any(|name| text::is_there(&place.join(name)));
            if has_configuration || (was_bare && is_left()) {
                found.push(Gone { path: PathBuf::from(directory), place, has_configuration });
            }
        }
        found
    }

    /// The lock files that were there at the merge base and are no more.
    pub(super) fn removed(&self) -> impl Iterator<Item = &str> {
        let paths = self.changes.paths().filter(|path| name_of(path) == FILE_NAME);
        paths.filter(|path| !self.changes.stands(path))
    }

    /// What the lock files said that are no more.
    pub(super) fn moved_away(&self) -> Vec<LockFile> {
        self.removed().filter_map(|path| self.locks.get(path)).map(|text| salvaged(text)).collect()
    }

    /// The directory, from the top, in which a root module stood before, if the change moved it: told by its lock file,
    /// else by the lines of its configuration.
    ///
    /// # Errors
    ///
    /// What git says of the files of the base.
    pub(super) fn came_from(&self, place: &Path) -> Result<Option<String>, Error> {
        let way = slashed(&self.way_to(place).join(FILE_NAME));
        if self.before.tree().kind(&way).is_some() {
            return Ok(None);
        }
        let directories: Vec<&str> =
            self.removed().filter(|path| self.locks.contains_key(*path)).map(directory_of).collect();
        if directories.is_empty() {
            return Ok(None);
        }
        let left = self.moved_away();
        let now =
            lock_file::read(&place.join(FILE_NAME)).ok().flatten().map(|text| salvaged(&text)).unwrap_or_default();
        let by_lock = predecessor(&now, &left).and_then(|old| left.iter().position(|other| std::ptr::eq(old, other)));
        if let Some(at) = by_lock {
            return Ok(Some(directories[at].to_owned()));
        }
        for directory in directories {
            if goes_on(&self.lines_before(directory)?, place) {
                return Ok(Some(directory.to_owned()));
            }
        }
        Ok(None)
    }
}

/// The lock file that was moved to where a new one is: the one with which it shares the most locked releases, and at
/// least half of those of the smaller one. With fewer in common it is a new root module.
pub(super) fn predecessor<'a>(new: &LockFile, left: &'a [LockFile]) -> Option<&'a LockFile> {
    let shared = |old: &LockFile| {
        new.iter().filter(|(addr, entry)| old.get(addr).is_some_and(|old| old.version == entry.version)).count()
    };
    let near = |old: &&LockFile| shared(old) > 0 && shared(old) * 2 >= old.len().min(new.len());
    let kept = |old: &LockFile| -> usize {
        let of_entry = |(addr, entry): (&ProviderAddr, &LockEntry)| {
            let old = old.get(addr).filter(|old| old.version == entry.version);
            old.map_or(0, |old| old.hashes.iter().filter(|hash| entry.hashes.contains(hash)).count())
        };
        new.iter().map(of_entry).sum()
    };
    left.iter().filter(near).max_by_key(|old| (shared(old), kept(old)))
}

fn salvaged(text: &[u8]) -> LockFile {
    let dialect = lockfile::detect_dialect(text).unwrap_or(Dialect::Terraform);
    lockfile::salvage(text, dialect).lock
}

/// The directory of a file, from the top.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(entries: &[(&str, &str)]) -> LockFile {
        let blocks = entries.iter().map(|(name, version)| {
            format!("provider \"registry.terraform.io/acme/{name}\" {{\n  version = \"{version}\"\n}}\n")
        });
        lockfile::salvage(blocks.collect::<String>().as_bytes(), Dialect::Terraform).lock
    }

    #[test]
    fn a_lock_file_that_moved_is_known_by_its_releases() {
        let left = [lock(&[("a", "1.0.0"), ("b", "1.0.0")]), lock(&[("a", "1.0.0"), ("b", "1.0.0"), ("c", "1.0.0")])];
        let found = |entries: &[(&str, &str)]| {
            predecessor(&lock(entries), &left)
                .map(|old| left.iter().position(|other| std::ptr::eq(old, other)).unwrap())
        };
        assert_eq!(found(&[("a", "1.0.0"), ("b", "1.0.0"), ("c", "1.0.0")]), Some(1));
        assert_eq!(found(&[("c", "1.0.0"), ("d", "1.0.0")]), Some(1));
        assert_eq!(found(&[("a", "2.0.0"), ("b", "2.0.0")]), None);
        assert_eq!(found(&[("c", "1.0.0"), ("d", "1.0.0"), ("e", "1.0.0")]), None);
        assert_eq!(found(&[]), None);
        assert_eq!(predecessor(&lock(&[("a", "1.0.0")]), &[]), None);
    }
}

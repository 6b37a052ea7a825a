//! What changed between two lock files: a plain function from values to values.
//!
//! It knows nothing of files, registries or words; why a hash is believed is filled in by whoever knows.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{AddedHash, Change, ChangeKind};

/// The changes from one lock file to another, in the order of the file; nothing for entries that are equal.
pub fn changes(old: &LockFile, new: &LockFile) -> Vec<Change> {
    let addresses: BTreeSet<&ProviderAddr> = old.iter().chain(new.iter()).map(|(addr, _)| addr).collect();
    addresses.into_iter().filter_map(|addr| change(addr, old.get(addr), new.get(addr))).collect()
}

fn change(addr: &ProviderAddr, old: Option<&LockEntry>, new: Option<&LockEntry>) -> Option<Change> {
    let kind = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
        (Some(old), Some(new)) => kind(old, new)?,
    };
    let has = |entry: Option<&LockEntry>, hash| entry.is_some_and(|entry| entry.hashes.contains(hash));
    let added = new.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(old, hash));
    let removed = old.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(new, hash));
    Some(Change {
        address: addr.clone(),
        kind,
        old: old.cloned(),
        new: new.cloned(),
        hashes_added: added
            .map(|hash| AddedHash { hash: hash.clone(), platform: None, evidence: Vec::new() })
            .collect(),
        hashes_removed: removed.cloned().collect(),
        signer: None,
        pinned: false,
    })
}

fn kind(old: &LockEntry, new: &LockEntry) -> Option<ChangeKind> {
    match old.version.cmp(&new.version) {
        Ordering::Less => Some(ChangeKind::Upgraded),
        Ordering::Greater => Some(ChangeKind::Downgraded),
        Ordering::Equal if old.hashes != new.hashes => Some(ChangeKind::HashesChanged),
        Ordering::Equal if old.constraints != new.constraints => Some(ChangeKind::ConstraintsChanged),
        Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    fn lock(version: &str, constraints: &str, hashes: &[&str]) -> LockFile {
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: version.parse().unwrap(),
            constraints: constraints.parse().unwrap(),
            hashes: hashes.iter().map(|hash| hash.parse().unwrap()).collect(),
        };
        lock.insert(ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap(), entry);
        lock
    }

    #[test]
    fn kinds() {
        let old = lock("1.0.0", "~> 1.0", &["h1:a"]);
        let kind = |new: &LockFile| changes(&old, new).first().map(|change| change.kind);
        assert_eq!(kind(&old), None);
        assert_eq!(kind(&lock("1.0.1", "~> 1.0", &[])), Some(ChangeKind::Upgraded));
        assert_eq!(kind(&lock("0.9.0", "~> 1.0", &[])), Some(ChangeKind::Downgraded));
        assert_eq!(kind(&lock("1.0.0", "~> 1.1", &["h1:a"])), Some(ChangeKind::ConstraintsChanged));
        assert_eq!(kind(&lock("1.0.0", "~> 1.1", &["h1:b"])), Some(ChangeKind::HashesChanged));
        assert_eq!(kind(&LockFile::new()), Some(ChangeKind::Removed));
        assert_eq!(changes(&LockFile::new(), &old)[0].kind, ChangeKind::Added);
    }

    #[test]
    fn hashes_that_came_and_went() {
        let change = &changes(&lock("1.0.0", "", &["h1:a", "h1:b"]), &lock("1.0.0", "", &["h1:b", "zh:c"]))[0];
        assert_eq!(change.hashes_added[0].hash.as_str(), "zh:c");
        assert_eq!(change.hashes_removed[0].as_str(), "h1:a");
    }
}

//! What changed between two lock files: plain functions from values to values.
//!
//! [`changes`] finds the changes, [`judge()`] judges the added and removed hashes, the module `origin_changes` finds
//! changed requirements, [`risk()`] says how dangerous a change is, and [`explain()`] puts it into words. The folder
//! knows nothing of files, registries or formats; what is known of packages is handed in as [`Packages`].

mod change;
mod explain;
mod headline;
mod judge;
mod origin_changes;
#[cfg(test)]
mod realworld_tests;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use change::{
    AddedHash, Change, ChangeKind, Distance, Formatting, Judged, Novelty, OriginChange, Packages, RequiredBy,
    SigningDate, Standing, TextChange,
};
pub use explain::{Explanation, explain, explain_text};
pub use headline::{coverage, headline, text_change, verdict_words};
pub use judge::{Risk, is_alarming, judge, loudest_first, risk, risk_of_text};
pub use origin_changes::find_callers;

use crate::addr::ProviderAddr;
use crate::lockfile::{LockEntry, LockFile};

/// The changes from one lock file to another, in the order of the file; nothing for entries that are equal.
///
/// An entry that left and one that came count as one change if they are the same provider at another host or in
/// another namespace. Hashes are not judged yet.
pub fn changes(old: &LockFile, new: &LockFile) -> Vec<Change> {
    let moved = origin_changes::moves(old, new);
    let left: BTreeSet<&ProviderAddr> = moved.values().copied().collect();
    let addresses: BTreeSet<&ProviderAddr> = old.iter().chain(new.iter()).map(|(addr, _)| addr).collect();
    let stayed = addresses.into_iter().filter(|addr| !left.contains(addr));
    stayed
        .filter_map(|addr| match moved.get(addr) {
            Some(from) => change(addr, Some(from), old.get(from), new.get(addr)),
            None => change(addr, None, old.get(addr), new.get(addr)),
        })
        .collect()
}

/// What happened to one entry; nothing if both are equal.
pub fn change_of(addr: &ProviderAddr, old: &LockEntry, new: &LockEntry) -> Option<Change> {
    change(addr, None, Some(old), Some(new))
}

fn change(
    addr: &ProviderAddr,
    moved_from: Option<&ProviderAddr>,
    old: Option<&LockEntry>,
    new: Option<&LockEntry>,
) -> Option<Change> {
    let kind = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
        (Some(_), Some(_)) if moved_from.is_some() => ChangeKind::Moved,
        (Some(old), Some(new)) => kind(old, new)?,
    };
    let has = |entry: Option<&LockEntry>, hash| entry.is_some_and(|entry| entry.hashes.contains(hash));
    let added = new.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(old, hash));
    let removed = old.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(new, hash));
    Some(Change {
        address: addr.clone(),
        moved_from: moved_from.cloned(),
        kind,
        old: old.cloned(),
        new: new.cloned(),
        hashes_added: added
            .map(|hash| AddedHash { hash: hash.clone(), platforms: BTreeSet::new(), evidence: Vec::new() })
            .collect(),
        hashes_removed: removed.cloned().collect(),
        judged: BTreeMap::new(),
        uncovered: BTreeSet::new(),
        callers: Vec::new(),
        signer: None,
        position: None,
        standing: Standing::default(),
        identical: false,
        identity: None,
        novelty: None,
        link: None,
        registry_warnings: Arc::default(),
        signed: None,
        is_edited: false,
        required_by: RequiredBy::NotChecked,
    })
}

fn kind(old: &LockEntry, new: &LockEntry) -> Option<ChangeKind> {
    let (came, went) = (!is_within(new, old), !is_within(old, new));
    match old.version.cmp(&new.version) {
        Ordering::Less => Some(ChangeKind::Upgraded),
        Ordering::Greater => Some(ChangeKind::Downgraded),
        Ordering::Equal if came && went => Some(ChangeKind::HashesReplaced),
        Ordering::Equal if came || went => Some(ChangeKind::HashesChanged),
        Ordering::Equal if old.constraints != new.constraints => Some(ChangeKind::ConstraintsChanged),
        Ordering::Equal => None,
    }
}

/// True if all hashes of one entry are hashes of the other.
fn is_within(one: &LockEntry, other: &LockEntry) -> bool {
    one.hashes.iter().all(|hash| other.hashes.contains(hash))
}

//! The entry of one provider, merged.

use std::collections::BTreeSet;

use super::Three;
use super::remark::{Reason, Side};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockEntry;
use crate::version::Constraints;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Settled {
    /// There is none.
    Absent,
    /// This one.
    Entry(LockEntry),
    /// Someone has to decide between the two.
    Conflict,
}

impl From<Option<&LockEntry>> for Settled {
    fn from(entry: Option<&LockEntry>) -> Self {
        entry.cloned().map_or(Settled::Absent, Settled::Entry)
    }
}

pub(super) fn settle(entry: Three<Option<&LockEntry>>, reasons: &mut Vec<Reason>) -> Settled {
    let Three { base, ours, theirs } = entry;
    if ours == theirs || theirs == base {
        return ours.into();
    }
    if ours == base {
        return theirs.into();
    }
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if ours.version == theirs.version => same_version(base, ours, theirs, reasons),
        (Some(ours), Some(theirs)) => match base {
            Some(base) if base.version == theirs.version => {
                reasons.extend(dropped(base, theirs, ours).map(|it| Reason::ConstraintsDropped(Side::Theirs, it)));
                Some(ours).into()
            }
            Some(base) if base.version == ours.version => {
                reasons.extend(dropped(base, ours, theirs).map(|it| Reason::ConstraintsDropped(Side::Ours, it)));
                Some(theirs).into()
            }
            _ => newer_for_both(base, ours, theirs, reasons),
        },
        (None, kept) => {
            reasons.push(Reason::KeptThoughRemoved(Side::Ours));
            kept.into()
        }
        (kept, None) => {
            reasons.push(Reason::KeptThoughRemoved(Side::Theirs));
            kept.into()
        }
    }
}

/// Where one side has another version its entry is taken whole: the other side changed a version that was replaced. The
/// constraints of the other, if it changed them and they do not allow what is taken.
fn dropped(base: &LockEntry, dropped: &LockEntry, taken: &LockEntry) -> Option<Constraints> {
    let is_reported = dropped.constraints != base.constraints && !dropped.constraints.allows(&taken.version);
    is_reported.then(|| dropped.constraints.clone())
}

/// Both sides have another version: the higher that the constraints of both allow, with its hashes.
fn newer_for_both(
    base: Option<&LockEntry>,
    ours: &LockEntry,
    theirs: &LockEntry,
    reasons: &mut Vec<Reason>,
) -> Settled {
    let mut candidates = [ours, theirs];
    candidates.sort_by(|a, b| b.version.cmp(&a.version));
    let for_both =
        |entry: &&&LockEntry| ours.constraints.allows(&entry.version) && theirs.constraints.allows(&entry.version);
    let Some(taken) = candidates.iter().find(for_both) else {
        reasons.push(Reason::NoVersionForBoth(ours.version.clone(), theirs.version.clone()));
        return Settled::Conflict;
    };
    Settled::Entry(LockEntry { constraints: constraints(base, ours, theirs), ..(*taken).clone() })
}

/// Both sides have the same version: the hashes that at least one side records.
fn same_version(base: Option<&LockEntry>, ours: &LockEntry, theirs: &LockEntry, reasons: &mut Vec<Reason>) -> Settled {
    // Hashes of another version were not removed from this one.
    let before = base.filter(|base| base.version == ours.version).map(|base| &base.hashes);
    let hashes = hashes(before, &ours.hashes, &theirs.hashes);
    if hashes.is_empty() && !(ours.hashes.is_empty() && theirs.hashes.is_empty()) {
        // An entry without hashes would pin nothing, which neither side wanted.
        reasons.push(Reason::NoHashLeft);
        return Settled::Conflict;
    }
    if may_be_two_releases(before, &ours.hashes, &theirs.hashes) {
        // Any recorded hash lets a package pass, so both together would accept what neither side recorded.
        reasons.push(Reason::TwoReleases(ours.version.clone()));
        return Settled::Conflict;
    }
    Settled::Entry(LockEntry { hashes, constraints: constraints(base, ours, theirs), ..ours.clone() })
}

/// The hashes that both sides have, and those that one added. What one side removed stays removed.
fn hashes(before: Option<&PackageHashes>, ours: &PackageHashes, theirs: &PackageHashes) -> PackageHashes {
    let retained = |side: &PackageHashes, other: &PackageHashes| -> Vec<_> {
        let stays = |hash: &&_| other.contains(hash) || !before.is_some_and(|before| before.contains(hash));
        side.iter().filter(stays).cloned().collect()
    };
    retained(ours, theirs).into_iter().chain(retained(theirs, ours)).collect()
}

/// Whether the two sides of an entry of one version may have recorded two releases, one of them published
/// again. Not if only one side changed hashes, or both have added to what is recorded.
fn may_be_two_releases(before: Option<&PackageHashes>, ours: &PackageHashes, theirs: &PackageHashes) -> bool {
    let [our_zh, their_zh] = [ours, theirs].map(zh);
    if our_zh.is_empty() || their_zh.is_empty() || [ours, theirs].map(Some).contains(&before) {
        return false;
    }
    let recorded = before.map(zh).unwrap_or_default();
    let both_add = !recorded.is_empty() && recorded.is_subset(&our_zh) && recorded.is_subset(&their_zh);
    !both_add && !is_one_list(&our_zh, &their_zh)
}

fn zh(hashes: &PackageHashes) -> BTreeSet<&PackageHash> {
    hashes.of(HashScheme::Zh).collect()
}

/// Whether two lists of `zh:` can be of one release, whose one list may have grown in between: then one contains the
/// other. A common `zh:` alone shows nothing, since the manifest of many releases is the same file.
fn is_one_list(one: &BTreeSet<&PackageHash>, other: &BTreeSet<&PackageHash>) -> bool {
    !one.is_disjoint(other) && (one.is_subset(other) || other.is_subset(one))
}

/// Whether the sides of an entry, between conflict markers, may contain hashes of two releases.
///
/// Git merges by itself what is around a common line, so each scheme must show that they are of one release. Which hashes
/// belong to which of two versions, markers do not show.
pub(super) fn is_mixture(ours: &LockEntry, theirs: &LockEntry) -> bool {
    let [our_h1, their_h1] = [ours, theirs].map(|side| side.hashes.of(HashScheme::H1).collect::<BTreeSet<_>>());
    let one_release =
        is_one_list(&zh(&ours.hashes), &zh(&theirs.hashes)) && (our_h1 == their_h1 || !our_h1.is_disjoint(&their_h1));
    ours.version != theirs.version || ours.hashes != theirs.hashes && !one_release
}

/// The constraints, merged term by term: what both have and what one has added, without what one has removed.
///
/// They record what the modules of the configuration require. Merged configuration requires what either side added and
/// no more for what either took away, so this is what the next `init` writes where the modules merge without conflict.
/// Neither a conflict, which would stop a merge for a hint, nor the record of one side alone would be as near. A version
/// that the constraints of both sides allow is allowed by these.
fn constraints(base: Option<&LockEntry>, ours: &LockEntry, theirs: &LockEntry) -> Constraints {
    let before = base.map(|base| base.constraints.terms()).unwrap_or_default();
    let retained = |side: &LockEntry, other: &LockEntry| -> Vec<_> {
        let terms = side.constraints.terms().iter();
        terms.filter(|term| other.constraints.terms().contains(term) || !before.contains(term)).cloned().collect()
    };
    retained(ours, theirs).into_iter().chain(retained(theirs, ours)).collect()
}

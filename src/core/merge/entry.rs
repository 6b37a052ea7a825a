//! The entry of one provider, merged; and what a merge has to say.

use std::collections::BTreeSet;
use std::fmt;

use super::Three;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::step::Step;
use crate::version::{Constraints, Version};

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

/// One of the two that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The branch that is merged into.
    Ours,
    /// The branch that is merged.
    Theirs,
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Side::Ours => Side::Theirs,
            Side::Theirs => Side::Ours,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Ours => "ours",
            Side::Theirs => "theirs",
        })
    }
}

/// A decision or a conflict that users should know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeRemark {
    /// About the entry of a provider.
    Entry(ProviderAddr, Box<Reason>),
    /// A block of the trust file differs on both sides; its type and labels.
    BlockConflict(String),
    /// A side cannot be read, so the whole file is a conflict.
    Unreadable(Side, String),
    /// The common ancestor is not known: what one side removed comes back.
    NoBase,
    /// The sides are of two tools, and it is not known which one moved to the other: that of ours is kept.
    ToolsDiffer(Dialect, Dialect),
    /// What is between the markers cannot be read: nothing of it counts as decided.
    NothingDecided,
}

/// Why the version of one side was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The merged configuration does not allow that of the other side.
    OnlyAllowed,
    /// It is the newer one, and allowed.
    Newer,
    /// Only this side changed the version.
    Changed,
}

/// What happened to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The version of this side was taken, and that of the other side was not.
    Taken(Side, [Version; 2], Why),
    /// Removed by this side and changed by the other; the merged configuration does not require it.
    Removed(Side),
    /// The version taken lacks platforms that the entry of the other side has, as far as platforms are known.
    PlatformsLost {
        /// The version taken.
        taken: Version,
        /// The side whose platforms are lost.
        side: Side,
        /// Its version.
        dropped: Version,
        /// The platforms; empty if only the number of `h1:` shows that there are some.
        platforms: Vec<Platform>,
        /// The command that adds them.
        command: Step,
    },
    /// Removed on this side and changed on the other: the changed one is kept.
    KeptThoughRemoved(Side),
    /// The constraints of this side were dropped with its version, though they do not allow the one that was taken.
    ConstraintsDropped(Side, Constraints),
    /// Of several entries in one file the one of this version was kept, with the hashes of all that have it.
    OneKept {
        /// How many there were.
        count: usize,
        /// The version of the one that is left.
        taken: Version,
        /// The other versions.
        dropped: Vec<Version>,
    },
    /// Conflict: nothing decides between the versions of several entries in one file.
    Undecided(Vec<Version>),
    /// Conflict: both sides have the version, with lists of `zh:` that are not of one release.
    TwoReleases(Version),
    /// Conflict: neither version is allowed by the constraints of both sides.
    NoVersionForBoth(Version, Version),
    /// Conflict: each side removed the hashes that the other kept.
    NoHashLeft,
    /// Conflict: what is between the markers does not show which hash belongs to which version.
    Mixture(Version, Version),
}

impl Reason {
    /// True if someone has to decide.
    pub fn is_conflict(&self) -> bool {
        match self {
            Reason::Taken(..)
            | Reason::Removed(_)
            | Reason::PlatformsLost { .. }
            | Reason::KeptThoughRemoved(_)
            | Reason::ConstraintsDropped(..)
            | Reason::OneKept { .. } => false,
            Reason::Undecided(_)
            | Reason::TwoReleases(_)
            | Reason::NoVersionForBoth(..)
            | Reason::NoHashLeft
            | Reason::Mixture(..) => true,
        }
    }
}

impl MergeRemark {
    /// The provider that it is about.
    pub fn address(&self) -> Option<&ProviderAddr> {
        match self {
            MergeRemark::Entry(addr, _) => Some(addr),
            _ => None,
        }
    }
}

/// The versions, the newest first; of many the first three.
fn listed(versions: &[Version]) -> String {
    let names: Vec<String> = versions.iter().rev().take(3).map(ToString::to_string).collect();
    let more = versions.len() - names.len();
    if more == 0 { names.join(", ") } else { format!("{} and {more} other versions", names.join(", ")) }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Taken(side, [taken, dropped], why) => {
                let other = side.other();
                let why = match why {
                    Why::OnlyAllowed => format!("the configuration does not allow {dropped} from {other}"),
                    Why::Newer => format!("newer than {dropped} from {other}"),
                    Why::Changed => format!("{other} kept {dropped}"),
                };
                write!(f, "took {taken} from {side}: {why}")
            }
            Reason::Removed(side) => {
                write!(f, "removed, as by {side}: the configuration does not require it")
            }
            Reason::PlatformsLost { taken, side, dropped, platforms, command } => {
                let platforms = match &platforms[..] {
                    [] => "platforms".to_owned(),
                    some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
                };
                write!(f, "{taken} lacks {platforms}, which {side} has for {dropped}: {command} adds the h1 hashes")
            }
            Reason::KeptThoughRemoved(side) => {
                write!(f, "removed by {side}, changed by {}: the changed entry is kept", side.other())
            }
            Reason::ConstraintsDropped(side, constraints) => {
                write!(
                    f,
                    "the version of {} is taken, which the constraints of {side} ({constraints}) do not allow",
                    side.other()
                )
            }
            Reason::OneKept { count, taken, dropped } if dropped.is_empty() => {
                write!(f, "{count} entries of {taken} are one now, with the hashes of all of them")
            }
            Reason::OneKept { count, taken, dropped } => {
                let why = "the newest version that the configuration allows";
                write!(f, "kept {taken} of {count} entries: {why}; dropped {}", listed(dropped))
            }
            Reason::Undecided(versions) => {
                write!(f, "the configuration does not decide between the entries of {}", listed(versions))
            }
            Reason::TwoReleases(version) => {
                write!(f, "conflict: both sides lock {version}, each with zh: hashes of its own, as of two releases")
            }
            Reason::NoVersionForBoth(ours, theirs) => {
                write!(f, "conflict: ours locks {ours}, theirs {theirs}, and the constraints of both allow neither")
            }
            Reason::NoHashLeft => f.write_str("conflict: each side removed the hashes that the other kept"),
            Reason::Mixture(ours, theirs) if ours == theirs => {
                write!(
                    f,
                    "conflict: the markers do not show which hashes belong to {ours}, and git has no stages of the file"
                )
            }
            Reason::Mixture(ours, theirs) => {
                let hashes = "the markers do not show which hashes belong to which, and git has no stages of the file";
                write!(f, "conflict: ours locks {ours}, theirs {theirs}; {hashes}")
            }
        }
    }
}

impl fmt::Display for MergeRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeRemark::Entry(addr, reason) => write!(f, "{addr}: {reason}"),
            MergeRemark::BlockConflict(name) => {
                write!(f, "conflict: {name} differs on both sides; signers are never merged")
            }
            MergeRemark::Unreadable(side, why) => {
                write!(f, "conflict: {side} cannot be read, so the whole file is one conflict: {why}")
            }
            MergeRemark::NoBase => f.write_str(
                "the common ancestor is not known: what only one side has is kept, even if the other removed it",
            ),
            MergeRemark::ToolsDiffer(ours, theirs) => {
                let (ours, theirs) = (ours.program(), theirs.program());
                write!(f, "ours is a file of {ours}, theirs one of {theirs}: the result is one of {ours}")
            }
            MergeRemark::NothingDecided => {
                f.write_str("the text between the markers cannot be read, so nothing in it counts as decided")
            }
        }
    }
}

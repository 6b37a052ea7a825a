//! What a merge has to say.

use std::fmt;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::platform::Platform;
use crate::version::{Constraints, Version};

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
pub enum Remark {
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
        command: String,
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

impl Remark {
    /// The provider that it is about.
    pub fn address(&self) -> Option<&ProviderAddr> {
        match self {
            Remark::Entry(addr, _) => Some(addr),
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
                write!(f, "{taken} lacks {platforms}, which {side} has for {dropped}: `{command}` adds the h1 hashes")
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

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Entry(addr, reason) => write!(f, "{addr}: {reason}"),
            Remark::BlockConflict(name) => {
                write!(f, "conflict: {name} differs on both sides; signers are never merged")
            }
            Remark::Unreadable(side, why) => {
                write!(f, "conflict: {side} cannot be read, so the whole file is one conflict: {why}")
            }
            Remark::NoBase => f.write_str(
                "the common ancestor is not known: what only one side has is kept, even if the other removed it",
            ),
            Remark::ToolsDiffer(ours, theirs) => {
                let (ours, theirs) = (ours.program(), theirs.program());
                write!(f, "ours is a file of {ours}, theirs one of {theirs}: the result is one of {ours}")
            }
            Remark::NothingDecided => {
                f.write_str("the text between the markers cannot be read, so nothing in it counts as decided")
            }
        }
    }
}

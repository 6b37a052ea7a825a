//! What a merge has to say.

use std::fmt;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
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

/// A decision or a conflict that people should know of.
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
    /// What stands between the markers cannot be read: nothing of it counts as decided.
    NothingDecided,
}

/// What happened to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Removed on this side and changed on the other: the changed one is kept.
    KeptThoughRemoved(Side),
    /// The constraints of this side were dropped with its version, though they do not allow the one that was taken.
    ConstraintsDropped(Side, Constraints),
    /// Conflict: both sides have the version, with lists of `zh:` that are not of one release.
    TwoReleases(Version),
    /// Conflict: neither version is allowed by the constraints of both sides.
    NoVersionForBoth(Version, Version),
    /// Conflict: each side removed the hashes that the other kept.
    NoHashLeft,
    /// Conflict: what stands between the markers does not tell which hash belongs to which version.
    Mixture,
}

impl Reason {
    /// True if somebody has to decide.
    pub fn is_conflict(&self) -> bool {
        match self {
            Reason::KeptThoughRemoved(_) | Reason::ConstraintsDropped(..) => false,
            Reason::TwoReleases(_) | Reason::NoVersionForBoth(..) | Reason::NoHashLeft | Reason::Mixture => true,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
            Reason::TwoReleases(version) => {
                write!(f, "conflict: both sides lock {version}, each with zh: hashes of its own, as of two releases")
            }
            Reason::NoVersionForBoth(ours, theirs) => {
                write!(f, "conflict: ours locks {ours}, theirs {theirs}, and the constraints of both allow neither")
            }
            Reason::NoHashLeft => f.write_str("conflict: each side removed the hashes that the other kept"),
            Reason::Mixture => f.write_str(
                "conflict: its markers do not show which hash belongs to which version, and git has no versions of its own",
            ),
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
                f.write_str("what stood between the markers cannot be read, so nothing of it counts as decided")
            }
        }
    }
}

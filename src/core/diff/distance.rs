//! How far a version moved.

use crate::version::Version;

/// The first part of the version that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Distance {
    /// Only the pre-release part or metadata.
    Tag,
    /// The third number.
    Patch,
    /// The second number.
    Minor,
    /// The first number.
    Major,
}

impl Distance {
    /// The distance of two versions; `None` if they are equal.
    pub fn between(old: &Version, new: &Version) -> Option<Self> {
        if old == new {
            None
        } else if old.major() != new.major() {
            Some(Self::Major)
        } else if old.minor() != new.minor() {
            Some(Self::Minor)
        } else if old.patch() != new.patch() {
            Some(Self::Patch)
        } else {
            Some(Self::Tag)
        }
    }

    /// The word for machines and users.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Major => "major",
        }
    }
}

//! Why a hash is believed.

use crate::hash::PackageHash;
use crate::platform::Platform;

/// One reason to believe a hash; a hash may have several.
///
/// Source: the idea is `HashDisposition` in opentofu `internal/getproviders/hash.go`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Stands in checksums signed by the primary key with this fingerprint.
    Signed(String),
    /// Reported by the origin registry, unsigned.
    ReportedByOrigin,
    /// Reported by a mirror.
    ReportedByMirror,
    /// Computed here, from bytes or found in the local index of what was computed here.
    Computed,
    /// Stood in the lock file before.
    Recorded,
}

impl Evidence {
    /// The word for machines.
    pub fn as_str(&self) -> &'static str {
        match self {
            Evidence::Signed(_) => "signed",
            Evidence::ReportedByOrigin => "reported-by-origin",
            Evidence::ReportedByMirror => "reported-by-mirror",
            Evidence::Computed => "computed",
            Evidence::Recorded => "recorded",
        }
    }
}

/// A hash, its package's platform where known, and why it is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The hash.
    pub hash: PackageHash,
    /// The platform of the package.
    pub platform: Option<Platform>,
    /// The reason.
    pub evidence: Evidence,
}

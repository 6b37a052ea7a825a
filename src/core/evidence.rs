//! Evidence: why a hash is accepted.

use std::sync::Arc;

use crate::trust::Fingerprint;

/// One reason to accept a hash; a hash may have several.
///
/// Source: the idea is `HashDisposition` in opentofu `internal/getproviders/hash.go`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// It is in checksums signed by this primary key.
    Signed(Fingerprint),
    /// Reported by the origin registry, unsigned.
    ReportedByOrigin,
    ReportedByMirror,
    /// Reported by an index of this name, which others fill; `import` for what was imported.
    ReportedByIndex(Arc<str>),
    /// Computed here, from bytes or found in the local index of what was computed here.
    Computed,
    /// It was in the lock file before.
    Recorded,
}

impl Evidence {
    pub fn as_str(&self) -> &'static str {
        match self {
            Evidence::Signed(_) => "signed",
            Evidence::ReportedByOrigin => "reported-by-origin",
            Evidence::ReportedByMirror => "reported-by-mirror",
            Evidence::ReportedByIndex(_) => "reported-by-index",
            Evidence::Computed => "computed",
            Evidence::Recorded => "recorded",
        }
    }
}

/// What the evidence says about a hash that came into a lock file or left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A further platform of the recorded release: its archive is the signed or recorded one.
    PlatformAdded,
    /// A platform of the recorded release is no longer covered.
    PlatformRemoved,
    /// Belongs to an archive that is in the signed checksums, or that is recorded by its other hash.
    SameSignedArchive,
    /// The origin registry reports it, and nothing else attests it.
    #[serde(rename = "reported-by-origin-only")]
    ReportedByOrigin,
    /// The source that should know it does not.
    Unattested,
    /// What is known of the release rules it out.
    #[serde(rename = "contradicts-the-record")]
    Contradicts,
    /// Nothing is known of it here, and no request was sent.
    UnknownOffline,
}

impl Verdict {
    pub const ALL: [Self; 7] = [
        Self::PlatformAdded,
        Self::PlatformRemoved,
        Self::SameSignedArchive,
        Self::ReportedByOrigin,
        Self::Unattested,
        Self::Contradicts,
        Self::UnknownOffline,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Verdict::PlatformAdded => "platform added",
            Verdict::PlatformRemoved => "platform no longer covered",
            Verdict::SameSignedArchive => "same signed archive",
            Verdict::ReportedByOrigin => "reported by the registry only, unsigned",
            Verdict::Unattested => "attested by no source",
            Verdict::Contradicts => "contradicts the record",
            Verdict::UnknownOffline => "not checked",
        }
    }

    /// True if a hash with this verdict should not be merged before someone has an explanation.
    pub fn is_alarming(self) -> bool {
        matches!(self, Verdict::Unattested | Verdict::Contradicts)
    }
}

//! The versions that a source lists of a provider, before any release is requested.

use crate::platform::Platform;
use crate::version::Version;

/// One version that a source offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The version.
    pub version: Version,
    /// The plugin protocols it speaks, such as `5.0`; empty if the source does not say.
    pub protocols: Vec<String>,
    /// The platforms it has packages for; empty if the source does not say.
    pub platforms: Vec<Platform>,
}

impl From<Version> for Offer {
    /// A version of which its source says nothing else.
    fn from(version: Version) -> Self {
        Self { version, protocols: Vec::new(), platforms: Vec::new() }
    }
}

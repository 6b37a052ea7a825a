//! What `mirror` did for one root module, or found there.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

/// The packages of one root module in a mirror.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MirrorReport {
    /// The mirror, as it was named.
    pub directory: PathBuf,
    /// True if it was looked at only.
    pub checked: bool,
    pub packages: Vec<MirroredPackage>,
    /// Why others are not.
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub file: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    pub hashes: Vec<PackageHash>,
    pub fate: Fate,
}

/// What was done to have a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Fetched,
    /// It was downloaded, and took the place of a file with another digest.
    Replaced,
    Present,
}

impl Fate {
    /// The word for machines and people.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Fetched => "fetched",
            Fate::Replaced => "replaced",
            Fate::Present => "present",
        }
    }
}

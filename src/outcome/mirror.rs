//! What `mirror` did for one root module, or found there.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MirrorReport {
    /// The mirror, as it was named.
    pub directory: PathBuf,
    pub checked: bool,
    pub packages: Vec<MirroredPackage>,
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub file: PathBuf,
    pub size: u64,
    pub hashes: Vec<PackageHash>,
    pub fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Fetched,
    /// It was downloaded, and took the place of a file with another digest.
    Replaced,
    Present,
}

impl Fate {
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Fetched => "fetched",
            Fate::Replaced => "replaced",
            Fate::Present => "present",
        }
    }
}

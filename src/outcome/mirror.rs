//! The result of `mirror` for one root module.

use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MirrorReport {
    /// As the user named it.
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
    /// Downloaded; it replaced a file with another digest.
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

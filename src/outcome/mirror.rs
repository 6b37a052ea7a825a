//! The result of `mirror` for one root module.

use std::path::PathBuf;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::disk::mirror_writer::Fate;
use crate::documents;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MirrorReport {
    /// As the user named it.
    #[serde(serialize_with = "documents::path")]
    pub directory: PathBuf,
    #[serde(skip)]
    pub checked: bool,
    pub packages: Vec<MirroredPackage>,
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MirroredPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    #[serde(serialize_with = "documents::path")]
    pub file: PathBuf,
    #[serde(rename = "bytes")]
    pub size: u64,
    pub hashes: Vec<PackageHash>,
    pub fate: Fate,
}

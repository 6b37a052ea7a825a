//! What `install` did for one root module, or found there.

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::outcome::InstalledModules;
use crate::platform::Platform;
use crate::version::Version;

/// The packages of one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallReport {
    /// True if it was only looked at.
    pub checked: bool,
    pub packages: Vec<InstalledPackage>,
    /// The modules; none if they were left out.
    pub modules: Option<InstalledModules>,
    /// Versions that the lock file does not record, and that were removed.
    pub removed: Vec<(ProviderAddr, Version)>,
    /// Why other packages are not installed.
    pub failed: Vec<Error>,
}

/// One package of a root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    /// The hash of its content, as recorded.
    pub h1: Option<PackageHash>,
    pub state: InstallState,
    /// The bytes of its files, if this run linked them.
    pub bytes: u64,
    /// The bytes that this run downloaded of it, once for all root modules.
    pub downloaded: u64,
}

/// What was done, or is to be done, to have a package installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallState {
    /// It was missing and is installed now.
    Installed,
    /// Other content was in its place.
    Replaced,
    /// It was installed before.
    Present,
    /// It is not installed.
    Missing,
    /// Other content is in its place.
    Differs,
}

impl InstallState {
    /// The word for machines and users.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Replaced => "replaced",
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Differs => "differs",
        }
    }

    /// True if the recorded package is in its place now.
    pub fn is_installed(self) -> bool {
        !matches!(self, Self::Missing | Self::Differs)
    }
}

//! The result of `install` for one root module.

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::hash::PackageHash;
use crate::outcome::InstalledModules;
use crate::platform::Platform;
use crate::version::Version;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstallReport {
    /// True for `--check`, which installs nothing.
    #[serde(skip)]
    pub checked: bool,
    pub packages: Vec<InstalledPackage>,
    /// `None` if modules were left out.
    pub modules: Option<InstalledModules>,
    /// Versions that were removed because the lock file does not record them.
    #[serde(serialize_with = "super::releases")]
    pub removed: Vec<(ProviderAddr, Version)>,
    /// Why other packages are not installed.
    pub failed: Vec<Error>,
}

impl InstallReport {
    /// True if a package or a module is not installed as it is locked.
    pub fn lacks_something(&self) -> bool {
        let modules = self.modules.iter().flat_map(|installed| &installed.modules).map(|module| module.state);
        self.packages.iter().map(|package| package.state).chain(modules).any(|state| !state.is_installed())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    /// The recorded hash of its content.
    pub h1: Option<PackageHash>,
    pub state: InstallState,
    /// The size of its files, if this run linked them.
    pub bytes: u64,
    /// The bytes that this run downloaded for it, counted once for all root modules.
    pub downloaded: u64,
    /// True if this run copied its files, so they take their room again in each root module.
    #[serde(skip)]
    pub copied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstallState {
    /// It was missing and is installed now.
    Installed,
    /// It replaced other content.
    Replaced,
    /// It was installed before.
    Present,
    Missing,
    /// Its directory has other content.
    Differs,
}

impl InstallState {
    /// The word in JSON and texts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Replaced => "replaced",
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Differs => "differs",
        }
    }

    /// True if the recorded package is installed now.
    pub fn is_installed(self) -> bool {
        !matches!(self, Self::Missing | Self::Differs)
    }
}

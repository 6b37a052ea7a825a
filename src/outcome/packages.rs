//! The results of `install`, `mirror`, `audit` and `sbom`: packages, their programs, and what these are built from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::disk::mirror_writer::Fate;
use crate::error::Error;
use crate::goinfo::GoInfo;
use crate::hash::PackageHash;
use crate::outcome::InstalledModules;
use crate::platform::Platform;
use crate::version::Version;
use crate::words;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstallReport {
    /// True for `--check`, which installs nothing.
    #[serde(skip)]
    pub checked: bool,
    pub packages: Vec<InstalledPackage>,
    /// `None` if modules were left out.
    pub modules: Option<InstalledModules>,
    /// True if it calls modules that are not locked, so they are not installed.
    #[serde(skip)]
    pub unlocked: bool,
    /// Versions that were removed because the lock file does not record them.
    #[serde(serialize_with = "super::releases")]
    pub removed: Vec<(ProviderAddr, Version)>,
    /// Why other packages are not installed.
    pub failed: Vec<Error>,
}

impl InstallReport {
    /// True if a locked module is installed, of a check.
    pub fn has_compared_modules(&self) -> bool {
        self.modules.iter().flat_map(|installed| &installed.modules).any(|module| module.state.is_installed())
    }

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

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MirrorReport {
    /// As the user named it.
    #[serde(serialize_with = "words::path")]
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
    #[serde(serialize_with = "words::path")]
    pub file: PathBuf,
    #[serde(rename = "bytes")]
    pub size: u64,
    pub hashes: Vec<PackageHash>,
    #[serde(rename = "result")]
    pub fate: Fate,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// The database; `None` if it could not be read or was not needed.
    pub database: Option<AuditedDatabase>,
    pub programs: Vec<AuditedProgram>,
    /// Errors that left a question open.
    pub failed: Vec<Error>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditedDatabase {
    /// Its URL or path.
    pub source: String,
    pub modified: String,
}

/// The program of a provider, with the others in its package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditedProgram {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub go: Option<String>,
    /// The number of checked modules in all programs, including the standard library.
    pub modules: usize,
    /// Why it could not be read.
    pub unknown: Option<String>,
    /// What else could not be checked.
    pub not_checked: Vec<NotChecked>,
    /// The paths of the other programs in the package.
    pub others: Vec<String>,
    /// The number of programs in the package that were not read.
    pub unread: usize,
    /// True if its modules come from an import, which the author of the import may have forged.
    #[serde(rename = "reported")]
    pub is_reported: bool,
    /// The first newer release without an advisory, if that was requested.
    pub fixed_by: Option<FixedBy>,
    pub vulnerabilities: Vec<Vulnerability>,
}

/// A module, or a whole program, that could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotChecked {
    /// The path of the program; `None` for that of the provider.
    pub program: Option<String>,
    pub module: Option<String>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FixedBy {
    Release(Version),
    /// No newer release that the constraints allow is known to be without one.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Vulnerability {
    pub id: String,
    pub aliases: Vec<String>,
    pub summary: String,
    /// The path of the program; `None` for that of the provider.
    pub program: Option<String>,
    pub module: String,
    pub found: String,
    /// The version of the module that fixes it.
    pub fixed: Option<String>,
    /// True if the program does not name its version, so the locked version was checked.
    #[serde(rename = "by_locked_version")]
    pub is_locked_version: bool,
}

/// Providers, modules and their dependencies. The same input gives the same inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The name of the directory.
    pub name: String,
    /// The time of its last change, in RFC 3339.
    pub created: String,
    /// True if the document gets a serial number.
    pub serial: bool,
    pub providers: BTreeMap<InventoryPart, InventoryProvider>,
    pub modules: BTreeMap<InventoryPart, InventoryModule>,
    /// The dependencies of each part. Root modules appear only here.
    pub needs: BTreeMap<InventoryPart, BTreeSet<InventoryPart>>,
}

/// The name of a part: `root:…`, `module:…`, `provider:…`.
pub type InventoryPart = String;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryProvider {
    pub address: ProviderAddr,
    pub version: Version,
    /// The recorded hashes with their known platforms.
    pub hashes: BTreeMap<PackageHash, BTreeSet<Platform>>,
    /// The fingerprint of the key that signed the release, if known.
    pub signer: Option<String>,
    /// The host of its download, if a run learned it from the registry.
    pub download_host: Option<String>,
    pub program: Option<InventoryProgram>,
}

/// The program of a provider, if requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryProgram {
    /// The platform of the package that was read.
    pub platform: Option<Platform>,
    /// The programs of the package that were read, that of the provider first.
    pub programs: Vec<InventoryContents>,
    /// Why the program of the provider is unknown.
    pub unknown: Option<String>,
    /// The number of programs in the package that were not read.
    pub unread: usize,
    /// True if this comes from an import, which the author of the import may have forged.
    pub is_reported: bool,
}

/// One program of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryContents {
    /// Its path in the package; `None` for the program of the provider.
    pub path: Option<String>,
    /// What it was built from, or each program of a universal binary.
    pub built_from: Vec<Result<GoInfo, String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryModule {
    /// Without secrets; for a local module its directory.
    pub source: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    /// The `h1:` in the module lock file.
    pub hash: Option<String>,
    pub is_local: bool,
}

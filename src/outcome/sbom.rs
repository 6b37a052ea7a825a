//! The inventory of root modules that `sbom` prints.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::goinfo::GoInfo;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

/// Providers, modules and their dependencies. The same input gives the same inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The name of the directory.
    pub name: String,
    /// The time of its last change, in RFC 3339.
    pub created: String,
    /// True if the document gets a serial number.
    pub serial: bool,
    pub providers: BTreeMap<Part, InventoryProvider>,
    pub modules: BTreeMap<Part, InventoryModule>,
    /// The dependencies of each part. Root modules appear only here.
    pub needs: BTreeMap<Part, BTreeSet<Part>>,
}

/// The name of a part: `root:…`, `module:…`, `provider:…`.
pub type Part = String;

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

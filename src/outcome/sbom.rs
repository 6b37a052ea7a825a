//! What `sbom` lists: the inventory of some root modules.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::goinfo::GoInfo;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::version::Version;

/// Providers, modules, and which of them needs which. The same input makes the same inventory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// What the inventory is of: a directory.
    pub name: String,
    /// When that was last changed, in RFC 3339.
    pub created: String,
    /// True if the document gets a serial number.
    pub serial: bool,
    pub providers: BTreeMap<Part, InventoryProvider>,
    pub modules: BTreeMap<Part, InventoryModule>,
    /// Which part needs which others. Root modules are parts of this alone.
    pub needs: BTreeMap<Part, BTreeSet<Part>>,
}

/// The name of a part of an inventory: `root:…`, `module:…`, `provider:…`.
pub type Part = String;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryProvider {
    pub address: ProviderAddr,
    pub version: Version,
    /// The recorded hashes, each with the platforms that it is known to be for.
    pub hashes: BTreeMap<PackageHash, BTreeSet<Platform>>,
    /// The fingerprint of the key that signed the release, if that is known.
    pub signer: Option<String>,
    pub program: Option<InventoryProgram>,
}

/// What is inside a provider, where that was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryProgram {
    /// The platform of the package that was read.
    pub platform: Option<Platform>,
    /// What its program was built from, or why that is unknown.
    pub info: Result<GoInfo, String>,
    /// True if this is the word of whoever made an import.
    pub is_reported: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryModule {
    /// Its source, without secrets; of a local module its directory.
    pub source: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    /// The `h1:` that the module lock records.
    pub hash: Option<String>,
    pub is_local: bool,
}

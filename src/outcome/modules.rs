//! Facts about modules.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::documents;
use crate::finding::Position;
use crate::outcome::InstallState;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UsedModule {
    pub call: String,
    /// Without secrets.
    pub source: String,
    /// The version, if it comes from a registry and is known.
    pub version: Option<String>,
    pub commit: Option<String>,
    pub locked: Option<bool>,
    /// The file of the call, relative to the working tree.
    #[serde(serialize_with = "documents::path")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub position: Position,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstalledModules {
    /// The directory, relative to the working tree.
    #[serde(serialize_with = "documents::path")]
    pub path: PathBuf,
    pub modules: Vec<InstalledModule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstalledModule {
    pub call: String,
    /// Without secrets.
    pub source: String,
    pub version: Option<String>,
    pub state: InstallState,
    /// True if this run installed it.
    pub changed: bool,
}

/// The result of `outdated --modules` for one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutdatedModules {
    /// Only packages with known versions; an archive has just one, so it has no row.
    #[serde(rename = "modules")]
    pub rows: Vec<OutdatedModule>,
    /// True if no row is missing.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutdatedModule {
    #[serde(flatten)]
    pub versions: ModuleVersions,
    /// The calls, by dotted path.
    pub calls: BTreeSet<String>,
    /// The calls that exclude the newest version.
    pub held_back_by: Vec<ModuleHolder>,
}

/// The versions of a package: as a registry writes them, or tags and shortened commits of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ModuleVersions {
    /// Without secrets.
    pub source: String,
    /// The locked version, else the one that is or would be installed.
    pub selected: Option<String>,
    /// The newest version that the calls allow, which `upgrade --modules` would select.
    pub allowed: Option<String>,
    /// The newest version, without pre-releases.
    pub newest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleHolder {
    pub call: String,
    /// A constraint, or the `ref` of a git source.
    pub constraint: String,
    /// The file of the call, relative to the working tree.
    #[serde(serialize_with = "documents::path")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub position: Position,
}

impl OutdatedModule {
    pub fn is_upgradable(&self) -> bool {
        self.versions.allowed.is_some() && self.versions.allowed != self.versions.selected
    }

    pub fn is_noteworthy(&self) -> bool {
        self.versions.allowed != self.versions.selected || self.versions.newest != self.versions.selected
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallOnPath {
    pub name: String,
    /// Without secrets; `None` if unknown.
    pub source: Option<String>,
    /// The version of a registry module, if known; for git the `ref`.
    pub version: Option<String>,
}

//! What is told of modules.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::finding::Position;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedModule {
    pub call: String,
    /// Its source, without secrets.
    pub source: String,
    /// The version, where it is of a registry and known.
    pub version: Option<String>,
    pub commit: Option<String>,
    pub locked: Option<bool>,
    /// The file of the call, relative to the working tree.
    pub file: PathBuf,
    pub position: Position,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstalledModules {
    /// Where, relative to the working tree.
    pub path: PathBuf,
    pub modules: Vec<InstalledModule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledModule {
    pub call: String,
    /// Its source, without secrets.
    pub source: String,
    pub version: Option<String>,
    /// False if it was there already.
    pub changed: bool,
}

/// What `outdated --modules` tells of one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutdatedModules {
    /// The packages whose sources told what they offer; of archives, of which there is one only, there is none.
    pub rows: Vec<OutdatedModule>,
    /// True if they are all that there are.
    pub complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutdatedModule {
    pub versions: ModuleVersions,
    /// The calls, by their path of names joined by dots.
    pub calls: BTreeSet<String>,
    /// The calls that do not allow the newest.
    pub held_back_by: Vec<ModuleHolder>,
}

/// A package, and its versions: of registries as they write them, of git repositories tags and shortened commits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleVersions {
    /// The source of the package, without secrets.
    pub source: String,
    /// What is locked, else what is installed or would be.
    pub selected: Option<String>,
    /// The newest that the calls allow: what `upgrade --modules` would select.
    pub allowed: Option<String>,
    /// The newest of all, pre-releases left out.
    pub newest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleHolder {
    pub call: String,
    /// What it asks for: a constraint, or the `ref` of a git source.
    pub constraint: String,
    /// The file of the call, relative to the working tree.
    pub file: PathBuf,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOnPath {
    pub name: String,
    /// The source, without secrets; none if it is not known.
    pub source: Option<String>,
    /// The version, where it is of a registry and known; of git sources the `ref`.
    pub version: Option<String>,
}

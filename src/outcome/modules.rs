//! What is told of modules.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::finding::Position;

/// One module call of `list --modules`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedModule {
    /// Its path of call names joined by dots.
    pub call: String,
    /// Its source, without secrets.
    pub source: String,
    /// The version, where it is of a registry and known.
    pub version: Option<String>,
    pub commit: Option<String>,
    /// Whether it is locked; none where no module is.
    pub locked: Option<bool>,
    /// The file of the call, relative to the work tree.
    pub file: PathBuf,
    pub position: Position,
}

/// What `get` installed for one root module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstalledModules {
    /// Where, relative to the work tree.
    pub path: PathBuf,
    /// The modules, in the order of the tree.
    pub modules: Vec<InstalledModule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledModule {
    /// Its path of call names joined by dots.
    pub call: String,
    /// Its source, without secrets.
    pub source: String,
    /// The version, where it is of a registry.
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

/// A package, as some calls use it.
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

/// A call that does not allow the newest version of its module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleHolder {
    /// Its path of call names joined by dots.
    pub call: String,
    /// What it asks for: a constraint, or the `ref` of a git source.
    pub constraint: String,
    /// The file of the call, relative to the work tree.
    pub file: PathBuf,
    pub position: Position,
}

impl OutdatedModule {
    /// True if `upgrade --modules` would select another one.
    pub fn is_upgradable(&self) -> bool {
        self.versions.allowed.is_some() && self.versions.allowed != self.versions.selected
    }

    /// True if there is anything to tell.
    pub fn is_noteworthy(&self) -> bool {
        self.versions.allowed != self.versions.selected || self.versions.newest != self.versions.selected
    }
}

/// One call on the way from the root module to a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOnPath {
    pub name: String,
    /// The source, without secrets; none if it is not known.
    pub source: Option<String>,
    /// The version, where it is of a registry and known; of git sources the `ref`.
    pub version: Option<String>,
}

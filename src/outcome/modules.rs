//! What is told of modules.

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
    /// The commit that is locked.
    pub commit: Option<String>,
    /// Whether it is locked; none where no module is.
    pub locked: Option<bool>,
    /// The file of the call, relative to the work tree.
    pub file: PathBuf,
    /// The place in it.
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

/// One of them.
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

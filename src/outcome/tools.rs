//! What the commands tell that are about files, packages, git and the cache rather than about root modules.

use std::path::PathBuf;

use crate::disk::cache::Stats;
use crate::hash::PackageHash;
use crate::merge::Remark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generated {
    Script(String),
    /// The manual page, in roff, or the help of a command.
    Page(String),
    Version(&'static str),
    Schema(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormattedFile {
    /// The file, as it was named; `-` for standard input.
    pub path: PathBuf,
    pub changed: bool,
    pub written: bool,
    /// The canonical text of standard input, where that was requested.
    pub text: Option<String>,
}

/// One line of `hash`: `HASH  PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashLine {
    pub hash: PackageHash,
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheReport {
    Directory(PathBuf),
    Stats {
        directory: PathBuf,
        stats: Stats,
    },
    Pruned {
        files: usize,
        bytes: u64,
    },
    /// What was computed here was written into a file.
    Exported {
        /// The file; `-` for standard output.
        file: PathBuf,
        entries: usize,
        text: Option<String>,
    },
    /// What was computed here was written into a shared index.
    Published {
        index: String,
        /// How many entries are new in it.
        news: usize,
        known: usize,
    },
    /// Such a file was taken in.
    Imported {
        /// The file; `-` for standard input.
        file: PathBuf,
        imported: usize,
        known: usize,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitReport {
    /// The settings were written; whether the attributes file had to be.
    Installed(bool),
    /// The settings were taken out; whether they stood in the attributes file.
    Uninstalled {
        /// True if they stood in the attributes file.
        attributes: bool,
        /// True if they stood in the configuration of the clone.
        clone: bool,
    },
    Status(Vec<GitSetting>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// `merge.tflock.driver`, or `merge` of a file.
    pub name: String,
    /// What git says; none if nothing.
    pub found: Option<String>,
    pub wanted: &'static str,
}

impl GitSetting {
    pub fn is_set(&self) -> bool {
        let unset = self.wanted == "false" && self.found.as_deref() == Some("unset");
        unset || self.found.as_deref() == Some(self.wanted)
    }
}

impl std::fmt::Display for GitSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, found, wanted } = self;
        match found {
            _ if self.is_set() => write!(f, "ok       {name} = {wanted}"),
            Some(found) => write!(f, "differs  {name} = {found}, not {wanted}"),
            None => write!(f, "missing  {name} = {wanted}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedFile {
    /// The file, as it was named.
    pub path: PathBuf,
    pub merged: bool,
    pub conflicts: bool,
    pub remarks: Vec<Remark>,
}

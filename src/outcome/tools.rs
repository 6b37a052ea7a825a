//! The results of commands about files, packages, git and the cache, and of `status` and `setup`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::NotCounted;
use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::disk::cache::Stats;
use crate::hash::PackageHash;
use crate::merge::MergeRemark;
use crate::platform::Platform;
use crate::step::CommandLine;
use crate::version::Version;
use crate::words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generated {
    Script(String),
    /// A manual page in roff, or the help of a command.
    Page(String),
    Version(&'static str),
    Schema(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FormattedFile {
    /// As the user named it; `-` for standard input.
    #[serde(serialize_with = "words::path")]
    pub path: PathBuf,
    pub changed: bool,
    pub written: bool,
    /// The canonical text of standard input, if requested.
    pub text: Option<String>,
}

/// One line of `hash`: `HASH  PATH`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HashLine {
    pub hash: PackageHash,
    #[serde(serialize_with = "words::path")]
    pub path: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CacheReport {
    Directory {
        #[serde(serialize_with = "words::path")]
        directory: PathBuf,
    },
    Stats {
        #[serde(serialize_with = "words::path")]
        directory: PathBuf,
        #[serde(flatten)]
        stats: Stats,
    },
    Pruned {
        #[serde(rename = "removed_files")]
        files: usize,
        #[serde(rename = "removed_bytes")]
        bytes: u64,
    },
    /// Hashes computed here were written to a file.
    Exported {
        /// The file; `-` for standard output.
        #[serde(serialize_with = "words::path")]
        file: PathBuf,
        #[serde(rename = "exported")]
        entries: usize,
        text: Option<String>,
    },
    /// Hashes computed here were written to a shared index.
    Published {
        index: String,
        /// The number of new entries.
        #[serde(rename = "published")]
        news: usize,
        known: usize,
    },
    /// An exported file was imported.
    Imported {
        /// The file; `-` for standard input.
        #[serde(serialize_with = "words::path")]
        file: PathBuf,
        imported: usize,
        known: usize,
    },
}

/// The lines of `git install` in the attributes file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeLines {
    Removed,
    /// They are committed, so they stay.
    Committed,
    Absent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitReport {
    /// The settings were written; true if the attributes file changed.
    Installed(bool),
    /// The settings were removed.
    Uninstalled {
        attributes: AttributeLines,
        /// True if the configuration of the clone had them.
        clone: bool,
    },
    Status(Vec<GitSetting>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// `merge.tflock.driver`, or `merge` of a file.
    pub name: String,
    /// The value in git, if set.
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
    /// As the user named it.
    pub path: PathBuf,
    pub merged: bool,
    pub conflicts: bool,
    pub remarks: Vec<MergeRemark>,
}

/// The state of lock files, trust file and settings, as far as it is known without the network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How many root modules there are, without those that are not counted.
    pub root_modules: usize,
    #[serde(flatten)]
    pub not_counted: NotCounted,
    /// How many other units have none, which is a choice.
    pub units_without_lock_file: usize,
    /// Those without a lock file that need one.
    pub without_lock_file: Vec<String>,
    /// Those that cannot be read.
    pub unreadable: Vec<String>,
    /// Those with questions that stay open without the network, such as what modules require that were never read here.
    pub not_checked: Vec<String>,
    /// The recorded hashes that no earlier run checked.
    pub unknown_hashes: usize,
    /// How many are no modules, by kind.
    pub kinds: BTreeMap<RootKind, usize>,
    /// Those whose requirements are not read, or not all.
    pub requirements_unread: Vec<String>,
    /// The locked versions, each with the number of root modules that lock it.
    #[serde(serialize_with = "locked_versions")]
    pub providers: BTreeMap<ProviderAddr, BTreeMap<Version, usize>>,
    /// The platforms that the settings want; `None` if no settings name any.
    pub platforms: Option<BTreeSet<Platform>>,
    /// How to set them.
    #[serde(skip)]
    pub set_platforms: String,
    /// The root modules whose lock files lack hashes of a platform.
    pub missing_platforms: BTreeMap<Platform, Vec<String>>,
    /// True if there is a trust file.
    pub trust_file: bool,
    /// The providers without a remembered signer.
    pub not_remembered: BTreeSet<ProviderAddr>,
    /// The rules by which `verify` denies something without the network, with the number of root modules.
    pub denied: BTreeMap<&'static str, usize>,
    /// The rules by which it warns.
    pub warned: BTreeMap<&'static str, usize>,
    /// The lock files, trust files and settings that differ from the last commit, from the top of the working tree; `None`
    /// if that is unknown.
    pub changed_files: Option<Vec<String>>,
    /// True if the repository has no commit yet, so all files differ.
    #[serde(skip)]
    pub has_no_commit: bool,
    pub next: NextStep,
}

fn locked_versions<S: Serializer>(
    providers: &BTreeMap<ProviderAddr, BTreeMap<Version, usize>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let item = |(address, versions)| json!({ "address": address, "versions": versions });
    serializer.collect_seq(providers.iter().map(item))
}

/// The one command that comes next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NextStep {
    pub command: CommandLine,
    /// What it does, after the command.
    pub effect: &'static str,
}

/// What `setup` wrote, or would write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetupReport {
    pub files: Vec<SetupFile>,
    pub dry_run: bool,
    /// The command that comes next; `None` where nothing can be locked.
    pub next: Option<CommandLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetupFile {
    /// From the top of the working tree.
    pub path: PathBuf,
    pub state: SetupState,
    /// What was added.
    pub text: String,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupState {
    Created,
    /// Lines were added to it.
    Extended,
    /// It was there, and is as it was.
    Kept,
}

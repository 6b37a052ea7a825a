//! What `status` found out about a working tree, and what `setup` wrote into it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::platform::Platform;
use crate::version::Version;

/// The state of lock files, trust file and settings, as far as it is known without the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How many root modules there are.
    pub root_modules: usize,
    /// Those without a lock file that need one.
    pub without_lock_file: Vec<String>,
    /// Those that cannot be read.
    pub unreadable: Vec<String>,
    pub providers: Vec<StatusProvider>,
    /// The platforms that the settings want; `None` if no settings name any.
    pub platforms: Option<Vec<Platform>>,
    /// The root modules whose lock files lack hashes of a platform.
    pub missing_platforms: BTreeMap<Platform, Vec<String>>,
    /// True if there is a trust file.
    pub trust_file: bool,
    /// The providers without a remembered signer.
    pub not_remembered: Vec<ProviderAddr>,
    /// The rules by which `verify` denies something without the network, with the number of root modules.
    pub denied: BTreeMap<&'static str, usize>,
    /// The rules by which it warns.
    pub warned: BTreeMap<&'static str, usize>,
    /// The lock files, trust files and settings that differ from the last commit, from the top of the working tree; `None`
    /// if that is unknown.
    pub changed_files: Option<Vec<String>>,
    pub next: NextStep,
}

/// A provider, with the number of root modules that lock each version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusProvider {
    pub address: ProviderAddr,
    pub versions: BTreeMap<Version, usize>,
}

/// The one command that comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextStep {
    pub command: String,
    /// What it does, after the command.
    pub effect: &'static str,
}

/// What `setup` wrote, or would write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetupReport {
    pub files: Vec<SetupFile>,
    pub dry_run: bool,
    /// The command that comes next.
    pub next: String,
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

//! What `list`, `outdated`, `why` and `explain` found out about providers and modules.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::documents;
use crate::finding::{Position, Rule};
use crate::hash::PackageHash;
use crate::outcome::InstallState;
use crate::platform::Platform;
use crate::provenance::Build;
use crate::topics::Topic;
use crate::trust::pins::Signer;
use crate::version::Version;
use crate::witness::WitnessAnswer;
use crate::words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    Index,
    Topic(Topic),
    /// A rule; its table has the text.
    Rule(Rule),
    /// A kind of change, by its name in annotations.
    Item(ItemRule),
    Hash(ExplainedHash),
    Provider(ExplainedProvider),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ItemRule {
    pub id: &'static str,
    pub summary: &'static str,
    pub help: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedHash {
    pub hash: PackageHash,
    /// False if the text is no valid hash of its scheme, so no package can have it.
    pub well_formed: bool,
    pub recorded: Vec<RecordedAt>,
    pub releases: Vec<ReleaseOfHash>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct RecordedAt {
    pub address: ProviderAddr,
    pub version: Version,
    /// The lock file, as shown in reports.
    #[serde(serialize_with = "words::path")]
    pub file: PathBuf,
    /// The position of the hash or entry, if known.
    #[serde(rename = "line", serialize_with = "documents::line")]
    pub position: Option<Position>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseOfHash {
    pub address: ProviderAddr,
    pub version: Version,
    pub origin: HashOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct HashOrigin {
    pub covers: Hashed,
    #[serde(rename = "platform", serialize_with = "words::first")]
    pub platforms: BTreeSet<Platform>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hashed {
    Contents,
    Archive,
    /// Another file in the checksums, such as a manifest.
    OtherFile,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedProvider {
    /// Its entries in the lock files of the run.
    #[serde(rename = "provider_entries")]
    pub entries: Vec<ExplainedEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ExplainedEntry {
    #[serde(flatten)]
    pub entry: RecordedAt,
    pub hashes: Vec<RecordedHash>,
    /// Who signed the release, if that is known.
    pub signer: Option<Signer>,
    /// The signers that the trust file remembers for the provider.
    pub remembered: BTreeSet<Signer>,
    /// Where the release was built, if its place is pinned and that is known.
    pub build: Option<Build>,
    /// What other places say of the release; `None` if no place was asked.
    pub witnesses: Option<Vec<WitnessAnswer>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct RecordedHash {
    pub hash: PackageHash,
    /// Its origin, if known.
    pub origin: Option<HashOrigin>,
}

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
    #[serde(serialize_with = "words::path")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub position: Position,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct InstalledModules {
    /// The directory, relative to the working tree.
    #[serde(serialize_with = "words::path")]
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
    #[serde(serialize_with = "words::path")]
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

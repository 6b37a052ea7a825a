//! The result of `explain`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::addr::ProviderAddr;
use crate::documents;
use crate::finding::{Position, Rule};
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::topics::Topic;
use crate::version::Version;

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedAt {
    pub address: ProviderAddr,
    pub version: Version,
    /// The lock file, as shown in reports.
    #[serde(serialize_with = "documents::path")]
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HashOrigin {
    pub of: Hashed,
    #[serde(rename = "platform", serialize_with = "documents::first")]
    pub platforms: BTreeSet<Platform>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedEntry {
    #[serde(flatten)]
    pub entry: RecordedAt,
    pub hashes: Vec<RecordedHash>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedHash {
    pub hash: PackageHash,
    /// Its origin, if known.
    pub origin: Option<HashOrigin>,
}

//! What `explain` tells.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::finding::{Position, Rule};
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::topics::Topic;
use crate::version::Version;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explained {
    /// All rules and topics, by name.
    Index,
    Topic(Topic),
    /// A rule; all there is to say stands in its table.
    Rule(Rule),
    /// A kind of change, as annotations call it.
    Item(ItemRule),
    Hash(ExplainedHash),
    Provider(ExplainedProvider),
}

/// What annotations call a finding, a failure or a kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemRule {
    /// Such as `provider-added`.
    pub id: &'static str,
    pub summary: &'static str,
    pub help: &'static str,
}

/// Where a hash is recorded, and where it comes from as far as that is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedHash {
    pub hash: PackageHash,
    /// False if no package can have it, since it is not written as a hash of its scheme.
    pub well_formed: bool,
    pub recorded: Vec<RecordedAt>,
    pub releases: Vec<ReleaseOfHash>,
}

/// An entry of a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAt {
    pub address: ProviderAddr,
    pub version: Version,
    /// The lock file, as reports name it.
    pub file: PathBuf,
    /// The place that is meant, where one is.
    pub position: Option<Position>,
}

/// A release that has a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseOfHash {
    pub address: ProviderAddr,
    pub version: Version,
    pub origin: HashOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashOrigin {
    pub of: Hashed,
    /// The platforms of the package, where known.
    pub platforms: BTreeSet<Platform>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hashed {
    Contents,
    Archive,
    /// Another file in the checksums, such as a manifest.
    OtherFile,
}

/// What is known of a locked provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedProvider {
    /// Its entries in the lock files that the run is about.
    pub entries: Vec<ExplainedEntry>,
    /// Its entries elsewhere in the repository.
    pub elsewhere: Vec<RecordedAt>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedEntry {
    pub entry: RecordedAt,
    /// Each recorded hash, and what it is a hash of, where that is known here.
    pub hashes: Vec<(PackageHash, Option<HashOrigin>)>,
}

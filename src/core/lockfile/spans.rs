//! The positions of the parts of a lock file.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::finding::Position;
use crate::hash::PackageHash;

/// The places of all entries of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spans {
    /// By provider; the first block where there are several.
    pub entries: BTreeMap<ProviderAddr, Box<EntrySpans>>,
}

/// The places of one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrySpans {
    /// The `provider` keyword.
    pub block: Position,
    /// The value of `version`.
    pub version: Option<Position>,
    /// The value of `constraints`.
    pub constraints: Option<Position>,
    /// The `hashes` keyword.
    pub hashes: Option<Position>,
    /// Each hash as written, in the order of the text, with duplicates.
    pub each_hash: Vec<(PackageHash, Position)>,
}

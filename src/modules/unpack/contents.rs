//! What a package holds, and its hash.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::hash::h1::h1;
use crate::hash::{PackageHash, Sha256Digest};

/// With this a checkout writes other bytes than are stored, whatever the user configured.
pub(in crate::modules) const ENCODING: &str = "working-tree-encoding=";

/// The most bytes of a file of attributes; no real one comes near.
const MAX_ATTRIBUTES: u64 = 1 << 20;

/// What a package holds, as its source gives it: names, and digests of contents. A link counts as its target's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::modules) struct Contents {
    pub(super) digests: BTreeMap<String, Sha256Digest>,
    /// The targets of links.
    pub(in crate::modules) links: BTreeMap<String, String>,
    /// Why its hash would not say what it holds, if so.
    pub(in crate::modules) unclear: Option<String>,
}

impl Contents {
    /// The files with the digests of their contents, in hex: those of configuration, and all others.
    pub(in crate::modules) fn files(&self) -> [BTreeMap<String, String>; 2] {
        let files = self.digests.iter().filter(|(name, _)| !self.links.contains_key(*name));
        let files = files.map(|(name, digest)| (name.clone(), digest.to_hex()));
        let (configuration, others) = files.partition(|(name, _)| crate::modules::is_configuration(name));
        [configuration, others]
    }

    /// The hash of the package. Names with a component that begins with a dot do not count: the tools leave them out of
    /// second copies of a package. There is none of a package that it would not tell from another one.
    pub(in crate::modules) fn hash(&self) -> Result<PackageHash, String> {
        if let Some(unclear) = &self.unclear {
            return Err(unclear.clone());
        }
        let counted = self.digests.iter().filter(|(name, _)| counts(name));
        h1(counted.map(|(name, digest)| (name, *digest))).map_err(|error| error.to_string())
    }
}

/// True for names that count for the hash of a package.
pub(in crate::modules) fn counts(name: &str) -> bool {
    !name.split('/').any(|part| part.starts_with('.'))
}

/// True if a file of attributes sets one of those whose assignments begin so, or is too large to tell.
///
/// Source: `gitattributes(5)`.
pub(in crate::modules) fn has_attribute(attributes: &Path, begins: &[&str]) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(attributes).and_then(|file| file.take(MAX_ATTRIBUTES + 1).read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let is_set = |word: &str| begins.iter().any(|begin| word.starts_with(begin));
    read.is_err() || bytes.len() as u64 > MAX_ATTRIBUTES || text.split_whitespace().any(is_set)
}

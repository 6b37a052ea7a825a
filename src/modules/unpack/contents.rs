//! The contents of a package, and their hash.

use std::collections::BTreeMap;

use crate::hash::h1::h1;
use crate::hash::{PackageHash, Sha256Digest};
use crate::modulelock::Ambiguity;

/// The contents of a package, as its source gives it: names, and digests of contents. A link counts as its target's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::modules) struct Contents {
    pub(super) digests: BTreeMap<String, Sha256Digest>,
    pub(in crate::modules) links: BTreeMap<String, String>,
    pub(in crate::modules) bytes: u64,
    /// Why something else could be installed for its hash, if so.
    pub(in crate::modules) ambiguity: Option<Ambiguity>,
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
    /// second copies of a package.
    pub(in crate::modules) fn hash(&self) -> Result<PackageHash, String> {
        let counted = self.digests.iter().filter(|(name, _)| counts(name));
        h1(counted.map(|(name, digest)| (name, *digest))).map_err(|error| error.to_string())
    }
}

/// True for names that count for the hash of a package.
pub(in crate::modules) fn counts(name: &str) -> bool {
    !name.split('/').any(|part| part.starts_with('.'))
}

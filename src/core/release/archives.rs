//! Archives that were hashed here, whatever release they belong to: which contents each has, and the other way round.

use std::collections::BTreeMap;

use crate::hash::PackageHash;

/// Pairs of `zh:` and `h1:`, each computed here from one archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archives {
    contents: BTreeMap<PackageHash, PackageHash>,
    archives: BTreeMap<PackageHash, Vec<PackageHash>>,
}

impl Archives {
    /// None.
    pub const fn new() -> Self {
        Self { contents: BTreeMap::new(), archives: BTreeMap::new() }
    }

    /// Adds a pair that was computed here from one archive.
    pub fn computed(&mut self, zh: PackageHash, h1: PackageHash) {
        self.archives.entry(h1.clone()).or_default().push(zh.clone());
        self.contents.insert(zh, h1);
    }

    /// The `h1:` of an archive.
    pub fn h1_of(&self, zh: &PackageHash) -> Option<&PackageHash> {
        self.contents.get(zh)
    }

    /// The archives with these contents; two releases may have the same.
    pub fn with(&self, h1: &PackageHash) -> &[PackageHash] {
        self.archives.get(h1).map_or(&[], Vec::as_slice)
    }
}

//! What is known of the packages of releases: handed in by whoever asked, or looked it up.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::hash::PackageHash;
use crate::release::Knowledge;
use crate::version::Version;

/// What is known of releases, and of archives whatever release they belong to. The default knows nothing.
#[derive(Debug, Clone, Default)]
pub struct Attribution {
    /// By provider and version.
    pub releases: BTreeMap<(ProviderAddr, Version), Knowledge>,
    archives: BTreeMap<PackageHash, PackageHash>,
    contents: BTreeMap<PackageHash, Vec<PackageHash>>,
}

impl Attribution {
    /// Adds a pair that was computed here from one archive.
    pub fn computed(&mut self, zh: PackageHash, h1: PackageHash) {
        self.contents.entry(h1.clone()).or_default().push(zh.clone());
        self.archives.insert(zh, h1);
    }

    /// The `h1:` of an archive.
    pub(super) fn h1_of(&self, zh: &PackageHash) -> Option<&PackageHash> {
        self.archives.get(zh)
    }

    /// The archives with these contents.
    pub(super) fn archives_of(&self, h1: &PackageHash) -> &[PackageHash] {
        self.contents.get(h1).map_or(&[], Vec::as_slice)
    }

    /// What is known of a release.
    pub fn release(&self, addr: &ProviderAddr, version: &Version) -> Option<&Knowledge> {
        self.releases.get(&(addr.clone(), version.clone()))
    }
}

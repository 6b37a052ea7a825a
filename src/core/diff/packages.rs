//! Known facts about the packages of a change: the caller requested them or looked them up.

use crate::addr::ProviderAddr;
use crate::release::Archives;
use crate::release::{Lookup, Releases};
use crate::version::Version;

/// What is known of releases, and of archives whatever release they belong to. The default knows nothing.
#[derive(Debug, Clone, Default)]
pub struct Packages {
    /// The releases.
    pub releases: Releases,
    /// The archives.
    pub archives: Archives,
}

impl Packages {
    /// What is known of a release.
    pub fn release(&self, addr: &ProviderAddr, version: &Version) -> Option<&Lookup> {
        self.releases.get(&(addr.clone(), version.clone()))
    }
}

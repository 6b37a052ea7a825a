//! What is known of the releases of one root module; the shape in which evidence reaches the judgment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::hash::PackageHash;
use crate::release::republished::Witness;
use crate::release::{Lookup, Release};
use crate::version::Version;

/// What is known for one root module.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The locked release of each provider.
    pub releases: BTreeMap<ProviderAddr, Lookup>,
    /// Other releases, which may explain where a hash comes from.
    pub others: &'a [Arc<Release>],
    /// What else recorded the releases that seem to be published again, by provider.
    pub witnesses: BTreeMap<ProviderAddr, Vec<Witness>>,
    /// The providers that came from a mirror inside the judged working tree.
    pub served_within: Option<&'a BTreeSet<ProviderAddr>>,
}

impl Facts<'_> {
    /// True if a change of the working tree can fill the mirror of a provider.
    pub fn is_served_within(&self, addr: &ProviderAddr) -> bool {
        self.served_within.is_some_and(|served| served.contains(addr))
    }

    /// What is known of the locked release of a provider.
    pub fn of(&self, addr: &ProviderAddr) -> &Lookup {
        self.releases.get(addr).unwrap_or(&Lookup::NotRequested)
    }

    /// What else recorded the locked release of a provider.
    pub fn witnesses(&self, addr: &ProviderAddr) -> &[Witness] {
        self.witnesses.get(addr).map_or(&[], Vec::as_slice)
    }

    /// The releases that a hash is known to belong to. Lines that name no archive count for nothing.
    pub fn owners(&self, hash: &PackageHash) -> BTreeSet<(&ProviderAddr, &Version)> {
        let of_run = self.releases.values().filter_map(Lookup::release);
        let releases = of_run.chain(self.others).filter(|release| release.owns(hash));
        releases.map(|release| (&release.address, &release.version)).collect()
    }
}

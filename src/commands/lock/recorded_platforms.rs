//! The platforms of the entries of a lock file, used if no platforms were named.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{Hostname, ProviderAddr};
use crate::disk::cache::Cache;
use crate::lock::complete;
use crate::lockfile::LockFile;
use crate::platform::Platform;
use crate::query::cached;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedPlatforms {
    by_entry: BTreeMap<ProviderAddr, BTreeSet<Platform>>,
    /// Platforms of any entry for which tflock or the tool fetched a package.
    fetched: BTreeSet<Platform>,
    /// Platforms known only from a registry's report: `init` writes its hashes for all platforms, whether they are used or not.
    reported: BTreeMap<Hostname, BTreeSet<Platform>>,
}

impl RecordedPlatforms {
    /// Collects the platforms of a lock file from the cache.
    pub(super) fn of(lock: &LockFile, cache: &Cache) -> Self {
        let mut locked = Self::default();
        for (addr, entry) in lock.iter() {
            let Some(release) = cached::unchecked(cache, addr, &entry.version) else { continue };
            locked.fetched.extend(complete::fetched(&release, &entry.hashes).cloned());
            let attributed: BTreeSet<Platform> =
                release.platforms_with(&entry.hashes).map(|(platform, _)| platform.clone()).collect();
            locked.reported.entry(addr.host().clone()).or_default().extend(attributed.iter().cloned());
            locked.by_entry.insert(addr.clone(), attributed);
        }
        locked
    }

    /// The platforms to lock a provider for: this machine's, those of fetched packages, and those that its registry
    /// reports, or the registry of the entry that it takes over.
    pub(super) fn wanted(&self, addr: &ProviderAddr, from: Option<&ProviderAddr>) -> BTreeSet<Platform> {
        let hosts = [Some(addr), from].into_iter().flatten().map(ProviderAddr::host);
        let reported = hosts.filter_map(|host| self.reported.get(host)).flatten();
        self.fetched.iter().chain(reported).cloned().chain([Platform::host()]).collect()
    }

    /// The platforms of an entry; `None` without an entry, or if no platform is known.
    pub(super) fn entry(&self, addr: &ProviderAddr) -> Option<&BTreeSet<Platform>> {
        self.by_entry.get(addr)
    }
}

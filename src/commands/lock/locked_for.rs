//! The platforms that the entries of a lock file were locked for, where none were named.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{Hostname, ProviderAddr};
use crate::disk::cache::Cache;
use crate::lock::complete;
use crate::lockfile::LockFile;
use crate::platform::Platform;
use crate::query::cached;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LockedFor {
    by_entry: BTreeMap<ProviderAddr, BTreeSet<Platform>>,
    /// Of all entries: someone fetched a package for them.
    fetched: BTreeSet<Platform>,
    /// Known by the report of a registry only, which `init` writes for all of its platforms, whoever uses them.
    reported: BTreeMap<Hostname, BTreeSet<Platform>>,
}

impl LockedFor {
    /// What the cache knows of the entries of a lock file.
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

    /// What a provider is wanted for: that of the machine, what packages were fetched for, and what its registry reports
    /// of its entries, or that of the entry that it takes over.
    pub(super) fn wanted(&self, addr: &ProviderAddr, from: Option<&ProviderAddr>) -> BTreeSet<Platform> {
        let hosts = [Some(addr), from].into_iter().flatten().map(ProviderAddr::host);
        let reported = hosts.filter_map(|host| self.reported.get(host)).flatten();
        self.fetched.iter().chain(reported).cloned().chain([Platform::host()]).collect()
    }

    /// What the entry of a provider was locked for; none if it has none, or nothing is known of it.
    pub(super) fn entry(&self, addr: &ProviderAddr) -> Option<&BTreeSet<Platform>> {
        self.by_entry.get(addr)
    }
}

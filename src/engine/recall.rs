//! What the cache knows of a release, from earlier runs.

use std::collections::BTreeMap;

use super::known::{KnownPackage, KnownRelease};
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::hash::PackageHash;
use crate::hash::sums::Sums;
use crate::version::Version;

/// The release as an earlier run saw it; none if that run left nothing usable.
pub fn recall(cache: &Cache, addr: &ProviderAddr, version: &Version) -> Option<KnownRelease> {
    let record = cache.release(addr, version)?;
    let sums = Sums::decode(&cache.document(&record.sums)?);
    let mut known = KnownRelease {
        listed: sums.harvest().iter().copied().map(PackageHash::zh).collect(),
        platforms: sums.archives(addr.type_name(), version).map(|(platform, _)| platform).collect(),
        packages: BTreeMap::new(),
        reported: BTreeMap::new(),
    };
    for package in record.packages {
        let zh = PackageHash::zh(package.zh);
        if let Some((h1, _)) = cache.h1_of(&package.zh) {
            known.packages.insert(package.platform.clone(), KnownPackage { zh: zh.clone(), h1 });
        }
        if let Some(h1) = package.h1 {
            known.reported.insert(package.platform, vec![zh, h1]);
        }
    }
    Some(known)
}

//! What a run leaves in the cache for the next one, and what it finds there.

use std::collections::BTreeMap;

use super::Gatherer;
use super::signed::SignedSums;
use crate::addr::ProviderAddr;
use crate::disk::cache::{Locked, ReleasePackage, ReleaseRecord};
use crate::finding::Rule;
use crate::hash::sums::Sums;
use crate::hash::{HashScheme, PackageHash};
use crate::platform::Platform;
use crate::query::answer::Selected;
use crate::query::cached;
use crate::release::{Release, naming};
use crate::version::Version;

impl Gatherer {
    /// True if an earlier run hashed the archives of all these platforms.
    pub(super) fn knows_archives(&self, addr: &ProviderAddr, version: &Version, platforms: &[Platform]) -> bool {
        let known = cached::unchecked(&self.cache, addr, version);
        let is_computed =
            |release: &Release, platform: &Platform| release.computed().any(|(_, of)| of == Some(platform));
        known.is_some_and(|release| platforms.iter().all(|platform| is_computed(&release, platform)))
    }

    /// The archives that the checksums of a release name, each with its `h1:` as far as the index knows it.
    pub(super) fn indexed(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        sums: &Sums,
    ) -> BTreeMap<Platform, Option<PackageHash>> {
        let archives = sums.archives(addr.type_name(), version);
        archives.map(|(platform, zh)| (platform, self.cache.h1_of(&zh).map(|(h1, _)| h1))).collect()
    }

    /// Leaves what was found out about a release to later runs.
    pub(super) fn remember(&self, addr: &ProviderAddr, facts: &Selected, signed: &SignedSums) {
        let reported = |platform: &Platform| {
            let hashes = facts.reported.get(platform)?;
            hashes.iter().find(|hash| hash.scheme() == HashScheme::H1).cloned()
        };
        let mut packages: Vec<ReleasePackage> = signed
            .sums
            .archives(addr.type_name(), facts.version())
            .map(|(platform, zh)| ReleasePackage {
                file_name: naming::conventional(addr, facts.version(), &platform),
                h1: reported(&platform),
                platform,
                zh,
            })
            .collect();
        for (platform, package) in &facts.packages {
            let Some(zh) = package.zh else { continue };
            if !packages.iter().any(|known| known.platform == *platform) {
                packages.push(ReleasePackage {
                    platform: platform.clone(),
                    file_name: package.file_name.clone(),
                    zh,
                    h1: reported(platform),
                });
            }
        }
        self.keep(&facts.release, signed, packages);
    }

    /// Leaves a release and its signed documents to later runs.
    pub(super) fn keep(&self, release: &Release, signed: &SignedSums, packages: Vec<ReleasePackage>) {
        self.cache.put_release(ReleaseRecord {
            address: release.address.clone(),
            version: release.version.clone(),
            disputed: release.findings.iter().any(|finding| finding.rule == Rule::PackagesDiffer),
            sums: signed.sums_digest,
            signature: Some(signed.signature_digest),
            keys: Some(signed.keys_digest),
            packages,
            locked: Locked::Never,
        });
    }
}

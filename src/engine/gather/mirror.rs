//! Asks a network mirror what the steps of a run need to know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::task::JoinSet;
use url::Url;

use super::archives::{Downloads, Wanted};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::engine::facts::{Answer, PackageFacts, Refusal, Selected};
use crate::engine::plan::Step;
use crate::engine::select::Shelf;
use crate::engine::{Events, PackageKey};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::archive::{ArchiveHashes, Threads};
use crate::hash::{HashScheme, PackageHash};
use crate::net::Shared;
use crate::platform::Platform;
use crate::release::Release;
use crate::source::{MirrorArchive, NetworkMirror};
use crate::version::Version;

/// What a [`MirrorGatherer`] works with.
#[derive(Debug)]
pub struct MirrorOptions {
    /// Whom to ask.
    pub mirror: NetworkMirror,
    /// Where new facts go.
    pub cache: Arc<Cache>,
    /// Where progress goes.
    pub events: Events,
    /// The tool whose records are made: `OpenTofu` records the digests that a mirror tells.
    pub dialect: Dialect,
}

type Archives = BTreeMap<Platform, MirrorArchive>;

/// Asks one network mirror; each document and each archive once in a run.
#[derive(Debug)]
pub struct MirrorGatherer {
    mirror: NetworkMirror,
    dialect: Dialect,
    downloads: Downloads,
    indexes: Shared<ProviderAddr, Result<Arc<Vec<Version>>, Refusal>>,
    releases: Shared<(ProviderAddr, Version), Result<Arc<Archives>, Refusal>>,
    packages: Shared<Url, Result<Arc<ArchiveHashes>, Refusal>>,
}

impl MirrorGatherer {
    /// A gatherer that has asked nothing yet.
    pub fn new(options: MirrorOptions) -> Self {
        let (cache, events) = (options.cache, options.events);
        Self {
            downloads: Downloads { client: options.mirror.client().clone(), cache, events, threads: Threads::One },
            mirror: options.mirror,
            dialect: options.dialect,
            indexes: Shared::new(),
            releases: Shared::new(),
            packages: Shared::new(),
        }
    }

    /// The answers for all steps, asked side by side.
    pub async fn gather(self: &Arc<Self>, steps: &BTreeMap<ProviderAddr, Step>) -> BTreeMap<ProviderAddr, Answer> {
        let mut tasks = JoinSet::new();
        for (addr, step) in steps.clone() {
            let gatherer = Arc::clone(self);
            tasks.spawn(async move {
                let answer = gatherer.release(&addr, &step).await;
                (addr, answer.map(Arc::new))
            });
        }
        tasks.join_all().await.into_iter().collect()
    }

    async fn release(self: &Arc<Self>, addr: &ProviderAddr, step: &Step) -> Result<Selected, Refusal> {
        let versions = self.versions(addr).await?;
        let on_offer = Shelf { addr, versions: &versions };
        let mut asked: BTreeMap<Version, Arc<Archives>> = BTreeMap::new();
        // Which platforms a version has is told only when it is asked about: until it is, it may have all of them.
        let (version, archives) = loop {
            let has = |version: &Version, platform: &Platform| {
                asked.get(version).is_none_or(|archives| archives.contains_key(platform))
            };
            let version = on_offer.select(step, &has).map_err(|error| error.about_url(self.mirror.shown().as_str()))?;
            if let Some(archives) = asked.get(&version) {
                break (version, Arc::clone(archives));
            }
            let archives = self.archives(addr, &version).await?;
            asked.insert(version, archives);
        };
        let newest = on_offer.newer(&version);
        let missing = step.platforms.iter().filter(|platform| !archives.contains_key(platform));
        let missing = missing.map(|platform| (platform.clone(), None)).collect();
        let mut selected = Selected { missing, newest, ..Selected::new(Release::new(addr.clone(), version)) };
        let wanted: BTreeSet<Platform> = step.platforms.iter().cloned().collect();
        selected.compute(self.hashed(&selected.release, &archives, wanted).await?);
        self.find_witness(step, &mut selected, &archives).await;
        Ok(selected)
    }

    /// Looks for a package with a recorded hash among those that were not asked for, the host's first: it shows that the
    /// mirror has the recorded release.
    async fn find_witness(self: &Arc<Self>, step: &Step, selected: &mut Selected, archives: &Archives) {
        let Some(entry) = step.recorded.as_ref().filter(|entry| entry.version == *selected.version()) else { return };
        let host = Platform::host();
        let mut others: Vec<&Platform> =
            archives.keys().filter(|platform| !selected.packages.contains_key(*platform)).collect();
        others.sort_by_key(|platform| **platform != host);
        for platform in others {
            if selected.packages.values().any(|package| package.hashes().any(|hash| entry.hashes.contains(&hash))) {
                return;
            }
            let one = BTreeSet::from([platform.clone()]);
            if let Ok(packages) = self.hashed(&selected.release, archives, one).await {
                selected.compute(packages);
            }
        }
    }

    async fn versions(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Version>>, Refusal> {
        let ask = async { self.mirror.versions(addr).await.map(Arc::new).map_err(|error| Error::from(error).into()) };
        self.indexes.answer(addr.clone(), ask).await
    }

    async fn archives(&self, addr: &ProviderAddr, version: &Version) -> Result<Arc<Archives>, Refusal> {
        let ask = async {
            self.mirror.archives(addr, version).await.map(Arc::new).map_err(|error| Error::from(error).into())
        };
        self.releases.answer((addr.clone(), version.clone()), ask).await
    }

    /// The packages of some platforms, as far as the mirror has them, downloaded side by side.
    async fn hashed(
        self: &Arc<Self>,
        release: &Release,
        archives: &Archives,
        platforms: BTreeSet<Platform>,
    ) -> Result<BTreeMap<Platform, PackageFacts>, Refusal> {
        let mut tasks = JoinSet::new();
        for platform in platforms {
            let Some(archive) = archives.get(&platform).cloned() else { continue };
            let (address, version) = (release.address.clone(), release.version.clone());
            let gatherer = Arc::clone(self);
            let key = PackageKey { address, version, platform: platform.clone() };
            tasks.spawn(async move { (platform, gatherer.package(key, archive).await) });
        }
        let all: BTreeMap<Platform, Result<PackageFacts, Refusal>> = tasks.join_all().await.into_iter().collect();
        all.into_iter().map(|(platform, package)| package.map(|package| (platform, package))).collect()
    }

    /// One package. The mirror must be right in every hash of a known scheme that it gives.
    async fn package(&self, key: PackageKey, archive: MirrorArchive) -> Result<PackageFacts, Refusal> {
        let wanted = Wanted { url: archive.url.clone(), file_name: archive.file_name.clone(), zh: None, copy: None };
        let fetch = async { self.downloads.fetch(key.clone(), &wanted).await.map(Arc::new) };
        let found = self.packages.answer(archive.url.clone(), fetch).await?;
        let zh = PackageHash::zh(found.zh);
        let is_own = |hash: &PackageHash| *hash == zh || *hash == found.h1 || found.archive_form.as_ref() == Some(hash);
        if let Some(wrong) = archive.hashes.iter().find(|hash| !is_own(hash)) {
            let own = if wrong.scheme() == HashScheme::Zh { &zh } else { &found.h1 };
            let message = format!(
                "the archive of {} {} for {} has the checksum {own}, where the mirror gives {wrong}",
                key.address, key.version, key.platform,
            );
            return Err(Finding::new(Rule::WrongChecksum, message).about(&key.address).into());
        }
        Ok(PackageFacts {
            zh: Some(found.zh),
            h1: Some(found.h1.clone()),
            computed: true,
            size: Some(found.size),
            tells_zh: self.dialect == Dialect::OpenTofu && archive.hashes.contains(&zh),
            file_name: archive.file_name,
        })
    }
}

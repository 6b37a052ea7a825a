//! Asks one mirror, of whatever protocol; each document and each package once in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::archives::{Downloads, Wanted};
use super::signed::{self, Documents, SignedSums};
use super::{Equipment, Miss, local};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::mirror::LocalPackage;
use crate::disk::mirror_writer::ArchiveCopy;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockEntry;
use crate::net::Shared;
use crate::parallel;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::answer::{PackageFacts, Refusal, Selected};
use crate::query::question::Query;
use crate::query::rules::Rules;
use crate::release::offer::Offer;
use crate::release::{Release, ReleaseKey, mirrors, naming};
use crate::settings::SignatureRule;
use crate::source::oci::OciPackage;
use crate::source::{Mirror, MirrorArchive, MirrorMiss, MirrorPackage, MirrorPackages};
use crate::version::Version;

/// Asks one mirror.
#[derive(Debug)]
pub(super) struct MirrorGatherer {
    pub(super) mirror: Mirror,
    pub(super) equipment: Equipment,
    pub(super) downloads: Downloads,
    /// As many packages on disk are hashed at once as there are cores.
    hashing: Semaphore,
    offers: Shared<ProviderAddr, Result<Arc<Vec<Offer>>, Miss>>,
    listed: Shared<ReleaseKey, Result<Arc<MirrorPackages>, Refusal>>,
    signed: Shared<(ReleaseKey, Rules), Signed>,
    packages: Shared<PackageKey, Result<PackageFacts, Refusal>>,
}

/// The copies of what was signed, if there are any.
pub(super) type Signed = Result<Option<Arc<SignedSums>>, Refusal>;

/// The packages of some platforms, or why there is none.
pub(super) type Hashed = BTreeMap<Platform, Result<PackageFacts, Refusal>>;

impl MirrorGatherer {
    /// A gatherer that has asked nothing yet.
    pub(super) fn new(mirror: Mirror, equipment: &Equipment) -> Self {
        let (cache, events) = (Arc::clone(&equipment.cache), equipment.events.clone());
        Self {
            downloads: Downloads {
                client: mirror.client(),
                cache,
                events,
                threads: Arc::clone(&equipment.threads),
                budget: Arc::clone(&equipment.budget),
            },
            mirror,
            equipment: equipment.clone(),
            hashing: Semaphore::new(parallel::cores()),
            offers: Shared::new(),
            listed: Shared::new(),
            signed: Shared::new(),
            packages: Shared::new(),
        }
    }

    /// The versions of a provider, ascending.
    pub(super) async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        let ask = async {
            match self.mirror.versions(addr).await {
                Ok(versions) if versions.is_empty() => Err(Miss::Absent),
                Ok(versions) => Ok(Arc::new(versions.into_iter().map(Offer::from).collect())),
                Err(MirrorMiss::Absent(_)) => Err(Miss::Absent),
                Err(MirrorMiss::Unknown(error)) => Err(Miss::Refused(error.into())),
            }
        };
        self.offers.answer(addr.clone(), ask).await
    }

    /// The packages that the mirror lists of a release.
    pub(super) async fn listed(&self, addr: &ProviderAddr, version: &Version) -> Result<Arc<MirrorPackages>, Refusal> {
        let ask = async { self.mirror.packages(addr, version).await.map(Arc::new).map_err(refusal) };
        self.listed.answer((addr.clone(), version.clone()), ask).await
    }

    /// What the mirror has of a release for the platforms of a step.
    pub(super) async fn part(
        self: &Arc<Self>,
        addr: &ProviderAddr,
        version: &Version,
        step: &Query,
    ) -> Result<Selected, Refusal> {
        let listed = self.listed(addr, version).await?;
        let missing = step.platforms.iter().filter(|platform| !listed.contains_key(platform));
        let mut newest = BTreeMap::new();
        for platform in missing {
            newest.insert(platform.clone(), self.newest_with(addr, platform).await);
        }
        let mut selected =
            Selected { missing: newest, ..Selected::new(self.release(addr, version, &step.rules).await?) };
        let wanted: BTreeSet<Platform> = step.platforms.iter().cloned().collect();
        let hashed = self.hashed(&selected.release, &listed, wanted).await;
        selected.compute(
            hashed.into_iter().map(|(platform, hashed)| Ok((platform, hashed?))).collect::<Result<_, Refusal>>()?,
        );
        self.find_witness(step, &mut selected, &listed).await;
        self.tell(step, &mut selected, &listed);
        Ok(selected)
    }

    /// The newest version with a package for a platform, where looking for it costs no request.
    async fn newest_with(&self, addr: &ProviderAddr, platform: &Platform) -> Option<Version> {
        let Mirror::Directory(_) = &self.mirror else { return None };
        for Offer { version, .. } in self.offers(addr).await.ok()?.iter().rev() {
            if self.listed(addr, version).await.is_ok_and(|listed| listed.contains_key(platform)) {
                return Some(version.clone());
            }
        }
        None
    }

    /// A release, with what was signed of it, if the mirror has copies of that.
    pub(super) async fn release(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        rules: &Rules,
    ) -> Result<Release, Refusal> {
        let release = Release::new(addr.clone(), version.clone());
        let Some(signed) = self.signed(addr, version, rules).await? else { return Ok(release) };
        Ok(Release {
            signer: Some(signed.signer.clone()),
            subkey: signed.subkey.clone(),
            signed_at: signed.made,
            findings: signed.findings.clone(),
            ..release.listing(&signed.sums, |_| None)
        })
    }

    /// The mirror's copies of what was signed; where nothing needs to be signed, they are as good as none.
    pub(super) async fn signed(&self, addr: &ProviderAddr, version: &Version, rules: &Rules) -> Signed {
        if rules.signature == SignatureRule::Never {
            return Ok(None);
        }
        let ask = async {
            let copies = self.mirror.signed_copies(addr, version).await.map_err(refusal)?;
            let Some(copies) = copies.filter(|copies| !copies.keys.is_empty()) else { return Ok(None) };
            let documents = Documents { sums: copies.sums, signature: copies.signature, keys: &copies.keys };
            signed::check(&self.equipment, (addr, version), rules, &documents).map(Arc::new).map(Some)
        };
        let release = (addr.clone(), version.clone());
        let rules = Rules { signature: rules.signature, expiry: rules.expiry, ..Rules::default() };
        self.signed.answer((release, rules), ask).await
    }

    /// Looks for a package with a recorded hash among those that were not asked for, the host's first: it shows that the
    /// mirror has the recorded release. A signed list shows that better.
    async fn find_witness(self: &Arc<Self>, step: &Query, selected: &mut Selected, listed: &MirrorPackages) {
        let Some(entry) = step.recorded.as_ref().filter(|entry| entry.version == *selected.version()) else { return };
        let host = Platform::host();
        let mut others: Vec<&Platform> =
            listed.keys().filter(|platform| !selected.packages.contains_key(*platform)).collect();
        others.sort_by_key(|platform| **platform != host);
        for platform in others {
            let is_shown = |hash| selected.release.owns(hash) && entry.hashes.contains(hash);
            if !mirrors::is_vouched_by_mirror(&selected.release) || entry.hashes.iter().any(is_shown) {
                return;
            }
            let one = self.hashed(&selected.release, listed, BTreeSet::from([platform.clone()])).await;
            selected.compute(one.into_iter().filter_map(|(platform, hashed)| Some((platform, hashed.ok()?))).collect());
        }
    }

    /// What the mirror says of the packages of all platforms, where its user trusts that and the tool records it.
    ///
    /// Source: opentofu `internal/getproviders/package_authentication.go`: for providers of its default registry only.
    fn tell(&self, step: &Query, selected: &mut Selected, listed: &MirrorPackages) {
        let tofu = Dialect::OpenTofu;
        let address = &selected.release.address;
        let of_default_registry = address.host().as_ascii() == tofu.default_registry_host();
        if self.equipment.dialect != tofu || !self.mirror.trusts_all_hashes() || !of_default_registry {
            return;
        }
        let told = listed.iter().filter_map(|(platform, package)| match package {
            MirrorPackage::Archive(archive) => Some((platform.clone(), archive.hashes.clone())),
            MirrorPackage::Local(_) | MirrorPackage::Oci(_) | MirrorPackage::Unusable(_) => None,
        });
        selected.told = told.collect();
        let recorded = step.recorded.as_ref().filter(|entry| entry.version == *selected.version());
        let mut against = Vec::new();
        for (platform, hashes) in &selected.told {
            let known = hashes.iter().find_map(|hash| Some(self.equipment.cache.h1_of(&hash.zh_digest()?)?.0));
            let Some(wrong) = hashes.iter().find(|hash| is_contradicted(hash, known.as_ref(), recorded)) else {
                continue;
            };
            let message = format!(
                "the mirror tells {wrong} for {address} {} for {platform}, which contradicts what is known of that package",
                selected.release.version,
            );
            against.push(Finding::new(Rule::PackagesDiffer, message).about(address));
        }
        selected.release.findings.extend(against);
    }

    /// The packages of some platforms, as far as the mirror has them, looked at side by side and held to what was signed.
    pub(super) async fn hashed(
        self: &Arc<Self>,
        release: &Release,
        listed: &MirrorPackages,
        platforms: BTreeSet<Platform>,
    ) -> Hashed {
        let mut tasks = JoinSet::new();
        for platform in platforms {
            let Some(package) = listed.get(&platform).cloned() else { continue };
            let (address, version) = (release.address.clone(), release.version.clone());
            let gatherer = Arc::clone(self);
            let key = PackageKey { address, version, platform: platform.clone() };
            tasks.spawn(async move { (platform, gatherer.package(key, package).await) });
        }
        let mut all: Hashed = tasks.join_all().await.into_iter().collect();
        for (platform, hashed) in all.iter_mut().filter(|_| !mirrors::is_vouched_by_mirror(release)) {
            let unlisted = hashed.as_ref().ok().and_then(|facts| unlisted(release, platform, facts));
            if let Some(finding) = unlisted {
                *hashed = Err(finding.into());
            }
        }
        all
    }

    async fn package(&self, key: PackageKey, package: MirrorPackage) -> Result<PackageFacts, Refusal> {
        let look = self.facts(&key, package, None);
        self.packages.answer(key.clone(), look).await
    }

    /// Looks at a package; the bytes of one that is downloaded go into the copy too, if there is to be one.
    pub(super) async fn facts(
        &self,
        key: &PackageKey,
        package: MirrorPackage,
        copy: Option<Arc<ArchiveCopy>>,
    ) -> Result<PackageFacts, Refusal> {
        match package {
            MirrorPackage::Local(found) => self.local(key.clone(), found).await,
            MirrorPackage::Archive(archive) => self.archive(key.clone(), archive, copy).await,
            MirrorPackage::Oci(package) => self.blob(key.clone(), package, copy).await,
            MirrorPackage::Unusable(problem) => Err(problem.into()),
        }
    }

    pub(super) async fn local(&self, key: PackageKey, found: LocalPackage) -> Result<PackageFacts, Refusal> {
        // The semaphore is never closed.
        let _permit = self.hashing.acquire().await;
        let events = self.equipment.events.clone();
        let hashing = tokio::task::spawn_blocking(move || local::hash(&key, &found, &events));
        hashing.await.unwrap_or_else(|problem| {
            let message = format!("reading a package was interrupted: {problem}");
            Err(Error::new(ErrorKind::Interrupted, message).into())
        })
    }

    /// One archive. The mirror must be right in every hash of a known scheme that it gives.
    async fn archive(
        &self,
        key: PackageKey,
        archive: MirrorArchive,
        copy: Option<Arc<ArchiveCopy>>,
    ) -> Result<PackageFacts, Refusal> {
        let (url, file_name) = (archive.url.clone(), archive.file_name.clone());
        let wanted = Wanted { url, file_name, zh: None, copy, authorization: None };
        let found = self.downloads.fetch(key.clone(), &wanted).await?;
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
            tells_zh: self.equipment.dialect == Dialect::OpenTofu && archive.hashes.contains(&zh),
            file_name: archive.file_name,
        })
    }
}

impl MirrorGatherer {
    /// The archive that an OCI registry has as a blob: its digest is recorded too, as the tool does.
    async fn blob(
        &self,
        key: PackageKey,
        package: OciPackage,
        copy: Option<Arc<ArchiveCopy>>,
    ) -> Result<PackageFacts, Refusal> {
        let Mirror::Oci(mirror) = &self.mirror else {
            let message = format!("{} has no blobs", self.mirror.shown());
            return Err(Error::new(ErrorKind::Package, message).into());
        };
        let (url, authorization, zh) = mirror.archive(&package).await.map_err(Error::from)?;
        let file_name = naming::conventional(&key.address, &key.version, &key.platform);
        let given = "its manifest in the OCI registry gives";
        let wanted = Wanted { url, file_name: file_name.clone(), zh: Some((zh, given)), copy, authorization };
        let found = self.downloads.fetch(key, &wanted).await?;
        Ok(PackageFacts {
            zh: Some(found.zh),
            h1: Some(found.h1.clone()),
            computed: true,
            size: Some(found.size),
            tells_zh: self.equipment.dialect == Dialect::OpenTofu,
            file_name,
        })
    }
}

/// True if a hash that a mirror tells can be none of its package: it is malformed, the index knows another for that archive,
/// or the record has the checksums of archives and not this one.
fn is_contradicted(hash: &PackageHash, known: Option<&PackageHash>, recorded: Option<&LockEntry>) -> bool {
    let refuted = || hash.scheme() == HashScheme::H1 && known.is_some_and(|known| known != hash);
    let is_foreign =
        |entry: &LockEntry| entry.hashes.of(HashScheme::Zh).next().is_some() && !entry.hashes.contains(hash);
    let unrecorded = || hash.scheme() == HashScheme::Zh && recorded.is_some_and(is_foreign);
    !hash.is_well_formed() || refuted() || unrecorded()
}

/// What is wrong with a package of a release whose signed list is known.
pub(super) fn unlisted(release: &Release, platform: &Platform, facts: &PackageFacts) -> Option<Finding> {
    mirrors::unlisted(release, &[platform], &facts.hashes().collect::<Vec<_>>())
}

pub(super) fn refusal(miss: MirrorMiss) -> Refusal {
    let (MirrorMiss::Absent(error) | MirrorMiss::Unknown(error)) = miss;
    error.into()
}

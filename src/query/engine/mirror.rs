//! Requests to one mirror, of any protocol; each document and each package once in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::archives::{self, Destination, Downloads, WantedArchive};
use super::equipment::{Equipment, LOOKED_AT, each};
use super::registry::{self, SignedSums};
use super::search::{self, Searched};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::mirror::LocalPackage;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::lockfile::LockEntry;
use crate::net::Shared;
use crate::parallel;
use crate::platform::Platform;
use crate::query::PackageKey;
use crate::query::question::{Goal, PackageFacts, Query, Refusal, Selected};
use crate::query::select::Rules;
use crate::release::{Attestation, Offer, Release, ReleaseKey, hashes};
use crate::settings::SignatureRule;
use crate::source::oci::OciPackage;
use crate::source::{Mirror, MirrorArchive, MirrorPackage, MirrorPackages, Miss};
use crate::step::Template;
use crate::trust::Evidence;
use crate::version::Version;

/// What to do where the word of a trusted mirror is wrong.
const WITHOUT_TRUST: Template = template!(
    "Ask the operator of the mirror. If the origin registry is reachable, `tflock lock --source origin` works without the mirror; without `trust_all_hashes` in the CLI configuration, only packages that tflock downloads are recorded."
);

#[derive(Debug)]
pub(super) struct MirrorSource {
    pub(super) mirror: Mirror,
    pub(super) equipment: Equipment,
    pub(super) downloads: Downloads,
    /// As many packages on disk are hashed at once as there are cores.
    hashing: Semaphore,
    offers: Shared<ProviderAddr, Result<Arc<Vec<Offer>>, Miss>>,
    listed: Shared<ReleaseKey, Result<Arc<MirrorPackages>, Refusal>>,
    signed: Shared<(ReleaseKey, Rules), SignedCopies>,
    packages: Shared<PackageKey, Result<PackageFacts, Refusal>>,
}

/// The copies of what was signed, if there are any.
type SignedCopies = Result<Option<Arc<SignedSums>>, Refusal>;

impl MirrorSource {
    pub(super) fn new(mirror: Mirror, equipment: &Equipment) -> Self {
        Self {
            downloads: Downloads::new(mirror.client(), equipment),
            mirror,
            equipment: equipment.clone(),
            hashing: Semaphore::new(parallel::cores()),
            offers: Shared::new(),
            listed: Shared::new(),
            signed: Shared::new(),
            packages: Shared::new(),
        }
    }

    pub(super) async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        let request = async {
            match self.mirror.versions(addr).await {
                Ok(versions) if versions.is_empty() => Err(Miss::Absent(self.mirror.lacks(addr))),
                versions => Ok(Arc::new(versions?.into_iter().map(Offer::from).collect())),
            }
        };
        self.offers.answer(addr.clone(), request).await
    }

    pub(super) async fn listed(&self, key: &ReleaseKey) -> Result<Arc<MirrorPackages>, Refusal> {
        let request = async { Ok(self.mirror.packages(&key.0, &key.1).await.map(Arc::new)?) };
        self.listed.answer(key.clone(), request).await
    }

    /// What the mirror has of a release, except for platforms that an earlier source has, and of its packages as much as the
    /// query is about.
    pub(super) async fn release(
        self: &Arc<Self>,
        key: &ReleaseKey,
        query: &Query,
        seen: &BTreeSet<Platform>,
    ) -> Result<Selected, Refusal> {
        let listed = self.listed(key).await?;
        let signed = self.signed(key, &query.rules).await?;
        let unsigned = || Release::new(key.0.clone(), key.1.clone());
        let mut known = Selected::new(signed.map_or_else(unsigned, |signed| signed.release(key, |_| None)));
        if query.goal == Goal::Packages {
            for platform in query.platforms.iter().filter(|platform| !listed.contains_key(platform)) {
                known.missing.insert(platform.clone(), self.newest_with(&key.0, platform).await);
            }
            let wanted: BTreeSet<Platform> = query.platforms.iter().cloned().collect();
            let packages = self.packages(&known.release, &listed, wanted).await?;
            known.compute(packages);
        } else if query.explain().is_some_and(|explain| !explain.depth.recompute) {
            self.recall(&mut known.release);
        }
        let is_open = |platform: &&Platform| !seen.contains(*platform) && !known.packages.contains_key(*platform);
        let mut left: Vec<Platform> = listed.keys().filter(is_open).cloned().collect();
        let host = Platform::host();
        left.sort_by_key(|platform| (query.platforms.contains(platform), *platform == host));
        let passed_over = left.len().saturating_sub(LOOKED_AT);
        left.drain(..passed_over);
        let by_list = Arc::new(known.release.clone());
        let look = |platform: Platform| {
            let (source, listed, release) = (Arc::clone(self), Arc::clone(&listed), Arc::clone(&by_list));
            async move { source.look(&release, &listed, &platform).await }
        };
        let searched = search::search(&mut known, query, left, look).await;
        let searched = Searched { passed_over, ..searched };
        if let Some(error) = searched.too_many(&known.release, query) {
            known.release.inconclusive = Some(error);
        }
        if query.goal == Goal::Packages {
            self.add_trusted(query, &mut known, &listed);
        }
        Ok(known)
    }

    /// What the index knows of archives that are signed.
    fn recall(&self, release: &mut Release) {
        let archives: Vec<Sha256Digest> = release.archives().copied().collect();
        for zh in archives {
            if let Some((h1, _)) = self.equipment.cache.h1_of(&zh) {
                let platforms: Vec<Platform> = release.platforms_of(&PackageHash::zh(zh)).cloned().collect();
                release.attest(h1.clone(), Attestation::new(None, Evidence::Computed));
                for platform in platforms {
                    release.look_at(&platform, None, Some(&h1));
                }
            }
        }
    }

    /// The newest version with a package for a platform, where looking for it costs no request.
    async fn newest_with(&self, addr: &ProviderAddr, platform: &Platform) -> Option<Version> {
        let Mirror::Directory(_) = &self.mirror else {
            return None;
        };
        for Offer { version, .. } in self.offers(addr).await.ok()?.iter().rev() {
            let key = (addr.clone(), version.clone());
            if self.listed(&key).await.is_ok_and(|listed| listed.contains_key(platform)) {
                return Some(version.clone());
            }
        }
        None
    }

    /// The mirror's copies of what was signed; where nothing needs to be signed, they are as good as none.
    pub(super) async fn signed(&self, key: &ReleaseKey, rules: &Rules) -> SignedCopies {
        if rules.signature == SignatureRule::Never {
            return Ok(None);
        }
        let request = async {
            let copies = self.mirror.signed_copies(&key.0, &key.1).await?;
            let Some(copies) = copies.filter(|copies| !copies.keys.is_empty()) else {
                return Ok(None);
            };
            registry::check(&self.equipment, key, rules, &copies).map(Arc::new).map(Some)
        };
        let rules = Rules { signature: rules.signature, expiry: rules.expiry, ..Rules::default() };
        self.signed.answer((key.clone(), rules), request).await
    }

    /// What the mirror says of the packages of all platforms, where its user trusts that and the tool records it.
    ///
    /// Source: opentofu `internal/getproviders/package_authentication.go`: for providers of its default registry only.
    fn add_trusted(&self, query: &Query, selected: &mut Selected, listed: &MirrorPackages) {
        let tofu = Dialect::OpenTofu;
        let address = &selected.release.address;
        let of_default_registry = address.host().as_ascii() == tofu.default_registry_host();
        if self.equipment.dialect != tofu || !self.mirror.trusts_all_hashes() || !of_default_registry {
            return;
        }
        let trusted = listed.iter().filter_map(|(platform, package)| match package {
            MirrorPackage::Archive(archive) => Some((platform.clone(), archive.hashes.clone())),
            MirrorPackage::Local(_) | MirrorPackage::Oci(_) | MirrorPackage::Unusable(_) => None,
        });
        selected.trusted = trusted.collect();
        let recorded = query.recorded_as(selected.version());
        let mut against = Vec::new();
        for (platform, hashes) in &selected.trusted {
            let known = hashes.iter().find_map(|hash| Some(self.equipment.cache.h1_of(&hash.zh_digest()?)?.0));
            let Some(wrong) = hashes.iter().find(|hash| is_contradicted(hash, known.as_ref(), recorded)) else {
                continue;
            };
            let message = format!(
                "the mirror reports {wrong} for {address} {} for {platform}, which contradicts what is known of that package",
                selected.release.version,
            );
            against.push(Finding::new(Rule::PackagesDiffer, message).about(address).remedied_by(WITHOUT_TRUST));
        }
        selected.release.findings.extend(against);
    }

    /// The packages of some platforms, as far as the mirror has them, looked at side by side.
    async fn packages(
        self: &Arc<Self>,
        release: &Release,
        listed: &Arc<MirrorPackages>,
        platforms: BTreeSet<Platform>,
    ) -> Result<BTreeMap<Platform, PackageFacts>, Refusal> {
        let shared = (Arc::new(release.clone()), Arc::clone(listed));
        let there = platforms.into_iter().filter(|platform| listed.contains_key(platform));
        let items = there.map(|platform| (platform, shared.clone()));
        let look = |source: Arc<Self>, platform: Platform, (release, listed): (Arc<Release>, Arc<MirrorPackages>)| async move {
            source.look(&release, &listed, &platform).await
        };
        let looked = each(self, items, look).await;
        looked.into_iter().map(|(platform, looked)| Ok((platform, looked?))).collect()
    }

    /// Looks at one package, which what was signed of its release must list.
    async fn look(
        &self,
        release: &Release,
        listed: &MirrorPackages,
        platform: &Platform,
    ) -> Result<PackageFacts, Refusal> {
        let key = PackageKey::of(&(release.address.clone(), release.version.clone()), platform);
        let Some(package) = listed.get(platform).cloned() else {
            let message = format!("{} has no package of {key}", self.mirror.shown());
            return Err(Error::new(ErrorKind::NotFound, message).into());
        };
        let facts = self.packages.answer(key.clone(), self.facts(&key, package, Destination::Nowhere)).await?;
        let signed = Some(release).filter(|release| !hashes::is_mirror_only(release));
        match signed.and_then(|release| unlisted(release, platform, &facts)) {
            Some(finding) => Err(finding.into()),
            None => Ok(facts),
        }
    }

    /// Looks at a package, which also goes to its destination if it has one. The mirror must be right in every hash of a known
    /// scheme that it gives.
    pub(super) async fn facts(
        &self,
        key: &PackageKey,
        package: MirrorPackage,
        destination: Destination,
    ) -> Result<PackageFacts, Refusal> {
        let (wanted, hashes) = match package {
            MirrorPackage::Local(found) => {
                return self.local(key.clone(), found, destination).await;
            }
            MirrorPackage::Archive(MirrorArchive { url, file_name, hashes }) => {
                (WantedArchive { url, file_name, zh: None, authorization: None, destination }, hashes)
            }
            MirrorPackage::Oci(package) => self.blob(key, &package, destination).await?,
            MirrorPackage::Unusable(problem) => return Err(problem.into()),
        };
        let facts = self.downloads.fetch(key, &wanted).await?;
        if let Some(wrong) = hashes.iter().find(|hash| !facts.hashes().any(|own| own == **hash)) {
            let own = if wrong.scheme() == HashScheme::Zh { facts.zh_hash() } else { facts.h1 };
            let own = own.as_ref().map(PackageHash::as_str).unwrap_or_default();
            let message = format!("the archive of {key} has the checksum {own}, where the mirror gives {wrong}");
            return Err(Finding::new(Rule::WrongChecksum, message).about(&key.address).into());
        }
        let reports_zh = facts.zh_hash().is_some_and(|zh| hashes.contains(&zh));
        Ok(PackageFacts { tells_zh: self.equipment.dialect == Dialect::OpenTofu && reports_zh, ..facts })
    }

    async fn local(
        &self,
        key: PackageKey,
        found: LocalPackage,
        destination: Destination,
    ) -> Result<PackageFacts, Refusal> {
        if let (LocalPackage::Unpacked(_), Destination::Archive(_)) = (&found, &destination) {
            let message =
                format!("the package of {key} is a directory in {}, and only archives are copied", self.mirror.shown());
            let error = Error::new(ErrorKind::Package, message);
            return Err(error.hint("--source origin copies the archives that the registry has").into());
        }
        // The semaphore is never closed.
        let _permit = self.hashing.acquire().await;
        let (events, cache) = (self.equipment.events.clone(), Arc::clone(&self.equipment.cache));
        let hashing =
            tokio::task::spawn_blocking(move || archives::hash_local(&key, &found, &destination, &events, &cache));
        hashing.await.unwrap_or_else(|problem| {
            let message = format!("reading a package was interrupted: {problem}");
            Err(Error::new(ErrorKind::Interrupted, message).into())
        })
    }

    /// The archive that an OCI registry has as a blob: its digest is recorded too, as the tool does.
    async fn blob(
        &self,
        key: &PackageKey,
        package: &OciPackage,
        destination: Destination,
    ) -> Result<(WantedArchive, Vec<PackageHash>), Refusal> {
        let Mirror::Oci(mirror) = &self.mirror else {
            let message = format!("{} has no blobs", self.mirror.shown());
            return Err(Error::new(ErrorKind::Package, message).into());
        };
        let (url, authorization, zh) = mirror.archive(package).await?;
        let file_name = hashes::conventional_name(&key.address, &key.version, &key.platform);
        let given = "its manifest in the OCI registry gives";
        let wanted = WantedArchive { url, file_name, zh: Some((zh, given)), destination, authorization };
        Ok((wanted, vec![PackageHash::zh(zh)]))
    }
}

/// True if a hash that a mirror reports cannot be one of its package: it is malformed, the index knows another for that archive,
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
    hashes::unlisted(release, &[platform], &facts.hashes().collect::<Vec<_>>())
}

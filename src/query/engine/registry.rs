//! Requests to the origin registries; each document and each archive once in a run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::archives::{Destination, Downloads, WantedArchive};
use super::equipment::{Equipment, LOOKED_AT, each};
use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, IndexEntry};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::{PackageHash, Sha256Digest, Sums, SumsError};
use crate::net::{DocumentKind, Shared};
use crate::platform::Platform;
use crate::query::question::{Goal, PackageFacts, Query, Refusal};
use crate::query::select::{ReportedRule, Rules};
use crate::query::{PackageKey, cached};
use crate::release::continuity::ExpiryRules;
use crate::release::hashes::Reported;
use crate::release::{Offer, Release, ReleaseKey};
use crate::settings::{Index, SignatureRule};
use crate::source::{
    Miss, ProviderListing, Registry, RegistryPackage, SharedIndexes, SignedDocuments, SignedUrls,
    speaks_supported_protocol,
};
use crate::trust::Fingerprint;
use crate::trust::openpgp::{self, SignatureError};
use crate::trust::pins::Signer;
use crate::version::Version;

/// The digests by which the run's cache has the signed documents of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedDigests {
    pub sums: Sha256Digest,
    pub signature: Sha256Digest,
    pub keys: Sha256Digest,
}

const COMMON: [&str; 5] = ["linux_amd64", "darwin_arm64", "darwin_amd64", "linux_arm64", "windows_amd64"];

/// The origin registries, with their answers so far.
#[derive(Debug)]
pub(super) struct RegistrySource {
    pub(super) registry: Registry,
    pub(super) equipment: Equipment,
    pub(super) cache: Arc<Cache>,
    pub(super) downloads: Downloads,
    listings: Shared<ProviderAddr, Result<ProviderListing, Miss>>,
    packages: Shared<(ProviderAddr, Version, Platform), Result<Arc<RegistryPackage>, Miss>>,
    pub(super) signed: Shared<(SignedUrls, SignatureRule, ExpiryRules), Result<Arc<SignedSums>, Refusal>>,
    archives: Shared<Sha256Digest, Result<PackageFacts, Refusal>>,
    pub(super) indexes: SharedIndexes,
    /// What shared indexes said in this run.
    pub(super) shared: Mutex<HashMap<Sha256Digest, (Index, IndexEntry)>>,
}

/// What the registry said about the packages of one release.
pub(super) type RegistryPackages = BTreeMap<Platform, Result<Arc<RegistryPackage>, Miss>>;

/// The line of one archive in the checksums.
pub(super) struct RegistryLine {
    pub(super) file_name: String,
    pub(super) zh: Sha256Digest,
    /// The registry's document of this very package, if it was requested.
    pub(super) package: Option<Arc<RegistryPackage>>,
    /// The `h1:` that the registry reports of it, next to another package or with its own.
    pub(super) reported: Option<PackageHash>,
}

impl RegistryLine {
    /// The line of a package, whose digest must be the announced one.
    pub(super) fn of(
        (addr, version): &ReleaseKey,
        package: Arc<RegistryPackage>,
        sums: &Sums,
    ) -> Result<Self, Refusal> {
        let file_name = package.file_name.clone();
        let zh = listed(addr, version, &package, sums)?;
        let reported = package.reported.get(&package.platform).and_then(|reported| reported.h1().next().cloned());
        Ok(Self { file_name, zh, package: Some(package), reported })
    }

    pub(super) fn unknown(&self) -> PackageFacts {
        PackageFacts::unread(Some(self.zh), self.file_name.clone())
    }
}

/// The digest of a package by the signed list, which must be the announced one: it ties the package to that list.
pub(super) fn listed(
    addr: &ProviderAddr,
    version: &Version,
    package: &RegistryPackage,
    sums: &Sums,
) -> Result<Sha256Digest, Refusal> {
    let refuse = |message: String| Refusal::from(Finding::new(Rule::WrongChecksum, message).about(addr));
    let name = &package.file_name;
    let digest = sums.digest_of(name).map_err(|error| match error {
        SumsError::NotListed(name) => {
            refuse(format!("the checksums of {addr} {version} do not list the package {name:?}"))
        }
        SumsError::BadDigest { name, digest } => {
            refuse(format!("the checksums of {addr} {version} have no SHA-256 for {name:?}: {digest:?}"))
        }
    })?;
    if digest != package.shasum {
        return Err(refuse(format!(
            "the checksum of {name:?} of {addr} {version} is {digest}, but the registry announces {}",
            package.shasum,
        )));
    }
    Ok(digest)
}

impl RegistrySource {
    pub(super) fn new(registry: Registry, equipment: &Equipment) -> Self {
        Self {
            downloads: Downloads::new(registry.client().clone(), equipment),
            indexes: SharedIndexes::new(registry.client(), Arc::clone(registry.credentials())),
            shared: Mutex::default(),
            registry,
            cache: Arc::clone(&equipment.cache),
            equipment: equipment.clone(),
            listings: Shared::new(),
            packages: Shared::new(),
            signed: Shared::new(),
            archives: Shared::new(),
        }
    }

    pub(super) async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Miss> {
        Ok(self.listing(addr).await?.offers)
    }

    pub(super) async fn listing(&self, addr: &ProviderAddr) -> Result<ProviderListing, Miss> {
        self.listings.answer(addr.clone(), self.registry.versions(addr, self.equipment.dialect)).await
    }

    pub(super) async fn package(
        &self,
        (addr, version): &ReleaseKey,
        platform: &Platform,
    ) -> Result<Arc<RegistryPackage>, Miss> {
        let request = async {
            match self.registry.package(addr, version, platform).await {
                // It gives a reason for what it does not even list.
                Err(Miss::Unknown(error))
                    if error.kind == ErrorKind::NotFound && self.lacks(addr, version, platform).await =>
                {
                    Err(Miss::Absent(error))
                }
                package => package.map(Arc::new),
            }
        };
        // The future of a request is large, and many others contain it.
        Box::pin(self.packages.answer((addr.clone(), version.clone(), platform.clone()), request)).await
    }

    /// True if the list of versions names the platforms of a release, and not this one.
    async fn lacks(&self, addr: &ProviderAddr, version: &Version, platform: &Platform) -> bool {
        let offers = self.offers(addr).await.unwrap_or_default();
        let platforms = offers.iter().find(|offer| offer.version == *version).map(|offer| &offer.platforms);
        platforms.is_some_and(|platforms| !platforms.is_empty() && !platforms.contains(platform))
    }

    /// When a release was signed; `None` if that cannot be known.
    pub(super) async fn signed_on(&self, key: &ReleaseKey, query: &Query) -> Result<Option<SystemTime>, Refusal> {
        for platform in &query.platforms {
            if let Some(package) = Miss::found(self.package(key, platform).await)? {
                return Ok(self.signed_sums(key, &package, &query.rules).await?.made);
            }
        }
        Ok(None)
    }

    /// What the registry says of the packages that the query is about: of the wanted ones, or of any, since each of them names
    /// the checksums.
    pub(super) async fn packages_of(self: &Arc<Self>, key: &ReleaseKey, query: &Query) -> RegistryPackages {
        if let Goal::Hashes(_) = query.goal {
            return self.first_package(key, query).await;
        }
        let query = Arc::new(query.clone());
        let item = |platform: &Platform| (platform.clone(), (key.clone(), Arc::clone(&query)));
        let request = |source: Arc<Self>, platform: Platform, (key, query): (ReleaseKey, Arc<Query>)| async move {
            let package = source.package(&key, &platform).await;
            if let Ok(package) = &package {
                source.prefetch(&key, package, &query);
            }
            package
        };
        let mut packages = each(self, self.queried_platforms(key, &query).iter().map(item), request).await;
        if query.goal == Goal::Packages && !self.knows_archives(key, &query.platforms) {
            // One document may report all packages; those that it does not report are requested.
            let is_known =
                |platform: &&Platform| packages.contains_key(*platform) || reported(&packages, platform).is_some();
            let others: Vec<_> = query.platforms.iter().filter(|platform| !is_known(platform)).map(item).collect();
            packages.extend(each(self, others, request).await);
        }
        packages
    }

    /// The platforms whose packages are requested first; one only where everything else is known from an earlier run, or
    /// where what the registry reports of all packages with each is written.
    fn queried_platforms<'q>(&self, key: &ReleaseKey, query: &'q Query) -> &'q [Platform] {
        let wanted = &query.platforms;
        let one_suffices = query.rules.reported == ReportedRule::Write || self.knows_archives(key, wanted);
        if one_suffices { &wanted[..wanted.len().min(1)] } else { wanted }
    }

    /// True if an earlier run hashed the archives of all these platforms.
    fn knows_archives(&self, (addr, version): &ReleaseKey, platforms: &[Platform]) -> bool {
        let known = cached::unchecked(&self.cache, addr, version);
        known.is_some_and(|release| {
            platforms.iter().all(|platform| release.computed().any(|(_, of)| of == Some(platform)))
        })
    }

    /// The first existing package, the likeliest platforms first.
    async fn first_package(&self, key: &ReleaseKey, query: &Query) -> RegistryPackages {
        let mut packages = RegistryPackages::new();
        for platform in self.platforms(key, query).await.into_iter().take(LOOKED_AT) {
            let answer = self.package(key, &platform).await;
            let is_absent = matches!(answer, Err(Miss::Absent(_)));
            packages.insert(platform, answer);
            if !is_absent {
                break;
            }
        }
        packages
    }

    pub(super) async fn platforms(&self, (addr, version): &ReleaseKey, query: &Query) -> Vec<Platform> {
        let offers = self.offers(addr).await.unwrap_or_default();
        let offer = offers.iter().find(|offer| offer.version == *version);
        let offered: &[Platform] = offer.map_or(&[], |offer| &offer.platforms);
        let common = COMMON.iter().filter_map(|text| text.parse::<Platform>().ok());
        let likely = [Platform::host()].into_iter().chain(query.platforms.iter().cloned()).chain(common);
        let likely = likely.filter(|platform| offered.is_empty() || offered.contains(platform));
        let mut seen = BTreeSet::new();
        likely.chain(offered.iter().cloned()).filter(|platform| seen.insert(platform.clone())).collect()
    }

    /// Starts a download that will be needed if the signature verifies, while that is being checked: the bytes count for
    /// nothing before.
    fn prefetch(self: &Arc<Self>, key: &ReleaseKey, package: &Arc<RegistryPackage>, query: &Query) {
        let recorded = query.recorded.as_ref().filter(|entry| entry.version == key.1);
        let likely = recorded.is_none_or(|entry| entry.hashes.contains(&PackageHash::zh(package.shasum)));
        let known = self.cache.h1_of(&package.shasum).is_some();
        let reports = query.rules.reported == ReportedRule::Write;
        let is_usable = speaks_supported_protocol(&package.protocols);
        if query.goal == Goal::Packages && is_usable && likely && !known && !reports {
            let (source, package, rules) = (Arc::clone(self), Arc::clone(package), query.rules.clone());
            let key = key.clone();
            tokio::spawn(async move {
                source.query_indexes(package.shasum, &rules).await;
                if source.report(&package.shasum, &rules).is_none() {
                    drop(source.hashed_archive(&key, &package).await);
                }
            });
        }
    }

    pub(super) async fn look(
        self: Arc<Self>,
        key: ReleaseKey,
        platform: Platform,
        sums: Arc<Sums>,
    ) -> Result<PackageFacts, Refusal> {
        let Some(package) = Miss::found(self.package(&key, &platform).await)? else {
            let message = format!("provider {} {} has no package for {platform} to look at", key.0, key.1);
            return Err(Error::new(ErrorKind::NotFound, message).into());
        };
        listed(&key.0, &key.1, &package, &sums)?;
        self.hashed_archive(&key, &package).await
    }

    /// All hashes over the files of a package, computed from an archive with the announced digest.
    pub(super) async fn hashed_archive(
        &self,
        release: &ReleaseKey,
        package: &RegistryPackage,
    ) -> Result<PackageFacts, Refusal> {
        let key = PackageKey::of(release, &package.platform);
        let wanted = WantedArchive::announced(package, Destination::Nowhere);
        let facts = self.archives.answer(package.shasum, self.downloads.fetch(&key, &wanted)).await?;
        // Packages of several platforms may share an archive.
        Ok(PackageFacts { file_name: wanted.file_name, ..facts })
    }
}

/// The `h1:` that a registry reports of a package next to the other requested ones.
pub(super) fn reported(packages: &RegistryPackages, platform: &Platform) -> Option<PackageHash> {
    let reports = packages.values().flatten().filter_map(|package| package.reported.get(platform));
    reports.flat_map(Reported::h1).next().cloned()
}

#[derive(Debug)]
pub(super) struct SignedSums {
    pub(super) sums: Arc<Sums>,
    pub(super) digests: SignedDigests,
    pub(super) signer: Signer,
    /// The subkey that signed, if it was not the primary key.
    pub(super) subkey: Option<Fingerprint>,
    pub(super) made: Option<SystemTime>,
    pub(super) findings: Vec<Finding>,
}

impl SignedSums {
    /// The release that they list: archives by their conventional names, or by names that their source gives.
    pub(super) fn release(&self, (addr, version): &ReleaseKey, given: impl Fn(&str) -> Option<Platform>) -> Release {
        Release {
            signer: Some(self.signer.clone()),
            subkey: self.subkey.clone(),
            signed_at: self.made,
            findings: self.findings.clone(),
            ..Release::new(addr.clone(), version.clone()).listing(&self.sums, given)
        }
    }
}

impl RegistrySource {
    pub(super) async fn signed_sums(
        &self,
        release: &ReleaseKey,
        package: &RegistryPackage,
        rules: &Rules,
    ) -> Result<Arc<SignedSums>, Refusal> {
        let (urls, (addr, version)) = (&package.signed, release);
        let request = async {
            let (sums, signature) = tokio::join!(
                self.registry.signed_document(addr, version, &urls.sums, DocumentKind::Sums),
                self.registry.signed_document(addr, version, &urls.signature, DocumentKind::Signature),
            );
            let sums = sums?;
            let signature = signature.map_err(|error| missing_signature(addr, version, error))?;
            let documents = SignedDocuments { sums, signature, keys: urls.keys.clone() };
            check(&self.equipment, release, rules, &documents).map(Arc::new)
        };
        let key = (urls.clone(), rules.signature, rules.expiry);
        self.signed.answer(key, request).await
    }
}

/// The checksums, if they are signed as the rules require.
pub(super) fn check(
    equipment: &Equipment,
    (addr, version): &ReleaseKey,
    rules: &Rules,
    documents: &SignedDocuments,
) -> Result<SignedSums, Refusal> {
    let unsigned = match rules.signature {
        SignatureRule::Always => false,
        SignatureRule::IfKeysKnown => documents.keys.is_empty(),
        SignatureRule::Never => true,
    };
    if !unsigned && documents.keys.is_empty() {
        return Err(no_signing_key(addr, version).into());
    }
    let mut findings = Vec::new();
    let keys: Vec<&str> = documents.keys.iter().map(String::as_str).collect();
    let (signer, subkey, made) = if unsigned {
        let message = if documents.keys.is_empty() {
            format!(
                "the registry lists no signing key for {addr} {version}, so only the registry attests its checksums"
            )
        } else {
            format!("the settings require no signature of {addr} {version}, so none was checked")
        };
        findings.push(Finding::new(Rule::Unsigned, message).about(addr));
        (Signer::Unsigned, None, None)
    } else {
        let verified = openpgp::verify(&documents.sums, &documents.signature, &keys, equipment.now)
            .map_err(|error| bad_signature(addr, version, &error))?;
        findings.extend(rules.expiry.finding(addr, version, &verified));
        (Signer::Key(verified.fingerprint), verified.signing_subkey, Some(verified.made))
    };
    let digests = SignedDigests {
        sums: equipment.cache.put_document(&documents.sums),
        signature: equipment.cache.put_document(&documents.signature),
        keys: equipment.cache.put_keys(&keys),
    };
    Ok(SignedSums { digests, sums: Arc::new(Sums::decode(&documents.sums)), signer, subkey, made, findings })
}

/// A registry that lists no key may sign nothing at all; then someone has to say so.
fn no_signing_key(addr: &ProviderAddr, version: &Version) -> Finding {
    let host = addr.host();
    let message = format!("{host} lists no signing key for {addr} {version}, although a signature is required");
    let remedy = step!(
        "Where {} signs nothing, write `host \"{}\" { signature = \"never\" }` into `.tflock.hcl`, and run \
         `tflock trust add {} unsigned`.",
        host,
        host,
        addr
    );
    Finding::new(Rule::NoSigningKey, message).about(addr).remedied_by(remedy)
}

fn missing_signature(addr: &ProviderAddr, version: &Version, miss: Miss) -> Refusal {
    match miss {
        Miss::Absent(error) => {
            let message = format!("{addr} {version} is not signed: {error}");
            Finding::new(Rule::BadSignature, message).about(addr).into()
        }
        Miss::Unknown(error) => error.into(),
    }
}

fn bad_signature(addr: &ProviderAddr, version: &Version, error: &SignatureError) -> Refusal {
    let (rule, revoked) = match error {
        SignatureError::Revoked(key) | SignatureError::RevokedSubkey { subkey: key, .. } => {
            (Rule::RevokedKey, Some(key.clone()))
        }
        _ => (Rule::BadSignature, None),
    };
    let message = format!("the signature over the checksums of {addr} {version} is refused: {error}");
    Refusal::Finding(Box::new(Finding::new(rule, message).about(addr)), revoked)
}

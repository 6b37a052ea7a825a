//! Packages that lock files record: each is located at a source, checked while it goes to its destination, and only then kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::archives::{self, Destination, Downloads, WantedArchive};
use super::equipment::each;
use super::mirror::{MirrorSource, unlisted};
use super::registry::{RegistrySource, SignedDigests, listed};
use super::{SourceSet, SourceState};
use crate::disk::cache::Cache;
use crate::disk::mirror::LocalPackage;
use crate::disk::mirror_writer::Fate;
use crate::disk::package as packages;
use crate::disk::package_store::StoredPackage;
use crate::error::{Error, ErrorKind};
use crate::finding::Level;
use crate::hash::archive::Threads;
use crate::hash::{PackageHashes, Sha256Digest};
use crate::query::question::{PackageFacts, Refusal};
use crate::query::select::Rules;
use crate::query::{Event, PackageKey};
use crate::release::{Release, hashes};
use crate::source::{MirrorPackage, Miss};

/// An order to fetch one package.
#[derive(Debug, Clone)]
pub struct FetchOrder {
    pub destination: Destination,
    /// How the release must be signed, and then a package that is not recorded is refused. Without rules no signature is
    /// requested, and such a package is an answer.
    pub rules: Option<Rules>,
    /// The hashes that lock files record of the release: one of them must be the package's.
    pub recorded: PackageHashes,
}

/// A package that a source has, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedPackage {
    pub facts: PackageFacts,
    pub fate: Fate,
    /// The bytes that were downloaded.
    pub downloaded: u64,
    /// The package in the store, if it went there and its content is recorded.
    pub stored: Option<StoredPackage>,
    /// `None` for a mirror without signed checksums, and if no signature was requested.
    pub signed: Option<SignedDigests>,
}

/// `None` if no source has such a package.
pub type FetchAnswer = Result<Option<FetchedPackage>, Refusal>;

/// Where a package is, and what it is checked against.
struct LocatedPackage<'a> {
    place: FetchPlace<'a>,
    /// From the registry; `None` for a mirror.
    digest: Option<Sha256Digest>,
    /// The release by the mirror's signed checksums, if it has them; `None` for a registry, where `digest` is enough.
    release: Option<Release>,
    signed: Option<SignedDigests>,
}

enum FetchPlace<'a> {
    Registry(&'a RegistrySource, Box<WantedArchive>),
    Mirror(&'a MirrorSource, MirrorPackage),
}

impl FetchOrder {
    /// Takes a package of this machine, if its content is recorded.
    pub fn take(
        &self,
        key: &PackageKey,
        found: &LocalPackage,
        cache: &Cache,
    ) -> Result<Option<StoredPackage>, Refusal> {
        let facts = archives::read_local(key, found, &self.destination, cache)?;
        if self.records(&facts) { Ok(self.keep()?) } else { Ok(None) }
    }

    /// True if a lock file records the package. Of one that is unpacked, its content must be recorded.
    fn records(&self, facts: &PackageFacts) -> bool {
        match self.destination {
            Destination::Unpacked(_) => facts.h1.iter().any(|h1| self.recorded.contains(h1)),
            _ => facts.hashes().any(|hash| self.recorded.contains(&hash)),
        }
    }

    fn keep(&self) -> Result<Option<StoredPackage>, Error> {
        match &self.destination {
            Destination::Nowhere => Ok(None),
            Destination::Archive(copy) => Ok(copy.keep().map(|()| None)?),
            Destination::Unpacked(unpacking) => unpacking.keep().map(Some),
        }
    }
}

impl SourceSet {
    /// Fetches packages, each from the first source that has it.
    pub async fn fetched(
        self: &Arc<Self>,
        orders: BTreeMap<PackageKey, FetchOrder>,
    ) -> BTreeMap<PackageKey, FetchAnswer> {
        self.expect(orders.len());
        each(self, orders, |sources, key, order| async move {
            for source in sources.taking(&key.address) {
                if let Some(fetched) = Box::pin(source.fetched(&key, &order)).await? {
                    return Ok(Some(fetched));
                }
            }
            Ok(None)
        })
        .await
    }
}

impl SourceState {
    /// Fetches a package, if the source has it. A correct existing copy is not downloaded again.
    async fn fetched(&self, key: &PackageKey, order: &FetchOrder) -> FetchAnswer {
        let located = match self {
            Self::Registry(registry) => registry.locate(key, order).await?,
            Self::Mirror(mirror) => mirror.locate(key, order).await?,
        };
        let Some(LocatedPackage { place, digest, release, signed }) = located else {
            return Ok(None);
        };
        let unlisted = |facts: &PackageFacts| unlisted(release.as_ref()?, &key.platform, facts);
        let unchanged = |facts| FetchedPackage { facts, fate: Fate::Present, downloaded: 0, stored: None, signed };
        let there = match &order.destination {
            Destination::Archive(copy) => Some(copy.path()).filter(|path| path.exists()),
            _ => None,
        };
        let fate = if there.is_some() { Fate::Replaced } else { Fate::Fetched };
        if let Some(path) = there
            && let Some(facts) = self.downloads().existing(key, path, digest).await
            && order.records(&facts)
            && unlisted(&facts).is_none()
        {
            return Ok(Some(unchanged(facts)));
        }
        // What is known not to be recorded need not come.
        if let Some(known) = digest.and_then(|digest| known(&self.downloads().cache, digest))
            && order.rules.is_none()
            && !order.records(&known)
        {
            return Ok(Some(unchanged(known)));
        }
        let is_local = matches!(place, FetchPlace::Mirror(_, MirrorPackage::Local(_)));
        let facts = match place {
            FetchPlace::Registry(registry, wanted) => registry.downloads.fetch(key, &wanted).await?,
            FetchPlace::Mirror(mirror, package) => mirror.facts(key, package, order.destination.clone()).await?,
        };
        if let Some(finding) = unlisted(&facts) {
            return Err(finding.into());
        }
        let stored = if order.records(&facts) {
            order.keep()?
        } else if order.rules.is_some() {
            return Err(self.unrecorded(key).into());
        } else {
            None
        };
        let downloaded = facts.size.filter(|_| !is_local).unwrap_or_default();
        Ok(Some(FetchedPackage { facts, fate, downloaded, stored, signed }))
    }

    fn unrecorded(&self, key: &PackageKey) -> Error {
        let Self::Mirror(mirror) = self else {
            return unrecorded(key);
        };
        // A mirror's package may not be the signed one, so the message names that possibility too.
        let message = format!(
            "the lock file records no hash of the package of {key} that {} has: the platform is not locked, or it is not the \
             package of that release",
            mirror.mirror.shown(),
        );
        Error::new(ErrorKind::NotFound, message)
    }
}

impl RegistrySource {
    async fn locate(&self, key: &PackageKey, order: &FetchOrder) -> Result<Option<LocatedPackage<'_>>, Refusal> {
        let release = key.release();
        let Some(package) = Miss::found(self.package(&release, &key.platform).await)? else {
            return Ok(None);
        };
        let mut signed = None;
        if let Some(rules) = &order.rules {
            let sums = self.signed_sums(&release, &package, rules).await?;
            listed(&key.address, &key.version, &package, &sums.sums)?;
            let unbound = hashes::unusual_name(&key.address, &key.version, &key.platform, &package.file_name);
            if let Some(finding) = unbound.filter(|finding| finding.level() == Level::Deny) {
                return Err(finding.into());
            }
            signed = Some(sums.digests);
        }
        let place = FetchPlace::Registry(self, Box::new(WantedArchive::announced(&package, order.destination.clone())));
        Ok(Some(LocatedPackage { place, digest: Some(package.shasum), release: None, signed }))
    }
}

impl MirrorSource {
    async fn locate(&self, key: &PackageKey, order: &FetchOrder) -> Result<Option<LocatedPackage<'_>>, Refusal> {
        let release = key.release();
        let offers = Miss::found(self.offers(&key.address).await)?.unwrap_or_default();
        if !offers.iter().any(|offer| offer.version == key.version) {
            return Ok(None);
        }
        let Some(package) = self.listed(&release).await?.get(&key.platform).cloned() else {
            return Ok(None);
        };
        let signed = match &order.rules {
            Some(rules) => self.signed(&release, rules).await?,
            None => None,
        };
        let digests = signed.as_ref().map(|signed| signed.digests);
        let release = signed.map(|signed| signed.release(&release, |_| None));
        Ok(Some(LocatedPackage { place: FetchPlace::Mirror(self, package), digest: None, release, signed: digests }))
    }
}

impl Downloads {
    /// The package at the target path of a copy; it has the wanted digest, if one is given.
    async fn existing(&self, key: &PackageKey, path: PathBuf, wanted: Option<Sha256Digest>) -> Option<PackageFacts> {
        self.events.emit(Event::PackageStarted { package: key.clone(), total: None });
        let cache = Arc::clone(&self.cache);
        let read = move || {
            let zh = packages::digest(&path).ok()?;
            if wanted.is_some_and(|wanted| wanted != zh) {
                return None;
            }
            known(&cache, zh).or_else(|| {
                let hashes = packages::hash_archive(&path, Threads::One).ok().filter(|hashes| hashes.zh == zh)?;
                cache.record_computed(zh, &hashes.h1, hashes.size);
                Some(PackageFacts::computed(&hashes, String::new()))
            })
        };
        // A panic counts as an unreadable file.
        let found = tokio::task::spawn_blocking(read).await.ok().flatten();
        let bytes = found.as_ref().and_then(|found| found.size).unwrap_or_default();
        self.events.emit(Event::PackageBytes { package: key.clone(), bytes });
        self.events.emit(Event::PackageDone { package: key.clone(), ok: found.is_some(), local: true });
        found
    }
}

/// What the cache knows of an archive.
fn known(cache: &Cache, zh: Sha256Digest) -> Option<PackageFacts> {
    let (h1, size) = cache.h1_of(&zh)?;
    let unread = PackageFacts::unread(Some(zh), String::new());
    Some(PackageFacts { h1: Some(h1), computed: true, size: Some(size), ..unread })
}

/// For a package that matches its registry's signed checksums, but has no hash in a lock file.
pub fn unrecorded(key: &PackageKey) -> Error {
    let message = format!("the lock file records no hash of the package of {key}");
    let hint = step!("`tflock lock --platform {} {}` records them", key.platform, key.address);
    Error::new(ErrorKind::NotFound, message).hint(hint)
}

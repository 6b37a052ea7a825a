//! Copies of packages into a directory, each checked before it takes its name.
//!
//! Only packages that a lock file records are copied; where the source has signed checksums, the package must match them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archives::{BY_SUMS, Destination, Downloads, Wanted};
use super::mirror::{MirrorSource, unlisted};
use super::registry::{RegistrySource, listed};
use super::source::SourceState;
use crate::disk::cache::{IndexEntry, Origin};
use crate::disk::mirror::LocalPackage;
use crate::disk::mirror_writer::ArchiveCopy;
use crate::disk::package as packages;
use crate::error::{Error, ErrorKind};
use crate::finding::Level;
use crate::hash::archive::Threads;
use crate::hash::{PackageHash, PackageHashes, Sha256Digest};
use crate::outcome::Fate;
use crate::path::shown;
use crate::query::answer::{PackageFacts, Refusal};
use crate::query::rules::Rules;
use crate::query::{Event, PackageKey};
use crate::release::{Release, naming};
use crate::source::{MirrorPackage, Miss};

#[derive(Debug, Clone)]
pub struct CopyOrder {
    /// The package gets its conventional name in it.
    pub directory: PathBuf,
    pub rules: Rules,
    /// The hashes that lock files record of the release: one of them must be the package's.
    pub recorded: PackageHashes,
}

/// An order to hash one package without keeping a copy.
#[derive(Debug, Clone)]
pub struct ReadOrder {
    pub rules: Rules,
    /// The hashes that lock files record of the release: one of them must be the package's.
    pub recorded: PackageHashes,
}

/// The `h1:` of the package; `None` if the source has no such package.
pub type ReadAnswer = Result<Option<PackageHash>, Refusal>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub file_name: String,
    /// The hash of the archive.
    pub zh: PackageHash,
    /// The hash of the files in the archive.
    pub h1: PackageHash,
    pub size: u64,
    pub fate: Fate,
    /// `None` for a mirror without signed checksums.
    pub signed: Option<SignedDigests>,
}

/// The digests by which the run's cache has the signed documents of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedDigests {
    pub sums: Sha256Digest,
    pub signature: Option<Sha256Digest>,
    pub keys: Option<Sha256Digest>,
}

/// `None` if the source has no such package.
pub type CopyAnswer = Result<Option<Copied>, Refusal>;

/// Where a package is, and what it is checked against.
struct Located {
    place: CopySource,
    /// From the registry's signed checksums; `None` for a mirror.
    digest: Option<Sha256Digest>,
    /// The release by the mirror's signed checksums, if it has them; `None` for a registry, where `digest` is enough.
    release: Option<Release>,
    signed: Option<SignedDigests>,
}

enum CopySource {
    Origin(Box<Wanted>),
    Mirror(MirrorPackage),
}

impl SourceState {
    /// Copies a package, if the source has it. A correct existing copy is not downloaded again.
    pub(super) async fn copied(&self, key: PackageKey, order: &CopyOrder) -> CopyAnswer {
        let located = self.locate(&key, &order.rules).await?;
        let Some(Located { place, digest, release, signed }) = located else { return Ok(None) };
        let unlisted = |facts: &PackageFacts| unlisted(release.as_ref()?, &key.platform, facts);
        let is_recorded = |facts: &PackageFacts| is_recorded(facts, &order.recorded);
        let file_name = naming::conventional(&key.address, &key.version, &key.platform);
        let there = self.downloads().there(&key, &order.directory.join(&file_name), digest).await;
        let (facts, fate, copy) = match there {
            There::Package(facts) if is_recorded(&facts) && unlisted(&facts).is_none() => (facts, Fate::Present, None),
            there => {
                let copy = Arc::new(ArchiveCopy::new(order.directory.clone(), file_name.clone()));
                let facts = Box::pin(self.fetched(&key, place, Some(&copy))).await?;
                self.check(&key, &facts, (release.as_ref(), &order.recorded))?;
                let fate = if matches!(there, There::Nothing) { Fate::Fetched } else { Fate::Replaced };
                (facts, fate, Some(copy))
            }
        };
        let (Some(digest), Some(h1)) = (facts.zh, facts.h1) else { return Err(self.unrecorded(&key).into()) };
        if let Some(copy) = copy {
            copy.keep().map_err(|error| Refusal::Error(error.into()))?;
        }
        let (zh, size) = (PackageHash::zh(digest), facts.size.unwrap_or_default());
        Ok(Some(Copied { file_name, zh, h1, size, fate, signed }))
    }

    /// Hashes a package, if the source has it.
    pub(super) async fn read(&self, key: PackageKey, order: &ReadOrder) -> ReadAnswer {
        let Some(Located { place, release, .. }) = self.locate(&key, &order.rules).await? else { return Ok(None) };
        let facts = Box::pin(self.fetched(&key, place, None)).await?;
        self.check(&key, &facts, (release.as_ref(), &order.recorded))?;
        Ok(facts.h1)
    }

    async fn locate(&self, key: &PackageKey, rules: &Rules) -> Result<Option<Located>, Refusal> {
        match self {
            Self::Registry(registry) => registry.locate(key, rules).await,
            Self::Mirror(mirror) => mirror.locate(key, rules).await,
        }
    }

    /// Refuses a package that does not match the signed checksums or has no recorded hash.
    fn check(
        &self,
        key: &PackageKey,
        facts: &PackageFacts,
        (release, recorded): (Option<&Release>, &PackageHashes),
    ) -> Result<(), Refusal> {
        if let Some(finding) = release.and_then(|release| unlisted(release, &key.platform, facts)) {
            return Err(finding.into());
        }
        if is_recorded(facts, recorded) { Ok(()) } else { Err(self.unrecorded(key).into()) }
    }

    async fn fetched(
        &self,
        key: &PackageKey,
        place: CopySource,
        copy: Option<&Arc<ArchiveCopy>>,
    ) -> Result<PackageFacts, Refusal> {
        match (self, place) {
            (_, CopySource::Origin(wanted)) => {
                let copy = copy.map(|copy| Destination::Archive(Arc::clone(copy)));
                let wanted = Wanted { copy, ..*wanted };
                let found = self.downloads().fetch(key.clone(), &wanted).await?;
                let unread = PackageFacts::unread(Some(found.zh), wanted.file_name);
                Ok(PackageFacts { h1: Some(found.h1), computed: true, size: Some(found.size), ..unread })
            }
            (Self::Mirror(mirror), CopySource::Mirror(MirrorPackage::Local(found))) => match copy {
                Some(copy) => mirror.local_copy(key, found, copy).await,
                None => mirror.local(key.clone(), found).await,
            },
            (Self::Mirror(mirror), CopySource::Mirror(package)) => {
                mirror.facts(key, package, copy.map(|copy| Destination::Archive(Arc::clone(copy)))).await
            }
            (Self::Registry(_), CopySource::Mirror(_)) => Err(self.unrecorded(key).into()),
        }
    }

    fn unrecorded(&self, key: &PackageKey) -> Error {
        let Self::Mirror(mirror) = self else { return unrecorded(key) };
        let PackageKey { address, version, platform } = key;
        // A mirror's package may not be the signed one, so the message names that possibility too.
        let message = format!(
            "the lock file records no hash of the package of {address} {version} for {platform} that {} has: the platform is not \
             locked, or it is not the package of that release",
            mirror.mirror.shown(),
        );
        Error::new(ErrorKind::NotFound, message)
    }
}

impl RegistrySource {
    async fn locate(&self, key: &PackageKey, rules: &Rules) -> Result<Option<Located>, Refusal> {
        let (release, platform) = ((key.address.clone(), key.version.clone()), &key.platform);
        let package = match self.package(&release, platform).await {
            Ok(package) => package,
            Err(Miss::Absent(_)) => return Ok(None),
            Err(Miss::Unknown(error)) => return Err(error.into()),
        };
        let signed = self.signed_sums(&release, &package, rules).await?;
        let digest = listed(&key.address, &key.version, &package, &signed.sums)?;
        let unbound = naming::finding(&key.address, &key.version, platform, &package.file_name);
        if let Some(finding) = unbound.filter(|finding| finding.level == Level::Deny) {
            return Err(finding.into());
        }
        let (url, file_name) = (package.url.clone(), package.file_name.clone());
        let wanted = Wanted { url, file_name, zh: Some((digest, BY_SUMS)), authorization: None, copy: None };
        let (place, signed) = (CopySource::Origin(Box::new(wanted)), Some(signed.digests()));
        Ok(Some(Located { place, digest: Some(digest), release: None, signed }))
    }
}

impl MirrorSource {
    async fn locate(&self, key: &PackageKey, rules: &Rules) -> Result<Option<Located>, Refusal> {
        let release = (key.address.clone(), key.version.clone());
        let Some(package) = self.listed(&release).await?.get(&key.platform).cloned() else { return Ok(None) };
        let signed = self.signed(&release, rules).await?;
        let digests = signed.as_ref().map(|signed| signed.digests());
        let release = signed.map(|signed| signed.release(&release, |_| None));
        Ok(Some(Located { place: CopySource::Mirror(package), digest: None, release, signed: digests }))
    }

    async fn local_copy(
        &self,
        key: &PackageKey,
        found: LocalPackage,
        copy: &Arc<ArchiveCopy>,
    ) -> Result<PackageFacts, Refusal> {
        let LocalPackage::Packed(path) = &found else {
            let PackageKey { address, version, platform } = key;
            let message = format!(
                "the package of {address} {version} for {platform} is a directory in {}, and only archives are copied",
                self.mirror.shown()
            );
            let error = Error::new(ErrorKind::Package, message);
            return Err(error.hint("--source origin copies the archives that the registry has").into());
        };
        let facts = self.local(key.clone(), found.clone()).await?;
        let (from, copy) = (path.clone(), Arc::clone(copy));
        let copying = tokio::task::spawn_blocking(move || copy.fill(&from));
        let interrupted = |problem| Error::new(ErrorKind::Interrupted, format!("copying a package stopped: {problem}"));
        let (digest, size) = copying.await.map_err(interrupted)??;
        if facts.zh != Some(digest) {
            let message = format!("{} changed while it was copied", shown(path));
            return Err(Error::new(ErrorKind::Disk, message).in_file(path).into());
        }
        Ok(PackageFacts { size: Some(size), ..facts })
    }
}

impl Downloads {
    /// Checks the file at the target path of a copy. `wanted` is the signed digest, if known.
    async fn there(&self, key: &PackageKey, path: &Path, wanted: Option<Sha256Digest>) -> There {
        if !path.exists() {
            return There::Nothing;
        }
        self.events.emit(Event::PackageStarted { package: key.clone(), total: None });
        let (path, cache) = (path.to_owned(), Arc::clone(&self.cache));
        let read = move || {
            let zh = packages::digest(&path).ok()?;
            if wanted.is_some_and(|wanted| wanted != zh) {
                return None;
            }
            let (h1, size) = cache.h1_of(&zh).or_else(|| {
                let hashes = packages::hash_archive(&path, Threads::One).ok().filter(|hashes| hashes.zh == zh)?;
                cache.record(IndexEntry::new(zh, &hashes.h1, hashes.size, Origin::Computed)?);
                Some((hashes.h1, hashes.size))
            })?;
            let unread = PackageFacts::unread(Some(zh), String::new());
            Some(PackageFacts { h1: Some(h1), computed: true, size: Some(size), ..unread })
        };
        // A panic counts as an unreadable file.
        let found = tokio::task::spawn_blocking(read).await.ok().flatten();
        let bytes = found.as_ref().and_then(|found| found.size).unwrap_or_default();
        self.events.emit(Event::PackageBytes { package: key.clone(), bytes });
        self.events.emit(Event::PackageDone { package: key.clone(), ok: found.is_some(), local: true });
        found.map_or(There::Other, There::Package)
    }
}

fn is_recorded(facts: &PackageFacts, recorded: &PackageHashes) -> bool {
    facts.hashes().any(|hash| recorded.contains(&hash))
}

enum There {
    /// A readable package; it has the wanted digest, if one was given.
    Package(PackageFacts),
    /// A file that is not the wanted package.
    Other,
    Nothing,
}

/// For a package that matches its registry's signed checksums, but has no hash in a lock file.
pub fn unrecorded(key: &PackageKey) -> Error {
    let PackageKey { address, version, platform } = key;
    let message = format!("the lock file records no hash of the package of {address} {version} for {platform}");
    let hint = format!("`tflock lock --platform {platform} {address}` records them");
    Error::new(ErrorKind::NotFound, message).hint(hint)
}

//! Packages that go into the package store: downloaded, hashed and unpacked in one pass.
//!
//! No signature is requested: a package is kept only if a lock file records the `h1:` of its content.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::archives::{BY_SUMS, Destination, Wanted};
use super::source::SourceState;
use super::{Sources, each};
use crate::disk::mirror::LocalPackage;
use crate::disk::package_store::{StoredPackage, Unpacking};
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::parallel;
use crate::query::answer::Refusal;
use crate::query::{Event, PackageKey};
use crate::source::{MirrorPackage, Miss};

/// One package that is wanted.
#[derive(Debug, Clone)]
pub struct UnpackOrder {
    /// Where it goes.
    pub unpacking: Arc<Unpacking>,
    /// The hashes that lock files record of the release.
    pub recorded: PackageHashes,
}

/// What a source has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// All hashes that are known of the package; if one is recorded as `h1:`, it was unpacked.
    pub hashes: Vec<PackageHash>,
    /// The bytes that were downloaded.
    pub downloaded: u64,
    /// The package, if the lock files record its content.
    pub stored: Option<StoredPackage>,
}

impl Unpacked {
    fn of(hashes: Vec<PackageHash>, downloaded: u64) -> Self {
        Self { hashes, downloaded, stored: None }
    }
}

impl UnpackOrder {
    /// Keeps what was unpacked if one of its hashes is recorded as the content of a package.
    pub fn keep_recorded(&self, hashes: &[PackageHash]) -> Result<Option<StoredPackage>, Error> {
        let mut contents = hashes.iter().filter(|hash| hash.scheme() == HashScheme::H1);
        let is_recorded = contents.any(|hash| self.recorded.contains(hash));
        if is_recorded { self.unpacking.keep().map(Some) } else { Ok(None) }
    }
}

/// The result of one order; `None` if no source has such a package.
pub type UnpackAnswer = Result<Option<Unpacked>, Refusal>;

impl Sources {
    /// Packages, each from the first source that has it.
    pub async fn unpacked(
        self: &Arc<Self>,
        orders: BTreeMap<PackageKey, UnpackOrder>,
    ) -> BTreeMap<PackageKey, UnpackAnswer> {
        self.hash_on(if orders.len() < parallel::cores() { Threads::Two } else { Threads::One });
        each(self, orders, |sources, key, order| async move {
            for source in sources.taking(&key.address) {
                if let Some(unpacked) = Box::pin(source.unpacked(&key, &order)).await? {
                    let stored = order.keep_recorded(&unpacked.hashes)?;
                    return Ok(Some(Unpacked { stored, ..unpacked }));
                }
            }
            Ok(None)
        })
        .await
    }
}

impl SourceState {
    async fn unpacked(&self, key: &PackageKey, order: &UnpackOrder) -> UnpackAnswer {
        let release = (key.address.clone(), key.version.clone());
        let copy = Destination::Unpacked(Arc::clone(&order.unpacking));
        let facts = match self {
            Self::Registry(registry) => {
                let package = match registry.package(&release, &key.platform).await {
                    Ok(package) => package,
                    Err(Miss::Absent(_)) => return Ok(None),
                    Err(Miss::Unknown(error)) => return Err(error.into()),
                };
                let (url, file_name) = (package.url.clone(), package.file_name.clone());
                // What is known not to be recorded need not come.
                let known = registry.cache.h1_of(&package.shasum).filter(|(h1, _)| !order.recorded.contains(h1));
                if let Some((h1, _)) = known {
                    return Ok(Some(Unpacked::of(vec![h1, PackageHash::zh(package.shasum)], 0)));
                }
                let zh = Some((package.shasum, BY_SUMS));
                let wanted = Wanted { url, file_name, zh, authorization: None, copy: Some(copy) };
                let found = registry.downloads.fetch(key.clone(), &wanted).await?;
                return Ok(Some(Unpacked::of(vec![found.h1, PackageHash::zh(found.zh)], found.size)));
            }
            Self::Mirror(mirror) => {
                match mirror.offers(&key.address).await {
                    Ok(offers) if offers.iter().any(|offer| offer.version == key.version) => {}
                    Ok(_) | Err(Miss::Absent(_)) => return Ok(None),
                    Err(Miss::Unknown(error)) => return Err(error.into()),
                }
                match mirror.listed(&release).await?.get(&key.platform).cloned() {
                    None => return Ok(None),
                    Some(MirrorPackage::Local(found)) => return self.unpacked_locally(key, order, found).await,
                    Some(package) => mirror.facts(key, package, Some(copy)).await?,
                }
            }
        };
        Ok(Some(Unpacked::of(
            facts.h1.iter().cloned().chain(facts.zh_hash()).collect(),
            facts.size.unwrap_or_default(),
        )))
    }

    async fn unpacked_locally(&self, key: &PackageKey, order: &UnpackOrder, found: LocalPackage) -> UnpackAnswer {
        let unpacking = Arc::clone(&order.unpacking);
        let filling = tokio::task::spawn_blocking(move || unpacking.fill(&found));
        let interrupted = |problem| Error::new(ErrorKind::Interrupted, format!("copying a package stopped: {problem}"));
        let hashes = filling.await.map_err(interrupted)??;
        let package = key.clone();
        self.downloads().events.emit(Event::PackageDone { package, ok: true, local: true });
        Ok(Some(Unpacked::of(hashes, 0)))
    }
}

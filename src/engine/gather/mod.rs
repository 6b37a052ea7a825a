//! Asks and downloads what the steps of a run need to know, each question once, and decides nothing.
//!
//! Every answer is a cell that the first asker fills and all others share, failures too: a dead host is asked once.
//! Bytes of archives are hashed on the runtime's own threads, as many as there are cores, in the short stretches
//! between two arrivals: inflating and hashing never outrun the download, nothing is queued, and memory stays flat
//! however many packages are in flight.

mod archives;
mod binding;
mod choose;
mod copies;
mod evidence;
mod memory;
mod mirror;
mod release;
mod signed;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::task::JoinSet;

use super::facts::{Answer, Refusal};
use super::plan::Step;
use super::{Events, PackageKey};
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::hash::archive::Threads;
use crate::net::Shared;
use crate::platform::Platform;
use crate::release::expiry::ExpiryRules;
use crate::settings::SignatureRule;
use crate::source::{Offer, Package, Registry, SignedUrls, SourceError};
use crate::version::Version;

use archives::{Downloads, Hashed};
pub use copies::{Copied, CopyAnswer, CopyOrder, unrecorded};
pub use mirror::{MirrorGatherer, MirrorOptions};
use signed::SignedSums;

/// Asks the origin registries.
#[derive(Debug)]
pub struct Gatherer {
    registry: Registry,
    cache: Arc<Cache>,
    host: Platform,
    downloads: Downloads,
    now: SystemTime,
    offers: Shared<ProviderAddr, Result<Arc<Vec<Offer>>, NoOffers>>,
    packages: Shared<(ProviderAddr, Version, Platform), Result<Arc<Package>, Miss>>,
    signed: Shared<(SignedUrls, SignatureRule, ExpiryRules), Result<Arc<SignedSums>, Refusal>>,
    archives: Shared<Sha256Digest, Result<Hashed, Refusal>>,
    releases: Shared<(ProviderAddr, Step), Answer>,
}

/// Why there is no package.
#[derive(Debug, Clone)]
enum Miss {
    /// The registry says that there is none.
    Absent,
    /// Nobody knows.
    Refused(Refusal),
}

/// Why it is not known what versions there are.
#[derive(Debug, Clone)]
struct NoOffers {
    /// What the registry affirms, if it is that it has no such provider, or no release of it.
    absent: Option<String>,
    refusal: Refusal,
}

/// What a [`Gatherer`] works with.
#[derive(Debug)]
pub struct GatherOptions {
    /// Whom to ask.
    pub registry: Registry,
    /// What is known already, and where new facts go.
    pub cache: Arc<Cache>,
    /// Where progress goes.
    pub events: Events,
    /// The time of the run, at which keys are judged.
    pub now: SystemTime,
}

impl Gatherer {
    /// A gatherer that has asked nothing yet and hashes each archive on so many threads.
    pub fn new(options: GatherOptions, threads: Threads) -> Self {
        Self {
            downloads: Downloads {
                client: options.registry.client().clone(),
                cache: Arc::clone(&options.cache),
                events: options.events,
                threads,
            },
            registry: options.registry,
            cache: options.cache,
            host: Platform::host(),
            now: options.now,
            offers: Shared::new(),
            packages: Shared::new(),
            signed: Shared::new(),
            archives: Shared::new(),
            releases: Shared::new(),
        }
    }

    /// The answers for all steps, asked side by side. Root modules that want the same of a provider share one answer:
    /// it takes 15 KB.
    pub async fn gather(self: &Arc<Self>, steps: &BTreeMap<ProviderAddr, Step>) -> BTreeMap<ProviderAddr, Answer> {
        let steps = steps.iter().map(|(addr, step)| (addr.clone(), step.clone()));
        let release = |gatherer: Arc<Self>, addr: ProviderAddr, step: Step| async move {
            let key = (addr.clone(), step.clone());
            gatherer.releases.answer(key, Box::pin(gatherer.release(&addr, &step))).await
        };
        self.each(steps, release).await
    }

    /// The versions of some providers, asked side by side.
    pub async fn versions(
        self: &Arc<Self>,
        providers: BTreeSet<ProviderAddr>,
    ) -> BTreeMap<ProviderAddr, Result<Vec<Version>, Refusal>> {
        let items = providers.into_iter().map(|addr| (addr, ()));
        self.each(items, |gatherer, addr, ()| async move {
            let offers = gatherer.offers(&addr).await?;
            Ok(offers.iter().map(|offer| offer.version.clone()).collect())
        })
        .await
    }

    /// Runs one task for each item, all at once, and collects what they give.
    async fn each<K, V, R, F>(
        self: &Arc<Self>,
        items: impl IntoIterator<Item = (K, V)>,
        work: impl Fn(Arc<Self>, K, V) -> F,
    ) -> BTreeMap<K, R>
    where
        K: Ord + Clone + Send + 'static,
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        let mut tasks = JoinSet::new();
        for (key, value) in items {
            let task = work(Arc::clone(self), key.clone(), value);
            tasks.spawn(async move { (key, task.await) });
        }
        tasks.join_all().await.into_iter().collect()
    }

    async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, Refusal> {
        self.known_offers(addr).await.map_err(|missing| missing.refusal)
    }

    async fn known_offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, NoOffers> {
        let ask = async {
            self.registry.versions(addr).await.map(Arc::new).map_err(|error| {
                let absent = match &error {
                    SourceError::NoProvider { .. } => {
                        Some(format!("the registry of {addr} does not know this provider any more"))
                    }
                    SourceError::NoRelease { .. } => {
                        Some(format!("the registry lists no release of provider {addr} any more"))
                    }
                    _ => None,
                };
                NoOffers { absent, refusal: refusal(error) }
            })
        };
        self.offers.answer(addr.clone(), ask).await
    }

    async fn package(&self, addr: &ProviderAddr, version: &Version, platform: &Platform) -> Result<Arc<Package>, Miss> {
        let ask = async {
            self.registry.package(addr, version, platform).await.map(Arc::new).map_err(|error| match error {
                SourceError::NoPackage { .. } => Miss::Absent,
                error => Miss::Refused(refusal(error)),
            })
        };
        self.packages.answer((addr.clone(), version.clone(), platform.clone()), ask).await
    }
}

fn refusal(error: SourceError) -> Refusal {
    Refusal::Error(error.into())
}

/// A release that is gone, or that never was.
fn not_offered(addr: &ProviderAddr, version: &Version, recorded: Option<&Version>) -> Error {
    if recorded.is_some_and(|recorded| recorded != version) {
        let message = format!("provider {addr} has no release {version}");
        return Error::new(ErrorKind::NotFound, message).hint(format!("`tflock outdated` shows the newest of {addr}"));
    }
    let message = format!("the locked version {version} of provider {addr} is no longer available");
    Error::new(ErrorKind::NotFound, message).hint(format!("`tflock upgrade {addr}` selects another release"))
}

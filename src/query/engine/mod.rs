//! Asks and downloads what the steps of a run need to know, each question once, and decides nothing.
//!
//! Every answer is a cell that the first asker fills and all others share, failures too: a dead host is asked once.
//! Bytes of archives are hashed on the runtime's own threads, as many as there are cores, in the short stretches
//! between two arrivals: inflating and hashing never outrun the download, nothing is queued, and memory stays flat
//! however many packages are in flight.

mod archives;
mod asker;
mod binding;
mod budget;
mod copies;
mod evidence;
mod gathering;
mod local;
mod memory;
mod mirror;
mod mirror_copies;
mod mirror_evidence;
mod release;
mod several;
mod shared_index;
mod signed;
mod sources;

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use tokio::task::JoinSet;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::{Cache, IndexEntry};
use crate::hash::Sha256Digest;
use crate::hash::archive::Threads;
use crate::net::Shared;
use crate::platform::Platform;
use crate::query::answer::Refusal;
use crate::query::{Events, PackageKey};
use crate::release::expiry::ExpiryRules;
use crate::release::offer::Offer;
use crate::settings::{Index, SignatureRule};
use crate::source::{Filter, Package, Registry, SharedIndexes, SignedUrls, Source, SourceError};
use crate::version::Version;

use archives::{Downloads, Hashed};
pub use budget::DownloadBudget;
pub use copies::{Copied, CopyAnswer, CopyOrder, unrecorded};
use signed::SignedSums;
pub use sources::Sources;

/// How many packages of one release are looked at: real ones have some twenty.
pub(super) const LOOKED_AT: usize = 64;

/// Asks the origin registries.
#[derive(Debug)]
struct Gatherer {
    registry: Registry,
    equipment: Equipment,
    cache: Arc<Cache>,
    host: Platform,
    downloads: Downloads,
    offers: Shared<ProviderAddr, Result<Arc<Vec<Offer>>, NoOffers>>,
    packages: Shared<(ProviderAddr, Version, Platform), Result<Arc<Package>, Miss>>,
    signed: Shared<(SignedUrls, SignatureRule, ExpiryRules), Result<Arc<SignedSums>, Refusal>>,
    archives: Shared<Sha256Digest, Result<Hashed, Refusal>>,
    indexes: SharedIndexes,
    /// What shared indexes said in this run.
    shared: Mutex<HashMap<Sha256Digest, (Index, IndexEntry)>>,
}

/// Why there is no such thing, or none that is known.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one for each question, and a question costs far more")]
enum Miss {
    /// The source says that there is none.
    Absent,
    /// It is not known.
    Refused(Refusal),
}

/// Why it is not known what versions there are.
#[derive(Debug, Clone)]
struct NoOffers {
    /// What the registry affirms, if it is that it has no such provider, or no release of it.
    absent: Option<String>,
    refusal: Refusal,
}

/// Which sources to ask, and what it takes.
#[derive(Debug)]
pub struct GatherOptions {
    /// Who is asked for which providers, in this order.
    pub sources: Vec<(Filter, Source)>,
    /// What all of them work with.
    pub equipment: Equipment,
}

/// What every source works with.
#[derive(Debug, Clone)]
pub struct Equipment {
    /// What is known already, and where new facts go.
    pub cache: Arc<Cache>,
    /// Where progress goes.
    pub events: Events,
    /// How much may be downloaded.
    pub budget: Arc<DownloadBudget>,
    /// How many threads hash one archive; one unless somebody says so before the first.
    pub threads: Arc<OnceLock<Threads>>,
    /// The time of the run, at which keys are judged.
    pub now: SystemTime,
    /// The tool whose records are made.
    pub dialect: Dialect,
}

impl Gatherer {
    /// A gatherer that has asked nothing yet.
    fn new(registry: Registry, equipment: &Equipment) -> Self {
        Self {
            downloads: Downloads {
                client: registry.client().clone(),
                cache: Arc::clone(&equipment.cache),
                events: equipment.events.clone(),
                threads: Arc::clone(&equipment.threads),
                budget: Arc::clone(&equipment.budget),
            },
            indexes: SharedIndexes::new(registry.client().options(), Arc::clone(registry.credentials())),
            shared: Mutex::default(),
            registry,
            cache: Arc::clone(&equipment.cache),
            equipment: equipment.clone(),
            host: Platform::host(),
            offers: Shared::new(),
            packages: Shared::new(),
            signed: Shared::new(),
            archives: Shared::new(),
        }
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
        each(self, items, work).await
    }

    /// The versions of a provider, ascending.
    async fn offers(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Offer>>, NoOffers> {
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

/// Runs one task for each item, all at once, and collects what they give.
async fn each<T, K, V, R, F>(
    asker: &Arc<T>,
    items: impl IntoIterator<Item = (K, V)>,
    work: impl Fn(Arc<T>, K, V) -> F,
) -> BTreeMap<K, R>
where
    K: Ord + Clone + Send + 'static,
    R: Send + 'static,
    F: Future<Output = R> + Send + 'static,
{
    let mut tasks = JoinSet::new();
    for (key, value) in items {
        let task = work(Arc::clone(asker), key.clone(), value);
        tasks.spawn(async move { (key, task.await) });
    }
    tasks.join_all().await.into_iter().collect()
}

fn refusal(error: SourceError) -> Refusal {
    Refusal::Error(error.into())
}

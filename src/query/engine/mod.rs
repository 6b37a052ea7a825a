//! Requests and downloads what the steps of a run need, each once, and decides nothing.
//!
//! Every answer is a cell that the first request fills and all others share, failures too: a dead host is contacted once.
//! Bytes of archives are hashed on the runtime's own threads, as many as there are cores, in the short stretches
//! between two arrivals: inflating and hashing never outrun the download, nothing is queued, and memory stays flat
//! however many packages are in flight.

mod archives;
mod fetch;
mod mirror;
mod registry;
mod registry_release;
mod search;
mod shared_index;
mod source;
mod sources;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::hash::archive::Threads;
use crate::parallel::spawn_all;
use crate::query::Events;
use crate::source::{Filter, Source};

pub use archives::Destination;
pub use archives::DownloadBudget;
use fetch::SignedDigests;
pub use fetch::{FetchAnswer, FetchOrder, FetchedPackage, unrecorded};
pub use sources::Sources;

/// How many packages of one release are looked at: real ones have some twenty.
const LOOKED_AT: usize = 64;

/// The sources to use, and what they need.
#[derive(Debug)]
pub struct GatherOptions {
    /// The sources of each provider, in this order.
    pub sources: Vec<(Filter, Source)>,
    /// What all of them work with.
    pub equipment: Equipment,
}

#[derive(Debug, Clone)]
pub struct Equipment {
    /// What is known already, and where new facts go.
    pub cache: Arc<Cache>,
    pub events: Events,
    pub budget: Arc<DownloadBudget>,
    /// How many threads hash one archive; one unless someone says so before the first.
    pub threads: Arc<OnceLock<Threads>>,
    pub now: SystemTime,
    /// The tool whose records are made.
    pub dialect: Dialect,
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
    let (keys, values): (Vec<K>, Vec<V>) = items.into_iter().unzip();
    let tasks: Vec<F> =
        keys.iter().zip(values).map(|(key, value)| work(Arc::clone(asker), key.clone(), value)).collect();
    keys.into_iter().zip(spawn_all(tasks).await).collect()
}

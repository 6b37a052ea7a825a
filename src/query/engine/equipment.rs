//! What all sources of packages work with.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use super::archives::DownloadBudget;
use super::witnesses::WitnessAccess;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::parallel::spawn_all;
use crate::query::events::Events;
use crate::query::question::Refusal;
use crate::source::provenance::AttestationService;
use crate::source::{Filter, Source};

/// How many packages of one release are looked at: real ones have some twenty.
pub(super) const LOOKED_AT: usize = 64;

/// The sources to use, and what they need.
#[derive(Debug)]
pub struct GatherOptions {
    /// The sources of each provider, in this order.
    pub sources: Vec<(Filter, Source)>,
    /// What all of them work with.
    pub equipment: Equipment,
    /// Mirrors that are not used, for the help of errors.
    pub unused: UnusedMirrors,
}

/// The mirrors of the CLI configuration where the run uses the registries.
#[derive(Debug, Clone, Default)]
pub struct UnusedMirrors {
    /// What each of them takes.
    pub filters: Vec<Filter>,
    /// True once the help of an error names them.
    pub is_named: Arc<AtomicBool>,
}

impl UnusedMirrors {
    /// The refusal of a registry, with the option that uses the mirrors if one of them has the provider.
    pub(super) fn helped(&self, addr: &ProviderAddr, refusal: Refusal) -> Refusal {
        let Refusal::Error(error) = refusal else { return refusal };
        let is_silent = error.kind == ErrorKind::Unavailable;
        let may_help = is_silent || error.kind == ErrorKind::UnknownProvider;
        if !may_help || !self.filters.iter().any(|filter| filter.takes(addr)) {
            return Refusal::Error(error);
        }
        self.is_named.store(true, Ordering::Relaxed);
        let help = "your CLI configuration uses a mirror instead of this registry, and tflock does so with --source \
                    configured, or with `source = \"configured\"` in .tflock.hcl";
        let others = if is_silent { Vec::new() } else { error.hints };
        let hints = std::iter::once(help.into()).chain(others).collect();
        Refusal::Error(Error { hints, ..error })
    }
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
    /// Who knows where releases were built; `None` if no request may be sent.
    pub attestations: Option<AttestationService>,
    /// Who else knows releases; `None` if no request may be sent.
    pub witnesses: Option<Arc<WitnessAccess>>,
}

/// Runs one task for each item, all at once, and collects what they give.
pub(super) async fn each<T, K, V, R, F>(
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

//! Runs the stage that asks: the only place where a runtime is built.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::PackageKey;
use super::answer::{Answer, Refusal};
use super::gather::{CopyAnswer, CopyOrder, GatherOptions, Sources};
use super::inquiry::Inquiry;
use super::question::Step;
use crate::addr::ProviderAddr;
use crate::disk::cache::IndexEntry;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::release::{Known, ReleaseKey};
use crate::settings::IndexPlace;
use crate::source::{IndexStores, Published};
use crate::version::Version;

/// The answers for the steps of each root module, in the order given; every question is asked once for all of them.
///
/// # Errors
///
/// [`ErrorKind::Interrupted`] on Ctrl-C, and when the system has no threads for a runtime.
pub fn gather(
    options: GatherOptions,
    roots: &[&BTreeMap<ProviderAddr, Step>],
) -> Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error> {
    block_on(async {
        let sources = Arc::new(Sources::new(options, threads(roots)));
        all(&sources, roots).await
    })
}

/// What is known of some locked releases.
///
/// # Errors
///
/// As [`gather`].
pub fn inquire(options: GatherOptions, inquiries: BTreeMap<ReleaseKey, Inquiry>) -> Result<Known, Error> {
    block_on(async {
        let sources = Arc::new(Sources::new(options, Threads::One));
        sources.inquire(inquiries).await
    })
}

/// What is known of some locked releases, and then copies of those packages that `choose` wants by what is known.
///
/// # Errors
///
/// As [`gather`]. Copies that are whole by then stay.
pub fn copy(
    options: GatherOptions,
    inquiries: BTreeMap<ReleaseKey, Inquiry>,
    choose: impl FnOnce(Known) -> BTreeMap<PackageKey, CopyOrder>,
) -> Result<BTreeMap<PackageKey, CopyAnswer>, Error> {
    block_on(async {
        let sources = Arc::new(Sources::new(options, Threads::One));
        let known = sources.inquire(inquiries).await;
        sources.copies(choose(known)).await
    })
}

/// The versions that some providers have, by their sources.
///
/// # Errors
///
/// As [`gather`].
pub fn versions(
    options: GatherOptions,
    providers: BTreeSet<ProviderAddr>,
) -> Result<BTreeMap<ProviderAddr, Result<Vec<Version>, Refusal>>, Error> {
    block_on(async {
        let sources = Arc::new(Sources::new(options, Threads::One));
        sources.versions(providers).await
    })
}

/// Writes entries into a shared index, where they are not there.
///
/// # Errors
///
/// As [`gather`], and the first entry that could not be read or written.
pub fn publish(stores: IndexStores, place: IndexPlace, entries: Vec<IndexEntry>) -> Result<Published, Error> {
    block_on(Arc::new(stores).publish(place, entries))?
}

/// Runs until there is an answer or Ctrl-C.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}")))?;
    let done = runtime.block_on(async {
        tokio::select! {
            answer = work => Ok(answer),
            // An error means that there is no such signal here; then nothing interrupts.
            Ok(()) = tokio::signal::ctrl_c() => Err(interrupted()),
        }
    });
    // Hashing in flight must not hold up the end of an interrupted run.
    runtime.shutdown_background();
    done
}

/// Root modules asked about at once: more questions than any host has permits for, and so few that a thousand root
/// modules need hardly more memory than fifty. A question in flight takes about 17 KB.
const ROOTS_ABREAST: usize = 32;

async fn all(sources: &Arc<Sources>, roots: &[&BTreeMap<ProviderAddr, Step>]) -> Vec<BTreeMap<ProviderAddr, Answer>> {
    let permits = Arc::new(Semaphore::new(ROOTS_ABREAST));
    let mut tasks = JoinSet::new();
    for (at, steps) in roots.iter().enumerate() {
        let (sources, steps, permits) = (Arc::clone(sources), (*steps).clone(), Arc::clone(&permits));
        tasks.spawn(async move {
            // Nobody closes the semaphore.
            let _permit = permits.acquire_owned().await;
            (at, sources.gather(&steps).await)
        });
    }
    let answers: BTreeMap<usize, _> = tasks.join_all().await.into_iter().collect();
    answers.into_values().collect()
}

/// With fewer packages than cores one archive gets two threads; else each core has an archive of its own.
fn threads(roots: &[&BTreeMap<ProviderAddr, Step>]) -> Threads {
    let packages: usize = roots.iter().flat_map(|steps| steps.values()).map(|step| step.platforms.len()).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if packages < cores { Threads::Two } else { Threads::One }
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted; no lock file was changed")
}

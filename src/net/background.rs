//! The threads that contact servers, and jobs that several callers share.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;

use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, Interrupted};

/// How long work that a signal cut off may take to clear up.
const CLEARING: Duration = Duration::from_millis(250);

/// The only runtime of a run, so all requests share connections; built on first use.
#[derive(Debug, Default)]
pub struct Background {
    runtime: OnceLock<Result<Runtime, Error>>,
    interrupt: Interrupt,
    over: Shutdown,
}

/// Set when a run ends, to distinguish failures caused by stopping its threads from real ones.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(Arc<AtomicBool>);

impl Shutdown {
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn notify(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Background {
    pub fn new(interrupt: Interrupt) -> Self {
        Self { runtime: OnceLock::new(), interrupt, over: Shutdown::default() }
    }

    /// Runs until `work` completes or the run is interrupted. After that no work begins.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.runtime()?.block_on(or_interrupted(work, self.interrupt.clone(), self.over.clone()))
    }

    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    pub fn over(&self) -> Shutdown {
        self.over.clone()
    }

    /// Starts work and passes its result, or the error of [`Self::run`], to `done`.
    pub fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(Result<T, Error>) + Send + 'static,
    ) {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("the request failed: {problem}"));
        match self.runtime() {
            Ok(runtime) => {
                let work = runtime.spawn(or_interrupted(work, self.interrupt.clone(), self.over.clone()));
                drop(runtime.spawn(async move { done(work.await.unwrap_or_else(|problem| Err(failed(problem)))) }));
            }
            Err(error) => done(Err(error)),
        }
    }

    fn runtime(&self) -> Result<&Runtime, Error> {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}"));
        let build = || {
            self.interrupt.catch_signals();
            Builder::new_multi_thread().enable_all().build().map_err(failed)
        };
        self.runtime.get_or_init(build).as_ref().map_err(Clone::clone)
    }
}

async fn or_interrupted<T>(work: impl Future<Output = T>, interrupt: Interrupt, over: Shutdown) -> Result<T, Error> {
    tokio::select! {
        // In this order: of work that begins after a signal not even the first step is done.
        biased;
        () = interrupt.requested() => {
            over.notify();
            Err(Interrupted.into())
        }
        answer = work => Ok(answer),
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Work in progress, such as hashing an archive, must not delay the end of a run.
        self.over.notify();
        match self.runtime.take() {
            // What is cut off removes its temporary files, before the process ends.
            Some(Ok(runtime)) if self.interrupt.is_requested() => runtime.shutdown_timeout(CLEARING),
            Some(Ok(runtime)) => runtime.shutdown_background(),
            _ => {}
        }
    }
}

/// Runs one job per key; later callers wait for its answer and share it.
///
/// With a `Result` as value, failures are shared too, so a dead host is contacted once per run. If the caller whose job
/// is running is dropped, the next caller runs its own job.
#[derive(Debug)]
pub struct Shared<K, V> {
    cells: Mutex<HashMap<K, Arc<OnceCell<V>>>>,
}

impl<K, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self { cells: Mutex::default() }
    }
}

impl<K: Eq + Hash, V: Clone> Shared<K, V> {
    pub fn new() -> Self {
        Self::default()
    }

    /// The answer for a key; runs the job only if there is no answer yet and no other job is running.
    pub async fn answer(&self, key: K, job: impl Future<Output = V>) -> V {
        // A poisoned lock is safe to use: no code under it can leave the map half changed.
        let cell = self.cells.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        cell.get_or_init(|| job).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_requests_share_one_job() {
        let shared = Shared::<&str, Result<u32, String>>::new();
        let runs = AtomicUsize::new(0);
        let job = async |answer| {
            runs.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            answer
        };
        let failure = Err("dead".to_owned());
        let (first, second) = tokio::join!(shared.answer("a", job(failure.clone())), shared.answer("a", job(Ok(1))));
        assert_eq!((&first, &second), (&failure, &failure));
        assert_eq!(shared.answer("a", job(Ok(2))).await, failure);
        assert_eq!(shared.answer("b", job(Ok(3))).await, Ok(3));
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_cancelled_request_leaves_no_hole() {
        let shared = Shared::<u8, u32>::new();
        let stuck = shared.answer(1, std::future::pending());
        tokio::select! {
            biased;
            _ = stuck => unreachable!("pending"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(shared.answer(1, async { 7 }).await, 7);
    }
}

//! The threads that contact servers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

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

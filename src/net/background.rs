//! The threads on which servers are asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, ErrorKind};

/// The only runtime of a run, so that all its questions share connections; built when the first one is asked.
#[derive(Debug, Default)]
pub struct Background {
    runtime: OnceLock<Result<Runtime, Error>>,
    over: Shutdown,
}

/// Tells whether a run is over, so that what fails from then on fails because its threads end.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(Arc<AtomicBool>);

impl Shutdown {
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Background {
    /// Works until there is an answer or Ctrl-C.
    pub fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        self.runtime()?.block_on(or_interrupted(work, self.over.clone()))
    }

    /// Whether the run is over, to be asked at any time.
    pub fn over(&self) -> Shutdown {
        self.over.clone()
    }

    /// Begins work, and hands over later what comes of it, or as an error what [`Self::run`] would have told.
    pub fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        done: impl FnOnce(Result<T, Error>) + Send + 'static,
    ) {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("the request failed: {problem}"));
        match self.runtime() {
            Ok(runtime) => {
                let work = runtime.spawn(or_interrupted(work, self.over.clone()));
                drop(runtime.spawn(async move { done(work.await.unwrap_or_else(|problem| Err(failed(problem)))) }));
            }
            Err(error) => done(Err(error)),
        }
    }

    fn runtime(&self) -> Result<&Runtime, Error> {
        let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}"));
        let build = || Builder::new_multi_thread().enable_all().build().map_err(failed);
        self.runtime.get_or_init(build).as_ref().map_err(Clone::clone)
    }
}

async fn or_interrupted<T>(work: impl Future<Output = T>, over: Shutdown) -> Result<T, Error> {
    tokio::select! {
        answer = work => Ok(answer),
        // An error means that there is no such signal here; then nothing interrupts.
        Ok(()) = tokio::signal::ctrl_c() => {
            over.tell();
            Err(Error::new(ErrorKind::Interrupted, "interrupted; no lock file was changed"))
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // What is still under way, such as the hashing of an archive, must not hold up the end of a run.
        self.over.tell();
        if let Some(Ok(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

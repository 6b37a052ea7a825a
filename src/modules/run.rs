//! Fetching for callers without a runtime.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::fetch::{Fetched, Fetcher};
use super::wanted::Wanted;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::modulelock::{Offered, Pin, Served};

type Made = Result<Arc<Fetcher>, Error>;

/// Fetches modules. Nothing is set up before the first one is asked for.
pub struct ModuleService {
    make: Box<dyn Fn(Dialect) -> Result<Fetcher, Error> + Send + Sync>,
    runtime: OnceLock<Result<Background, Error>>,
    /// By tool, for each has its own CLI configuration.
    fetchers: [OnceLock<Made>; 2],
}

/// A runtime that is not waited for in the end.
struct Background(Option<Runtime>);

impl ModuleService {
    /// A service that makes its fetcher when it is needed.
    pub fn new(make: impl Fn(Dialect) -> Result<Fetcher, Error> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), runtime: OnceLock::new(), fetchers: Default::default() }
    }

    /// The modules, in the order asked for; all at once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Interrupted`] on Ctrl-C, and what keeps everything from being fetched, such as CLI configuration that
    /// cannot be read.
    pub fn fetch(&self, dialect: Dialect, wanted: Vec<Wanted>) -> Result<Vec<Result<Fetched, Error>>, Error> {
        self.each(dialect, wanted, |fetcher, wanted| async move { fetcher.fetch(&wanted).await })
    }

    /// What the sources of calls serve now in the place of what is locked for them, in the order asked for; all at once.
    ///
    /// # Errors
    ///
    /// As [`Self::fetch`].
    pub fn served(&self, dialect: Dialect, wanted: Vec<(Wanted, Pin)>) -> Result<Vec<Result<Served, Error>>, Error> {
        self.each(dialect, wanted, |fetcher, (wanted, pin)| async move { fetcher.served(&wanted, &pin).await })
    }

    /// What the sources of calls offer now, in the order asked for; all at once.
    ///
    /// # Errors
    ///
    /// As [`Self::fetch`].
    pub fn offered(&self, dialect: Dialect, wanted: Vec<Wanted>) -> Result<Vec<Result<Offered, Error>>, Error> {
        self.each(dialect, wanted, |fetcher, wanted| async move { fetcher.offered(&wanted).await })
    }

    fn each<Q: Send + 'static, A: Send + 'static, F>(
        &self,
        dialect: Dialect,
        questions: Vec<Q>,
        answer: impl Fn(Arc<Fetcher>, Q) -> F,
    ) -> Result<Vec<Result<A, Error>>, Error>
    where
        F: Future<Output = Result<A, Error>> + Send + 'static,
    {
        let of_tool = &self.fetchers[usize::from(dialect == Dialect::OpenTofu)];
        let fetcher = of_tool.get_or_init(|| (self.make)(dialect).map(Arc::new)).as_ref().map_err(Clone::clone)?;
        let background = self.runtime.get_or_init(start).as_ref().map_err(Clone::clone)?;
        let Some(runtime) = &background.0 else { return Ok(Vec::new()) };
        runtime.block_on(async {
            tokio::select! {
                answers = all(questions.into_iter().map(|question| answer(Arc::clone(fetcher), question))) => Ok(answers),
                // An error means that there is no such signal here; then nothing interrupts.
                Ok(()) = tokio::signal::ctrl_c() => {
                    Err(Error::new(ErrorKind::Interrupted, "interrupted; no lock file was changed"))
                }
            }
        })
    }
}

fn start() -> Result<Background, Error> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    let failed = |problem| Error::new(ErrorKind::Disk, format!("cannot start the network runtime: {problem}"));
    runtime.map(|runtime| Background(Some(runtime))).map_err(failed)
}

impl Drop for Background {
    fn drop(&mut self) {
        // What is still under way after an interruption must not hold up the end.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

async fn all<A: Send + 'static>(
    jobs: impl Iterator<Item = impl Future<Output = Result<A, Error>> + Send + 'static>,
) -> Vec<Result<A, Error>> {
    let mut tasks = JoinSet::new();
    for (at, job) in jobs.enumerate() {
        tasks.spawn(async move { (at, job.await) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

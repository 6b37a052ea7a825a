//! Fetching for callers without a runtime.

use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::fetch::{Fetched, Fetcher, Wanted};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};

type Made = Result<Arc<Fetcher>, Error>;

/// Fetches modules. Nothing is set up before the first one is asked for.
pub struct ModuleService {
    make: Box<dyn Fn(Dialect) -> Result<Fetcher, Error> + Send + Sync>,
    runtime: OnceLock<Result<Background, Error>>,
    /// By tool, for each has its own CLI configuration.
    fetchers: [OnceLock<Made>; 2],
}

/// A runtime that nobody waits for in the end.
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
        let of_tool = &self.fetchers[usize::from(dialect == Dialect::OpenTofu)];
        let fetcher = of_tool.get_or_init(|| (self.make)(dialect).map(Arc::new)).as_ref().map_err(Clone::clone)?;
        let background = self.runtime.get_or_init(start).as_ref().map_err(Clone::clone)?;
        let Some(runtime) = &background.0 else { return Ok(Vec::new()) };
        runtime.block_on(async {
            tokio::select! {
                answers = all(fetcher, wanted) => Ok(answers),
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

async fn all(fetcher: &Arc<Fetcher>, wanted: Vec<Wanted>) -> Vec<Result<Fetched, Error>> {
    let mut tasks = JoinSet::new();
    for (at, call) in wanted.into_iter().enumerate() {
        let fetcher = Arc::clone(fetcher);
        tasks.spawn(async move { (at, fetcher.fetch(&call).await) });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

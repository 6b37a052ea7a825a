//! Fetching for callers without a runtime.

use std::sync::{Arc, OnceLock};

use super::fetch::{Fetched, Fetcher};
use super::wanted::Wanted;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::modulelock::{Offered, Pin, Served};
use crate::net::Background;
use crate::parallel::spawn_all;

type Made = Result<Arc<Fetcher>, Error>;

/// Fetches modules. Nothing is set up before the first one is asked for.
pub struct ModuleService {
    make: Box<dyn Fn(Dialect) -> Result<Fetcher, Error> + Send + Sync>,
    background: Arc<Background>,
    /// By tool, for each has its own CLI configuration.
    fetchers: [OnceLock<Made>; 2],
}

impl ModuleService {
    /// A service that makes its fetcher when it is needed.
    pub fn new(
        background: Arc<Background>,
        make: impl Fn(Dialect) -> Result<Fetcher, Error> + Send + Sync + 'static,
    ) -> Self {
        Self { make: Box::new(make), background, fetchers: Default::default() }
    }

    /// Begins to fetch a module. What comes of it is handed over later, on another thread; after Ctrl-C that is
    /// [`ErrorKind::Interrupted`](crate::error::ErrorKind::Interrupted).
    pub fn begin(&self, dialect: Dialect, wanted: Wanted, done: impl FnOnce(Result<Fetched, Error>) + Send + 'static) {
        match self.fetcher(dialect) {
            Ok(fetcher) => {
                self.background.begin(async move { fetcher.fetch(&wanted).await }, |fetched| done(fetched.flatten()));
            }
            Err(error) => done(Err(error)),
        }
    }

    /// What the sources of calls serve now in the place of what is locked for them, in the order asked for; all at once.
    pub fn served(&self, dialect: Dialect, wanted: Vec<(Wanted, Pin)>) -> Result<Vec<Result<Served, Error>>, Error> {
        self.each(dialect, wanted, |fetcher, (wanted, pin)| async move { fetcher.served(&wanted, &pin).await })
    }

    /// What the sources of calls offer now, in the order asked for; all at once.
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
        let fetcher = self.fetcher(dialect)?;
        self.background.run(spawn_all(questions.into_iter().map(|question| answer(Arc::clone(&fetcher), question))))
    }

    fn fetcher(&self, dialect: Dialect) -> Made {
        let of_tool = &self.fetchers[usize::from(dialect == Dialect::OpenTofu)];
        of_tool.get_or_init(|| (self.make)(dialect).map(Arc::new)).clone()
    }
}

//! Fetching for callers without a runtime.

use std::sync::{Arc, OnceLock};

use super::fetch::Fetcher;
use super::wanted::Wanted;
use crate::dialect::Dialect;
use crate::disk::roots::{FetchModules, Handler, ModuleRequest, ModuleTerms};
use crate::error::Error;
use crate::modulelock::{Offered, Pin, Served};
use crate::net::Background;
use crate::parallel::spawn_all;

type Made = Result<Arc<Fetcher>, Error>;

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

    fn each<Q: Send + 'static, A: Send + 'static, F>(
        &self,
        dialect: Dialect,
        questions: Vec<Q>,
        answer: impl Fn(Arc<Fetcher>, Q) -> F,
    ) -> Vec<Result<A, Error>>
    where
        F: Future<Output = Result<A, Error>> + Send + 'static,
    {
        let count = questions.len();
        let answers = self.fetcher(dialect).and_then(|fetcher| {
            let each = questions.into_iter().map(|question| answer(Arc::clone(&fetcher), question));
            self.background.run(spawn_all(each))
        });
        answers.unwrap_or_else(|error| std::iter::repeat_with(|| Err(error.clone())).take(count).collect())
    }

    fn fetcher(&self, dialect: Dialect) -> Made {
        let of_tool = &self.fetchers[usize::from(dialect == Dialect::OpenTofu)];
        of_tool.get_or_init(|| (self.make)(dialect).map(Arc::new)).clone()
    }
}

impl FetchModules for ModuleService {
    /// After Ctrl-C what comes of it is [`ErrorKind::Interrupted`](crate::error::ErrorKind::Interrupted).
    fn begin(&self, terms: &ModuleTerms, request: &ModuleRequest, handler: Handler) {
        let wanted = Wanted::of(terms, request);
        match self.fetcher(terms.dialect) {
            Ok(fetcher) => {
                self.background
                    .begin(async move { fetcher.fetch(&wanted).await }, |fetched| handler(fetched.flatten()));
            }
            Err(error) => handler(Err(error)),
        }
    }

    fn served(&self, terms: &ModuleTerms, requests: &[(ModuleRequest, Pin)]) -> Vec<Result<Served, Error>> {
        let wanted = requests.iter().map(|(request, pin)| (Wanted::of(terms, request), pin.clone())).collect();
        self.each(terms.dialect, wanted, |fetcher, (wanted, pin)| async move { fetcher.served(&wanted, &pin).await })
    }

    fn offered(&self, terms: &ModuleTerms, requests: &[ModuleRequest]) -> Vec<Result<Offered, Error>> {
        let wanted = requests.iter().map(|request| Wanted::of(terms, request)).collect();
        self.each(terms.dialect, wanted, |fetcher, wanted| async move { fetcher.offered(&wanted).await })
    }
}

//! Remote modules: where they come from, and how they get onto this machine.
//!
//! Answers of registries, git servers and archives are bounded in size and time as honest ones are: nothing
//! outside of a folder of ours, no token to another host. A package is fetched once and kept in the user's cache; what may
//! change (what a registry lists, where a branch is) is requested again after ten minutes.
//!
//! This file has the service for callers without a runtime, and their requests.
//!
//! Source: `internal/initwd/module_install.go`, `internal/getmodules`, `internal/registry` of both tools.

#![expect(clippy::disallowed_methods, reason = "packages are laid out in the user's cache here")]

mod address;
mod archive;
mod fetch;
mod git;
mod git_package;
mod layout;
mod package;
mod refusals;
mod registry;
mod store;
mod unpack;
mod wanted;

use std::sync::{Arc, OnceLock};

use crate::dialect::Dialect;
use crate::disk::roots::{FetchModules, Handler, ModuleRequest, ModuleTerms};
use crate::error::Error;
use crate::modulelock::{ModulePin, Offered, Served};
use crate::net::Background;
use crate::parallel::spawn_all;

pub use fetch::{Fetcher, FetcherOptions};
pub use layout::{copy_package, differences, is_laid_out};
pub use registry::{ModuleRegistry, Netrc};
pub use store::Store;
#[doc(hidden)]
pub use unpack::read_package;

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
    /// After Ctrl-C what comes of it is an interruption.
    fn begin(&self, terms: &ModuleTerms, request: &ModuleRequest, handler: Handler) {
        match self.fetcher(terms.dialect) {
            Ok(fetcher) => {
                let wanted = fetcher.wanted(terms, request);
                self.background
                    .begin(async move { fetcher.fetch(&wanted).await }, |fetched| handler(fetched.flatten()));
            }
            Err(error) => handler(Err(error)),
        }
    }

    fn served(&self, terms: &ModuleTerms, requests: &[(ModuleRequest, ModulePin)]) -> Vec<Result<Served, Error>> {
        self.each(terms.dialect, requests.to_vec(), |fetcher, (request, pin)| {
            let wanted = fetcher.wanted(terms, &request);
            async move { fetcher.served(&wanted, &pin).await }
        })
    }

    fn offered(&self, terms: &ModuleTerms, requests: &[ModuleRequest]) -> Vec<Result<Offered, Error>> {
        self.each(terms.dialect, requests.to_vec(), |fetcher, request| {
            let wanted = fetcher.wanted(terms, &request);
            async move { fetcher.offered(&wanted).await }
        })
    }
}

#[cfg(test)]
mod hanging_tests;

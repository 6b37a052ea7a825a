//! Remote modules: where they come from, and how they get onto this machine.
//!
//! Answers of registries, git servers and archives are bounded in size and time as honest ones are: nothing
//! outside of a folder of ours, no token to another host. A package is fetched once and kept in the user's cache; what may
//! change (what a registry lists, where a branch is) is requested again after ten minutes.
//!
//! This file has the service for callers without a runtime, their requests, and how answers are checked.
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
mod registry;
mod store;
mod unpack;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use url::Url;

use crate::addr::Hostname;
use crate::config::{ModuleSource, host_of, is_root_configuration};
use crate::dialect::Dialect;
use crate::disk::roots::{FetchModules, FetchedModule, Handler, ModuleRequest, ModuleTerms};
use crate::error::{Error, ErrorKind};
use crate::hash::PackageHash;
use crate::modulelock::{ModuleContent, ModulePin, Offered, Served};
use crate::net::Background;
use crate::parallel::spawn_all;
use crate::settings::allow_module_host;
use crate::version::ModuleConstraints;
use address::expand;
use fetch::Placed;
use store::{PackageRecord, StoredModule};

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
    /// After Ctrl-C what comes of it is [`ErrorKind::Interrupted`].
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

    fn served(&self, terms: &ModuleTerms, requests: &[(ModuleRequest, ModulePin)]) -> Vec<Result<Served, Error>> {
        let wanted = requests.iter().map(|(request, pin)| (Wanted::of(terms, request), pin.clone())).collect();
        self.each(terms.dialect, wanted, |fetcher, (wanted, pin)| async move { fetcher.served(&wanted, &pin).await })
    }

    fn offered(&self, terms: &ModuleTerms, requests: &[ModuleRequest]) -> Vec<Result<Offered, Error>> {
        let wanted = requests.iter().map(|request| Wanted::of(terms, request)).collect();
        self.each(terms.dialect, wanted, |fetcher, wanted| async move { fetcher.offered(&wanted).await })
    }
}

#[derive(Debug, Clone)]
pub struct Wanted {
    /// The source, which is not local.
    pub source: ModuleSource,
    pub constraints: Option<ModuleConstraints>,
    pub pin: Option<ModulePin>,
    /// True if the whole package is wanted, and not only its configuration.
    pub whole: bool,
    /// True if what was learnt a while ago does not count.
    pub fresh: bool,
    pub dialect: Dialect,
    hosts: ModuleHosts,
    /// The working tree of the root module, in which a git source may name a repository.
    pub work_tree: Option<PathBuf>,
}

/// The key of a result, and the policy under which it was fetched.
type FetchKey = (String, ModuleHosts);

/// The hosts that modules may come from, by policy; none for any.
type ModuleHosts = Option<BTreeSet<Hostname>>;

impl Wanted {
    fn of(terms: &ModuleTerms, request: &ModuleRequest) -> Self {
        Self {
            source: request.source.clone(),
            constraints: request.constraints.clone(),
            pin: request.pin.clone(),
            whole: terms.whole,
            fresh: terms.fresh,
            dialect: terms.dialect,
            hosts: terms.hosts.clone(),
            work_tree: Some(terms.work_tree.clone()),
        }
    }

    /// What distinguishes packages from one place.
    fn kind(&self) -> String {
        // What was kept before was not examined for all by which tools could install something else.
        let whole = if self.whole { " examined" } else { "" };
        let locked = self.pin.as_ref().map(|pin| format!(" {}", pin.content.hash));
        format!("{whole}{}", locked.unwrap_or_default())
    }

    /// A key of results that calls under the same policy share: other calls may be refused what these get.
    fn shared(&self, key: &str) -> FetchKey {
        (key.to_owned(), self.hosts.clone())
    }

    fn commit(&self) -> Option<&str> {
        self.pin.as_ref()?.content.commit.as_deref()
    }

    /// True if a package is the one that is locked, if one is.
    fn is_content(&self, package: &StoredModule) -> bool {
        let PackageRecord { hash, commit, .. } = &package.record;
        let is_locked = |content: &ModuleContent| {
            hash.as_deref() == Some(content.hash.as_str()) && (content.commit.is_none() || content.commit == *commit)
        };
        let locked = self.pin.as_ref().filter(|_| self.whole);
        locked.is_none_or(|pin| is_locked(&pin.content))
    }

    /// Refuses a package that is not the one that is locked, or that cannot be locked though it is wanted for that.
    fn held(&self, package: &StoredModule) -> Result<(), Error> {
        if self.whole {
            package.record.lockable()?;
        }
        if self.is_content(package) {
            return Ok(());
        }
        let locked = self.pin.as_ref().map(|pin| pin.content.hash.to_string()).unwrap_or_default();
        let PackageRecord { source, hash, .. } = &package.record;
        let served = hash.clone().unwrap_or_default();
        let message = format!(
            "the module package from {source} is not the one that is locked: served is {served}, locked {locked}"
        );
        Err(Error::new(ErrorKind::Trust, message)
            .about_url(source)
            .hint(step!("ask its publisher why; `tflock upgrade --modules` locks what is served now")))
    }

    /// A module in a package.
    fn fetched(&self, placed: &Placed, subdir: &str, shown: String) -> Result<FetchedModule, Error> {
        let Placed { package, hosts, location, ambiguity, .. } = placed;
        hosts.iter().chain(&package.record.hosts).try_for_each(|host| allow_module_host(self.hosts.as_ref(), host))?;
        let dir = expand(&package.tree, subdir, &shown)?;
        let hash = package.record.hash.as_ref().and_then(|hash| hash.parse::<PackageHash>().ok());
        // What is locked stays unchanged recorded, wherever a registry places it now; unless nothing is recorded of that.
        let locked = self.pin.as_ref().map(|pin| pin.content.clone());
        let locked = locked.map(|content| ModuleContent {
            location: content.location.clone().or_else(|| location.clone()),
            ..content
        });
        let served = || {
            let commit = package.record.commit.clone();
            hash.filter(|_| self.whole).map(|hash| ModuleContent { location: location.clone(), commit, hash })
        };
        let content = locked.or_else(served);
        let ambiguity = ambiguity.as_ref().or(package.record.ambiguity.as_ref()).filter(|_| self.whole).cloned();
        Ok(FetchedModule { dir, package: package.tree.clone(), version: None, shown, content, ambiguity })
    }
}

/// Refuses the host of a URL that policy does not name; a file has none.
fn allow_url(hosts: Option<&BTreeSet<Hostname>>, url: &Url) -> Result<(), Error> {
    host_of(url).map_or(Ok(()), |host| allow_module_host(hosts, &host))
}

#[cfg(test)]
mod hanging_tests;

//! What is requested of one module, and how the answer is checked.

use std::path::PathBuf;

use super::address::expand;
use super::refusals::ModuleHosts;
use super::store::{PackageRecord, StoredModule};
use crate::config::ModuleSource;
use crate::dialect::Dialect;
use crate::disk::roots::{FetchedModule, ModuleRequest, ModuleTerms};
use crate::error::{Error, ErrorKind};
use crate::hash::PackageHash;
use crate::modulelock::{Ambiguity, ModuleContent, ModulePin};
use crate::settings::allow_module_host;
use crate::version::ModuleConstraints;

/// A package, and the path of the module in it, as its source gives it.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) package: StoredModule,
    pub(super) subdir: String,
    /// The hosts that said so.
    pub(super) hosts: Vec<String>,
    pub(super) location: Option<String>,
    /// Why its address could name a different package.
    pub(super) ambiguity: Option<Ambiguity>,
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
    pub(super) hosts: ModuleHosts,
    /// The working tree of the root module, in which a git source may name a repository.
    pub work_tree: Option<PathBuf>,
}

/// The key of a result, and the policy under which it was fetched.
pub(super) type FetchKey = (String, ModuleHosts);

impl Wanted {
    pub(super) fn of(terms: &ModuleTerms, request: &ModuleRequest) -> Self {
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
    pub(super) fn kind(&self) -> String {
        // What was kept before was not examined for all by which tools could install something else.
        let whole = if self.whole { " examined" } else { "" };
        let locked = self.pin.as_ref().map(|pin| format!(" {}", pin.content.hash));
        format!("{whole}{}", locked.unwrap_or_default())
    }

    /// A key of results that calls under the same policy share: other calls may be refused what these get.
    pub(super) fn shared(&self, key: &str) -> FetchKey {
        (key.to_owned(), self.hosts.clone())
    }

    pub(super) fn commit(&self) -> Option<&str> {
        self.pin.as_ref()?.content.commit.as_deref()
    }

    /// True if a package is the one that is locked, if one is.
    pub(super) fn is_content(&self, package: &StoredModule) -> bool {
        let PackageRecord { hash, commit, .. } = &package.record;
        let is_locked = |content: &ModuleContent| {
            hash.as_deref() == Some(content.hash.as_str()) && (content.commit.is_none() || content.commit == *commit)
        };
        let locked = self.pin.as_ref().filter(|_| self.whole);
        locked.is_none_or(|pin| is_locked(&pin.content))
    }

    /// Refuses a package that is not the one that is locked, or that cannot be locked though it is wanted for that.
    pub(super) fn held(&self, package: &StoredModule) -> Result<(), Error> {
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
    pub(super) fn fetched(&self, placed: &Placed, subdir: &str, shown: String) -> Result<FetchedModule, Error> {
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

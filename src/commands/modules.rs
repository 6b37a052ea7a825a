//! Access of a run to modules.

use std::sync::Arc;

use super::Online;
use super::services::cache_for;
use super::sources::oci_client;
use crate::dialect::Dialect;
use crate::disk::roots::ModuleFetch;
use crate::error::Error;
use crate::modules::{Fetcher, FetcherOptions, ModuleRegistry, ModuleService, Netrc, Store};
use crate::workspace::Scope;

/// Fetches modules for all root modules of a run, each once; with `--offline` only cached ones.
pub fn module_fetch(scope: &Scope, online: &Arc<Online>) -> ModuleFetch {
    let (scope, background, online) = (scope.clone(), Arc::clone(&online.background), Arc::clone(online));
    Arc::new(ModuleService::new(background, move |dialect| fetcher(&scope, &online, dialect)))
}

fn fetcher(scope: &Scope, online: &Online, dialect: Dialect) -> Result<Fetcher, Error> {
    let environment = &scope.environment;
    let cache = cache_for(scope, &scope.directories());
    let store = Store::open(cache.dir(), environment.now)?;
    let access = online.access(dialect)?;
    let (discovery, credentials) = (Arc::clone(&access.discovery), Arc::clone(&access.credentials));
    let registry = ModuleRegistry::new(access.client.clone(), discovery, credentials);
    let oci = oci_client(access.client.clone(), &access.config, scope);
    let netrc = Netrc::of_user(&environment.variables);
    let options = FetcherOptions { offline: scope.offline, netrc, ..FetcherOptions::new(oci) };
    Ok(Fetcher::new(access.client.clone(), registry, store, options))
}

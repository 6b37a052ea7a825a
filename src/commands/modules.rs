//! Access of a run to modules.

use std::sync::Arc;

use super::Online;
use super::services::cache_for;
use crate::dialect::Dialect;
use crate::disk::roots::ModuleFetch;
use crate::error::Error;
use crate::modules::{Fetcher, FetcherOptions, ModuleRegistry, ModuleService, Netrc, Store};
use crate::source::Connection;
use crate::source::oci::OciClient;
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
    let Connection { client, discovery, credentials, oci } = access.connection.clone();
    let registry = ModuleRegistry::new(client.clone(), discovery, credentials);
    let oci = OciClient::new(client.clone(), oci);
    let netrc = Netrc::of_user(&environment.variables);
    let interrupt = online.background.interrupt();
    let options = FetcherOptions { offline: scope.offline, netrc, interrupt, ..FetcherOptions::new(oci) };
    Ok(Fetcher::new(client, registry, store, options))
}

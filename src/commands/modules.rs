//! Where a run may ask for modules.

use std::sync::Arc;

use super::services::cache_for;
use super::sources::{oci_client, watch};
use crate::ask::Events;
use crate::dialect::Dialect;
use crate::disk::cli_config::CliConfig;
use crate::disk::roots::{FetchedModule, ModuleFetch, ModuleRequest, ModuleTerms};
use crate::error::Error;
use crate::modulelock::Pin;
use crate::modules::{
    Fetched, Fetcher, FetcherOptions, ModuleHosts, ModuleRegistry, ModuleService, Netrc, Store, Wanted,
};
use crate::net::{Client, ClientOptions, Credentials, Discovery};
use crate::workspace::Scope;

/// Fetches modules for all root modules of a run, each once; offline only those that were fetched before.
pub fn module_fetch(scope: &Scope, events: &Events) -> ModuleFetch {
    let (scope, events) = (scope.clone(), events.clone());
    let service = Arc::new(ModuleService::new(move |dialect| fetcher(&scope, &events, dialect)));
    let (inquirer, lister) = (Arc::clone(&service), Arc::clone(&service));
    let fetch = move |terms: &ModuleTerms, requests: &[ModuleRequest]| {
        let questions = requests.iter().map(|request| wanted(terms, request)).collect();
        match service.fetch(terms.dialect, questions) {
            Ok(fetched) => fetched.into_iter().map(|fetched| fetched.map(placed)).collect(),
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    };
    let inquire = move |terms: &ModuleTerms, requests: &[(ModuleRequest, Pin)]| {
        let questions = requests.iter().map(|(request, pin)| (wanted(terms, request), pin.clone())).collect();
        match inquirer.served(terms.dialect, questions) {
            Ok(served) => served,
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    };
    let offer = move |terms: &ModuleTerms, requests: &[ModuleRequest]| {
        let questions = requests.iter().map(|request| wanted(terms, request)).collect();
        match lister.offered(terms.dialect, questions) {
            Ok(offered) => offered,
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    };
    ModuleFetch::new(fetch, inquire, offer)
}

fn wanted(terms: &ModuleTerms, request: &ModuleRequest) -> Wanted {
    Wanted {
        source: request.source.clone(),
        constraints: request.constraints.clone(),
        pin: request.pin.clone(),
        whole: terms.whole,
        fresh: terms.fresh,
        dialect: terms.dialect,
        hosts: ModuleHosts(terms.hosts.clone()),
        work_tree: Some(terms.work_tree.clone()),
    }
}

fn placed(fetched: Fetched) -> FetchedModule {
    let Fetched { dir, package, version, shown, content } = fetched;
    FetchedModule { dir, package, version, shown, content }
}

fn fetcher(scope: &Scope, events: &Events, dialect: Dialect) -> Result<Fetcher, Error> {
    let environment = &scope.environment;
    let cache = cache_for(scope, &scope.directories());
    let store = Store::open(cache.dir(), environment.now)?;
    let config = CliConfig::load(&environment.variables, dialect)?;
    let options = ClientOptions::configured(&environment.variables, config.registry_protocols);
    let client = Client::watched(options, watch(events));
    let credentials = Arc::new(Credentials::new(&environment.variables, &config));
    let oci = oci_client(client.clone(), &config, scope);
    let discovery = Discovery::new(client.clone(), Arc::clone(&credentials), config.hosts);
    let registry = ModuleRegistry::new(client.clone(), discovery, credentials);
    let netrc = Netrc::of_user(&environment.variables);
    let options = FetcherOptions { offline: scope.offline, netrc, ..FetcherOptions::new(oci) };
    Ok(Fetcher::new(client, registry, store, options))
}

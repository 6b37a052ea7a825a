//! Where a run may ask for modules.

use std::sync::Arc;

use super::Online;
use super::services::cache_for;
use super::sources::oci_client;
use crate::dialect::Dialect;
use crate::disk::roots::{FetchedModule, Handler, ModuleFetch, ModuleRequest, ModuleTerms};
use crate::error::Error;
use crate::modulelock::Pin;
use crate::modules::{
    Fetched, Fetcher, FetcherOptions, ModuleHosts, ModuleRegistry, ModuleService, Netrc, Store, Wanted,
};
use crate::workspace::Scope;

/// Fetches modules for all root modules of a run, each once; offline only those that were fetched before.
pub fn module_fetch(scope: &Scope, online: &Arc<Online>) -> ModuleFetch {
    let (scope, background, online) = (scope.clone(), Arc::clone(&online.background), Arc::clone(online));
    let service = Arc::new(ModuleService::new(background, move |dialect| fetcher(&scope, &online, dialect)));
    let (inquirer, lister) = (Arc::clone(&service), Arc::clone(&service));
    let fetch = move |terms: &ModuleTerms, request: ModuleRequest, handler: Handler| {
        service.begin(terms.dialect, wanted(terms, &request), |fetched| handler(fetched.map(placed)));
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
    let Fetched { dir, package, version, shown, content, ambiguity } = fetched;
    FetchedModule { dir, package, version, shown, content, ambiguity }
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

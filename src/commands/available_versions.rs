//! The versions of providers, named before anything is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lock::LockRoot;
use super::lock::requirements::OfferedVersions;
use super::sources::Sources;
use super::targets::Targets;
use super::{LockOptions, Services};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::query::Session;
use crate::query::question::{Answer, Query, Refusal};

/// An opened root module, with the versions that its sources have.
pub(super) struct Opened {
    pub(super) root: LockRoot,
    pub(super) offered: Arc<OfferedVersions>,
    /// The selected versions, for providers where more than the constraints decides; empty unless named.
    pub(super) choices: Choices,
    pub(super) warnings: Arc<Warnings>,
}

/// What registries warn of.
pub(super) type Warnings = BTreeMap<ProviderAddr, Arc<[String]>>;

pub(super) type Choices = BTreeMap<ProviderAddr, Answer>;

/// Opens the root modules and requests the versions of the providers that they require, except where the settings
/// forbid the host. With `choose`, also selects versions. The second value has notes for users.
pub(super) fn of_roots(
    targets: &Targets<'_>,
    options: &LockOptions,
    services: &Services<'_>,
    choose: bool,
) -> (Vec<Result<Opened, Error>>, Vec<String>) {
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let open = |at| LockRoot::open(&targets.settings(at)?, options, &cache);
    let roots: Vec<Result<LockRoot, Error>> = parallel::each(targets.paths.len(), parallel::cores(), open);
    services.events_for(targets.dialect());
    let named: Vec<BTreeSet<ProviderAddr>> =
        roots.iter().map(|root| root.as_ref().map(allowed).unwrap_or_default()).collect();
    let open = roots.iter().zip(&named).enumerate().filter(|(_, (_, named))| !named.is_empty());
    let open = open.filter_map(|(at, (root, named))| Some((at, &root.as_ref().ok()?.source, named.iter())));
    let sources = Sources::new(services, &cache);
    let mut answers = sources.query_groups(open, |session, members| {
        let of_all: BTreeSet<ProviderAddr> = members.iter().flat_map(|at| named[*at].iter().cloned()).collect();
        let offered = Arc::new(offered(session.as_ref(), of_all.clone())?);
        let warned = session.as_ref().filter(|_| choose);
        let warned = warned.map(|session| session.block_on(async |sources| sources.warnings(of_all).await));
        let warnings = Arc::new(warned.transpose()?.unwrap_or_default());
        let of_member = |at: &usize| {
            let queries = match &roots[*at] {
                Ok(root) if choose => queries(root, &named[*at]),
                _ => BTreeMap::new(),
            };
            Ok((Arc::clone(&offered), choices(session.as_ref(), &queries)?, Arc::clone(&warnings)))
        };
        members.iter().map(of_member).collect()
    });
    let opened = roots.into_iter().enumerate().map(|(at, root)| {
        let (offered, choices, warnings) = answers.remove(&at).unwrap_or_else(|| Ok(Default::default()))?;
        Ok(Opened { root: root?, offered, choices, warnings })
    });
    (opened.collect(), sources.notes())
}

fn allowed(root: &LockRoot) -> BTreeSet<ProviderAddr> {
    let forbidden: BTreeSet<ProviderAddr> = root.forbidden().into_iter().filter_map(|it| it.address).collect();
    root.requested().into_iter().filter(|addr| !forbidden.contains(addr)).collect()
}

fn queries(root: &LockRoot, named: &BTreeSet<ProviderAddr>) -> BTreeMap<ProviderAddr, Query> {
    named.iter().filter_map(|addr| Some((addr.clone(), root.selection(addr)?))).collect()
}

/// Selects versions; earlier answers of the source are reused.
fn choices(session: Option<&Session>, queries: &BTreeMap<ProviderAddr, Query>) -> Result<Choices, Error> {
    match session.filter(|_| !queries.is_empty()) {
        Some(session) => session.block_on(async |sources| sources.answers(&[queries]).await.pop().unwrap_or_default()),
        None => Ok(Choices::new()),
    }
}

fn offered(session: Option<&Session>, providers: BTreeSet<ProviderAddr>) -> Result<OfferedVersions, Error> {
    let Some(session) = session else {
        let message = "only the registries know which versions exist, and --offline forbids contacting them";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    let versions = session.block_on(async |sources| sources.versions(providers).await)?;
    Ok(versions.into_iter().map(|(addr, answer)| (addr, answer.map_err(Refusal::into_error))).collect())
}

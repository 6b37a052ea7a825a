//! Which versions some providers have, asked before anything is planned.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::edit_requirements::Offered;
use super::lock::Root;
use super::sources::Sources;
use super::targets::Targets;
use super::{LockOptions, Services};
use crate::addr::ProviderAddr;
use crate::ask::answer::Refusal;
use crate::ask::run::Session;
use crate::error::{Error, ErrorKind};
use crate::parallel;

/// A root module as it was opened, with the versions that its sources have.
pub(super) type Opened = Result<(Root, Arc<Offered>), Error>;

/// Each root module as it was opened, with the versions that its sources have of the providers that it asks for, but those
/// that its settings forbid to ask about. Beside them what people should know.
pub(super) fn of_roots(
    targets: &Targets<'_>,
    options: &LockOptions,
    services: &Services<'_>,
) -> (Vec<Opened>, Vec<String>) {
    let cache = Arc::new(services.open_cache(&targets.directories()));
    let open = |at| Root::open(&targets.settings(at)?, options, &cache);
    let roots: Vec<Result<Root, Error>> = parallel::each(targets.paths.len(), parallel::cores(), open);
    services.events_for(targets.dialect());
    let asked: Vec<BTreeSet<ProviderAddr>> =
        roots.iter().map(|root| root.as_ref().map(allowed).unwrap_or_default()).collect();
    let asking = roots.iter().zip(&asked).enumerate().filter(|(_, (_, asked))| !asked.is_empty());
    let asking = asking.filter_map(|(at, (root, asked))| Some((at, &root.as_ref().ok()?.source, asked.iter())));
    let sources = Sources::new(services, &cache);
    let mut answers = sources.ask(asking, |session, members| {
        let of_all = members.iter().flat_map(|at| asked[*at].iter().cloned()).collect();
        let offered = Arc::new(offered(session, of_all)?);
        Ok(members.iter().map(|_| Arc::clone(&offered)).collect())
    });
    let opened = roots.into_iter().enumerate().map(|(at, root)| {
        let offered = answers.remove(&at).unwrap_or_else(|| Ok(Arc::default()));
        Ok((root?, offered?))
    });
    (opened.collect(), sources.notes())
}

/// The providers that a root module may ask about.
fn allowed(root: &Root) -> BTreeSet<ProviderAddr> {
    let forbidden: BTreeSet<ProviderAddr> = root.forbidden().into_iter().filter_map(|it| it.address).collect();
    root.asked().into_iter().filter(|addr| !forbidden.contains(addr)).collect()
}

/// The versions of all providers, each asked for once.
fn offered(session: Option<Session>, providers: BTreeSet<ProviderAddr>) -> Result<Offered, Error> {
    let Some(session) = session else {
        let message = "only the registries can tell which versions there are, and --offline forbids asking them";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    let error = |refusal| match refusal {
        Refusal::Error(error) => error,
        Refusal::Finding(finding) => Error::new(ErrorKind::Trust, finding.message),
        Refusal::Revoked(finding, _) => Error::new(ErrorKind::Trust, finding.message),
    };
    let versions = session.ask(async |sources| sources.versions(providers).await)?;
    Ok(versions.into_iter().map(|(addr, answer)| (addr, answer.map_err(error))).collect())
}

//! Which versions some providers have, asked before anything is planned.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lock::Root;
use super::sources::Sources;
use super::targets::Targets;
use super::{LockOptions, Services};
use crate::addr::ProviderAddr;
use crate::ask::answer::Refusal;
use crate::ask::run::versions;
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::version::Version;
use crate::workspace::RootSource;

/// By provider.
pub(super) type Answers = BTreeMap<ProviderAddr, Result<Vec<Version>, Error>>;

/// Root modules as they were opened, and the versions of all providers that they ask for, but those that their settings
/// forbid to ask about.
///
/// # Errors
///
/// As [`available_versions`].
pub(super) fn of_roots(
    targets: &Targets<'_>,
    options: &LockOptions,
    services: &Services<'_>,
) -> Result<(Vec<Result<Root, Error>>, Answers), Error> {
    let cache = services.open_cache(&targets.directories());
    let open = |at| Root::open(&targets.settings(at)?, options, &cache);
    let roots: Vec<Result<Root, Error>> = parallel::each(targets.paths.len(), parallel::cores(), open);
    let allowed = |root: &Root| {
        let forbidden: BTreeSet<ProviderAddr> = root.forbidden().into_iter().filter_map(|it| it.address).collect();
        root.asked().into_iter().filter(move |addr| !forbidden.contains(addr))
    };
    let asked: BTreeSet<ProviderAddr> = roots.iter().flatten().flat_map(allowed).collect();
    let answers = match roots.iter().flatten().next() {
        Some(first) => available_versions(asked, &first.source, services)?,
        None => Answers::new(),
    };
    Ok((roots, answers))
}

/// The versions of all providers, each asked for once.
///
/// # Errors
///
/// That nobody may be asked, or that nobody can be.
fn available_versions(
    providers: BTreeSet<ProviderAddr>,
    source: &RootSource,
    services: &Services<'_>,
) -> Result<Answers, Error> {
    if providers.is_empty() {
        return Ok(Answers::new());
    }
    services.events_for(Some(source.dialect));
    let cache = Arc::new(services.open_cache(&[]));
    let sources = Sources::new(services, &cache);
    let Some(options) = sources.open(&sources.of(source, providers.iter())?)? else {
        let message = "which versions there are must be asked, which --offline forbids";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    let answers = versions(options, providers)?.into_iter();
    let error = |refusal| match refusal {
        Refusal::Error(error) => error,
        Refusal::Finding(finding) => Error::new(ErrorKind::Trust, finding.message),
        Refusal::Revoked(finding, _) => Error::new(ErrorKind::Trust, finding.message),
    };
    Ok(answers.map(|(addr, answer)| (addr, answer.map_err(error))).collect())
}

//! `upgrade` and `outdated`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lock::{Asked, open_cache_of, progress, run, source, unsupported};
use super::targets::Targets;
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::{OutdatedArgs, UpgradeArgs};
use crate::cli::{ExitCode, Streams};
use crate::commands::LockOptions;
use crate::commands::lock::{Root, Source};
use crate::commands::outdated::outdated as found_outdated;
use crate::engine::abreast;
use crate::engine::facts::Refusal;
use crate::engine::run::versions;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::version::Version;

pub(super) fn upgrade(session: &Session<'_>, arguments: &UpgradeArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    if arguments.precise.is_some() && arguments.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--precise selects a version of one provider, but several are named"));
    }
    let options = arguments.options(session.environment.now).map_err(unsupported)?;
    let targets = Targets::of(session, &arguments.below, false)?;
    Ok(run(&Asked { command: "upgrade", session, below: &arguments.below, options }, targets, streams))
}

pub(super) fn outdated(session: &Session<'_>, arguments: &OutdatedArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let targets = Targets::of(session, &arguments.below, false)?;
    let cache = Arc::new(open_cache_of(session, &targets.directories()));
    let options =
        LockOptions { providers: arguments.providers.clone(), found: targets.found, ..LockOptions::default() };
    let roots =
        abreast::each(targets.paths.len(), abreast::cores(), |at| Root::open(&targets.settings(at)?, &options, &cache));
    let offered = ask(session, &targets, &roots, streams)?;
    let mut outcomes = Vec::new();
    for (path, root) in targets.paths.iter().zip(roots) {
        outcomes.extend(of_root(path.clone(), root, &offered));
    }
    let differs = outcomes.iter().any(|root: &RootOutcome| match &root.body {
        Ok(Body::Outdated(rows)) => rows.iter().any(crate::outcome::Outdated::is_upgradable),
        _ => false,
    });
    let dialect = targets.dialect();
    let outcome = Outcome { command: "outdated", roots: outcomes, many: targets.many(), notes: Vec::new() };
    let code = ExitCode::of_outcome(&outcome, false);
    let code = if differs && arguments.exit_code { code.and(ExitCode::Findings) } else { code };
    Ok(Done { outcome, code, dialect })
}

type Offered = BTreeMap<ProviderAddr, Result<Vec<Version>, Refusal>>;

/// The versions of all providers of all root modules, each asked for once.
fn ask(
    session: &Session<'_>,
    targets: &Targets<'_>,
    roots: &[Result<Root, Error>],
    streams: &Streams<'_>,
) -> Result<Offered, Error> {
    let asked: BTreeSet<ProviderAddr> = roots.iter().flatten().flat_map(Root::asked).collect();
    let Some(first) = roots.iter().flatten().next().filter(|_| !asked.is_empty()) else { return Ok(Offered::new()) };
    let progress = progress(session, targets.dialect(), streams);
    let cache = Arc::new(open_cache_of(session, &[]));
    let Source::Registries(options) = source(session, first.dialect(), None, &cache, &progress.events())? else {
        let message = "newer versions can be asked of registries only, which --offline forbids";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
    };
    versions(*options, asked)
}

/// The rows of one root module, and beside them the providers whose versions are unknown.
fn of_root(path: std::path::PathBuf, root: Result<Root, Error>, offered: &Offered) -> Vec<RootOutcome> {
    let root = match root {
        Ok(root) => root,
        Err(error) => return vec![RootOutcome { path, body: Err(error), findings: Vec::new() }],
    };
    let (mut known, mut errors) = (BTreeMap::new(), Vec::new());
    for addr in root.asked() {
        match offered.get(&addr) {
            Some(Ok(versions)) => drop(known.insert(addr, versions.clone())),
            Some(Err(Refusal::Error(error))) => errors.push(error.clone()),
            Some(Err(Refusal::Finding(finding))) => errors.push(Error::new(ErrorKind::Trust, &finding.message)),
            Some(Err(Refusal::Revoked(finding, _))) => errors.push(Error::new(ErrorKind::Trust, &finding.message)),
            None => {}
        }
    }
    let rows = found_outdated(root.requirements(), root.lock(), &known);
    let body = RootOutcome { path: path.clone(), body: Ok(Body::Outdated(rows)), findings: Vec::new() };
    let failure = Error::all(errors).map(|error| RootOutcome { path, body: Err(error), findings: Vec::new() });
    std::iter::once(body).chain(failure).collect()
}

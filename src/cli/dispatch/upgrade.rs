//! `upgrade` and `outdated`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::lock::{Asked, open_cache_of, run, unsupported};
use super::offered::{Answers, offered};
use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::{OutdatedArgs, UpgradeArgs};
use crate::cli::{ExitCode, Streams};
use crate::commands::lock::Root;
use crate::commands::outdated::outdated as found_outdated;
use crate::commands::requirement::{self, Offered};
use crate::commands::{LockOptions, RunSettings};
use crate::engine::abreast;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome, Outdated, RootOutcome};

pub(super) fn upgrade(session: &Session<'_>, arguments: &UpgradeArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    if arguments.precise.is_some() && arguments.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--precise selects a version of one provider, but several are named"));
    }
    if arguments.same_versions && !arguments.below.recursive && !session.many() {
        return Err(Error::new(
            ErrorKind::Usage,
            "--same-versions is about several root modules, but there is only one",
        )
        .hint("pass -r, or -C more than once"));
    }
    let options = arguments.options(session.environment.now).map_err(unsupported)?;
    let targets = Targets::of(session, &arguments.below, Unlocked::Told)?;
    let mut newest = Offered::new();
    if arguments.bump && arguments.precise.is_none() {
        let roots = open(session, &targets, &options);
        // A provider whose versions nobody tells is an error of each root module that asks for it, later.
        let answers = ask(session, &roots, streams)?;
        newest.extend(answers.into_iter().filter_map(|(addr, answer)| Some((addr, answer.ok()?))));
    }
    let prepare = |root: Root, settings: &RunSettings| {
        if arguments.bump {
            requirement::bump(root, settings, arguments.precise.as_ref(), (arguments.pre, &newest))
        } else {
            Ok(root)
        }
    };
    let asked = Asked { command: "upgrade", session, below: &arguments.below, options, prepare: &prepare, to: None };
    Ok(run(&asked, targets, streams))
}

pub(super) fn outdated(session: &Session<'_>, arguments: &OutdatedArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let targets = Targets::of(session, &arguments.below, Unlocked::Told)?;
    let options =
        LockOptions { providers: arguments.providers.clone(), found: targets.found, ..LockOptions::default() };
    let roots = open(session, &targets, &options);
    let answers = ask(session, &roots, streams)?;
    let mut outcomes = Vec::new();
    for (path, root) in targets.paths.iter().zip(roots) {
        outcomes.extend(of_root(path.clone(), root, &answers));
    }
    let differs = outcomes.iter().any(|root: &RootOutcome| match &root.body {
        Ok(Body::Outdated(rows)) => rows.iter().any(Outdated::is_upgradable),
        _ => false,
    });
    let dialect = targets.dialect();
    let outcome = Outcome { command: "outdated", roots: outcomes, many: targets.many(), notes: Vec::new() };
    let code = ExitCode::of_outcome(&outcome, false);
    let code = if differs && arguments.exit_code { code.and(ExitCode::Findings) } else { code };
    Ok(Done { outcome, code, dialect })
}

fn open(session: &Session<'_>, targets: &Targets<'_>, options: &LockOptions) -> Vec<Result<Root, Error>> {
    let cache = open_cache_of(session, &targets.directories());
    abreast::each(targets.paths.len(), abreast::cores(), |at| Root::open(&targets.settings(at)?, options, &cache))
}

/// The versions of all providers of all root modules, but those that their settings forbid to ask about.
fn ask(session: &Session<'_>, roots: &[Result<Root, Error>], streams: &Streams<'_>) -> Result<Answers, Error> {
    let allowed = |root: &Root| {
        let forbidden: BTreeSet<ProviderAddr> = root.forbidden().into_iter().filter_map(|it| it.address).collect();
        root.asked().into_iter().filter(move |addr| !forbidden.contains(addr))
    };
    let asked: BTreeSet<ProviderAddr> = roots.iter().flatten().flat_map(allowed).collect();
    match roots.iter().flatten().next() {
        Some(first) => offered(session, first.dialect(), asked, streams),
        None => Ok(Answers::new()),
    }
}

/// The rows of one root module, and beside them the providers whose versions are unknown.
fn of_root(path: PathBuf, root: Result<Root, Error>, answers: &Answers) -> Vec<RootOutcome> {
    let root = match root {
        Ok(root) => root,
        Err(error) => return vec![RootOutcome { path, body: Err(error), findings: Vec::new() }],
    };
    let (mut known, mut errors) = (BTreeMap::new(), root.unrequired());
    for addr in root.asked() {
        match answers.get(&addr) {
            Some(Ok(versions)) => {
                let versions = versions.iter().filter(|version| !root.bans(&addr, version)).cloned().collect();
                known.insert(addr, versions);
            }
            Some(Err(error)) => errors.push(error.clone()),
            None => {}
        }
    }
    let rows = found_outdated(root.requirements(), root.lock(), &known);
    let body = RootOutcome { path: path.clone(), body: Ok(Body::Outdated(rows)), findings: root.forbidden() };
    let failure = Error::all(errors).map(|error| RootOutcome { path, body: Err(error), findings: Vec::new() });
    std::iter::once(body).chain(failure).collect()
}

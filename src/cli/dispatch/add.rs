//! `add` and `remove`.

use std::collections::BTreeSet;

use super::lock::{Asked, run, unsupported};
use super::offered::offered;
use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::Streams;
use crate::cli::args::{AddArgs, Below, RemoveArgs};
use crate::commands::lock::Root;
use crate::commands::requirement::{self, Addition, Offered};
use crate::commands::{LockOptions, RunSettings};
use crate::config::edit::suggest;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome};

pub(super) fn add(session: &Session<'_>, arguments: &AddArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    if arguments.name.is_some() && arguments.providers.len() != 1 {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    let options = arguments.options().map_err(unsupported)?;
    let additions = arguments.additions();
    let targets = Targets::of(session, &Below::default(), Unlocked::Told)?;
    let roots = open(&targets, &options, &additions)?;
    let mut wanted: BTreeSet<ProviderAddr> = BTreeSet::new();
    for (settings, _) in &roots {
        for addition in additions.iter().filter(|addition| addition.wants_versions()) {
            wanted.insert(addition.address(settings.dialect)?);
        }
    }
    let offered = match (options.fs_mirror.as_ref(), roots.first()) {
        (None, Some((settings, _))) => offered(session, settings.dialect, wanted, streams)?,
        _ => super::offered::Answers::new(),
    };
    let offered = known(offered, &roots)?;
    let prepare = |root: Root, settings: &RunSettings| requirement::add(root, settings, &additions, &offered);
    let asked = Asked { command: "add", session, below: &Below::default(), options, prepare: &prepare, to: None };
    let mut done = run(&asked, targets, streams);
    suggestions(&mut done.outcome, &roots, &additions);
    Ok(done)
}

/// The root modules as they are before anything is edited; none if their settings forbid to ask about an addition.
fn open(
    targets: &Targets<'_>,
    options: &LockOptions,
    additions: &[Addition],
) -> Result<Vec<(RunSettings, Vec<String>)>, Error> {
    let cache = crate::disk::cache::Cache::open(crate::disk::cache::CacheOptions {
        directory: None,
        work_trees: Vec::new(),
        disabled: true,
    });
    let mut roots = Vec::new();
    for at in 0..targets.paths.len() {
        let settings = targets.settings(at)?;
        let root = Root::open(&settings, options, &cache)?;
        for addition in additions.iter().filter(|addition| addition.wants_versions()) {
            let denials = root.denials(&addition.address(settings.dialect)?);
            Error::of_findings(ErrorKind::Trust, &denials).map_or(Ok(()), Err)?;
        }
        let locked = root.lock().iter().map(|(addr, _)| addr);
        let known = locked.chain(root.requirements().iter().map(|(addr, _)| addr));
        let known = known.map(|addr| addr.short(settings.dialect)).collect();
        roots.push((settings, known));
    }
    Ok(roots)
}

/// The versions of providers that there are; the first error says which there is not, and what may be meant.
fn known(offered: super::offered::Answers, roots: &[(RunSettings, Vec<String>)]) -> Result<Offered, Error> {
    let mut known = Offered::new();
    for (addr, answer) in offered {
        match answer {
            Ok(versions) => drop(known.insert(addr, versions)),
            Err(error) => return Err(near(error, &addr.to_string(), roots)),
        }
    }
    Ok(known)
}

fn near(error: Error, name: &str, roots: &[(RunSettings, Vec<String>)]) -> Error {
    if error.kind != ErrorKind::NotFound {
        return error;
    }
    let candidates: BTreeSet<&str> = roots.iter().flat_map(|(_, known)| known.iter().map(String::as_str)).collect();
    let near: Vec<String> = suggest(name, candidates).into_iter().map(str::to_owned).collect();
    near.into_iter().filter(|near| near != name).fold(error, |error, near| error.hint(format!("did you mean {near}?")))
}

/// Near names beside errors about providers that there are not.
fn suggestions(outcome: &mut Outcome, roots: &[(RunSettings, Vec<String>)], additions: &[Addition]) {
    let [addition] = additions else { return };
    for root in &mut outcome.roots {
        if let Err(error) = &mut root.body {
            *error = near(error.clone(), &addition.source, roots);
        }
    }
}

pub(super) fn remove(session: &Session<'_>, arguments: &RemoveArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = LockOptions { dry_run: arguments.dry_run, accept_no_configuration: true, ..LockOptions::default() };
    let targets = Targets::of(session, &Below::default(), Unlocked::Told)?;
    let how = (arguments.force, arguments.lock_only);
    let prepare = |root: Root, settings: &RunSettings| requirement::remove(root, settings, &arguments.providers, how);
    let asked = Asked { command: "remove", session, below: &Below::default(), options, prepare: &prepare, to: None };
    let mut done = run(&asked, targets, streams);
    let gone = |body: &Result<Body, Error>| matches!(body, Ok(Body::Changes(changes)) if changes.written);
    if done.outcome.roots.iter().any(|root| gone(&root.body)) {
        done.outcome.notes.push(
            "what is remembered about signers stays; to add the provider again is a new first use of its hashes"
                .to_owned(),
        );
    }
    Ok(done)
}

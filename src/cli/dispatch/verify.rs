//! `verify`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::base::{Bases, Sifted};
use super::lock::{open_cache_of, source};
use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::cli::args::{Below, VerifyArgs};
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams};
use crate::commands::lock::Source;
use crate::commands::memory::TrustPlace;
use crate::commands::verify::{self, Known, Root};
use crate::commands::{RunSettings, verify_online};
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::tracked::TrackedPackages;
use crate::engine::abreast;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::outcome::{Body, Outcome};
use crate::trust::pins::Pins;

/// A root module with all that was read for it, or why it could not be read.
type Opened = (PathBuf, Result<Root, Error>);

pub(super) fn verify(session: &Session<'_>, arguments: &VerifyArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    forbidden(session, arguments)?;
    let mut targets = targets(session, arguments.recursive)?;
    let bases = Bases::open(session, arguments.base().as_ref())?;
    let gone = bases.add_gone(session, &mut targets);
    targets.outcomes.extend(gone);
    // A change may take the last root module away.
    let mut targets = if bases.is_empty() { targets.or_none()? } else { targets };
    let cache = Arc::new(open_cache_of(session, &targets.directories()));
    let Opening { roots, trust } = open(&targets, &bases, session)?;
    let findings = bases.findings(trust, session)?;
    let Sifted { changed, unchanged } = bases.sift(roots)?;
    let dialect = targets.dialect();
    let offline = session.arguments.global.offline;
    let known = if offline {
        verify::recalled(&changed, &cache)
    } else {
        ask(session, arguments, streams, (dialect, &changed), &cache)?
    };
    let mut outcome = verify::verify(changed, &known, &cache, arguments.options());
    let as_they_were = unchanged.len();
    for (at, root) in unchanged {
        outcome.roots.insert(at, root);
    }
    outcome.roots.append(&mut targets.outcomes);
    outcome.many = targets.many();
    if targets.found {
        outcome.roots.sort_by(|one, other| one.path.cmp(&other.path));
    }
    bases.tell(findings, &mut outcome.roots, session, outcome.many);
    outcome.notes.extend(notes(&outcome, &bases, offline, as_they_were));
    outcome.notes.extend(cache.note().map(str::to_owned));
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let code = ExitCode::of_outcome(&outcome, false);
    Ok(Done { outcome, code, dialect })
}

/// What would make the gate weaker than whoever typed the command line thinks.
fn forbidden(session: &Session<'_>, arguments: &VerifyArgs) -> Result<(), Error> {
    let global = &session.arguments.global;
    // With a base it is read from there.
    let named = global.trust_file.as_ref().filter(|named| arguments.base().is_none() && !named.exists());
    if let Some(named) = named {
        let message = format!("there is no trust file {}", named.display());
        return Err(Error::new(ErrorKind::Settings, message).in_file(named).hint("`tflock trust init` writes one"));
    }
    if global.offline && arguments.depth().recompute {
        let message = "--deep computes hashes from packages, which --offline forbids to download";
        return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
    }
    Ok(())
}

/// What was not looked at, and who vouches for the rest.
fn notes(outcome: &Outcome, bases: &Bases, offline: bool, as_they_were: usize) -> Vec<String> {
    let mut notes: Vec<String> = if offline { unchecked(outcome).into_iter().collect() } else { Vec::new() };
    let told = bases.notes();
    if told.is_empty() {
        notes.push("the work tree vouches for itself: its own settings and trust file were believed".to_owned());
    }
    notes.extend(told);
    if outcome.roots.is_empty() {
        notes.push("there is no root module here: no directory has a lock file".to_owned());
    }
    if as_they_were > 0 && outcome.many {
        let count = outcome.roots.len();
        notes.push(format!("{as_they_were} of {count} root modules are as they were; nothing was asked about them"));
    }
    notes
}

/// The root modules asked for, or all below them; those that lack a lock file are among them.
pub(super) fn targets<'a>(session: &'a Session<'_>, recursive: bool) -> Result<Targets<'a>, Error> {
    Targets::of(session, &Below { recursive, fail_fast: false }, Unlocked::Opened)
}

/// What was read before anybody is asked.
pub(super) struct Opening {
    /// The root modules, or why they could not be read.
    pub(super) roots: Vec<Opened>,
    /// What the change did to trust files.
    pub(super) trust: Vec<Finding>,
}

/// All that is read for each root module; each trust file is read once.
pub(super) fn open(targets: &Targets<'_>, bases: &Bases, session: &Session<'_>) -> Result<Opening, Error> {
    let count = targets.paths.len();
    let settings: Vec<Result<RunSettings, Error>> = abreast::each(count, abreast::cores(), |at| {
        targets.settings(at).and_then(|root| bases.settings(root, session))
    });
    let mut pins: BTreeMap<&TrustPlace, Option<Arc<Pins>>> = BTreeMap::new();
    let mut trust = Vec::new();
    for root in settings.iter().flatten() {
        if !pins.contains_key(&root.trust) {
            let (own, findings) = bases.pins(&root.root, &root.trust)?;
            pins.insert(&root.trust, own.map(Arc::new));
            trust.extend(findings);
        }
    }
    let packages = TrackedPackages::default();
    let roots = abreast::each(count, abreast::cores(), |at| {
        let open = |root: &RunSettings| Root::open(root, pins.get(&root.trust).cloned().flatten(), &packages);
        (targets.paths[at].clone(), settings[at].as_ref().map_err(Clone::clone).and_then(open))
    });
    Ok(Opening { roots, trust })
}

fn ask(
    session: &Session<'_>,
    arguments: &VerifyArgs,
    streams: &Streams<'_>,
    (dialect, opened): (Option<Dialect>, &[Opened]),
    cache: &Arc<Cache>,
) -> Result<Known, Error> {
    let detail = session.arguments.global.detail();
    let bars = Bars::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    let progress = Progress::new(bars, detail, dialect, Box::new(std::io::stderr()));
    match source(session, dialect.unwrap_or(Dialect::Terraform), None, cache, &progress.events())? {
        Source::Registries(options) => verify_online::ask(opened, *options, arguments.depth()),
        Source::Mirror(..) | Source::Nobody => Ok(Known::new()),
    }
}

/// The line that says what was not looked at.
fn unchecked(outcome: &Outcome) -> Option<String> {
    let unknown = outcome.roots.iter().map(|root| match &root.body {
        Ok(Body::Verified(verified)) => verified.unknown,
        _ => 0,
    });
    match unknown.sum() {
        0 => None,
        1 => Some("1 hash not checked against a registry".to_owned()),
        count => Some(format!("{count} hashes not checked against a registry")),
    }
}

//! `verify`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::lock::{open_cache, source};
use super::trust::all_below;
use super::{Done, Session};
use crate::cli::args::VerifyArgs;
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::lock::Source;
use crate::commands::memory::{Memory, TrustPlace};
use crate::commands::verify::{self, Known, Root};
use crate::commands::{RunSettings, verify_online};
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome};

/// A root module with all that was read for it, or why it could not be read.
type Opened = (PathBuf, Result<Root, Error>);

pub(super) fn verify(session: &Session<'_>, arguments: &VerifyArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    forbidden(session, arguments)?;
    let roots = roots_of(session, arguments.recursive)?;
    let dialect = settings::one_dialect(&roots);
    let cache = Arc::new(open_cache(&roots));
    let opened = open(&roots)?;
    let offline = session.arguments.global.offline;
    let known = if offline {
        verify::recalled(&opened, &cache)
    } else {
        ask(session, arguments, streams, (&roots, &opened), &cache)?
    };
    let mut outcome = verify::verify(opened, &known, &cache, arguments.options());
    outcome.many = session.many() || arguments.recursive;
    if offline {
        outcome.notes.extend(unchecked(&outcome));
    }
    outcome.notes.push("the work tree vouches for itself: its own settings and trust file were believed".to_owned());
    outcome.notes.extend(cache.note().map(str::to_owned));
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let code = ExitCode::of_outcome(&outcome, false);
    Ok(Done { outcome, code, dialect })
}

/// What would make the gate weaker than whoever typed the command line thinks.
fn forbidden(session: &Session<'_>, arguments: &VerifyArgs) -> Result<(), Error> {
    let global = &session.arguments.global;
    if let Some(named) = global.trust_file.as_ref().filter(|named| !named.exists()) {
        let message = format!("there is no trust file {}", named.display());
        return Err(Error::new(ErrorKind::Settings, message).in_file(named).hint("`tflock trust init` writes one"));
    }
    if global.offline && arguments.depth().recompute {
        let message = "--deep computes hashes from packages, which --offline forbids to download";
        return Err(Error::new(ErrorKind::Offline, message).hint("leave out one of the two"));
    }
    Ok(())
}

/// What the run is told about each root module: those asked for, or all below them.
pub(super) fn roots_of(session: &Session<'_>, recursive: bool) -> Result<Vec<RunSettings>, Error> {
    if !recursive {
        return session.roots();
    }
    settings::of_directories(&all_below(session)?, session.arguments, session.environment)
}

/// All that is read for each root module; each trust file is read once.
pub(super) fn open(roots: &[RunSettings]) -> Result<Vec<Opened>, Error> {
    let mut memories: BTreeMap<&TrustPlace, Memory> = BTreeMap::new();
    for root in roots {
        if !memories.contains_key(&root.trust) {
            memories.insert(&root.trust, Memory::load(&root.trust)?);
        }
    }
    let open = |root: &RunSettings| Some((root.path.clone(), Root::open(root, memories.get(&root.trust)?)));
    Ok(roots.iter().filter_map(open).collect())
}

fn ask(
    session: &Session<'_>,
    arguments: &VerifyArgs,
    streams: &Streams<'_>,
    (roots, opened): (&[RunSettings], &[Opened]),
    cache: &Arc<Cache>,
) -> Result<Known, Error> {
    let detail = session.arguments.global.detail();
    let bars = Bars::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    let progress = Progress::new(bars, detail, settings::one_dialect(roots), Box::new(std::io::stderr()));
    let dialect = roots.first().map_or(Dialect::Terraform, |root| root.dialect);
    match source(session, dialect, None, cache, &progress.events())? {
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

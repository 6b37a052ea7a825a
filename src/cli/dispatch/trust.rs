//! `trust`.

use std::path::PathBuf;
use std::sync::Arc;

use super::lock::{open_cache, source};
use super::{Done, Session};
use crate::cli::args::{TrustArgs, TrustCommand};
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::RunSettings;
use crate::commands::lock::Source;
use crate::commands::trust as command;
use crate::dialect::Dialect;
use crate::disk::roots_below::roots_below;
use crate::error::{Error, ErrorKind};

pub(super) fn trust(session: &Session<'_>, arguments: &TrustArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let Some(action) = arguments.command.action() else { return init(session, arguments, streams) };
    let roots = session.roots()?;
    let dialect = settings::one_dialect(&roots);
    let one = one_trust_file(&roots)?;
    let outcome = command::trust(one, &action)?;
    Ok(Done { outcome, code: ExitCode::Done, dialect })
}

fn one_trust_file(roots: &[RunSettings]) -> Result<&RunSettings, Error> {
    let refused = || Error::new(ErrorKind::Usage, "the directories of -C do not share one trust file");
    roots.first().filter(|first| roots.iter().all(|root| root.trust == first.trust)).ok_or_else(refused)
}

fn init(session: &Session<'_>, arguments: &TrustArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let roots = match arguments.command {
        TrustCommand::Init { recursive: true, .. } => {
            let below: Vec<PathBuf> = all_below(session)?;
            settings::of_directories(&below, session.arguments, session.environment)?
        }
        _ => session.roots()?,
    };
    let dialect = settings::one_dialect(&roots);
    let detail = session.arguments.global.detail();
    let bars = Bars::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    let progress = Progress::new(bars, detail, dialect, Box::new(std::io::stderr()));
    let cache = Arc::new(open_cache(&roots));
    let Source::Registries(options) =
        source(session, dialect.unwrap_or(Dialect::Terraform), None, &cache, &progress.events())?
    else {
        let message = "who signed what is locked can be asked of registries only, which --offline forbids";
        return Err(Error::new(ErrorKind::Offline, message).hint("run the command once without --offline"));
    };
    let mut outcome = command::init(&roots, *options)?;
    outcome.notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let code = ExitCode::of_outcome(&outcome, false);
    Ok(Done { outcome, code, dialect })
}

/// The root modules below all directories, each once.
pub(super) fn all_below(session: &Session<'_>) -> Result<Vec<PathBuf>, Error> {
    let mut directories = session.arguments.directories();
    if directories.is_empty() {
        directories.push(PathBuf::from("."));
    }
    let mut roots = Vec::new();
    for directory in &directories {
        roots.extend(roots_below(directory)?);
    }
    roots.sort();
    roots.dedup();
    if roots.is_empty() {
        return Err(Error::new(ErrorKind::LockFile, "there is no lock file below"));
    }
    Ok(roots)
}

//! `trust`.

use std::sync::Arc;

use super::lock::{open_cache, source};
use super::targets::{Targets, Unlocked};
use super::{Done, Session};
use crate::cli::args::{Below, TrustArgs, TrustCommand};
use crate::cli::progress::{Mode as Bars, Progress};
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::RunSettings;
use crate::commands::lock::Source;
use crate::commands::trust as command;
use crate::dialect::Dialect;
use crate::disk::{below, trust_file};
use crate::error::{Error, ErrorKind};

pub(super) fn trust(session: &Session<'_>, arguments: &TrustArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let Some(action) = arguments.command.action() else { return init(session, arguments, streams) };
    let roots = session.roots()?;
    let dialect = settings::one_dialect(&roots);
    let one = one_trust_file(&roots)?;
    if session.arguments.global.trust_file.is_none() {
        let found = below::survey(&one.boundary)?.trust_files.into_iter();
        trust_file::only_at_tops(found.map(|path| one.boundary.join(path)))?;
    }
    let outcome = command::trust(one, &action, &open_cache(&roots))?;
    Ok(Done { outcome, code: ExitCode::Done, dialect })
}

fn one_trust_file(roots: &[RunSettings]) -> Result<&RunSettings, Error> {
    let refused = || Error::new(ErrorKind::Usage, "the directories of -C do not share one trust file");
    roots.first().filter(|first| roots.iter().all(|root| root.trust == first.trust)).ok_or_else(refused)
}

fn init(session: &Session<'_>, arguments: &TrustArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let roots = match arguments.command {
        TrustCommand::Init { recursive: true, .. } => {
            let below = Below { recursive: true, fail_fast: false };
            Targets::of(session, &below, Unlocked::Told)?.all_settings()?
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

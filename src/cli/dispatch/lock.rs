//! `lock`.

use super::{Done, Session};
use crate::cli::args::{LockArgs, Unsupported};
use crate::cli::progress::{Mode, Progress};
use crate::cli::{ExitCode, Streams, settings};
use crate::commands::{LockOptions, RunSettings};
use crate::engine::Events;
use crate::error::{Error, ErrorKind};
use crate::outcome::Outcome;

pub(super) fn lock(session: &Session<'_>, arguments: &LockArgs, streams: &Streams<'_>) -> Result<Done, Error> {
    let options = arguments.options().map_err(|Unsupported(option)| {
        Error::new(ErrorKind::Usage, format!("{option} is not supported yet"))
            .hint("download the packages and use `--fs-mirror DIR`")
    })?;
    let roots = settings::of_roots(session.arguments, session.environment)?;
    let dialect = settings::one_dialect(&roots);
    let detail = session.arguments.global.detail();
    let mode = Mode::choose(detail, streams.stderr_is_terminal, session.environment.ci());
    let progress = Progress::new(mode, detail, dialect, Box::new(std::io::stderr()));
    let outcome = engine(&roots, &options, session.many(), &progress.events())?;
    let code = ExitCode::of_outcome(&outcome, options.check);
    Ok(Done { outcome, code, dialect })
}

/// NOT WIRED: the engine goes here. `many` is for [`Outcome::many`].
fn engine(_roots: &[RunSettings], _options: &LockOptions, _many: bool, _events: &Events) -> Result<Outcome, Error> {
    Err(Error::new(ErrorKind::Usage, "lock is not wired"))
}

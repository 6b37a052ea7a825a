//! One function for each command: from arguments to an outcome and an exit code.

mod cache;
mod generate;
mod hash;
mod lock;
mod trust;

use super::args::{Arguments, Command, ProvidersCommand};
use super::{Environment, ExitCode, Streams};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::outcome::{Body, Outcome, RootOutcome};

/// What every command is given.
pub(super) struct Session<'a> {
    /// The parsed arguments.
    pub(super) arguments: &'a Arguments,
    /// The surroundings.
    pub(super) environment: &'a Environment,
}

impl Session<'_> {
    /// True if more than one root module was asked for.
    fn many(&self) -> bool {
        self.arguments.directories().len() > 1
    }
}

/// What every command gives back.
pub(super) struct Done {
    /// The result.
    pub(super) outcome: Outcome,
    /// How it ended.
    pub(super) code: ExitCode,
    /// The tool for whose default registry short addresses are shown; none if the root modules differ.
    pub(super) dialect: Option<Dialect>,
}

impl Done {
    /// An outcome that is text, about no root module.
    fn text(command: &'static str, text: String) -> Self {
        let root = RootOutcome { path: "".into(), body: Ok(Body::Text(text)), findings: Vec::new() };
        Self {
            outcome: Outcome { command, roots: vec![root], many: false, notes: Vec::new() },
            code: ExitCode::Done,
            dialect: None,
        }
    }
}

/// Does what the arguments ask for.
///
/// # Errors
///
/// What stopped the whole run; what stopped one root module of several stands in its outcome.
pub(super) fn dispatch(session: &Session<'_>, streams: &mut Streams<'_>) -> Result<Done, Error> {
    match &session.arguments.command {
        Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => {
            lock::lock(session, lock, streams)
        }
        Command::Trust(arguments) => trust::trust(session, arguments, streams),
        Command::Completions(completions) => Ok(generate::completions(completions)),
        Command::Man => generate::man(),
        Command::Hash(arguments) => Ok(hash::lines(session, arguments)),
        Command::Cache(arguments) => cache::cache(session, arguments),
        _ => todo!("{}", streams.stdout_is_terminal),
    }
}

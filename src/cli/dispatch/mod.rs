//! One function for each command: from arguments to an outcome and an exit code.

mod add;
mod base;
mod cache;
mod diff;
mod explain;
mod fmt;
mod generate;
mod git;
mod hash;
mod list;
mod lock;
mod merge;
mod migrate;
mod near;
mod offered;
mod targets;
mod text;
mod trust;
mod upgrade;
mod verify;
mod why;

use std::path::PathBuf;

use super::args::{Arguments, Command, ProvidersCommand};
use super::settings::{of_directories, one_dialect};
use super::{Environment, ExitCode, Streams};
use crate::commands::RunSettings;
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
    /// The directories of `-C`, else that of the process, which is empty.
    fn directories(&self) -> Vec<PathBuf> {
        let asked = self.arguments.directories();
        if asked.is_empty() { vec![PathBuf::new()] } else { asked }
    }

    /// What the run is told about each of them.
    ///
    /// # Errors
    ///
    /// All that is wrong with directories and settings files.
    fn roots(&self) -> Result<Vec<RunSettings>, Error> {
        of_directories(&self.directories(), self.arguments, self.environment)
    }

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
    /// One result for each root module.
    fn of_roots(
        command: &'static str,
        (settings, many): (&[RunSettings], bool),
        body: impl Fn(&RunSettings, &mut Vec<String>) -> Result<Body, Error>,
    ) -> Self {
        let mut notes = Vec::new();
        let roots = settings.iter().map(|root| {
            let body = body(root, &mut notes);
            RootOutcome { path: root.path.clone(), body, findings: Vec::new() }
        });
        let outcome = Outcome { command, roots: roots.collect(), many, notes };
        Self { code: ExitCode::of_outcome(&outcome, false), outcome, dialect: one_dialect(settings) }
    }

    /// The same with a failure beside the result.
    fn but(mut self, error: Option<Error>) -> Self {
        if let Some(error) = error {
            self.code = self.code.and(ExitCode::of_error(&error));
            self.outcome.roots.push(RootOutcome { path: PathBuf::new(), body: Err(error), findings: Vec::new() });
        }
        self
    }

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
        Command::Add(arguments) => add::add(session, arguments, streams),
        Command::Remove(arguments) => add::remove(session, arguments, streams),
        Command::Upgrade(arguments) => upgrade::upgrade(session, arguments, streams),
        Command::Outdated(arguments) => upgrade::outdated(session, arguments, streams),
        Command::Migrate(arguments) => migrate::migrate(session, arguments, streams),
        Command::Verify(arguments) => verify::verify(session, arguments, streams),
        Command::Explain(arguments) => explain::explain(session, arguments),
        Command::Completions(completions) => Ok(generate::completions(completions)),
        Command::Man => generate::man(),
        Command::Hash(arguments) => Ok(hash::lines(session, arguments)),
        Command::Cache(arguments) => cache::cache(session, arguments),
        Command::Fmt(arguments) => Ok(fmt::fmt(session, arguments, streams)),
        Command::List(arguments) => list::list(session, arguments),
        Command::Why(arguments) => why::why(session, arguments),
        Command::Diff(arguments) => diff::diff(session, arguments, streams),
        Command::Merge(arguments) => merge::merge(session, arguments),
        Command::Textconv(arguments) => merge::textconv(session, arguments),
        Command::Git(arguments) => git::git(session, arguments),
    }
}

//! The outer layer of the program: it turns arguments, environment and streams into an exit code. No other module reads
//! the environment of the process or writes its standard streams. It passes arguments to a command, and renders the
//! outcome.
#![expect(clippy::disallowed_methods, reason = "the environment, the clock and the standard streams are read here")]

mod args;
mod choosing;
mod completing;
mod dispatch;
mod frames;
mod generated;
mod manual;
mod other_tools;
mod progress;
mod signals;
mod streams;
mod usage;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use crate::error::ExitCode;
pub use crate::workspace::Environment;

use crate::commands::shared::providers::with_near_names;
use crate::commands::shared::services::{Chooser, module_fetch};
use crate::commands::{Online, Services};
#[cfg(debug_assertions)]
use crate::disk::files;
use crate::disk::{root_files, waiting};
use crate::error::{Error, ErrorKind};
use crate::git;
use crate::interrupt::Interrupt;
use crate::outcome::Outcome;
use crate::outcome::advice::InvocationContext;
use crate::path::worktree::{self, ForeignTree};
#[cfg(debug_assertions)]
use crate::provenance::TrustedRoot;
use crate::query::Event;
use crate::redact;
use crate::report::{self, Format, Style, shown};
#[cfg(debug_assertions)]
use crate::settings::Variables;
use crate::workspace::discover::has_root_modules;
use args::{Arguments, Global};
use dispatch::Invocation;
use progress::{Mode, Progress};
pub use streams::Streams;
use streams::{result, write};

/// Runs the program once. The first argument is its name.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> ExitCode {
    worktree::ask_with(git::accepts);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(code) = completing::answer(&arguments, environment, streams) {
        return code;
    }
    let typed = arguments;
    let mut arguments = args::normalize(typed.iter().cloned());
    if arguments.len() == 1 && has_root_modules(Path::new(".")) {
        arguments.push("status".into());
    }
    match Arguments::parse(&arguments) {
        Ok(arguments) => answer(&arguments, environment, streams),
        Err(refused) => usage::report(&refused, (&arguments, &typed), environment, streams),
    }
}

fn answer(arguments: &Arguments, environment: &Environment, streams: &mut Streams<'_>) -> ExitCode {
    let global = &arguments.global;
    let format = global.format;
    let style = |terminal: bool| Style {
        colour: global.color.shown(terminal, environment.no_color()),
        dialect: global.tool.and_then(args::Tool::dialect),
        detail: global.detail(),
        width: if terminal { streams.columns } else { environment.columns().filter(|_| global.color.is_forced()) },
    };
    let [out, err] = [streams.stdout_is_terminal, streams.stderr_is_terminal].map(style);
    let invocation = arguments.command.invocation();
    if let Err(error) = arguments.check_formats(invocation.name) {
        // The run did nothing, so no report file is replaced.
        write(&mut streams.stderr, &report::failure_remark(&error, format, err));
        return result(streams, &report::failure(Some(invocation.name), &error, format))
            .and(ExitCode::of_error(&error));
    }
    let mode = Mode::choose(global.detail(), streams.stderr_is_terminal, environment.ci());
    let progress = Progress::new(mode, global.detail(), Box::new(std::io::stderr()));
    let events = progress.events();
    waiting::report_to(move |text| events.emit(Event::Note { text }));
    let interrupt = Interrupt::default();
    if streams.catch_signals {
        let closing = progress.closing();
        let (command, interrupted) = (invocation.name, interrupt.clone());
        let report = move || {
            let error = interrupted.error();
            write(&mut std::io::stderr(), &report::failure_remark(&error, format, err));
            write(&mut std::io::stdout(), &report::failure(Some(command), &error, format));
        };
        let interrupted = interrupt.clone();
        interrupt.on_signals(move || signals::listen(interrupted, closing, report));
    }
    let outcome = outcome((arguments, &invocation), environment, streams, &progress, &interrupt);
    drop(progress);
    interrupt.finish();
    match outcome {
        Ok(outcome) => {
            let dialect = outcome.dialect;
            let [out, err] = [out, err].map(|style| Style { dialect, ..style });
            let unwritten = write_reports(global, environment, |format, style| {
                report::render(&outcome, format, Style { dialect, ..style })
            });
            // The result on the streams agrees with the exit code.
            let outcome = outcome.with_error(Error::all(unwritten));
            write(&mut streams.stderr, &report::remarks(&outcome, format, err));
            outcome.code.and(result(streams, &report::render(&outcome, format, out)))
        }
        Err(mut error) => {
            let failure = |error: &Error, format| report::failure(Some(invocation.name), error, format);
            let unwritten = write_reports(global, environment, |format, _| failure(&error, format));
            error.others.extend(unwritten);
            write(&mut streams.stderr, &report::failure_remark(&error, format, err));
            ExitCode::of_error(&error).and(result(streams, &failure(&error, format)))
        }
    }
}

/// Runs the command, with progress on standard error.
fn outcome(
    (arguments, invocation): (&Arguments, &Invocation<'_>),
    environment: &Environment,
    streams: &mut Streams<'_>,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Outcome, Error> {
    let mut scope = invocation.scope(arguments, environment);
    #[cfg(debug_assertions)]
    trust_instance_of_tests(&scope.environment.variables)?;
    let online = Arc::new(Online::new(&scope.environment.variables, &progress.events(), interrupt.clone()));
    scope.offline |= arguments.command.sends_nothing();
    scope.modules.fetch = Some(module_fetch(&scope, &online));
    let named = scope.named.clone();
    let (events, interrupt) = (progress.events(), interrupt.clone());
    let choose = (streams.stdin_is_terminal && streams.stderr_is_terminal).then(|| {
        let (interrupt, events) = (interrupt.clone(), events.clone());
        Box::new(move |prompt: &str, items: &[String]| {
            events.emit(Event::Asking);
            choosing::choose(prompt, items, &interrupt)
        }) as Chooser
    });
    let explains = [Format::Markdown, Format::Html, Format::Github].iter().any(|format| arguments.global.has(*format));
    let services =
        Services { scope, events, online, interrupt, stdin: Mutex::new(&mut *streams.stdin), choose, explains };
    let ctx = |many: bool| {
        let recursive = many && named.len() < 2;
        let (top, in_work_tree) = services.scope.top();
        let files_from_top = recursive || in_work_tree;
        let (source, tool) = (invocation.source(), arguments.global.tool.map(args::Tool::name));
        InvocationContext { top, named: named.clone(), recursive, source, tool, files_from_top }
    };
    if invocation.may_wait() {
        services.interrupt.catch_signals();
    }
    match with_near_names((invocation.run)(&services), &services, &invocation.providers) {
        Ok(outcome) => {
            let ctx = ctx(outcome.many);
            let repository = arguments.global.has(Format::Html).then(|| services.scope.repository());
            let mut outcome = Outcome { repository, ..outcome.advised(&ctx) };
            outcome.notes.extend(worktree::unused().iter().map(ForeignTree::note));
            Ok(outcome)
        }
        Err(mut error) => {
            let ctx = ctx(false);
            error.place(&|file| ctx.of_all(file));
            let unused = worktree::unused().into_iter().filter(|foreign| foreign.to_string() != error.message);
            let notes: Vec<_> = unused.map(|foreign| foreign.note()).collect();
            Err(error.hints(notes))
        }
    }
}

/// Trusts the root of a test instance. A program that is released does not have this.
#[cfg(debug_assertions)]
fn trust_instance_of_tests(variables: &Variables) -> Result<(), Error> {
    let Some(path) = variables.get("TFLOCK_TEST_SIGSTORE_ROOT") else { return Ok(()) };
    let failed = |why: String| Error::new(ErrorKind::Usage, why).in_file(path);
    let text = files::read_named_file(Path::new(path)).map_err(|problem| failed(problem.to_string()))?;
    let text = String::from_utf8(text.unwrap_or_default()).map_err(|problem| failed(problem.to_string()))?;
    TrustedRoot::replace(&text).map_err(failed)
}

#[cfg(test)]
mod tests;

/// Writes the report files of a run, and the step summary of GitHub Actions, and returns what failed. `render` gives its
/// result, or its error, in one format.
fn write_reports(global: &Global, environment: &Environment, render: impl Fn(Format, Style) -> String) -> Vec<Error> {
    let dialect = global.tool.and_then(args::Tool::dialect);
    let plain = Style { dialect, detail: global.detail(), ..Style::default() };
    let requested = global.report.iter().map(|(format, file)| (*format, environment.directory.join(file)));
    let mut errors = Vec::new();
    for (format, file) in requested {
        errors.extend(
            root_files::write_report(&file, &redact::secrets(&render(format, plain)))
                .err()
                .map(|reason| unwritable(&file, &reason)),
        );
    }
    if let Some(file) = step_summary(global, environment) {
        errors.extend(
            append(&file, &redact::secrets(&render(Format::Markdown, plain)))
                .err()
                .map(|reason| unwritable(&file, &reason)),
        );
    }
    errors
}

/// The step summary file, if annotations were requested.
fn step_summary(global: &Global, environment: &Environment) -> Option<PathBuf> {
    let file = environment.variables.get("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty())?;
    global.has(Format::Github).then(|| environment.directory.join(file))
}

fn append(file: &Path, text: &str) -> io::Result<()> {
    std::fs::File::options().append(true).create(true).open(file)?.write_all(text.as_bytes())
}

fn unwritable(file: &Path, reason: &io::Error) -> Error {
    Error::new(ErrorKind::Disk, format!("cannot write the report {}: {reason}", shown(file))).in_file(file)
}

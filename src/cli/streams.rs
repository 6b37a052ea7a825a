//! The environment and the standard streams of the process, and how results and messages are written to them.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::disk::atomic;
use crate::error::{Error, ErrorKind, ExitCode};
use crate::redact;
use crate::report::{self, Format, Style};
use crate::workspace::Environment;

impl Environment {
    pub fn of_process() -> Self {
        atomic::read_umask();
        let pairs =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self {
            variables: pairs.collect(),
            directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            now: SystemTime::now(),
        }
    }

    pub(super) fn no_color(&self) -> bool {
        self.variables.get("NO_COLOR").is_some() || self.variables.get("TERM") == Some("dumb")
    }

    /// The value of `COLUMNS`, for terminal text that does not go to a terminal.
    pub(super) fn columns(&self) -> Option<usize> {
        self.variables.get("COLUMNS")?.parse().ok()
    }

    /// True if `CI` is set, which disables progress bars.
    pub(super) fn ci(&self) -> bool {
        self.variables.get("CI").is_some()
    }
}

/// The three standard streams, and which of them are terminals.
pub struct Streams<'a> {
    pub stdin: Box<dyn Read + Send + 'a>,
    /// Standard output: only the result.
    pub stdout: Box<dyn Write + 'a>,
    /// Standard error: progress, notes and errors.
    pub stderr: Box<dyn Write + 'a>,
    pub stdin_is_terminal: bool,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
    pub columns: Option<usize>,
    /// True if the signals of the process end the run, too.
    pub catch_signals: bool,
}

impl Streams<'static> {
    pub fn of_process() -> Self {
        // This fails without a console, which needs no colours.
        let _ = anstyle_query::windows::enable_ansi_colors();
        Self {
            stdin: Box::new(io::stdin()),
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            columns: terminal_size::terminal_size().map(|(terminal_size::Width(columns), _)| columns.into()),
            catch_signals: true,
        }
    }
}

/// Writes the result. A reader that closes the pipe is no failure.
pub(super) fn result(streams: &mut Streams<'_>, text: &str) -> ExitCode {
    match streams.stdout.write_all(redact::secrets(text).as_bytes()).and_then(|()| streams.stdout.flush()) {
        Ok(()) => ExitCode::Done,
        Err(problem) if problem.kind() == io::ErrorKind::BrokenPipe => ExitCode::Done,
        Err(problem) => {
            let error = Error::new(ErrorKind::Disk, format!("cannot write to standard output: {problem}"));
            // For users in any format, since standard output cannot be written.
            write(&mut streams.stderr, &report::failure_remark(&error, Format::Human, Style::default()));
            ExitCode::of_error(&error)
        }
    }
}

/// Writes messages. Write errors are ignored, since there is no reader.
pub(super) fn write(stream: &mut dyn Write, text: &str) {
    let _ = stream.write_all(redact::secrets(text).as_bytes()).and_then(|()| stream.flush());
}

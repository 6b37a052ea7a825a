//! `fmt`.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::text::{absent, refused, unreadable};
use super::{Done, Session};
use crate::cli::args::FmtArgs;
use crate::cli::settings::dialect_of_text;
use crate::cli::{ExitCode, Streams};
use crate::commands::fmt::{Formatted, fmt as formatted};
use crate::disk::atomic::{Mode, store};
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::lock_file;
use crate::disk::worktree::boundary;
use crate::error::Error;
use crate::lockfile::FILE_NAME;

/// Standard input gives its canonical text; files give a line for each that was changed, or would be.
pub(super) fn fmt(session: &Session<'_>, arguments: &FmtArgs, streams: &mut Streams<'_>) -> Done {
    let (mut text, mut errors, mut differs) = (String::new(), Vec::new(), false);
    for path in files(session, arguments) {
        match one(session, &path, arguments.check, &mut streams.stdin) {
            Ok((changed, told)) => {
                differs |= changed;
                text.push_str(&told);
            }
            Err(error) => errors.push(error),
        }
    }
    let mut done = Done::text("fmt", text);
    if differs && arguments.check {
        done.code = ExitCode::Findings;
    }
    done.but(Error::all(errors))
}

/// The lock files to format, as reports name them.
fn files(session: &Session<'_>, arguments: &FmtArgs) -> Vec<PathBuf> {
    let named: &[PathBuf] = if arguments.files.is_empty() { &[PathBuf::from(FILE_NAME)] } else { &arguments.files };
    let is_stdin = |file: &Path| file == Path::new("-");
    let in_directory = |directory: &PathBuf| -> Vec<PathBuf> {
        named.iter().map(|file| if is_stdin(file) { file.clone() } else { directory.join(file) }).collect()
    };
    session.directories().iter().flat_map(in_directory).collect()
}

/// Whether a text changes, and what is said of it.
fn one(session: &Session<'_>, path: &Path, check: bool, stdin: &mut dyn Read) -> Result<(bool, String), Error> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        let shown = Path::new("<stdin>");
        stdin.read_to_end(&mut text).map_err(|reason| unreadable(shown, &reason))?;
        let formatted = format(session, Path::new("."), &text, shown)?;
        return Ok((formatted.changed, if check { String::new() } else { formatted.text }));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let read = || lock_file::read(path)?.ok_or_else(|| absent(path.to_owned()));
    let (text, lock) = (read()?, DirectoryLock::acquire(directory)?);
    // What another run wrote before the lock was had counts.
    let text = if check { text } else { read()? };
    let formatted = format(session, directory, &text, path)?;
    if formatted.changed && !check {
        store(path, formatted.text.as_bytes(), Mode::KeepOr(0o644), &boundary(directory))?;
    }
    drop(lock);
    Ok((formatted.changed, if formatted.changed { format!("{}\n", path.display()) } else { String::new() }))
}

fn format(session: &Session<'_>, directory: &Path, text: &[u8], shown: &Path) -> Result<Formatted, Error> {
    let dialect = dialect_of_text(directory, text, session.arguments, session.environment)?;
    formatted(text, Some(dialect)).map_err(|findings| refused(&findings, shown))
}

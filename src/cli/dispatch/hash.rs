//! `hash`.

use std::fmt::Write;
use std::path::PathBuf;

use super::{Done, Session};
use crate::cli::ExitCode;
use crate::cli::args::HashArgs;
use crate::commands::hash::hash;
use crate::outcome::RootOutcome;

/// The lines of all packages; those that cannot be hashed are a failure beside them.
pub(super) fn lines(session: &Session<'_>, arguments: &HashArgs) -> Done {
    let mut directories = session.arguments.directories();
    if directories.is_empty() {
        directories.push(PathBuf::new());
    }
    let opened = directories.iter().flat_map(|directory| arguments.paths.iter().map(|path| directory.join(path)));
    let (lines, error) = hash(&opened.collect::<Vec<_>>());
    let text = lines.iter().fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
        text
    });
    let mut done = Done::text("hash", text);
    if let Some(error) = error {
        done.code = ExitCode::of_error(&error);
        done.outcome.roots.push(RootOutcome { path: PathBuf::new(), body: Err(error), findings: Vec::new() });
    }
    done
}

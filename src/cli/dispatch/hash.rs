//! `hash`.

use std::fmt::Write;

use super::{Done, Session};
use crate::cli::args::HashArgs;
use crate::commands::hash::hash;

/// The lines of all packages; those that cannot be hashed are a failure beside them.
pub(super) fn lines(session: &Session<'_>, arguments: &HashArgs) -> Done {
    let directories = session.directories();
    let opened = directories.iter().flat_map(|directory| arguments.paths.iter().map(|path| directory.join(path)));
    let (lines, error) = hash(&opened.collect::<Vec<_>>());
    let text = lines.iter().fold(String::new(), |mut text, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
        text
    });
    Done::text("hash", text).but(error)
}

//! An [`Error`] as text.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::paint::Paint;
use super::wrap::flow;
use super::{Style, printable, shown};
use crate::error::Error;
use crate::finding::Position;
use crate::redact;

/// All errors of a run for users, each with its place and its next steps.
pub(super) fn human(error: &Error, style: Style) -> String {
    each_once(error.each(), style)
}

/// Errors for users. Errors that differ only in their place are printed once, with their count.
pub(super) fn each_once<'a>(errors: impl Iterator<Item = &'a Error>, style: Style) -> String {
    let (mut printed, mut at): (Vec<(&Error, usize)>, HashMap<_, usize>) = Default::default();
    for error in errors {
        let at = *at.entry((error.kind, &error.message, &error.url, &error.hints)).or_insert_with(|| {
            printed.push((error, 0));
            printed.len() - 1
        });
        printed[at].1 += 1;
    }
    let places = |count: usize| (count > 1).then(|| format!("{count} places"));
    printed.into_iter().map(|(error, count)| of(error, places(count).as_deref(), style)).collect()
}

/// One error, with its root modules if given.
pub(super) fn of(error: &Error, naming: Option<&str>, style: Style) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let message = flow("error: ".len(), &printable(&error.message), style);
    let _ = writeln!(text, "{} {message}", style.paint(Paint::Bad, "error:"));
    // Do not repeat a path or URL that the message contains.
    let mut words = error.message.split([' ', '"', '`']).map(|word| word.trim_end_matches([':', ',', ';']));
    let file = error.file.as_deref();
    let printed = file.is_some_and(|file| words.any(|word| word == shown(file)));
    place(&mut text, file.filter(|_| error.position.is_some() || !printed), error.position);
    if let (Some(line), Some(position)) = (&error.line, error.position) {
        // The line of a module's source may contain a password.
        let _ = writeln!(text, "{:>5} | {}", position.line, printable(&redact::words(line)));
    }
    if let Some(url) = error.url.as_deref().filter(|url| !error.message.contains(url)) {
        let _ = writeln!(text, "  url: {}", printable(url));
    }
    if let Some(naming) = naming {
        let _ = writeln!(text, "  in {naming}");
    }
    helps(&mut text, &error.hints, style);
    text
}

/// The line with file, line and column; nothing without a file.
pub(super) fn place(text: &mut String, file: Option<&Path>, position: Option<Position>) {
    let Some(file) = file.filter(|file| !file.as_os_str().is_empty()) else { return };
    let file = shown(file);
    let file = printable(&file);
    let _ = match position {
        Some(position) => writeln!(text, "  --> {file}:{position}"),
        None => writeln!(text, "  --> {file}"),
    };
}

pub(super) fn helps<'a>(text: &mut String, hints: impl IntoIterator<Item = &'a String>, style: Style) {
    for hint in hints {
        let hint = flow("  help: ".len(), &printable(hint), style);
        let _ = writeln!(text, "  {} {hint}", style.paint(Paint::Aside, "help:"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn error() -> Error {
        let mut error = Error::new(ErrorKind::NotFound, "no \x1b[0m version")
            .in_file("a/main.tf")
            .at(Position { line: 3, column: 7 })
            .about_url("https://example.com/v1")
            .hint("run `tflock lock`");
        error.others.push(Error::new(ErrorKind::Disk, "no space"));
        error
    }

    #[test]
    fn human_output_has_place_and_next_step() {
        let expected = "error: no \\u{1b}[0m version\n  --> a/main.tf:3:7\n  url: https://example.com/v1\n  help: run \
                        `tflock lock`\nerror: no space\n";
        assert_eq!(human(&error(), Style::default()), expected);
    }

    #[test]
    fn programs_read_every_field() {
        let expected = concat!(
            r#"{"kind":"not-found","message":"no \u001b[0m version","file":"a/main.tf","line":3,"column":7,"#,
            r#""url":"https://example.com/v1","hints":["run `tflock lock`"],"#,
            r#""others":[{"kind":"disk","message":"no space","file":null,"line":null,"column":null,"url":null,"#,
            r#""hints":[]}]}"#
        );
        assert_eq!(serde_json::json!(error()).to_string(), expected);
    }
}

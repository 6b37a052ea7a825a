//! Errors as text; equal ones of several root modules are printed once.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::groups::{RootSummary, Same};
use super::paint::Paint;
use super::wrap::flow;
use super::{Style, printable, shown};
use crate::count::first_of;
use crate::error::Error;
use crate::finding::Position;
use crate::outcome::advice::with_recursion;
use crate::redact;

/// How many places of equal errors are named.
const MOST_PLACES: usize = 10;

pub(super) struct Failure<'a> {
    /// The first error, whose place is shown; its next steps fit all of them.
    pub(super) error: Error,
    pub(super) paths: Vec<&'a Path>,
    /// Where each of them is.
    places: Vec<&'a Error>,
}

/// Groups errors of root modules that differ only in their places, in order of first appearance.
pub(super) fn together<'a>(
    errors: impl IntoIterator<Item = (&'a Path, &'a Error)>,
    recursive: bool,
) -> Vec<Failure<'a>> {
    let each = errors.into_iter().flat_map(|(path, error)| error.each().map(move |error| (path, error)));
    let mut places: HashMap<_, Vec<&Error>> = HashMap::new();
    let keyed = each.map(|(path, error)| {
        let key = (error.kind, &error.message, &error.url, error.general_hints());
        places.entry(key).or_default().push(error);
        (path, key, error)
    });
    let groups = Same::firsts(keyed);
    let failure = |(key, first, paths): (_, &Error, Vec<&'a Path>)| {
        let mut error = Error { others: Vec::new(), ..first.clone() };
        if paths.len() > 1 {
            let general = error.general_hints().iter();
            error.hints = general.map(|hint| if recursive { with_recursion(hint) } else { hint.clone() }).collect();
        }
        Failure { error, paths, places: places.remove(&key).unwrap_or_default() }
    };
    groups.into_iter().map(failure).collect()
}

/// Errors for users, each with the root modules that its place does not show, or for one root module with their number.
pub(super) fn failures<'a>(
    errors: impl IntoIterator<Item = (&'a Path, &'a Error)>,
    naming: RootSummary,
    style: Style,
) -> String {
    let failures = together(errors, naming.recursive).into_iter();
    let texts = failures.map(|Failure { error, paths, places }| {
        let roots = if naming.many {
            let is_general = error.file.is_none() || paths.len() > 1;
            is_general.then(|| naming.table_cell(&paths))
        } else {
            (places.len() > 1).then(|| named_places(&places))
        };
        of(&error, roots, style)
    });
    texts.collect()
}

/// `2 places: a/main.tf:3:7, b/main.tf:1:1`, with the first names of many.
fn named_places(errors: &[&Error]) -> String {
    let name = |error: &&Error| {
        let file = printable(&shown(error.file.as_deref()?)).into_owned();
        Some(error.position.map_or_else(|| file.clone(), |position| format!("{file}:{position}")))
    };
    // Requests fail in any order.
    let mut places = errors.to_vec();
    places.sort_by_key(|error| (&error.file, error.position));
    let names: Vec<String> = places.iter().filter_map(name).collect();
    let count = format!("{} places", errors.len());
    if names.is_empty() { count } else { format!("{count}: {}", first_of(&names, MOST_PLACES)) }
}

/// The errors of a run that are not about a root module.
pub(super) fn human(error: &Error, style: Style) -> String {
    failures([(Path::new(""), error)], RootSummary::default(), style)
}

/// One error, with its root modules if given.
fn of(error: &Error, naming: Option<String>, style: Style) -> String {
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

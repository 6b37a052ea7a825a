//! Reports: an [`Outcome`] as text, one format a file.
//!
//! A format is a pure function to a string; it knows neither where the text goes nor what the terminal can. What goes
//! to standard output ([`render`], [`failure`]) is kept apart from what is said beside it ([`remarks`]). Text from
//! outside passes [`printable`] before people see it.

pub mod diff;
mod failure;
mod human;
mod json;
mod paint;
mod printable;
mod size;
mod table;

use std::path::Path;

pub use printable::printable;
pub use size::size;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::outcome::Outcome;
use paint::{Paint, Painted};

/// Who reads the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// People, on a terminal or in a log.
    #[default]
    Human,
    /// Programs: one JSON document.
    Json,
}

/// How much people want to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Detail {
    /// The result, warnings and failures.
    Quiet,
    /// Also notes.
    #[default]
    Normal,
    /// Also each hash and why it is believed.
    Verbose,
}

/// How human output looks. The default is plain text with full addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// True if the reader is a terminal that shows colours.
    pub colour: bool,
    /// The tool whose default registry host is left out of addresses; none if there is no one tool.
    pub dialect: Option<Dialect>,
    /// How much is told.
    pub detail: Detail,
}

impl Style {
    fn paint<T>(self, paint: Paint, text: T) -> Painted<T> {
        Painted(text, self.colour.then_some(paint))
    }

    fn addr(self, addr: &ProviderAddr) -> String {
        let text = match self.dialect {
            Some(dialect) => addr.short(dialect),
            None => addr.to_string(),
        };
        printable(&text).into_owned()
    }
}

/// The result, as it goes to standard output.
pub fn render(outcome: &Outcome, format: Format, style: Style) -> String {
    match format {
        Format::Human => human::render(outcome, style),
        Format::Json => json::render(outcome),
    }
}

/// What is said beside the result, as it goes to standard error: notes, failures, and findings that are no part of the
/// result. In JSON the document holds all but the notes.
pub fn remarks(outcome: &Outcome, format: Format, style: Style) -> String {
    match format {
        Format::Human => human::remarks(outcome, style),
        Format::Json => human::notes(&outcome.notes, style),
    }
}

/// A run that failed before there was any outcome: the text for standard output, empty for people. The command is
/// unknown if the arguments do not parse.
pub fn failure(command: Option<&str>, error: &Error, format: Format) -> String {
    match format {
        Format::Human => String::new(),
        Format::Json => json::failure(command, error),
    }
}

/// A run that failed before there was any outcome: the text for standard error, empty for programs.
pub fn failure_remark(error: &Error, format: Format, style: Style) -> String {
    match format {
        Format::Human => failure::human(error, style),
        Format::Json => String::new(),
    }
}

/// A path with `/` between its parts on every system; the directory that the command was run in is empty.
fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

#[cfg(test)]
mod tests;

//! Reports: an [`Outcome`] as text, one format a file.
//!
//! A format is a pure function to a string; it knows neither where the text goes nor what the terminal can. What goes
//! to standard output ([`render`], [`failure()`]) is kept apart from what is said next to it ([`remarks`]). Text from
//! outside passes [`printable()`] before users see it.

mod annotation;
mod commit;
pub mod diff;
mod failure;
mod github;
mod gitlab;
mod graph;
mod groups;
mod html;
mod human;
mod json;
mod markdown;
mod paint;
mod printable;
mod sarif;
mod sbom;
mod size;
mod summary;
mod table;
mod wrap;

pub use annotation::rule_of_change;
pub use graph::GraphFormat;
pub use printable::printable;
pub use size::size;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::error::Error;
use crate::outcome::Outcome;
pub(crate) use crate::path::shown;
use paint::{Paint, Painted};

/// Narrower terminals get lines of this width.
const LEAST_WIDTH: usize = 40;

/// The values of `--format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Format {
    /// Text for a terminal.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// A comment on a pull request, or a step summary.
    Markdown,
    /// One self-contained page to look at; for list, outdated, verify, diff and audit.
    Html,
    /// Annotations of GitHub Actions; this and the next two for commands that check or change lock files.
    Github,
    /// A Code Quality report of GitLab.
    Gitlab,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// The body of a commit message; for diff only.
    Commit,
    /// A software bill of materials as CycloneDX 1.6; this and the next one for sbom only.
    Cyclonedx,
    /// The same as SPDX 2.3 JSON.
    Spdx,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Detail {
    Quiet,
    #[default]
    Normal,
    /// Also each hash and why it is believed.
    Verbose,
}

/// How human output looks. The default is plain text with full addresses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub colour: bool,
    /// The tool whose default registry host is left out of addresses; none if there is no one tool.
    pub dialect: Option<Dialect>,
    pub detail: Detail,
    pub width: Option<usize>,
}

impl Style {
    /// How wide lines may be: never so narrow that nothing fits next to an indent.
    fn room(self) -> usize {
        self.width.map_or(usize::MAX, |width| width.max(LEAST_WIDTH))
    }

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

pub fn render(outcome: &Outcome, format: Format, style: Style) -> String {
    match format {
        Format::Human => match outcome.graph {
            Some(format) => graph::render(outcome, format, style),
            None => human::render(outcome, style),
        },
        Format::Json => json::render(outcome),
        Format::Markdown => markdown::render(outcome, style),
        Format::Html => html::render(outcome, style),
        Format::Github => github::render(outcome),
        Format::Gitlab => gitlab::render(outcome),
        Format::Sarif => sarif::render(outcome),
        Format::Commit => commit::render(outcome, style),
        Format::Cyclonedx => sbom::render_cyclonedx(outcome),
        Format::Spdx => sbom::render_spdx(outcome),
    }
}

/// What is said next to the result, as it goes to standard error: notes, failures, and findings that are no part of the
/// result. In formats that hold failures and findings themselves only notes are left.
pub fn remarks(outcome: &Outcome, format: Format, style: Style) -> String {
    match format {
        Format::Human | Format::Commit | Format::Cyclonedx | Format::Spdx => human::remarks(outcome, style),
        Format::Json | Format::Markdown | Format::Html | Format::Github | Format::Gitlab | Format::Sarif => {
            human::notes(&outcome.notes, style)
        }
    }
}

/// A run that failed before there was any outcome: the text for standard output, empty for users. The command is
/// unknown if the arguments do not parse.
pub fn failure(command: Option<&str>, error: &Error, format: Format) -> String {
    match format {
        Format::Human | Format::Commit | Format::Cyclonedx | Format::Spdx => String::new(),
        Format::Json => json::failure(command, error),
        Format::Markdown => markdown::failure(error),
        Format::Html => html::failure(error),
        Format::Github => github::failure(error),
        Format::Gitlab => gitlab::failure(error),
        Format::Sarif => sarif::failure(error),
    }
}

/// A run that failed before there was any outcome: the text for standard error, empty where standard output has it all.
pub fn failure_remark(error: &Error, format: Format, style: Style) -> String {
    match format {
        Format::Json => String::new(),
        // Whoever looks into the log of a job should not have to open its report to see that it failed.
        Format::Human
        | Format::Commit
        | Format::Cyclonedx
        | Format::Spdx
        | Format::Markdown
        | Format::Html
        | Format::Github
        | Format::Gitlab
        | Format::Sarif => failure::human(error, style),
    }
}

#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod schema_check_tests;
#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tool_tests;

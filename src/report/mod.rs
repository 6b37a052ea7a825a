//! Reports: an [`Outcome`] as text, with one module for each format. A format is a pure function to a string; it knows
//! neither the destination nor the abilities of the terminal. Standard output ([`render`], [`failure()`]) is separate
//! from standard error ([`remarks`]). Text from outside passes [`printable()`] before users see it.

mod annotation;
mod body;
mod change;
mod commit;
pub mod diff;
mod documentation;
mod github;
mod gitlab;
mod graph;
mod groups;
mod html;
mod json;
mod layout;
mod markdown;
mod opening;
mod parts;
mod problems;
mod sarif;
mod sbom;
mod style;
mod summary;

pub use annotation::rule_of_change;
pub use layout::{printable, size};
pub use style::{Detail, Style};

use clap::ValueEnum;

use crate::error::Error;
use crate::outcome::Outcome;
pub(crate) use crate::path::shown;

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

/// The commands whose results are findings and changes.
const ANNOTATED: &[&str] =
    &["lock", "verify", "diff", "add", "remove", "upgrade", "migrate", "mirror", "audit", "trust"];

/// The commands with a page as a result.
const PAGES: &[&str] = &["list", "outdated", "verify", "diff", "audit"];

/// What a format is.
struct Spec {
    /// The commands with a result in it; empty for all.
    commands: &'static [&'static str],
    render: fn(&Outcome, Style) -> String,
    /// The text for a run that failed without an outcome; `None` if errors and findings are printed on standard error.
    failure: Option<fn(Option<&str>, &Error) -> String>,
}

impl Format {
    /// One row for each format.
    fn spec(self) -> Spec {
        let of = |commands, render, failure| Spec { commands, render, failure };
        match self {
            Self::Human => of(&[], human, None),
            Self::Json => of(&[], |outcome, _| json::render(outcome), Some(json::failure)),
            Self::Markdown => of(&[], markdown::render, Some(|_, error| markdown::failure(error))),
            Self::Html => of(PAGES, html::render, Some(|_, error| html::failure(error))),
            Self::Github => of(ANNOTATED, |it, _| github::render(it), Some(|_, error| github::failure(error))),
            Self::Gitlab => of(ANNOTATED, |it, _| gitlab::render(it), Some(|_, error| gitlab::failure(error))),
            Self::Sarif => of(ANNOTATED, |it, _| sarif::render(it), Some(|_, error| sarif::failure(error))),
            Self::Commit => of(&["diff"], commit::render, None),
            Self::Cyclonedx => {
                of(&["sbom"], |outcome, _| sbom::render(outcome, |it| json::harmless(&sbom::cyclonedx(it))), None)
            }
            Self::Spdx => of(&["sbom"], |outcome, _| sbom::render(outcome, |it| json::harmless(&sbom::spdx(it))), None),
        }
    }

    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The commands with a result in this format; empty for all. For the others its empty result would look like success.
    pub fn commands(self) -> &'static [&'static str] {
        self.spec().commands
    }
}

fn human(outcome: &Outcome, style: Style) -> String {
    match outcome.graph {
        Some(format) => graph::render(outcome, format, style),
        None => body::render(outcome, style),
    }
}

pub fn render(outcome: &Outcome, format: Format, style: Style) -> String {
    (format.spec().render)(outcome, style)
}

/// The text for standard error: notes, errors, and findings that are not part of the result. Formats that contain
/// errors and findings leave only notes.
pub fn remarks(outcome: &Outcome, format: Format, style: Style) -> String {
    match format.spec().failure {
        Some(_) => body::notes(&outcome.notes.0, style),
        None => body::remarks(outcome, style),
    }
}

/// The text for standard output of a run that failed without an outcome; empty for users. The command is unknown if the
/// arguments do not parse.
pub fn failure(command: Option<&str>, error: &Error, format: Format) -> String {
    format.spec().failure.map(|failure| failure(command, error)).unwrap_or_default()
}

/// The text for standard error of a run that failed without an outcome; empty if standard output has it all.
pub fn failure_remark(error: &Error, format: Format, style: Style) -> String {
    // The log of a job should show the failure even if the report is a file.
    if format == Format::Json { String::new() } else { problems::error_text(error, style) }
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

//! Markdown for comments on pull requests and step summaries: a table with what is dangerous first, the rest folded.
//!
//! Code hosts refuse long comments, so that there is a budget; what does not fit is left out from the end, and said so.
//! Text from outside never becomes markup, a mention or a link.

mod escape;
mod many;
mod review;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::annotation::level_of;
use super::human::findings::{Group, MOST_OF_RULE, together};
use super::human::many::Whose;
use super::summary::name;
use super::table::Table;
use super::{Style, human, slashed};
use crate::diff::risk;
use crate::error::Error;
use crate::finding::{Level, Rule};
use crate::outcome::{Body, Outcome, Outdated, OutdatedModule, RootOutcome};
use escape::{code, escaped, sentences};

/// The most bytes of a document. A comment may have 65,536 characters, and whoever posts it may add some.
pub(super) const LIMIT: usize = 62_000;

/// What a root module may have at least, if that much is left.
const LEAST: usize = 4_000;

/// The most findings in a table.
const MOST_FINDINGS: usize = 100;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let mut text = if outcome.many { many::before(outcome, style) } else { String::new() };
    let mut left_out = 0;
    let mut parts = if outcome.many { many::parts(outcome) } else { outcome.roots.iter().map(Part::of).collect() };
    parts.sort_by_key(|part| std::cmp::Reverse(part.alarm));
    for (at, part) in parts.iter().enumerate() {
        // What one root module does not need is left for those after it; none is cut to a line.
        let left = LIMIT.saturating_sub(text.len() + 400);
        let budget = (left / (parts.len() - at)).max(left.min(LEAST));
        match part.text(outcome, budget, style) {
            Some(part) => text.push_str(&part),
            None => left_out += part.count,
        }
    }
    text.extend(outcome.error.iter().map(failure));
    if left_out > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "_Left out for lack of space: {left_out} more root modules._");
    }
    text
}

/// What stands under one heading: a root module, or several of which the same is to be told.
struct Part<'a> {
    root: &'a RootOutcome,
    /// The lock file, or how many.
    name: String,
    count: usize,
    alarm: Level,
}

impl<'a> Part<'a> {
    fn of(root: &'a RootOutcome) -> Self {
        Self { root, name: code(&name(root)), count: 1, alarm: alarm(root) }
    }

    /// Heading and body; none if there is no room for them.
    fn text(&self, outcome: &Outcome, budget: usize, style: Style) -> Option<String> {
        let heading = format!("### {} {}\n\n", title(outcome.command), self.name);
        let left = budget.checked_sub(heading.len() + 1)?;
        Some(heading + &body(self.root, outcome.many, left, style)? + "\n")
    }
}

/// How loud the worst news of a root module is.
fn alarm(root: &RootOutcome) -> Level {
    let findings = root.findings.iter().map(|finding| finding.level);
    let changes = match &root.body {
        Ok(Body::Changes(changes)) => changes.changes.as_slice(),
        Ok(_) => &[],
        Err(_) => return Level::Deny,
    };
    findings.chain(changes.iter().map(|change| level_of(risk(change)))).max().unwrap_or(Level::Note)
}

/// What is told of one root module, but for findings that stand in the table of all; none if there is no room for it.
fn body(root: &RootOutcome, many: bool, budget: usize, style: Style) -> Option<String> {
    let findings = if many { String::new() } else { table_of(&[(Path::new(""), root)], None, style) };
    let mut text = match &root.body {
        Ok(Body::Changes(changes)) => {
            let left = budget.checked_sub(findings.len())?;
            let modules = human::module_changes(&changes.modules, style);
            let modules = if modules.is_empty() { modules } else { escape::fenced("", &modules) + "\n" };
            review::review(changes, left, style)? + &modules
        }
        Ok(Body::Verified(verified)) => {
            let silent = review::silent(verified.inconclusive.iter().map(|it| &it.error));
            format!("{}\n\n{silent}", escaped(&human::verdict(verified, &root.findings)))
        }
        Ok(Body::Entries(entries)) => markdown(human::tables::list(entries, style), budget),
        Ok(Body::Outdated(report)) if report.rows.iter().any(Outdated::is_noteworthy) => {
            markdown(human::tables::outdated(report, style), budget)
        }
        Ok(Body::OutdatedModules(report)) if report.rows.iter().any(OutdatedModule::is_noteworthy) => {
            markdown(human::outdated_modules(report), budget)
        }
        Ok(body) => {
            let shown = human::body(body, root, style);
            if shown.is_empty() { String::new() } else { escape::fenced("", &shown) + "\n" }
        }
        Err(error) => failure(error),
    };
    text.push_str(&findings);
    (text.len() <= budget).then_some(text)
}

fn markdown<const N: usize>(table: Option<Table<N>>, room: usize) -> String {
    table.map(|table| table.markdown(room.saturating_sub(100), escaped) + "\n").unwrap_or_default()
}

fn title(command: &str) -> &'static str {
    match command {
        "diff" => "Dependency lock file changes in",
        _ => "Dependency lock file",
    }
}

/// An error with its next steps.
pub(super) fn failure(error: &Error) -> String {
    error.each().fold(String::new(), |mut text, error| {
        let _ = writeln!(text, "**Failed:** {}", escaped(&error.message));
        if let Some(file) = &error.file {
            let place = error.position.map(|position| format!(":{position}")).unwrap_or_default();
            let _ = writeln!(text, "\n- at {}", code(&format!("{}{place}", slashed(file))));
        }
        for hint in &error.hints {
            let _ = writeln!(text, "- {}", sentences(hint));
        }
        text
    })
}

/// The findings of some root modules as a table, the worst first, equal ones once.
fn table_of(roots: &[(&Path, &RootOutcome)], whose: Option<Whose>, style: Style) -> String {
    let all = roots.iter().flat_map(|(path, root)| root.findings.iter().map(|finding| (*path, finding)));
    let mut all = together(&all.collect::<Vec<_>>(), style);
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|group| std::cmp::Reverse(group.first.level));
    let mut text = "| | Finding | Where |\n|---|---|---|\n".to_owned();
    let mut of_rule: HashMap<Rule, usize> = HashMap::new();
    let (told, left): (Vec<_>, Vec<_>) = all.iter().partition(|group| {
        let count = of_rule.entry(group.first.rule).or_default();
        *count += 1;
        *count <= MOST_OF_RULE
    });
    let left = left.len() + told.len().saturating_sub(MOST_FINDINGS);
    for Group { message, first, paths } in told.into_iter().take(MOST_FINDINGS) {
        let level = match first.level {
            Level::Deny => "**denied**",
            Level::Warn => "warning",
            Level::Note => "note",
        };
        let line = first.position.map(|position| format!(":{position}")).unwrap_or_default();
        let file = first.file.as_deref().map(|file| code(&format!("{}{line}", slashed(file)))).unwrap_or_default();
        let others = whose.filter(|_| paths.len() > 1).map(|whose| format!(", in {}", escaped(&whose.told(paths))));
        let (message, rule) = (escaped(message), first.rule.id());
        let _ = writeln!(text, "| {level} | {message} ({rule}) | {file}{} |", others.unwrap_or_default());
    }
    if left > 0 {
        let _ = writeln!(text, "\n_Left out: {left} more findings._");
    }
    text.push('\n');
    text
}

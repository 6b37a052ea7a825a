//! Markdown for comments on pull requests and step summaries: a table with dangerous changes first, the rest folded.
//! Code hosts refuse long comments, so there is a limit; the last parts are left out if necessary, with a note. Text
//! from outside never becomes markup, a mention or a link.

mod escape;
mod many;
mod review;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use super::groups::{Changed, RootSummary};
use super::human::findings::{Group, MOST_OF_RULE, together};
use super::summary::name;
use super::table::Table;
use super::{Style, human, shown, word_of};
use crate::count::first_of;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::topics::url_of_rule;
use escape::{code, escaped, sentences};
use review::Shown;

/// The most bytes of a document. A comment may have 65,536 characters, and the poster may add some.
pub(super) const LIMIT: usize = 62_000;

/// How many lock files are named in a heading.
const MOST_FILES: usize = 3;

/// The most findings in a table.
const MOST_FINDINGS: usize = 100;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = String::new();
    if outcome.many {
        let is_reported = |root: &&RootOutcome| !matches!(&root.body, Ok(Body::Changes(changes)) if !changes.changed);
        let changed = Changed::of(outcome.roots.iter().filter(is_reported));
        text.push_str(&many::before(outcome, &changed, style));
        if !changed.files.is_empty() {
            let heading = format!("### {} {}\n\n", title(outcome.command), files(&changed));
            let room = LIMIT.saturating_sub(text.len() + heading.len() + 400);
            let counted = human::total(outcome).is_none();
            text.push_str(&heading);
            text.extend(review::review(&changed, room, Shown { naming, style, counted }));
        }
    } else {
        for root in &outcome.roots {
            let heading = format!("### {} {}\n\n", title(outcome.command), code(&name(root)));
            let room = LIMIT.saturating_sub(text.len() + heading.len() + 400);
            text.push_str(&heading);
            text.push_str(&body(outcome, root, room, Shown { naming, style, counted: false }));
            text.push('\n');
        }
    }
    text.extend(outcome.error.iter().map(failure));
    text
}

/// The first lock files by name, and the number of the others.
fn files(changed: &Changed<'_>) -> String {
    first_of(&changed.files.iter().map(|file| code(&shown(file.path))).collect::<Vec<_>>(), MOST_FILES)
}

fn body(outcome: &Outcome, root: &RootOutcome, most: usize, shown: Shown) -> String {
    let Shown { naming, style, .. } = shown;
    let findings = table_of(root.placed_findings(), naming, style);
    let left = most.saturating_sub(findings.len());
    let mut text = match &root.body {
        Ok(Body::Changes(_) | Body::Review(_)) => review::review(&Changed::of([root]), left, shown).unwrap_or_default(),
        Ok(Body::Verified(verified)) => {
            let silent = review::silent(verified.inconclusive.iter().map(|it| &it.error));
            format!("{}\n\n{silent}", escaped(&human::verdict(verified, &root.findings)))
        }
        Ok(_) => many::tables(&many::of_roots(outcome, [root]), naming, left, style),
        Err(error) => failure(error),
    };
    text.push_str(&findings);
    text
}

/// The id of a rule, linked to its documentation.
fn link_of(rule: Rule) -> String {
    let id = rule.id();
    url_of_rule(id).map_or_else(|| id.to_owned(), |url| format!("[{id}]({url})"))
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

pub(super) fn failure(error: &Error) -> String {
    error.each().fold(String::new(), |mut text, error| {
        let _ = writeln!(text, "**Failed:** {}", escaped(&error.message));
        if let Some(file) = &error.file {
            let place = error.position.map(|position| format!(":{position}")).unwrap_or_default();
            let _ = writeln!(text, "\n- at {}", code(&format!("{}{place}", shown(file))));
        }
        for hint in &error.hints {
            let _ = writeln!(text, "- {}", sentences(hint));
        }
        text
    })
}

/// The findings as a table, worst first, equal ones once.
fn table_of<'a>(findings: impl Iterator<Item = (&'a Path, &'a Finding)>, naming: RootSummary, style: Style) -> String {
    let mut all = together(findings, style);
    if all.is_empty() {
        return String::new();
    }
    all.sort_by_key(|group| std::cmp::Reverse(group.first.level));
    let mut text = "| | Finding | Where |\n|---|---|---|\n".to_owned();
    let mut of_rule: HashMap<Rule, usize> = HashMap::new();
    let (listed, left): (Vec<_>, Vec<_>) = all.iter().partition(|group| {
        let count = of_rule.entry(group.first.rule).or_default();
        *count += 1;
        *count <= MOST_OF_RULE
    });
    let left = left.len() + listed.len().saturating_sub(MOST_FINDINGS);
    for Group { message, first, paths } in listed.into_iter().take(MOST_FINDINGS) {
        let level = word_of(first.level);
        let level = if first.level == Level::Deny { format!("**{level}**") } else { level.to_owned() };
        let line = first.position.map(|position| format!(":{position}")).unwrap_or_default();
        let file = first.file.as_deref().map(|file| code(&format!("{}{line}", shown(file)))).unwrap_or_default();
        let others = (paths.len() > 1).then(|| format!(", in {}", escaped(&naming.label(paths))));
        let (message, rule) = (escaped(message), link_of(first.rule));
        let _ = writeln!(text, "| {level} | {message} ({rule}) | {file}{} |", others.unwrap_or_default());
    }
    if left > 0 {
        let _ = writeln!(text, "\n_Left out: {left} more findings._");
    }
    text.push('\n');
    text
}

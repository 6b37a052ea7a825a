//! Markdown for comments on pull requests and step summaries: a table with what is dangerous first, the rest folded.
//!
//! Code hosts refuse long comments, so that there is a budget; what does not fit is left out from the end, and said so.
//! Text from outside never becomes markup, a mention or a link.

mod escape;
mod review;

use std::fmt::Write;

use super::annotation::level_of;
use super::summary::name;
use super::{Style, human, slashed};
use crate::diff::risk;
use crate::error::Error;
use crate::finding::{Finding, Level};
use crate::outcome::{Body, Outcome, RootOutcome};
use escape::{code, escaped, sentences};

/// The most bytes of a document. A comment may have 65,536 characters, and whoever posts it may add some.
pub(super) const LIMIT: usize = 62_000;

/// What a root module may have at least, if that much is left.
const LEAST: usize = 4_000;

/// The most findings of one root module in the table.
const MOST_FINDINGS: usize = 100;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let mut text = String::new();
    if outcome.roots.is_empty() {
        text.push_str("No lock file changed.\n");
    }
    let mut left_out = 0;
    let mut roots: Vec<&RootOutcome> =
        outcome.roots.iter().filter(|root| !outcome.many || !root.is_untouched()).collect();
    roots.sort_by_key(|root| std::cmp::Reverse(alarm(root)));
    for (at, root) in roots.iter().enumerate() {
        // What one root module does not need is left for those after it; none is cut to a line.
        let left = LIMIT.saturating_sub(text.len() + 400);
        let budget = (left / (roots.len() - at)).max(left.min(LEAST));
        match of_root(root, outcome.command, budget, style) {
            Some(part) => text.push_str(&part),
            None => left_out += 1,
        }
    }
    text.extend(outcome.error.iter().map(failure));
    if left_out > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "_Left out for want of room: {left_out} more root modules._");
    }
    text
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

/// One root module; none if there is no room for it.
fn of_root(root: &RootOutcome, command: &str, budget: usize, style: Style) -> Option<String> {
    let mut text = format!("### {} {}\n\n", title(command), code(&name(root)));
    match &root.body {
        Ok(Body::Changes(changes)) => {
            let findings = findings(&root.findings, style);
            let left = budget.checked_sub(text.len() + findings.len())?;
            text.push_str(&review::review(changes, left, style)?);
            text.push_str(&findings);
        }
        Ok(body) => {
            let shown = human::body(body, root, style);
            if !shown.is_empty() {
                let _ = writeln!(text, "{}", escape::fenced("", &shown));
            }
            if let Body::Verified(verified) = body {
                text.push_str(&review::silent(verified.inconclusive.iter().map(|it| &it.error)));
            }
            text.push_str(&findings(&root.findings, style));
        }
        Err(error) => text.push_str(&failure(error)),
    }
    text.push('\n');
    (text.len() <= budget).then_some(text)
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

/// Findings as a table, the worst first.
fn findings(findings: &[Finding], style: Style) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let mut text = "| | Finding | Where |\n|---|---|---|\n".to_owned();
    for finding in sorted.iter().take(MOST_FINDINGS) {
        let level = match finding.level {
            Level::Deny => "**denied**",
            Level::Warn => "warning",
            Level::Note => "note",
        };
        let about = finding.address.as_ref().map(|addr| format!("{}: ", code(&style.addr(addr)))).unwrap_or_default();
        let place = finding.position.map(|position| format!(":{position}")).unwrap_or_default();
        let file = finding.file.as_deref().map(|file| code(&format!("{}{place}", slashed(file)))).unwrap_or_default();
        let message = escaped(&finding.message);
        let _ = writeln!(text, "| {level} | {about}{message} ({}) | {file} |", finding.rule.id());
    }
    if sorted.len() > MOST_FINDINGS {
        let _ = writeln!(text, "\n_Left out: {} more findings._", sorted.len() - MOST_FINDINGS);
    }
    text.push('\n');
    text
}

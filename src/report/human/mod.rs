//! Text for people: complete without colour, short addresses, few words a line.

mod changes;
mod explained;
mod findings;
mod mirror;
mod review;
mod tables;
mod tools;
mod totals;
mod trust;
mod verified;
pub(super) use verified::hashes;

use std::fmt::Write;

use super::paint::Paint;
use super::{Detail, Style, failure, printable, slashed};
use crate::outcome::{Body, Outcome, RootOutcome};

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let mut text = String::new();
    for root in &outcome.roots {
        let Ok(body) = &root.body else { continue };
        if outcome.many && root.is_untouched() {
            continue;
        }
        let shown = self::body(body, root, style);
        if shown.is_empty() && matches!(body, Body::Outdated(_)) {
            continue;
        }
        if outcome.many && is_one_line(body, root, &shown) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{} {shown}", style.paint(Paint::Strong, format!("{}:", name(root))));
            continue;
        }
        if outcome.many && is_of_root(body) && !is_short(body, root) {
            heading(&mut text, root, style);
        }
        text.push_str(&shown);
    }
    let totals = totals::totals(outcome);
    if !text.is_empty() && !totals.is_empty() {
        text.push('\n');
    }
    text + &totals
}

/// True for what is about a root module, and stands below its name where there are several.
fn is_of_root(body: &Body) -> bool {
    matches!(
        body,
        Body::Requirements(_)
            | Body::Entries(_)
            | Body::Outdated(_)
            | Body::Changes(_)
            | Body::Verified(_)
            | Body::Trust(_)
            | Body::Mirror(_)
    )
}

/// True if one line, behind the name of the root module, says all there is to say.
fn is_one_line(body: &Body, root: &RootOutcome, shown: &str) -> bool {
    let told = matches!(body, Body::Verified(_) | Body::Outdated(_) | Body::Mirror(_)) && root.findings.is_empty();
    told && shown.lines().count() == 1
}

/// True if one line, which names the root module, says all there is to say.
fn is_short(body: &Body, root: &RootOutcome) -> bool {
    matches!(body, Body::Changes(changes) if !changes.changed && changes.sides.is_none()) && root.findings.is_empty()
}

pub(super) fn body(body: &Body, root: &RootOutcome, style: Style) -> String {
    match body {
        Body::Requirements(providers) => tables::why(providers, style),
        Body::Outdated(report) => tables::outdated(report, style),
        Body::Entries(entries) => tables::list(entries, style),
        Body::Changes(changes) if changes.sides.is_some() => {
            let mut text = review::review(changes, style);
            text.push_str(&findings::findings(&root.findings, style));
            text.push_str(&review::conclusion(changes, style));
            text
        }
        Body::Changes(changes) => {
            let mut text = changes::changes(changes, style);
            let others = root.findings.iter().filter(|finding| !changes::tells(changes, finding));
            text.push_str(&findings::findings(others, style));
            text.push_str(&changes::conclusion(changes, &root.findings));
            text
        }
        Body::Verified(verified) => verified::verified(verified, &root.findings, style),
        Body::Trust(report) => trust::trust(report, style),
        Body::Explained(explained) => explained::explained(explained),
        Body::Formatted(files) => tools::formatted(files),
        Body::Hashed(lines) => tools::hashes(lines),
        Body::Cache(report) => tools::cache(report),
        Body::Mirror(report) => mirror::mirror(report, &root.findings, style),
        Body::Git(reports) => tools::git(reports),
        // What was decided stands in the notes.
        Body::Merged(_) => String::new(),
        Body::Shortened(shortened) => String::from_utf8_lossy(&shortened.text).into_owned(),
        Body::Generated(generated) => tools::generated(generated),
    }
}

fn heading(text: &mut String, root: &RootOutcome, style: Style) {
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", style.paint(Paint::Strong, format!("{}:", name(root))));
}

fn name(root: &RootOutcome) -> String {
    let path = slashed(&root.path);
    if path.is_empty() { ".".to_owned() } else { printable(&path).into_owned() }
}

pub(super) fn remarks(outcome: &Outcome, style: Style) -> String {
    let mut text = notes(&outcome.notes, style);
    for root in &outcome.roots {
        let failed = root.body.as_ref().err();
        if failed.is_some() && outcome.many {
            heading(&mut text, root, style);
        }
        if let Ok(Body::Verified(verified)) = &root.body {
            text.push_str(&verified::reasons(verified, style));
        } else if let Ok(Body::Mirror(report)) = &root.body {
            text.extend(report.failed.iter().map(|error| failure::human(error, style)));
        } else if !matches!(root.body, Ok(Body::Changes(_))) {
            text.push_str(&findings::findings(&root.findings, style));
        }
        if let Some(error) = failed {
            text.push_str(&failure::human(error, style));
        }
    }
    text + &outcome.error.iter().map(|error| failure::human(error, style)).collect::<String>()
}

pub(super) fn notes(notes: &[String], style: Style) -> String {
    if style.detail == Detail::Quiet {
        return String::new();
    }
    notes.iter().fold(String::new(), |mut text, note| {
        let _ = writeln!(text, "{} {}", style.paint(Paint::Aside, "note:"), printable(note));
        text
    })
}

//! Text for users: complete without colour, with short addresses and short lines. Equal results of several root modules
//! are printed once, with their number; names appear with -v, and the last lines name failures.

pub(super) mod audit;
mod changes;
pub(super) mod explained;
pub(super) mod lists;
mod packages;
mod review;
mod tools;

use std::path::Path;

use crate::error::ExitCode;
use crate::finding::Finding;
use crate::outcome::{Body, Changes, Outcome, RootOutcome};
use crate::report::groups::{Changed, RootSummary};
use crate::report::parts::{Part, TextLine, lines, terminal};
use crate::report::problems::failures;
use crate::report::style::{Detail, Paint, Style};
use crate::report::{groups, json, opening, printable, problems, sbom, summary};
use crate::step::Step;

pub(super) use review::module_changes;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = terminal(&lists::lists(outcome, naming, style), style);
    let reviewed = Changed::of(outcome.roots.iter().filter(|root| matches!(root.body, Ok(Body::Review(_)))));
    let made = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Changes(changes)) if !changes::is_settled_quietly(changes, style) => Some((root, changes)),
        _ => None,
    });
    let made: Vec<(&RootOutcome, &Changes)> = made.collect();
    let modules = Changed::of(made.iter().map(|(root, _)| *root)).modules().into_iter().chain(reviewed.modules());
    text.push_str(&review::review(&reviewed, naming, style));
    text.push_str(&changes::items(&made, naming, style));
    let modules = module_changes(modules.map(|(change, roots)| (change, roots.len())));
    text.push_str(&terminal(&[modules], style));
    text.push_str(&changes::besides(&made, naming, style));
    text.push_str(&problems::findings(part_of_result(outcome), naming, style));
    text.push_str(&review::conclusion(&reviewed, style));
    text.push_str(&changes::conclusion(&made, naming, style));
    text.push_str(&terminal(&others(outcome, style), style));
    if outcome.roots.is_empty() && outcome.error.is_none() && outcome.command == "diff" {
        text.push_str("no lock file changed\n");
    }
    let well = style.detail == Detail::Quiet && outcome.code == ExitCode::Done;
    let ends = if well || !outcome.many { String::new() } else { summary::ends(outcome, style) };
    if !text.is_empty() && !ends.is_empty() {
        text.push('\n');
    }
    text.push_str(&ends);
    let last = if well { Vec::new() } else { opening::last_lines(outcome, &reviewed, style) };
    // The result of one root module ends with its verdict already.
    let is_said = !outcome.many
        && outcome.unlooked.is_none()
        && matches!(&outcome.roots[..], [RootOutcome { body: Ok(Body::Verified(_)), .. }]);
    last.iter().skip(usize::from(is_said)).fold(text, |text, line| text + line + "\n")
}

/// True if findings are printed with the result, and not on standard error.
fn has_findings(root: &RootOutcome) -> bool {
    use Body::{Audit, Changes, Mirror, Review, Verified};
    matches!(root.body, Ok(Changes(_) | Review(_) | Verified(_) | Audit(_) | Mirror(_)))
}

fn part_of_result(outcome: &Outcome) -> impl Iterator<Item = (&Path, &Finding)> {
    let roots = outcome.roots.iter().filter(|root| has_findings(root));
    let is_open = move |root: &RootOutcome, finding: &Finding| {
        !changes::covers(root, finding) && !audit::covers(outcome, finding)
    };
    let of_roots =
        roots.flat_map(move |root| root.placed_findings().filter(move |(_, finding)| is_open(root, finding)));
    outcome.work_tree_findings().chain(of_roots)
}

/// Results that look the same in every format.
pub(super) fn others(outcome: &Outcome, style: Style) -> Vec<Part> {
    // The root modules of a run have results of one kind; some kinds are shown for all of them at once.
    let mut parts = match outcome.roots.iter().find_map(|root| root.body.as_ref().ok()) {
        Some(Body::Mirror(_)) => vec![packages::mirror(&outcome.roots, style)],
        Some(Body::Install(_)) => vec![packages::install(outcome, style)],
        Some(Body::Audit(_)) => audit::audit(outcome, style),
        Some(Body::Modules(_)) if outcome.many => packages::modules_of_roots(outcome, style),
        Some(Body::Installed(_)) if outcome.many && style.detail > Detail::Quiet => {
            vec![packages::installed_in_roots(outcome, style)]
        }
        _ => Vec::new(),
    };
    for root in &outcome.roots {
        if outcome.many && matches!(root.body, Ok(Body::Modules(_) | Body::Installed(_))) {
            continue;
        }
        if outcome.unlooked.is_some() && matches!(root.body, Ok(Body::Verified(_))) {
            continue;
        }
        if outcome.many && matches!(root.body, Ok(Body::Trust(_))) {
            parts.push(Part::Heading(format!("{}:", groups::name(&root.path))));
        }
        parts.extend(body(outcome, root, style));
    }
    parts
}

fn body(outcome: &Outcome, root: &RootOutcome, style: Style) -> Vec<Part> {
    let Ok(body) = &root.body else { return Vec::new() };
    let part = match body {
        Body::Verified(verified) if !outcome.many => lines(summary::verified(outcome, verified, &root.findings, style)),
        // These have a form for several root modules; the notes have the decisions of a merge.
        Body::Merged(_)
        | Body::Requirements(_)
        | Body::Outdated(_)
        | Body::OutdatedModules(_)
        | Body::Entries(_)
        | Body::Review(_)
        | Body::Changes(_)
        | Body::Verified(_)
        | Body::Install(_)
        | Body::Mirror(_)
        | Body::Audit(_) => return Vec::new(),
        Body::Trust(report) if style.detail == Detail::Quiet && report.changed.is_some() => return Vec::new(),
        Body::Trust(report) => return tools::trust(report, style),
        Body::Modules(used) => packages::modules(used),
        Body::Installed(_) if style.detail == Detail::Quiet => return Vec::new(),
        Body::Installed(installed) => packages::installed_modules(installed),
        Body::Explained(explained) => return explained::explained(explained, style),
        Body::Formatted(files) => return tools::formatted(files),
        Body::Hashed(lines) => tools::hashes(lines),
        Body::Cache(report) => tools::cache(report),
        Body::Sbom(inventory) => Part::Code(json::harmless(&sbom::cyclonedx(inventory))),
        Body::Setup(report) => tools::setup(report),
        Body::Status(status) => tools::status(status, style),
        Body::Git(reports) => tools::git(reports),
        Body::Shortened(shortened) => {
            Part::Code(shortened.text.lines().flat_map(|line| [printable(line), "\n".into()]).collect())
        }
        Body::Generated(generated) => tools::generated(generated),
    };
    vec![part]
}

pub(super) fn remarks(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let others = outcome.roots.iter().filter(|root| !has_findings(root)).flat_map(RootOutcome::placed_findings);
    let mut text = notes(&outcome.notes.0, style) + &problems::findings(others, naming, style);
    text.push_str(&failures(outcome.errors(), naming, style));
    text + &outcome.error.iter().map(|error| problems::error_text(error, style)).collect::<String>()
}

pub(super) fn notes(notes: &[Step], style: Style) -> String {
    if style.detail == Detail::Quiet {
        return String::new();
    }
    let line = |note: &Step| TextLine::default().painted(Paint::Aside, "note:").plain(" ").plain(note.to_string());
    terminal(&[Part::Lines(notes.iter().map(line).collect())], style)
}

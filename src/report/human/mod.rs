//! Text for users: complete without colour, with short addresses and short lines.

mod audit;
mod changes;
mod explained;
pub(super) mod findings;
mod install;
pub(super) mod many;
mod mirror;
mod modules;
mod pages;
mod review;
pub(super) mod tables;
mod tools;
mod trust;
mod verified;
pub(super) use modules::{changes as module_changes, outdated as outdated_modules};
pub(super) use verified::{hashes, verdict, word};

use std::fmt::Write;

use super::failure::helps;
use super::groups::{Changed, RootSummary};
use super::paint::Paint;
use super::wrap::flow;
use super::{Detail, Style, failure, printable};
use crate::outcome::{AuditReport, Body, MirrorReport, Outcome, RootOutcome};

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    if outcome.many {
        return many::render(outcome, style);
    }
    let bodies = outcome.roots.iter().filter_map(|root| Some((root.body.as_ref().ok()?, root)));
    bodies.map(|(body, root)| self::body(body, root, style)).collect()
}

pub(super) fn body(body: &Body, root: &RootOutcome, style: Style) -> String {
    match body {
        Body::Requirements(providers) => tables::why(providers, style),
        Body::Outdated(report) => {
            tables::outdated(report, style).map_or_else(|| tables::up_to_date(report), |table| table.text(style))
        }
        Body::OutdatedModules(report) => {
            modules::outdated(report).map_or_else(|| modules::up_to_date(report), |table| table.text(style))
        }
        Body::Entries(entries) => tables::list(entries, style).map(|table| table.text(style)).unwrap_or_default(),
        Body::Review(_) => {
            let changed = Changed::of([root]);
            let mut text = review::review(&changed, RootSummary::of(&Outcome::default(), style), style);
            text.push_str(&modules::changes(changed.modules().iter().map(|(change, _)| (*change, 1)), style));
            text.push_str(&findings::findings(&root.findings, style));
            text.push_str(&review::conclusion(&changed, style));
            text
        }
        Body::Changes(changes) if changes::is_settled_quietly(changes, style) => {
            findings::findings(root.findings.iter().filter(|finding| !changes::covers(changes, finding)), style)
        }
        Body::Changes(changes) => {
            let mut text = changes::changes(changes, style);
            let others = root.findings.iter().filter(|finding| !changes::covers(changes, finding));
            text.push_str(&findings::findings(others, style));
            text.push_str(&changes::conclusion(changes, &root.findings));
            helps(&mut text, &changes.advice, style);
            text
        }
        Body::Verified(verified) => verified::verified(verified, &root.findings, style),
        Body::Trust(report) if style.detail == Detail::Quiet && report.changed.is_some() => String::new(),
        Body::Trust(report) => trust::trust(report, style),
        Body::Modules(used) => modules::list(used, style),
        Body::Installed(_) if style.detail == Detail::Quiet => String::new(),
        Body::Installed(installed) => modules::installed(installed),
        Body::Explained(explained) => explained::explained(explained, style),
        Body::Formatted(files) => tools::formatted(files),
        Body::Hashed(lines) => tools::hashes(lines),
        Body::Cache(report) => tools::cache(report),
        Body::Install(report) => install::install(report, style),
        Body::Mirror(report) => mirror::mirror(report, &root.findings, style),
        Body::Audit(report) => audit::audit(report, &root.findings, style),
        Body::Sbom(inventory) => super::json::harmless(&super::sbom::cyclonedx(inventory)),
        Body::Git(reports) => tools::git(reports),
        // The notes have the decisions.
        Body::Merged(_) => String::new(),
        Body::Shortened(shortened) => shortened.text.lines().flat_map(|line| [printable(line), "\n".into()]).collect(),
        Body::Generated(generated) => tools::generated(generated),
    }
}

fn heading(text: &mut String, name: &str, style: Style) {
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", style.paint(Paint::Strong, format!("{name}:")));
}

fn name_of(root: &RootOutcome) -> String {
    super::groups::name(&root.path)
}

pub(super) fn remarks(outcome: &Outcome, style: Style) -> String {
    let mut text = notes(&outcome.notes, style);
    if outcome.many {
        let naming = RootSummary::of(outcome, style);
        text.push_str(&findings::shared(&many::remaining(outcome), naming, style));
        text.push_str(&many::failures(outcome, naming, style));
    } else {
        text.extend(outcome.roots.iter().map(|root| remark(root, style)));
    }
    text + &outcome.error.iter().map(|error| failure::human(error, style)).collect::<String>()
}

fn remark(root: &RootOutcome, style: Style) -> String {
    match &root.body {
        Ok(Body::Verified(verified)) => verified::reasons(verified, style),
        Ok(Body::Changes(_) | Body::Review(_)) => String::new(),
        Ok(Body::Install(report)) => {
            findings::findings(&root.findings, style) + &failure::each_once(report.failed.iter(), style)
        }
        Ok(Body::Mirror(MirrorReport { failed, .. }) | Body::Audit(AuditReport { failed, .. })) => {
            failure::each_once(failed.iter(), style)
        }
        Ok(_) => findings::findings(&root.findings, style),
        Err(error) => findings::findings(&root.findings, style) + &failure::human(error, style),
    }
}

pub(super) fn notes(notes: &[String], style: Style) -> String {
    if style.detail == Detail::Quiet {
        return String::new();
    }
    notes.iter().fold(String::new(), |mut text, note| {
        let note = flow("note: ".len(), &printable(note), style);
        let _ = writeln!(text, "{} {note}", style.paint(Paint::Aside, "note:"));
        text
    })
}

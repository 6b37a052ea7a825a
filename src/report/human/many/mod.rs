//! Results of several root modules for users: equal ones are printed once, with their number; names appear with -v. The
//! last lines name failures.

mod changes;
mod ends;
mod failures;
pub(in crate::report) mod tables;

use std::path::Path;

use super::{body, findings, heading, name_of};
use crate::exit_code::ExitCode;
use crate::finding::Finding;
use crate::outcome::{Body, Changes, Outcome, RootOutcome};
use crate::report::groups::{Changed, RootSummary};
use crate::report::{Detail, Style};

pub(in crate::report) use ends::{is_whole, total};
pub(super) use failures::failures;
pub(in crate::report) use failures::{Failure, together, unanswered};

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = tables::tables(outcome, naming, style);
    let reviewed = Changed::of(outcome.roots.iter().filter(|root| matches!(root.body, Ok(Body::Review(_)))));
    let changed = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Changes(changes)) => Some((root, changes)),
        _ => None,
    });
    let changed: Vec<(&RootOutcome, &Changes)> =
        changed.filter(|(_, changes)| !super::changes::is_settled_quietly(changes, style)).collect();
    let modules = Changed::of(outcome.roots.iter()).modules();
    text.push_str(&super::review::review(&reviewed, naming, style));
    text.push_str(&changes::items(&changed, naming, style));
    text.push_str(&super::modules::changes(modules.iter().map(|(change, roots)| (*change, roots.len())), style));
    text.push_str(&findings::shared(&shown(outcome), naming, style));
    text.push_str(&super::review::conclusion(&reviewed, style));
    text.push_str(&changes::conclusion(&changed, style));
    text.push_str(&others(outcome, style));
    if outcome.roots.is_empty() && outcome.error.is_none() && outcome.command == "diff" {
        text.push_str("no lock file changed\n");
    }
    let well = style.detail == Detail::Quiet && outcome.code == ExitCode::Done;
    let ends = if well { String::new() } else { ends::ends(outcome, style) };
    if !text.is_empty() && !ends.is_empty() {
        text.push('\n');
    }
    text + &ends
}

pub(super) fn remaining(outcome: &Outcome) -> Vec<(&Path, &Finding)> {
    let is_beside = |root: &&RootOutcome| {
        !matches!(root.body, Ok(Body::Changes(_) | Body::Review(_) | Body::Verified(_) | Body::Audit(_)))
    };
    let roots = outcome.roots.iter().filter(is_beside);
    roots.flat_map(|root| root.findings.iter().map(|finding| (root.path.as_path(), finding))).collect()
}

pub(in crate::report) fn shown(outcome: &Outcome) -> Vec<(&Path, &Finding)> {
    let mut shown = Vec::new();
    for root in &outcome.roots {
        let of: Box<dyn Fn(&Finding) -> bool> = match &root.body {
            Ok(Body::Changes(changes)) => Box::new(|finding| !super::changes::covers(changes, finding)),
            Ok(Body::Review(_) | Body::Verified(_) | Body::Audit(_)) => Box::new(|_| true),
            _ => continue,
        };
        shown.extend(root.findings.iter().filter(|finding| of(finding)).map(|finding| (root.path.as_path(), finding)));
    }
    shown
}

/// Results without a form for several root modules: each below the name of its root module, if it has one.
fn others(outcome: &Outcome, style: Style) -> String {
    let mut text = super::mirror::many(&outcome.roots, style) + &super::install::many(&outcome.roots, style);
    text.push_str(&super::audit::many(&outcome.roots, style));
    for root in &outcome.roots {
        let Ok(found) = &root.body else { continue };
        match found {
            Body::Requirements(_)
            | Body::Entries(_)
            | Body::Outdated(_)
            | Body::OutdatedModules(_)
            | Body::Changes(_)
            | Body::Review(_)
            | Body::Install(_)
            | Body::Mirror(_)
            | Body::Audit(_)
            | Body::Verified(_) => continue,
            Body::Trust(_) | Body::Modules(_) | Body::Installed(_) => {
                heading(&mut text, &name_of(root), style);
            }
            _ => {}
        }
        text.push_str(&body(found, root, style));
    }
    text
}

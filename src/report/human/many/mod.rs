//! Results of many root modules for people: equal ones are told once, with their count; names come with -v. What failed
//! is named in the last lines.

mod changes;
mod ends;
mod failures;
mod review;
mod same;
pub(in crate::report) mod tables;

use std::path::Path;

use super::{body, findings, heading, name_of};
use crate::exit_code::ExitCode;
use crate::finding::Finding;
use crate::outcome::{Body, Changes, Outcome, RootOutcome};
use crate::report::{Detail, Style};

pub(in crate::report) use ends::total;
pub(super) use failures::failures;
pub(in crate::report) use failures::{Failure, together, unanswered};
pub(in crate::report) use same::{Same, Whose, name, root_modules};

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let whose = Whose::of(outcome, style);
    let mut text = tables::tables(outcome, whose, style);
    let (compared, changed): (Vec<_>, Vec<_>) = outcome
        .roots
        .iter()
        .filter_map(|root| match &root.body {
            Ok(Body::Changes(changes)) => Some((root, changes)),
            _ => None,
        })
        .partition(|(_, changes)| changes.sides.is_some());
    let changed: Vec<Changed<'_>> =
        changed.into_iter().filter(|(_, changes)| !super::changes::is_settled_quietly(changes, style)).collect();
    text.push_str(&review::reviews(&compared, whose, style));
    text.push_str(&changes::items(&changed, whose, style));
    text.push_str(&super::modules::many(compared.iter().chain(&changed).map(|(_, changes)| *changes), style));
    text.push_str(&findings::shared(&told(outcome), whose, style));
    text.push_str(&review::conclusion(&compared, style));
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

/// The findings that stand beside the result.
pub(super) fn beside(outcome: &Outcome) -> Vec<(&Path, &Finding)> {
    let is_beside = |root: &&RootOutcome| !matches!(root.body, Ok(Body::Changes(_) | Body::Verified(_)));
    let roots = outcome.roots.iter().filter(is_beside);
    roots.flat_map(|root| root.findings.iter().map(|finding| (root.path.as_path(), finding))).collect()
}

/// The findings that are part of the result.
pub(in crate::report) fn told(outcome: &Outcome) -> Vec<(&Path, &Finding)> {
    let mut told = Vec::new();
    for root in &outcome.roots {
        let of: Box<dyn Fn(&Finding) -> bool> = match &root.body {
            Ok(Body::Changes(changes)) => Box::new(|finding| !super::changes::tells(changes, finding)),
            Ok(Body::Verified(_)) => Box::new(|_| true),
            _ => continue,
        };
        told.extend(root.findings.iter().filter(|finding| of(finding)).map(|finding| (root.path.as_path(), finding)));
    }
    told
}

/// What has no form of its own for many root modules: each below its name, where it is about one.
fn others(outcome: &Outcome, style: Style) -> String {
    let mut text = String::new();
    for root in &outcome.roots {
        let Ok(found) = &root.body else { continue };
        match found {
            Body::Requirements(_)
            | Body::Entries(_)
            | Body::Outdated(_)
            | Body::OutdatedModules(_)
            | Body::Changes(_)
            | Body::Verified(_) => continue,
            Body::Trust(_) | Body::Mirror(_) | Body::Modules(_) | Body::Installed(_) => {
                heading(&mut text, &name_of(root), style);
            }
            _ => {}
        }
        text.push_str(&body(found, root, style));
    }
    text
}

/// A root module and what changed there.
type Changed<'a> = (&'a RootOutcome, &'a Changes);

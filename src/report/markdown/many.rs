//! Several root modules: totals first, one table of findings, and folded root modules without problems.

use std::fmt::Write;
use std::path::Path;

use super::escape::{self, code, escaped};
use super::{LIMIT, failure, markdown, review, table_of};
use crate::outcome::{Body, Grouping, Outcome, RootOutcome};
use crate::report::groups::{Changed, RootSummary, name, root_modules};
use crate::report::human::many::{self, tables};
use crate::report::summary::is_clean;
use crate::report::{Style, human};

/// The most names in a folded list.
const MOST_NAMES: usize = 1000;

/// The part before the changes.
pub(super) fn before(outcome: &Outcome, changed: &Changed<'_>, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = total(outcome, changed);
    let failed = outcome.roots.iter().filter_map(|root| Some((root.path.as_path(), root.body.as_ref().err()?)));
    for many::Failure { error, paths } in many::together(failed, naming.recursive) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}\nin {}\n", failure(&error), escaped(&naming.table_cell(&paths)));
    }
    let roots: Vec<(&Path, &RootOutcome)> = outcome.roots.iter().map(|root| (root.path.as_path(), root)).collect();
    text.push_str(&table_of(&roots, Some(naming), style));
    let unanswered = outcome.roots.iter().filter(|root| root.body.is_ok());
    let unanswered = many::together(unanswered.flat_map(many::unanswered), naming.recursive);
    text.push_str(&review::silent(unanswered.iter().map(|failure| &failure.error)));
    let list = if outcome.grouping == Grouping::Provider { tables::by_provider(outcome, naming, style) } else { None };
    text.push_str(&markdown(list, LIMIT));
    text.push_str(&markdown(tables::outdated(outcome, naming, style), LIMIT));
    text.push_str(&markdown(tables::outdated_modules(outcome, naming), LIMIT));
    let others = others(outcome);
    if !others.is_empty() {
        let plain = human::render(&Outcome { roots: others, notes: Vec::new(), error: None, ..*outcome }, style);
        let _ = writeln!(text, "{}", escape::fenced("", &plain));
    }
    text + &passed(outcome)
}

fn total(outcome: &Outcome, changed: &Changed<'_>) -> String {
    let total = match (outcome.roots.is_empty(), many::total(outcome)) {
        (true, _) => return "No lock file changed.\n".to_owned(),
        (false, Some(total)) => total,
        (false, None) if changed.files.is_empty() => return String::new(),
        (false, None) => changed.total(),
    };
    format!("**{}**\n\n", escaped(&total))
}

/// The results without a form for several root modules.
fn others(outcome: &Outcome) -> Vec<RootOutcome> {
    let has_none = |root: &&RootOutcome| match &root.body {
        Ok(Body::Entries(_)) => outcome.grouping == Grouping::Root,
        Ok(Body::Outdated(_) | Body::OutdatedModules(_) | Body::Changes(_) | Body::Review(_) | Body::Verified(_))
        | Err(_) => false,
        Ok(_) => true,
    };
    let others = outcome.roots.iter().filter(has_none);
    others.map(|root| RootOutcome { findings: Vec::new(), ..root.clone() }).collect()
}

/// The folded root modules without problems.
fn passed(outcome: &Outcome) -> String {
    let well: Vec<&RootOutcome> = outcome.roots.iter().filter(|root| is_clean(root)).collect();
    if well.is_empty() {
        return String::new();
    }
    let names: Vec<String> = well.iter().take(MOST_NAMES).map(|root| code(&name(&root.path))).collect();
    let more = if well.len() > MOST_NAMES { format!(" and {} more", well.len() - MOST_NAMES) } else { String::new() };
    let summary = format!("{} without findings", root_modules(well.len()));
    format!("<details>\n<summary>{summary}</summary>\n\n{}{more}\n\n</details>\n\n", names.join(", "))
}

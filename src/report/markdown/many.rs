//! Several root modules: totals first, one table of findings, and folded root modules without problems.

use std::fmt::Write;

use super::escape::{self, code, escaped};
use super::{LIMIT, failure, markdown, review, table_of};
use crate::count::first_of;
use crate::outcome::{Body, Grouping, Outcome, Outdated, OutdatedModule, RootOutcome};
use crate::report::failure::{Failure, together};
use crate::report::groups::{Changed, RootSummary, name, root_modules};
use crate::report::human::tables as of_text;
use crate::report::summary::is_clean;
use crate::report::{Style, human};

/// The most names in a folded list.
const MOST_NAMES: usize = 1000;

/// The part before the changes.
pub(super) fn before(outcome: &Outcome, changed: &Changed<'_>, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let mut text = total(outcome, changed);
    let failed = outcome.roots.iter().filter_map(|root| Some((root.path.as_path(), root.body.as_ref().err()?)));
    for Failure { error, paths, .. } in together(failed, naming.recursive) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}\nin {}\n", failure(&error), escaped(&naming.table_cell(&paths)));
    }
    text.push_str(&table_of(outcome.findings(), naming, style));
    let unanswered = outcome.roots.iter().filter(|root| root.body.is_ok());
    let unanswered = together(unanswered.flat_map(RootOutcome::errors), naming.recursive);
    text.push_str(&review::silent(unanswered.iter().map(|failure| &failure.error)));
    text + &tables(outcome, naming, LIMIT, style) + &passed(outcome)
}

/// The results that are tables, and as text those without a form in Markdown.
pub(super) fn tables(outcome: &Outcome, naming: RootSummary, room: usize, style: Style) -> String {
    let mut text = markdown(of_text::by_provider(outcome, naming, style), room);
    text.push_str(&markdown(of_text::outdated(outcome, naming, style), room));
    text.push_str(&markdown(of_text::outdated_modules(outcome, naming), room));
    let others = of_roots(outcome, outcome.roots.iter().filter(|root| has_no_form(root, outcome)));
    let plain = if others.roots.is_empty() { String::new() } else { human::render(&others, style) };
    if !plain.is_empty() {
        let _ = writeln!(text, "{}", escape::fenced("", &plain));
    }
    text
}

/// The results of some root modules, without their findings.
pub(super) fn of_roots<'a>(outcome: &Outcome, roots: impl IntoIterator<Item = &'a RootOutcome>) -> Outcome {
    let roots = roots.into_iter().map(|root| RootOutcome { findings: Vec::new(), ..root.clone() }).collect();
    Outcome { roots, notes: Vec::new(), error: None, ..*outcome }
}

fn total(outcome: &Outcome, changed: &Changed<'_>) -> String {
    let total = match (outcome.roots.is_empty(), human::total(outcome)) {
        (true, _) => return "No lock file changed.\n".to_owned(),
        (false, Some(total)) => total,
        (false, None) if changed.files.is_empty() => return String::new(),
        (false, None) => changed.total(),
    };
    format!("**{}**\n\n", escaped(&total))
}

/// True if a result is neither a table nor an error. That nothing is outdated is a sentence for one root module.
fn has_no_form(root: &RootOutcome, outcome: &Outcome) -> bool {
    match &root.body {
        Ok(Body::Entries(_)) => outcome.many && outcome.grouping == Grouping::Root,
        Ok(Body::Outdated(report)) => !outcome.many && !report.rows.iter().any(Outdated::is_noteworthy),
        Ok(Body::OutdatedModules(report)) => !outcome.many && !report.rows.iter().any(OutdatedModule::is_noteworthy),
        Ok(Body::Changes(_) | Body::Review(_) | Body::Verified(_)) | Err(_) => false,
        Ok(_) => true,
    }
}

/// The folded root modules without problems.
fn passed(outcome: &Outcome) -> String {
    let well: Vec<&RootOutcome> = outcome.roots.iter().filter(|root| is_clean(root)).collect();
    if well.is_empty() {
        return String::new();
    }
    let names = first_of(&well.iter().map(|root| code(&name(&root.path))).collect::<Vec<_>>(), MOST_NAMES);
    let summary = format!("{} without findings", root_modules(well.len()));
    format!("<details>\n<summary>{summary}</summary>\n\n{names}\n\n</details>\n\n")
}

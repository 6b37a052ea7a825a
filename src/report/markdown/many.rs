//! Many root modules: the total first, one table of findings, and folded away where all is well.

use std::fmt::Write;
use std::path::Path;

use super::escape::{self, code, escaped};
use super::{LIMIT, Part, failure, markdown, review, table_of};
use crate::outcome::{Body, Changes, Grouping, Outcome, RootOutcome};
use crate::report::human::many::{self, Whose, tables};
use crate::report::summary::{is_well, name, of_changes};
use crate::report::{Style, human};

/// The most names in a list that is folded away.
const MOST_NAMES: usize = 1000;

/// How many lock files of equal changes are named in a heading.
const MOST_IN_HEADING: usize = 3;

/// What stands before the changes of each.
pub(super) fn before(outcome: &Outcome, style: Style) -> String {
    let whose = Whose::of(outcome, style);
    let mut text = total(outcome);
    let failed = outcome.roots.iter().filter_map(|root| Some((root.path.as_path(), root.body.as_ref().err()?)));
    for many::Failure { error, paths } in many::together(failed, whose.recursive) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}\nin {}\n", failure(&error), escaped(&whose.cell(&paths)));
    }
    let roots: Vec<(&Path, &RootOutcome)> = outcome.roots.iter().map(|root| (root.path.as_path(), root)).collect();
    text.push_str(&table_of(&roots, Some(whose), style));
    let unanswered = outcome.roots.iter().filter(|root| root.body.is_ok());
    let unanswered = many::together(unanswered.flat_map(many::unanswered), whose.recursive);
    text.push_str(&review::silent(unanswered.iter().map(|failure| &failure.error)));
    let list = if outcome.grouping == Grouping::Provider { tables::by_provider(outcome, whose, style) } else { None };
    text.push_str(&markdown(list, LIMIT));
    text.push_str(&markdown(tables::outdated(outcome, whose, style), LIMIT));
    text.push_str(&markdown(tables::outdated_modules(outcome, whose), LIMIT));
    let others = others(outcome);
    if !others.is_empty() {
        let plain = human::render(&Outcome { roots: others, notes: Vec::new(), error: None, ..*outcome }, style);
        let _ = writeln!(text, "{}", escape::fenced("", &plain));
    }
    text + &passed(outcome)
}

fn total(outcome: &Outcome) -> String {
    let compared: Vec<&Changes> = compared(outcome).map(|(_, changes)| changes).collect();
    let total = match (outcome.roots.is_empty(), many::total(outcome)) {
        (true, _) => return "No lock file changed.\n".to_owned(),
        (false, Some(total)) => total,
        (false, None) if compared.is_empty() => return String::new(),
        (false, None) => of_changes(&compared),
    };
    format!("**{}**\n\n", escaped(&total))
}

fn compared(outcome: &Outcome) -> impl Iterator<Item = (&RootOutcome, &Changes)> {
    outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Changes(changes)) => Some((root, changes)),
        _ => None,
    })
}

/// What has no form of its own here.
fn others(outcome: &Outcome) -> Vec<RootOutcome> {
    let has_none = |root: &&RootOutcome| match &root.body {
        Ok(Body::Entries(_)) => outcome.grouping == Grouping::Root,
        Ok(Body::Outdated(_) | Body::OutdatedModules(_) | Body::Changes(_) | Body::Verified(_)) | Err(_) => false,
        Ok(_) => true,
    };
    let others = outcome.roots.iter().filter(has_none);
    others.map(|root| RootOutcome { findings: Vec::new(), ..root.clone() }).collect()
}

/// The root modules where all is well, folded away.
fn passed(outcome: &Outcome) -> String {
    let well: Vec<&RootOutcome> = outcome.roots.iter().filter(|root| is_well(root)).collect();
    if well.is_empty() {
        return String::new();
    }
    let names: Vec<String> = well.iter().take(MOST_NAMES).map(|root| code(&many::name(&root.path))).collect();
    let more = if well.len() > MOST_NAMES { format!(" and {} more", well.len() - MOST_NAMES) } else { String::new() };
    let summary = format!("{} where all is well", many::root_modules(well.len()));
    format!("<details>\n<summary>{summary}</summary>\n\n{}{more}\n\n</details>\n\n", names.join(", "))
}

/// The changes of lock files; those of which the same is to be told stand together.
pub(super) fn parts(outcome: &Outcome) -> Vec<Part<'_>> {
    let mut groups: Vec<(Changes, Vec<&RootOutcome>)> = Vec::new();
    for (root, changes) in compared(outcome).filter(|(_, changes)| changes.changed || changes.sides.is_some()) {
        // Where they are and where in their files they begin is all that may differ.
        let mut bare = Changes { path: std::path::PathBuf::new(), edited: Vec::new(), diff: None, ..changes.clone() };
        bare.changes.iter_mut().for_each(|change| change.position = None);
        match groups.iter_mut().find(|(known, _)| *known == bare) {
            Some((_, roots)) => roots.push(root),
            None => groups.push((bare, vec![root])),
        }
    }
    groups.into_iter().filter_map(|(_, roots)| part(&roots)).collect()
}

fn part<'a>(roots: &[&'a RootOutcome]) -> Option<Part<'a>> {
    let first = *roots.first()?;
    let told = if roots.len() > MOST_IN_HEADING + 1 { MOST_IN_HEADING } else { roots.len() };
    let names: Vec<String> = roots.iter().take(told).map(|root| code(&name(root))).collect();
    let more = if roots.len() > told { format!(" and {} more", roots.len() - told) } else { String::new() };
    Some(Part { count: roots.len(), name: names.join(", ") + &more, ..Part::of(first) })
}

//! An outcome in a few lines, for the end of a report.

use std::collections::HashMap;

use super::groups::{Changed, RootSummary, Same};
use super::{Style, human, shown};
use crate::count::counted;
use crate::error::Error;
use crate::finding::Level;
use crate::outcome::{Body, Outcome, RootOutcome};

/// One line for each root module; for several, their totals and one line for those with equal problems.
pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    if outcome.roots.is_empty() {
        return vec!["no lock file changed".to_owned()];
    }
    let total = if outcome.many { human::total(outcome) } else { None };
    // Of several root modules those without problems are only counted, and reviews are counted together.
    let is_review = |root: &RootOutcome| outcome.many && matches!(root.body, Ok(Body::Review(_)));
    let reviews = Changed::of(outcome.roots.iter().filter(|root| is_review(root)));
    let reviews = (!reviews.files.is_empty()).then(|| reviews.total());
    let parts = outcome.roots.iter().filter(|root| total.is_none() || !is_clean(root));
    let parts = parts.filter(|root| !is_review(root) || findings(root).is_some());
    let failed = outcome.error.iter().map(|error| format!("failed: {}", error.message));
    let (mut same, mut names) = (Same::new(), HashMap::new());
    for root in parts {
        let what = of_root(root);
        names.entry(what.clone()).or_insert_with(|| name(root));
        same.add(&root.path, what);
    }
    let naming = RootSummary::of(outcome, Style::default());
    let parts = same.into_items().into_iter().map(|(what, paths)| match (paths.len(), names.get(&what)) {
        (1, Some(name)) => format!("{name}: {what}"),
        _ => format!("{}: {what}", naming.label(&paths)),
    });
    total.clone().into_iter().chain(reviews).chain(parts).chain(failed).collect()
}

pub(super) fn is_clean(root: &RootOutcome) -> bool {
    let unremarked = root.findings.iter().all(|finding| finding.level < Level::Warn);
    match &root.body {
        Ok(Body::Verified(verified)) => unremarked && verified.inconclusive.is_empty(),
        Ok(Body::Changes(changes)) => unremarked && !changes.changed,
        Ok(_) | Err(_) => false,
    }
}

/// The lock file, or the directory of its root module.
pub(super) fn name(root: &RootOutcome) -> String {
    match &root.body {
        Ok(Body::Changes(changes)) => shown(&changes.path),
        Ok(Body::Review(review)) => shown(&review.path),
        _ if root.path.as_os_str().is_empty() => ".".to_owned(),
        _ => shown(&root.path),
    }
}

fn of_root(root: &RootOutcome) -> String {
    let findings = findings(root);
    match &root.body {
        Ok(Body::Changes(_) | Body::Review(_)) => {
            [Changed::of([root]).total()].into_iter().chain(findings).collect::<Vec<_>>().join("; ")
        }
        Ok(Body::Verified(verified)) if !verified.inconclusive.is_empty() => {
            let ended = human::word(verified.code());
            let unknown = format!("{ended}: {} unknown", human::hashes(verified.unknown));
            [unknown].into_iter().chain(findings).collect::<Vec<_>>().join("; ")
        }
        Ok(_) => findings.unwrap_or_else(|| "no findings".to_owned()),
        Err(error) => format!("failed: {}", error.message),
    }
}

fn findings(root: &RootOutcome) -> Option<String> {
    let count = |level| root.findings.iter().filter(|finding| finding.level == level).count();
    let denied = Some(count(Level::Deny)).filter(|count| *count > 0).map(|count| format!("{count} denied"));
    let others = [(count(Level::Warn), "warning"), (count(Level::Note), "note")];
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, noun)| counted(count, noun));
    let parts: Vec<String> = denied.into_iter().chain(others).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The most sources without an answer that a report names.
const MOST_UNANSWERED: usize = 3;

/// The first sources without an answer, each once, and the number of the others.
pub(super) fn unanswered<'a>(errors: impl IntoIterator<Item = &'a Error>) -> (Vec<&'a Error>, usize) {
    let mut parts: Vec<&Error> = Vec::new();
    for error in errors {
        if !parts.contains(&error) {
            parts.push(error);
        }
    }
    let left = parts.len().saturating_sub(MOST_UNANSWERED);
    parts.truncate(MOST_UNANSWERED);
    (parts, left)
}

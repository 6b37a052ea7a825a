//! What came of many root modules, in one line.

use crate::finding::Level;
use crate::outcome::{Body, Outcome, RootOutcome};

/// How a root module ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Changed,
    Differs,
    Same,
    Passed,
    Unchanged,
    Refused,
    Inconclusive,
    Failed,
}

/// `40 root modules: 38 changed, 2 failed`; nothing unless several were asked for and lock files are what it was about.
pub(super) fn totals(outcome: &Outcome) -> String {
    let is_other = |root: &RootOutcome| match &root.body {
        Ok(Body::Changes(changes)) => changes.sides.is_some(),
        Ok(body) => !matches!(body, Body::Verified(_)),
        Err(_) => false,
    };
    if !outcome.many || outcome.roots.iter().any(is_other) || outcome.roots.iter().all(|root| root.body.is_err()) {
        return String::new();
    }
    let ends: Vec<End> = outcome.roots.iter().map(end).collect();
    let words = [
        (End::Changed, "changed"),
        (End::Differs, "would change"),
        (End::Same, "up to date"),
        (End::Passed, "passed"),
        (End::Unchanged, "unchanged"),
        (End::Refused, "refused"),
        (End::Inconclusive, "inconclusive"),
        (End::Failed, "failed"),
    ];
    let told: Vec<String> = words
        .into_iter()
        .map(|(end, word)| (ends.iter().filter(|other| **other == end).count(), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let count = ends.len();
    format!("{count} root {}: {}\n", if count == 1 { "module" } else { "modules" }, told.join(", "))
}

fn end(root: &RootOutcome) -> End {
    match &root.body {
        Err(_) => End::Failed,
        _ if root.findings.iter().any(|finding| finding.level == Level::Deny) => End::Refused,
        Ok(Body::Verified(verified)) if !verified.inconclusive.is_empty() => End::Inconclusive,
        Ok(Body::Verified(verified)) if verified.unchanged => End::Unchanged,
        Ok(Body::Verified(_)) => End::Passed,
        Ok(Body::Changes(changes)) if changes.written => End::Changed,
        Ok(Body::Changes(changes)) if changes.changed => End::Differs,
        Ok(_) => End::Same,
    }
}

//! An outcome in a few lines, as formats end with.

use super::{human, slashed};
use crate::diff::{Risk, risk};
use crate::error::Error;
use crate::evidence::Verdict;
use crate::finding::Level;
use crate::outcome::{Body, Changes, Outcome, RootOutcome};

/// One line for each root module.
pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    if outcome.roots.is_empty() {
        return vec!["no lock file changed".to_owned()];
    }
    let told = outcome.roots.iter().filter(|root| !outcome.many || !root.is_untouched());
    let beside = outcome.error.iter().map(|error| format!("failed: {}", error.message));
    told.map(|root| format!("{}: {}", name(root), of_root(root))).chain(beside).collect()
}

/// The lock file, or the directory of its root module.
pub(super) fn name(root: &RootOutcome) -> String {
    match &root.body {
        Ok(Body::Changes(changes)) => slashed(&changes.path),
        _ if root.path.as_os_str().is_empty() => ".".to_owned(),
        _ => slashed(&root.path),
    }
}

fn of_root(root: &RootOutcome) -> String {
    let findings = findings(root);
    match &root.body {
        Ok(Body::Changes(changes)) => [of_changes(changes)].into_iter().chain(findings).collect::<Vec<_>>().join("; "),
        Ok(Body::Verified(verified)) if !verified.inconclusive.is_empty() => {
            let inconclusive = format!("inconclusive: {} unknown", human::hashes(verified.unknown));
            [inconclusive].into_iter().chain(findings).collect::<Vec<_>>().join("; ")
        }
        Ok(_) => findings.unwrap_or_else(|| "no findings".to_owned()),
        Err(error) => format!("failed: {}", error.message),
    }
}

fn findings(root: &RootOutcome) -> Option<String> {
    let count = |level| root.findings.iter().filter(|finding| finding.level == level).count();
    let told = [(count(Level::Deny), "denied"), (count(Level::Warn), "warned of"), (count(Level::Note), "noted")];
    let told: Vec<String> =
        told.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    (!told.is_empty()).then(|| format!("findings: {}", told.join(", ")))
}

/// How many providers changed, by risk, and how many new checksums nobody was asked about.
pub(super) fn of_changes(changes: &Changes) -> String {
    if changes.changes.is_empty() {
        return match (changes.text.formatting || changes.text.header.is_some(), changes.changed) {
            (true, _) => "no provider changed, only the text".to_owned(),
            (false, true) => "no provider changed".to_owned(),
            (false, false) => "nothing changed".to_owned(),
        };
    }
    let count = |wanted| changes.changes.iter().filter(|change| risk(change) == wanted).count();
    let risks: Vec<String> = [Risk::Dangerous, Risk::Notable, Risk::Routine]
        .into_iter()
        .map(|risk| (count(risk), risk.as_str()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let all = changes.changes.len();
    let providers = if all == 1 { "1 provider changed".to_owned() } else { format!("{all} providers changed") };
    let unchecked = unchecked(changes);
    let unchecked = match unchecked {
        0 => String::new(),
        1 => "; 1 new checksum not checked".to_owned(),
        count => format!("; {count} new checksums not checked"),
    };
    format!("{providers}: {}{unchecked}", risks.join(", "))
}

/// The most sources without an answer that people are told of.
const MOST_UNANSWERED: usize = 3;

/// The first sources that gave no answer, each once, and how many others did not either.
pub(super) fn unanswered<'a>(errors: impl IntoIterator<Item = &'a Error>) -> (Vec<&'a Error>, usize) {
    let mut told: Vec<&Error> = Vec::new();
    for error in errors {
        if !told.contains(&error) {
            told.push(error);
        }
    }
    let left = told.len().saturating_sub(MOST_UNANSWERED);
    told.truncate(MOST_UNANSWERED);
    (told, left)
}

/// How many new checksums nothing is known of, because nobody was asked.
pub(super) fn unchecked(changes: &Changes) -> usize {
    let of_change = |change: &crate::outcome::Change| {
        let added = change.hashes_added.iter().filter_map(|added| change.judged.get(&added.hash));
        added.filter(|judged| judged.verdict == Verdict::UnknownOffline).count()
    };
    changes.changes.iter().map(of_change).sum()
}

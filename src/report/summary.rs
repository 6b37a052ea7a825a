//! An outcome in a few lines, as formats end with.

use std::collections::{BTreeMap, HashMap};

use super::human::many::{Same, Whose};
use super::{Style, human, slashed};
use crate::addr::ProviderAddr;
use crate::diff::Change;
use crate::diff::{Risk, risk};
use crate::error::Error;
use crate::evidence::Verdict;
use crate::finding::Level;
use crate::outcome::{Body, Changes, Outcome, RootOutcome};

/// One line for each root module; of many how they ended, and one for those of which the same is to be told because all
/// is not well.
pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    if outcome.roots.is_empty() {
        return vec!["no lock file changed".to_owned()];
    }
    let total = if outcome.many { human::many::total(outcome) } else { None };
    // Of many those where all is well are only counted.
    let told = outcome.roots.iter().filter(|root| total.is_none() || !is_well(root));
    let beside = outcome.error.iter().map(|error| format!("failed: {}", error.message));
    let (mut same, mut names) = (Same::new(), HashMap::new());
    for root in told {
        let what = of_root(root);
        names.entry(what.clone()).or_insert_with(|| name(root));
        same.add(&root.path, what);
    }
    let whose = Whose::of(outcome, Style::default());
    let told = same.into_items().into_iter().map(|(what, paths)| match (paths.len(), names.get(&what)) {
        (1, Some(name)) => format!("{name}: {what}"),
        _ => format!("{}: {what}", whose.told(&paths)),
    });
    total.clone().into_iter().chain(told).chain(beside).collect()
}

/// True if there is nothing to tell of a root module.
pub(super) fn is_well(root: &RootOutcome) -> bool {
    let unremarked = root.findings.iter().all(|finding| finding.level < Level::Warn);
    match &root.body {
        Ok(Body::Verified(verified)) => unremarked && verified.inconclusive.is_empty(),
        Ok(Body::Changes(changes)) => unremarked && !changes.changed && changes.sides.is_none(),
        Ok(_) | Err(_) => false,
    }
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
        Ok(Body::Changes(changes)) => {
            [of_changes(&[changes])].into_iter().chain(findings).collect::<Vec<_>>().join("; ")
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
    let told = [(count(Level::Deny), "denied"), (count(Level::Warn), "warned of"), (count(Level::Note), "noted")];
    let told: Vec<String> =
        told.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    (!told.is_empty()).then(|| format!("findings: {}", told.join(", ")))
}

/// How many providers changed, by risk, and how many new checksums no server was asked about; of many lock files together.
pub(super) fn of_changes(all: &[&Changes]) -> String {
    let mut risks: BTreeMap<&ProviderAddr, Risk> = BTreeMap::new();
    for change in all.iter().flat_map(|changes| &changes.changes) {
        let known = risks.entry(&change.address).or_insert(Risk::Routine);
        *known = risk(change).max(*known);
    }
    let files = if all.len() > 1 { format!("{} lock files changed; ", all.len()) } else { String::new() };
    if risks.is_empty() {
        let text = all.iter().any(|changes| changes.text.formatting || changes.text.header.is_some());
        let told = match (text, all.iter().any(|changes| changes.changed)) {
            (true, _) => "no provider changed, only the text",
            (false, true) => "no provider changed",
            (false, false) => "nothing changed",
        };
        return files + told;
    }
    let told: Vec<String> = [Risk::Dangerous, Risk::Notable, Risk::Routine]
        .into_iter()
        .map(|risk| (risks.values().filter(|it| **it == risk).count(), risk.as_str()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let count = risks.len();
    let providers = if count == 1 { "1 provider changed".to_owned() } else { format!("{count} providers changed") };
    let unchecked = match unchecked(all) {
        0 => String::new(),
        1 => "; 1 new checksum not checked".to_owned(),
        count => format!("; {count} new checksums not checked"),
    };
    format!("{files}{providers}: {}{unchecked}", told.join(", "))
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

/// How many new checksums nothing is known of, because no server was asked.
pub(super) fn unchecked(all: &[&Changes]) -> usize {
    let of_change = |change: &Change| {
        let added = change.hashes_added.iter().filter_map(|added| change.judged.get(&added.hash));
        added.filter(|judged| judged.verdict == Verdict::UnknownOffline).count()
    };
    all.iter().flat_map(|changes| &changes.changes).map(of_change).sum()
}

//! The results of root modules: their numbers, and the names of those with problems.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::verified::hashes;
use crate::count::nonzero;
use crate::exit_code::ExitCode;
use crate::finding::{Finding, Level};
use crate::outcome::{Body, Need, Outcome, RootOutcome};
use crate::report::groups::{name, root_modules};
use crate::report::paint::Paint;
use crate::report::{Detail, Style};

/// How many root modules of one result are named.
const MOST_NAMED: usize = 20;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Reported,
    Unchanged,
    NotChecked,
    PartlyChecked,
    Same,
    Passed,
    Upgradable,
    Differs,
    Changed,
    Inconclusive,
    Refused,
    Failed,
}

/// In the order of the summary; results without a word are not counted.
const WORDS: [(End, &str); 11] = [
    (End::Changed, "changed"),
    (End::Differs, "would change"),
    (End::Upgradable, "can be upgraded"),
    (End::Same, "up to date"),
    (End::Passed, "passed"),
    (End::Unchanged, "unchanged"),
    (End::NotChecked, "not checked"),
    (End::PartlyChecked, "not fully checked"),
    (End::Refused, "refused"),
    (End::Inconclusive, "inconclusive"),
    (End::Failed, "failed"),
];

/// `40 root modules: 38 changed, 2 failed`, and one line for each that failed, is inconclusive or is refused.
pub(super) fn ends(outcome: &Outcome, style: Style) -> String {
    let Some(mut text) = total(outcome) else { return String::new() };
    text.push('\n');
    let roots = worst(outcome);
    let modules = roots.values().filter(|(_, root)| !is_whole(root)).count();
    for (worst, word) in [(End::Inconclusive, "inconclusive"), (End::Refused, "refused"), (End::Failed, "failed")] {
        let of: Vec<&RootOutcome> = roots.values().filter(|(end, _)| *end == worst).map(|(_, root)| *root).collect();
        let most = if style.detail == Detail::Verbose || of.len() <= MOST_NAMED + 1 { of.len() } else { MOST_NAMED };
        let label = style.paint(Paint::Bad, format!("{word}:"));
        let same = of.first().map(|first| why(first)).filter(|first| of.iter().all(|root| why(root) == *first));
        // Writing to a string cannot fail, here and below.
        if let Some(why) = same.filter(|_| of.len() > 3 && of.len() == modules && style.detail < Detail::Verbose) {
            let _ = writeln!(text, "{label} all {}{why}", root_modules(of.len()));
            continue;
        }
        for root in of.iter().take(most) {
            let name = if is_whole(root) { "the repository".to_owned() } else { name(&root.path) };
            let _ = writeln!(text, "{label} {name}{}", why(root));
        }
        if of.len() > most {
            let _ = writeln!(text, "{label} {} more; -v names them", of.len() - most);
        }
    }
    text
}

/// True if it is no root module but the working tree as a whole.
pub(in crate::report) fn is_whole(root: &RootOutcome) -> bool {
    matches!(&root.body, Ok(Body::Verified(verified)) if verified.of_work_tree)
}

fn worst(outcome: &Outcome) -> BTreeMap<&Path, (End, &RootOutcome)> {
    let mut roots: BTreeMap<&Path, (End, &RootOutcome)> = BTreeMap::new();
    for root in &outcome.roots {
        // A root module may have a result and an error.
        let known = roots.entry(&root.path).or_insert((End::Reported, root));
        if end(root) > known.0 {
            *known = (end(root), root);
        }
    }
    roots
}

/// `40 root modules: 38 passed, 2 failed; 840 hashes proven`; `None` if there is nothing to count.
pub(in crate::report) fn total(outcome: &Outcome) -> Option<String> {
    let mut roots = worst(outcome);
    // The working tree as a whole is no root module.
    roots.retain(|_, (_, root)| !is_whole(root));
    let parts = WORDS.map(|(end, word)| (roots.values().filter(|(other, _)| *other == end).count(), word));
    let parts = nonzero(parts);
    let count = root_modules(roots.len());
    let is_dry = roots.values().any(|(end, _)| *end == End::Differs);
    let unwritten = if is_dry { "; nothing was written" } else { "" };
    (!parts.is_empty()).then(|| format!("{count}: {parts}{unwritten}{}", proven(outcome)))
}

/// The rules that refuse a root module.
fn why(root: &RootOutcome) -> String {
    let mut rules: Vec<&str> = denied(root).map(|finding| finding.rule.id()).collect();
    rules.sort_unstable();
    rules.dedup();
    if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) }
}

fn denied(root: &RootOutcome) -> impl Iterator<Item = &Finding> {
    root.findings.iter().filter(|finding| finding.level == Level::Deny)
}

/// The total of proven and unknown hashes.
fn proven(outcome: &Outcome) -> String {
    let verified = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Verified(verified)) if !verified.unchanged => Some((verified.proven, verified.unknown)),
        _ => None,
    });
    let sums = verified.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1));
    match sums {
        None => String::new(),
        Some((proven, 0)) => format!("; {} proven", hashes(proven)),
        Some((proven, unknown)) => format!("; {} proven, {unknown} unknown", hashes(proven)),
    }
}

fn end(root: &RootOutcome) -> End {
    match &root.body {
        _ if root.code() == ExitCode::Refused && denied(root).next().is_some() => End::Refused,
        Err(error) if error.kind.is_inconclusive() => End::Inconclusive,
        Err(_) => End::Failed,
        _ if denied(root).next().is_some() => End::Refused,
        Ok(Body::Verified(verified)) if !verified.inconclusive.is_empty() => match verified.code() {
            ExitCode::Refused => End::Refused,
            ExitCode::Failed => End::Failed,
            _ => End::Inconclusive,
        },
        Ok(Body::Verified(verified)) if verified.not_checked.is_some() => End::NotChecked,
        Ok(Body::Verified(verified)) if verified.unchanged => End::Unchanged,
        Ok(Body::Verified(_)) => End::Passed,
        Ok(_) if root.is_upgradable() => End::Upgradable,
        Ok(Body::Outdated(report)) if report.complete => End::Same,
        Ok(Body::OutdatedModules(report)) if report.complete => End::Same,
        Ok(Body::Changes(changes)) if changes.written => End::Changed,
        Ok(Body::Changes(changes)) if changes.changed => End::Differs,
        Ok(Body::Changes(changes)) if changes.need == Need::Unchecked => End::PartlyChecked,
        Ok(Body::Changes(_)) => End::Same,
        Ok(_) => End::Reported,
    }
}

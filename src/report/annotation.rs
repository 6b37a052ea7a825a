//! Findings, changes and errors as one list of annotations on lines, for code hosts.

use std::path::Path;

use crate::diff::{Change, ChangeKind, Risk, TextChange, explain_text, risk_of_text};
use crate::error::Error;
use crate::finding::{Finding, Level, Position};
use crate::hash::Sha256Digest;
use crate::lockfile::LockName;
use crate::outcome::{Body, ItemRule, Outcome, RootOutcome};
use crate::report::change::{signed_in_short, versions};
use crate::report::groups::{ChangeGroup, Changed, MOST_NAMES, RootSummary, first_names, root_modules, shared_items};
use crate::report::problems::{advice, grouped_errors, grouped_findings};
use crate::report::style::Style;
use crate::report::{shown, summary};
use crate::step::Step;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) rule: ItemRule,
    pub(super) level: Level,
    pub(super) title: String,
    pub(super) message: String,
    pub(super) address: Option<String>,
    pub(super) file: Option<String>,
    pub(super) position: Option<Position>,
    /// The other files that it is about.
    pub(super) others: Vec<(String, Option<Position>)>,
    /// True for an error of the run itself.
    pub(super) is_failure: bool,
}

impl Annotation {
    /// Identifies the same annotation across runs, independent of its line.
    pub(super) fn fingerprint(&self) -> String {
        let file = self.file.as_deref().unwrap_or_default();
        let address = self.address.as_deref().unwrap_or_default();
        Sha256Digest::of([self.rule.id, file, address, &self.title].join("\0").as_bytes()).to_hex()
    }
}

/// Whether to list equal findings of several root modules once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Findings {
    Each,
    Grouped,
}

/// All annotations of an outcome: each change once, then findings and errors.
pub(super) fn items(outcome: &Outcome, findings: Findings) -> Vec<Annotation> {
    let changed = Changed::of(outcome.roots.iter().filter(|root| root.body.is_ok()));
    let mut items: Vec<Annotation> = changed.groups.iter().map(of_change).collect();
    items.extend(of_texts(&changed));
    for root in &outcome.roots {
        let (file, errors): (_, Vec<&Error>) = match &root.body {
            Ok(Body::Review(review)) => (review.path.clone(), review.inconclusive.iter().collect()),
            Ok(Body::Verified(verified)) => {
                (LockName::file(&root.path), verified.inconclusive.iter().map(|it| &it.error).collect())
            }
            _ => continue,
        };
        let (listed, _) = summary::unanswered(errors);
        items.extend(listed.into_iter().map(|error| unanswered(error, &file)));
    }
    match findings {
        Findings::Each => items.extend(outcome.findings().map(|(_, it)| of_finding(it, &it.help(), &[]))),
        Findings::Grouped => {
            let groups = grouped_findings(outcome.findings(), Style::default());
            let steps = advice(&groups, RootSummary::of(outcome, Style::default()));
            items.extend(groups.iter().zip(steps).map(|(it, step)| of_finding(it.first, &step, &it.paths)));
        }
    }
    let failed = outcome.roots.iter().filter(|root| !matches!(root.body, Ok(Body::Verified(_))));
    let failed = grouped_errors(failed.flat_map(RootOutcome::errors), outcome.recursive);
    items.extend(failed.iter().map(|failure| {
        let first = failure.paths.first().copied().unwrap_or(Path::new(""));
        let item = of_error(&failure.error, first);
        Annotation { message: item.message.clone() + &in_roots(&failure.paths), ..item }
    }));
    items.extend(outcome.error.iter().flat_map(of_failure));
    items
}

/// The annotations for a run that ended without results.
pub(super) fn of_failure(error: &Error) -> Vec<Annotation> {
    error.each().map(|error| of_error(error, Path::new(""))).collect()
}

/// ` In 18 root modules: a, b, c and 15 more.`; empty for one.
fn in_roots(paths: &[&Path]) -> String {
    if paths.len() < 2 {
        return String::new();
    }
    format!(" In {}: {}.", root_modules(paths.len()), first_names(paths, MOST_NAMES))
}

fn of_finding(finding: &Finding, step: &Step, paths: &[&Path]) -> Annotation {
    let rule = finding.rule;
    let said = match &finding.address {
        Some(addr) if !finding.message().contains(&addr.to_string()) => format!("{addr}: {}", finding.message()),
        _ => finding.message().to_owned(),
    };
    Annotation {
        rule: ItemRule { id: rule.id(), summary: rule.summary(), help: rule.help().text },
        level: finding.level(),
        title: titled(finding.address.as_ref().map(ToString::to_string).as_deref(), finding.message()),
        // A text of a registry may already be a sentence.
        message: format!("{}. {step}{}", said.trim_end_matches('.'), in_roots(paths)),
        address: finding.address.as_ref().map(ToString::to_string),
        file: finding.file.as_deref().map(shown),
        position: finding.position,
        others: Vec::new(),
        is_failure: false,
    }
}

fn titled(address: Option<&str>, text: &str) -> String {
    address.map_or_else(|| text.to_owned(), |address| format!("{address}: {text}"))
}

fn of_error(error: &Error, root: &Path) -> Annotation {
    let file = error.file.clone().unwrap_or_else(|| LockName::file(root));
    let mut message = error.message.clone();
    for hint in &error.hints {
        message.push_str("; ");
        message.push_str(&hint.to_string());
    }
    Annotation {
        rule: ItemRule {
            id: error.kind.as_str(),
            summary: "The work could not be done.",
            help: "Do what the message says, and try again.",
        },
        level: Level::Deny,
        title: error.message.clone(),
        message,
        address: None,
        file: Some(shown(&file)),
        position: error.position,
        others: Vec::new(),
        is_failure: true,
    }
}

fn of_texts(changed: &Changed<'_>) -> Vec<Annotation> {
    let of_text = |(change, roots): (TextChange, Vec<&Path>)| {
        let (what, words) = explain_text(change)?;
        let file = roots.first().and_then(|first| changed.files.iter().find(|file| file.root == *first))?;
        Some(Annotation {
            rule: TEXT_RULE,
            level: risk_of_text(change).map_or(Level::Note, level_of),
            message: format!("{what}. {}{}", words.text(), in_roots(&roots)),
            title: what,
            address: None,
            file: Some(shown(file.path)),
            position: None,
            others: Vec::new(),
            is_failure: false,
        })
    };
    shared_items(changed.texts()).into_iter().filter_map(of_text).collect()
}

/// The annotation for a question that stayed open: of a source without an answer, which is no problem of the file, or of one
/// that cannot be asked as things are.
fn unanswered(error: &Error, path: &Path) -> Annotation {
    let item = of_error(error, path.parent().unwrap_or(Path::new("")));
    if !error.kind.is_inconclusive() {
        return item;
    }
    let title = format!("checksums were not checked: {}", item.title);
    let message = format!("Checksums were not checked: {}.", item.message);
    Annotation {
        level: Level::Warn,
        title,
        message,
        file: Some(shown(path)),
        position: None,
        is_failure: false,
        ..item
    }
}

/// The signer of a changed release, and the page where its publisher describes it.
fn of_release(change: &Change) -> String {
    let signer = signed_in_short(change, Style::default()).map(|signed| format!(" The release is {signed}."));
    let link = change.link.as_ref().map(|link| format!(" Its publisher's page: {link}"));
    format!("{}{}", signer.unwrap_or_default(), link.unwrap_or_default())
}

fn of_change(group: &ChangeGroup<'_>) -> Annotation {
    let change = &group.change;
    let address = change.address.to_string();
    let what = format!("{address} {}: {}", versions(change), group.headline);
    let places = group.places.iter().map(|place| (shown(place.file), place.position));
    let mut places: Vec<(String, Option<Position>)> = places.collect();
    let first = places.remove(0);
    Annotation {
        rule: rule_of(change.kind),
        level: level_of(group.risk),
        message: format!("{what}. {}{}{}", group.explanation().text(), of_release(change), in_roots(&group.roots())),
        title: what,
        address: Some(address),
        file: Some(first.0),
        position: first.1,
        others: places,
        is_failure: false,
    }
}

pub(super) fn level_of(risk: Risk) -> Level {
    match risk {
        Risk::Routine => Level::Note,
        Risk::Notable => Level::Warn,
        Risk::Dangerous => Level::Deny,
    }
}

const TEXT_RULE: ItemRule = ItemRule {
    id: "text-changed",
    summary: "The text of the lock file changed where it says nothing about providers.",
    help: "Run `tflock fmt`.",
};

/// The name of a kind of change, by its id.
pub fn rule_of_change(id: &str) -> Option<ItemRule> {
    let rules = ChangeKind::ALL.into_iter().map(rule_of).chain([TEXT_RULE]);
    rules.into_iter().find(|rule| rule.id == id)
}

fn rule_of(kind: ChangeKind) -> ItemRule {
    let (id, summary, help) = match kind {
        ChangeKind::Added => (
            "provider-added",
            "A provider is locked for the first time.",
            "Check that its address is the publisher you mean.",
        ),
        ChangeKind::Removed => {
            ("provider-removed", "A provider is no longer locked.", "Check that no module uses it any more.")
        }
        ChangeKind::Upgraded => {
            ("provider-upgraded", "A newer version of a provider is locked.", "Read its changelog, and the plan.")
        }
        ChangeKind::Downgraded => (
            "provider-downgraded",
            "An older version of a provider is locked.",
            "Ask the author why; run `tflock upgrade` if it was not intended.",
        ),
        ChangeKind::ConstraintsChanged => (
            "constraints-changed",
            "Modules require other versions of a provider; the same one is locked.",
            "Run `tflock why` to see who requires it.",
        ),
        ChangeKind::HashesChanged => (
            "hashes-changed",
            "Checksums of a locked version were added or removed.",
            "Run `tflock verify` to check them with the registries.",
        ),
        ChangeKind::HashesReplaced => (
            "hash-replaced",
            "Checksums of a locked version were replaced by others.",
            "Do not merge until this is explained; run `tflock verify`.",
        ),
        ChangeKind::Moved => (
            "provider-moved",
            "A provider is taken from another registry or namespace.",
            "Check that the new address is the publisher you mean.",
        ),
    };
    ItemRule { id, summary, help }
}

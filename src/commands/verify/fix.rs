//! `verify --fix`: repairs the findings that have one safe remedy with the engine of `lock`, and checks again. It adds to
//! entries and changes how they are written; it takes out nothing, and it leaves the trust file, the settings and the
//! configuration alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GateRoot, VerifyArgs, gate};
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::lock::command::run;
use crate::commands::lock::request::{LockRequest, Preparation, Repair};
use crate::commands::shared::targets::Targets;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::FILE_NAME;
use crate::outcome::{Body, Outcome};
use crate::path::shown;
use crate::step::Step;
use crate::trust::pins::Pins;
use crate::words::{counted, first_of};
use crate::workspace::RunSettings;

/// How many root modules a note names.
const MOST_NAMED: usize = 5;

/// What `lock` repairs in an entry. A missing one only where the signer of its provider is remembered.
const OF_ENTRIES: [Rule; 4] = [Rule::PlatformUncovered, Rule::H1Missing, Rule::ConstraintsStale, Rule::EntryMissing];

/// What writing the same entries again repairs.
const OF_TEXT: [Rule; 2] = [Rule::NotCanonical, Rule::DuplicateHash];

/// What a root module was judged by: with a base, the settings and pins of that.
pub(super) struct JudgedBy {
    settings: RunSettings,
    pins: Pins,
}

impl JudgedBy {
    pub(super) fn of(root: &GateRoot) -> Self {
        Self { settings: root.settings().clone(), pins: root.trusted().cloned().unwrap_or_default() }
    }
}

/// Marks the findings of a root module that a repair settles. Nothing is repaired in a file that is for another tool or has
/// blocks that writing takes out, and no entry that is refused for another reason. Hashes that a change dropped are no such
/// reason: what is added again is checked against the recorded ones.
pub(super) fn mark(findings: &mut [Finding], root: &GateRoot) {
    if root.unread().is_some() || root.tool_changed || root.has(Rule::LockModules) || root.decoded().is_err() {
        return;
    }
    let is_safe = |rule| OF_ENTRIES.contains(&rule) || OF_TEXT.contains(&rule) || rule == Rule::HashesDropped;
    let refused = findings.iter().filter(|finding| finding.level == Level::Deny && !is_safe(finding.rule));
    let refused: BTreeSet<ProviderAddr> = refused.filter_map(|finding| finding.address.clone()).collect();
    let is_required = |addr: &ProviderAddr| root.requirements().is_none_or(|required| required.get(addr).is_some());
    let is_pinned = |addr: &ProviderAddr| root.trusted().is_some_and(|pins| pins.pin(addr).is_some());
    for finding in findings {
        let of_entry = finding.address.as_ref().filter(|_| OF_ENTRIES.contains(&finding.rule));
        let is_of_text = OF_TEXT.contains(&finding.rule)
            && finding.file.as_deref().and_then(Path::file_name).is_some_and(|name| name == FILE_NAME);
        finding.repairable = is_of_text
            || of_entry.is_some_and(|addr| {
                let is_known = finding.rule != Rule::EntryMissing || is_pinned(addr);
                is_known && is_required(addr) && !refused.contains(addr)
            });
    }
}

/// Runs the gate; with `--fix` it repairs what it can in between, and runs the gate again.
pub fn verify(args: &VerifyArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let (found, judged_by) = gate::check(args, services)?;
    let repairs = repairs(&found);
    let roots: Vec<JudgedBy> = judged_by.into_iter().filter(|root| repairs.contains_key(&root.settings.path)).collect();
    if roots.is_empty() {
        return Ok(found);
    }
    let (written, refused) = repair(&repairs, roots, args.recursive, services);
    let mut outcome = if written { gate::check(args, services)?.0 } else { found.clone() };
    let note = repaired(&found, &mut outcome);
    outcome.notes.extend(note);
    outcome.notes.extend(refused);
    // What is left, another run would not repair either.
    outcome.roots.iter_mut().flat_map(|root| &mut root.findings).for_each(|finding| finding.repairable = false);
    Ok(outcome)
}

/// The providers to repair, by root module; none for its text alone.
fn repairs(found: &Outcome) -> BTreeMap<PathBuf, BTreeSet<ProviderAddr>> {
    let mut repairs: BTreeMap<PathBuf, BTreeSet<ProviderAddr>> = BTreeMap::new();
    for root in &found.roots {
        for finding in root.findings.iter().filter(|finding| finding.repairable) {
            let providers = repairs.entry(root.path.clone()).or_default();
            providers.extend(finding.address.clone().filter(|_| OF_ENTRIES.contains(&finding.rule)));
        }
    }
    repairs
}

/// Lets the engine of `lock` repair these providers only; true if it wrote a file. The notes say what it refused.
fn repair(
    repairs: &BTreeMap<PathBuf, BTreeSet<ProviderAddr>>,
    roots: Vec<JudgedBy>,
    found: bool,
    services: &Services<'_>,
) -> (bool, Vec<String>) {
    let pins = roots.iter().map(|root| (root.settings.trust.clone(), root.pins.clone())).collect();
    let settings = roots.into_iter().map(|root| root.settings).collect();
    let targets = Targets::of_settings(&services.scope, settings, found);
    let request = LockRequest {
        command: "verify",
        preparation: Preparation::Repair(Repair { providers: repairs.clone(), pins }),
        no_first_use: true,
        accept_no_configuration: true,
        found,
        ..LockRequest::default()
    };
    let outcome = run(&request, &targets, services);
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for root in &outcome.roots {
        let denied = root.findings.iter().filter(|finding| finding.level == Level::Deny);
        let reasons = root.errors().map(|(_, error)| &error.message).chain(denied.map(|finding| &finding.message));
        for reason in reasons {
            refused.entry(reason.clone()).or_default().push(shown(&root.path));
        }
    }
    let note = |(reason, roots): (String, Vec<String>)| match &roots[..] {
        [one] if one.is_empty() => format!("not repaired: {reason}"),
        _ => format!("not repaired in {}: {reason}", first_of(&roots, MOST_NAMED)),
    };
    let is_written = |body: &Result<Body, Error>| matches!(body, Ok(Body::Changes(changes)) if changes.written);
    (outcome.roots.iter().any(|root| is_written(&root.body)), refused.into_iter().map(note).collect())
}

/// Adds to each root module the findings that are gone; the note names their rules.
fn repaired(found: &Outcome, outcome: &mut Outcome) -> Option<Step> {
    let (mut roots, mut rules) = (0, BTreeSet::new());
    for before in &found.roots {
        let Some(after) = outcome.roots.iter_mut().find(|root| root.path == before.path) else { continue };
        let is_open = |finding: &Finding| {
            after.findings.iter().any(|open| {
                (open.rule, &open.address, &open.message) == (finding.rule, &finding.address, &finding.message)
            })
        };
        let gone: Vec<Finding> =
            before.findings.iter().filter(|finding| finding.repairable && !is_open(finding)).cloned().collect();
        if gone.is_empty() {
            continue;
        }
        roots += 1;
        rules.extend(gone.iter().map(|finding| finding.rule.id()));
        if let Ok(Body::Verified(verified)) = &mut after.body {
            verified.repaired = gone;
        }
    }
    let rules: Vec<&str> = rules.into_iter().collect();
    (roots > 0).then(|| {
        step!(
            "repaired {} ({}): `tflock diff` shows what was written; review and commit it",
            counted(roots, "root module"),
            rules.join(", ")
        )
    })
}

//! `verify --fix`: repairs the findings that have one safe remedy with the engine of `lock`, and checks again. It adds to
//! entries and changes how they are written; it takes out nothing, and it leaves the trust file, the settings and the
//! configuration alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GateRoot, VerifyArgs, gate};
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::lock::command::run;
use crate::commands::lock::request::{LockRequest, Preparation, Repair, RootRepair};
use crate::commands::shared::targets::Targets;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::{FILE_NAME, LockEntry};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::path::shown;
use crate::step::Step;
use crate::trust::pins::Pins;
use crate::words::{counted, first_of};
use crate::workspace::RunSettings;

/// How many root modules a note names.
const MOST_NAMED: usize = 5;

/// How often the gate repairs: entries of the base that come back may lack something of their own.
const ROUNDS: usize = 2;

/// What `lock` repairs in an entry. A missing one comes back as the base has it, if that version is still allowed; one that the
/// base does not have is added only where the signer of its provider is remembered.
const OF_ENTRIES: [Rule; 4] = [Rule::PlatformUncovered, Rule::H1Missing, Rule::ConstraintsStale, Rule::EntryMissing];

/// What writing the same entries again repairs.
const OF_TEXT: [Rule; 2] = [Rule::NotCanonical, Rule::DuplicateHash];

/// What a root module was judged by: with a base, the settings and pins of that.
pub(super) struct JudgedBy {
    settings: RunSettings,
    pins: Pins,
    /// The merge base, if there is one, and its entries that may come back.
    base: String,
    restorable: BTreeMap<ProviderAddr, LockEntry>,
}

impl JudgedBy {
    pub(super) fn of(root: &GateRoot) -> Self {
        let restorable = root.restorable_entries().map(|(addr, entry)| (addr.clone(), entry.clone())).collect();
        let base = root.compared().map(|base| base.short().to_owned()).unwrap_or_default();
        Self { settings: root.settings().clone(), pins: root.trusted().cloned().unwrap_or_default(), base, restorable }
    }

    /// What to repair, where entries that the base has come back as they are there.
    fn repair(&self, providers: &BTreeSet<ProviderAddr>) -> RootRepair {
        let lost = self.restorable.iter().filter(|(addr, _)| providers.contains(addr));
        let lost = lost.map(|(addr, entry)| (addr.clone(), entry.clone())).collect();
        RootRepair { providers: providers.clone(), lost, base: self.base.clone() }
    }
}

/// Marks the findings of a root module that a repair settles. Nothing is repaired in a file that is for another tool or has
/// blocks that writing takes out, by a way that is denied, and no entry that is refused for another reason. Hashes that a change
/// dropped are no such reason: what is added again is checked against the recorded ones.
pub(super) fn mark(findings: &mut [Finding], root: &GateRoot) {
    if root.is_barred
        || root.unread().is_some()
        || root.tool_changed
        || root.has(Rule::LockModules)
        || root.decoded().is_err()
    {
        return;
    }
    let is_safe = |rule| OF_ENTRIES.contains(&rule) || OF_TEXT.contains(&rule) || rule == Rule::HashesDropped;
    let refused = findings.iter().filter(|finding| finding.level == Level::Deny && !is_safe(finding.rule));
    let refused: BTreeSet<ProviderAddr> = refused.filter_map(|finding| finding.address.clone()).collect();
    let is_required = |addr: &ProviderAddr| root.requirements().is_none_or(|required| required.get(addr).is_some());
    let is_pinned = |addr: &ProviderAddr| root.trusted().is_some_and(|pins| pins.pin(addr).is_some());
    let lost: BTreeSet<&ProviderAddr> = root.lost_entries().map(|(addr, _)| addr).collect();
    let restorable: BTreeSet<&ProviderAddr> = root.restorable_entries().map(|(addr, _)| addr).collect();
    let may_be_added =
        |addr: &ProviderAddr| if lost.contains(addr) { restorable.contains(addr) } else { is_pinned(addr) };
    for finding in findings {
        let of_entry = finding.address.as_ref().filter(|_| OF_ENTRIES.contains(&finding.rule));
        let is_of_text = OF_TEXT.contains(&finding.rule)
            && finding.file.as_deref().and_then(Path::file_name).is_some_and(|name| name == FILE_NAME);
        let is_of_file = finding.rule == Rule::LockFileRemoved && !restorable.is_empty();
        finding.repairable = is_of_text
            || is_of_file
            || of_entry.is_some_and(|addr| {
                let is_safe = finding.rule != Rule::EntryMissing || may_be_added(addr);
                is_safe && is_required(addr) && !refused.contains(addr)
            });
    }
}

/// Runs the gate; with `--fix` it repairs what it can in between, and runs the gate again.
pub fn verify(args: &VerifyArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let (found, mut judged_by) = gate::check(args, services)?;
    let mut repairs = repairs(&found, &[], &judged_by);
    if repairs.is_empty() {
        return Ok(found);
    }
    let (mut outcome, mut refused) = (found.clone(), Vec::new());
    for _ in 0..ROUNDS {
        let roots: Vec<JudgedBy> =
            judged_by.into_iter().filter(|root| repairs.contains_key(&root.settings.path)).collect();
        let (written, why_not) = repair(&repairs, roots, args.recursive, services);
        refused.extend(why_not);
        if !written {
            break;
        }
        let before = std::mem::take(&mut outcome.roots);
        (outcome, judged_by) = gate::check(args, services)?;
        repairs = self::repairs(&outcome, &before, &judged_by);
        if repairs.is_empty() {
            break;
        }
    }
    let note = repaired(&found, &mut outcome);
    outcome.notes.extend(note);
    outcome.notes.extend(refused);
    // What is left, another run would not repair either.
    outcome.roots.iter_mut().flat_map(|root| &mut root.findings).for_each(|finding| finding.repairable = false);
    Ok(outcome)
}

/// The providers to repair, by root module; none for its text alone. What was found before was tried before.
fn repairs(
    found: &Outcome,
    before: &[RootOutcome],
    judged_by: &[JudgedBy],
) -> BTreeMap<PathBuf, BTreeSet<ProviderAddr>> {
    let judged_by: BTreeMap<&Path, &JudgedBy> = judged_by.iter().map(|by| (&*by.settings.path, by)).collect();
    let before: BTreeMap<&Path, &RootOutcome> = before.iter().map(|root| (&*root.path, root)).collect();
    let mut repairs: BTreeMap<PathBuf, BTreeSet<ProviderAddr>> = BTreeMap::new();
    for root in &found.roots {
        let Some(judged_by) = judged_by.get(&*root.path) else { continue };
        let before = before.get(&*root.path);
        let is_new = |finding: &&Finding| before.is_none_or(|before| !has(before, finding));
        for finding in root.findings.iter().filter(|finding| finding.repairable).filter(is_new) {
            let providers = repairs.entry(root.path.clone()).or_default();
            providers.extend(finding.address.clone().filter(|_| OF_ENTRIES.contains(&finding.rule)));
            if finding.rule == Rule::LockFileRemoved {
                providers.extend(judged_by.restorable.keys().cloned());
            }
        }
    }
    repairs
}

/// True if a root module has the same finding.
fn has(root: &RootOutcome, finding: &Finding) -> bool {
    root.findings
        .iter()
        .any(|open| (open.rule, &open.address, &open.message) == (finding.rule, &finding.address, &finding.message))
}

/// Lets the engine of `lock` repair these providers only; true if it wrote a file. The notes say what it refused.
fn repair(
    repairs: &BTreeMap<PathBuf, BTreeSet<ProviderAddr>>,
    roots: Vec<JudgedBy>,
    found: bool,
    services: &Services<'_>,
) -> (bool, Vec<String>) {
    let pins = roots.iter().map(|root| (root.settings.trust.clone(), root.pins.clone())).collect();
    let repaired = roots.iter().filter_map(|root| {
        let path = &root.settings.path;
        Some((path.clone(), root.repair(repairs.get(path)?)))
    });
    let repaired = repaired.collect();
    let settings = roots.into_iter().map(|root| root.settings).collect();
    let targets = Targets::of_settings(&services.scope, settings, found);
    let request = LockRequest {
        command: "verify",
        preparation: Preparation::Repair(Repair { roots: repaired, pins }),
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
        let is_gone = |finding: &&Finding| finding.repairable && !has(after, finding);
        let gone: Vec<Finding> = before.findings.iter().filter(is_gone).cloned().collect();
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

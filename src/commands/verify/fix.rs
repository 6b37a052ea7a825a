//! `verify --fix`: repairs the findings that have one safe remedy with the engine of `lock`, and checks again. It adds to
//! entries and changes how they are written; it takes out nothing, and it leaves the trust file, the settings and the
//! configuration alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{GateRoot, GateRoots, VerifyArgs, gate};
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::lock::command::run;
use crate::commands::lock::request::{LockRequest, Preparation, Repair, RootRepair};
use crate::commands::shared::targets::Targets;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::path::shown;
use crate::step::{Step, Value};
use crate::words::{counted, first_of};

/// How many root modules a note names.
const MOST_NAMED: usize = 5;

/// How often the gate repairs: entries of the base that come back may lack something of their own.
const ROUNDS: usize = 2;

/// What `lock` repairs in an entry. A missing one comes back as the base has it, if that version is still allowed; one that the
/// base does not have is added only where the signer of its provider is remembered.
const OF_ENTRIES: [Rule; 4] = [Rule::PlatformUncovered, Rule::H1Missing, Rule::ConstraintsStale, Rule::EntryMissing];

/// What writing the same entries again repairs.
const OF_TEXT: [Rule; 2] = [Rule::NotCanonical, Rule::DuplicateHash];

/// What to repair in a root module, where entries that the base has come back as they are there.
fn repair_of(root: &GateRoot, providers: &BTreeSet<ProviderAddr>) -> RootRepair {
    let lost = root.restorable_entries().filter(|(addr, _)| providers.contains(addr));
    let lost = lost.map(|(addr, entry)| (addr.clone(), entry.clone())).collect();
    let base = root.compared().map(|base| base.short().to_owned()).unwrap_or_default();
    RootRepair { providers: providers.clone(), lost, base }
}

/// The root modules that could be judged.
fn opened(roots: &GateRoots) -> impl Iterator<Item = &GateRoot> {
    roots.iter().filter_map(|(_, root)| root.as_ref().ok())
}

/// What a repair of one root module settles.
pub(super) struct Repairs<'a> {
    root: &'a GateRoot,
    /// False where nothing is repaired: in a file that is for another tool or has blocks that writing takes out, and by a way that is
    /// denied.
    may_write: bool,
    /// The providers whose entries are refused for another reason. Hashes that a change dropped are no such reason: what is added
    /// again is checked against the recorded ones.
    refused: BTreeSet<&'a ProviderAddr>,
    lost: BTreeSet<&'a ProviderAddr>,
    restorable: BTreeSet<&'a ProviderAddr>,
}

impl<'a> Repairs<'a> {
    /// `findings` are all of the root module; `is_barred` says that what leads to its lock file is denied.
    pub(super) fn of(root: &'a GateRoot, findings: &'a [Finding], is_barred: bool) -> Self {
        let is_safe = |rule| OF_ENTRIES.contains(&rule) || OF_TEXT.contains(&rule) || rule == Rule::HashesDropped;
        let refused = findings.iter().filter(|finding| finding.level() == Level::Deny && !is_safe(finding.rule));
        Self {
            root,
            may_write: !is_barred
                && root.unread().is_none()
                && !root.tool_changed()
                && !root.has(Rule::LockModules)
                && root.decoded().is_ok(),
            refused: refused.filter_map(|finding| finding.address.as_ref()).collect(),
            lost: root.lost_entries().map(|(addr, _)| addr).collect(),
            restorable: root.restorable_entries().map(|(addr, _)| addr).collect(),
        }
    }

    /// The finding, which says whether a repair settles it; its file is known.
    pub(super) fn mark(&self, finding: Finding) -> Finding {
        let settles = self.may_write && (self.settles_text(&finding) || self.settles_entry(&finding));
        finding.repairable(settles)
    }

    fn settles_text(&self, finding: &Finding) -> bool {
        let is_of_lock_file = finding
            .file
            .as_deref()
            .and_then(Path::file_name)
            .is_some_and(|name| name == self.root.settings().lock_name.as_str());
        let is_of_text = OF_TEXT.contains(&finding.rule) && is_of_lock_file;
        is_of_text || finding.rule == Rule::LockFileRemoved && !self.restorable.is_empty()
    }

    fn settles_entry(&self, finding: &Finding) -> bool {
        let Some(addr) = finding.address.as_ref().filter(|_| OF_ENTRIES.contains(&finding.rule)) else { return false };
        let is_required = self.root.requirements().is_none_or(|required| required.get(addr).is_some());
        is_required && !self.refused.contains(addr) && (finding.rule != Rule::EntryMissing || self.may_be_added(addr))
    }

    fn may_be_added(&self, addr: &ProviderAddr) -> bool {
        // `lock` adds none to the lock file of an Atmos instance.
        if self.root.settings().lock_name.is_instance() {
            return false;
        }
        if self.lost.contains(addr) {
            return self.restorable.contains(addr);
        }
        self.root.trusted().is_some_and(|pins| pins.pin(addr).is_some())
    }
}

/// Runs the gate; with `--fix` it repairs what it can in between, and runs the gate again.
pub fn verify(args: &VerifyArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let (found, mut judged) = gate::check(args, services)?;
    if !args.fix {
        return Ok(found);
    }
    let mut repairs = repairs(&found, &[], &judged);
    if repairs.is_empty() {
        return Ok(found);
    }
    let (mut outcome, mut tried) = (found.clone(), Vec::new());
    for _ in 0..ROUNDS {
        let mut roots = repair(&repairs, &judged, args.recursive, services);
        let others = without_failed(&repairs, &roots);
        if !others.is_empty() {
            roots.extend(repair(&others, &judged, args.recursive, services));
        }
        let is_written = |root: &RootOutcome| matches!(&root.body, Ok(Body::Changes(changes)) if changes.written);
        let written = roots.iter().any(is_written);
        tried.extend(roots);
        if !written {
            break;
        }
        let before = std::mem::take(&mut outcome.roots);
        (outcome, judged) = gate::check(args, services)?;
        repairs = self::repairs(&outcome, &before, &judged);
        if repairs.is_empty() {
            break;
        }
    }
    let note = repaired(&found, &mut outcome);
    outcome.notes.extend(note);
    outcome.notes.extend(not_repaired(&tried));
    advise(&mut outcome, &tried);
    // What is left, another run would not repair either.
    Ok(Outcome { is_repaired: true, ..outcome })
}

/// The providers to repair, by root module; none for its text alone. What was found before was tried before.
fn repairs(found: &Outcome, before: &[RootOutcome], judged: &GateRoots) -> BTreeMap<PathBuf, BTreeSet<ProviderAddr>> {
    let judged: BTreeMap<PathBuf, &GateRoot> = opened(judged).map(|root| (root.settings().name(), root)).collect();
    let before: BTreeMap<&Path, &RootOutcome> = before.iter().map(|root| (&*root.path, root)).collect();
    let mut repairs: BTreeMap<PathBuf, BTreeSet<ProviderAddr>> = BTreeMap::new();
    for root in &found.roots {
        let Some(judged) = judged.get(&root.path) else { continue };
        let before = before.get(&*root.path);
        let is_new = |finding: &&Finding| before.is_none_or(|before| !has(before, finding));
        for finding in root.findings.iter().filter(|finding| finding.is_repairable()).filter(is_new) {
            let providers = repairs.entry(root.path.clone()).or_default();
            providers.extend(finding.address.clone().filter(|_| OF_ENTRIES.contains(&finding.rule)));
            if finding.rule == Rule::LockFileRemoved {
                providers.extend(judged.restorable_entries().map(|(addr, _)| addr.clone()));
            }
        }
    }
    repairs
}

/// True if a root module has the same finding.
fn has(root: &RootOutcome, finding: &Finding) -> bool {
    root.findings
        .iter()
        .any(|open| (open.rule, &open.address, open.message()) == (finding.rule, &finding.address, finding.message()))
}

/// Lets the engine of `lock` repair these providers only.
fn repair(
    repairs: &BTreeMap<PathBuf, BTreeSet<ProviderAddr>>,
    judged: &GateRoots,
    found: bool,
    services: &Services<'_>,
) -> Vec<RootOutcome> {
    let (mut pins, mut repaired, mut settings) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for root in opened(judged) {
        let Some(providers) = repairs.get(&root.settings().name()) else { continue };
        let run = root.settings().clone();
        pins.insert(run.trust.clone(), root.trusted().cloned().unwrap_or_default());
        repaired.insert(run.name(), repair_of(root, providers));
        settings.push(run);
    }
    let targets = Targets::of_settings(&services.scope, settings, found);
    let request = LockRequest {
        command: "verify",
        preparation: Preparation::Repair(Repair { roots: repaired, pins }),
        no_first_use: true,
        accept_no_configuration: true,
        found,
        ..LockRequest::default()
    };
    run(&request, &targets, services).roots
}

/// The errors of a repair that another attempt would have too, each with its provider.
fn failures(root: &RootOutcome) -> impl Iterator<Item = (&ProviderAddr, &Error)> {
    let errors = root.errors().flat_map(|(_, error)| error.each());
    let errors = errors.filter(|error| !error.kind.is_inconclusive());
    errors.filter_map(|error| Some((error.address.as_deref()?, error)))
}

/// What is left to repair in root modules where the repair of single providers failed: nothing was written there.
fn without_failed(
    repairs: &BTreeMap<PathBuf, BTreeSet<ProviderAddr>>,
    tried: &[RootOutcome],
) -> BTreeMap<PathBuf, BTreeSet<ProviderAddr>> {
    let mut others = BTreeMap::new();
    for root in tried {
        let failed: BTreeSet<&ProviderAddr> = failures(root).map(|(addr, _)| addr).collect();
        let providers = repairs.get(&root.path).into_iter().flatten();
        let left: BTreeSet<ProviderAddr> = providers.filter(|addr| !failed.contains(addr)).cloned().collect();
        if !failed.is_empty() && !left.is_empty() {
            others.insert(root.path.clone(), left);
        }
    }
    others
}

/// What was not repaired, and why.
fn not_repaired(tried: &[RootOutcome]) -> Vec<String> {
    let mut refused: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for root in tried {
        let denied = root.findings.iter().filter(|finding| finding.level() == Level::Deny);
        let reasons = root.errors().map(|(_, error)| &*error.message).chain(denied.map(Finding::message));
        for reason in reasons {
            refused.entry(reason.to_owned()).or_default().insert(shown(&root.path));
        }
    }
    let note = |(reason, roots): (String, BTreeSet<String>)| {
        let roots: Vec<String> = roots.into_iter().collect();
        match &roots[..] {
            [one] if one.is_empty() => format!("not repaired: {reason}"),
            _ => format!("not repaired in {}: {reason}", first_of(&roots, MOST_NAMED)),
        }
    };
    refused.into_iter().map(note).collect()
}

/// Gives each finding about an entry that was not repaired the next steps of the error that prevented it: the help of its rule
/// names the command that failed.
fn advise(outcome: &mut Outcome, tried: &[RootOutcome]) {
    let both = |before: Step, next: Step| step!("{}; {}", Value::Step(before), Value::Step(next));
    for judged in &mut outcome.roots {
        let of_root = tried.iter().filter(|it| it.path == judged.path).flat_map(failures);
        let remedies =
            of_root.filter_map(|(addr, error)| Some((addr, error.general_hints().into_iter().reduce(both)?)));
        let remedies: BTreeMap<&ProviderAddr, Step> = remedies.collect();
        let advised = |finding: Finding| {
            let addr = finding.address.as_ref().filter(|_| OF_ENTRIES.contains(&finding.rule));
            match addr.and_then(|addr| remedies.get(addr).cloned()) {
                Some(remedy) => finding.remedied_by(remedy),
                None => finding,
            }
        };
        judged.findings = std::mem::take(&mut judged.findings).into_iter().map(advised).collect();
    }
}

/// Adds to each root module the findings that are gone; the note names their rules.
fn repaired(found: &Outcome, outcome: &mut Outcome) -> Option<Step> {
    let (mut roots, mut rules) = (0, BTreeSet::new());
    for before in &found.roots {
        let Some(after) = outcome.roots.iter_mut().find(|root| root.path == before.path) else { continue };
        let is_gone = |finding: &&Finding| finding.is_repairable() && !has(after, finding);
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

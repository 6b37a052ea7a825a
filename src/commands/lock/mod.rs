//! `lock`: makes lock files complete.

mod root;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::memory::{Memory, TrustPlace};
use crate::addr::ProviderAddr;
use crate::diff;
use crate::disk::cache::Cache;
use crate::disk::mirror::FilesystemMirror;
use crate::engine::commit::{self, Write};
use crate::engine::facts::{Answer, Refusal};
use crate::engine::gather::GatherOptions;
use crate::engine::known;
use crate::engine::plan::{self, Plan, Step};
use crate::engine::settle::{self, Settled};
use crate::engine::signers::{self, Lesson, Signed};
use crate::engine::{Events, mirrors, recall, run};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::{self, LockEntry};
use crate::outcome::{Body, Changes, Outcome, RootOutcome, TrustChange};
use crate::report::diff::unified;
use crate::trust::pins::{Pins, Republication};

pub use root::Root;
pub(super) use rules::RuleBook;

/// How far the command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Writes lock files.
    Write,
    /// Tells whether it would.
    Check,
    /// Tells what it would write.
    DryRun,
}

/// Whom to ask.
#[derive(Debug)]
pub enum Source {
    /// The origin registries.
    Registries(Box<GatherOptions>),
    /// A filesystem mirror, and nobody else.
    Mirror(FilesystemMirror, Events),
    /// Nobody: what is not known already is an error.
    Nobody,
}

/// Makes the lock files of some root modules complete; what one of them cannot get does not stop the others.
pub fn lock(roots: Vec<(PathBuf, Result<Root, Error>)>, source: Source, cache: &Cache, mode: Mode) -> Outcome {
    let mut prepared: Vec<(PathBuf, Result<Prepared, Error>)> = Vec::new();
    let mut memories = Memories::default();
    for (shown, root) in roots {
        let local = !matches!(source, Source::Mirror(..));
        prepared.push((shown, root.and_then(|root| prepare(root, cache, local, &mut memories))));
    }
    let steps: Vec<BTreeMap<ProviderAddr, Step>> = prepared
        .iter()
        .map(|(_, prepared)| prepared.as_ref().map(|prepared| prepared.open.clone()).unwrap_or_default())
        .collect();
    let many = prepared.len() > 1;
    let roots = match ask(source, &steps) {
        Ok(answers) => {
            let prepared = prepared.into_iter().zip(&answers);
            let settled: Vec<_> = prepared
                .map(|((shown, prepared), answers)| {
                    (shown, prepared.map(|prepared| prepared.settle(answers, &mut memories)))
                })
                .collect();
            // Pins first: a lock file whose signers nobody remembers would be a first use for ever.
            let stored = memories.commit(mode);
            settled.into_iter().map(|(path, settled)| finish(path, settled, &stored, mode)).collect()
        }
        Err(error) => prepared
            .into_iter()
            .map(|(path, _)| RootOutcome { path, body: Err(error.clone()), findings: Vec::new() })
            .collect(),
    };
    Outcome { command: "lock", roots, many, notes: Vec::new() }
}

/// The trust files of all root modules, each read once.
#[derive(Default)]
struct Memories(BTreeMap<TrustPlace, Memory>);

/// What became of each trust file.
type Stored = BTreeMap<TrustPlace, Result<bool, Error>>;

impl Memories {
    fn load(&mut self, place: &TrustPlace) -> Result<(), Error> {
        if !self.0.contains_key(place) {
            self.0.insert(place.clone(), Memory::load(place)?);
        }
        Ok(())
    }

    fn pins(&self, place: &TrustPlace) -> Pins {
        self.0.get(place).map(|memory| memory.pins().clone()).unwrap_or_default()
    }

    fn learn(&mut self, place: &TrustPlace, lessons: Vec<Lesson>) -> Result<Vec<Lesson>, Error> {
        self.0.get_mut(place).map_or(Ok(Vec::new()), |memory| memory.learn(lessons))
    }

    fn commit(&mut self, mode: Mode) -> Stored {
        let memories = self.0.iter_mut().filter(|_| mode == Mode::Write);
        memories.map(|(place, memory)| (place.clone(), memory.commit())).collect()
    }
}

/// A root module whose plan is made.
struct Prepared {
    root: Root,
    plan: Plan,
    /// The steps of the plan that local facts do not answer.
    open: BTreeMap<ProviderAddr, Step>,
}

fn prepare(root: Root, cache: &Cache, local: bool, memories: &mut Memories) -> Result<Prepared, Error> {
    memories.load(&root.trust)?;
    let rules = |addr: &ProviderAddr| root.rules.of(addr, &root.intent.platforms);
    let plan = plan::plan(&root.requirements, &root.lock, &root.intent, (root.rules.dialect(), &rules))
        .map_err(|errors| Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::Usage, "nothing to lock")))?;
    let answered = |addr: &ProviderAddr, step: &Step| {
        let release = step.recorded_release().and_then(|entry| recall::recall(cache, addr, &entry.version));
        local && release.is_some_and(|release| known::is_complete(step, &release))
    };
    let open = plan.steps.iter().filter(|(addr, step)| !answered(addr, step));
    let open = open.map(|(addr, step)| (addr.clone(), step.clone())).collect();
    Ok(Prepared { root, plan, open })
}

fn ask(source: Source, steps: &[BTreeMap<ProviderAddr, Step>]) -> Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error> {
    if steps.iter().all(BTreeMap::is_empty) {
        return Ok(vec![BTreeMap::new(); steps.len()]);
    }
    match source {
        Source::Registries(options) => run::gather(*options, steps),
        Source::Mirror(mirror, events) => {
            Ok(steps.iter().map(|steps| mirrors::gather(&mirror, steps, &events)).collect())
        }
        Source::Nobody => Ok(steps.iter().map(|steps| steps.keys().map(offline).collect()).collect()),
    }
}

fn offline(addr: &ProviderAddr) -> (ProviderAddr, Answer) {
    let message = format!("locking provider {addr} needs its registry, which --offline forbids to ask");
    let error = Error::new(ErrorKind::Offline, message).hint("run the command once without --offline");
    (addr.clone(), Err(Refusal::Error(error)))
}

/// A root module whose entries are decided.
struct Finished {
    prepared: Prepared,
    settlement: Settlement,
    /// What is new in the trust file.
    lessons: Vec<Lesson>,
}

impl Prepared {
    /// Decides all entries; what is learned counts for the root modules after this one.
    fn settle(self, answers: &BTreeMap<ProviderAddr, Answer>, memories: &mut Memories) -> Finished {
        let mut settlement = Settlement {
            findings: self.root.findings.clone(),
            pins: memories.pins(&self.root.trust),
            ..Settlement::default()
        };
        for (addr, step) in &self.plan.steps {
            match answers.get(addr) {
                Some(answer) => settlement.take(&self.root, addr, step, answer),
                None => settlement.keep(addr, step),
            }
        }
        settlement.findings.extend(self.unrequired());
        // A revocation is true whatever else is wrong; everything else is learned from what is written only.
        let refused = settlement.is_refused();
        let lessons = std::mem::take(&mut settlement.lessons).into_iter();
        let lessons = lessons.filter(|lesson| !refused || matches!(lesson, Lesson::Revoked { .. })).collect();
        let lessons = memories.learn(&self.root.trust, lessons).unwrap_or_else(|error| {
            settlement.errors.push(error);
            Vec::new()
        });
        Finished { prepared: self, settlement, lessons }
    }
}

fn finish(path: PathBuf, finished: Result<Finished, Error>, stored: &Stored, mode: Mode) -> RootOutcome {
    let Finished { prepared, mut settlement, lessons } = match finished {
        Ok(finished) => finished,
        Err(error) => return RootOutcome { path, body: Err(error), findings: Vec::new() },
    };
    let written = match stored.get(&prepared.root.trust) {
        Some(Ok(written)) => *written,
        Some(Err(error)) if !lessons.is_empty() => {
            settlement.errors.push(error.clone());
            false
        }
        _ => false,
    };
    if let Some(error) = Error::all(std::mem::take(&mut settlement.errors)) {
        return RootOutcome { path, body: Err(error), findings: settlement.findings };
    }
    let body = if settlement.is_refused() {
        Ok(Changes { path: prepared.root.shown.clone(), ..Changes::default() })
    } else {
        prepared.write(&settlement, mode)
    };
    let body = body.map(|changes| Changes { trust: trust_change(&prepared.root, &lessons, written), ..changes });
    RootOutcome { path, body: body.map(Body::Changes), findings: settlement.findings }
}

fn trust_change(root: &Root, lessons: &[Lesson], written: bool) -> Option<TrustChange> {
    let mut change = TrustChange { path: root.trust.shown.clone(), written, ..TrustChange::default() };
    for lesson in lessons {
        match lesson {
            Lesson::FirstUse { address, signer, .. } => change.pinned.push((address.clone(), signer.clone().into())),
            Lesson::Revoked { key, .. } => change.denied.push(key.to_string()),
            Lesson::Republished { republication, .. } => {
                change.republished.push((republication.address.clone(), republication.version.clone()));
            }
        }
    }
    (!lessons.is_empty()).then_some(change)
}

/// What came of the steps of one root module.
#[derive(Default)]
struct Settlement {
    /// Who is remembered.
    pins: Pins,
    entries: BTreeMap<ProviderAddr, Settled>,
    /// Those of them whose signer was remembered before.
    pinned: BTreeSet<ProviderAddr>,
    lessons: Vec<Lesson>,
    findings: Vec<Finding>,
    errors: Vec<Error>,
}

impl Settlement {
    /// True if nothing may be written.
    fn is_refused(&self) -> bool {
        !self.errors.is_empty() || self.findings.iter().any(|finding| finding.level == Level::Deny)
    }

    fn take(&mut self, root: &Root, addr: &ProviderAddr, step: &Step, answer: &Answer) {
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(root, addr, refusal.clone()),
        };
        let settled = settle::settle(addr, step, facts);
        let is_new = settled.as_ref().is_ok_and(|settled| settled.signer.is_some());
        match signers::remembered(&self.pins, addr, facts, (root.first_use, is_new)) {
            Ok(Signed::Pinned) => {
                self.pinned.insert(addr.clone());
            }
            Ok(Signed::First(lesson)) => self.lessons.push(*lesson),
            Ok(Signed::Unknown) => {}
            Err(finding) => self.findings.push(finding),
        }
        match settled {
            Ok(settled) => {
                if settled.republished {
                    let republication =
                        Republication { address: addr.clone(), version: facts.version.clone(), date: root.today };
                    self.lessons.push(Lesson::Republished { republication, reason: root.reason.clone() });
                }
                self.findings.extend(settled.findings.iter().cloned());
                self.entries.insert(addr.clone(), settled);
            }
            Err(refusals) => refusals.into_iter().for_each(|refusal| self.refuse(root, addr, refusal)),
        }
    }

    fn refuse(&mut self, root: &Root, addr: &ProviderAddr, refusal: Refusal) {
        match refusal {
            Refusal::Error(error) => self.errors.push(error),
            Refusal::Finding(finding) => self.findings.push(finding),
            Refusal::Revoked(finding, key) => {
                self.findings.push(*finding);
                self.lessons.push(Lesson::of_revoked(key, addr, root.today));
            }
        }
    }

    /// The entry is complete: only its constraints may be others.
    fn keep(&mut self, addr: &ProviderAddr, step: &Step) {
        if let Some(recorded) = &step.recorded {
            let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
            let settled = Settled { entry, added: Vec::new(), signer: None, republished: false, findings: Vec::new() };
            self.entries.insert(addr.clone(), settled);
        }
    }
}

impl Prepared {
    /// Notes on entries that the configuration does not require.
    fn unrequired(&self) -> Vec<Finding> {
        let program = self.root.rules.dialect().program();
        let note = |addr: &ProviderAddr| {
            let message = format!(
                "{addr} is not required by the configuration, possibly from state; kept, but `{program} init` removes it \
                 unless the state needs it",
            );
            Finding::new(Rule::PossiblyFromState, message).about(addr)
        };
        self.plan.unrequired.iter().filter(|_| self.root.configured).map(note).collect()
    }

    fn write(&self, settlement: &Settlement, mode: Mode) -> Result<Changes, Error> {
        let entries = &settlement.entries;
        let mut new = self.root.lock.clone();
        for addr in &self.plan.pruned {
            new.remove(addr);
        }
        for (addr, settled) in entries {
            new.insert(addr.clone(), settled.entry.clone());
        }
        let mut found = diff::changes(&self.root.lock, &new);
        for change in &mut found {
            let Some(settled) = entries.get(&change.address) else { continue };
            change.signer.clone_from(&settled.signer);
            change.pinned = settlement.pinned.contains(&change.address);
            change.hashes_added.clone_from(&settled.added);
        }
        let text = new.encode(self.root.rules.dialect());
        let old = self.root.bytes.as_deref();
        let changed = old != Some(text.as_bytes());
        let path = self.root.shown.clone();
        let mut outcome = Changes { changed, path, changes: found, ..Changes::default() };
        match mode {
            Mode::Check => {}
            Mode::DryRun => {
                let old = String::from_utf8_lossy(old.unwrap_or_default());
                outcome.diff = Some(unified(&old, &text, lockfile::FILE_NAME));
            }
            Mode::Write => {
                let write = Write { path: self.root.path.clone(), text, boundary: self.root.boundary.clone() };
                outcome.written = commit::commit(&write)?;
            }
        }
        Ok(outcome)
    }
}

//! `lock`: makes lock files complete.

mod root;
mod rules;

use std::collections::BTreeMap;
use std::path::PathBuf;

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
use crate::engine::{Events, mirrors, recall, run};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::{self, LockEntry};
use crate::outcome::{Body, Changes, Outcome, RootOutcome};
use crate::report::diff::unified;

pub use root::Root;

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
    for (shown, root) in roots {
        let local = !matches!(source, Source::Mirror(..));
        prepared.push((shown, root.and_then(|root| prepare(root, cache, local))));
    }
    let steps: Vec<BTreeMap<ProviderAddr, Step>> = prepared
        .iter()
        .map(|(_, prepared)| prepared.as_ref().map(|prepared| prepared.open.clone()).unwrap_or_default())
        .collect();
    let many = prepared.len() > 1;
    let answers = ask(source, &steps);
    let roots = match answers {
        Ok(answers) => prepared
            .into_iter()
            .zip(answers)
            .map(|((shown, prepared), answers)| finish(shown, prepared, &answers, mode))
            .collect(),
        Err(error) => prepared
            .into_iter()
            .map(|(path, _)| RootOutcome { path, body: Err(error.clone()), findings: Vec::new() })
            .collect(),
    };
    Outcome { command: "lock", roots, many, notes: Vec::new() }
}

/// A root module whose plan is made.
struct Prepared {
    root: Root,
    plan: Plan,
    /// The steps of the plan that local facts do not answer.
    open: BTreeMap<ProviderAddr, Step>,
}

fn prepare(root: Root, cache: &Cache, local: bool) -> Result<Prepared, Error> {
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

fn finish(
    path: PathBuf,
    prepared: Result<Prepared, Error>,
    answers: &BTreeMap<ProviderAddr, Answer>,
    mode: Mode,
) -> RootOutcome {
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return RootOutcome { path, body: Err(error), findings: Vec::new() },
    };
    let mut settled = Settlement { findings: prepared.root.findings.clone(), ..Settlement::default() };
    for (addr, step) in &prepared.plan.steps {
        match answers.get(addr) {
            Some(answer) => settled.take(addr, step, answer),
            None => settled.keep(addr, step),
        }
    }
    settled.findings.extend(prepared.unrequired());
    let denied = settled.findings.iter().any(|finding| finding.level == Level::Deny);
    if denied || !settled.errors.is_empty() {
        // Nothing is written, so that nothing is new to the file.
        settled.findings.retain(|finding| finding.rule != Rule::FirstUse);
    }
    if let Some(error) = Error::all(settled.errors) {
        return RootOutcome { path, body: Err(error), findings: settled.findings };
    }
    let body = if denied {
        Ok(Changes { path: prepared.root.shown.clone(), ..Changes::default() })
    } else {
        prepared.write(&settled.entries, mode)
    };
    RootOutcome { path, body: body.map(Body::Changes), findings: settled.findings }
}

/// What came of the steps of one root module.
#[derive(Default)]
struct Settlement {
    entries: BTreeMap<ProviderAddr, Settled>,
    findings: Vec<Finding>,
    errors: Vec<Error>,
}

impl Settlement {
    fn take(&mut self, addr: &ProviderAddr, step: &Step, answer: &Answer) {
        let settled = match answer {
            Ok(facts) => settle::settle(addr, step, facts),
            Err(refusal) => Err(vec![refusal.clone()]),
        };
        match settled {
            Ok(settled) => {
                self.findings.extend(settled.findings.iter().cloned());
                self.entries.insert(addr.clone(), settled);
            }
            Err(refusals) => {
                for refusal in refusals {
                    match refusal {
                        Refusal::Error(error) => self.errors.push(error),
                        Refusal::Finding(finding) => self.findings.push(finding),
                    }
                }
            }
        }
    }

    /// The entry is complete: only its constraints may be others.
    fn keep(&mut self, addr: &ProviderAddr, step: &Step) {
        if let Some(recorded) = &step.recorded {
            let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
            let settled = Settled { entry, added: Vec::new(), signer: None, findings: Vec::new() };
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

    fn write(&self, entries: &BTreeMap<ProviderAddr, Settled>, mode: Mode) -> Result<Changes, Error> {
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

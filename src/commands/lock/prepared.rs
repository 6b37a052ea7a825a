//! One root module whose plan is made: what is still to be asked for it, and its end.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::git_history::Earlier;
use super::root::Edit;
use super::settlement::{Settlement, Settling};
use super::trust_stores::{Stored, TrustStores};
use super::unknown_provider;
use super::{Mode, Root, Run, Shared, failed, is_denied};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::diff;
use crate::disk::cache::Cache;
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::lock_file;
use crate::engine::commit::{self, Write};
use crate::engine::facts::Answer;
use crate::engine::plan::{self, Plan, Step};
use crate::engine::{complete, held_back, settle};
use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{self, LockEntry};
use crate::outcome::{AddedHash, Body, Changes, RootOutcome, Standing, TrustChange};
use crate::release::cached;
use crate::report::diff::unified;
use crate::trust::pins::Pins;
use crate::trust::update::TrustUpdate;
use crate::version::Version;

/// How an attempt at a root module ended.
pub(super) enum Finished {
    /// There is a result.
    Done(Box<RootOutcome>),
    /// The lock file, or configuration to be edited, is another one than was read: nothing was written.
    Overtaken,
    /// Another root module has failed before.
    NotBegun,
}

impl Finished {
    pub(super) fn failed(path: PathBuf, error: Error) -> Self {
        Self::Done(Box::new(failed(path, error)))
    }

    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Done(outcome) if outcome.body.is_err() || is_denied(&outcome.findings))
    }
}

/// What may be learned about signers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Learning {
    /// All of it, if the root module is not refused.
    Everything,
    /// What is true whatever becomes of the run.
    Revocations,
}

/// A root module whose entries are decided.
pub(super) struct Settled {
    settlement: Settlement,
    /// What is new in the trust file.
    updates: Vec<TrustUpdate>,
    /// What is written to configuration.
    edits: Vec<Edit>,
}

impl Settled {
    /// True if nothing may be written.
    pub(super) fn is_refused(&self) -> bool {
        self.settlement.is_refused()
    }

    /// The version that was decided on for a provider.
    pub(super) fn version(&self, addr: &ProviderAddr) -> Option<&Version> {
        self.settlement.entries.get(addr).map(|settled| &settled.entry.version)
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, finding: Finding) {
        self.settlement.findings.push(finding);
    }
}

/// A root module whose plan is made.
pub(super) struct Prepared {
    pub(super) root: Root,
    pub(super) plan: Plan,
    /// What the settings say of providers before anybody is asked about them.
    against: BTreeMap<ProviderAddr, Vec<Finding>>,
    /// The steps of the plan that local facts do not answer and the settings do not forbid.
    pub(super) open: BTreeMap<ProviderAddr, Step>,
}

impl Prepared {
    pub(super) fn new(root: Root, run: Run<'_>, shared: &Shared) -> Result<Self, Error> {
        shared.stores.load(&root.trust)?;
        let rules = |addr: &ProviderAddr| root.rules_of(addr);
        let mut lock = Cow::Borrowed(&root.lock);
        for (addr, earlier) in root.earlier.iter().filter(|(_, earlier)| earlier.is_wanted) {
            lock.to_mut().insert(addr.clone(), earlier.entry.clone());
        }
        let mut plan = plan::plan(&root.requirements, &lock, &root.intent, (root.rules.dialect(), &rules))
            .map_err(|errors| Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::Usage, "nothing to lock")))?;
        for (addr, step) in &mut plan.steps {
            step.platforms = root.platforms_of(addr, root.locked_for.as_ref());
            // If this very version is selected, it is not a first use.
            let earlier = || root.earlier.get(addr).map(|earlier| earlier.entry.clone());
            step.recorded = step.recorded.take().or_else(earlier);
        }
        let answered = |addr: &ProviderAddr, step: &Step| {
            let release = step.recorded_release().and_then(|entry| cached::unchecked(run.cache, addr, &entry.version));
            root.asks_origin() && release.is_some_and(|release| complete::is_complete(step, &release))
        };
        let (mut against, mut open) = (BTreeMap::new(), BTreeMap::new());
        for (addr, step) in &plan.steps {
            let mut findings = root.against(addr, step);
            if !is_denied(&findings) {
                match answered(addr, step).then(|| root.of_kept(run.cache, &shared.kept, (addr, step))).flatten() {
                    Some(of_kept) => findings.extend(of_kept),
                    None => drop(open.insert(addr.clone(), step.clone())),
                }
            }
            against.insert(addr.clone(), findings);
        }
        Ok(Self { root, plan, against, open })
    }

    /// Reads the trust file, unless that is done.
    pub(super) fn load(&self, stores: &TrustStores) -> Result<(), Error> {
        stores.load(&self.root.trust)
    }

    /// True if more is known now than when the plan was made of the platforms that the root module was locked for, and
    /// they are wanted, since nobody named any.
    pub(super) fn is_outgrown(&self, cache: &Cache) -> bool {
        let Some(now) = self.root.recognised(cache) else { return false };
        let is_outgrown = |(addr, step): (&ProviderAddr, &Step)| {
            self.root.platforms_of(addr, Some(&now)).iter().any(|platform| !step.platforms.contains(platform))
        };
        self.plan.steps.iter().any(is_outgrown)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.root.rules.dialect()
    }

    /// Decides all entries, those without an answer by what is recorded. What is learned counts for the root modules
    /// after this one.
    pub(super) fn settle(
        &self,
        answers: &BTreeMap<ProviderAddr, Answer>,
        (stores, cache): (&TrustStores, &Cache),
        learning: Learning,
    ) -> Settled {
        let leveled = |finding: Finding| self.root.rules.leveled(finding, None);
        let findings = self.root.findings.iter().cloned().map(leveled);
        let mut settlement = Settlement { findings: findings.collect(), ..Settlement::default() };
        settlement.findings.extend(self.against.values().flatten().cloned());
        if !answers.is_empty() {
            settlement.pins = stores.pins(&self.root.trust);
        }
        for (addr, step) in &self.plan.steps {
            match answers.get(addr) {
                Some(answer) => {
                    settlement.take(Settling { root: &self.root, cache }, addr, step, answer);
                    settlement.explain_signer(addr, answer, cache);
                    if let (Some(_), Ok(facts)) = (&self.root.intent.upgrade, answer) {
                        let requirement = self.root.requirements.get(addr);
                        settlement.findings.extend(held_back::held_back(addr, step, requirement, facts).map(leveled));
                        let new = settlement.entries.get(addr).map(|settled| &settled.entry);
                        let dropped = new.and_then(|new| held_back::platforms_dropped(addr, step, new));
                        settlement.findings.extend(dropped.map(leveled));
                    }
                }
                None => settlement.keep(addr, step),
            }
        }
        settlement.findings.extend(self.unrequired().into_iter().map(leveled));
        settlement.findings.extend(self.earlier(&settlement).into_iter().map(leveled));
        let edits = self.complete(&mut settlement);
        // A revocation is true whatever else is wrong; everything else is learned from what is written only.
        let refused = settlement.is_refused() || learning == Learning::Revocations;
        let updates = std::mem::take(&mut settlement.updates).into_iter();
        let updates = updates.filter(|update| !refused || matches!(update, TrustUpdate::Revoked { .. })).collect();
        let updates = stores.learn(&self.root.trust, updates).unwrap_or_else(|error| {
            settlement.errors.push(error);
            Vec::new()
        });
        settlement.pins = Pins::default();
        Settled { settlement, updates, edits }
    }

    /// What is written to configuration, now that versions are selected.
    fn complete(&self, settlement: &mut Settlement) -> Vec<Edit> {
        let Some(pending) = &self.root.pending else { return self.root.edits.clone() };
        if settlement.is_refused() {
            return Vec::new();
        }
        let selected = settlement.entries.iter().map(|(addr, settled)| (addr, &settled.entry.version)).collect();
        match pending.complete(&self.root.requirements, &selected) {
            Ok((edits, requirements)) => {
                let of_modules = self.root.edits.iter().cloned();
                for (addr, settled) in &mut settlement.entries {
                    if let Some(requirement) = requirements.get(addr) {
                        settled.entry.constraints = requirement.constraints.clone();
                    }
                }
                of_modules.chain(edits.into_iter().map(|texts| self.root.placed(texts))).collect()
            }
            Err(error) => {
                settlement.errors.push(error);
                Vec::new()
            }
        }
    }

    /// Notes on entries that providers had before.
    fn earlier(&self, settlement: &Settlement) -> Vec<Finding> {
        let note = |(addr, earlier): (&ProviderAddr, &Earlier)| {
            let selected = settlement.entries.get(addr).map(|settled| &settled.entry.version);
            earlier.finding(addr, selected, self.dialect())
        };
        let is_told = |addr: &ProviderAddr| {
            let republished =
                |finding: &Finding| finding.rule == Rule::Republished && finding.address.as_ref() == Some(addr);
            settlement.entries.contains_key(addr) || settlement.findings.iter().any(republished)
        };
        self.root.earlier.iter().filter(|(addr, _)| is_told(addr)).map(note).collect()
    }

    /// Writes what was settled, once the trust files are written.
    pub(super) fn finish(&self, path: &Path, settled: Settled, stored: &Stored, run: Run<'_>) -> Finished {
        let Settled { mut settlement, updates, edits } = settled;
        let path = path.to_owned();
        let written = match stored.get(&self.root.trust) {
            Some(Ok(written)) => *written,
            Some(Err(error)) if !updates.is_empty() => {
                settlement.errors.push(error.clone());
                false
            }
            _ => false,
        };
        if let Some(error) = Error::all(std::mem::take(&mut settlement.errors)) {
            let folder = self.root.shown.parent().unwrap_or(Path::new(""));
            let error = unknown_provider::placed(error, self.root.requirements(), folder, self.dialect());
            let findings = self.root.placed_findings(settlement.findings);
            return Finished::Done(Box::new(RootOutcome { path, body: Err(error), findings }));
        }
        let body = if settlement.is_refused() {
            Ok(Some(Changes { path: self.root.shown.clone(), ..Changes::default() }))
        } else {
            self.write(&settlement, &edits, run.mode)
        };
        if let (Mode::Write, Ok(Some(_))) = (run.mode, &body) {
            for (addr, settled) in settlement.entries.iter().filter(|(_, settled)| !settled.added.is_empty()) {
                run.cache.note_locked(addr, &settled.entry.version);
            }
        }
        let body = match body {
            Ok(None) => return Finished::Overtaken,
            Ok(Some(changes)) => {
                Ok(Body::Changes(Changes { trust: trust_change(&self.root, &updates, written), ..changes }))
            }
            Err(error) => Err(error),
        };
        let findings = self.root.placed_findings(settlement.findings);
        Finished::Done(Box::new(RootOutcome { path, body, findings }))
    }

    /// Notes on entries that the configuration does not require, and on what else `init` will change.
    fn unrequired(&self) -> Vec<Finding> {
        let program = self.dialect().program();
        let state = self.root.intent.state.as_ref();
        let note = |addr: &ProviderAddr| {
            if state.is_some() {
                let message = format!(
                    "neither the configuration nor the state needs {addr}; kept, but `{program} init` removes its entry"
                );
                return Finding::new(Rule::InitChanges, message).about(addr);
            }
            let message = format!(
                "{addr} is not required by the configuration, possibly from state; kept, but `{program} init` removes it \
                 unless the state needs it",
            );
            Finding::new(Rule::PossiblyFromState, message).about(addr)
        };
        let only_in_state = state.into_iter().flatten().filter(|addr| {
            let has_entry = self.root.lock.get(addr).is_some();
            !has_entry && self.root.requirements().get(addr).is_none()
        });
        let added = only_in_state.map(|addr| {
            let message =
                format!("the state needs {addr}, which the configuration does not require: `{program} init` adds it");
            Finding::new(Rule::InitChanges, message).about(addr)
        });
        let kept = self.root.lock.iter().filter(|(addr, _)| !self.plan.pruned.contains(addr));
        let foreign = kept.filter(|(_, entry)| entry.hashes.of(HashScheme::Other).next().is_some());
        let dropped = foreign.map(|(addr, entry)| {
            let message = format!(
                "`{program} init` drops the hashes of {addr} {} whose scheme it does not know when it installs the package",
                entry.version
            );
            Finding::new(Rule::InitChanges, message).about(addr)
        });
        let noted = self.plan.unrequired.iter().map(note).chain(added);
        noted.filter(|_| self.root.configured).chain(dropped).collect()
    }

    /// What changes, and as the mode says, its writing; none if the files changed since they were read.
    fn write(&self, settlement: &Settlement, edits: &[Edit], mode: Mode) -> Result<Option<Changes>, Error> {
        let entries = &settlement.entries;
        let mut new = self.root.lock.clone();
        for addr in &self.plan.pruned {
            new.remove(addr);
        }
        for (addr, settled) in entries {
            new.insert(addr.clone(), settled.entry.clone());
        }
        let mut list = diff::changes(&self.root.lock, &new);
        for change in &mut list {
            let Some(settled) = entries.get(&change.address) else { continue };
            change.signer.clone_from(&settled.signer);
            change.identical = settled.identical;
            if settlement.pinned.contains(&change.address) {
                change.standing = Standing::Pinned;
            }
            change.hashes_added.clone_from(&settled.added);
            if self.root.earlier.contains_key(&change.address) {
                change.hashes_added.extend(remembered(settled, self.root.lock.get(&change.address)));
            }
        }
        let text = new.encode(self.dialect());
        let old = self.root.bytes.as_deref();
        // Where nothing is required `providers lock` writes a file without entries; `init` neither writes nor misses one.
        let unmissed = mode == Mode::Check && old.is_none() && new.is_empty() && edits.is_empty();
        let needless = self.root.untouched || unmissed;
        let changed = (old != Some(text.as_bytes()) || !edits.is_empty()) && !needless;
        let mut outcome = Changes { changed, path: self.root.shown.clone(), changes: list, ..Changes::default() };
        outcome.modules.clone_from(&self.root.modules.changes);
        outcome.edited = edits.iter().map(|edit| edit.shown.clone()).collect();
        match mode {
            Mode::Check => {}
            Mode::DryRun | Mode::Write if needless => {}
            Mode::DryRun => outcome.diff = Some(self.diff(&text, edits)),
            Mode::Write => match self.store(&text, edits)? {
                Some(written) => outcome.written = written,
                None => return Ok(None),
            },
        }
        Ok(Some(outcome))
    }

    /// The diff of all files that would be written.
    fn diff(&self, text: &str, edits: &[Edit]) -> String {
        let mut diff = String::new();
        for Edit { shown, texts, .. } in edits {
            diff += &unified(texts.old.as_deref().unwrap_or_default(), &texts.new, &shown.to_string_lossy());
        }
        let old = String::from_utf8_lossy(self.root.bytes.as_deref().unwrap_or_default());
        diff + &unified(&old, text, lockfile::FILE_NAME)
    }

    /// Writes the lock file and the configuration with it, if both are still what was read.
    fn store(&self, text: &str, edits: &[Edit]) -> Result<Option<bool>, Error> {
        let directory = self.root.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let _lock = DirectoryLock::acquire(directory.unwrap_or(Path::new(".")))?;
        if lock_file::read(&self.root.path)? != self.root.bytes {
            return Ok(None);
        }
        let edits: Vec<commit::Edit<'_>> = edits
            .iter()
            .map(|edit| commit::Edit { path: &edit.place, old: edit.texts.old.as_deref(), new: &edit.texts.new })
            .collect();
        let write = Write { path: self.root.path.clone(), text: text.to_owned(), boundary: self.root.boundary.clone() };
        commit::commit(&write, &edits)
    }
}

/// The hashes of an entry that were taken from one that the provider had before.
fn remembered(settled: &settle::Settled, old: Option<&LockEntry>) -> Vec<AddedHash> {
    let is_new = |hash: &&PackageHash| {
        settled.added.iter().all(|added| added.hash != **hash) && old.is_none_or(|old| !old.hashes.contains(hash))
    };
    let added =
        |hash: &PackageHash| AddedHash { hash: hash.clone(), platform: None, evidence: vec![Evidence::Recorded] };
    settled.entry.hashes.iter().filter(is_new).map(added).collect()
}

fn trust_change(root: &Root, updates: &[TrustUpdate], written: bool) -> Option<TrustChange> {
    let mut change = TrustChange { path: root.trust.shown.clone(), written, ..TrustChange::default() };
    for update in updates {
        match update {
            TrustUpdate::FirstUse { address, signer, .. } | TrustUpdate::Carried { address, signer, .. } => {
                change.pinned.push((address.clone(), signer.clone()));
            }
            TrustUpdate::Revoked { key, .. } => change.denied.push(key.clone()),
            TrustUpdate::Republished { republication, .. } => {
                change.republished.push((republication.address.clone(), republication.version.clone()));
            }
        }
    }
    (!updates.is_empty()).then_some(change)
}

//! One root module with its plan: the queries that are still open, and how it ends.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::decision::{Decision, RootDecision, recovery_hints, remedied, unknown_provider};
use super::root::{LockRoot, RootEdit};
use super::session::{LockSession, TrustStores};
use super::writing::{WritePhase, Written};

use crate::addr::ProviderAddr;
use crate::commands::shared::earlier::Earlier;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::roots::{self, placed};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule, is_denied};
use crate::lock;
use crate::lock::plan::{self, Plan};
use crate::lock::settle::EntryDecision;
use crate::lockfile::{self, LockFile};
use crate::outcome::{Body, Changes, RootOutcome, TrustChange};
use crate::query::cached;
use crate::query::question::{Answer, Goal, Query, Refusal};
use crate::release::Release;
use crate::release::continuity::FirstUseRule;
use crate::trust::pins::Pins;
use crate::trust::signer::TrustUpdate;
use crate::verify::{init_changes, unreachable_from_state};

pub(super) enum RootState {
    Planned(Box<LockJob>),
    Done(Box<RootOutcome>),
    /// The lock file or the configuration changed since it was read; nothing was written.
    Overtaken,
    /// Skipped because another root module failed.
    NotBegun,
}

impl RootState {
    pub(super) fn failed(path: PathBuf, error: Error) -> Self {
        Self::Done(Box::new(RootOutcome::failed(path, error)))
    }

    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::Done(outcome) if outcome.body.is_err() || is_denied(&outcome.findings))
    }
}

pub(super) struct LockJob {
    pub(super) number: usize,
    /// The path as shown in reports.
    pub(super) path: PathBuf,
    pub(super) root: LockRoot,
    pub(super) plan: Plan,
    /// What the settings forbid about providers, known before any request.
    against: BTreeMap<ProviderAddr, Vec<Finding>>,
    /// The steps of the plan that local facts do not answer and the settings do not forbid.
    pub(super) open: BTreeMap<ProviderAddr, Query>,
    /// The open steps that need packages, because the platforms of the recorded hashes are unknown; `true` if there are
    /// fewer `h1:` hashes than platforms.
    pub(super) unattributed: BTreeMap<ProviderAddr, bool>,
    /// Releases of entries without a pin that local facts answer.
    pub(super) kept: BTreeMap<ProviderAddr, Arc<Release>>,
    pub(super) answers: Result<BTreeMap<ProviderAddr, Answer>, Error>,
    /// `None` before the decision, and if `--fail-fast` applies to an earlier failure.
    pub(super) decision: Option<Result<Decision, Error>>,
}

impl LockJob {
    pub(super) fn new(
        (number, path): (usize, &Path),
        root: LockRoot,
        session: &LockSession<'_>,
    ) -> Result<Self, Error> {
        let (request, cache) = (session.request, session.cache);
        session.stores.load(&root.settings().trust)?;
        let wanted = |addr: &ProviderAddr| {
            // If this very version is selected, it is not a first use.
            let earlier = root.prepared.earlier.get(addr).map(|earlier| earlier.entry.clone());
            (root.rules_of(addr), root.platforms_of(addr, root.recorded_platforms.as_ref()), earlier)
        };
        let lock = root.lock_with_restored();
        let requirements = root.requirements.clone().renamed(|file| roots::file_from(&root.settings().path, file));
        let mut plan = plan::plan(&requirements, &lock, &root.intent, root.rules.dialect(), &wanted)
            .map_err(|errors| Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::Usage, "nothing to lock")))?;
        for (addr, step) in &mut plan.steps {
            step.rules.provenance = session.stores.provenance(&root.settings().trust, addr);
        }
        let release = |addr: &ProviderAddr, step: &Query| {
            step.recorded_release().and_then(|entry| cached::unchecked(cache, addr, &entry.version))
        };
        let (mut against, mut open, mut unattributed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (addr, step) in &mut plan.steps {
            let mut findings = root.against(addr, step);
            if let Some(entry) = root.prepared.restored.get(addr).filter(|_| !is_denied(&findings)) {
                open.insert(addr.clone(), root.query_restored(step, entry));
            } else if !is_denied(&findings) {
                let release = release(addr, step);
                let complete = root.uses_origin() && release.as_ref().is_some_and(|it| plan::is_complete(step, it));
                let of_kept = complete.then(|| of_kept(&root, session, addr, step)).flatten();
                if let Some(of_kept) = of_kept {
                    findings.extend(of_kept);
                } else {
                    let is_unknown = request.no_download && step.recorded_release().is_some();
                    if is_unknown || plan::is_unattributed(step, release.as_ref()) {
                        unattributed.insert(addr.clone(), plan::has_fewer_than_platforms(step));
                    }
                    if request.no_download {
                        step.goal = Goal::Documents;
                    }
                    open.insert(addr.clone(), step.clone());
                }
            }
            against.insert(addr.clone(), findings);
        }
        let learns = root.first_use == FirstUseRule::Remember && root.uses_origin() && !request.restores();
        let mut kept = BTreeMap::new();
        if learns && (!open.is_empty() || session.stores.exists(&root.settings().trust)) {
            let pins = session.stores.pins(&root.settings().trust);
            let unqueried = plan.steps.keys().filter(|addr| !open.contains_key(*addr)).chain(&plan.unrequired);
            let unpinned: Vec<ProviderAddr> = unqueried.filter(|addr| pins.pin(addr).is_none()).cloned().collect();
            for addr in unpinned {
                let Some(entry) = root.lock.get(&addr) else {
                    continue;
                };
                if root.rules.forbids(&addr, &entry.version) {
                    continue;
                }
                match session.kept.release(cache, (&addr, &entry.version), root.rules.check(&addr)) {
                    Some(release) => drop(kept.insert(addr, release)),
                    None if plan.steps.contains_key(&addr) => {}
                    None => {
                        let query = Query::of_signer(entry.version.clone(), root.rules_of(&addr));
                        open.insert(addr, query);
                    }
                }
            }
        }
        let path = path.to_owned();
        let answers = Ok(BTreeMap::new());
        Ok(Self { number, path, root, plan, against, open, unattributed, kept, answers, decision: None })
    }

    /// True if no platforms were named and the cache now knows more platforms of the entries than when the plan was made.
    pub(super) fn is_outgrown(&self, cache: &Cache) -> bool {
        let Some(now) = self.root.recognised(cache) else {
            return false;
        };
        let is_outgrown = |(addr, step): (&ProviderAddr, &Query)| {
            self.root.platforms_of(addr, Some(&now)).iter().any(|platform| !step.platforms.contains(platform))
        };
        self.plan.steps.iter().any(is_outgrown)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.root.rules.dialect()
    }

    /// Decides all entries; those without an answer by their recorded hashes. The trust updates apply to the root
    /// modules after this one.
    pub(super) fn decide(
        &self,
        answers: &BTreeMap<ProviderAddr, Answer>,
        stores: &TrustStores,
        cache: &Cache,
    ) -> Decision {
        let leveled = |finding: Finding| self.root.rules.complete(finding, None);
        let pins = if answers.is_empty() && self.kept.is_empty() {
            Pins::default()
        } else {
            stores.pins(&self.root.settings().trust)
        };
        let findings = self.root.findings.iter().cloned().map(leveled);
        let findings = findings.chain(self.against.values().flatten().cloned()).collect();
        let decision = Decision { findings, ..Decision::default() };
        let mut deciding = RootDecision { root: &self.root, cache, pins, decision, names: OnceCell::new() };
        for (addr, step) in &self.plan.steps {
            let Some(answer) = answers.get(addr) else {
                deciding.decision.keep(addr, step);
                continue;
            };
            if let Some(entry) = self.root.prepared.restored.get(addr) {
                deciding.restore(addr, entry, answer);
                continue;
            }
            deciding.take(addr, step, answer);
            let is_about = |finding: &Finding| finding.address.as_ref() == Some(addr);
            let mut of_it = deciding.decision.findings.iter().filter(|finding| is_about(finding));
            // What was refused is not selected, so nothing holds the selection back.
            let refused = of_it.any(|finding| finding.level() == Level::Deny);
            if let (Some(_), Ok(facts), false) = (&self.root.intent.upgrade, answer, refused) {
                let decision = &mut deciding.decision;
                let requirement = self.root.requirements.get(addr).map(|it| self.root.shown(it));
                let held = lock::held_back(addr, step, requirement.as_ref(), facts);
                decision.findings.extend(held.map(leveled));
                let new = decision.entries.get(addr).map(|decided| &decided.entry);
                let dropped = new.and_then(|new| lock::platforms_dropped(addr, step, new));
                decision.findings.extend(dropped.map(leveled));
            }
        }
        for (addr, release) in &self.kept {
            deciding.pin(addr, release);
        }
        for addr in self.plan.unrequired.iter().filter(|addr| self.open.contains_key(*addr)) {
            match answers.get(addr) {
                Some(Ok(facts)) => deciding.pin(addr, &facts.release),
                Some(Err(Refusal::Error(error))) => deciding.leave_unpinned(addr, &error.message),
                Some(Err(Refusal::Finding(finding, _))) => deciding.leave_unpinned(addr, finding.message()),
                None => deciding.leave_unpinned(addr, "--offline forbids contacting its registry"),
            }
        }
        let mut decision = deciding.decision;
        decision.findings.extend(self.unrequired(&decision.entries).into_iter().map(leveled));
        decision.findings.extend(self.earlier(&decision).into_iter().map(leveled));
        decision.edits = self.complete(&mut decision);
        self.learn(&mut decision, stores);
        decision.findings = remedied(&self.root, answers, std::mem::take(&mut decision.findings));
        decision.advice = recovery_hints(&self.root, &decision);
        decision
    }

    /// Passes trust updates on. Revocations are kept even if the run is refused; other updates only if the entries are written.
    fn learn(&self, decision: &mut Decision, stores: &TrustStores) {
        let refused = decision.is_refused() || stores.only_revocations;
        let updates = std::mem::take(&mut decision.updates).into_iter();
        let updates = updates.filter(|update| !refused || matches!(update, TrustUpdate::Revoked { .. })).collect();
        match stores.learn(&self.root.settings().trust, updates) {
            Ok(new) => decision.updates = new,
            Err(error) => decision.errors.push(error),
        }
    }

    /// The edits of configuration for the selected versions.
    fn complete(&self, decision: &mut Decision) -> Vec<RootEdit> {
        let prepared = &self.root.prepared;
        let Some(pending) = &prepared.pending else {
            return prepared.edits.clone();
        };
        if decision.is_refused() {
            return Vec::new();
        }
        let selected = decision.entries.iter().map(|(addr, settled)| (addr, &settled.entry.version)).collect();
        match pending.complete(&self.root.requirements, &selected) {
            Ok((edits, requirements)) => {
                let of_modules = prepared.edits.iter().cloned();
                for (addr, settled) in &mut decision.entries {
                    if let Some(requirement) = requirements.get(addr) {
                        settled.entry.constraints = requirement.constraints.clone();
                    }
                }
                of_modules.chain(edits.into_iter().map(|texts| self.root.placed(texts))).collect()
            }
            Err(error) => {
                decision.errors.push(placed(error, &self.path));
                Vec::new()
            }
        }
    }

    fn earlier(&self, decision: &Decision) -> Vec<Finding> {
        let note = |(addr, earlier): (&ProviderAddr, &Earlier)| {
            let selected = decision.entries.get(addr).map(|settled| &settled.entry.version);
            earlier.finding(addr, selected, self.dialect())
        };
        let is_reported = |addr: &ProviderAddr| {
            let republished =
                |finding: &Finding| finding.rule == Rule::Republished && finding.address.as_ref() == Some(addr);
            decision.entries.contains_key(addr) || decision.findings.iter().any(republished)
        };
        self.root.prepared.earlier.iter().filter(|(addr, _)| is_reported(addr)).map(note).collect()
    }

    /// Reports what was decided, and writes it if the phase says so.
    pub(super) fn finish(&self, mut decision: Decision, session: &LockSession<'_>, phase: &WritePhase) -> RootState {
        let path = self.path.clone();
        let is_trust_written = match phase.trust.get(&self.root.settings().trust) {
            Some(Ok(written)) => *written,
            Some(Err(error)) if !decision.updates.is_empty() => {
                decision.errors.push(error.clone());
                false
            }
            _ => false,
        };
        if let Some(error) = Error::all(std::mem::take(&mut decision.errors)) {
            let folder = &self.root.settings().path;
            let error = unknown_provider(error, (&self.root.requirements, &self.root.lock), folder, self.dialect());
            let error = error.hints(decision.advice);
            let findings = self.root.placed_findings(decision.findings, self.root.read.spans());
            return RootState::Done(Box::new(RootOutcome { path, body: Err(error), findings }));
        }
        let written = if decision.is_refused() {
            let advice = std::mem::take(&mut decision.advice).into();
            let changes = Changes { path: self.root.settings().lock_file_shown(), advice, ..Changes::default() };
            Ok(Some(Written { changes, text: None }))
        } else {
            self.write(&decision, session, phase.mode)
        };
        let (body, text) = match written {
            Ok(None) => return RootState::Overtaken,
            Ok(Some(Written { changes, text })) => {
                let trust = trust_change(&self.root, &decision.updates, is_trust_written);
                (Ok(Body::Changes(Changes { trust, ..changes })), text)
            }
            Err(error) => (Err(error), None),
        };
        // Places are those of the lock file as it is now.
        let new = text.and_then(|text| lockfile::decode(text.as_bytes(), self.dialect()).ok());
        let spans = new.as_ref().map_or(self.root.read.spans(), |decoded| Some(&decoded.spans));
        let findings = self.root.placed_findings(decision.findings, spans);
        RootState::Done(Box::new(RootOutcome { path, body, findings }))
    }

    /// The lock file with these entries, as it will be.
    pub(super) fn lock_with(&self, entries: &BTreeMap<ProviderAddr, EntryDecision>) -> LockFile {
        let mut lock = self.root.lock.clone();
        for addr in &self.plan.pruned {
            lock.remove(addr);
        }
        for (addr, decided) in entries {
            lock.insert(addr.clone(), decided.entry.clone());
        }
        lock
    }

    /// The note on an entry that nothing requires.
    fn unrequired_entry(&self, addr: &ProviderAddr) -> Finding {
        let program = self.dialect().program();
        if self.root.kind().traits().keeps_unused {
            let message = format!("{addr} is not required by the stack; kept until `tflock lock --prune`");
            return Finding::new(Rule::PossiblyFromState, message).about(addr);
        }
        if self.root.intent.state.is_some() {
            let message = format!(
                "neither the configuration nor the state needs {addr}; kept, but `{program} init` removes its entry"
            );
            return Finding::new(Rule::InitChanges, message).about(addr);
        }
        let unreachable = self.root.settings().translates_state().then(|| unreachable_from_state(addr)).flatten();
        if let Some(finding) = unreachable {
            return finding;
        }
        let message = format!(
            "{addr} is not required by the configuration, possibly from state; kept, but `{program} init` removes it \
             unless the state needs it",
        );
        Finding::new(Rule::PossiblyFromState, message).about(addr)
    }

    fn unrequired(&self, entries: &BTreeMap<ProviderAddr, EntryDecision>) -> Vec<Finding> {
        let program = self.dialect().program();
        let state = self.root.intent.state.as_ref();
        let only_in_state = state.into_iter().flat_map(|state| &state.addresses).filter(|addr| {
            let has_entry = self.root.lock.get(addr).is_some();
            !has_entry && self.root.requirements.get(addr).is_none()
        });
        let added = only_in_state.map(|addr| {
            let message =
                format!("the state needs {addr}, which the configuration does not require: `{program} init` adds it");
            Finding::new(Rule::InitChanges, message).about(addr)
        });
        let lock = self.lock_with(entries);
        let of_init: Vec<Finding> =
            lock.iter().flat_map(|(addr, _)| init_changes(addr, &lock, self.dialect())).collect();
        let noted = self.plan.unrequired.iter().map(|addr| self.unrequired_entry(addr)).chain(added);
        noted.filter(|_| self.root.configured).chain(of_init).collect()
    }
}

/// The findings about a recorded release by the records of earlier runs; `None` if they do not prove its signature, or if a
/// finding is denied, since the registry may have a newer answer.
fn of_kept(root: &LockRoot, session: &LockSession<'_>, addr: &ProviderAddr, step: &Query) -> Option<Vec<Finding>> {
    let version = &step.recorded_release()?.version;
    let release = session.kept.release(session.cache, (addr, version), root.rules.check(addr))?;
    let findings = release.findings.iter().map(|finding| root.rules.complete(finding.clone(), Some(version)));
    let findings: Vec<Finding> = findings.collect();
    let is_proven = !is_denied(&findings);
    is_proven.then(|| findings.into_iter().map(|finding| root.at_requirement(finding, addr)).collect())
}

fn trust_change(root: &LockRoot, updates: &[TrustUpdate], written: bool) -> Option<TrustChange> {
    let mut change = TrustChange { path: root.settings().trust.shown.clone(), written, ..TrustChange::default() };
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

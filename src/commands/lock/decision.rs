//! Decides the entries of one root module, or collects the reasons against them.

use std::collections::{BTreeMap, BTreeSet};

use super::root::Edit;
use super::{Root, is_denied};
use crate::addr::{ProviderAddr, UsedNames};
use crate::commands::witnesses::Witnesses;
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::lock::settle::{self, EntryDecision};
use crate::lockfile::LockEntry;
use crate::query::answer::{Answer, Refusal};
use crate::query::question::Query;
use crate::release::signers::{self, Signed};
use crate::release::{Release, continuity};
use crate::trust::pins::{Pins, Republication};
use crate::trust::update::TrustUpdate;
use crate::verify::policy;
use crate::version::Version;

#[derive(Default)]
pub(super) struct Decision {
    pub(super) entries: BTreeMap<ProviderAddr, EntryDecision>,
    /// Providers whose signer was trusted before.
    pub(super) pinned: BTreeSet<ProviderAddr>,
    /// Possible changes of the trust file; in the end only the new ones.
    pub(super) updates: Vec<TrustUpdate>,
    pub(super) edits: Vec<Edit>,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
    /// Next steps if nothing may be written.
    pub(super) advice: Vec<String>,
}

impl Decision {
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty() || is_denied(&self.findings)
    }

    pub(super) fn version(&self, addr: &ProviderAddr) -> Option<&Version> {
        self.entries.get(addr).map(|decided| &decided.entry.version)
    }

    /// Keeps a complete entry; only its constraints may change.
    pub(super) fn keep(&mut self, addr: &ProviderAddr, step: &Query) {
        let Some(recorded) = &step.recorded else { return };
        let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
        self.entries.insert(addr.clone(), EntryDecision::kept(entry));
    }
}

pub(super) struct RootDecision<'a> {
    pub(super) root: &'a Root,
    pub(super) cache: &'a Cache,
    pub(super) pins: Pins,
    pub(super) decision: Decision,
}

impl RootDecision<'_> {
    /// Settles a step by its answer.
    pub(super) fn take(&mut self, addr: &ProviderAddr, step: &Query, answer: &Answer) {
        let root = self.root;
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(addr, refusal.clone()),
        };
        let leveled = |finding| root.rules.leveled(finding, Some(facts.version()));
        let known = self.witnesses();
        let witnesses = |release: &Release| known.of(release);
        let mut settled = settle::settle(step, facts, &leveled, &witnesses);
        if let (Ok(settled), true) = (&mut settled, root.earlier.contains_key(addr)) {
            // New to the file, although not a first use.
            settled.signer.clone_from(&facts.release.signer);
        }
        let is_new = settled.as_ref().is_ok_and(|settled| settled.first_use || settled.signer.is_some());
        if root.lock.get(addr).is_none() && self.pins.pin(addr).is_none() {
            self.decision.findings.extend(self.about_name(addr));
        }
        let identical = settled.as_ref().is_ok_and(|settled| settled.identical);
        let from = step.moved.as_ref().filter(|_| identical).map(|moved| &moved.from);
        let judged = if let Some(update) = from.and_then(|from| signers::carried(&self.pins, from, &facts.release)) {
            self.decision.updates.push(update);
            Ok(Signed::Pinned)
        } else {
            signers::remembered(&self.pins, &facts.release, root.first_use, is_new)
        };
        let is_trusted_now = is_new || matches!(judged, Ok(Signed::First(_)));
        if let (Some(signer), true) = (&facts.release.signer, is_trusted_now) {
            let unexpected = policy::unexpected_publisher(Some(&self.pins), addr, signer);
            self.decision.findings.extend(unexpected.map(leveled));
        }
        match judged {
            Ok(Signed::Pinned) => {
                self.decision.pinned.insert(addr.clone());
            }
            Ok(Signed::First(update)) => self.decision.updates.push(*update),
            Ok(Signed::Unknown) => {}
            Err(finding) => self.decision.findings.push(leveled(finding)),
        }
        match settled {
            Ok(settled) => {
                if settled.republished {
                    let republication =
                        Republication { address: addr.clone(), version: facts.version().clone(), date: root.today() };
                    self.decision.updates.push(TrustUpdate::Republished { republication, reason: root.reason.clone() });
                }
                self.decision.findings.extend(settled.findings.iter().cloned());
                self.decision.entries.insert(addr.clone(), settled);
            }
            Err(refusals) => refusals.into_iter().for_each(|refusal| self.refuse(addr, refusal)),
        }
    }

    /// Remembers the signer of an entry that is kept without a pin, if the release is the recorded one.
    pub(super) fn pin(&mut self, addr: &ProviderAddr, release: &Release) {
        let Some(entry) = self.root.lock.get(addr) else { return };
        let judged = continuity::judge(&entry.hashes, release);
        if !matches!(judged, continuity::Verdict::Shown { .. } | continuity::Verdict::Grew { .. }) {
            return;
        }
        // A signer that is denied is a finding of `verify`.
        let Ok(Signed::First(update)) = signers::remembered(&self.pins, release, self.root.first_use, false) else {
            return;
        };
        let unexpected = release.signer.iter();
        let unexpected = unexpected.filter_map(|signer| policy::unexpected_publisher(Some(&self.pins), addr, signer));
        let leveled = unexpected.map(|finding| self.root.rules.leveled(finding, Some(&entry.version)));
        self.decision.findings.extend(leveled);
        self.decision.updates.push(*update);
    }

    /// Names an entry that nothing requires and whose signer could not be found out.
    pub(super) fn leave_unpinned(&mut self, addr: &ProviderAddr, why: &str) {
        let message =
            format!("the signer of {addr} is not pinned: {why}; `tflock trust add` and `tflock trust init` pin it");
        let finding = Finding::new(Rule::SignerNotPinned, message).about(addr);
        self.decision.findings.push(Finding { level: Level::Note, ..finding });
    }

    /// Warns about a new provider whose name resembles that of a known or locked one.
    fn about_name(&self, addr: &ProviderAddr) -> Option<Finding> {
        let locked = self.root.lock.iter().map(|(addr, _)| addr);
        let required = self.root.requirements.iter().map(|(addr, _)| addr);
        let others = UsedNames::of(locked.chain(required).filter(|other| *other != addr));
        let finding = policy::similar_name(addr, &others)?;
        Some(Finding { level: Level::Warn, ..finding })
    }

    fn refuse(&mut self, addr: &ProviderAddr, refusal: Refusal) {
        let decision = &mut self.decision;
        match refusal {
            Refusal::Error(error) => decision.errors.push(error),
            Refusal::Finding(finding, revoked) => {
                decision.findings.push(*finding);
                decision.updates.extend(revoked.map(|key| TrustUpdate::of_revoked(key, addr, self.root.today())));
            }
        }
    }

    /// Where to look for other records of the releases of the root module.
    fn witnesses(&self) -> Witnesses<'_> {
        Witnesses {
            root: &self.root.settings.root,
            dialect: self.root.dialect(),
            lock: &self.root.lock,
            cache: self.cache,
        }
    }
}

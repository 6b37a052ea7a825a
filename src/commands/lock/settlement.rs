//! What came of the steps of one root module.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Root, is_denied};
use crate::addr::ProviderAddr;
use crate::commands::rotation::explained;
use crate::commands::witnesses::Witnesses;
use crate::disk::cache::Cache;
use crate::engine::facts::{Answer, Refusal};
use crate::engine::plan::Step;
use crate::engine::settle::{self, Settled, Surroundings};
use crate::error::Error;
use crate::finding::Finding;
use crate::lockfile::LockEntry;
use crate::release::Release;
use crate::release::signers::{self, Signed};
use crate::trust::pins::{Pins, Republication};
use crate::trust::update::TrustUpdate;

/// Entries, and all that was said against them.
#[derive(Default)]
pub(super) struct Settlement {
    /// Who is remembered.
    pub(super) pins: Pins,
    pub(super) entries: BTreeMap<ProviderAddr, Settled>,
    /// Those of them whose signer was remembered before.
    pub(super) pinned: BTreeSet<ProviderAddr>,
    /// What may be remembered from now on.
    pub(super) updates: Vec<TrustUpdate>,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
}

/// What the steps of one root module are settled with.
#[derive(Clone, Copy)]
pub(super) struct Settling<'a> {
    pub(super) root: &'a Root,
    pub(super) cache: &'a Cache,
}

impl Settlement {
    /// True if nothing may be written.
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty() || is_denied(&self.findings)
    }

    /// Settles a step by its answer.
    pub(super) fn take(&mut self, with: Settling<'_>, addr: &ProviderAddr, step: &Step, answer: &Answer) {
        let root = with.root;
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(root, addr, refusal.clone()),
        };
        let leveled = |finding| root.rules.leveled(finding, Some(facts.version()));
        let witnesses = |release: &Release| with.witnesses().of(release);
        let mut settled = settle::settle(step, facts, Surroundings { leveled: &leveled, witnesses: &witnesses });
        if let (Ok(settled), true) = (&mut settled, root.earlier.contains_key(addr)) {
            // Not a first use, but new to the file all the same.
            settled.signer.clone_from(&facts.release.signer);
        }
        let is_new = settled.as_ref().is_ok_and(|settled| settled.first_use || settled.signer.is_some());
        let identical = settled.as_ref().is_ok_and(|settled| settled.identical);
        let from = step.moved.as_ref().filter(|_| identical).map(|moved| &moved.from);
        let judged = if let Some(update) = from.and_then(|from| signers::carried(&self.pins, from, &facts.release)) {
            self.updates.push(update);
            Ok(Signed::Pinned)
        } else {
            signers::remembered(&self.pins, &facts.release, root.first_use, is_new)
        };
        match judged {
            Ok(Signed::Pinned) => {
                self.pinned.insert(addr.clone());
            }
            Ok(Signed::First(update)) => self.updates.push(*update),
            Ok(Signed::Unknown) => {}
            Err(finding) => self.findings.push(leveled(finding)),
        }
        match settled {
            Ok(settled) => {
                if settled.republished {
                    let republication =
                        Republication { address: addr.clone(), version: facts.version().clone(), date: root.today };
                    self.updates.push(TrustUpdate::Republished { republication, reason: root.reason.clone() });
                }
                self.findings.extend(settled.findings.iter().cloned());
                self.entries.insert(addr.clone(), settled);
            }
            Err(refusals) => refusals.into_iter().for_each(|refusal| self.refuse(root, addr, refusal)),
        }
    }

    /// Tells of a signer that was refused whether remembered ones certify it.
    pub(super) fn explain_signer(&mut self, addr: &ProviderAddr, answer: &Answer, cache: &Cache) {
        let signer = answer.as_ref().ok().and_then(|facts| facts.release.signer.as_ref());
        for finding in self.findings.iter_mut().filter(|finding| finding.address.as_ref() == Some(addr)) {
            *finding = explained(finding.clone(), signer, &self.pins, cache);
        }
    }

    fn refuse(&mut self, root: &Root, addr: &ProviderAddr, refusal: Refusal) {
        match refusal {
            Refusal::Error(error) => self.errors.push(error),
            Refusal::Finding(finding) => self.findings.push(finding),
            Refusal::Revoked(finding, key) => {
                self.findings.push(*finding);
                self.updates.push(TrustUpdate::of_revoked(key, addr, root.today));
            }
        }
    }

    /// The entry is complete: only its constraints may be others.
    pub(super) fn keep(&mut self, addr: &ProviderAddr, step: &Step) {
        if let Some(recorded) = &step.recorded {
            let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
            let settled = Settled {
                entry,
                added: Vec::new(),
                signer: None,
                first_use: false,
                republished: false,
                identical: false,
                findings: Vec::new(),
            };
            self.entries.insert(addr.clone(), settled);
        }
    }
}

impl<'a> Settling<'a> {
    /// Where to look for what else recorded the releases of the root module.
    fn witnesses(self) -> Witnesses<'a> {
        let root = self.root.path.parent().unwrap_or(Path::new(""));
        Witnesses { root, dialect: self.root.dialect(), lock: &self.root.lock, cache: self.cache }
    }
}

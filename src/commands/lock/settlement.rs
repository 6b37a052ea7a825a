//! What came of the steps of one root module.

use std::collections::{BTreeMap, BTreeSet};

use super::{Root, is_denied};
use crate::addr::ProviderAddr;
use crate::commands::rotation::explained;
use crate::disk::cache::Cache;
use crate::engine::facts::{Answer, Refusal};
use crate::engine::plan::Step;
use crate::engine::settle::{self, Settled};
use crate::engine::signers::{self, Lesson, Signed};
use crate::error::Error;
use crate::finding::Finding;
use crate::lockfile::LockEntry;
use crate::trust::pins::{Pins, Republication};

/// Entries, and all that was said against them.
#[derive(Default)]
pub(super) struct Settlement {
    /// Who is remembered.
    pub(super) pins: Pins,
    pub(super) entries: BTreeMap<ProviderAddr, Settled>,
    /// Those of them whose signer was remembered before.
    pub(super) pinned: BTreeSet<ProviderAddr>,
    /// What may be remembered from now on.
    pub(super) lessons: Vec<Lesson>,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
}

impl Settlement {
    /// True if nothing may be written.
    pub(super) fn is_refused(&self) -> bool {
        !self.errors.is_empty() || is_denied(&self.findings)
    }

    /// Settles a step by its answer.
    pub(super) fn take(&mut self, root: &Root, addr: &ProviderAddr, step: &Step, answer: &Answer) {
        let facts = match answer {
            Ok(facts) => facts,
            Err(refusal) => return self.refuse(root, addr, refusal.clone()),
        };
        let leveled = |finding| root.rules.leveled(finding, Some(&facts.version));
        let mut settled = settle::settle(addr, step, facts, &leveled);
        if let (Ok(settled), true) = (&mut settled, root.earlier.contains_key(addr)) {
            // Not a first use, but new to the file all the same.
            settled.signer = settle::signer_of(facts);
        }
        let is_new = settled.as_ref().is_ok_and(|settled| settled.signer.is_some());
        // Where there is no package nothing was signed, nor should it be.
        let identical = settled.as_ref().is_ok_and(|settled| settled.identical);
        let from = step.moved.as_ref().filter(|_| identical).map(|moved| &moved.from);
        let judged = if facts.packages.is_empty() && !facts.missing.is_empty() {
            Ok(Signed::Unknown)
        } else if let Some(lesson) = from.and_then(|from| signers::carried(&self.pins, (from, addr), facts)) {
            self.lessons.push(lesson);
            Ok(Signed::Pinned)
        } else {
            signers::remembered(&self.pins, addr, facts, (root.first_use, is_new))
        };
        match judged {
            Ok(Signed::Pinned) => {
                self.pinned.insert(addr.clone());
            }
            Ok(Signed::First(lesson)) => self.lessons.push(*lesson),
            Ok(Signed::Unknown) => {}
            Err(finding) => self.findings.push(leveled(finding)),
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

    /// Tells of a signer that was refused whether remembered ones certify it.
    pub(super) fn explain_signer(&mut self, addr: &ProviderAddr, answer: &Answer, cache: &Cache) {
        let signer = answer.as_ref().ok().and_then(|facts| signers::signer(&facts.origin));
        for finding in self.findings.iter_mut().filter(|finding| finding.address.as_ref() == Some(addr)) {
            *finding = explained(finding.clone(), signer.as_ref(), &self.pins, cache);
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
    pub(super) fn keep(&mut self, addr: &ProviderAddr, step: &Step) {
        if let Some(recorded) = &step.recorded {
            let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
            let settled = Settled {
                entry,
                added: Vec::new(),
                signer: None,
                republished: false,
                identical: false,
                findings: Vec::new(),
            };
            self.entries.insert(addr.clone(), settled);
        }
    }
}

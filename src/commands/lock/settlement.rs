//! What came of the steps of one root module.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::engine::facts::{Answer, Refusal};
use crate::engine::plan::Step;
use crate::engine::settle::{self, Settled};
use crate::error::Error;
use crate::finding::Finding;
use crate::lockfile::LockEntry;

/// Entries, and all that was said against them.
#[derive(Default)]
pub(super) struct Settlement {
    pub(super) entries: BTreeMap<ProviderAddr, Settled>,
    pub(super) findings: Vec<Finding>,
    pub(super) errors: Vec<Error>,
}

impl Settlement {
    /// Settles a step by its answer.
    pub(super) fn take(&mut self, addr: &ProviderAddr, step: &Step, answer: &Answer) {
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
    pub(super) fn keep(&mut self, addr: &ProviderAddr, step: &Step) {
        if let Some(recorded) = &step.recorded {
            let entry = LockEntry { constraints: step.constraints.clone(), ..recorded.clone() };
            let settled = Settled { entry, added: Vec::new(), signer: None, findings: Vec::new() };
            self.entries.insert(addr.clone(), settled);
        }
    }
}

//! The part of `verify` and `diff` that asks registries: from locked entries to what is known of their releases.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::lock::RuleBook;
use super::verify::Root;
use super::{LockOptions, RunSettings};
use crate::error::Error;
use crate::hash::HashScheme;
use crate::lockfile::LockFile;
use crate::query::inquiry::{Depth, Inquiry};
use crate::query::run::Session;
use crate::release::{ReleaseKey, Releases};
use crate::settings::H1Rule;

/// What is to be asked about the locked releases of some root modules.
pub fn questions<'r>(roots: impl Iterator<Item = &'r Root>, depth: Depth) -> Questions {
    let mut questions = Questions::new(depth, false);
    for root in roots {
        questions.add(root.settings(), root.lock());
        questions.add_gone(root);
    }
    questions
}

/// What registries are to be asked about, each release once.
#[derive(Debug)]
pub struct Questions {
    depth: Depth,
    link: bool,
    inquiries: BTreeMap<ReleaseKey, Inquiry>,
}

impl Questions {
    /// No questions yet. `link` says whether it is worth a question where publishers tell about their releases.
    pub fn new(depth: Depth, link: bool) -> Self {
        Self { depth, link, inquiries: BTreeMap::new() }
    }

    /// Adds the entries of one root module. Hosts that its settings forbid are not asked.
    pub fn add(&mut self, run: &RunSettings, lock: &LockFile) {
        let rules = RuleBook::new(run, &LockOptions::default());
        let platforms = run.settings.platforms.clone().unwrap_or_default();
        for (addr, entry) in lock.iter().filter(|(addr, entry)| !rules.forbids(addr, &entry.version)) {
            let own = run.settings.stated_h1(addr.host());
            let recorded = |scheme| entry.hashes.of(scheme).filter(|hash| hash.is_well_formed()).cloned().collect();
            let inquiry = Inquiry {
                rules: rules.of(addr, &platforms),
                believe: own != Some(H1Rule::Verified),
                platforms: platforms.iter().cloned().collect(),
                h1: recorded(HashScheme::H1),
                zh: recorded(HashScheme::Zh),
                depth: self.depth,
                link: self.link,
            };
            match self.inquiries.entry((addr.clone(), entry.version.clone())) {
                Entry::Vacant(vacant) => {
                    vacant.insert(inquiry);
                }
                Entry::Occupied(mut occupied) => occupied.get_mut().join(inquiry),
            }
        }
    }

    /// Adds the `h1:` that a change removed from entries of the same version: what no package has may be removed, and
    /// without looking at the packages nobody knows which that is.
    fn add_gone(&mut self, root: &Root) {
        let Some((_, before)) = root.base() else { return };
        for (addr, entry) in root.lock().iter() {
            let old = before.get(addr).filter(|old| old.version == entry.version);
            let Some(inquiry) = self.inquiries.get_mut(&(addr.clone(), entry.version.clone())) else { continue };
            let recorded = old.into_iter().flat_map(|old| old.hashes.of(HashScheme::H1));
            inquiry.h1.extend(recorded.filter(|hash| hash.is_well_formed()).cloned());
        }
    }

    /// The answers; no server is asked if there is no question.
    ///
    /// # Errors
    ///
    /// As [`Session::ask`].
    pub fn ask(self, session: &Session) -> Result<Releases, Error> {
        if self.inquiries.is_empty() {
            return Ok(Releases::new());
        }
        session.ask(async |sources| sources.inquire(self.inquiries).await)
    }
}

//! The queries of `verify` and `diff`: from locked entries to the facts about their releases.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Root;
use crate::commands::lock::RuleBook;
use crate::commands::{LockOptions, RunSettings};
use crate::error::Error;
use crate::hash::HashScheme;
use crate::lockfile::LockFile;
use crate::platform::Platform;
use crate::query::Session;
use crate::query::question::{Depth, Explain, Goal, Query};
use crate::release::{ReleaseKey, Releases};
use crate::settings::H1Rule;

/// The queries about the locked releases of some root modules.
pub fn questions<'r>(roots: impl Iterator<Item = &'r Root>, depth: Depth) -> Questions {
    let mut questions = Questions::new(depth, false);
    for root in roots {
        let platforms = root.settings().settings.platforms.as_deref().unwrap_or_default();
        questions.add(root.settings(), root.lock(), platforms);
        questions.add_gone(root);
    }
    questions
}

#[derive(Debug)]
pub struct Questions {
    depth: Depth,
    link: bool,
    pub(in crate::commands) queries: BTreeMap<ReleaseKey, Query>,
}

impl Questions {
    /// No queries yet. With `link`, also queries where the publisher describes a release.
    pub fn new(depth: Depth, link: bool) -> Self {
        Self { depth, link, queries: BTreeMap::new() }
    }

    /// Adds the entries of one root module, with platforms that are likely to be recorded. Skips hosts that its settings forbid.
    pub fn add(&mut self, run: &RunSettings, lock: &LockFile, platforms: &[Platform]) {
        let rules = RuleBook::new(run, &LockOptions::default());
        for (addr, entry) in lock.iter().filter(|(addr, entry)| !rules.forbids(addr, &entry.version)) {
            let own = run.settings.stated_h1(addr.host());
            let recorded = |scheme| entry.hashes.of(scheme).filter(|hash| hash.is_well_formed()).cloned().collect();
            let explain = Explain {
                trust_reported: own != Some(H1Rule::Verified),
                h1: recorded(HashScheme::H1),
                zh: recorded(HashScheme::Zh),
                depth: self.depth,
                link: self.link,
            };
            let query = Query::locked(entry.version.clone(), platforms, rules.of(addr, platforms), explain);
            match self.queries.entry((addr.clone(), entry.version.clone())) {
                Entry::Vacant(vacant) => drop(vacant.insert(query)),
                Entry::Occupied(mut occupied) => occupied.get_mut().join(query),
            }
        }
    }

    /// Adds the `h1:` hashes that a change removed from entries of the same version: removing a hash is fine if no
    /// package has it, which only the packages show.
    fn add_gone(&mut self, root: &Root) {
        let Some((_, before)) = root.base() else { return };
        for (addr, entry) in root.lock().iter() {
            let old = before.get(addr).filter(|old| old.version == entry.version);
            let query = self.queries.get_mut(&(addr.clone(), entry.version.clone()));
            let Some(Query { goal: Goal::Hashes(explain), .. }) = query else { continue };
            let recorded = old.into_iter().flat_map(|old| old.hashes.of(HashScheme::H1));
            explain.h1.extend(recorded.filter(|hash| hash.is_well_formed()).cloned());
        }
    }

    /// The answers; sends no request without queries.
    pub fn send(self, session: &Session) -> Result<Releases, Error> {
        if self.queries.is_empty() {
            return Ok(Releases::new());
        }
        session.block_on(async |sources| sources.lookups(self.queries).await)
    }
}

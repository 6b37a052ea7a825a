//! What a change does to lock files, explained as `diff` does, from what the gate has read and found out: for reports that people
//! read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::base::Base;
use super::root::{GateRoot, GateRoots};
use crate::addr::UsedNames;
use crate::commands::diff::pairs::{Knowledge, Pair, SideRequirements, review};
use crate::commands::diff::signers::{Trust, packages};
use crate::commands::shared::trust_store::{TrustPlace, TrustStore};
use crate::diff::Change;
use crate::disk::cache::Cache;
use crate::outcome::{Body, RootOutcome};
use crate::path::RepoPath;
use crate::release::Releases;

/// The requirements of both sides.
type PairRequirements<'a> = &'a dyn Fn(&Pair) -> Option<[SideRequirements; 2]>;

pub(super) struct Explainer<'a> {
    base: &'a Base,
    /// By the path of the lock file.
    pairs: BTreeMap<RepoPath, Pair>,
    /// The providers that the repository locked before.
    used: Arc<UsedNames>,
    cache: &'a Cache,
    now: SystemTime,
    online: bool,
    /// What the trust files remember at the base and now.
    trust: RefCell<BTreeMap<TrustPlace, Trust>>,
}

impl<'a> Explainer<'a> {
    pub(super) fn new(base: &'a Base, used: UsedNames, cache: &'a Cache, (now, online): (SystemTime, bool)) -> Self {
        let (pairs, used) = (base.pairs(), Arc::new(used));
        Self { base, pairs, used, cache, now, online, trust: RefCell::default() }
    }

    /// The changes of the lock files of root modules.
    pub(super) fn changes(&self, roots: &GateRoots, known: &Releases) -> Vec<RootOutcome> {
        let opened = roots.iter().filter_map(|(path, root)| Some((path, root.as_ref().ok()?)));
        opened.filter_map(|(path, root)| self.of_root(path, root, known)).collect()
    }

    fn of_root(&self, path: &Path, root: &GateRoot, known: &Releases) -> Option<RootOutcome> {
        let settings = root.settings();
        let pair = self.pairs.get(&self.base.lock_path(root))?;
        let pair = Pair { dialect: Some(settings.dialect), ..pair.clone() };
        let trust = self.trust(&settings.trust);
        let now = root.requirements();
        let requirements = |_: &Pair| {
            let nothing = SideRequirements { known: None, unread: None };
            Some([nothing.clone(), SideRequirements { known: now.cloned(), ..nothing }])
        };
        self.explained(path, &pair, &trust, (&requirements, known))
    }

    /// The changes of the lock files that were removed with their root modules.
    pub(super) fn removed(&self, is_wanted: impl Fn(&Path) -> bool) -> Vec<RootOutcome> {
        let gone = self.pairs.iter().filter(|(_, pair)| pair.new.text.is_none());
        let placed = gone.filter_map(|(path, pair)| Some((Path::new(&**path).parent()?, pair)));
        let wanted = placed.filter(|(path, _)| is_wanted(&self.base.top().join(path)));
        let removed = wanted.filter_map(|(path, pair)| {
            self.explained(path, pair, &Trust::default(), (&|_: &Pair| None, &Releases::new()))
        });
        removed.collect()
    }

    fn explained(
        &self,
        path: &Path,
        pair: &Pair,
        trust: &Trust,
        (requirements, known): (PairRequirements<'_>, &Releases),
    ) -> Option<RootOutcome> {
        let packages = |changes: &[Change]| packages(changes, trust, known, (self.cache, self.now));
        let locked = || Ok(Arc::clone(&self.used));
        let (online, now) = (self.online, self.now);
        let knowledge = Knowledge { packages: &packages, requirements, locked: &locked, trust, online, now };
        // What `diff` would find, the gate has judged.
        match review(pair, &knowledge).body {
            Ok(Body::Review(mut review)) => {
                review.inconclusive.clear();
                Some(RootOutcome::of(path, Body::Review(review)))
            }
            _ => None,
        }
    }

    fn trust(&self, place: &TrustPlace) -> Trust {
        let mut known = self.trust.borrow_mut();
        let load = || {
            let now = TrustStore::load(place).ok().filter(TrustStore::exists);
            Trust { old: self.base.trusted_pins(place).ok(), new: now.map(|store| store.pins().clone()) }
        };
        known.entry(place.clone()).or_insert_with(load).clone()
    }
}

/// The changes of those that a run explained already, and those of other lock files.
pub(super) fn with_removed(mut changes: Vec<RootOutcome>, removed: Vec<RootOutcome>) -> Vec<RootOutcome> {
    let known: BTreeSet<PathBuf> = changes.iter().map(|root| root.path.clone()).collect();
    changes.extend(removed.into_iter().filter(|root| !known.contains(&root.path)));
    changes
}

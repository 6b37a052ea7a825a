//! What a run works with, and what it learns: about its root modules, kept releases and trusted signers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::request::{LockRequest, Preparation, WriteMode};
use super::restoring::Restored;
use crate::addr::ProviderAddr;
use crate::commands::shared::tree_notes::TreeNotes;
use crate::commands::shared::trust_store::{self, TrustPlace, TrustStore};
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::parallel::locked;
use crate::query::cached::{self, Check};
use crate::query::select::ProvenanceRule;
use crate::release::{Lookup, Release, ReleaseKey};
use crate::step::Step;
use crate::trust::pins::Pins;
use crate::trust::signer::TrustUpdate;
use crate::version::Version;

pub(super) struct LockSession<'a> {
    pub(super) request: &'a LockRequest,
    pub(super) cache: &'a Cache,
    pub(super) now: SystemTime,
    pub(super) interrupt: &'a Interrupt,
    pub(super) stores: TrustStores,
    pub(super) kept: KeptReleases,
    pub(super) restored: Restored,
    pub(super) collected: Mutex<Collected>,
    has_failed: AtomicBool,
}

/// What the opened root modules add to the outcome.
#[derive(Default)]
pub(super) struct Collected {
    /// About their configuration.
    pub(super) of_trees: TreeNotes,
    /// The releases that may be accepted as republished, and whether some root module records them.
    pub(super) accepted: BTreeMap<(ProviderAddr, Version), bool>,
    /// The named packages that are locked in some root module.
    pub(super) reselected: BTreeSet<String>,
    /// The notes of the command.
    pub(super) notes: BTreeSet<Step>,
    /// About providers that no registry has, and that the CLI configuration runs from a directory.
    pub(super) overridden: Vec<Error>,
}

impl<'a> LockSession<'a> {
    pub(super) fn new(request: &'a LockRequest, cache: &'a Cache, now: SystemTime, interrupt: &'a Interrupt) -> Self {
        Self {
            request,
            cache,
            now,
            interrupt,
            stores: match &request.preparation {
                Preparation::Repair(repair) => TrustStores::of_pins(&repair.pins),
                _ => TrustStores::default(),
            },
            kept: KeptReleases::default(),
            restored: Restored::default(),
            collected: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    /// The same before anything was learned.
    pub(super) fn afresh(&self) -> Self {
        Self::new(self.request, self.cache, self.now, self.interrupt)
    }

    pub(super) fn note_failure(&self, has_failed: bool) {
        self.has_failed.fetch_or(has_failed, Ordering::Relaxed);
    }

    /// True if no further root module is to be started.
    pub(super) fn is_halted(&self) -> bool {
        self.request.fail_fast && self.has_failed.load(Ordering::Relaxed)
    }

    /// Writes the trust files of these stores, if the mode says so.
    pub(super) fn write_trust(&self, stores: &TrustStores, mode: WriteMode) -> StoredTrust {
        if mode != WriteMode::Write {
            return StoredTrust::new();
        }
        let keys =
            |addr: &ProviderAddr, version: &Version| trust_store::keys_of_release(self.cache, addr, version, self.now);
        stores.with(|stores| {
            let read = stores.iter_mut().filter_map(|(place, store)| Some((place, store.as_mut().ok()?)));
            read.map(|(place, store)| (place.clone(), store.commit(&keys, self.interrupt))).collect()
        })
    }
}

/// The kept releases of a run, each read and checked once for all root modules that record it.
#[derive(Debug, Default)]
pub(super) struct KeptReleases(Mutex<BTreeMap<ReleaseKey, Vec<(Check, Lookup)>>>);

impl KeptReleases {
    /// A release with its signature checked; `None` if the record does not prove the required signature, or if the
    /// registry contradicted itself.
    pub(super) fn release(
        &self,
        cache: &Cache,
        (addr, version): (&ProviderAddr, &Version),
        check: Check,
    ) -> Option<Arc<Release>> {
        if cache.release(addr, version).is_some_and(|record| record.disputed) {
            return None;
        }
        let mut kept = locked(&self.0);
        let judged = kept.entry((addr.clone(), version.clone())).or_default();
        let known = judged.iter().find(|(by, _)| *by == check).map(|(_, knowledge)| knowledge.clone());
        let knowledge = known.unwrap_or_else(|| {
            let knowledge = cached::release(cache, addr, version, check);
            judged.push((check, knowledge.clone()));
            knowledge
        });
        knowledge.release().cloned()
    }
}

#[derive(Default)]
pub(super) struct TrustStores {
    files: Mutex<BTreeMap<TrustPlace, Result<TrustStore, Error>>>,
    /// Learn revocations only: these apply even if the run is refused.
    pub(super) only_revocations: bool,
    /// Learn nothing: the pins are given.
    fixed: bool,
}

pub(super) type StoredTrust = BTreeMap<TrustPlace, Result<bool, Error>>;

impl TrustStores {
    /// Stores for a run that writes no lock file.
    pub(super) fn of_revocations() -> Self {
        Self { only_revocations: true, ..Self::default() }
    }

    /// Stores of pins that stay as given.
    pub(super) fn of_pins(pins: &BTreeMap<TrustPlace, Pins>) -> Self {
        let stores = pins.iter().map(|(place, pins)| (place.clone(), Ok(TrustStore::of_pins(pins.clone(), place))));
        Self { files: Mutex::new(stores.collect()), fixed: true, ..Self::default() }
    }

    pub(super) fn load(&self, place: &TrustPlace) -> Result<(), Error> {
        self.with(|stores| {
            let store = stores.entry(place.clone()).or_insert_with(|| TrustStore::load(place));
            store.as_ref().map(|_| ()).map_err(Error::clone)
        })
    }

    pub(super) fn pins(&self, place: &TrustPlace) -> Pins {
        self.with(|stores| match stores.get(place) {
            Some(Ok(store)) => store.pins().clone(),
            _ => Pins::default(),
        })
    }

    /// Whether it is asked where the releases of a provider were built.
    pub(super) fn provenance(&self, place: &TrustPlace, addr: &ProviderAddr) -> ProvenanceRule {
        self.with(|stores| match stores.get(place) {
            Some(Ok(store)) => ProvenanceRule::of(store.pins(), addr),
            _ => ProvenanceRule::NotAsked,
        })
    }

    /// True if there is a trust file.
    pub(super) fn exists(&self, place: &TrustPlace) -> bool {
        self.with(|stores| matches!(stores.get(place), Some(Ok(store)) if store.exists()))
    }

    /// Adds updates, and returns the new ones.
    pub(super) fn learn(&self, place: &TrustPlace, updates: Vec<TrustUpdate>) -> Result<Vec<TrustUpdate>, Error> {
        self.with(|stores| match stores.get_mut(place) {
            Some(Ok(store)) if !self.fixed => store.learn(updates),
            _ => Ok(Vec::new()),
        })
    }

    fn with<R>(&self, work: impl FnOnce(&mut BTreeMap<TrustPlace, Result<TrustStore, Error>>) -> R) -> R {
        // A panic in a thread ends the whole run, so an incomplete state is never written.
        work(&mut locked(&self.files))
    }
}

//! The trust files of all root modules of a run, each read once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::super::key_names;
use super::super::trust_store::{TrustPlace, TrustStore};
use super::{Mode, Run};
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::trust::pins::Pins;
use crate::trust::update::TrustUpdate;
use crate::version::Version;

#[derive(Default)]
pub(super) struct TrustStores {
    files: Mutex<BTreeMap<TrustPlace, Result<TrustStore, Error>>>,
    /// Learn revocations only: these apply even if the run is refused.
    pub(super) only_revocations: bool,
}

pub(super) type Stored = BTreeMap<TrustPlace, Result<bool, Error>>;

impl TrustStores {
    /// Stores for a run that writes no lock file.
    pub(super) fn of_revocations() -> Self {
        Self { only_revocations: true, ..Self::default() }
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

    /// True if there is a trust file.
    pub(super) fn exists(&self, place: &TrustPlace) -> bool {
        self.with(|stores| matches!(stores.get(place), Some(Ok(store)) if store.exists()))
    }

    /// Adds updates, and returns the new ones.
    pub(super) fn learn(&self, place: &TrustPlace, updates: Vec<TrustUpdate>) -> Result<Vec<TrustUpdate>, Error> {
        self.with(|stores| match stores.get_mut(place) {
            Some(Ok(store)) => store.learn(updates),
            _ => Ok(Vec::new()),
        })
    }

    pub(super) fn commit(&self, run: Run<'_>) -> Stored {
        if run.mode != Mode::Write {
            return Stored::new();
        }
        let named = |addr: &ProviderAddr, version: &Version| key_names::of_release(run.cache, addr, version, run.now);
        self.with(|stores| {
            let read = stores.iter_mut().filter_map(|(place, store)| Some((place, store.as_mut().ok()?)));
            read.map(|(place, store)| (place.clone(), store.commit(&named, run.interrupt))).collect()
        })
    }

    fn with<R>(&self, work: impl FnOnce(&mut BTreeMap<TrustPlace, Result<TrustStore, Error>>) -> R) -> R {
        // A panic in a thread ends the whole run, so an incomplete state is never written.
        work(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

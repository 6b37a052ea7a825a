//! Records of earlier runs about locked releases, judged again by the rules of this run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::query::cached::{self, Check};
use crate::release::{Lookup, Release, ReleaseKey};
use crate::version::Version;

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
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

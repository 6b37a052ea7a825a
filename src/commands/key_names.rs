//! The user IDs of signing keys, from the key blocks that registries listed now or in earlier runs.

use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::trust::openpgp::{Identities, identities};
use crate::trust::pins::Pins;
use crate::version::Version;

/// The keys that the registry listed with a release.
pub(super) fn of_release(cache: &Cache, addr: &ProviderAddr, version: &Version, now: SystemTime) -> Identities {
    let listed = cache.release(addr, version).and_then(|record| cache.keys(&record.keys?)).unwrap_or_default();
    named(&listed, now)
}

/// The keys that registries listed with any release of the remembered providers.
pub(super) fn of_pins(cache: &Cache, pins: &Pins, now: SystemTime) -> Identities {
    pins.providers.keys().flat_map(|pattern| named(cache.keys_of(pattern), now)).collect()
}

fn named(blocks: impl IntoIterator<Item: AsRef<str>>, now: SystemTime) -> Identities {
    let blocks: Vec<_> = blocks.into_iter().collect();
    identities(&blocks.iter().map(AsRef::as_ref).collect::<Vec<_>>(), now)
}

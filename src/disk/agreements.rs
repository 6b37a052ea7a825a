//! Agreements of witnesses in the cache: the archives of a release that another place has as well. That a place differs or is silent
//! is never kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::cache::Cache;
use super::cache::folder::{fan_out, replace};
use crate::hash::Sha256Digest;
use crate::release::ReleaseKey;
use crate::witness::WitnessPlace;

/// The most bytes of a file: some thousand archives.
const MOST: usize = 1 << 20;

pub(super) const FOLDER: &str = "witnesses";

fn path(place: &WitnessPlace, (addr, version): &ReleaseKey) -> PathBuf {
    fan_out(FOLDER, &Sha256Digest::of(format!("{place}\n{addr}\n{version}").as_bytes()).to_hex())
}

impl Cache {
    /// The archives, by file name, about which a place agreed in an earlier run.
    pub fn agreement(&self, place: &WitnessPlace, release: &ReleaseKey) -> Option<BTreeMap<String, Sha256Digest>> {
        let bytes = self.folder()?.read(&path(place, release)).filter(|bytes| bytes.len() <= MOST)?;
        let digests: BTreeMap<String, String> = serde_json::from_slice(&bytes).ok()?;
        digests.into_iter().map(|(name, hex)| Some((name, Sha256Digest::from_hex(&hex)?))).collect()
    }

    /// Keeps an agreement. That it cannot be kept costs only time.
    pub fn put_agreement(&self, place: &WitnessPlace, release: &ReleaseKey, archives: &BTreeMap<String, Sha256Digest>) {
        let Some(folder) = self.folder() else { return };
        let digests: BTreeMap<&String, String> =
            archives.iter().map(|(name, digest)| (name, digest.to_hex())).collect();
        drop(replace(folder, &path(place, release), serde_json::json!(digests).to_string().as_bytes()));
    }
}

//! Attestations of builds in the cache, by the digest of the archive that they are about. Whoever reads one verifies it again.

use std::path::PathBuf;

use super::cache::Cache;
use super::cache::folder::{fan_out, replace};
use crate::hash::Sha256Digest;

/// The most bytes of a file: eight bundles at most.
const MOST: u64 = 8 << 20;

pub(super) const FOLDER: &str = "provenance";

fn path(archive: &Sha256Digest) -> PathBuf {
    fan_out(FOLDER, &archive.to_hex())
}

impl Cache {
    /// What earlier runs kept about an archive.
    pub fn bundles(&self, archive: &Sha256Digest) -> Vec<Vec<u8>> {
        let read = || {
            let bytes = self.folder()?.read(&path(archive)).filter(|bytes| bytes.len() as u64 <= MOST)?;
            serde_json::from_slice::<Vec<String>>(&bytes).ok()
        };
        read().unwrap_or_default().into_iter().map(String::into_bytes).collect()
    }

    /// Keeps the attestations of an archive. That they cannot be kept costs only time.
    pub fn put_bundles(&self, archive: &Sha256Digest, bundles: &[Vec<u8>]) {
        let Some(folder) = self.folder() else { return };
        let texts: Vec<_> = bundles.iter().map(|bundle| String::from_utf8_lossy(bundle)).collect();
        drop(replace(folder, &path(archive), serde_json::json!(texts).to_string().as_bytes()));
    }
}

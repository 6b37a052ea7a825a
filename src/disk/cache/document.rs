//! Documents by their digest: one file each.

use std::path::Path;

use super::{CacheError, fan_out, replace};
use crate::hash::Sha256Digest;

pub(super) const FOLDER: &str = "documents";

pub(super) fn load(folder: &Path, digest: &Sha256Digest) -> Option<Vec<u8>> {
    let bytes = std::fs::read(fan_out(folder, FOLDER, &digest.to_hex())).ok()?;
    (Sha256Digest::of(&bytes) == *digest).then_some(bytes)
}

pub(super) fn store(folder: &Path, digest: &Sha256Digest, bytes: &[u8]) -> Result<(), CacheError> {
    match load(folder, digest) {
        Some(_) => Ok(()),
        None => replace(&fan_out(folder, FOLDER, &digest.to_hex()), bytes),
    }
}

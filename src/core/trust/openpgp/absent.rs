//! What a library without the feature `openpgp` says of signatures: nothing.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::{Identities, KnownAs, SignatureError, Verified};
use crate::trust::Fingerprint;

/// Verifies nothing: whether a signature is good is unknown here.
///
/// # Errors
///
/// [`SignatureError::NotBuilt`], always.
pub fn verify(_: &[u8], _: &[u8], _: &[&str], _: SystemTime) -> Result<Verified, SignatureError> {
    Err(SignatureError::NotBuilt)
}

/// No key is known to certify another.
pub fn certifiers(_: &Fingerprint, _: &[&str]) -> BTreeSet<Fingerprint> {
    BTreeSet::new()
}

/// No key is known.
pub fn known_as(_: &Fingerprint, _: &[&str]) -> Option<KnownAs> {
    None
}

/// Nothing is known of keys here.
pub fn identities(_: &[&str], _: SystemTime) -> Identities {
    Identities::new()
}

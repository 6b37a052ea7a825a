//! The detached signature over the SHA256SUMS document of a release: the only use of `sequoia`.
//!
//! The semantics are those of the tools, with differences on purpose. Refused, though the tools take it: weak
//! signatures (over MD5, SHA-1 or RIPEMD, by RSA or DSA keys of less than 2048 bits), keys that cannot be checked here
//! (RSA of more than 4096 bits, curves such as secp256k1 and brainpool), signatures dated before their key, more than
//! 100 listed keys. Expiry is reported, not decided. Copies of one key are merged, so a renewed copy makes
//! a key un-expired and a revoked copy makes it revoked, in whatever order they are listed. Taken as by the tools:
//! bytes behind the signature.
//!
//! Source: `internal/getproviders/package_authentication.go` in both tools, and `CheckDetachedSignature` of
//! `github.com/ProtonMail/go-crypto/openpgp`.

#[cfg(not(feature = "openpgp"))]
mod absent;
#[cfg(feature = "openpgp")]
mod armor;
#[cfg(feature = "openpgp")]
mod canonical;
#[cfg(feature = "openpgp")]
mod document;
mod error;
mod identity;
#[cfg(feature = "openpgp")]
mod judge;
#[cfg(feature = "openpgp")]
mod keyring;

#[cfg(test)]
#[cfg(feature = "openpgp")]
mod tests;

use std::time::SystemTime;

#[cfg(not(feature = "openpgp"))]
pub use absent::{identities, verify};
pub use error::SignatureError;
#[cfg(feature = "openpgp")]
pub use identity::identities;
pub use identity::{Identities, Identity};

use super::Fingerprint;
#[cfg(feature = "openpgp")]
use document::Signatures;
#[cfg(feature = "openpgp")]
use keyring::Keyring;

/// A signature that verifies, and which key made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub fingerprint: Fingerprint,
    /// The id of the primary key, 16 upper-case digits, as the tools print it.
    pub key_id: String,
    /// When the signature was made, by its own word.
    pub made: SystemTime,
    /// Why the signature itself does not count now, whatever its key: Terraform refuses it.
    pub lapse: Option<Lapse>,
    /// True if its key or the primary key had expired when it was made, by the newest self-signature among all copies of
    /// the key. False for a key that has expired since: what it signed before stays signed.
    pub expired: bool,
    /// True if the key has expired by now: what `OpenTofu` warns about, and refuses where it enforces expiry.
    pub expired_now: bool,
    /// The subkey that signed, if it was not the primary key.
    pub signing_subkey: Option<Fingerprint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lapse {
    /// It was to count until a time that has passed.
    Expired,
    /// It is dated more than ten minutes after now.
    Future,
}

/// Verifies a detached signature against ASCII-armored keys, in the order in which they are listed.
///
/// The first listed key that made the signature decides; keys after it matter only as further copies of the same key.
/// The signature must be binary. Only `now` is taken for the time; a clock that is behind the signature does no harm.
///
/// Source: the tools decode keys one after the other, so a key that does not decode aborts only if no key before
/// it made the signature.
#[cfg(feature = "openpgp")]
pub fn verify(document: &[u8], signature: &[u8], keys: &[&str], now: SystemTime) -> Result<Verified, SignatureError> {
    if keys.is_empty() {
        return Err(SignatureError::NoKeys);
    }
    let signatures = Signatures::decode(signature)?;
    let keyring = Keyring::decode(keys);
    for key in keyring.in_order() {
        if let Some(verified) = judge::by_key(document, &signatures, key?, now)? {
            return Ok(verified);
        }
    }
    Err(SignatureError::UnknownIssuer { issuer: signatures.issuer() })
}

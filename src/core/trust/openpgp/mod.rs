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
//!
//! Beside it: what keys say of themselves, a name, and from when to when they count. It decides nothing, because the maker
//! of a key writes into it what they like; users compare it with what a publisher announces.

#[cfg(feature = "openpgp")]
mod document;
#[cfg(feature = "openpgp")]
mod judge;
#[cfg(test)]
#[cfg(feature = "openpgp")]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use super::Fingerprint;
use crate::error::{Error, ErrorKind};
use crate::settings::Date;
#[cfg(feature = "openpgp")]
use document::Signatures;
#[cfg(feature = "openpgp")]
use judge::{Keyring, binding_policy};

/// A signature that verifies, and which key made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSignature {
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
pub fn verify(
    document: &[u8],
    signature: &[u8],
    keys: &[&str],
    now: SystemTime,
) -> Result<VerifiedSignature, SignatureError> {
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

/// Why a signature is not accepted.
///
/// Texts that stem from keys and signatures are escaped and one line long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    #[error("signatures cannot be checked by a library that was built without the feature openpgp")]
    NotBuilt,
    #[error("no signing key is listed, so the signature cannot be checked")]
    NoKeys,
    #[error("the signature is in ASCII armor, not binary")]
    Armored,
    #[error("the signature is malformed: {0}")]
    Malformed(String),
    #[error("the signature has {0}, which is marked critical and unknown: terraform refuses it too")]
    Critical(String),
    #[error("the signature is dated before the signing key {0} was made")]
    Predates(Fingerprint),
    #[error("signing key number {number} of the list does not decode: {reason}")]
    Key {
        /// Its place in the list, from 1.
        number: usize,
        reason: String,
    },
    #[error("the signature was made by the signing key {issuer}, which is not listed")]
    UnknownIssuer { issuer: String },
    #[error("the signature does not verify with the signing key {0} that it names")]
    Bad(Fingerprint),
    #[error("the signing key {0} is revoked")]
    Revoked(Fingerprint),
    #[error("the signing subkey {subkey} of {key} is revoked")]
    RevokedSubkey { key: Fingerprint, subkey: Fingerprint },
    #[error("the signature by the signing key {key} is too weak: {weakness}")]
    Weak { key: Fingerprint, weakness: String },
    #[error("the signature by the signing key {key} cannot be checked: {reason}")]
    Unsupported { key: Fingerprint, reason: String },
}

impl SignatureError {
    /// The primary key that is known to have made the signature, or that the signature names and that is listed.
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        match self {
            Self::Bad(key)
            | Self::Predates(key)
            | Self::Revoked(key)
            | Self::RevokedSubkey { key, .. }
            | Self::Weak { key, .. }
            | Self::Unsupported { key, .. } => Some(key),
            Self::NotBuilt
            | Self::NoKeys
            | Self::Armored
            | Self::Malformed(_)
            | Self::Critical(_)
            | Self::Key { .. }
            | Self::UnknownIssuer { .. } => None,
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::NotBuilt => "build it with the feature openpgp",
            Self::NoKeys => "ask the registry to list the signing key of the release",
            Self::Armored => "ask the publisher to sign with `gpg --detach-sign`, without `--armor`",
            Self::Malformed(_) => "try again later; if it stays, ask the publisher to sign the release again",
            Self::Critical(_) => "ask the publisher to sign the release without it",
            Self::Predates(_) => "ask the publisher to sign the release again",
            Self::Key { .. } => "ask the registry to list its signing keys as ASCII-armored public keys",
            Self::UnknownIssuer { .. } => "ask the registry to list the signing key, or the publisher who signed",
            Self::Bad(_) => {
                "try again later; if it stays, tell the publisher: the checksums were changed after signing"
            }
            Self::Revoked(_) | Self::RevokedSubkey { .. } => "wait for a release by another signing key",
            Self::Weak { .. } => {
                "ask the publisher to sign the release again with SHA-256 and a key of 2048 bits or more"
            }
            Self::Unsupported { .. } => "ask the publisher for a signature by an RSA key of up to 4096 bits or ed25519",
        }
    }
}

impl From<SignatureError> for Error {
    fn from(error: SignatureError) -> Self {
        Self::new(ErrorKind::Trust, error.to_string()).hint(error.hint())
    }
}

#[cfg(feature = "openpgp")]
/// The text of a foreign error on one line, without control characters.
fn one_line(error: &impl ToString) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The most characters of a name that are kept.
#[cfg(feature = "openpgp")]
const LONGEST: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The primary user ID, in one line; `None` without a valid one.
    pub user_id: Option<String>,
    pub created: SystemTime,
    pub expires: Option<SystemTime>,
}

pub type Identities = BTreeMap<Fingerprint, Identity>;

/// What armored keys say of themselves at a time; what does not decode is passed over.
#[cfg(feature = "openpgp")]
pub fn identities(keys: &[&str], now: SystemTime) -> Identities {
    let policy = binding_policy(now);
    let mut found = Identities::new();
    for cert in Keyring::decode(keys).in_order().flatten().flatten() {
        let Ok(fingerprint) = cert.fingerprint().to_hex().parse() else { continue };
        let valid = cert.with_policy(&policy, now).ok();
        let name = valid.as_ref().and_then(|valid| valid.primary_userid().ok());
        let expires = valid.as_ref().and_then(|valid| valid.primary_key().key_expiration_time());
        let user_id = name.map(|name| without_controls(&String::from_utf8_lossy(name.userid().value())));
        let created = cert.primary_key().key().creation_time();
        found.insert(fingerprint, Identity { user_id, created, expires });
    }
    found
}

#[cfg(feature = "openpgp")]
fn without_controls(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user_id {
            Some(name) => write!(f, "claims to be {name:?}")?,
            None => f.write_str("has no user ID")?,
        }
        write!(f, " (created {}, ", Date::of(self.created))?;
        match self.expires {
            Some(time) => write!(f, "expires {})", Date::of(time)),
            None => f.write_str("no expiry)"),
        }
    }
}

/// Verifies nothing: whether a signature is good is unknown here.
#[cfg(not(feature = "openpgp"))]
pub fn verify(_: &[u8], _: &[u8], _: &[&str], _: SystemTime) -> Result<VerifiedSignature, SignatureError> {
    Err(SignatureError::NotBuilt)
}

/// Nothing is known of keys here.
#[cfg(not(feature = "openpgp"))]
pub fn identities(_: &[&str], _: SystemTime) -> Identities {
    Identities::new()
}

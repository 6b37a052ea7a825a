//! Why a signature is not accepted.

use crate::error::{Error, ErrorKind};
use crate::trust::Fingerprint;

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
pub(super) fn one_line(error: &impl ToString) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(200).collect()
}

//! Why a signature is not believed.

use crate::error::{Error, ErrorKind};
use crate::trust::Fingerprint;

/// Why a signature is not believed.
///
/// Texts that stem from keys and signatures are escaped and one line long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The library was built without what it takes to check a signature.
    #[error("signatures cannot be checked by a library that was built without the feature openpgp")]
    NotBuilt,
    /// The list of keys is empty.
    #[error("no signing key is listed, so the signature cannot be checked")]
    NoKeys,
    /// The signature is text where the protocol wants bytes.
    #[error("the signature is in ASCII armor, not binary")]
    Armored,
    /// The signature is no sequence of signature packets.
    #[error("the signature is malformed: {0}")]
    Malformed(String),
    /// The signature bears something that whoever does not know it must not pass over.
    #[error("the signature bears {0}, which is marked critical and not known: terraform refuses it too")]
    Critical(String),
    /// The signature is dated before its key.
    #[error("the signature is dated before the signing key {0} was made")]
    Predates(Fingerprint),
    /// A listed key cannot be decoded, and no key before it made the signature.
    #[error("signing key number {number} of the list does not decode: {reason}")]
    Key {
        /// Its place in the list, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// No listed key made the signature.
    #[error("the signature was made by the signing key {issuer}, which is not listed")]
    UnknownIssuer {
        /// The id or fingerprint that the signature names.
        issuer: String,
    },
    /// The signature does not fit the document.
    #[error("the signature does not verify with the signing key {0} that it names")]
    Bad(Fingerprint),
    /// The signing key, its primary key or all its names are revoked, for whatever reason and at whatever time.
    #[error("the signing key {0} is revoked")]
    Revoked(Fingerprint),
    /// The subkey that signed is revoked, its primary key is not.
    #[error("the signing subkey {subkey} of {key} is revoked")]
    RevokedSubkey {
        /// The primary key.
        key: Fingerprint,
        /// The subkey.
        subkey: Fingerprint,
    },
    /// The signature verifies, but others could have made it.
    #[error("the signature by the signing key {key} is too weak: {weakness}")]
    Weak {
        /// The primary key.
        key: Fingerprint,
        /// The algorithm.
        weakness: String,
    },
    /// An algorithm that cannot be checked here.
    #[error("the signature by the signing key {key} cannot be checked: {reason}")]
    Unsupported {
        /// The primary key.
        key: Fingerprint,
        /// The algorithm or size.
        reason: String,
    },
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

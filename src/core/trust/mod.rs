//! What attests a release: signing keys, the signatures they make, and the memory of both.
//!
//! Judgments over bytes that someone else obtained. The folder reads no files, sends no request and knows no clock: the time
//! of the run is an argument, so the expiry of a key can be judged at any time.
//! The only name of a key that is ever compared is its fingerprint. Evidence says why a hash is accepted.

pub mod openpgp;
pub mod pins;
pub mod publishers;
pub mod signer;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The full fingerprint of an `OpenPGP` key: 40 (version 4) or 64 (version 6) hexadecimal digits.
///
/// Kept and printed in upper case, so equality and order are those of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the fingerprint of a signing key: expected 40 or 64 hexadecimal digits{hint}", hint = of_key_id(.0))]
pub struct FingerprintError(pub String);

fn of_key_id(text: &str) -> &'static str {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_key_id = matches!(digits.len(), 8 | 16) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if is_key_id { ", since anyone can make a key with a chosen key id" } else { "" }
}

impl Fingerprint {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key id: 16 digits, for users only, since anyone can make a key with a wanted id.
    ///
    /// It is the end of a fingerprint of version 4 and the beginning of one of version 6.
    pub fn short(&self) -> &str {
        if self.0.len() == 40 { &self.0[24..] } else { &self.0[..16] }
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Reads digits in either case; spaces between them and `0x` before them, as tools print them, are left out.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        let plain = text.trim_start();
        let plain = plain.strip_prefix("0x").or(plain.strip_prefix("0X")).unwrap_or(plain);
        let digits: String = plain.chars().filter(|c| *c != ' ').map(|c| c.to_ascii_uppercase()).collect();
        let valid = matches!(digits.len(), 40 | 64) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if valid { Ok(Self(digits)) } else { Err(FingerprintError(text.to_owned())) }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One reason to accept a hash; a hash may have several.
///
/// Source: the idea is `HashDisposition` in opentofu `internal/getproviders/hash.go`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// It is in checksums signed by this primary key.
    Signed(Fingerprint),
    /// Reported by the origin registry, unsigned.
    ReportedByOrigin,
    ReportedByMirror,
    /// Reported by an index of this name, which others fill; `import` for what was imported.
    ReportedByIndex(Arc<str>),
    /// Computed here, from bytes or found in the local index of what was computed here.
    Computed,
    /// It was in the lock file before.
    Recorded,
}

impl Evidence {
    pub fn as_str(&self) -> &'static str {
        match self {
            Evidence::Signed(_) => "signed",
            Evidence::ReportedByOrigin => "reported-by-origin",
            Evidence::ReportedByMirror => "reported-by-mirror",
            Evidence::ReportedByIndex(_) => "reported-by-index",
            Evidence::Computed => "computed",
            Evidence::Recorded => "recorded",
        }
    }
}

/// What the evidence says about a hash that came into a lock file or left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A further platform of the recorded release: its archive is the signed or recorded one.
    PlatformAdded,
    /// A platform of the recorded release is no longer covered.
    PlatformRemoved,
    /// Belongs to an archive that is in the signed checksums, or that is recorded by its other hash.
    SameSignedArchive,
    /// The origin registry reports it, and nothing else attests it.
    #[serde(rename = "reported-by-origin-only")]
    ReportedByOrigin,
    /// The source that should know it does not.
    Unattested,
    /// What is known of the release rules it out.
    #[serde(rename = "contradicts-the-record")]
    Contradicts,
    /// Nothing is known of it here, and no request was sent.
    UnknownOffline,
}

impl Verdict {
    pub const ALL: [Self; 7] = [
        Self::PlatformAdded,
        Self::PlatformRemoved,
        Self::SameSignedArchive,
        Self::ReportedByOrigin,
        Self::Unattested,
        Self::Contradicts,
        Self::UnknownOffline,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Verdict::PlatformAdded => "platform added",
            Verdict::PlatformRemoved => "platform no longer covered",
            Verdict::SameSignedArchive => "same signed archive",
            Verdict::ReportedByOrigin => "reported by the registry only, unsigned",
            Verdict::Unattested => "attested by no source",
            Verdict::Contradicts => "contradicts the record",
            Verdict::UnknownOffline => "not checked",
        }
    }

    /// True if a hash with this verdict should not be merged before someone has an explanation.
    pub fn is_alarming(self) -> bool {
        matches!(self, Verdict::Unattested | Verdict::Contradicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: &str = "C874011F0AB405110D02105534365D9472D7468F";

    #[test]
    fn spaces_and_case_do_not_matter() {
        let key: Fingerprint = "c874 011F 0ab4 0511 0D02  1055 3436 5D94 72D7 468F".parse().unwrap();
        assert_eq!(key.to_string(), V4);
        assert_eq!(format!("0x{V4}").parse(), Ok(key.clone()));
        assert_eq!(key.short(), "34365D9472D7468F");
        let key: Fingerprint = format!("0123456789abcdef{}", "00".repeat(24)).parse().unwrap();
        assert_eq!(key.short(), "0123456789ABCDEF");
    }

    #[test]
    fn key_ids_and_other_texts_are_refused() {
        for bad in ["", "34365D9472D7468F", "0x34365D9472D7468F", "0x", &V4[1..], "é"] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(FingerprintError(bad.to_owned())));
        }
        let refusal = "34365D9472D7468F".parse::<Fingerprint>().unwrap_err().to_string();
        assert!(refusal.ends_with("hexadecimal digits, since anyone can make a key with a chosen key id"), "{refusal}");
        assert!(format!("{}G", &V4[1..]).parse::<Fingerprint>().is_err());
        assert!(format!("{V4}\n").parse::<Fingerprint>().is_err());
    }
}

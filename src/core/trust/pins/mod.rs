//! The remembered signers: what the trust file `.tflock.trust.hcl` says.
//!
//! ```hcl
//! provider "registry.opentofu.org/acme/widget" {
//!   signers = ["9F0A…"]
//!
//!   retired_signer "1B2C…" {
//!     versions = ["1.4.0", "1.5.2"]
//!     reason   = "the publisher has a new key"
//!   }
//! }
//!
//! provider "registry.terraform.io/acme/*" {
//!   unsigned = true
//! }
//!
//! denied_signer "3D4E…" {
//!   reason = "revoked"
//! }
//!
//! republished "registry.opentofu.org/acme/gadget" {
//!   version = "1.2.0"
//!   date    = "2026-11-20"
//!   reason  = "…"
//! }
//! ```
//!
//! A retired signer applies to exactly the versions that its block lists, those that were locked when `trust rotate` put
//! another in its place: a key that got lost cannot sign a further one. `retired_signer "unsigned"` is the same for
//! unsigned releases.
//!
//! [`Pins`] is what the file says; [`TrustFile`] adds its comments and places, so writing it again loses nothing.
//! The folder reads no files, sends no request and knows no time.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

pub use decode::{decode, provider_pattern};

use super::{Fingerprint, FingerprintError};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::finding::Position;
use crate::hcl::Comments;
use crate::settings::Date;
use crate::version::Version;

/// The name of the file, which is once at the top of a working tree.
pub const FILE_NAME: &str = ".tflock.trust.hcl";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pins {
    pub providers: BTreeMap<AddrPattern, Pin>,
    /// Keys that are refused whatever they sign, with the reason.
    pub denied: BTreeMap<Fingerprint, String>,
    /// Republications that someone accepted, with the reason.
    pub republished: BTreeMap<Republication, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pin {
    /// Accepted for any version; not empty in a file.
    pub signers: BTreeSet<Signer>,
    /// Accepted for some versions only.
    pub retired: BTreeMap<Signer, Retired>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retired {
    pub versions: BTreeSet<Version>,
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Signer {
    Key(Fingerprint),
    Unsigned,
}

/// A release that was accepted though it was not the recorded one; ordered by address, version, day.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Republication {
    pub address: ProviderAddr,
    pub version: Version,
    /// The day on which it was accepted, UTC.
    pub date: Date,
}

/// One block of a trust file, by what it is about; ordered as in the file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKey {
    /// `provider`
    Provider(AddrPattern),
    /// `retired_signer` in a `provider` block.
    Retired(AddrPattern, Signer),
    /// `denied_signer`
    Denied(Fingerprint),
    /// `republished`
    Republished(Republication),
}

/// A trust file: what it says, its comments, and the places of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustFile {
    pub pins: Pins,
    /// Its comments; those of removed blocks are left out on writing.
    pub comments: Comments<BlockKey>,
    /// The places of the blocks in the decoded text; empty for new blocks.
    pub spans: BTreeMap<BlockKey, Position>,
}

impl Pins {
    /// The pin that counts for a provider: the most specific one.
    pub fn pin(&self, addr: &ProviderAddr) -> Option<(&AddrPattern, &Pin)> {
        let patterns = AddrPattern::from(addr.clone()).widened();
        patterns.iter().find_map(|pattern| self.providers.get_key_value(pattern))
    }

    /// The pin that counts for all that a pattern covers, so far as none is more specific.
    pub fn counting(&self, pattern: &AddrPattern) -> Option<&Pin> {
        pattern.clone().widened().iter().find_map(|wider| self.providers.get(wider))
    }

    /// The pin of exactly this address, made if there is none.
    pub fn exact(&mut self, addr: &ProviderAddr) -> &mut Pin {
        self.providers.entry(AddrPattern::from(addr.clone())).or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.denied.is_empty() && self.republished.is_empty()
    }
}

impl Pin {
    pub fn accepts(&self, signer: &Signer, version: &Version) -> bool {
        self.signers.contains(signer) || self.retired.get(signer).is_some_and(|old| old.versions.contains(version))
    }

    /// Puts one signer in the place of all others, which stay for some versions. The reason is kept with them; if the
    /// rotation was done before, with earlier signers that have no reason yet.
    pub fn rotate(&mut self, to: Signer, versions: &BTreeSet<Version>, reason: Option<&str>) {
        let is_done = self.signers.iter().all(|old| *old == to);
        for old in std::mem::take(&mut self.signers) {
            if old == to || versions.is_empty() {
                continue;
            }
            let retired = self.retired.entry(old).or_default();
            retired.versions.extend(versions.iter().cloned());
            retired.reason = reason.map(str::to_owned).or(retired.reason.take());
        }
        self.retired.remove(&to);
        for retired in self.retired.values_mut().filter(|_| is_done) {
            retired.reason = retired.reason.take().or(reason.map(str::to_owned));
        }
        self.signers.insert(to);
    }
}

impl Signer {
    /// How the file calls unsigned releases.
    pub const UNSIGNED: &'static str = "unsigned";

    pub fn key(&self) -> Option<&Fingerprint> {
        match self {
            Self::Key(key) => Some(key),
            Self::Unsigned => None,
        }
    }
}

impl FromStr for Signer {
    type Err = FingerprintError;

    /// Reads a fingerprint or `unsigned`.
    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        if text == Self::UNSIGNED { Ok(Self::Unsigned) } else { text.parse().map(Self::Key) }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key().map_or(Self::UNSIGNED, Fingerprint::as_str))
    }
}

//! The remembered signers: what the trust file `.tflock.trust.hcl` says.
//!
//! ```hcl
//! provider "registry.opentofu.org/acme/widget" {
//!   signers = ["9F0A…"]
//!
//!   signer "9F0A…" {
//!     reason = "announced at example.com"
//!   }
//!
//!   retired_signer "1B2C…" {
//!     versions = ["1.4.0", "1.5.2"]
//!   }
//!
//!   built_by {
//!     repository    = "github.com/acme/terraform-provider-widget"
//!     repository_id = "123456789"
//!     owner_id      = "987654"
//!     workflow      = ".github/workflows/release.yml"
//!     ref           = "refs/tags/*"
//!     triggers      = ["push"]
//!     since         = "2.1.0"
//!     pinned_on     = "2026-11-27"
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
//! `built_by` says where the releases are built ([`crate::provenance`]); only the block of one provider can have it.
//! `signer` says why an accepted signer is accepted. A retired signer applies to exactly the versions that its block lists,
//! the recorded ones that it had signed when `trust rotate` put another in its place: a key that got lost cannot sign a
//! further one. `retired_signer "unsigned"` is the same for unsigned releases.
//!
//! [`Pins`] is what the file says; [`TrustFile`] adds its comments and places, so writing it again loses nothing.
//! The folder reads no files, sends no request and knows no time.
//!
//! The canonical text of a trust file: sorted blocks, aligned attributes, comments in their places.

mod decode;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use decode::{decode, provider_pattern};

use super::{Fingerprint, FingerprintError};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::finding::Position;
use crate::hcl::Comments;
use crate::hcl::document::{Value, Writer};
use crate::provenance::BuiltBy;
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
    /// Why some of them are accepted.
    pub reasons: BTreeMap<Signer, String>,
    /// Accepted for some versions only.
    pub retired: BTreeMap<Signer, Retired>,
    /// Where its releases are built.
    pub built_by: Option<Arc<BuiltBy>>,
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
    /// `signer` in a `provider` block.
    Signer(AddrPattern, Signer),
    /// `retired_signer` in a `provider` block.
    Retired(AddrPattern, Signer),
    /// `built_by` in a `provider` block.
    BuiltBy(AddrPattern),
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
        self.counting_block(&addr.clone().into())
    }

    /// The pin that counts for all that a pattern covers, so far as none is more specific.
    pub fn counting(&self, pattern: &AddrPattern) -> Option<&Pin> {
        self.counting_block(pattern).map(|(_, pin)| pin)
    }

    /// The same with the pattern of its block.
    pub fn counting_block(&self, pattern: &AddrPattern) -> Option<(&AddrPattern, &Pin)> {
        pattern.clone().widened().iter().find_map(|wider| self.providers.get_key_value(wider))
    }

    /// The pin of exactly this address, made if there is none.
    pub fn exact(&mut self, addr: &ProviderAddr) -> &mut Pin {
        self.providers.entry(AddrPattern::from(addr.clone())).or_default()
    }

    /// The blocks that pin where releases are built and do not say since when.
    pub fn undated(&self) -> BTreeSet<AddrPattern> {
        let places = self.providers.iter().filter_map(|(pattern, pin)| Some((pattern, pin.built_by.as_ref()?)));
        places.filter(|(_, place)| place.pinned_on.is_none()).map(|(pattern, _)| pattern.clone()).collect()
    }

    /// Sets since when a block pins where releases are built.
    pub fn date(&mut self, pattern: &AddrPattern, day: Date) {
        if let Some(place) = self.providers.get_mut(pattern).and_then(|pin| pin.built_by.as_mut()) {
            Arc::make_mut(place).pinned_on = Some(day);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty() && self.denied.is_empty() && self.republished.is_empty()
    }
}

impl Pin {
    pub fn accepts(&self, signer: &Signer, version: &Version) -> bool {
        self.signers.contains(signer) || self.retired.get(signer).is_some_and(|old| old.versions.contains(version))
    }

    /// Accepts one more signer for all versions.
    pub fn accept(&mut self, signer: Signer, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.reasons.insert(signer.clone(), reason.to_owned());
        }
        self.retired.remove(&signer);
        self.signers.insert(signer);
    }

    /// Puts one signer in the place of all others, each of which stays for the versions that it signed.
    pub fn rotate(&mut self, to: Signer, signed: &BTreeMap<Signer, BTreeSet<Version>>, reason: Option<&str>) {
        for old in std::mem::take(&mut self.signers).into_iter().filter(|old| *old != to) {
            let why = self.reasons.remove(&old);
            let Some(versions) = signed.get(&old).filter(|versions| !versions.is_empty()) else { continue };
            let retired = self.retired.entry(old).or_default();
            retired.versions.extend(versions.iter().cloned());
            retired.reason = why.or(retired.reason.take());
        }
        self.accept(to, reason);
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

impl TrustFile {
    pub fn encode(&self) -> String {
        let mut text = Writer::new(&self.comments);
        for (pattern, pin) in &self.pins.providers {
            provider(&mut text, pattern, pin);
        }
        for (key, reason) in &self.pins.denied {
            let block = BlockKey::Denied(key.clone());
            text.block("", &block, "denied_signer", key.as_str(), &[("reason", Value::Text(reason.clone()))]);
        }
        for (republication, reason) in &self.pins.republished {
            let block = BlockKey::Republished(republication.clone());
            let attributes = [
                ("version", Value::Text(republication.version.to_string())),
                ("date", Value::Text(republication.date.to_string())),
                ("reason", Value::Text(reason.clone())),
            ];
            text.block("", &block, "republished", &republication.address.to_string(), &attributes);
        }
        text.finish()
    }
}

fn provider(text: &mut Writer<'_, BlockKey>, pattern: &AddrPattern, pin: &Pin) {
    let key = BlockKey::Provider(pattern.clone());
    let keys: Vec<String> = pin.signers.iter().filter_map(|signer| Some(signer.key()?.to_string())).collect();
    let unsigned = keys.len() < pin.signers.len();
    let mut attributes = Vec::new();
    if !keys.is_empty() {
        attributes.push(("signers", Value::List(keys)));
    }
    if unsigned {
        attributes.push(("unsigned", Value::True));
    }
    text.open("", &key, "provider", &pattern.to_string());
    text.attributes("  ", &key, &attributes);
    for (signer, reason) in &pin.reasons {
        let block = BlockKey::Signer(pattern.clone(), signer.clone());
        text.block("  ", &block, "signer", &signer.to_string(), &[("reason", Value::Text(reason.clone()))]);
    }
    for (signer, retired) in &pin.retired {
        let block = BlockKey::Retired(pattern.clone(), signer.clone());
        let versions = retired.versions.iter().map(ToString::to_string).collect();
        let mut attributes = vec![("versions", Value::List(versions))];
        attributes.extend(retired.reason.clone().map(|reason| ("reason", Value::Text(reason))));
        text.block("  ", &block, "retired_signer", &signer.to_string(), &attributes);
    }
    if let Some(place) = &pin.built_by {
        built_by(text, &BlockKey::BuiltBy(pattern.clone()), place);
    }
    text.close("", &key);
}

fn built_by(text: &mut Writer<'_, BlockKey>, key: &BlockKey, place: &BuiltBy) {
    let own = |value: &str| Value::Text(value.to_owned());
    let mut attributes = vec![
        ("repository", own(&format!("github.com/{}", place.repository))),
        ("repository_id", own(&place.repository_id)),
        ("owner_id", own(&place.owner_id)),
        ("workflow", own(&place.workflow)),
    ];
    attributes.extend(place.signer.as_deref().map(|signer| ("signer", own(signer))));
    attributes.extend([
        ("ref", own(&place.git_ref)),
        ("triggers", Value::List(place.triggers.iter().cloned().collect())),
        ("since", own(&place.since.to_string())),
    ]);
    attributes.extend(place.pinned_on.map(|date| ("pinned_on", own(&date.to_string()))));
    attributes.extend(place.reason.as_deref().map(|reason| ("reason", own(reason))));
    text.block("  ", key, "built_by", "", &attributes);
}

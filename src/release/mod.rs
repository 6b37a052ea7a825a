//! One release of a provider: what its source says of it, and whether that is what was recorded.
//!
//! Every command that needs to know a release asks for the same [`Release`] and judges it with the judges of this folder:
//! [`hashes`] says whether a hash belongs to it, [`continuity`] whether it is the recorded one, [`signers`] whether its
//! signer is a remembered one.

pub mod altered;
pub mod archives;
pub mod cached;
pub mod continuity;
pub mod expiry;
pub mod hashes;
pub mod mirrors;
pub mod naming;
pub mod offer;
pub mod reported;
pub mod signers;
pub mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use url::Url;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;

/// A release by provider and version.
pub type ReleaseKey = (ProviderAddr, Version);

/// What is known of some releases.
pub type Known = BTreeMap<ReleaseKey, Knowledge>;

/// What is known of one release.
#[derive(Debug, Clone, Default)]
pub enum Knowledge {
    /// No source was asked, and nothing is known from before.
    #[default]
    Unasked,
    /// A source was asked, and gave no answer that can be used.
    Inconclusive(Error),
    /// The registry says that there is no such release.
    Withdrawn(String),
    /// What the registry serves must not be believed.
    Refused(Finding),
    /// The same, since the signing key is revoked.
    Revoked(Box<Finding>, Fingerprint),
    /// The release.
    Known(Arc<Release>),
}

/// One release, as its source offers it or offered it in an earlier run.
#[derive(Debug, Clone)]
pub struct Release {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// Who signed the checksums; none if the source says nothing of that, as a mirror.
    pub signer: Option<Signer>,
    /// The subkey with which they signed, if it was not the primary key.
    pub subkey: Option<Fingerprint>,
    /// When, by the signature's own word.
    pub signed_at: Option<SystemTime>,
    /// The lines of the checksums.
    pub lines: BTreeMap<Sha256Digest, Line>,
    /// The digests that the checksums give to a lock file: all lines, or none where one of them spoils the list.
    pub listed: Vec<Sha256Digest>,
    /// The `h1:` hashes with the reason to believe each.
    pub h1: BTreeMap<PackageHash, Vouched>,
    /// True if there is no package whose `h1:` is not among them.
    pub complete: bool,
    /// True if the registry was asked in this run; false if it may offer more by now.
    pub current: bool,
    /// Where its publisher tells about it, over https, if that was asked: the registry's word.
    pub link: Option<Url>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// Why it is not complete, if a source was asked.
    pub inconclusive: Option<Error>,
}

/// One line of the checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Names an archive, for a platform if the name tells.
    Archive(Option<Platform>),
    /// Names something else, such as a manifest, which may stand in many releases.
    Other,
}

/// The reason to believe an `h1:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The platform of the package.
    pub platform: Option<Platform>,
    /// The reason to believe it.
    pub evidence: Evidence,
}

impl Knowledge {
    /// The release, where it is known.
    pub fn release(&self) -> Option<&Arc<Release>> {
        match self {
            Self::Known(release) => Some(release),
            _ => None,
        }
    }
}

impl Release {
    /// A release of which its source was asked, and nothing else is known.
    pub fn new(address: ProviderAddr, version: Version) -> Self {
        Self {
            address,
            version,
            signer: None,
            subkey: None,
            signed_at: None,
            lines: BTreeMap::new(),
            listed: Vec::new(),
            h1: BTreeMap::new(),
            complete: false,
            current: true,
            link: None,
            findings: Vec::new(),
            inconclusive: None,
        }
    }

    /// The same with the lines of its checksums: archives by their conventional names, or by names that their registry
    /// gives.
    #[must_use]
    pub fn listing(mut self, sums: &Sums, given: impl Fn(&str) -> Option<Platform>) -> Self {
        let archives = sums.archives(self.address.type_name(), &self.version);
        self.lines = archives.map(|(platform, digest)| (digest, Line::Archive(Some(platform)))).collect();
        for (name, digest) in sums.lines() {
            match given(name) {
                Some(platform) => drop(self.lines.insert(digest, Line::Archive(Some(platform)))),
                None => drop(self.lines.entry(digest).or_insert(Line::Other)),
            }
        }
        self.listed = sums.harvest().to_vec();
        self
    }

    /// Takes in a package that was looked at: its archive is one of the release, and the hash over its files was computed.
    pub fn look_at(&mut self, platform: &Platform, zh: Option<Sha256Digest>, h1: Option<&PackageHash>) {
        let vouched = Vouched { platform: Some(platform.clone()), evidence: Evidence::Computed };
        self.h1.extend(h1.map(|h1| (h1.clone(), vouched)));
        self.lines.extend(zh.map(|zh| (zh, Line::Archive(Some(platform.clone())))));
    }

    /// The key that signed.
    pub fn key(&self) -> Option<&Fingerprint> {
        self.signer.as_ref()?.key()
    }

    /// True if the hash is that of one of its packages.
    pub fn owns(&self, hash: &PackageHash) -> bool {
        let archive = hash.zh_digest().and_then(|digest| self.lines.get(&digest));
        matches!(archive, Some(Line::Archive(_))) || self.h1.contains_key(hash)
    }

    /// True if the checksums have a line with this `zh:`.
    pub fn lists(&self, hash: &PackageHash) -> bool {
        hash.zh_digest().is_some_and(|digest| self.lines.contains_key(&digest))
    }

    /// True if the hash is that of one of its packages, or stands in its checksums for another file.
    pub fn has(&self, hash: &PackageHash) -> bool {
        self.owns(hash) || self.lists(hash)
    }

    /// The digests of its archives.
    pub fn archives(&self) -> impl Iterator<Item = &Sha256Digest> {
        self.lines.iter().filter(|(_, line)| matches!(line, Line::Archive(_))).map(|(digest, _)| digest)
    }

    /// The platforms that its archives are named for.
    pub fn platforms(&self) -> impl Iterator<Item = &Platform> {
        self.lines.values().filter_map(|line| match line {
            Line::Archive(platform) => platform.as_ref(),
            Line::Other => None,
        })
    }

    /// The platform of an archive, where its name tells.
    pub fn platform_of(&self, zh: &PackageHash) -> Option<&Platform> {
        match self.lines.get(&zh.zh_digest()?)? {
            Line::Archive(platform) => platform.as_ref(),
            Line::Other => None,
        }
    }

    /// The `h1:` that the origin reports and no run computed, each with its platform.
    pub fn reported(&self, hash: &PackageHash) -> Option<&Vouched> {
        self.h1.get(hash).filter(|vouched| vouched.evidence == Evidence::ReportedByOrigin)
    }

    /// The `h1:` that were computed from archives.
    pub fn computed(&self) -> impl Iterator<Item = (&PackageHash, Option<&Platform>)> {
        let computed = self.h1.iter().filter(|(_, vouched)| vouched.evidence == Evidence::Computed);
        computed.map(|(hash, vouched)| (hash, vouched.platform.as_ref()))
    }
}

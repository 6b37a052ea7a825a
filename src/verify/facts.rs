//! What is known of locked releases, and by whom; the shape in which evidence reaches the judgment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use url::Url;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::evidence::Evidence;
use crate::finding::Finding;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;

/// What is known for one root module.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The locked release of each provider.
    pub releases: BTreeMap<ProviderAddr, Knowledge>,
    /// Other releases, which may explain where a hash comes from.
    pub others: &'a [Arc<Release>],
}

/// What is known of one release.
#[derive(Debug, Clone, Default)]
pub enum Knowledge {
    /// Nobody was asked, and nothing is known from before.
    #[default]
    Unasked,
    /// Somebody was asked, and gave no answer that can be used.
    Inconclusive(Error),
    /// The registry says that there is no such release.
    Withdrawn(String),
    /// What the registry serves must not be believed.
    Refused(Finding),
    /// The release.
    Known(Arc<Release>),
}

/// One release, as its registry offers it or offered it in an earlier run.
#[derive(Debug, Clone)]
pub struct Release {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// Who signed the checksums.
    pub signer: Signer,
    /// The subkey with which they signed, if it was not the primary key.
    pub subkey: Option<Fingerprint>,
    /// When, by the signature's own word.
    pub signed_at: Option<SystemTime>,
    /// The lines of the checksums.
    pub lines: BTreeMap<Sha256Digest, Line>,
    /// The `h1:` hashes that somebody vouches for.
    pub h1: BTreeMap<PackageHash, Vouched>,
    /// True if there is no package whose `h1:` is not among them.
    pub complete: bool,
    /// True if the registry was asked in this run; false if it may offer more by now.
    pub current: bool,
    /// Where its publisher tells about it, over https, if that was asked: the registry's word.
    pub link: Option<Url>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// Why it is not complete, if somebody was asked.
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

/// Who vouches for an `h1:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The platform of the package.
    pub platform: Option<Platform>,
    /// The reason to believe it.
    pub evidence: Evidence,
}

impl Facts<'_> {
    /// What is known of the locked release of a provider.
    pub fn of(&self, addr: &ProviderAddr) -> &Knowledge {
        self.releases.get(addr).unwrap_or(&Knowledge::Unasked)
    }

    /// The releases that a hash is known to belong to. Lines that name no archive count for nothing.
    pub fn owners(&self, hash: &PackageHash) -> BTreeSet<(&ProviderAddr, &Version)> {
        let of_run = self.releases.values().filter_map(|knowledge| match knowledge {
            Knowledge::Known(release) => Some(release),
            _ => None,
        });
        let releases = of_run.chain(self.others).filter(|release| release.owns(hash));
        releases.map(|release| (&release.address, &release.version)).collect()
    }
}

impl Release {
    /// True if the hash is that of one of its packages.
    pub fn owns(&self, hash: &PackageHash) -> bool {
        let archive = hash.zh_digest().and_then(|digest| self.lines.get(&digest));
        matches!(archive, Some(Line::Archive(_))) || self.h1.contains_key(hash)
    }

    /// True if the hash is that of one of its packages, or stands in its checksums for another file.
    pub fn has(&self, hash: &PackageHash) -> bool {
        self.owns(hash) || hash.zh_digest().is_some_and(|digest| self.lines.contains_key(&digest))
    }

    /// The digests of its archives.
    pub fn archives(&self) -> impl Iterator<Item = &Sha256Digest> {
        self.lines.iter().filter(|(_, line)| matches!(line, Line::Archive(_))).map(|(digest, _)| digest)
    }
}

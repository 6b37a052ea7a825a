//! What is known of the packages of releases: handed in by whoever asked, or looked it up.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::Finding;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::trust::pins::Signer;
use crate::version::Version;

/// What is known of releases, and of archives whatever release they belong to. The default knows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attribution {
    /// By provider and version.
    pub releases: BTreeMap<(ProviderAddr, Version), ReleaseFacts>,
    archives: BTreeMap<PackageHash, PackageHash>,
    contents: BTreeMap<PackageHash, Vec<PackageHash>>,
}

/// What is known of one release.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseFacts {
    /// Who signed the checksums, if a signature verifies or there is to be none. Without a key the packages are a list
    /// that nobody signed, which rules nothing out.
    pub signer: Option<Signer>,
    /// The packages on the lines of the checksums.
    pub packages: Vec<ArchiveFacts>,
    /// The `zh:` of lines that name no package, such as manifests.
    pub other_lines: BTreeSet<PackageHash>,
    /// Hashes that the origin registry reports, signed or not.
    pub reported: BTreeMap<PackageHash, Option<Platform>>,
    /// True if the origin was asked now: an archive that it does not know, nobody attests.
    pub asked: bool,
    /// True if, moreover, there is no package whose contents are unknown: contents that are none of theirs, nobody
    /// attests.
    pub complete: bool,
    /// Where its publisher tells about it, over https; the registry's word.
    pub link: Option<Url>,
    /// Why it must not be used, that it is gone, or what was noticed on the way.
    pub findings: Vec<Finding>,
    /// Why more is not known, if somebody was asked.
    pub inconclusive: Option<Error>,
}

/// One package of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFacts {
    /// The hash of the archive.
    pub zh: PackageHash,
    /// Its platform, where the name of the archive tells.
    pub platform: Option<Platform>,
}

impl Attribution {
    /// Adds a pair that was computed here from one archive.
    pub fn computed(&mut self, zh: PackageHash, h1: PackageHash) {
        self.contents.entry(h1.clone()).or_default().push(zh.clone());
        self.archives.insert(zh, h1);
    }

    /// The `h1:` of an archive.
    pub(super) fn h1_of(&self, zh: &PackageHash) -> Option<&PackageHash> {
        self.archives.get(zh)
    }

    /// The archives with these contents.
    pub(super) fn archives_of(&self, h1: &PackageHash) -> &[PackageHash] {
        self.contents.get(h1).map_or(&[], Vec::as_slice)
    }

    /// What is known of a release.
    pub fn release(&self, addr: &ProviderAddr, version: &Version) -> Option<&ReleaseFacts> {
        self.releases.get(&(addr.clone(), version.clone()))
    }
}

impl ReleaseFacts {
    /// The platform of an archive.
    pub(super) fn platform_of(&self, zh: &PackageHash) -> Option<&Platform> {
        self.packages.iter().find(|package| package.zh == *zh)?.platform.as_ref()
    }

    /// True if the checksums have a line with this `zh:`.
    pub(super) fn lists(&self, zh: &PackageHash) -> bool {
        self.packages.iter().any(|package| package.zh == *zh) || self.other_lines.contains(zh)
    }
}

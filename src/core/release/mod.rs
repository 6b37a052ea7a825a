//! One release of a provider: what its source says of it, and whether that is what was recorded.
//!
//! Every command that needs a release uses the same [`Release`] and judges it with the judges of this folder:
//! [`hashes`] says whether a hash belongs to it, [`continuity`] whether it is the recorded one, and whether its signer is
//! a remembered one.

pub mod continuity;
pub mod hashes;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use url::Url;

use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::Finding;
use crate::hash::Sums;
use crate::hash::{PackageHash, PackageHashes, Sha256Digest};
use crate::platform::Platform;
use crate::provenance::{Attested, Repository};
use crate::trust::Evidence;
use crate::trust::Fingerprint;
use crate::trust::pins::Signer;
use crate::version::Version;
use crate::witness::{Opinion, Testimony, WitnessAnswer, WitnessPlace};

/// A release by provider and version.
pub type ReleaseKey = (ProviderAddr, Version);

/// What is known of some releases.
pub type Releases = BTreeMap<ReleaseKey, Lookup>;

/// What is known of one release.
#[derive(Debug, Clone, Default)]
pub enum Lookup {
    /// No source was contacted, and nothing is known from before.
    #[default]
    NotRequested,
    /// A source was contacted, and gave no usable answer.
    Inconclusive(Error),
    /// The registry says that there is no such release.
    Withdrawn(String),
    /// What the registry serves must not be used; with the signing key, if that is revoked.
    Refused(Finding, Option<Fingerprint>),
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
    /// Who signed the checksums; `None` if the source does not say, as a mirror.
    pub signer: Option<Signer>,
    /// The subkey with which they signed, if it was not the primary key.
    pub subkey: Option<Fingerprint>,
    /// When, by the signature's own word.
    pub signed_at: Option<SystemTime>,
    /// The lines of the checksums.
    pub lines: BTreeMap<Sha256Digest, ListedLine>,
    /// The digests that the checksums give to a lock file: all lines; empty if one is malformed.
    pub listed: Vec<Sha256Digest>,
    /// The `h1:` hashes with the evidence for each.
    pub h1: BTreeMap<PackageHash, Attestation>,
    /// True if there is no package whose `h1:` is not among them.
    pub complete: bool,
    /// True if the registry was contacted in this run; false if it may have more by now.
    pub current: bool,
    /// The `.zip` files of its checksums, by name.
    pub zips: BTreeSet<(String, Sha256Digest)>,
    /// The repository that its packages are downloaded from, as the registry has it.
    pub suggested: Option<Repository>,
    /// What attests where it was built; `None` if nobody asked.
    pub attested: Option<Arc<Attested>>,
    /// What other places say its archives are; `None` if no place was asked.
    pub witnessed: Option<Arc<[Testimony]>>,
    /// The publisher's page about it, over https, as the registry names it, if that was requested.
    pub link: Option<Url>,
    /// What the registry warns of with the provider.
    pub registry_warnings: Arc<[String]>,
    /// What was noticed on the way.
    pub findings: Vec<Finding>,
    /// Why it is not complete, if a source was contacted.
    pub inconclusive: Option<Error>,
}

/// One line of the checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListedLine {
    /// Names an archive, for these platforms: several if packages are the same, empty if no name shows it.
    Archive(BTreeSet<Platform>),
    /// Names something else, such as a manifest, which may appear in many releases.
    Other,
}

/// The evidence for an `h1:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The platforms of the packages with these contents, each with the best evidence for it; empty if that is
    /// not known.
    pub platforms: BTreeMap<Platform, Evidence>,
    /// The best evidence for it.
    pub evidence: Evidence,
}

impl ListedLine {
    /// An archive for some platforms.
    pub fn archive(platforms: impl IntoIterator<Item = Platform>) -> Self {
        Self::Archive(platforms.into_iter().collect())
    }

    /// The platforms that an archive is named for.
    pub fn platforms(&self) -> impl Iterator<Item = &Platform> {
        match self {
            Self::Archive(platforms) => Some(platforms),
            Self::Other => None,
        }
        .into_iter()
        .flatten()
    }
}

impl Attestation {
    /// Contents of a package, for a platform where that is known.
    pub fn new(platform: Option<Platform>, evidence: Evidence) -> Self {
        Self { platforms: platform.map(|platform| (platform, evidence.clone())).into_iter().collect(), evidence }
    }

    /// Takes in a further reason: what was computed counts more than any report, else the first.
    fn join(&mut self, other: Self) {
        for (platform, evidence) in other.platforms {
            if evidence == Evidence::Computed || !self.platforms.contains_key(&platform) {
                self.platforms.insert(platform, evidence);
            }
        }
        if other.evidence == Evidence::Computed {
            self.evidence = Evidence::Computed;
        }
    }

    /// True if these may be the contents of an archive: it is for one of the platforms, or neither is known.
    pub fn may_be_of(&self, line: &ListedLine) -> bool {
        let ListedLine::Archive(platforms) = line else { return false };
        let is_unknown = platforms.is_empty() && self.platforms.is_empty();
        is_unknown || platforms.iter().any(|platform| self.platforms.contains_key(platform))
    }
}

impl Lookup {
    /// The release, where it is known.
    pub fn release(&self) -> Option<&Arc<Release>> {
        match self {
            Self::Known(release) => Some(release),
            _ => None,
        }
    }
}

impl Release {
    /// A release whose source answered, and nothing else is known.
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
            zips: BTreeSet::new(),
            suggested: None,
            attested: None,
            witnessed: None,
            link: None,
            registry_warnings: Arc::default(),
            findings: Vec::new(),
            inconclusive: None,
        }
    }

    /// The same with the lines of its checksums: archives by their conventional names, or by names that their registry
    /// gives.
    #[must_use]
    pub fn listing(mut self, sums: &Sums, given: impl Fn(&str) -> Option<Platform>) -> Self {
        let (address, version) = (self.address.clone(), self.version.clone());
        for (platform, digest) in sums.archives(address.type_name(), &version) {
            self.name(digest, platform);
        }
        for (name, digest) in sums.lines() {
            if name.to_ascii_lowercase().ends_with(".zip") {
                self.zips.insert((name.to_owned(), digest));
            }
            match given(name) {
                Some(platform) => self.name(digest, platform),
                None => drop(self.lines.entry(digest).or_insert(ListedLine::Other)),
            }
        }
        self.listed = sums.lock_file_digests().to_vec();
        self
    }

    /// Takes in that an archive is for a platform, next to others that it may be for.
    fn name(&mut self, archive: Sha256Digest, platform: Platform) {
        match self.lines.entry(archive).or_insert(ListedLine::Other) {
            ListedLine::Archive(platforms) => drop(platforms.insert(platform)),
            line @ ListedLine::Other => *line = ListedLine::archive([platform]),
        }
    }

    /// Adds evidence for an `h1:`.
    pub fn attest(&mut self, h1: PackageHash, attested: Attestation) {
        match self.h1.entry(h1) {
            Entry::Vacant(vacant) => drop(vacant.insert(attested)),
            Entry::Occupied(mut known) => known.get_mut().join(attested),
        }
    }

    /// Takes back what was only reported of contents for some platforms.
    pub fn retract(&mut self, is_refuted: impl Fn(&PackageHash, &Platform) -> bool) {
        self.h1.retain(|hash, attested| {
            let before = attested.platforms.len();
            attested.platforms.retain(|platform, by| *by == Evidence::Computed || !is_refuted(hash, platform));
            before == attested.platforms.len() || !attested.platforms.is_empty()
        });
    }

    /// Takes in a package that was looked at: its archive is one of the release, and the hash over its files was computed.
    pub fn look_at(&mut self, platform: &Platform, zh: Option<Sha256Digest>, h1: Option<&PackageHash>) {
        if let Some(h1) = h1 {
            self.attest(h1.clone(), Attestation::new(Some(platform.clone()), Evidence::Computed));
        }
        if let Some(zh) = zh {
            self.name(zh, platform.clone());
        }
    }

    /// The key that signed.
    pub fn key(&self) -> Option<&Fingerprint> {
        self.signer.as_ref()?.key()
    }

    /// True if one of its packages has the hash.
    pub fn owns(&self, hash: &PackageHash) -> bool {
        let archive = hash.zh_digest().and_then(|digest| self.lines.get(&digest));
        matches!(archive, Some(ListedLine::Archive(_))) || self.h1.contains_key(hash)
    }

    /// True if the checksums have a line with this `zh:`.
    pub fn lists(&self, hash: &PackageHash) -> bool {
        hash.zh_digest().is_some_and(|digest| self.lines.contains_key(&digest))
    }

    /// True if one of its packages has the hash, or its checksums list it for another file.
    pub fn has(&self, hash: &PackageHash) -> bool {
        self.owns(hash) || self.lists(hash)
    }

    /// The digests of its archives.
    pub fn archives(&self) -> impl Iterator<Item = &Sha256Digest> {
        self.lines.iter().filter(|(_, line)| matches!(line, ListedLine::Archive(_))).map(|(digest, _)| digest)
    }

    /// What each of the places that were asked says of the archives.
    pub fn witnesses(&self) -> Vec<WitnessAnswer> {
        let archives = self.named_archives();
        let testimonies = self.witnessed.iter().flat_map(|testimonies| testimonies.iter());
        let answers = testimonies.map(|testimony| WitnessAnswer {
            place: testimony.place.clone(),
            opinion: testimony.opinion(&archives),
            unanswered: testimony.files.as_ref().err().map(|error| error.message.clone()),
        });
        answers.collect()
    }

    /// The places that have the same archives, each with how many.
    pub fn agreeing(&self) -> Vec<(WitnessPlace, usize)> {
        let agrees = |answer: WitnessAnswer| match answer.opinion {
            Opinion::Agrees(same) => Some((answer.place, same)),
            Opinion::Differs { .. } | Opinion::Silent => None,
        };
        self.witnesses().into_iter().filter_map(agrees).collect()
    }

    /// Its archives by the names that its checksums give them; by conventional names where a mirror gives none.
    pub fn named_archives(&self) -> BTreeSet<(String, Sha256Digest)> {
        let is_named = |digest: &Sha256Digest| self.zips.iter().any(|(_, zip)| zip == digest);
        let unnamed = self.lines.iter().filter(|(digest, _)| !is_named(digest));
        let by_platform = unnamed.flat_map(|(digest, line)| {
            let name = |platform| hashes::conventional_name(&self.address, &self.version, platform);
            line.platforms().map(move |platform| (name(platform), *digest)).collect::<Vec<_>>()
        });
        self.zips.iter().cloned().chain(by_platform).collect()
    }

    /// The platforms that its archives are named for.
    pub fn platforms(&self) -> impl Iterator<Item = &Platform> {
        self.lines.values().flat_map(ListedLine::platforms)
    }

    /// The platforms of an archive, as far as names show them.
    pub fn platforms_of(&self, zh: &PackageHash) -> impl Iterator<Item = &Platform> {
        zh.zh_digest().and_then(|digest| self.lines.get(&digest)).into_iter().flat_map(ListedLine::platforms)
    }

    /// The platforms of the packages whose contents are among some hashes, with the evidence for it.
    pub fn platforms_with<'a>(
        &'a self,
        hashes: &'a PackageHashes,
    ) -> impl Iterator<Item = (&'a Platform, &'a Evidence)> {
        hashes.iter().filter_map(|hash| self.h1.get(hash)).flat_map(|attested| &attested.platforms)
    }

    /// True if the contents of a platform's package are known, or said, to be among some hashes.
    pub fn covers(&self, platform: &Platform, hashes: &PackageHashes) -> bool {
        self.platforms_with(hashes).any(|(covered, _)| covered == platform)
    }

    /// The `h1:` that the origin reports and no run computed, each with its platform.
    pub fn reported(&self, hash: &PackageHash) -> Option<&Attestation> {
        self.h1.get(hash).filter(|attested| attested.evidence == Evidence::ReportedByOrigin)
    }

    /// The `h1:` that were computed from archives, once for each platform of theirs.
    pub fn computed(&self) -> impl Iterator<Item = (&PackageHash, Option<&Platform>)> {
        let computed = self.h1.iter().filter(|(_, attested)| attested.evidence == Evidence::Computed);
        computed.flat_map(|(hash, attested)| {
            let unknown = attested.platforms.is_empty().then_some((hash, None));
            let of_computed = attested.platforms.iter().filter(|(_, by)| **by == Evidence::Computed);
            of_computed.map(move |(platform, _)| (hash, Some(platform))).chain(unknown)
        })
    }
}

/// One version that a source offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The version.
    pub version: Version,
    /// The plugin protocols it speaks, such as `5.0`; empty if the source does not say.
    pub protocols: Vec<String>,
    /// The platforms it has packages for; empty if the source does not say.
    pub platforms: Vec<Platform>,
}

impl From<Version> for Offer {
    /// A version of which its source says nothing else.
    fn from(version: Version) -> Self {
        Self { version, protocols: Vec::new(), platforms: Vec::new() }
    }
}

/// Pairs of `zh:` and `h1:`, each computed here from one archive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Archives {
    contents: BTreeMap<PackageHash, PackageHash>,
    archives: BTreeMap<PackageHash, Vec<PackageHash>>,
}

impl Archives {
    /// None.
    pub const fn new() -> Self {
        Self { contents: BTreeMap::new(), archives: BTreeMap::new() }
    }

    /// Adds a pair that was computed here from one archive.
    pub fn computed(&mut self, zh: PackageHash, h1: PackageHash) {
        self.archives.entry(h1.clone()).or_default().push(zh.clone());
        self.contents.insert(zh, h1);
    }

    /// The `h1:` of an archive.
    pub fn h1_of(&self, zh: &PackageHash) -> Option<&PackageHash> {
        self.contents.get(zh)
    }

    /// The archives with these contents; two releases may have the same.
    pub fn with(&self, h1: &PackageHash) -> &[PackageHash] {
        self.archives.get(h1).map_or(&[], Vec::as_slice)
    }
}

//! What has to be found out about one provider of one root module, and what was found out, by whom. What follows from it is decided
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::select::{Criteria, ProvenanceRule, ReleaseCriteria, ReportedRule, Rules};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::ArchiveHashes;
use crate::hash::{PackageHash, Sha256Digest};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::release::Release;
use crate::settings::Objection;
use crate::trust::Fingerprint;
use crate::version::{Constraints, Version};
use crate::witness::WitnessPlace;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    pub constraints: Constraints,
    pub selection: Selection,
    pub platforms: Vec<Platform>,
    pub recorded: Option<LockEntry>,
    /// The entry at another address whose version is wanted here.
    pub moved: Option<Moved>,
    /// Whether another release under the recorded version may take its place.
    pub accept_republished: bool,
    /// Whether a recorded `h1:` that no archive of the release has may go: each archive is hashed here to find out.
    pub drop_unattested: bool,
    /// Whether `tflock upgrade --bump` can rewrite the constraints.
    pub is_rewritable: bool,
    pub rules: Rules,
    pub goal: Goal,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    Version,
    /// What its source signed of it.
    Documents,
    #[default]
    Packages,
    Hashes(Explain),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Explain {
    pub h1: BTreeSet<PackageHash>,
    pub zh: BTreeSet<PackageHash>,
    /// False if what the origin reports counts for nothing.
    pub trust_reported: bool,
    pub depth: Depth,
    /// True if the publisher's page is worth a request.
    pub link: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Depth {
    /// Packages may be downloaded where no source attests a hash.
    pub download: bool,
    pub most: u64,
    /// Neither the index nor what the origin reports counts: each `h1:` is computed from its archive.
    pub recompute: bool,
    /// Every archive in the checksums is looked at.
    pub all_platforms: bool,
}

impl Depth {
    pub const DOCUMENTS: Self = Self { download: false, most: u64::MAX, recompute: false, all_platforms: false };
}

/// An entry that goes to another address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Moved {
    pub from: ProviderAddr,
    pub entry: LockEntry,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selection {
    /// This one, which must still be offered.
    Keep(Version),
    /// This one, even if a different one is recorded.
    Exactly(Version),
    Newest(Criteria),
}

impl Selection {
    pub fn version(&self) -> Option<&Version> {
        match self {
            Self::Keep(version) | Self::Exactly(version) => Some(version),
            Self::Newest(_) => None,
        }
    }

    /// True if only a release that has all wanted platforms will do.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Newest(criteria) if criteria.complete)
    }
}

impl Query {
    /// About a locked release: to which packages its hashes belong. `platforms` are those that are likely to be recorded.
    pub fn locked(version: Version, platforms: &[Platform], rules: Rules, explain: Explain) -> Self {
        Self {
            constraints: Constraints::default(),
            selection: Selection::Keep(version),
            platforms: platforms.to_vec(),
            recorded: None,
            moved: None,
            accept_republished: false,
            drop_unattested: false,
            is_rewritable: false,
            rules,
            goal: Goal::Hashes(explain),
        }
    }

    /// About the signer of a release; no package is downloaded for it.
    pub fn of_signer(version: Version, rules: Rules) -> Self {
        let explain = Explain { depth: Depth { recompute: true, ..Depth::DOCUMENTS }, ..Explain::default() };
        Self::locked(version, &[], rules, explain)
    }

    /// Takes in the same question of another root module: of what both say, the stricter.
    pub fn join(&mut self, other: Self) {
        self.rules.signature = self.rules.signature.max(other.rules.signature);
        self.rules.expiry = self.rules.expiry.stricter(other.rules.expiry);
        self.rules.reported = self.rules.reported.max(other.rules.reported);
        if self.rules.provenance == ProvenanceRule::NotAsked {
            self.rules.provenance = other.rules.provenance;
        }
        self.rules.witnesses = match (self.rules.witnesses.take(), other.rules.witnesses) {
            (Some(own), Some(others)) => {
                let both: BTreeSet<WitnessPlace> = own.iter().chain(&*others).cloned().collect();
                Some(both.into_iter().collect())
            }
            (own, others) => own.or(others),
        };
        self.rules.indexes.retain(|index| other.rules.indexes.contains(index));
        let new: Vec<Platform> = other.platforms.into_iter().filter(|it| !self.platforms.contains(it)).collect();
        self.platforms.extend(new);
        if let (Goal::Hashes(own), Goal::Hashes(other)) = (&mut self.goal, other.goal) {
            own.trust_reported &= other.trust_reported;
            own.h1.extend(other.h1);
            own.zh.extend(other.zh);
            own.link |= other.link;
        }
    }

    /// The platforms without which the release will not do.
    pub fn needed(&self) -> impl Iterator<Item = &Platform> {
        let is_needed = |it: &&Platform| !self.rules.optional.contains(it) && !self.rules.unnamed.contains(it);
        self.platforms.iter().filter(is_needed)
    }

    pub fn explain(&self) -> Option<&Explain> {
        match &self.goal {
            Goal::Hashes(explain) => Some(explain),
            _ => None,
        }
    }

    pub fn counts_reports(&self) -> bool {
        self.explain().map_or(self.rules.reported == ReportedRule::Write, |explain| explain.trust_reported)
    }

    /// The recorded entry, if it records this version.
    pub fn recorded_as(&self, version: &Version) -> Option<&LockEntry> {
        self.recorded.as_ref().filter(|entry| entry.version == *version)
    }

    /// The recorded entry if it records something about the version that is kept.
    pub fn recorded_release(&self) -> Option<&LockEntry> {
        let entry = self.recorded.as_ref()?;
        match &self.selection {
            Selection::Keep(version) => (entry.version == *version).then_some(entry),
            Selection::Exactly(_) | Selection::Newest(_) => None,
        }
    }

    /// What a release must be next to its number, for this root module.
    pub fn release_criteria(&self, complete: bool) -> ReleaseCriteria {
        let platforms = self.platforms.iter().filter(|platform| complete && !self.rules.optional.contains(platform));
        ReleaseCriteria {
            recorded: self.recorded.as_ref().map(|entry| entry.version.clone()),
            platforms: platforms.cloned().collect(),
            policies: vec![self.rules.versions.clone()],
        }
    }
}

pub type Answer = Result<Arc<Selected>, Refusal>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Error(Error),
    /// With the signing key if the answer is bad since that is revoked, which is worth remembering.
    Finding(Box<Finding>, Option<Fingerprint>),
}

impl Refusal {
    /// The error for commands that report no finding about it.
    pub fn into_error(self) -> Error {
        match self {
            Self::Error(error) => error,
            Self::Finding(finding, _) => Error::new(ErrorKind::Trust, finding.message()),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<crate::source::Miss> for Refusal {
    fn from(miss: crate::source::Miss) -> Self {
        Self::Error(miss.into())
    }
}

impl From<Finding> for Refusal {
    fn from(finding: Finding) -> Self {
        Self::Finding(Box::new(finding), None)
    }
}

#[derive(Debug, Clone)]
pub struct Selected {
    pub release: Release,
    pub packages: BTreeMap<Platform, PackageFacts>,
    /// The place where packages were looked for, in words; `None` for the origin registry.
    pub place: Option<String>,
    /// Platforms without a package, with the newest version that has one.
    pub missing: BTreeMap<Platform, Option<Version>>,
    /// If some are missing: the newest other version that the constraints allow, with packages for all needed platforms.
    pub complete: Option<Version>,
    /// False if the tools support no protocol of the release.
    pub supported_protocol: bool,
    pub newest_supported: Option<Version>,
    /// The newest release of all, pre-releases left out, if it is newer than this one.
    pub newest: Option<Version>,
    /// The newest release before this one that the constraints allow.
    pub older: Option<Version>,
    /// Newer versions that the constraints allow, and why they were not selected.
    pub passed_over: Vec<(Version, Exclusion)>,
    /// The `h1:` that the origin reports, also of platforms that were not requested, without a signature.
    pub reported: BTreeMap<Platform, Vec<PackageHash>>,
    /// A mirror's hashes of the packages of all platforms, if its user trusts them.
    pub trusted: BTreeMap<Platform, Vec<PackageHash>>,
}

impl Selected {
    pub fn new(release: Release) -> Self {
        Self {
            release,
            packages: BTreeMap::new(),
            place: None,
            missing: BTreeMap::new(),
            complete: None,
            supported_protocol: true,
            newest_supported: None,
            newest: None,
            older: None,
            passed_over: Vec::new(),
            reported: BTreeMap::new(),
            trusted: BTreeMap::new(),
        }
    }

    pub fn version(&self) -> &Version {
        &self.release.version
    }

    pub fn compute(&mut self, packages: BTreeMap<Platform, PackageFacts>) {
        for (platform, package) in &packages {
            for h1 in [&package.h1, &package.archive_form] {
                self.release.look_at(platform, package.zh, h1.as_ref().filter(|_| package.computed));
            }
        }
        self.packages.extend(packages);
    }
}

/// Why a version is not selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    Policy(Objection),
    /// It has no package for these platforms.
    Lacks(Vec<Platform>),
}

impl Exclusion {
    pub fn is_by(&self, rule: Rule) -> bool {
        matches!(self, Self::Policy(objection) if objection.rule == rule)
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(objection) => f.write_str(&objection.why),
            Self::Lacks(platforms) => {
                let platforms: Vec<&str> = platforms.iter().map(Platform::as_str).collect();
                write!(f, "it has no package for {}", platforms.join(", "))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFacts {
    /// The digest of the archive; none for an unpacked directory.
    pub zh: Option<Sha256Digest>,
    /// The hash over its files in the form that is installed, where it was needed.
    pub h1: Option<PackageHash>,
    /// The other form of the archive, where it differs: the tools accept the packed archive by no other `h1:`.
    pub archive_form: Option<PackageHash>,
    /// Whether `h1` was computed here (now or earlier), not reported.
    pub computed: bool,
    pub size: Option<u64>,
    /// True if a mirror reported the digest of the archive and the tool records such digests.
    pub tells_zh: bool,
    /// The name of its line in the checksums, or of its file.
    pub file_name: String,
}

impl PackageFacts {
    pub fn unread(zh: Option<Sha256Digest>, file_name: String) -> Self {
        Self { zh, h1: None, archive_form: None, computed: false, size: None, tells_zh: false, file_name }
    }

    /// What was computed of a whole archive.
    pub fn computed(archive: &ArchiveHashes, file_name: String) -> Self {
        Self {
            h1: Some(archive.h1.clone()),
            archive_form: archive.archive_form.clone(),
            computed: true,
            size: Some(archive.size),
            ..Self::unread(Some(archive.zh), file_name)
        }
    }

    pub fn zh_hash(&self) -> Option<PackageHash> {
        self.zh.map(PackageHash::zh)
    }

    /// The hashes that are recorded of an installed package.
    pub fn installed(&self) -> impl Iterator<Item = PackageHash> {
        self.h1.iter().cloned().chain(self.zh_hash())
    }

    /// All hashes by which it may be recorded.
    pub fn hashes(&self) -> impl Iterator<Item = PackageHash> {
        self.h1.iter().chain(&self.archive_form).cloned().chain(self.zh_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SignatureRule;

    #[test]
    fn an_optional_platform_is_no_criterion() {
        let platform = |text: &str| text.parse::<Platform>().unwrap();
        let query = Query {
            constraints: Constraints::default(),
            selection: Selection::Newest(Criteria::default()),
            platforms: ["linux_amd64", "linux_arm64"].map(platform).to_vec(),
            recorded: None,
            moved: None,
            accept_republished: false,
            drop_unattested: false,
            is_rewritable: false,
            rules: Rules { optional: [platform("linux_arm64")].into(), ..Rules::default() },
            goal: Goal::Packages,
        };
        assert_eq!(query.release_criteria(true).platforms, [platform("linux_amd64")]);
        assert!(query.release_criteria(false).platforms.is_empty());
    }

    #[test]
    fn of_two_root_modules_the_stricter_counts() {
        let locked = |h1: &str, trust_reported: bool, signature: SignatureRule| {
            let explain = Explain { h1: [h1.parse().unwrap()].into(), trust_reported, ..Explain::default() };
            let rules = Rules { signature, reported: ReportedRule::Check, ..Rules::default() };
            Query::locked(Version::new(1, 0, 0), &["linux_amd64".parse().unwrap()], rules, explain)
        };
        let mut both = locked("h1:a", true, SignatureRule::Never);
        both.join(locked("h1:b", false, SignatureRule::Always));
        let explain = both.explain().unwrap();
        assert_eq!((explain.h1.len(), explain.trust_reported, both.platforms.len()), (2, false, 1));
        assert_eq!(both.rules.signature, SignatureRule::Always);
        assert!(!both.counts_reports() && locked("h1:a", true, SignatureRule::Never).counts_reports());
        // What is written counts where packages are asked about.
        let mut packages = Query { goal: Goal::Packages, ..both };
        assert!(!packages.counts_reports());
        packages.rules.reported = ReportedRule::Write;
        assert!(packages.counts_reports());
    }
}

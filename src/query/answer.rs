//! What was found out about a release, by whom, and nothing about what follows from it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::ArchiveHashes;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::release::Release;
use crate::settings::Objection;
use crate::trust::Fingerprint;
use crate::version::Version;

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
            Self::Finding(finding, _) => Error::new(ErrorKind::Trust, finding.message),
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
    /// Platforms without a package, with the newest version that has one.
    pub missing: BTreeMap<Platform, Option<Version>>,
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
            missing: BTreeMap::new(),
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

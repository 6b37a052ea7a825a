//! Does a hash belong to a release? The one judgment of a single hash, for the gate, for explained changes and for
//! entries that are settled.
//!
//! Three-valued: what is not known never refutes. A list that a key signed has all archives of its release; contents are
//! refuted only where those of all archives are known, since two archives may have the same.
//!
//! Source: our own rule; the tools compare the packages that they install, and no others.
//!
//! What a mirror's release is worth: it has no signed list of packages, unless it keeps copies of what was signed.
//!
//! Pure. A mirror says nothing of the signer; what speaks for it is that it serves what is recorded.
//!
//! Unsigned reports of an origin about a package, checked against signed and known facts.
//!
//! Source: opentofu `internal/getproviders/package_authentication.go` compares the package that it installs; that all
//! platforms are checked against the signed checksums is our own rule, because all of them are recorded.

use std::collections::{BTreeMap, BTreeSet};

use super::{Archives, ListedLine, Release};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes, Sha256Digest};
use crate::platform::Platform;
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::version::Version;

/// What is known of a hash by what is known of the release that it is recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashStatus {
    /// It belongs to the release.
    Proven(Ground),
    /// What a key signed leaves no room for it.
    Contradicted,
    /// The same, but that was seen in an earlier run: the release may have grown since.
    Unlisted,
    /// The source answered in this run, and has no package with it.
    Unattested,
    /// It may or may not belong to the release.
    Unknown,
    /// No package can have it.
    Malformed,
}

/// Why a hash is accepted as one of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A key signed the archive.
    Signature,
    /// It is the other hash of an archive that was recorded for the release before.
    Record,
    /// The statement of the source of the release.
    Report,
}

/// A status with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashJudgment {
    /// What is known of the hash.
    pub status: HashStatus,
    /// The platforms of its packages, where that is known.
    pub platforms: BTreeSet<Platform>,
    /// All evidence for it.
    pub evidence: Vec<Evidence>,
}

/// All that counts for the hashes of one release.
#[derive(Debug, Clone, Copy)]
pub struct HashJudge<'a> {
    release: Option<&'a Release>,
    archives: &'a Archives,
    recorded: Option<&'a PackageHashes>,
}

impl HashStatus {
    /// True if no package of the release has the hash, as far as could be found out in this run.
    pub fn is_refuted(self) -> bool {
        matches!(self, Self::Contradicted | Self::Unattested)
    }

    /// True if it could not be found out.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Unknown | Self::Unlisted)
    }
}

impl From<HashStatus> for HashJudgment {
    fn from(status: HashStatus) -> Self {
        Self { status, platforms: BTreeSet::new(), evidence: Vec::new() }
    }
}

impl<'a> HashJudge<'a> {
    /// Judges by a release alone; by nothing where there is none.
    pub fn of(release: Option<&'a Release>) -> Self {
        static NONE: Archives = Archives::new();
        Self { release, archives: &NONE, recorded: None }
    }

    /// Counts, too, archives that were hashed here, and what was recorded for the release before.
    #[must_use]
    pub fn against(self, archives: &'a Archives, recorded: &'a PackageHashes) -> Self {
        Self { archives, recorded: Some(recorded), ..self }
    }

    /// Judges one hash.
    pub fn judge(&self, hash: &PackageHash) -> HashJudgment {
        match hash.scheme() {
            // No tool knows such a hash, so no package can be checked against it.
            HashScheme::Other => HashStatus::Malformed.into(),
            _ if !hash.is_well_formed() => HashStatus::Malformed.into(),
            HashScheme::Zh => self.archive(hash),
            HashScheme::H1 => self.contents(hash),
        }
    }

    fn archive(&self, zh: &PackageHash) -> HashJudgment {
        let release = self.release;
        let platforms = || release.into_iter().flat_map(|release| release.platforms_of(zh)).cloned().collect();
        let listed = release.filter(|release| release.lists(zh)).map(list);
        let recorded = || {
            let of_record = self.archives.h1_of(zh).is_some_and(|h1| self.is_recorded(h1));
            of_record.then_some((Ground::Record, Evidence::Computed))
        };
        let ground = match listed {
            Some((Ground::Signature, evidence)) => Some((Ground::Signature, evidence)),
            None if release.is_some_and(|release| release.key().is_some()) => None,
            weaker => recorded().or(weaker),
        };
        match ground {
            Some((ground, evidence)) => {
                HashJudgment { status: HashStatus::Proven(ground), platforms: platforms(), evidence: vec![evidence] }
            }
            None => self.ruled_out().into(),
        }
    }

    fn contents(&self, h1: &PackageHash) -> HashJudgment {
        let attested = self.release.and_then(|release| release.h1.get(h1));
        let archives = self.archives.with(h1);
        let computed = attested.filter(|attested| attested.evidence == Evidence::Computed);
        let own = self.release.filter(|release| computed.is_some() || archives.iter().any(|zh| release.lists(zh)));
        let recorded = archives.iter().find(|zh| self.is_recorded(zh));
        // A mirror may report an unpacked package, which is no archive.
        let by_mirror = attested.is_some_and(|attested| attested.evidence == Evidence::ReportedByMirror);
        let platforms = || {
            let named = archives.iter().flat_map(|zh| self.release.into_iter().flat_map(|it| it.platforms_of(zh)));
            named.chain(attested.into_iter().flat_map(|attested| attested.platforms.keys())).cloned().collect()
        };
        let (ground, evidence) = match (own.map(list), recorded) {
            (Some((Ground::Signature, by)), _) => (Ground::Signature, vec![by, Evidence::Computed]),
            (_, Some(_)) => (Ground::Record, vec![Evidence::Computed]),
            (Some((ground, by)), None) => (ground, vec![by, Evidence::Computed]),
            (None, None) if self.knows_contents() && !by_mirror => return self.ruled_out().into(),
            (None, None) => match attested {
                Some(attested) => (Ground::Report, vec![attested.evidence.clone()]),
                None => return self.unreported().into(),
            },
        };
        HashJudgment { status: HashStatus::Proven(ground), platforms: platforms(), evidence }
    }

    /// The status of a hash that the release does not have.
    fn ruled_out(&self) -> HashStatus {
        match self.release.map(|release| (&release.signer, release.current)) {
            Some((Some(Signer::Key(_)), true)) => HashStatus::Contradicted,
            Some((Some(Signer::Key(_)), false)) => HashStatus::Unlisted,
            Some((Some(Signer::Unsigned), true)) => HashStatus::Unattested,
            // The packages of a mirror prove nothing about the others.
            Some((Some(Signer::Unsigned), false) | (None, _)) | None => HashStatus::Unknown,
        }
    }

    /// The status of contents that were neither computed nor reported.
    fn unreported(&self) -> HashStatus {
        let all_told = self.release.is_some_and(|release| release.complete && release.current);
        if all_told { HashStatus::Unattested } else { HashStatus::Unknown }
    }

    /// True if the contents of all packages of the release are known, and each was computed here.
    pub(super) fn knows_contents(&self) -> bool {
        let Some(release) = self.release.filter(|release| release.complete) else { return false };
        let is_computed = |platform: &Platform| release.computed().any(|(_, of)| of == Some(platform));
        release.archives().next().is_some()
            && release.lines.values().all(|line| match line {
                ListedLine::Archive(platforms) => !platforms.is_empty() && platforms.iter().all(is_computed),
                ListedLine::Other => true,
            })
    }

    fn is_recorded(&self, hash: &PackageHash) -> bool {
        self.recorded.is_some_and(|recorded| recorded.contains(hash))
    }
}

fn list(release: &Release) -> (Ground, Evidence) {
    match &release.signer {
        Some(Signer::Key(key)) => (Ground::Signature, Evidence::Signed(key.clone())),
        Some(Signer::Unsigned) => (Ground::Report, Evidence::ReportedByOrigin),
        None => (Ground::Report, Evidence::ReportedByMirror),
    }
}

/// True if the release is not signed: it comes from a mirror without copies of the signature.
pub fn is_mirror_only(release: &Release) -> bool {
    release.signer.is_none()
}

/// True if nothing but the word of a mirror binds a hash to the release: a signed list names no package that is a directory.
pub fn is_mirror_report(release: &Release, hash: &PackageHash) -> bool {
    let reported = release.h1.get(hash).is_some_and(|attested| attested.evidence == Evidence::ReportedByMirror);
    is_mirror_only(release) || reported
}

/// The finding where a mirror has packages of a recorded release, but the lock file records none.
pub fn differs(release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    differs_at("the mirror", release, recorded)
}

/// The same where several mirrors have packages of the release.
pub fn one_differs(release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    differs_at("one of the mirrors", release, recorded)
}

fn differs_at(mirror: &str, release: &Release, recorded: &PackageHashes) -> Option<Finding> {
    let pins = [HashScheme::H1, HashScheme::Zh].iter().any(|scheme| recorded.of(*scheme).next().is_some());
    if !is_mirror_only(release) || !pins || recorded.iter().any(|hash| release.owns(hash)) {
        return None;
    }
    let (served, attested) = release.h1.iter().next()?;
    let platform = attested.platforms.keys().next().map(|platform| format!(" for {platform}")).unwrap_or_default();
    let message = format!(
        "{mirror} serves no recorded package of {} {}: it serves {served}{platform}, not {} recorded",
        release.address,
        release.version,
        match recorded.len() {
            1 => "the hash that is".to_owned(),
            count => format!("one of the {count} hashes that are"),
        },
    );
    Some(Finding::new(Rule::MirrorDiffers, message).about(&release.address).of_version(&release.version))
}

/// The finding where the settings themselves say that releases must be signed.
pub fn unsigned(release: &Release) -> Option<Finding> {
    let message = format!(
        "signature = \"always\" is stated for {}, and the mirror has no copy of the signature of {} {}",
        release.address.host(),
        release.address,
        release.version
    );
    let finding = Finding::new(Rule::MirrorOnly, message).about(&release.address).of_version(&release.version);
    is_mirror_only(release).then_some(finding.at_level(Level::Deny))
}

/// The finding where a mirror has another archive for some platforms than the signed list of the same release names.
pub fn unlisted(release: &Release, platforms: &[&Platform], own: &[PackageHash]) -> Option<Finding> {
    let archive = own.iter().find(|hash| hash.scheme() == HashScheme::Zh)?;
    let named: Vec<&Platform> = release.platforms_of(archive).collect();
    let is_other = !named.is_empty() && platforms.iter().any(|platform| !named.contains(platform));
    let list = |platforms: &[&Platform]| platforms.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
    let wrong = match (release.lists(archive), is_other) {
        (false, _) => "which the checksums of the release do not list".to_owned(),
        (true, true) => format!("which the checksums of the release list for {}", list(&named)),
        (true, false) => return None,
    };
    let served = if platforms.is_empty() { String::new() } else { format!(" for {}", list(platforms)) };
    let message = format!(
        "the mirror has an archive of {} {}{served} with the checksum {archive}, {wrong}",
        release.address, release.version,
    );
    Some(Finding::new(Rule::WrongChecksum, message).about(&release.address))
}

/// What an origin reports about one package without signing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// Hashes of known schemes.
    pub hashes: Vec<PackageHash>,
    /// The size of the archive in bytes, as served: may be nonsense.
    pub size: i64,
}

/// By platform.
pub type ReportedPackages = BTreeMap<Platform, Reported>;

/// What is known of the archive that a report is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownArchive {
    /// Its digest by the signed checksums; `None` if they name no archive for the platform.
    pub zh: Option<Sha256Digest>,
    /// Its `h1:` and its size in bytes, where both were computed here.
    pub computed: Option<(PackageHash, u64)>,
}

impl Reported {
    /// The `h1:` hashes.
    pub fn h1(&self) -> impl Iterator<Item = &PackageHash> {
        self.hashes.iter().filter(|hash| hash.scheme() == HashScheme::H1)
    }

    /// How the report contradicts signed or known facts; `None` if it does not.
    pub fn contradiction(&self, addr: &ProviderAddr, platform: &Platform, known: &KnownArchive) -> Option<Finding> {
        let why = self.why(platform, known)?;
        let message = format!("the registry's packages report about {addr} {why}");
        Some(Finding::new(Rule::PackagesDiffer, message).about(addr))
    }

    fn why(&self, platform: &Platform, known: &KnownArchive) -> Option<String> {
        let Some(zh) = known.zh.map(PackageHash::zh) else {
            return Some(format!("has an entry for {platform}, for which the checksums name no archive"));
        };
        if let Some(malformed) = self.hashes.iter().find(|hash| !hash.is_well_formed()) {
            return Some(format!("gives {malformed} for {platform}, which is not written as a hash of its scheme"));
        }
        if self.size <= 0 {
            return Some(format!("gives {} bytes as the size for {platform}", self.size));
        }
        let mut zhs = self.hashes.iter().filter(|hash| hash.scheme() == HashScheme::Zh).peekable();
        if zhs.peek().is_none() {
            return Some(format!("has no sha256sum in the package entry for {platform}"));
        }
        if let Some(other) = zhs.find(|hash| **hash != zh) {
            return Some(format!("gives {other} for {platform}, where the checksums give {zh}"));
        }
        let (h1, size) = known.computed.as_ref()?;
        if let Some(other) = self.h1().find(|hash| *hash != h1) {
            return Some(format!("gives {other} for {platform}, but the archive has {h1}"));
        }
        let is_size = u64::try_from(self.size).is_ok_and(|reported| reported == *size);
        (!is_size).then(|| format!("gives {} bytes as the size for {platform}, but the archive has {size}", self.size))
    }
}

/// The finding where a registry that reports about packages has no report about a wanted one.
pub fn unreported(addr: &ProviderAddr, platform: &Platform) -> Finding {
    let message = format!("the registry's packages report about {addr} has no package entry for {platform}");
    Finding::new(Rule::PackagesDiffer, message).about(addr)
}

/// The name that the archive of a package has by convention.
pub fn conventional_name(addr: &ProviderAddr, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", addr.type_name())
}

/// What is wrong with the name of a package's line: another provider, version or platform, or no convention at all.
pub fn unusual_name(addr: &ProviderAddr, version: &Version, platform: &Platform, name: &str) -> Option<Finding> {
    if name == conventional_name(addr, version, platform) {
        return None;
    }
    let names_another = name.starts_with("terraform-provider-")
        && std::path::Path::new(name).extension().is_some_and(|extension| extension == "zip")
        && name.split('_').count() == 4;
    let (rule, message) = if names_another {
        let message = format!("the signed list names the package of {addr} {version} for {platform} {name:?}");
        (Rule::UnboundSignature, message)
    } else {
        let message = format!("the package of {addr} {version} for {platform} has the unusual name {name:?}");
        (Rule::UnusualPackageName, message)
    };
    Some(Finding::new(rule, message).about(addr))
}

#[cfg(test)]
mod hashes_tests;

#[cfg(test)]
mod mirrors_tests;

#[cfg(test)]
mod reported_tests;

#[cfg(test)]
mod naming_tests;

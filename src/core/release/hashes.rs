//! Does a hash belong to a release? The one judgment of a single hash, for the gate, for explained changes and for
//! entries that are settled.
//!
//! Three-valued: what is not known never refutes. A list that a key signed has all archives of its release; contents are
//! refuted only where those of all archives are known, since two archives may have the same.
//!
//! Source: our own rule; the tools compare the packages that they install, and no others.

use std::collections::BTreeSet;

use super::Archives;
use super::{ListedLine, Release};
use crate::evidence::Evidence;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::platform::Platform;
use crate::trust::pins::Signer;

/// What is known of a hash by what is known of the release that it is recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
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
    pub status: Status,
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

impl Status {
    /// True if no package of the release has the hash, as far as could be found out in this run.
    pub fn is_refuted(self) -> bool {
        matches!(self, Self::Contradicted | Self::Unattested)
    }

    /// True if it could not be found out.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Unknown | Self::Unlisted)
    }
}

impl From<Status> for HashJudgment {
    fn from(status: Status) -> Self {
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
            HashScheme::Other => Status::Malformed.into(),
            _ if !hash.is_well_formed() => Status::Malformed.into(),
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
                HashJudgment { status: Status::Proven(ground), platforms: platforms(), evidence: vec![evidence] }
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
        HashJudgment { status: Status::Proven(ground), platforms: platforms(), evidence }
    }

    /// The status of a hash that the release does not have.
    fn ruled_out(&self) -> Status {
        match self.release.map(|release| (&release.signer, release.current)) {
            Some((Some(Signer::Key(_)), true)) => Status::Contradicted,
            Some((Some(Signer::Key(_)), false)) => Status::Unlisted,
            Some((Some(Signer::Unsigned), true)) => Status::Unattested,
            // The packages of a mirror prove nothing about the others.
            Some((Some(Signer::Unsigned), false) | (None, _)) | None => Status::Unknown,
        }
    }

    /// The status of contents that were neither computed nor reported.
    fn unreported(&self) -> Status {
        let all_told = self.release.is_some_and(|release| release.complete && release.current);
        if all_told { Status::Unattested } else { Status::Unknown }
    }

    /// True if the contents of all packages of the release are known, and each was computed here.
    fn knows_contents(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::hash::Sha256Digest;
    use crate::release::Attestation;
    use crate::version::Version;

    const LINUX: u8 = 1;
    const DARWIN: u8 = 2;
    const MANIFEST: u8 = 9;
    const ELSEWHERE: u8 = 50;

    fn digest(byte: u8) -> Sha256Digest {
        Sha256Digest::from_bytes([byte; 32])
    }

    fn zh(byte: u8) -> PackageHash {
        PackageHash::zh(digest(byte))
    }

    /// The contents of the archive with this number.
    fn h1(byte: u8) -> PackageHash {
        PackageHash::h1(digest(byte))
    }

    /// A release for linux and darwin with a manifest, of whose contents nothing is known.
    fn release(signer: Option<&str>) -> Release {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let archive = |platform: &str| ListedLine::archive([platform.parse().unwrap()]);
        let lines = [
            (digest(LINUX), archive("linux_amd64")),
            (digest(DARWIN), archive("darwin_arm64")),
            (digest(MANIFEST), ListedLine::Other),
        ];
        Release {
            signer: signer.map(|signer| signer.parse().unwrap()),
            lines: lines.into(),
            ..Release::new(addr, Version::new(1, 0, 0))
        }
    }

    fn signed() -> Release {
        release(Some(&"A".repeat(40)))
    }

    fn unsigned() -> Release {
        release(Some("unsigned"))
    }

    fn attesting(mut release: Release, platform: &str, h1: PackageHash, evidence: Evidence) -> Release {
        release.attest(h1, Attestation::new(Some(platform.parse().unwrap()), evidence));
        release
    }

    fn computed(release: Release, numbers: &[u8]) -> Release {
        let release = Release { complete: numbers.len() == 2, ..release };
        let platform = |number: u8| if number == LINUX { "linux_amd64" } else { "darwin_arm64" };
        numbers.iter().fold(release, |it, number| attesting(it, platform(*number), h1(*number), Evidence::Computed))
    }

    fn reporting(release: Release, contents: &PackageHash) -> Release {
        attesting(release, "linux_amd64", contents.clone(), Evidence::ReportedByOrigin)
    }

    fn earlier(release: Release) -> Release {
        Release { current: false, ..release }
    }

    fn status(release: &Release, hash: &PackageHash) -> Status {
        HashJudge::of(Some(release)).judge(hash).status
    }

    /// The status next to archives that were hashed here and what was recorded.
    fn against(release: &Release, archives: &[u8], recorded: &[PackageHash], hash: &PackageHash) -> Status {
        let mut known = Archives::new();
        for number in archives {
            known.computed(zh(*number), h1(*number));
        }
        let recorded = recorded.iter().cloned().collect();
        HashJudge::of(Some(release)).against(&known, &recorded).judge(hash).status
    }

    #[test]
    fn a_signed_archive() {
        assert_eq!(status(&signed(), &zh(LINUX)), Status::Proven(Ground::Signature));
        let judgment = HashJudge::of(Some(&signed())).judge(&zh(LINUX));
        assert_eq!(judgment.platforms, ["linux_amd64".parse().unwrap()].into());
        assert_eq!(judgment.evidence, [Evidence::Signed("A".repeat(40).parse().unwrap())]);
    }

    #[test]
    fn a_signed_line_that_names_no_archive() {
        assert_eq!(status(&signed(), &zh(MANIFEST)), Status::Proven(Ground::Signature));
    }

    #[test]
    fn an_archive_that_is_not_in_the_signed_list() {
        assert_eq!(status(&signed(), &zh(ELSEWHERE)), Status::Contradicted);
    }

    #[test]
    fn an_archive_that_an_earlier_signed_list_lacked() {
        assert_eq!(status(&earlier(signed()), &zh(ELSEWHERE)), Status::Unlisted);
        assert!(Status::Unlisted.is_open() && !Status::Unlisted.is_refuted());
    }

    #[test]
    fn an_archive_in_an_unsigned_list() {
        assert_eq!(status(&unsigned(), &zh(LINUX)), Status::Proven(Ground::Report));
    }

    #[test]
    fn an_archive_that_an_unsigned_list_lacks() {
        assert_eq!(status(&unsigned(), &zh(ELSEWHERE)), Status::Unattested);
        assert_eq!(status(&earlier(unsigned()), &zh(ELSEWHERE)), Status::Unknown);
    }

    #[test]
    fn an_archive_that_a_mirror_does_not_have() {
        assert_eq!(status(&release(None), &zh(ELSEWHERE)), Status::Unknown);
    }

    #[test]
    fn contents_of_a_signed_archive_that_was_hashed_here() {
        assert_eq!(status(&computed(signed(), &[LINUX]), &h1(LINUX)), Status::Proven(Ground::Signature));
        assert_eq!(against(&signed(), &[LINUX], &[], &h1(LINUX)), Status::Proven(Ground::Signature));
    }

    #[test]
    fn contents_of_an_archive_of_an_unsigned_list() {
        assert_eq!(status(&computed(unsigned(), &[LINUX]), &h1(LINUX)), Status::Proven(Ground::Report));
    }

    #[test]
    fn contents_that_only_the_registry_reports() {
        let contents = h1(LINUX);
        assert_eq!(status(&reporting(signed(), &contents), &contents), Status::Proven(Ground::Report));
    }

    #[test]
    fn contents_that_the_registry_reports_and_no_archive_has() {
        let reporting = reporting(computed(signed(), &[LINUX, DARWIN]), &h1(ELSEWHERE));
        assert_eq!(status(&reporting, &h1(ELSEWHERE)), Status::Contradicted);
    }

    #[test]
    fn contents_that_are_not_known_while_an_archive_was_not_looked_at() {
        assert_eq!(status(&computed(signed(), &[LINUX]), &h1(ELSEWHERE)), Status::Unknown);
    }

    #[test]
    fn contents_that_no_archive_has() {
        let all = computed(signed(), &[LINUX, DARWIN]);
        assert_eq!(status(&all, &h1(ELSEWHERE)), Status::Contradicted);
        assert_eq!(status(&earlier(all), &h1(ELSEWHERE)), Status::Unlisted);
        assert_eq!(status(&computed(unsigned(), &[LINUX, DARWIN]), &h1(ELSEWHERE)), Status::Unattested);
    }

    #[test]
    fn contents_if_the_checksums_name_no_archives() {
        let own_names = Release { complete: false, ..computed(signed(), &[LINUX, DARWIN]) };
        assert_eq!(status(&own_names, &h1(ELSEWHERE)), Status::Unknown);
    }

    #[test]
    fn contents_that_are_reported_for_no_platform() {
        let reported = Release { complete: true, ..reporting(signed(), &h1(LINUX)) };
        assert_eq!(status(&reported, &h1(ELSEWHERE)), Status::Unattested);
    }

    #[test]
    fn contents_of_another_archive_may_be_those_of_this_one_too() {
        assert_eq!(against(&signed(), &[ELSEWHERE], &[], &h1(ELSEWHERE)), Status::Unknown);
        let all = computed(signed(), &[LINUX, DARWIN]);
        assert_eq!(against(&all, &[ELSEWHERE], &[], &h1(ELSEWHERE)), Status::Contradicted);
    }

    #[test]
    fn the_other_hash_of_a_recorded_archive() {
        let nothing = Release { lines: [].into(), ..release(None) };
        assert_eq!(against(&nothing, &[LINUX], &[zh(LINUX)], &h1(LINUX)), Status::Proven(Ground::Record));
        assert_eq!(against(&nothing, &[LINUX], &[h1(LINUX)], &zh(LINUX)), Status::Proven(Ground::Record));
        assert_eq!(against(&nothing, &[LINUX], &[zh(DARWIN)], &h1(LINUX)), Status::Unknown);
    }

    #[test]
    fn the_other_hash_of_a_recorded_archive_that_the_signed_list_lacks() {
        assert_eq!(against(&signed(), &[ELSEWHERE], &[h1(ELSEWHERE)], &zh(ELSEWHERE)), Status::Contradicted);
    }

    #[test]
    fn a_release_of_which_nothing_is_known() {
        assert_eq!(HashJudge::of(None).judge(&zh(LINUX)).status, Status::Unknown);
        assert_eq!(HashJudge::of(None).judge(&h1(LINUX)).status, Status::Unknown);
    }

    #[test]
    fn what_no_package_can_have() {
        for text in ["zh:AB", "h1:nonsense", "h9:whatever"] {
            assert_eq!(status(&signed(), &text.parse().unwrap()), Status::Malformed, "{text}");
        }
    }
}

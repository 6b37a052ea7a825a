//! One hash against a release.

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

fn status(release: &Release, hash: &PackageHash) -> HashStatus {
    HashJudge::of(Some(release)).judge(hash).status
}

/// The status next to archives that were hashed here and what was recorded.
fn against(release: &Release, archives: &[u8], recorded: &[PackageHash], hash: &PackageHash) -> HashStatus {
    let mut known = Archives::new();
    for number in archives {
        known.computed(zh(*number), h1(*number));
    }
    let recorded = recorded.iter().cloned().collect();
    HashJudge::of(Some(release)).against(&known, &recorded).judge(hash).status
}

#[test]
fn a_signed_archive() {
    assert_eq!(status(&signed(), &zh(LINUX)), HashStatus::Proven(Ground::Signature));
    let judgment = HashJudge::of(Some(&signed())).judge(&zh(LINUX));
    assert_eq!(judgment.platforms, ["linux_amd64".parse().unwrap()].into());
    assert_eq!(judgment.evidence, [Evidence::Signed("A".repeat(40).parse().unwrap())]);
}

#[test]
fn a_signed_line_that_names_no_archive() {
    assert_eq!(status(&signed(), &zh(MANIFEST)), HashStatus::Proven(Ground::Signature));
}

#[test]
fn an_archive_that_is_not_in_the_signed_list() {
    assert_eq!(status(&signed(), &zh(ELSEWHERE)), HashStatus::Contradicted);
}

#[test]
fn an_archive_that_an_earlier_signed_list_lacked() {
    assert_eq!(status(&earlier(signed()), &zh(ELSEWHERE)), HashStatus::Unlisted);
    assert!(HashStatus::Unlisted.is_open() && !HashStatus::Unlisted.is_refuted());
}

#[test]
fn an_archive_in_an_unsigned_list() {
    assert_eq!(status(&unsigned(), &zh(LINUX)), HashStatus::Proven(Ground::Report));
}

#[test]
fn an_archive_that_an_unsigned_list_lacks() {
    assert_eq!(status(&unsigned(), &zh(ELSEWHERE)), HashStatus::Unattested);
    assert_eq!(status(&earlier(unsigned()), &zh(ELSEWHERE)), HashStatus::Unknown);
}

#[test]
fn an_archive_that_a_mirror_does_not_have() {
    assert_eq!(status(&release(None), &zh(ELSEWHERE)), HashStatus::Unknown);
}

#[test]
fn contents_of_a_signed_archive_that_was_hashed_here() {
    assert_eq!(status(&computed(signed(), &[LINUX]), &h1(LINUX)), HashStatus::Proven(Ground::Signature));
    assert_eq!(against(&signed(), &[LINUX], &[], &h1(LINUX)), HashStatus::Proven(Ground::Signature));
}

#[test]
fn contents_of_an_archive_of_an_unsigned_list() {
    assert_eq!(status(&computed(unsigned(), &[LINUX]), &h1(LINUX)), HashStatus::Proven(Ground::Report));
}

#[test]
fn contents_that_only_the_registry_reports() {
    let contents = h1(LINUX);
    assert_eq!(status(&reporting(signed(), &contents), &contents), HashStatus::Proven(Ground::Report));
}

#[test]
fn contents_that_the_registry_reports_and_no_archive_has() {
    let reporting = reporting(computed(signed(), &[LINUX, DARWIN]), &h1(ELSEWHERE));
    assert_eq!(status(&reporting, &h1(ELSEWHERE)), HashStatus::Contradicted);
}

#[test]
fn contents_that_are_not_known_while_an_archive_was_not_looked_at() {
    assert_eq!(status(&computed(signed(), &[LINUX]), &h1(ELSEWHERE)), HashStatus::Unknown);
}

#[test]
fn contents_that_no_archive_has() {
    let all = computed(signed(), &[LINUX, DARWIN]);
    assert_eq!(status(&all, &h1(ELSEWHERE)), HashStatus::Contradicted);
    assert_eq!(status(&earlier(all), &h1(ELSEWHERE)), HashStatus::Unlisted);
    assert_eq!(status(&computed(unsigned(), &[LINUX, DARWIN]), &h1(ELSEWHERE)), HashStatus::Unattested);
}

#[test]
fn contents_if_the_checksums_name_no_archives() {
    let own_names = Release { complete: false, ..computed(signed(), &[LINUX, DARWIN]) };
    assert_eq!(status(&own_names, &h1(ELSEWHERE)), HashStatus::Unknown);
}

#[test]
fn contents_that_are_reported_for_no_platform() {
    let reported = Release { complete: true, ..reporting(signed(), &h1(LINUX)) };
    assert_eq!(status(&reported, &h1(ELSEWHERE)), HashStatus::Unattested);
}

#[test]
fn contents_of_another_archive_may_be_those_of_this_one_too() {
    assert_eq!(against(&signed(), &[ELSEWHERE], &[], &h1(ELSEWHERE)), HashStatus::Unknown);
    let all = computed(signed(), &[LINUX, DARWIN]);
    assert_eq!(against(&all, &[ELSEWHERE], &[], &h1(ELSEWHERE)), HashStatus::Contradicted);
}

#[test]
fn the_other_hash_of_a_recorded_archive() {
    let nothing = Release { lines: [].into(), ..release(None) };
    assert_eq!(against(&nothing, &[LINUX], &[zh(LINUX)], &h1(LINUX)), HashStatus::Proven(Ground::Record));
    assert_eq!(against(&nothing, &[LINUX], &[h1(LINUX)], &zh(LINUX)), HashStatus::Proven(Ground::Record));
    assert_eq!(against(&nothing, &[LINUX], &[zh(DARWIN)], &h1(LINUX)), HashStatus::Unknown);
}

#[test]
fn the_other_hash_of_a_recorded_archive_that_the_signed_list_lacks() {
    assert_eq!(against(&signed(), &[ELSEWHERE], &[h1(ELSEWHERE)], &zh(ELSEWHERE)), HashStatus::Contradicted);
}

#[test]
fn a_release_of_which_nothing_is_known() {
    assert_eq!(HashJudge::of(None).judge(&zh(LINUX)).status, HashStatus::Unknown);
    assert_eq!(HashJudge::of(None).judge(&h1(LINUX)).status, HashStatus::Unknown);
}

#[test]
fn what_no_package_can_have() {
    for text in ["zh:AB", "h1:nonsense", "h9:whatever"] {
        assert_eq!(status(&signed(), &text.parse().unwrap()), HashStatus::Malformed, "{text}");
    }
}

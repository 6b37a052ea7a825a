//! Reports of an origin against what is signed.

use super::*;
use crate::dialect::Dialect;

fn digest(byte: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([byte; 32])
}

fn zh(byte: u8) -> PackageHash {
    PackageHash::zh(digest(byte))
}

fn h1(byte: u8) -> PackageHash {
    PackageHash::h1(digest(byte))
}

/// What is said against a report about an archive with digest 1, of 100 bytes with contents 11 where that is known.
fn against(hashes: &[PackageHash], size: i64, computed: bool) -> Option<String> {
    let addr = ProviderAddr::parse("acme/widget", Dialect::OpenTofu).unwrap();
    let known = KnownArchive { zh: Some(digest(1)), computed: computed.then(|| (h1(11), 100)) };
    let reported = Reported { hashes: hashes.to_vec(), size };
    let finding = reported.contradiction(&addr, &"linux_amd64".parse().unwrap(), &known)?;
    assert_eq!(finding.rule, Rule::PackagesDiffer);
    Some(finding.message().to_owned())
}

#[test]
fn a_true_report_is_not_contradicted() {
    assert_eq!(against(&[zh(1), h1(11)], 100, true), None);
    assert_eq!(against(&[zh(1)], 100, true), None);
}

#[test]
fn what_is_not_known_contradicts_nothing() {
    assert_eq!(against(&[zh(1), h1(12)], 99, false), None);
}

#[test]
fn another_checksum() {
    assert!(against(&[zh(2)], 100, false).unwrap().contains("where the checksums give zh:0101"));
    assert!(against(&[zh(1), zh(2)], 100, false).unwrap().contains("gives zh:0202"));
}

#[test]
fn no_checksum() {
    assert!(against(&[h1(11)], 100, false).unwrap().contains("no sha256sum"));
}

#[test]
fn a_size_that_is_none() {
    assert!(against(&[zh(1)], 0, false).unwrap().contains("gives 0 bytes"));
}

#[test]
fn another_size_than_the_archive_has() {
    assert!(against(&[zh(1)], 101, true).unwrap().contains("but the archive has 100"));
}

#[test]
fn contents_that_the_index_refutes() {
    assert!(against(&[zh(1), h1(12)], 100, true).unwrap().contains("but the archive has h1:"));
}

#[test]
fn a_malformed_hash() {
    for text in ["h1:zz", "zh:0A"] {
        let refusal = against(&[zh(1), text.parse().unwrap()], 100, false).unwrap();
        assert!(refusal.contains("not written as a hash"), "{refusal}");
    }
}

#[test]
fn a_platform_that_the_checksums_do_not_name() {
    let addr = ProviderAddr::parse("acme/widget", Dialect::OpenTofu).unwrap();
    let reported = Reported { hashes: vec![zh(1)], size: 100 };
    let finding = reported.contradiction(&addr, &"plan9_arm".parse().unwrap(), &KnownArchive::default()).unwrap();
    assert!(finding.message().ends_with("for plan9_arm, for which the checksums name no archive"));
}

//! Releases of mirrors.

use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::Sha256Digest;
use crate::release::{Attestation, ListedLine};
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::version::Version;

fn digest(byte: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([byte; 32])
}

fn hash(text: &str) -> PackageHash {
    let byte = text[2..].parse().unwrap();
    if text.starts_with("zh") { PackageHash::zh(digest(byte)) } else { PackageHash::h1(digest(byte)) }
}

/// A release of which a mirror served these packages: archive and contents of one number.
fn served(packages: &[u8]) -> Release {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let attested = || Attestation::new(Some("linux_amd64".parse().unwrap()), Evidence::Computed);
    Release {
        lines: packages.iter().map(|byte| (digest(*byte), ListedLine::archive(None))).collect(),
        h1: packages.iter().map(|byte| (PackageHash::h1(digest(*byte)), attested())).collect(),
        ..Release::new(addr, Version::new(1, 0, 0))
    }
}

fn rule(recorded: &[&str], packages: &[u8]) -> Option<Rule> {
    let recorded = recorded.iter().map(|text| hash(text)).collect();
    differs(&served(packages), &recorded).map(|finding| finding.rule)
}

#[test]
fn one_recorded_package_identifies_the_release() {
    assert_eq!(rule(&["h11"], &[1, 2]), None);
    assert_eq!(rule(&["zh1"], &[1, 2]), None);
    assert_eq!(rule(&["zh9", "zh2"], &[1, 2]), None);
}

#[test]
fn packages_without_a_recorded_hash_are_another_release() {
    assert_eq!(rule(&["h19"], &[1, 2]), Some(Rule::MirrorDiffers));
    assert_eq!(rule(&["zh9", "h19"], &[1]), Some(Rule::MirrorDiffers));
}

#[test]
fn without_hashes_nothing_is_contradicted() {
    assert_eq!(rule(&[], &[1]), None);
    assert_eq!(rule(&["h19"], &[]), None);
}

#[test]
fn signed_releases_are_judged_by_their_list() {
    let signed = Release { signer: Some(Signer::Unsigned), ..served(&[1]) };
    assert_eq!(differs(&signed, &[hash("h19")].into_iter().collect()), None);
    assert_eq!(unsigned(&signed), None);
    assert_eq!(unsigned(&served(&[1])).unwrap().level(), Level::Deny);
    assert_eq!(unlisted(&signed, &[], &[hash("zh1")]), None);
    assert_eq!(unlisted(&signed, &[], &[hash("zh2"), hash("h11")]).unwrap().rule, Rule::WrongChecksum);
    let [linux, darwin] = ["linux_amd64", "darwin_arm64"].map(|text| text.parse::<Platform>().unwrap());
    let named = Release { lines: [(digest(1), ListedLine::archive(Some(linux.clone())))].into(), ..signed };
    assert_eq!(unlisted(&named, &[&linux], &[hash("zh1")]), None);
    let of_another = unlisted(&named, &[&darwin], &[hash("zh1")]).unwrap();
    assert!(
        of_another.message().ends_with("which the checksums of the release list for linux_amd64"),
        "{of_another:?}"
    );
    let universal =
        Release { lines: [(digest(1), ListedLine::archive([linux.clone(), darwin.clone()]))].into(), ..named };
    assert_eq!(unlisted(&universal, &[&darwin], &[hash("zh1")]), None);
    assert_eq!(unlisted(&universal, &[&darwin, &linux], &[hash("zh1")]), None);
}

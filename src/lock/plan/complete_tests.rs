use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::Sha256Digest;
use crate::lockfile::LockEntry;
use crate::query::select::Rules;
use crate::release::{Attestation, ListedLine};
use crate::version::{Constraints, Version};

fn digest(byte: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([byte; 32])
}

fn zh(byte: u8) -> PackageHash {
    PackageHash::zh(digest(byte))
}

fn h1(byte: u8) -> PackageHash {
    PackageHash::h1(digest(byte))
}

/// A release for linux, whose archive was hashed here, and with another file.
fn known() -> Release {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let lines = [(digest(1), archive("linux_amd64")), (digest(2), ListedLine::Other)];
    let linux = attested("linux_amd64", Evidence::Computed);
    Release {
        lines: lines.into(),
        listed: vec![digest(1), digest(2)],
        h1: [(h1(1), linux)].into(),
        ..Release::new(addr, Version::new(1, 0, 0))
    }
}

fn archive(platform: &str) -> ListedLine {
    ListedLine::archive(Some(platform.parse().unwrap()))
}

fn attested(platform: &str, evidence: Evidence) -> Attestation {
    Attestation::new(Some(platform.parse().unwrap()), evidence)
}

/// The same with an archive for darwin in the place of the other file.
fn with_darwin() -> Release {
    Release { lines: [(digest(1), archive("linux_amd64")), (digest(2), archive("darwin_arm64"))].into(), ..known() }
}

fn step(hashes: &[PackageHash], platforms: &[&str]) -> Query {
    let version = Version::new(1, 0, 0);
    let entry = LockEntry {
        version: version.clone(),
        constraints: Constraints::default(),
        hashes: hashes.iter().cloned().collect(),
    };
    Query {
        constraints: Constraints::default(),
        selection: Selection::Keep(version),
        platforms: platforms.iter().map(|platform| platform.parse().unwrap()).collect(),
        recorded: Some(entry),
        moved: None,
        accept_republished: false,
        drop_unattested: false,
        is_rewritable: true,
        rules: Rules::default(),
        goal: crate::query::question::Goal::Packages,
    }
}

#[test]
fn complete_only_with_every_hash() {
    let all = [zh(1), zh(2), h1(1)];
    assert!(is_complete(&step(&all, &["linux_amd64"]), &known()));
    assert!(!is_complete(&step(&all, &["linux_amd64", "darwin_arm64"]), &known()));
    assert!(!is_complete(&step(&[zh(1), h1(1)], &["linux_amd64"]), &known()));
    assert!(!is_complete(&step(&[zh(1), zh(2)], &["linux_amd64"]), &known()));
    assert!(!is_complete(&step(&all, &["linux_amd64"]), &Release { listed: Vec::new(), ..known() }));
    // A platform that the release does not have was not asked for.
    let mut unnamed = step(&all, &["linux_amd64", "darwin_arm64"]);
    unnamed.rules.unnamed.insert("darwin_arm64".parse().unwrap());
    assert!(is_complete(&unnamed, &known()));
    assert!(!is_complete(&unnamed, &with_darwin()));
}

#[test]
fn one_package_for_several_platforms_covers_each() {
    let platforms = ["darwin_amd64", "darwin_arm64"];
    let mut universal = known();
    universal.lines.insert(digest(2), ListedLine::archive(platforms.map(|platform| platform.parse().unwrap())));
    let step = step(&[zh(1), zh(2), h1(2)], &platforms);
    universal.attest(h1(2), attested("darwin_arm64", Evidence::Computed));
    assert!(!is_complete(&step, &universal));
    universal.attest(h1(2), attested("darwin_amd64", Evidence::Computed));
    assert!(is_complete(&step, &universal));
    let recorded = [h1(2)].into_iter().collect();
    assert_eq!(fetched(&universal, &recorded).count(), 2);
}

#[test]
fn a_report_covers_if_reports_are_trusted() {
    let mut known = with_darwin();
    known.h1.insert(h1(2), attested("darwin_arm64", Evidence::ReportedByOrigin));
    let mut step = step(&[zh(1), zh(2), h1(1), h1(2)], &["linux_amd64", "darwin_arm64"]);
    assert!(!is_complete(&step, &known));
    step.rules.reported = ReportedRule::Write;
    assert!(is_complete(&step, &known));
    step.recorded.as_mut().unwrap().hashes.remove(&h1(2));
    assert!(!is_complete(&step, &known));
}

#[test]
fn only_packages_show_the_platform_of_an_unknown_h1() {
    let step = step(&[zh(1), h1(1)], &["linux_amd64"]);
    assert!(!is_unattributed(&step, Some(&known())));
    let unknown = Release { h1: BTreeMap::default(), ..known() };
    assert!(is_unattributed(&step, None) && is_unattributed(&step, Some(&unknown)));
    let mut accepts = step.clone();
    accepts.rules.reported = ReportedRule::Write;
    assert!(!is_unattributed(&accepts, None));
    // Nothing is recorded that a package would tell of.
    assert!(!is_unattributed(&self::step(&[zh(1)], &["linux_amd64"]), None));
}

#[test]
fn platforms_are_attributed_by_h1() {
    let recorded = [h1(1)].into_iter().collect();
    assert_eq!(known().platforms_with(&recorded).count(), 1);
    assert_eq!(known().platforms_with(&PackageHashes::new()).count(), 0);
}

//! The offered release against the recorded one.

use super::super::{Attestation, ListedLine};
use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::Sha256Digest;
use crate::trust::Evidence;
use crate::version::Version;

fn digest(byte: u8) -> Sha256Digest {
    Sha256Digest::from_bytes([byte; 32])
}

fn zh(byte: u8) -> PackageHash {
    PackageHash::zh(digest(byte))
}

fn offer(archives: &[u8], others: &[u8]) -> Release {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let archives = archives.iter().map(|byte| (digest(*byte), ListedLine::archive(None)));
    let others = others.iter().map(|byte| (digest(*byte), ListedLine::Other));
    Release { lines: others.chain(archives).collect(), ..Release::new(addr, Version::new(1, 0, 0)) }
}

fn computed(h1: &PackageHash) -> Release {
    let attested = Attestation::new(None, Evidence::Computed);
    Release { h1: [(h1.clone(), attested)].into(), ..offer(&[1], &[]) }
}

fn recorded(bytes: &[u8]) -> PackageHashes {
    bytes.iter().map(|byte| zh(*byte)).collect()
}

#[test]
fn the_same_release_is_shown() {
    assert_eq!(judge_release(&recorded(&[1, 2, 9]), &offer(&[1, 2], &[9])), Continuity::Shown { unexplained: vec![] });
}

#[test]
fn a_planted_hash_next_to_true_ones_stays_unexplained() {
    assert_eq!(
        judge_release(&recorded(&[1, 2, 7]), &offer(&[1, 2], &[])),
        Continuity::Shown { unexplained: vec![zh(7)] }
    );
}

#[test]
fn a_release_may_grow_if_all_recorded_hashes_remain() {
    assert_eq!(judge_release(&recorded(&[1, 2]), &offer(&[1, 2, 3], &[])), Continuity::Grew { new: 1 });
}

#[test]
fn a_swapped_archive_is_a_republished_release() {
    let verdict = judge_release(&recorded(&[1, 2]), &offer(&[1, 3], &[]));
    assert_eq!(verdict, Continuity::Republished { lost: vec![zh(2)], new: 1 });
}

#[test]
fn a_shared_manifest_proves_nothing() {
    let verdict = judge_release(&recorded(&[1, 9]), &offer(&[3], &[9]));
    assert_eq!(verdict, Continuity::Republished { lost: vec![zh(1)], new: 1 });
    assert!(matches!(judge_release(&recorded(&[9]), &offer(&[3], &[9])), Continuity::Republished { .. }));
}

#[test]
fn the_same_archives_at_another_address() {
    for (zh, archives, others, same) in [
        (&[1, 2][..], &[1, 2][..], &[][..], true),
        (&[1, 2, 9], &[1, 2], &[9], true),
        (&[1, 2], &[1, 2, 3], &[], true),
        (&[1, 2, 9], &[1, 2], &[], false),
        (&[1, 2], &[1, 3], &[], false),
        (&[9], &[1], &[9], false),
        (&[], &[1], &[], false),
    ] {
        assert_eq!(has_same_archives(&recorded(zh), &offer(archives, others)), same, "{zh:?} {archives:?}");
    }
    let h1: PackageHash = PackageHash::h1(digest(40));
    assert!(!has_same_archives(&[h1.clone()].into_iter().collect(), &computed(&h1)));
}

#[test]
fn only_h1_wants_one_reproduced() {
    let h1: PackageHash = PackageHash::h1(digest(40));
    let recorded: PackageHashes = [h1.clone()].into_iter().collect();
    assert_eq!(judge_release(&recorded, &offer(&[1], &[])), Continuity::NotReproduced);
    assert_eq!(judge_release(&recorded, &computed(&h1)), Continuity::Shown { unexplained: vec![] });
}

#[test]
fn a_malformed_hash_was_never_there() {
    let malformed = || "zh:01AB".parse::<PackageHash>().unwrap();
    let with = |bytes: &[u8]| bytes.iter().map(|byte| zh(*byte)).chain([malformed()]).collect::<PackageHashes>();
    assert_eq!(judge_release(&with(&[1]), &offer(&[1, 2], &[])), Continuity::Grew { new: 1 });
    assert_eq!(judge_release(&with(&[1, 2]), &offer(&[1, 2], &[])), Continuity::Shown { unexplained: vec![] });
    assert_eq!(judge_release(&with(&[]), &offer(&[1], &[])), Continuity::FirstUse);
    assert!(matches!(judge_release(&with(&[7]), &offer(&[1], &[])), Continuity::Republished { .. }));
}

#[test]
fn unknown_schemes_record_nothing() {
    let other: PackageHashes = ["h2:x".parse().unwrap()].into_iter().collect();
    assert_eq!(judge_release(&other, &offer(&[1], &[])), Continuity::FirstUse);
    assert_eq!(judge_package(&other, &[zh(1)]), Continuity::FirstUse);
    assert_eq!(judge_package(&recorded(&[1]), &[zh(1)]), Continuity::Shown { unexplained: vec![] });
    assert!(matches!(judge_package(&recorded(&[1]), &[zh(2)]), Continuity::Republished { .. }));
}

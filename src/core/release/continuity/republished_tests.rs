//! Published again, or changed in the file.

use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::hash::Sha256Digest;
use crate::release::ListedLine;

fn recorded(numbers: &[u8]) -> PackageHashes {
    numbers.iter().map(|number| PackageHash::zh(Sha256Digest::from_bytes([*number; 32]))).collect()
}

fn served(archives: &[u8]) -> Release {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let lines = archives.iter().map(|number| (Sha256Digest::from_bytes([*number; 32]), ListedLine::archive(None)));
    Release { lines: lines.collect(), ..Release::new(addr, Version::new(1, 0, 0)) }
}

/// What is said where an entry records the first numbers, the others are on offer, and HEAD recorded the last ones.
fn warned(entry: &[u8], archives: &[u8], head: &[u8]) -> Option<String> {
    let remedy = Some(Step::from("Take it back."));
    let (version, recorded_there) = (Version::new(1, 0, 0), recorded(head));
    let record = EarlierRecord { version, recorded: recorded_there, place: "HEAD".to_owned(), remedy };
    let finding = altered(&recorded(entry), &served(archives), &[record])?;
    assert_eq!((finding.rule, &*finding.help().to_string()), (Rule::LockFileAltered, "Take it back."));
    Some(finding.message().to_owned())
}

#[test]
fn a_hash_was_changed_and_head_has_the_right_one() {
    let warned = warned(&[1, 7], &[1, 2], &[1, 2]).unwrap();
    assert!(warned.contains("1 of its 2 hashes is not in HEAD"), "{warned}");
}

#[test]
fn all_hashes_were_changed() {
    assert!(warned(&[7, 8], &[1, 2], &[1, 2]).unwrap().contains("2 of its 2 hashes are not in HEAD"));
}

#[test]
fn head_recorded_some_platforms_of_the_served_release() {
    assert!(warned(&[7], &[1, 2], &[1]).is_some());
}

#[test]
fn head_recorded_the_release_before_it_was_republished() {
    assert_eq!(warned(&[1, 7], &[3, 4], &[1, 2]), None);
}

#[test]
fn head_recorded_a_mixture_that_no_release_has() {
    assert_eq!(warned(&[7], &[1, 2], &[1, 2, 9]), None);
}

#[test]
fn head_recorded_nothing() {
    assert_eq!(warned(&[7], &[1, 2], &[]), None);
}

#[test]
fn head_recorded_the_hashes_of_the_entry_for_another_version() {
    let warned = |entry: &[u8], head: &[u8]| {
        let (version, place) = (Version::new(2, 0, 0), "HEAD".to_owned());
        let record = EarlierRecord { version, recorded: recorded(head), place, remedy: None };
        // 9 is the manifest of both releases.
        let mut release = served(&[1, 2]);
        release.lines.insert(Sha256Digest::from_bytes([9; 32]), ListedLine::Other);
        altered(&recorded(entry), &release, &[record]).map(|finding| finding.message().to_owned())
    };
    let moved = warned(&[7, 8, 9], &[7, 8, 9]).unwrap();
    assert!(moved.ends_with("2 of its 3 hashes are recorded for 2.0.0 in HEAD, and do not belong to 1.0.0"), "{moved}");
    assert!(warned(&[1, 7], &[7, 8]).is_some());
    assert_eq!(warned(&[7, 8, 9], &[7, 9]), None, "one of them is nowhere");
    assert_eq!(warned(&[7, 8, 9], &[1, 2, 9]), None);
}

#[test]
fn what_is_doubtful() {
    for (entry, archives, doubtful) in
        [(&[1, 2][..], &[1, 2][..], false), (&[1], &[1, 2], false), (&[1, 7], &[1, 2], true), (&[7], &[1], true)]
    {
        assert_eq!(is_doubtful(&recorded(entry), &served(archives)), doubtful, "{entry:?} {archives:?}");
    }
}

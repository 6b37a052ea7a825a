//! Hash continuity: is the offered release the one that was recorded?
//!
//! Before anything is added to a recorded address and version, the release must be shown to be the recorded one. The
//! judgment is pure; what it is shown is a [`Release`].
//!
//! Source: our own rule, stricter than the tools, which add whatever is served.

use std::collections::BTreeSet;

use super::Release;
use crate::hash::{HashScheme, PackageHash, PackageHashes};

/// What continuity says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Continuity {
    /// The entry records no hash that could match a package.
    FirstUse,
    /// The release is the recorded one; recorded `zh:` that it does not have stay unexplained.
    Shown {
        /// Recorded, but no line of the sums has it.
        unexplained: Vec<PackageHash>,
    },
    /// Everything that was recorded still belongs to the release, and there is more.
    Grew {
        /// How many archives are new.
        new: usize,
    },
    /// Another release under the same version.
    Republished {
        /// Recorded `zh:` that the release no longer has.
        lost: Vec<PackageHash>,
        /// Archives that were not recorded.
        new: usize,
    },
    /// Only `h1:` is recorded, and no archive of the release gives one of them.
    NotReproduced,
}

/// Judges a signed release against what is recorded under its version.
pub fn judge(recorded: &PackageHashes, release: &Release) -> Continuity {
    let zh: BTreeSet<&PackageHash> = usable(recorded, HashScheme::Zh).collect();
    let h1: BTreeSet<&PackageHash> = usable(recorded, HashScheme::H1).collect();
    match (zh.is_empty(), h1.is_empty()) {
        (true, true) => Continuity::FirstUse,
        (true, false) if release.computed().any(|(hash, _)| h1.contains(hash)) => {
            Continuity::Shown { unexplained: Vec::new() }
        }
        (true, false) => Continuity::NotReproduced,
        (false, _) => judge_sums(&zh, release),
    }
}

/// The recorded hashes in a form that can match a package: only these can be missing.
fn usable(recorded: &PackageHashes, scheme: HashScheme) -> impl Iterator<Item = &PackageHash> {
    recorded.of(scheme).filter(|hash| hash.is_well_formed())
}

fn judge_sums(recorded: &BTreeSet<&PackageHash>, release: &Release) -> Continuity {
    let archives: BTreeSet<PackageHash> = release.archives().copied().map(PackageHash::zh).collect();
    let known = archives.iter().filter(|hash| recorded.contains(hash)).count();
    let new = archives.len() - known;
    let lost: Vec<PackageHash> =
        recorded.iter().filter(|hash| !release.lists(hash)).map(|hash| (*hash).clone()).collect();
    match (known, new, lost.is_empty()) {
        (0, _, _) | (_, 1.., false) => Continuity::Republished { lost, new },
        (_, 0, _) => Continuity::Shown { unexplained: lost },
        (_, new, true) => Continuity::Grew { new },
    }
}

/// True if a signed release at another address has the archives of an entry: every recorded `zh:` is in its sums.
///
/// What only `h1:` says is not enough: equal contents of one package prove nothing about the others.
pub fn has_same_archives(recorded: &PackageHashes, release: &Release) -> bool {
    let recorded: BTreeSet<&PackageHash> = usable(recorded, HashScheme::Zh).collect();
    match judge_sums(&recorded, release) {
        Continuity::Shown { unexplained } => unexplained.is_empty(),
        Continuity::Grew { .. } => true,
        Continuity::FirstUse | Continuity::Republished { .. } | Continuity::NotReproduced => false,
    }
}

/// Judges one package that no signed list attests: its own `zh:` or `h1:` must be recorded.
pub fn judge_package(recorded: &PackageHashes, own: &[PackageHash]) -> Continuity {
    let known = |scheme| usable(recorded, scheme).next().is_some();
    if !known(HashScheme::Zh) && !known(HashScheme::H1) {
        Continuity::FirstUse
    } else if own.iter().any(|hash| recorded.contains(hash)) {
        Continuity::Shown { unexplained: Vec::new() }
    } else {
        Continuity::Republished { lost: Vec::new(), new: 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Attestation, ListedLine};
    use super::*;
    use crate::addr::ProviderAddr;
    use crate::dialect::Dialect;
    use crate::evidence::Evidence;
    use crate::hash::Sha256Digest;
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
        assert_eq!(judge(&recorded(&[1, 2, 9]), &offer(&[1, 2], &[9])), Continuity::Shown { unexplained: vec![] });
    }

    #[test]
    fn a_planted_hash_next_to_true_ones_stays_unexplained() {
        assert_eq!(judge(&recorded(&[1, 2, 7]), &offer(&[1, 2], &[])), Continuity::Shown { unexplained: vec![zh(7)] });
    }

    #[test]
    fn a_release_may_grow_if_all_recorded_hashes_remain() {
        assert_eq!(judge(&recorded(&[1, 2]), &offer(&[1, 2, 3], &[])), Continuity::Grew { new: 1 });
    }

    #[test]
    fn a_swapped_archive_is_a_republished_release() {
        let verdict = judge(&recorded(&[1, 2]), &offer(&[1, 3], &[]));
        assert_eq!(verdict, Continuity::Republished { lost: vec![zh(2)], new: 1 });
    }

    #[test]
    fn a_shared_manifest_proves_nothing() {
        let verdict = judge(&recorded(&[1, 9]), &offer(&[3], &[9]));
        assert_eq!(verdict, Continuity::Republished { lost: vec![zh(1)], new: 1 });
        assert!(matches!(judge(&recorded(&[9]), &offer(&[3], &[9])), Continuity::Republished { .. }));
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
        assert_eq!(judge(&recorded, &offer(&[1], &[])), Continuity::NotReproduced);
        assert_eq!(judge(&recorded, &computed(&h1)), Continuity::Shown { unexplained: vec![] });
    }

    #[test]
    fn a_malformed_hash_was_never_there() {
        let malformed = || "zh:01AB".parse::<PackageHash>().unwrap();
        let with = |bytes: &[u8]| bytes.iter().map(|byte| zh(*byte)).chain([malformed()]).collect::<PackageHashes>();
        assert_eq!(judge(&with(&[1]), &offer(&[1, 2], &[])), Continuity::Grew { new: 1 });
        assert_eq!(judge(&with(&[1, 2]), &offer(&[1, 2], &[])), Continuity::Shown { unexplained: vec![] });
        assert_eq!(judge(&with(&[]), &offer(&[1], &[])), Continuity::FirstUse);
        assert!(matches!(judge(&with(&[7]), &offer(&[1], &[])), Continuity::Republished { .. }));
    }

    #[test]
    fn unknown_schemes_record_nothing() {
        let other: PackageHashes = ["h2:x".parse().unwrap()].into_iter().collect();
        assert_eq!(judge(&other, &offer(&[1], &[])), Continuity::FirstUse);
        assert_eq!(judge_package(&other, &[zh(1)]), Continuity::FirstUse);
        assert_eq!(judge_package(&recorded(&[1]), &[zh(1)]), Continuity::Shown { unexplained: vec![] });
        assert!(matches!(judge_package(&recorded(&[1]), &[zh(2)]), Continuity::Republished { .. }));
    }
}

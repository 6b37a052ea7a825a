//! Was a release published again, or was the lock file changed? And in words: what is said of either.
//!
//! Before a release is called republished, the file is suspected: where what is offered is what the file's own history,
//! or the index, recorded for that version, the release is the old one and the entry is not. And where the entry has what
//! they recorded for another version, only its version was changed.

use super::Release;
use super::continuity::{self, Continuity};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::trust::pins::Signer;
use crate::version::Version;

/// What was recorded of a release elsewhere than in the entry that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The version that they were recorded for.
    pub version: Version,
    /// The hashes.
    pub recorded: PackageHashes,
    /// Where, for users, such as `HEAD` or `the index`.
    pub place: String,
    /// What to do to have the entry as it was there, where that is known.
    pub remedy: Option<String>,
}

/// True if the served release is not shown to be the recorded one, so it is worth looking for witnesses.
pub fn is_doubtful(recorded: &PackageHashes, release: &Release) -> bool {
    matches!(continuity::judge(recorded, release), Continuity::Republished { .. } | Continuity::NotReproduced)
}

/// The finding that an entry was changed, by the first witness that recorded just what is offered, or else by the first that
/// recorded for another version what the entry has; none without one.
///
/// Only for an entry whose release is doubtful.
pub fn altered(recorded: &PackageHashes, release: &Release, witnesses: &[Witness]) -> Option<Finding> {
    let (same, others): (Vec<&Witness>, Vec<&Witness>) =
        witnesses.iter().partition(|witness| witness.version == release.version);
    let shown = same.into_iter().find(|witness| is_shown(&witness.recorded, release));
    let (witness, what) = if let Some(witness) = shown {
        (witness, changed(recorded, witness))
    } else {
        let witness = others.into_iter().find(|witness| explains(&witness.recorded, recorded, release))?;
        (witness, moved(recorded, release, witness))
    };
    let message = format!("the entry of {} {} was changed: {what}", release.address, release.version);
    let finding = Finding::new(Rule::LockFileAltered, message).about(&release.address).of_version(&release.version);
    Some(match &witness.remedy {
        Some(remedy) => finding.remedied_by(remedy),
        None => finding,
    })
}

/// An entry that lacks what a witness recorded for its version.
fn changed(recorded: &PackageHashes, witness: &Witness) -> String {
    let is_known = |hash: &&PackageHash| hash.scheme() != HashScheme::Other;
    let foreign: Vec<&PackageHash> =
        recorded.iter().filter(is_known).filter(|hash| !witness.recorded.contains(hash)).collect();
    let first = foreign.first().map(|hash| format!(" (first: {})", hash.abridged())).unwrap_or_default();
    format!(
        "{} of its {} hashes {} not in {}, which records the release that the source serves{first}",
        foreign.len(),
        recorded.len(),
        if foreign.len() == 1 { "is" } else { "are" },
        witness.place,
    )
}

/// An entry that has what a witness recorded for another version.
fn moved(recorded: &PackageHashes, release: &Release, witness: &Witness) -> String {
    let count = foreign(recorded, release).filter(|hash| witness.recorded.contains(hash)).count();
    format!(
        "{count} of its {} hashes {} recorded for {} in {}, and {} to {}",
        recorded.len(),
        if count == 1 { "is" } else { "are" },
        witness.version,
        witness.place,
        if count == 1 { "does not belong" } else { "do not belong" },
        release.version,
    )
}

/// Recorded hashes that the offered release does not have.
fn foreign<'a>(recorded: &'a PackageHashes, release: &'a Release) -> impl Iterator<Item = &'a PackageHash> {
    let can_match = |hash: &&PackageHash| hash.scheme() != HashScheme::Other && hash.is_well_formed();
    recorded.iter().filter(can_match).filter(|hash| !release.has(hash))
}

/// True if another version was recorded with all archives that the offered release does not have; where no archive is
/// recorded, with all contents.
fn explains(other: &PackageHashes, recorded: &PackageHashes, release: &Release) -> bool {
    let of = |scheme| foreign(recorded, release).filter(move |hash| hash.scheme() == scheme);
    let scheme = if of(HashScheme::Zh).next().is_some() { HashScheme::Zh } else { HashScheme::H1 };
    of(scheme).next().is_some() && of(scheme).all(|hash| other.contains(hash))
}

/// True if all that was recorded is of the offered release.
fn is_shown(recorded: &PackageHashes, release: &Release) -> bool {
    match continuity::judge(recorded, release) {
        Continuity::Shown { unexplained } => unexplained.is_empty(),
        Continuity::Grew { .. } => true,
        Continuity::FirstUse | Continuity::Republished { .. } | Continuity::NotReproduced => false,
    }
}

/// The finding of a verdict about a recorded release; none for one that lets it pass.
pub fn republished(recorded: &PackageHashes, release: &Release, verdict: &Continuity) -> Option<Finding> {
    let message = match verdict {
        Continuity::FirstUse | Continuity::Shown { .. } | Continuity::Grew { .. } => return None,
        Continuity::Republished { lost, new } => other(recorded, release, lost, *new),
        Continuity::NotReproduced => not_reproduced(recorded, release),
    };
    Some(Finding::new(Rule::Republished, message).about(&release.address).of_version(&release.version))
}

/// The finding on a hash that no package can have.
pub fn malformed(hash: &PackageHash, addr: &ProviderAddr, version: &Version) -> Finding {
    let wanted = match hash.scheme() {
        HashScheme::Zh => "64 lower-case hexadecimal digits",
        _ => "the base64 of 32 bytes",
    };
    let message = format!("recorded hash {hash} of {addr} {version} can match no package: expected {wanted}");
    Finding::new(Rule::MalformedHash, message).about(addr).of_version(version)
}

fn other(recorded: &PackageHashes, release: &Release, lost: &[PackageHash], new: usize) -> String {
    let missing = match (lost, recorded.len()) {
        ([hash], 1) => format!("the recorded hash {} is missing", hash.abridged()),
        ([hash], all) => format!("1 of {all} recorded hashes is missing ({})", hash.abridged()),
        ([first, ..], all) => {
            format!("{} of {all} recorded hashes are missing (first: {})", lost.len(), first.abridged())
        }
        ([], 1) => "the recorded hash does not match".to_owned(),
        ([], all) => format!("0 of {all} recorded hashes match"),
    };
    let archives = release.archives().copied().map(PackageHash::zh);
    let served = archives.chain(release.h1.keys().cloned()).find(|hash| !recorded.contains(hash));
    let served = served.map(|hash| format!(" (such as {})", hash.abridged())).unwrap_or_default();
    let new = if new == 1 { "1 package is".to_owned() } else { format!("{new} packages are") };
    format!(
        "the served release {} {} is not the recorded one: {missing}, {new} new{served}; its {}",
        release.address,
        release.version,
        signature(release),
    )
}

fn not_reproduced(recorded: &PackageHashes, release: &Release) -> String {
    let mut hashes = recorded.of(HashScheme::H1);
    let (first, others) = (hashes.next().map(PackageHash::abridged).unwrap_or_default(), hashes.count());
    let which = match others {
        0 => format!("the recorded hash {first}"),
        others => format!("any of the {} recorded hashes (first: {first})", others + 1),
    };
    let served = release.h1.iter().flat_map(|(hash, by)| by.platforms.keys().map(move |it| (it, hash))).min();
    format!(
        "no served package of {} {} has {which}{}; its {}",
        release.address,
        release.version,
        served.map(|(platform, hash)| format!(" (the one for {platform} has {})", hash.abridged())).unwrap_or_default(),
        signature(release),
    )
}

fn signature(release: &Release) -> String {
    match &release.signer {
        Some(Signer::Key(key)) => format!("signature by {key} verifies"),
        Some(Signer::Unsigned) => "checksums are not signed".to_owned(),
        None => "source is a mirror, which signs nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
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
        let remedy = Some("Take it back.".to_owned());
        let (version, recorded_there) = (Version::new(1, 0, 0), recorded(head));
        let witness = Witness { version, recorded: recorded_there, place: "HEAD".to_owned(), remedy };
        let finding = altered(&recorded(entry), &served(archives), &[witness])?;
        assert_eq!((finding.rule, finding.help().as_str()), (Rule::LockFileAltered, "Take it back."));
        Some(finding.message)
    }

    #[test]
    fn a_hash_was_changed_and_head_has_the_right_one() {
        let warned = warned(&[1, 7], &[1, 2], &[1, 2]).unwrap();
        assert!(
            warned.contains("1 of its 2 hashes is not in HEAD, which records the release that the source serves"),
            "{warned}"
        );
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
            let witness = Witness { version, recorded: recorded(head), place, remedy: None };
            // 9 is the manifest of both releases.
            let mut release = served(&[1, 2]);
            release.lines.insert(Sha256Digest::from_bytes([9; 32]), ListedLine::Other);
            altered(&recorded(entry), &release, &[witness]).map(|finding| finding.message)
        };
        let moved = warned(&[7, 8, 9], &[7, 8, 9]).unwrap();
        assert!(
            moved.ends_with("2 of its 3 hashes are recorded for 2.0.0 in HEAD, and do not belong to 1.0.0"),
            "{moved}"
        );
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
}

//! Releases in words: what is said where the offered one is not the recorded one.
//!
//! Every command that reports it takes its words from here.

use super::Release;
use super::continuity::Verdict;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::trust::pins::Signer;
use crate::version::Version;

/// The finding of a verdict about a recorded release; none for one that lets it pass.
pub fn republished(recorded: &PackageHashes, release: &Release, verdict: &Verdict) -> Option<Finding> {
    let message = match verdict {
        Verdict::FirstUse | Verdict::Shown { .. } | Verdict::Grew { .. } => return None,
        Verdict::Republished { lost, new } => other(recorded, release, lost, *new),
        Verdict::NotReproduced => not_reproduced(recorded, release),
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

//! What an earlier run found out about a recorded release, and whether that spares every question.
//!
//! Pure: the facts come from the index and are hints; nothing is written on their account, they only show that there
//! is nothing to write.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{Selection, Step};
use super::rules::ReportedRule;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::platform::Platform;

/// A release as an earlier run saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownRelease {
    /// The `zh:` hashes that its checksums give to a lock file.
    pub listed: Vec<PackageHash>,
    /// The platforms that its checksums name archives for.
    pub platforms: BTreeSet<Platform>,
    /// The hashes of each package whose archive was hashed here.
    pub packages: BTreeMap<Platform, KnownPackage>,
    /// What its origin reported.
    pub reported: BTreeMap<Platform, Vec<PackageHash>>,
}

/// A package as an earlier run saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPackage {
    /// Over the bytes of the archive.
    pub zh: PackageHash,
    /// Over its files.
    pub h1: PackageHash,
}

impl KnownRelease {
    /// The platforms whose `h1:` is among some recorded hashes.
    pub fn attributed(&self, recorded: &PackageHashes) -> impl Iterator<Item = &Platform> {
        let computed = self.packages.iter().filter(|(_, package)| recorded.contains(&package.h1));
        let reported = self
            .reported
            .iter()
            .filter(|(_, hashes)| hashes.iter().any(|hash| hash.scheme() == HashScheme::H1 && recorded.contains(hash)));
        computed.map(|(platform, _)| platform).chain(reported.map(|(platform, _)| platform))
    }
}

/// True if the recorded entry has all that this release could give to the step.
pub fn is_complete(step: &Step, known: &KnownRelease) -> bool {
    let (Selection::Keep(version), Some(entry)) = (&step.selection, &step.recorded) else { return false };
    let recorded = |hash: &PackageHash| entry.hashes.contains(hash);
    let believed = step.rules.reported == ReportedRule::Write;
    let is_reported = |platform: &Platform| {
        // What would be written without a download.
        let h1 = |hashes: &Vec<PackageHash>| hashes.iter().any(|hash| hash.scheme() == HashScheme::H1);
        known.reported.get(platform).is_some_and(|hashes| h1(hashes) && hashes.iter().all(recorded))
    };
    let covered = |platform: &Platform| {
        known.packages.get(platform).is_some_and(|package| recorded(&package.h1) && recorded(&package.zh))
            || believed && is_reported(platform)
            || step.rules.optional.contains(platform)
            || step.rules.unnamed.contains(platform) && !known.platforms.contains(platform)
    };
    let reported = !believed || known.reported.values().flatten().all(recorded);
    entry.version == *version
        && !step.accept_republished
        && !known.listed.is_empty()
        && known.listed.iter().all(recorded)
        && step.platforms.iter().all(covered)
        && reported
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rules::Rules;
    use crate::hash::Sha256Digest;
    use crate::lockfile::LockEntry;
    use crate::version::{Constraints, Version};

    fn zh(byte: u8) -> PackageHash {
        PackageHash::zh(Sha256Digest::from_bytes([byte; 32]))
    }

    fn h1(byte: u8) -> PackageHash {
        PackageHash::h1(Sha256Digest::from_bytes([byte; 32]))
    }

    fn known() -> KnownRelease {
        let linux: Platform = "linux_amd64".parse().unwrap();
        let platforms = [linux.clone()].into();
        let linux = (linux, KnownPackage { zh: zh(1), h1: h1(1) });
        KnownRelease { listed: vec![zh(1), zh(2)], platforms, packages: [linux].into(), reported: BTreeMap::new() }
    }

    fn step(hashes: &[PackageHash], platforms: &[&str]) -> Step {
        let version = Version::new(1, 0, 0);
        let entry = LockEntry {
            version: version.clone(),
            constraints: Constraints::default(),
            hashes: hashes.iter().cloned().collect(),
        };
        Step {
            constraints: Constraints::default(),
            selection: Selection::Keep(version),
            platforms: platforms.iter().map(|platform| platform.parse().unwrap()).collect(),
            recorded: Some(entry),
            moved: None,
            accept_republished: false,
            rules: Rules::default(),
        }
    }

    #[test]
    fn complete_only_with_every_hash() {
        let all = [zh(1), zh(2), h1(1)];
        assert!(is_complete(&step(&all, &["linux_amd64"]), &known()));
        assert!(!is_complete(&step(&all, &["linux_amd64", "darwin_arm64"]), &known()));
        assert!(!is_complete(&step(&[zh(1), h1(1)], &["linux_amd64"]), &known()));
        assert!(!is_complete(&step(&[zh(1), zh(2)], &["linux_amd64"]), &known()));
        assert!(!is_complete(&step(&all, &["linux_amd64"]), &KnownRelease::default()));
        // Nobody asked for a platform that the release does not have.
        let mut unnamed = step(&all, &["linux_amd64", "darwin_arm64"]);
        unnamed.rules.unnamed.insert("darwin_arm64".parse().unwrap());
        assert!(is_complete(&unnamed, &known()));
        let more = KnownRelease { platforms: unnamed.platforms.iter().cloned().collect(), ..known() };
        assert!(!is_complete(&unnamed, &more));
    }

    #[test]
    fn a_report_covers_where_it_is_believed() {
        let darwin: Platform = "darwin_arm64".parse().unwrap();
        let known = KnownRelease { reported: [(darwin, vec![zh(2), h1(2)])].into(), ..known() };
        let mut step = step(&[zh(1), zh(2), h1(1), h1(2)], &["linux_amd64", "darwin_arm64"]);
        assert!(!is_complete(&step, &known));
        step.rules.reported = ReportedRule::Write;
        assert!(is_complete(&step, &known));
        step.recorded.as_mut().unwrap().hashes.remove(&h1(2));
        assert!(!is_complete(&step, &known));
    }

    #[test]
    fn platforms_are_attributed_by_h1() {
        let recorded = [h1(1)].into_iter().collect();
        assert_eq!(known().attributed(&recorded).count(), 1);
        assert_eq!(known().attributed(&PackageHashes::new()).count(), 0);
    }
}

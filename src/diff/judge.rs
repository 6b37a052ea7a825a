//! A verdict for each hash that came or went.
//!
//! Three sources count: checksums signed by a key, which are complete and so can rule a hash out; pairs computed here
//! from one archive, which carry the word about one hash over to the other; and what the origin reports.

use std::collections::BTreeMap;

use super::Attribution;
use crate::evidence::{Evidence, Verdict};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::outcome::{Change, Judged};
use crate::platform::Platform;
use crate::release::{Knowledge, Release};
use crate::trust::Fingerprint;

/// Judges every hash that a change adds, and those that it removes under the same version. Fills in platforms and
/// evidence of what is added.
pub fn judge(change: &mut Change, known: &Attribution) {
    let nothing = PackageHashes::new();
    let unchanged = change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version);
    let [old, new] = [&change.old, &change.new].map(|entry| entry.as_ref().map_or(&nothing, |entry| &entry.hashes));
    let version = change.new.as_ref().or(change.old.as_ref()).map(|entry| &entry.version);
    let knowledge = version.and_then(|version| known.release(&change.address, version)).unwrap_or(&Knowledge::Unasked);
    // What the old entry records was believed before, for that version and no other.
    let believed = if unchanged { old } else { &nothing };
    let judge = Judge { knowledge, known, believed };
    let mut judged = BTreeMap::new();
    for added in &mut change.hashes_added {
        let Found { verdict, platform, evidence } = judge.added(&added.hash);
        added.platform = added.platform.take().or_else(|| platform.clone());
        added.evidence.extend(evidence);
        judged.insert(added.hash.clone(), Judged { verdict, platform });
    }
    if unchanged {
        let left = Judge { believed: new, ..judge };
        judged.extend(change.hashes_removed.iter().map(|hash| (hash.clone(), left.removed(hash))));
    }
    change.judged = judged;
}

/// All that counts for the hashes of one entry.
struct Judge<'a> {
    knowledge: &'a Knowledge,
    known: &'a Attribution,
    believed: &'a PackageHashes,
}

/// A verdict with its grounds.
struct Found {
    verdict: Verdict,
    platform: Option<Platform>,
    evidence: Vec<Evidence>,
}

impl Found {
    fn bare(verdict: Verdict) -> Self {
        Self { verdict, platform: None, evidence: Vec::new() }
    }
}

impl Judge<'_> {
    fn added(&self, hash: &PackageHash) -> Found {
        match hash.scheme() {
            HashScheme::Zh => self.archive(hash),
            HashScheme::H1 => self.contents(hash),
            // No tool knows such a hash, so nobody can vouch for it.
            HashScheme::Other => Found::bare(Verdict::Unattested),
        }
    }

    /// A new `zh:`.
    fn archive(&self, zh: &PackageHash) -> Found {
        let signed = self.signed();
        if let Some((release, signer)) = signed.filter(|(release, _)| release.lists(zh)) {
            let platform = release.platform_of(zh).cloned();
            let evidence = vec![Evidence::Signed(signer.clone())];
            return Found { verdict: Verdict::SameSignedArchive, platform, evidence };
        }
        if signed.is_some() {
            return Found::bare(Verdict::Contradicts);
        }
        // The archive of a recorded h1 is the same package in another form.
        if self.known.h1_of(zh).is_some_and(|h1| self.believed.contains(h1)) {
            let platform = self.release().and_then(|release| release.platform_of(zh)).cloned();
            return Found { verdict: Verdict::SameSignedArchive, platform, evidence: vec![Evidence::Computed] };
        }
        self.reported(zh)
    }

    /// A new `h1:`.
    fn contents(&self, h1: &PackageHash) -> Found {
        let of_h1 = self.known.archives_of(h1);
        let signed = self.signed().and_then(|(release, signer)| {
            Some((of_h1.iter().find(|zh| release.lists(zh))?, vec![Evidence::Signed(signer.clone())]))
        });
        let recorded = of_h1.iter().find(|zh| self.believed.contains(zh)).map(|zh| (zh, Vec::new()));
        if let Some((zh, mut evidence)) = signed.or(recorded) {
            evidence.push(Evidence::Computed);
            let platform = self.platform(zh, h1);
            let extends = platform.as_ref().is_some_and(|platform| self.extends_to(platform));
            let verdict = if extends { Verdict::PlatformAdded } else { Verdict::SameSignedArchive };
            return Found { verdict, platform, evidence };
        }
        if self.is_ruled_out(!of_h1.is_empty()) {
            return Found::bare(Verdict::Contradicts);
        }
        self.reported(h1)
    }

    /// What is left when neither signature nor computation says anything.
    fn reported(&self, hash: &PackageHash) -> Found {
        if let Some(vouched) = self.release().and_then(|release| release.reported(hash)) {
            let (platform, evidence) = (vouched.platform.clone(), vec![Evidence::ReportedByOrigin]);
            return Found { verdict: Verdict::ReportedByOrigin, platform, evidence };
        }
        Found::bare(if self.is_denied_by_origin(hash) { Verdict::Unattested } else { Verdict::UnknownOffline })
    }

    /// True if the origin was asked, and what it serves has no such hash.
    fn is_denied_by_origin(&self, hash: &PackageHash) -> bool {
        match self.knowledge {
            // Whoever could vouch for it says that there is no such release.
            Knowledge::Withdrawn(_) => true,
            Knowledge::Known(release) => release.current && (release.complete || hash.scheme() == HashScheme::Zh),
            _ => false,
        }
    }

    fn release(&self) -> Option<&Release> {
        self.knowledge.release().map(AsRef::as_ref)
    }

    /// A hash that is gone; `believed` is what is left.
    fn removed(&self, hash: &PackageHash) -> Judged {
        let of_it = self.added(hash);
        let platform = of_it.platform;
        let verdict = match of_it.verdict {
            Verdict::PlatformAdded => Verdict::PlatformRemoved,
            // Still covered by another hash, or of no platform that could be lost.
            other => other,
        };
        Judged { verdict, platform }
    }

    fn signed(&self) -> Option<(&Release, &Fingerprint)> {
        let release = self.release()?;
        Some((release, release.key()?))
    }

    fn platform(&self, zh: &PackageHash, h1: &PackageHash) -> Option<Platform> {
        let release = self.release()?;
        release.platform_of(zh).or_else(|| release.reported(h1)?.platform.as_ref()).cloned()
    }

    /// True if a release was recorded and none of its `h1:` is of this platform.
    fn extends_to(&self, platform: &Platform) -> bool {
        let believed = |zh: &PackageHash| self.known.h1_of(zh).is_some_and(|h1| self.believed.contains(h1));
        let covers = |release: &Release| {
            let computed = release.archives().copied().map(PackageHash::zh).filter(believed);
            let reported =
                self.believed.of(HashScheme::H1).filter_map(|hash| release.reported(hash)?.platform.as_ref());
            computed.filter_map(|zh| release.platform_of(&zh).cloned()).any(|covered| covered == *platform)
                || reported.into_iter().any(|covered| covered == platform)
        };
        !self.believed.is_empty() && !self.release().is_some_and(covers)
    }

    /// True if no signed package can have these contents: they are known as those of another archive, or the contents
    /// of all signed packages are known.
    fn is_ruled_out(&self, known_elsewhere: bool) -> bool {
        let Some((release, _)) = self.signed() else { return false };
        let mut archives = release.archives().copied().map(PackageHash::zh).peekable();
        let all_known = archives.peek().is_some() && archives.all(|zh| self.known.h1_of(&zh).is_some());
        known_elsewhere || all_known
    }
}

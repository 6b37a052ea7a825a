//! What changed between two lock files: plain functions from values to values.
//!
//! [`changes`] finds the changes, [`judge()`] judges the added and removed hashes, [`risk()`] says how dangerous a
//! change is, and [`explain()`] puts it into words. The folder knows nothing of files, registries or formats; what is
//! known of packages is handed in as [`Packages`].

mod change;
mod explain;
mod headline;
#[cfg(test)]
mod realworld_tests;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use change::{
    AddedHash, Change, ChangeKind, Distance, Formatting, JudgedHash, Novelty, OriginChange, Packages, RequiredBy,
    SigningDate, Standing, TextChange, find_callers,
};
pub use explain::{Explanation, explain, explain_text};
pub use headline::{constraints, coverage, headline, text_change, verdict_words};

use crate::addr::ProviderAddr;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::{LockEntry, LockFile};
use crate::platform::Platform;
use crate::release::hashes::{self, Ground, HashJudgment, HashStatus};
use crate::release::{Lookup, Release};
use crate::trust::publishers::publisher;
use crate::trust::{Evidence, Verdict};

/// The changes from one lock file to another, in the order of the file; nothing for entries that are equal.
///
/// An entry that left and one that came count as one change if they are the same provider at another host or in
/// another namespace. Hashes are not judged yet.
pub fn changes(old: &LockFile, new: &LockFile) -> Vec<Change> {
    let moved = change::moves(old, new);
    let left: BTreeSet<&ProviderAddr> = moved.values().copied().collect();
    let addresses: BTreeSet<&ProviderAddr> = old.iter().chain(new.iter()).map(|(addr, _)| addr).collect();
    let stayed = addresses.into_iter().filter(|addr| !left.contains(addr));
    stayed
        .filter_map(|addr| match moved.get(addr) {
            Some(from) => change(addr, Some(from), old.get(from), new.get(addr)),
            None => change(addr, None, old.get(addr), new.get(addr)),
        })
        .collect()
}

/// What happened to one entry; nothing if both are equal.
pub fn change_of(addr: &ProviderAddr, old: &LockEntry, new: &LockEntry) -> Option<Change> {
    change(addr, None, Some(old), Some(new))
}

fn change(
    addr: &ProviderAddr,
    moved_from: Option<&ProviderAddr>,
    old: Option<&LockEntry>,
    new: Option<&LockEntry>,
) -> Option<Change> {
    let kind = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Removed,
        (Some(_), Some(_)) if moved_from.is_some() => ChangeKind::Moved,
        (Some(old), Some(new)) => kind(old, new)?,
    };
    let has = |entry: Option<&LockEntry>, hash| entry.is_some_and(|entry| entry.hashes.contains(hash));
    let added = new.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(old, hash));
    let removed = old.iter().flat_map(|entry| &entry.hashes).filter(|hash| !has(new, hash));
    Some(Change {
        address: addr.clone(),
        moved_from: moved_from.cloned(),
        kind,
        old: old.cloned(),
        new: new.cloned(),
        hashes_added: added
            .map(|hash| AddedHash { hash: hash.clone(), platforms: BTreeSet::new(), evidence: Vec::new() })
            .collect(),
        hashes_removed: removed.cloned().collect(),
        judged: BTreeMap::new(),
        uncovered: BTreeSet::new(),
        callers: Vec::new(),
        signer: None,
        position: None,
        standing: Standing::default(),
        signers_before: BTreeSet::new(),
        publisher_denied: None,
        identical: false,
        identity: None,
        novelty: None,
        link: None,
        registry_warnings: Arc::default(),
        signed: None,
        build: None,
        witnesses: Vec::new(),
        is_edited: false,
        required_by: RequiredBy::NotChecked,
    })
}

fn kind(old: &LockEntry, new: &LockEntry) -> Option<ChangeKind> {
    let (came, went) = (!is_within(new, old), !is_within(old, new));
    match old.version.cmp(&new.version) {
        Ordering::Less => Some(ChangeKind::Upgraded),
        Ordering::Greater => Some(ChangeKind::Downgraded),
        Ordering::Equal if came && went => Some(ChangeKind::HashesReplaced),
        Ordering::Equal if came || went => Some(ChangeKind::HashesChanged),
        Ordering::Equal if old.constraints != new.constraints => Some(ChangeKind::ConstraintsChanged),
        Ordering::Equal => None,
    }
}

/// True if all hashes of one entry are hashes of the other.
fn is_within(one: &LockEntry, other: &LockEntry) -> bool {
    one.hashes.iter().all(|hash| other.hashes.contains(hash))
}

/// Judges every hash that a change adds, those that it removes under the same version, and those that it keeps under
/// a different version. Fills in platforms and evidence of what is added. Hashes of unknown schemes are not judged: no tool
/// compares them.
pub fn judge(change: &mut Change, known: &Packages) {
    let nothing = PackageHashes::new();
    let is_same = change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version);
    // What another address recorded says nothing of this release.
    let unchanged = is_same && change.moved_from.is_none();
    let [old, new] = [&change.old, &change.new].map(|entry| entry.as_ref().map_or(&nothing, |entry| &entry.hashes));
    let version = change.new.as_ref().or(change.old.as_ref()).map(|entry| &entry.version);
    let knowledge =
        version.and_then(|version| known.release(&change.address, version)).unwrap_or(&Lookup::NotRequested);
    // The hashes of the old entry were accepted before, for that version only.
    let recorded = if unchanged { old } else { &nothing };
    let judge = Judge { knowledge, known, recorded };
    let mut judged = BTreeMap::new();
    let is_compared = |hash: &PackageHash| hash.scheme() != HashScheme::Other;
    for added in change.hashes_added.iter_mut().filter(|added| is_compared(&added.hash)) {
        let (verdict, HashJudgment { platforms, evidence, .. }) = judge.added(&added.hash);
        added.platforms.extend(platforms.iter().cloned());
        added.evidence.extend(evidence);
        judged.insert(added.hash.clone(), JudgedHash { verdict, platforms });
    }
    if unchanged {
        let left = Judge { recorded: new, ..judge };
        let removed = change.hashes_removed.iter().filter(|hash| is_compared(hash));
        judged.extend(removed.map(|hash| (hash.clone(), left.removed(hash))));
    } else {
        let kept = new.iter().filter(|hash| is_compared(hash) && old.contains(hash));
        for hash in kept {
            let (verdict, HashJudgment { platforms, .. }) = judge.added(hash);
            judged.insert(hash.clone(), JudgedHash { verdict, platforms });
        }
    }
    change.judged = judged;
    change.uncovered = uncovered(change, known).unwrap_or_default();
}

/// The platforms whose contents the old entry knows and the new one does not. `None` if a hash of the new entry is of unknown
/// contents: it may be the missing one.
fn uncovered(change: &Change, known: &Packages) -> Option<BTreeSet<Platform>> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    // Most changes take no such checksum away; then nothing is looked up.
    let mut lost = old.hashes.of(HashScheme::H1).filter(|h1| !new.hashes.contains(h1));
    lost.next()?;
    let platforms = |addr: &ProviderAddr, entry: &LockEntry| -> Vec<BTreeSet<Platform>> {
        let release = known.release(addr, &entry.version).and_then(Lookup::release);
        let judge = hashes::HashJudge::of(release.map(AsRef::as_ref)).against(&known.archives, &entry.hashes);
        entry.hashes.of(HashScheme::H1).map(|h1| judge.judge(h1).platforms).collect()
    };
    let had = platforms(change.moved_from.as_ref().unwrap_or(&change.address), old);
    let has = platforms(&change.address, new);
    let has_all = has.iter().all(|platforms| !platforms.is_empty());
    let has: BTreeSet<Platform> = has.into_iter().flatten().collect();
    has_all.then(|| had.into_iter().flatten().filter(|platform| !has.contains(platform)).collect())
}

struct Judge<'a> {
    knowledge: &'a Lookup,
    known: &'a Packages,
    recorded: &'a PackageHashes,
}

impl Judge<'_> {
    fn added(&self, hash: &PackageHash) -> (Verdict, HashJudgment) {
        let judgment = hashes::HashJudge::of(self.release()).against(&self.known.archives, self.recorded).judge(hash);
        let verdict = match judgment.status {
            HashStatus::Proven(Ground::Signature | Ground::Record) if self.extends(hash, &judgment) => {
                Verdict::PlatformAdded
            }
            HashStatus::Proven(Ground::Signature | Ground::Record) => Verdict::SameSignedArchive,
            HashStatus::Proven(Ground::Report) if judgment.evidence.contains(&Evidence::ReportedByOrigin) => {
                Verdict::ReportedByOrigin
            }
            HashStatus::Contradicted | HashStatus::Unlisted => Verdict::Contradicts,
            HashStatus::Unattested | HashStatus::Malformed => Verdict::Unattested,
            // The source that could attest it says that there is no such release.
            _ if matches!(self.knowledge, Lookup::Withdrawn(_)) => Verdict::Unattested,
            HashStatus::Unknown | HashStatus::Proven(Ground::Report) => Verdict::UnknownOffline,
        };
        (verdict, judgment)
    }

    /// A removed hash. The evidence is the hashes that remain.
    fn removed(&self, hash: &PackageHash) -> JudgedHash {
        let (verdict, HashJudgment { platforms, .. }) = self.added(hash);
        let verdict = match verdict {
            Verdict::PlatformAdded => Verdict::PlatformRemoved,
            // Still covered by another hash, or of no platform that could be lost.
            other => other,
        };
        JudgedHash { verdict, platforms }
    }

    fn release(&self) -> Option<&Release> {
        self.knowledge.release().map(AsRef::as_ref)
    }

    /// True for contents of a platform that no recorded contents are of, where a release was recorded.
    fn extends(&self, hash: &PackageHash, judgment: &HashJudgment) -> bool {
        if hash.scheme() != HashScheme::H1 || self.recorded.is_empty() {
            return false;
        }
        let is_covered = |platform: &Platform| self.release().is_some_and(|release| self.covers(release, platform));
        judgment.platforms.iter().any(|platform| !is_covered(platform))
    }

    fn covers(&self, release: &Release, platform: &Platform) -> bool {
        let is_recorded = |zh: &PackageHash| self.known.archives.h1_of(zh).is_some_and(|h1| self.recorded.contains(h1));
        let mut archives = release.archives().copied().map(PackageHash::zh);
        archives.any(|zh| release.platforms_of(&zh).any(|of| of == platform) && is_recorded(&zh))
            || release.covers(platform, self.recorded)
    }
}

/// How much a reviewer must look at a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Risk {
    /// What happens in a healthy project every day.
    Routine,
    /// Worth a look.
    Notable,
    /// Not to be merged before someone has an explanation.
    Dangerous,
}

impl Risk {
    /// The word for machines and users.
    pub fn as_str(self) -> &'static str {
        match self {
            Risk::Routine => "routine",
            Risk::Notable => "notable",
            Risk::Dangerous => "dangerous",
        }
    }
}

/// True if a hash of the new entry contradicts the record, or no source attests it.
pub fn is_alarming(change: &Change) -> bool {
    let mut hashes = change.new.iter().flat_map(|new| &new.hashes);
    hashes.any(|hash| verdict(change, hash).is_some_and(Verdict::is_alarming))
}

/// The risk of a change.
pub fn risk(change: &Change) -> Risk {
    let novelty = change.novelty.as_deref();
    let squats = novelty.is_some_and(|novelty| novelty.mistaken_for.is_some());
    let is_unexplained = is_unexplained_replacement(change) || keeps_hashes_of_other_version(change);
    if is_alarming(change) || objection(change).is_some() || squats || is_unexplained || loses_all_hashes(change) {
        return Risk::Dangerous;
    }
    let is_new = novelty.is_some_and(|novelty| novelty.signer_is_new || novelty.namesake.is_some());
    if is_new {
        return Risk::Notable;
    }
    match change.kind {
        ChangeKind::Removed | ChangeKind::Downgraded | ChangeKind::Moved | ChangeKind::HashesReplaced => Risk::Notable,
        ChangeKind::Upgraded if distance(change) == Some(Distance::Major) || coverage(change).is_some() => {
            Risk::Notable
        }
        ChangeKind::HashesChanged if !change.hashes_removed.is_empty() => Risk::Notable,
        ChangeKind::Added | ChangeKind::HashesChanged if pins_nothing(change) => Risk::Notable,
        ChangeKind::Added | ChangeKind::Upgraded | ChangeKind::ConstraintsChanged | ChangeKind::HashesChanged => {
            Risk::Routine
        }
    }
}

/// What speaks against the signer of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignerObjection {
    /// A trust file refuses it.
    Refused,
    /// The same change makes the trust file accept it.
    Replaced,
    /// It is not who signed at the old address.
    Moved,
    /// Its key is not among those that the publisher announces.
    Publisher(&'static str),
}

fn objection(change: &Change) -> Option<SignerObjection> {
    let signer = change.signer.as_ref()?;
    // The publisher of the new address may be another one, such as OpenTofu for HashiCorp.
    let is_of_publisher = || publisher(&change.address).is_some_and(|it| signer.key().is_some_and(|key| it.has(key)));
    let is_other = !change.signers_before.is_empty() && !change.signers_before.contains(signer);
    match (change.standing, change.publisher_denied) {
        (Standing::Refused, _) => Some(SignerObjection::Refused),
        (_, Some(publisher)) => Some(SignerObjection::Publisher(publisher)),
        (Standing::Rotated, None) => Some(SignerObjection::Replaced),
        _ if change.moved_from.is_some() && is_other && !is_of_publisher() => Some(SignerObjection::Moved),
        _ => None,
    }
}

/// The risk of what changed next to the entries.
pub fn risk_of_text(text: TextChange) -> Option<Risk> {
    if text.not_literal {
        return Some(Risk::Dangerous);
    }
    if text.removed {
        return Some(Risk::Notable);
    }
    match text.formatting {
        Formatting::Unknown => Some(Risk::Notable),
        Formatting::Same if text.header.is_none() => None,
        Formatting::Same | Formatting::Changed => Some(Risk::Routine),
    }
}

/// Puts changes in the order in which they must be read: dangerous ones first, replaced hashes first among them,
/// downgrades before upgrades; then in their original order.
pub fn loudest_first(changes: &mut [Change]) {
    changes.sort_by_cached_key(|change| {
        let replaced = change.kind == ChangeKind::HashesReplaced;
        let downgraded = change.kind == ChangeKind::Downgraded;
        (std::cmp::Reverse(risk(change)), !replaced, !downgraded)
    });
}

fn distance(change: &Change) -> Option<Distance> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    Distance::between(&old.version, &new.version)
}

fn verdict(change: &Change, hash: &crate::hash::PackageHash) -> Option<Verdict> {
    change.judged.get(hash).map(|judged| judged.verdict)
}

/// True if the version changed and the hashes did not: all of them, or some of contents (h1), are those of the old version, and they
/// are not known to be its own. Versions may share an archive hash, which can be that of a manifest, and nothing else.
fn keeps_hashes_of_other_version(change: &Change) -> bool {
    let Some((old, new)) = change.old.as_ref().zip(change.new.as_ref()) else { return false };
    if old.version == new.version {
        return false;
    }
    let own = new.hashes.iter().filter(|hash| hash.scheme() != HashScheme::Other);
    let (kept, came): (Vec<_>, Vec<_>) = own.partition(|hash| old.hashes.contains(hash));
    let is_explained = |hash: &PackageHash| {
        verdict(change, hash).is_some_and(|verdict| !verdict.is_alarming() && verdict != Verdict::UnknownOffline)
    };
    let is_suspect = came.is_empty() || kept.iter().any(|hash| hash.scheme() == HashScheme::H1);
    is_suspect && kept.iter().any(|hash| !is_explained(hash))
}

/// True if hashes were replaced under one version, and not every new one is known to belong to the recorded release.
fn is_unexplained_replacement(change: &Change) -> bool {
    let explained = |verdict| matches!(verdict, Verdict::PlatformAdded | Verdict::SameSignedArchive);
    change.kind == ChangeKind::HashesReplaced
        && !change.hashes_added.iter().all(|added| verdict(change, &added.hash).is_some_and(explained))
}

fn loses_all_hashes(change: &Change) -> bool {
    change.old.as_ref().is_some_and(|old| !old.hashes.is_empty()) && pins_nothing(change)
}

/// True if the new entry has no hash that a tool could compare.
fn pins_nothing(change: &Change) -> bool {
    use crate::hash::HashScheme;
    change.new.as_ref().is_some_and(|new| new.hashes.iter().all(|hash| hash.scheme() == HashScheme::Other))
}

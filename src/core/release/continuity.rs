//! Hash continuity: is the offered release the one that was recorded?
//!
//! Before anything is added to a recorded address and version, the release must be shown to be the recorded one. The
//! judgment is pure; what it is shown is a [`Release`].
//!
//! Source: our own rule, stricter than the tools, which add whatever is served.
//!
//! Was a release published again, or was the lock file changed? And in words: what is said of either.
//!
//! Before a release is called republished, the file is suspected: where what is offered is what the file's own history,
//! or the index, recorded for that version, the release is the old one and the entry is not. And where the entry has what
//! they recorded for another version, only its version was changed.
//!
//! Signer continuity of a release: is its signer a remembered one, and what is to be remembered of it?
//!
//! Pure: remembered pins and a release in, updates of the trust file and findings out. What is learned for a root module
//! counts for those settled after it, and is written only if the root module is.

use std::collections::BTreeSet;

use super::Release;
use super::hashes::HashJudge;
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::settings::ExpiredKeyRule;
use crate::step::Step;
use crate::trust::openpgp::{Lapse, VerifiedSignature};
use crate::trust::pins::{Pins, Signer};
use crate::trust::signer::{SignerVerdict, TrustUpdate, denied, judge, refused, unknown_signer};
use crate::version::Version;

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
pub fn judge_release(recorded: &PackageHashes, release: &Release) -> Continuity {
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

/// What was recorded of a release elsewhere than in the entry that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRecord {
    /// The version that they were recorded for.
    pub version: Version,
    /// The hashes.
    pub recorded: PackageHashes,
    /// Where, for users, such as `HEAD` or `the index`.
    pub place: String,
    /// What to do to have the entry as it was there, where that is known.
    pub remedy: Option<Step>,
}

/// True if the served release seems to be another one than the recorded one, so it is worth looking for earlier records.
/// Packages that were not looked at may have the recorded hashes.
pub fn is_doubtful(recorded: &PackageHashes, release: &Release) -> bool {
    match judge_release(recorded, release) {
        Continuity::FirstUse | Continuity::Shown { .. } | Continuity::Grew { .. } => false,
        Continuity::Republished { .. } => true,
        Continuity::NotReproduced => HashJudge::of(Some(release)).knows_contents(),
    }
}

/// The finding that an entry was changed, by the first record of just what is offered, or else by the first record, for another
/// version, of what the entry has; none without one.
///
/// Only for an entry whose release is doubtful.
pub fn altered(recorded: &PackageHashes, release: &Release, records: &[EarlierRecord]) -> Option<Finding> {
    let (same, others): (Vec<&EarlierRecord>, Vec<&EarlierRecord>) =
        records.iter().partition(|record| record.version == release.version);
    let shown = same.into_iter().find(|record| is_shown(&record.recorded, release));
    let (record, what) = if let Some(record) = shown {
        (record, changed(recorded, record))
    } else {
        let record = others.into_iter().find(|record| explains(&record.recorded, recorded, release))?;
        (record, moved(recorded, release, record))
    };
    Some(altered_as(release, record, &what))
}

/// The finding that an entry was changed, if hashes that no package has took the place of some that a record has for the same
/// version; none where they only came.
///
/// Only for an entry whose release is the recorded one.
pub fn replaced(
    recorded: &PackageHashes,
    release: &Release,
    refuted: &[&PackageHash],
    records: &[EarlierRecord],
) -> Option<Finding> {
    // What went may be a hash of the release, whether or not anybody looked at that package.
    let judge = HashJudge::of(Some(release));
    let went = |hash: &PackageHash| !recorded.contains(hash) && !judge.judge(hash).status.is_refuted();
    let is_before = |record: &&EarlierRecord| {
        record.version == release.version
            && !refuted.iter().any(|hash| record.recorded.contains(hash))
            && record.recorded.iter().any(|hash| hash.is_well_formed() && went(hash))
    };
    let record = records.iter().find(is_before).filter(|_| !refuted.is_empty())?;
    Some(altered_as(release, record, &changed(recorded, record)))
}

fn altered_as(release: &Release, record: &EarlierRecord, what: &str) -> Finding {
    let message = format!("the entry of {} {} was changed: {what}", release.address, release.version);
    let finding = Finding::new(Rule::LockFileAltered, message).about(&release.address).of_version(&release.version);
    match &record.remedy {
        Some(remedy) => finding.remedied_by(remedy.clone()),
        None => finding,
    }
}

/// An entry that lacks what a record has for its version.
fn changed(recorded: &PackageHashes, record: &EarlierRecord) -> String {
    let is_known = |hash: &&PackageHash| hash.scheme() != HashScheme::Other;
    let foreign: Vec<&PackageHash> =
        recorded.iter().filter(is_known).filter(|hash| !record.recorded.contains(hash)).collect();
    let first = foreign.first().map(|hash| format!(" (first: {})", hash.abridged())).unwrap_or_default();
    format!(
        "{} of its {} hashes {} not in {}, which records the release that the source serves{first}",
        foreign.len(),
        recorded.len(),
        if foreign.len() == 1 { "is" } else { "are" },
        record.place,
    )
}

/// An entry that has what a record has for another version.
fn moved(recorded: &PackageHashes, release: &Release, record: &EarlierRecord) -> String {
    let count = foreign(recorded, release).filter(|hash| record.recorded.contains(hash)).count();
    format!(
        "{count} of its {} hashes {} recorded for {} in {}, and {} to {}",
        recorded.len(),
        if count == 1 { "is" } else { "are" },
        record.version,
        record.place,
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
    match judge_release(recorded, release) {
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

/// What happens when no signer is remembered for a provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum FirstUseRule {
    /// The signer is remembered for the exact address.
    #[default]
    Remember,
    /// A release that is new to the lock file is refused; of a recorded one nothing is learned.
    Refuse,
}

/// What the remembered signers say about a release that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignerMemory {
    /// The signer was remembered.
    Pinned,
    /// No signer was remembered: this one is to be.
    First(Box<TrustUpdate>),
    /// There is nothing to remember: a mirror proves no signer, or nothing may be learned.
    Unknown,
}

/// What the remembered signers say of one, which may have signed with a subkey that is denied.
pub fn verdict(pins: &Pins, release: &Release, signer: &Signer) -> SignerVerdict {
    let of_subkey = denied(pins, release.subkey.as_ref());
    of_subkey.unwrap_or_else(|| judge(pins, &release.address, &release.version, signer))
}

/// Judges a release by what is remembered. `is_new` says whether it is new to the lock file.
pub fn remembered(pins: &Pins, release: &Release, rule: FirstUseRule, is_new: bool) -> Result<SignerMemory, Finding> {
    let (address, version) = (&release.address, &release.version);
    let Some(signer) = &release.signer else {
        let forbidden = rule == FirstUseRule::Refuse && is_new;
        return if forbidden { Err(unknown_signer(address, version)) } else { Ok(SignerMemory::Unknown) };
    };
    match verdict(pins, release, signer) {
        SignerVerdict::Known(_) => Ok(SignerMemory::Pinned),
        SignerVerdict::FirstUse if rule == FirstUseRule::Remember => {
            let (address, version, signer) = (address.clone(), version.clone(), signer.clone());
            Ok(SignerMemory::First(Box::new(TrustUpdate::FirstUse { address, version, signer })))
        }
        SignerVerdict::FirstUse if !is_new => Ok(SignerMemory::Unknown),
        verdict => refused(address, version, signer, verdict).map_or(Ok(SignerMemory::Pinned), Err),
    }
}

/// The pin of the old address of a release whose archives are the same at a new one, where no signer is remembered; none
/// if it does not apply to this signer.
pub fn carried(pins: &Pins, from: &ProviderAddr, release: &Release) -> Option<TrustUpdate> {
    let (address, version, signer) = (&release.address, &release.version, release.signer.clone()?);
    let known = judge(pins, from, version, &signer).accepts();
    let unknown = judge(pins, address, version, &signer) == SignerVerdict::FirstUse;
    let (from, address, version) = (from.clone(), address.clone(), version.clone());
    (known && unknown).then_some(TrustUpdate::Carried { from, address, version, signer })
}

/// What the expiry of keys and signatures means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExpiryRules {
    /// A key that had expired when it signed.
    pub at_signing: ExpiredKeyRule,
    /// A key that has expired since.
    pub since: ExpiredKeyRule,
    /// A signature that has expired itself, or is dated in the future.
    pub signature: ExpiredKeyRule,
}

impl Default for ExpiryRules {
    /// What Terraform makes of them, with a word about the first.
    fn default() -> Self {
        Self { at_signing: ExpiredKeyRule::Warn, since: ExpiredKeyRule::Allow, signature: ExpiredKeyRule::Deny }
    }
}

impl ExpiryRules {
    /// Of each, the stricter.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self {
            at_signing: self.at_signing.max(other.at_signing),
            since: self.since.max(other.since),
            signature: self.signature.max(other.signature),
        }
    }

    /// What has expired about a signature, if that is to be reported: the worst thing only.
    pub fn finding(&self, addr: &ProviderAddr, version: &Version, verified: &VerifiedSignature) -> Option<Finding> {
        let key = &verified.fingerprint;
        let (message, rule) = match verified {
            VerifiedSignature { lapse: Some(Lapse::Expired), .. } => {
                (format!("the signature of {addr} {version} by the signing key {key} has expired"), self.signature)
            }
            VerifiedSignature { lapse: Some(Lapse::Future), .. } => (
                format!("the signature of {addr} {version} by the signing key {key} is dated in the future"),
                self.signature,
            ),
            VerifiedSignature { expired: true, .. } => {
                (format!("the signing key {key} had expired when it signed {addr} {version}"), self.at_signing)
            }
            VerifiedSignature { expired_now: true, .. } => {
                (format!("the signing key {key} has expired since it signed {addr} {version}"), self.since)
            }
            _ => return None,
        };
        let finding = Finding::new(Rule::ExpiredKey, message).about(addr);
        match rule {
            ExpiredKeyRule::Allow => None,
            ExpiredKeyRule::Warn => Some(finding),
            ExpiredKeyRule::Deny => Some(finding.at_level(Level::Deny)),
        }
    }
}

#[cfg(test)]
mod continuity_tests;

#[cfg(test)]
mod republished_tests;

#[cfg(test)]
mod signers_tests;

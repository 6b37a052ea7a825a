//! Each recorded hash: proven, refuted or unknown.

use std::collections::BTreeSet;

use super::Judged;
use crate::addr::ProviderAddr;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::outcome::{Unanswered, Verified};
use crate::release::{Knowledge, Release};
use crate::version::Version;

/// What is known of one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Proven,
    Refuted,
    Unknown,
    /// No package can have it.
    Malformed,
}

/// What is known of a hash by what is known of the release that it is recorded for.
pub(super) fn value(knowledge: &Knowledge, hash: &PackageHash) -> Value {
    if !hash.is_well_formed() {
        return Value::Malformed;
    }
    let Knowledge::Known(release) = knowledge else { return Value::Unknown };
    let proven = match hash.zh_digest() {
        Some(digest) => release.lines.contains_key(&digest),
        None => release.h1.contains_key(hash),
    };
    // What an earlier run saw may have grown since.
    let all_known = release.current && (hash.scheme() == HashScheme::Zh || release.complete);
    match (proven, all_known) {
        (true, _) => Value::Proven,
        (false, true) => Value::Refuted,
        (false, false) => Value::Unknown,
    }
}

impl Judged<'_> {
    /// Judges all hashes of the entry, and counts them.
    pub(super) fn hashes(&self, verified: &mut Verified) -> Vec<Finding> {
        let hashes = self.entry.hashes.iter().filter(|hash| hash.scheme() != HashScheme::Other);
        let judged: Vec<(&PackageHash, Value)> = hashes.map(|hash| (hash, value(self.knowledge, hash))).collect();
        let of = |wanted: Value| judged.iter().filter(move |(_, value)| *value == wanted).map(|(hash, _)| *hash);
        verified.proven += of(Value::Proven).count();
        verified.unknown += of(Value::Unknown).count();
        let mut findings: Vec<Finding> = of(Value::Malformed).map(|hash| self.malformed(hash)).collect();
        let refuted: Vec<&PackageHash> = of(Value::Refuted).collect();
        match self.knowledge {
            Knowledge::Known(release) => {
                let unanswered = release.inconclusive.iter().filter(|_| of(Value::Unknown).count() > 0);
                verified.inconclusive.extend(unanswered.map(|error| self.unanswered(error)));
                let others = of(Value::Proven).chain(of(Value::Unknown)).count();
                findings.extend(self.refuted(release, &refuted, others == 0));
                findings.extend(self.unrecorded(release, &refuted));
            }
            Knowledge::Inconclusive(error) => verified.inconclusive.push(self.unanswered(error)),
            Knowledge::Unasked | Knowledge::Withdrawn(_) | Knowledge::Refused(_) | Knowledge::Revoked(..) => {}
        }
        findings
    }

    fn unanswered(&self, error: &Error) -> Unanswered {
        Unanswered { error: error.clone(), changed: self.is_changed() }
    }

    fn malformed(&self, hash: &PackageHash) -> Finding {
        let wanted = match hash.scheme() {
            HashScheme::Zh => "64 lower-case hexadecimal digits",
            _ => "the base64 of 32 bytes",
        };
        let message = format!("recorded hash {hash} of {} can match no package: {wanted} are wanted", self.name());
        let finding = self.find(Rule::MalformedHash, message).at(self.place_of(hash));
        // It does no harm by itself; but where the release is known it stands in the place of a true one.
        if matches!(self.knowledge, Knowledge::Known(_)) { finding } else { Finding { level: Level::Warn, ..finding } }
    }

    /// One finding for each refuted hash; one for all of them if nothing else is recorded.
    fn refuted(&self, release: &Release, refuted: &[&PackageHash], all: bool) -> Vec<Finding> {
        let Some(first) = refuted.first() else { return Vec::new() };
        if !all {
            return refuted.iter().map(|hash| self.foreign(hash)).collect();
        }
        let owners: Vec<_> = refuted.iter().map(|hash| self.facts.owners(hash)).collect();
        let known = owners.iter().filter(|owners| !owners.is_empty()).count();
        let (count, name) = (refuted.len(), self.name());
        if known > 0 {
            let all: BTreeSet<_> = owners.into_iter().flatten().collect();
            let message =
                format!("{known} of the {count} recorded hashes of {name} belong to {}, and none to it", list(&all));
            return vec![self.find(Rule::ContradictedHash, message).at(self.place_of(first))];
        }
        let message = format!(
            "none of the {count} recorded hashes of {name} is that of a package on offer (first: {first}); {} packages \
             are on offer",
            release.archives().count(),
        );
        vec![self.find(Rule::Republished, message).of_version(&self.entry.version).at(self.place_of(first))]
    }

    fn foreign(&self, hash: &PackageHash) -> Finding {
        let owners = self.facts.owners(hash);
        let name = self.name();
        let (rule, message) = if owners.is_empty() {
            let of = match hash.scheme() {
                HashScheme::Zh => "stands nowhere in its signed checksums",
                _ => "is that of none of its packages",
            };
            (Rule::UnattestedHash, format!("recorded hash {hash} of {name} {of}"))
        } else {
            let message = format!("recorded hash {hash} of {name} belongs to {}", list(&owners));
            (Rule::ContradictedHash, message)
        };
        self.find(rule, message).at(self.place_of(hash))
    }

    /// Archives on offer that are not recorded.
    fn unrecorded(&self, release: &Release, refuted: &[&PackageHash]) -> Option<Finding> {
        let recorded = |digest: &Sha256Digest| self.entry.hashes.contains(&PackageHash::zh(*digest));
        let new = release.archives().filter(|digest| !recorded(digest)).count();
        let known = release.archives().filter(|digest| recorded(digest)).count();
        if new == 0 || known == 0 {
            return None;
        }
        let gone = refuted.iter().filter(|hash| hash.scheme() == HashScheme::Zh).count();
        if gone == 0 {
            let message = format!("{new} packages of {} on offer are not recorded", self.name());
            return Some(self.find(Rule::ZhMissing, message).at(self.hashes_at()));
        }
        let message = format!(
            "{gone} recorded checksums of {} are not on offer and {new} others are: the release was published again, or \
             the lock file was changed",
            self.name(),
        );
        Some(self.find(Rule::Republished, message).of_version(&self.entry.version).at(self.version_at()))
    }
}

fn list(owners: &BTreeSet<(&ProviderAddr, &Version)>) -> String {
    let mut texts: Vec<String> = owners.iter().take(3).map(|(addr, version)| format!("{addr} {version}")).collect();
    if owners.len() > texts.len() {
        texts.push(format!("{} others", owners.len() - texts.len()));
    }
    texts.join(", ")
}

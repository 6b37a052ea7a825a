//! Each recorded hash: proven, refuted or unknown.

use std::collections::BTreeSet;

use super::Judged;
use crate::addr::ProviderAddr;
use crate::count::first_of;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::release::continuity::{self, Continuity};
use crate::release::hashes::{HashJudge, Status};
use crate::release::{Lookup, Release, republished};
use crate::verify::{Unanswered, Verified};
use crate::version::Version;

pub(super) fn status(knowledge: &Lookup, hash: &PackageHash) -> Status {
    HashJudge::of(knowledge.release().map(AsRef::as_ref)).judge(hash).status
}

impl Judged<'_> {
    /// Judges all hashes of the entry, and counts them.
    pub(super) fn hashes(&self, verified: &mut Verified) -> Vec<Finding> {
        let hashes = self.entry.hashes.iter().filter(|hash| hash.scheme() != HashScheme::Other);
        let judged: Vec<(&PackageHash, Status)> = hashes.map(|hash| (hash, status(self.knowledge, hash))).collect();
        let of = |wanted: &dyn Fn(Status) -> bool| -> Vec<&PackageHash> {
            judged.iter().filter(|(_, status)| wanted(*status)).map(|(hash, _)| *hash).collect()
        };
        let (proven, open) = (of(&|status| matches!(status, Status::Proven(_))), of(&Status::is_open));
        verified.proven += proven.len();
        verified.unknown += open.len();
        let malformed = of(&|status| status == Status::Malformed);
        let mut findings: Vec<Finding> = malformed.into_iter().map(|hash| self.malformed(hash)).collect();
        match self.knowledge {
            Lookup::Known(release) => {
                let unanswered = release.inconclusive.iter().filter(|_| !open.is_empty());
                verified.inconclusive.extend(unanswered.map(|error| self.unanswered(error)));
                let none_fits = proven.is_empty() && open.is_empty();
                findings.extend(self.refuted(release, &of(&Status::is_refuted), none_fits));
            }
            Lookup::Inconclusive(error) => verified.inconclusive.push(self.unanswered(error)),
            Lookup::NotRequested | Lookup::Withdrawn(_) | Lookup::Refused(..) => {}
        }
        findings
    }

    /// Why some hashes stay unknown if the source has no usable release.
    pub(super) fn unproven(&self, unknown: usize) -> Option<Unanswered> {
        let why = match self.knowledge {
            Lookup::Withdrawn(message) => message,
            Lookup::Refused(finding, _) => &finding.message,
            Lookup::NotRequested | Lookup::Inconclusive(_) | Lookup::Known(_) => return None,
        };
        let hashes = match unknown {
            0 => return None,
            1 => "1 recorded hash".to_owned(),
            count => format!("{count} recorded hashes"),
        };
        let message = format!("{hashes} of {} cannot be proven: {why}", self.name());
        let hint = "exemptions and levels let a finding pass, and prove no hash; `--source` names a mirror that has the release";
        Some(self.unanswered(&Error::new(ErrorKind::Unavailable, message).about(self.addr.clone()).hint(hint)))
    }

    fn unanswered(&self, error: &Error) -> Unanswered {
        Unanswered { error: error.clone(), changed: self.is_changed() }
    }

    fn malformed(&self, hash: &PackageHash) -> Finding {
        let finding = republished::malformed(hash, self.addr, &self.entry.version).at(self.place_of(hash));
        // It does no harm by itself; but where the release is known it is in the place of a true one.
        if matches!(self.knowledge, Lookup::Known(_)) { finding } else { Finding { level: Level::Warn, ..finding } }
    }

    /// The finding that the entry was changed, if the served release seems to differ from the recorded one.
    pub(super) fn altered(&self) -> Option<Finding> {
        let (hashes, release) = (&self.entry.hashes, self.knowledge.release().filter(|release| release.current)?);
        let witnesses = self.facts.witnesses(self.addr);
        if witnesses.is_empty() || !republished::is_doubtful(hashes, release) {
            return None;
        }
        let refuted = hashes.iter().find(|hash| status(self.knowledge, hash).is_refuted());
        let at = refuted.map_or_else(|| self.hashes_at(), |hash| self.place_of(hash));
        Some(republished::altered(hashes, release, witnesses)?.at(at))
    }

    /// What speaks against the release being the recorded one, and against each refuted hash; one finding for all of them
    /// if nothing else is recorded.
    fn refuted(&self, release: &Release, refuted: &[&PackageHash], none_fits: bool) -> Vec<Finding> {
        let verdict = continuity::judge(&self.entry.hashes, release);
        if let (Some(first), true) = (refuted.first(), none_fits) {
            let contradicted = self.of_others(refuted);
            let all = contradicted.or_else(|| republished::republished(&self.entry.hashes, release, &verdict));
            return all.into_iter().map(|finding| finding.at(self.place_of(first))).collect();
        }
        let foreign = refuted.iter().map(|hash| self.foreign(hash));
        foreign.chain(self.unrecorded(release, &verdict)).collect()
    }

    /// The finding if no hash belongs to the release and some belong to others.
    fn of_others(&self, refuted: &[&PackageHash]) -> Option<Finding> {
        let owners: Vec<_> = refuted.iter().map(|hash| self.facts.owners(hash)).collect();
        let known = owners.iter().filter(|owners| !owners.is_empty()).count();
        let all: BTreeSet<_> = owners.into_iter().flatten().collect();
        let (count, name) = (refuted.len(), self.name());
        let message =
            format!("{known} of the {count} recorded hashes of {name} belong to {}, and none to it", list(&all));
        (known > 0).then(|| self.find(Rule::ContradictedHash, message))
    }

    fn foreign(&self, hash: &PackageHash) -> Finding {
        let owners = self.facts.owners(hash);
        let name = self.name();
        let (rule, message) = if owners.is_empty() {
            let of = match hash.scheme() {
                HashScheme::Zh => "is not in its checksums",
                _ => "belongs to no package of that release",
            };
            (Rule::UnattestedHash, format!("recorded hash {hash} of {name} {of}"))
        } else {
            let message = format!("recorded hash {hash} of {name} belongs to {}", list(&owners));
            (Rule::ContradictedHash, message)
        };
        self.find(rule, message).at(self.place_of(hash)).filled("HASH", hash.as_str())
    }

    /// The finding about served archives that are not recorded, if others are.
    fn unrecorded(&self, release: &Release, verdict: &Continuity) -> Option<Finding> {
        let new = match verdict {
            Continuity::Grew { new } => new,
            Continuity::Republished { new, .. } if *new > 0 && self.records_an_archive(release) => new,
            _ => return None,
        };
        // What an earlier run saw may have grown since; it was not published again for that.
        if let (Continuity::Republished { .. }, true) = (verdict, release.current) {
            let finding = republished::republished(&self.entry.hashes, release, verdict)?;
            return Some(finding.at(self.version_at()));
        }
        let message = match new {
            1 => format!("1 served package of {} is not recorded", self.name()),
            new => format!("{new} served packages of {} are not recorded", self.name()),
        };
        Some(self.find(Rule::ZhMissing, message).at(self.hashes_at()))
    }

    fn records_an_archive(&self, release: &Release) -> bool {
        release.archives().any(|digest| self.entry.hashes.contains(&PackageHash::zh(*digest)))
    }
}

fn list(owners: &BTreeSet<(&ProviderAddr, &Version)>) -> String {
    first_of(&owners.iter().map(|(addr, version)| format!("{addr} {version}")).collect::<Vec<_>>(), 3)
}

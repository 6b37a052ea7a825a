//! Each recorded hash: proven, refuted or unknown; and what was recorded for a version stays recorded for it.
//!
//! Hashes that only came are no matter of continuity: they are verified as all others are.
//!
//! What is judged about a release as a whole: is it there, who signed it, how old is it.

use std::collections::BTreeSet;

use super::provenance::judge_release;
use super::{JudgedEntry, Unanswered, Verified, entry, judge_witnesses};
use crate::addr::ProviderAddr;
use crate::diff;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{LockEntry, LockFile};
use crate::provenance::Judged;
use crate::release::continuity::{self, Continuity, verdict};
use crate::release::hashes::{self, HashJudge, HashStatus};
use crate::release::{Lookup, Release};
use crate::settings::{Basis, SignatureRule};
use crate::step::{Hole, Template};
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::trust::signer::{SignerVerdict, by_signer, judge, listed, not_pinned, refused, signed_by};
use crate::version::Version;
use crate::words::first_of;

fn status(knowledge: &Lookup, hash: &PackageHash) -> HashStatus {
    HashJudge::of(knowledge.release().map(AsRef::as_ref)).judge(hash).status
}

impl JudgedEntry<'_> {
    /// Judges all hashes of the entry, and counts them.
    pub(super) fn hashes(&self, verified: &mut Verified) -> Vec<Finding> {
        let hashes = self.entry.hashes.iter().filter(|hash| hash.scheme() != HashScheme::Other);
        let judged: Vec<(&PackageHash, HashStatus)> = hashes.map(|hash| (hash, status(self.knowledge, hash))).collect();
        let of = |wanted: &dyn Fn(HashStatus) -> bool| -> Vec<&PackageHash> {
            judged.iter().filter(|(_, status)| wanted(*status)).map(|(hash, _)| *hash).collect()
        };
        let (proven, open) = (of(&|status| matches!(status, HashStatus::Proven(_))), of(&HashStatus::is_open));
        verified.proven += proven.len();
        verified.unknown += open.len();
        let malformed = of(&|status| status == HashStatus::Malformed);
        let mut findings: Vec<Finding> = malformed.into_iter().map(|hash| self.malformed(hash)).collect();
        match self.knowledge {
            Lookup::Known(release) => {
                let unanswered = release.inconclusive.iter().filter(|_| !open.is_empty());
                verified.inconclusive.extend(unanswered.map(|error| self.unanswered(error)));
                let unknown = [self.provenance(release).unknown, self.witnesses(release).unknown];
                verified.inconclusive.extend(unknown.iter().flatten().map(|error| self.unanswered(error)));
                let none_fits = proven.is_empty() && open.is_empty();
                findings.extend(self.refuted(release, &of(&HashStatus::is_refuted), none_fits));
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
            Lookup::Refused(finding, _) => finding.message(),
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
        let finding = continuity::malformed(hash, self.addr, &self.entry.version).at(self.place_of(hash));
        // It does no harm by itself; but where the release is known it is in the place of a true one.
        if matches!(self.knowledge, Lookup::Known(_)) { finding } else { finding.unless_stated(Level::Warn) }
    }

    /// The finding that the entry was changed, if the served release seems to differ from the recorded one.
    pub(super) fn altered(&self) -> Option<Finding> {
        let (hashes, release) = (&self.entry.hashes, self.knowledge.release().filter(|release| release.current)?);
        let records = self.facts.earlier(self.addr);
        if records.is_empty() || !continuity::is_doubtful(hashes, release) {
            return None;
        }
        let refuted = hashes.iter().find(|hash| status(self.knowledge, hash).is_refuted());
        let at = refuted.map_or_else(|| self.hashes_at(), |hash| self.place_of(hash));
        Some(continuity::altered(hashes, release, records)?.at(at))
    }

    /// Drops what follows from another finding, unless it refuses more than that does. That a hash which took the place of a
    /// recorded one belongs to no package follows from the replacement. That no recorded `h1:` is of a wanted platform follows
    /// from each of these, and locking the platform would not remove the cause.
    pub(super) fn leave_out_consequences(&self, found: &mut Vec<Finding>) {
        let is_contents = |it: &&Finding| it.filling(Hole::Hash).is_none_or(|hash| hash.starts_with("h1:"));
        let of = |rules: &[Rule]| found.iter().filter(|it| rules.contains(&it.rule)).collect::<Vec<_>>();
        let level = |rules: &[Rule]| of(rules).into_iter().filter(is_contents).map(Finding::level).max();
        let replaced = level(&[Rule::HashReplaced]);
        let of_hashes = level(&[Rule::HashReplaced, Rule::UnattestedHash, Rule::ContradictedHash]);
        // What a finding about the whole release or entry lets pass, its consequences may pass too.
        let of_release = level(&[Rule::Republished, Rule::LockFileAltered]).map(|_| Level::Deny);
        let came: BTreeSet<&str> = self.came().map(PackageHash::as_str).collect();
        found.retain(|finding| {
            let is_new = || finding.filling(Hole::Hash).is_some_and(|hash| came.contains(hash));
            let cause = match finding.rule {
                Rule::UnattestedHash | Rule::ContradictedHash if is_new() => replaced,
                Rule::PlatformUncovered => of_hashes.max(of_release),
                _ => None,
            };
            cause.is_none_or(|cause| finding.level() > cause)
        });
    }

    /// What speaks against the release being the recorded one, and against each refuted hash; one finding for all of them
    /// if nothing else is recorded.
    fn refuted(&self, release: &Release, refuted: &[&PackageHash], none_fits: bool) -> Vec<Finding> {
        let verdict = continuity::judge_release(&self.entry.hashes, release);
        if let (Some(first), true) = (refuted.first(), none_fits) {
            let contradicted = self.of_others(refuted);
            let all = contradicted.or_else(|| continuity::republished(&self.entry.hashes, release, &verdict));
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
        self.find(rule, message).at(self.place_of(hash)).filled(Hole::Hash, hash.as_str())
    }

    /// The finding about served archives that are not recorded, if others are.
    fn unrecorded(&self, release: &Release, verdict: &Continuity) -> Option<Finding> {
        // Without a signed list nothing says that a lock file should record them.
        if hashes::is_mirror_only(release) {
            return None;
        }
        let new = match verdict {
            Continuity::Grew { new } => new,
            Continuity::Republished { new, .. } if *new > 0 && self.records_an_archive(release) => new,
            _ => return None,
        };
        // What an earlier run saw may have grown since; it was not published again for that.
        if let (Continuity::Republished { .. }, true) = (verdict, release.current) {
            let finding = continuity::republished(&self.entry.hashes, release, verdict)?;
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

struct Shift<'a> {
    came: Vec<&'a PackageHash>,
    removed: Vec<&'a PackageHash>,
}

impl JudgedEntry<'_> {
    fn is_changed(&self) -> bool {
        self.subject.before.is_some_and(|before| before.get(self.addr) != Some(self.entry))
    }

    /// True if the version was not recorded at the base.
    pub(super) fn is_new(&self) -> bool {
        let was = |before: &LockFile| before.get(self.addr).is_some_and(|old| old.version == self.entry.version);
        self.subject.before.is_some_and(|before| !was(before))
    }

    /// An older version than at the base, which may lack what was mended since.
    pub(super) fn downgraded(&self) -> Option<Finding> {
        let old = self.subject.before?.get(self.addr).filter(|old| self.entry.version < old.version)?;
        let message = format!("{} is older than the version at the base, {}", self.name(), old.version);
        Some(self.find(Rule::Downgraded, message).at(self.version_at()))
    }

    /// The hashes that the base does not record for this version; nothing if no change is judged.
    pub(super) fn came(&self) -> impl Iterator<Item = &PackageHash> {
        let old = self.subject.before.and_then(|before| before.get(self.addr));
        let old = old.filter(|old| old.version == self.entry.version);
        let is_change = self.subject.before.is_some();
        let is_new = move |hash: &&PackageHash| is_change && old.is_none_or(|old| !old.hashes.contains(hash));
        self.entry.hashes.iter().filter(is_new)
    }

    /// Replaced if some hashes went and others came, dropped if some went and none came; nothing under another version.
    pub(super) fn continuity(&self) -> Option<Finding> {
        let old = self.subject.before?.get(self.addr)?;
        let change = diff::change_of(self.addr, old, self.entry).filter(|_| old.version == self.entry.version)?;
        let can_match = |hash: &&PackageHash| hash.scheme() != HashScheme::Other && hash.is_well_formed();
        let came = change.hashes_added.iter().map(|added| &added.hash).filter(can_match).collect();
        let removed = change.hashes_removed.iter().filter(can_match).collect();
        let shift = Shift { came, removed };
        let finding = match (shift.removed.is_empty(), shift.came.is_empty()) {
            (true, _) => return None,
            (false, false) => self.replaced(&shift),
            (false, true) => self.dropped(old, &shift),
        };
        if self.is_remedy(old, &shift) {
            return Some(finding.at_level(Level::Note).remarked("no package of the release has the missing hashes"));
        }
        Some(self.accepted(finding))
    }

    /// True if the change does what the remedy of a refuted hash says: nothing went but what was refuted, and what came in
    /// its place was computed from packages of a release all of whose archives were recorded at the base.
    ///
    /// A release that was published again refutes what was recorded, too; but its archives were not recorded.
    fn is_remedy(&self, old: &LockEntry, shift: &Shift<'_>) -> bool {
        let Some(release) = self.knowledge.release() else { return false };
        let judge = |hash: &PackageHash| HashJudge::of(Some(release)).judge(hash);
        let is_proven = |hash: &PackageHash| matches!(judge(hash).status, HashStatus::Proven(_));
        let is_shown = |hash: &PackageHash| {
            is_proven(hash) && (hash.scheme() == HashScheme::Zh || judge(hash).evidence.contains(&Evidence::Computed))
        };
        let mut archives = release.archives().copied().map(PackageHash::zh);
        shift.removed.iter().all(|hash| judge(hash).status.is_refuted())
            && shift.came.iter().all(|hash| is_shown(hash))
            && (shift.came.is_empty() || archives.all(|zh| old.hashes.contains(&zh)))
            && self.entry.hashes.iter().any(is_proven)
    }

    /// That hashes were replaced, and whether the release has the new ones. If it has none of them, no publisher can be the cause.
    fn replaced(&self, shift: &Shift<'_>) -> Finding {
        let (first_gone, first_new) = (shift.removed[0], shift.came[0]);
        let refuted = shift.came.iter().filter(|hash| status(self.knowledge, hash).is_refuted()).count();
        let verdict = match refuted {
            0 => String::new(),
            1 if shift.came.len() == 1 => ", and belongs to no package of the release".to_owned(),
            all if all == shift.came.len() => ", and belong to no package of the release".to_owned(),
            some => format!(
                ", of which {some} {} to no package of the release",
                if some == 1 { "belongs" } else { "belong" }
            ),
        };
        let message = format!(
            "hashes of {} were replaced: {} recorded at the base {} missing (first: {}), {} {} new (first: {}){verdict}",
            self.name(),
            shift.removed.len(),
            are(shift.removed.len()),
            first_gone.abridged(),
            shift.came.len(),
            are(shift.came.len()),
            first_new.abridged(),
        );
        let finding = self.find(Rule::HashReplaced, message).at(self.place_of(first_new));
        if refuted > 0 { finding.remedied_by(RESTORE) } else { finding }
    }

    fn dropped(&self, old: &LockEntry, shift: &Shift<'_>) -> Finding {
        let (lost, of) = (shift.removed.len(), old.hashes.len());
        let name = self.name();
        let message = if lost == of {
            format!("all {of} hashes of {name} recorded at the base are missing")
        } else {
            format!(
                "{lost} of {of} hashes of {name} recorded at the base {} missing (first: {})",
                are(lost),
                shift.removed[0].abridged()
            )
        };
        self.find(Rule::HashesDropped, message).at(self.hashes_at())
    }

    /// The finding as a warning, if the trusted trust file accepted since the base that the release was
    /// published again.
    fn accepted(&self, finding: Finding) -> Finding {
        let records = self.subject.pins.into_iter().flat_map(|pins| &pins.republished);
        let mut of_release =
            records.filter(|(record, _)| record.address == *self.addr && record.version == self.entry.version);
        let Some((record, reason)) = of_release.next_back().filter(|_| finding.level() == Level::Deny) else {
            return finding;
        };
        let warning = finding
            .at_level(Level::Warn)
            .remarked(format_args!("that it was published again was accepted on {}: {reason}", record.date));
        warning.remedied_by("Nothing, if the reason given there is right: the trust file accepts the new hashes.")
    }
}

/// What to do where the release does not have what took the place of recorded hashes.
const RESTORE: Template = template!("Restore the entry as the base has it: `tflock lock ADDR --restore-from REV`.");

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// What to do where the word of a mirror does not suffice.
const SIGNED_COPIES: Template = template!(
    "If the origin registry is reachable, verify with `--source origin`; or let the mirror keep the copies of the signed documents that `tflock mirror` writes, and the trust file the signer."
);

impl JudgedEntry<'_> {
    pub(super) fn release(&self) -> Vec<Finding> {
        match self.knowledge {
            Lookup::NotRequested | Lookup::Inconclusive(_) => Vec::new(),
            Lookup::Withdrawn(message) => {
                vec![self.find(Rule::VersionWithdrawn, message).at(self.version_at())]
            }
            Lookup::Refused(finding, _) => vec![finding.clone().about(self.addr).at(self.version_at())],
            Lookup::Known(release) => {
                let noticed = release.findings.iter().map(|finding| finding.clone().at(self.version_at()));
                let mut findings: Vec<Finding> = noticed.collect();
                findings.extend(self.signer(release));
                findings.extend(self.publisher(release));
                let of_origin = [self.provenance(release).findings, self.witnesses(release).findings];
                findings.extend(of_origin.into_iter().flatten().map(|it| it.at(self.version_at())));
                findings.extend(self.mirror(release));
                findings.extend(self.age(release));
                findings
            }
        }
    }

    /// Objections to a release that only a mirror attests.
    fn mirror(&self, release: &Release) -> Vec<Finding> {
        let stated = self.subject.settings.stated_signature(self.addr.host()) == Some(SignatureRule::Always);
        let unsigned = hashes::unsigned(release).filter(|_| stated);
        let unproven = unsigned.or_else(|| self.mirror_only(release));
        let findings = hashes::differs(release, &self.entry.hashes).into_iter().chain(unproven);
        findings.map(|finding| finding.at(self.version_at())).collect()
    }

    /// What came with a change and rests on the word of a mirror alone: refused where the change could have filled the mirror,
    /// and where the trust file says by whom releases are signed. What a key signed that no trust file remembers is the word
    /// of who has the key.
    fn mirror_only(&self, release: &Release) -> Option<Finding> {
        let within = self.facts.is_served_within(self.addr);
        let is_word = |hash: &&PackageHash| {
            let is_word = hashes::is_mirror_report(release, hash) || (within && self.subject.pins.is_none());
            is_word && matches!(status(self.knowledge, hash), HashStatus::Proven(_))
        };
        let what = match self.came().filter(is_word).count() {
            0 => return None,
            1 => "1 hash".to_owned(),
            count => format!("{count} hashes"),
        };
        let pinned = self.subject.pins.map(|pins| judge(pins, self.addr, &self.entry.version, &Signer::Unsigned));
        let refused = match pinned {
            _ if within => ", which is inside the working tree, so this change could have filled it".to_owned(),
            None | Some(SignerVerdict::Known(_)) => String::new(),
            Some(SignerVerdict::UnsignedAfterSigned { pin, accepted }) => {
                format!(", which has no copy of the signature; {pin} is pinned to {}", listed(&accepted))
            }
            Some(_) => ", which has no copy of a signature, and no signer of this provider is remembered".to_owned(),
        };
        let message = format!("{what} of {} came since the base and only a mirror attests them{refused}", self.name());
        let finding = self.find(Rule::MirrorOnly, message);
        if refused.is_empty() {
            return Some(finding);
        }
        Some(finding.at_level(Level::Deny).remedied_by(SIGNED_COPIES))
    }

    fn signer(&self, release: &Release) -> Option<Finding> {
        let signer = release.signer.as_ref()?;
        let Some(pins) = self.subject.pins else {
            let message =
                format!("{} is {}; there is no trust file that would remember it", self.name(), signed_by(signer));
            let finding = by_signer(self.find(Rule::SignerNotPinned, message), signer);
            return Some(finding.unless_stated(Level::Note).at(self.version_at()));
        };
        let finding = match verdict(pins, release, signer) {
            SignerVerdict::FirstUse => Some(not_pinned(self.addr, &release.version, signer)),
            verdict => refused(self.addr, &release.version, signer, verdict),
        };
        finding.map(|finding| finding.at(self.version_at()))
    }

    /// Under a base for changed entries only: what was there before is no matter of the change.
    fn publisher(&self, release: &Release) -> Option<Finding> {
        let signer = release.signer.as_ref()?;
        let is_concerned = self.subject.before.is_none() || self.is_changed();
        let announced = if self.subject.before.is_some() { Level::Deny } else { Level::Warn };
        let unexpected = || entry::unexpected_publisher(self.subject.pins, self.addr, signer, announced);
        let finding = is_concerned.then(unexpected).flatten()?;
        Some(finding.of_version(&self.entry.version).at(self.version_at()))
    }

    /// Where the release was built; under a base for changed entries only.
    pub(super) fn provenance(&self, release: &Release) -> Judged {
        let is_concerned = self.subject.before.is_none() || self.is_changed();
        let judge = || judge_release(self.subject.pins, self.subject.settings, release);
        is_concerned.then(judge).unwrap_or_default()
    }

    /// What other places say of a release that is new.
    fn witnesses(&self, release: &Release) -> Judged {
        judge_witnesses(self.subject.settings, release, self.subject.now)
    }

    fn age(&self, release: &Release) -> Option<Finding> {
        let objection = self.objections(release.signed_at).into_iter().find(|it| it.basis == Basis::Date)?;
        Some(objection.finding(self.addr).of_version(&self.entry.version).at(self.version_at()))
    }
}

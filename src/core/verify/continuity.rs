//! What became of an entry since the base: what was recorded for a version stays recorded for it.
//!
//! Hashes that only came are no matter here: they are verified as all others are.

use super::Judged;
use crate::diff;
use crate::evidence::Evidence;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{LockEntry, LockFile};
use crate::release::hashes::{HashJudge, Status};

struct Shift<'a> {
    came: Vec<&'a PackageHash>,
    removed: Vec<&'a PackageHash>,
}

impl Judged<'_> {
    pub(super) fn is_changed(&self) -> bool {
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
            let message = format!("{}; no package of the release has the missing hashes", finding.message);
            return Some(Finding { level: Level::Note, message, ..finding });
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
        let is_proven = |hash: &PackageHash| matches!(judge(hash).status, Status::Proven(_));
        let is_shown = |hash: &PackageHash| {
            is_proven(hash) && (hash.scheme() == HashScheme::Zh || judge(hash).evidence.contains(&Evidence::Computed))
        };
        let mut archives = release.archives().copied().map(PackageHash::zh);
        shift.removed.iter().all(|hash| judge(hash).status.is_refuted())
            && shift.came.iter().all(|hash| is_shown(hash))
            && (shift.came.is_empty() || archives.all(|zh| old.hashes.contains(&zh)))
            && self.entry.hashes.iter().any(is_proven)
    }

    fn replaced(&self, shift: &Shift<'_>) -> Finding {
        let (first_gone, first_new) = (shift.removed[0], shift.came[0]);
        let message = format!(
            "hashes of {} were replaced: {} recorded at the base {} missing (first: {}), {} {} new (first: {})",
            self.name(),
            shift.removed.len(),
            are(shift.removed.len()),
            first_gone.abridged(),
            shift.came.len(),
            are(shift.came.len()),
            first_new.abridged(),
        );
        self.find(Rule::HashReplaced, message).at(self.place_of(first_new))
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
        let Some((record, reason)) = of_release.next_back().filter(|_| finding.level == Level::Deny) else {
            return finding;
        };
        let message =
            format!("{}; that it was published again was accepted on {}: {reason}", finding.message, record.date);
        let warning = Finding { level: Level::Warn, message, ..finding };
        warning.remedied_by("Nothing, if the reason given there is right: the trust file accepts the new hashes.")
    }
}

fn are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

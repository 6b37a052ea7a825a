//! How dangerous a change is.

use super::Distance;
use super::headline::coverage;
use crate::diff::{Change, ChangeKind, Formatting, Standing, TextChange};
use crate::evidence::Verdict;

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
    let refused = change.standing == Standing::Refused;
    let novelty = change.novelty.as_deref();
    let squats = novelty.is_some_and(|novelty| novelty.mistaken_for.is_some());
    if is_alarming(change) || refused || squats || is_unexplained_replacement(change) || loses_all_hashes(change) {
        return Risk::Dangerous;
    }
    let is_new = novelty.is_some_and(|novelty| novelty.signer_is_new || novelty.namesake.is_some());
    if is_new || change.standing == Standing::Rotated {
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

pub(super) fn distance(change: &Change) -> Option<Distance> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    Distance::between(&old.version, &new.version)
}

pub(super) fn verdict(change: &Change, hash: &crate::hash::PackageHash) -> Option<Verdict> {
    change.judged.get(hash).map(|judged| judged.verdict)
}

/// True if hashes were replaced under one version, and not every new one is known to belong to the recorded release.
pub(super) fn is_unexplained_replacement(change: &Change) -> bool {
    let explained = |verdict| matches!(verdict, Verdict::PlatformAdded | Verdict::SameSignedArchive);
    change.kind == ChangeKind::HashesReplaced
        && !change.hashes_added.iter().all(|added| verdict(change, &added.hash).is_some_and(explained))
}

pub(super) fn loses_all_hashes(change: &Change) -> bool {
    change.old.as_ref().is_some_and(|old| !old.hashes.is_empty()) && pins_nothing(change)
}

/// True if the new entry has no hash that a tool could compare.
pub(super) fn pins_nothing(change: &Change) -> bool {
    use crate::hash::HashScheme;
    change.new.as_ref().is_some_and(|new| new.hashes.iter().all(|hash| hash.scheme() == HashScheme::Other))
}

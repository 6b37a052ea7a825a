//! Two lock files, merged entry by entry.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{MergeRemark, Reason, Settled, Side, Why, is_mixture, settle};
use super::text::Markers;
use super::{Decisions, MergeOptions, MergedText, Three, agreed, base_lock, both};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level};
use crate::lockfile::{LockEntry, LockFile, StacksHeader, decode, detect_dialect};
use crate::requirements::Requirements;

/// A merged lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockMerge {
    /// The entries, and the conflicts where an entry would be.
    pub entries: BTreeMap<ProviderAddr, Merged>,
    /// Decisions and conflicts that users should know of, in the order of the entries.
    pub remarks: Vec<MergeRemark>,
    /// The header of Terraform Stacks, of the side that changed it.
    pub stacks: Option<StacksHeader>,
}

/// One place of a merged lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The entry.
    Entry(LockEntry),
    /// Someone has to decide.
    Conflict {
        /// The entry of ours.
        ours: LockEntry,
        /// The entry of theirs.
        theirs: LockEntry,
    },
}

/// What the merged configuration requires.
#[derive(Debug, Clone, Copy)]
pub struct Configured<'a> {
    /// The requirements of all modules that could be read.
    pub requirements: &'a Requirements,
    /// False if there are others.
    pub complete: bool,
}

/// An entry that both sides changed, of which the version of one side was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The provider.
    pub addr: ProviderAddr,
    /// The side whose version was taken.
    pub side: Side,
    /// The merged entry.
    pub taken: LockEntry,
    /// The entry of the other side.
    pub dropped: LockEntry,
}

impl LockMerge {
    /// The merged lock file; `None` if there are conflicts.
    pub fn lock(&self) -> Option<LockFile> {
        let mut lock = self.without_entries();
        for (addr, merged) in &self.entries {
            match merged {
                Merged::Entry(entry) => lock.insert(addr.clone(), entry.clone()),
                Merged::Conflict { .. } => return None,
            };
        }
        Some(lock)
    }

    fn without_entries(&self) -> LockFile {
        let mut lock = LockFile::new();
        lock.stacks = self.stacks;
        lock
    }

    /// How many entries someone has to decide about.
    pub fn conflicts(&self) -> usize {
        self.entries.values().filter(|merged| matches!(merged, Merged::Conflict { .. })).count()
    }

    fn settle(&mut self, addr: &ProviderAddr, merged: Option<Merged>, reason: Option<Reason>) {
        match merged {
            Some(merged) => drop(self.entries.insert(addr.clone(), merged)),
            None => drop(self.entries.remove(addr)),
        }
        self.remarks.retain(|remark| !matches!(remark, MergeRemark::Entry(about, _) if about == addr));
        self.remarks.extend(reason.map(|reason| MergeRemark::Entry(addr.clone(), Box::new(reason))));
    }

    /// Makes a conflict of each entry whose sides may contain hashes of two releases.
    ///
    /// Between markers a side is what git left of it. Where one branch upgraded and the other added a platform, git has
    /// merged the version, so both sides name the new one, and only the hashes show whose they are.
    fn distrust_mixtures(&mut self, ours: &LockFile, theirs: &LockFile) {
        for (addr, ours) in ours.iter() {
            let Some(theirs) = theirs.get(addr).filter(|theirs| is_mixture(ours, theirs)) else { continue };
            let conflict = Merged::Conflict { ours: ours.clone(), theirs: theirs.clone() };
            let reason = Reason::Mixture(ours.version.clone(), theirs.version.clone());
            self.settle(addr, Some(conflict), Some(reason));
        }
    }

    /// Takes the entries that are agreed about, where there is a conflict and one of its sides has them so. Gives the
    /// providers that this decided.
    fn decide(&mut self, agreed: &LockFile) -> BTreeSet<ProviderAddr> {
        let is_decided = |(addr, merged): &(&ProviderAddr, &Merged)| match merged {
            Merged::Entry(_) => false,
            Merged::Conflict { ours, theirs } => agreed.get(addr).is_some_and(|entry| [ours, theirs].contains(&entry)),
        };
        let decided: BTreeSet<ProviderAddr> =
            self.entries.iter().filter(is_decided).map(|(addr, _)| addr.clone()).collect();
        for addr in &decided {
            self.settle(addr, agreed.get(addr).cloned().map(Merged::Entry), None);
        }
        decided
    }

    /// Takes the entry that the merged configuration decides, of each provider that both sides changed.
    fn configure(&mut self, locks: Three<&LockFile>, configured: Configured<'_>, by_hand: &BTreeSet<ProviderAddr>) {
        for (addr, sides) in changed_by_both(locks).into_iter().filter(|(addr, _)| !by_hand.contains(addr)) {
            let required = configured.requirements.get(addr);
            let (ours, theirs) = match (sides.ours, sides.theirs, required) {
                (Some(ours), Some(theirs), Some(_)) if ours.version != theirs.version => (ours, theirs),
                (None, Some(_), None) if configured.complete => {
                    self.settle(addr, None, Some(Reason::Removed(Side::Ours)));
                    continue;
                }
                (Some(_), None, None) if configured.complete => {
                    self.settle(addr, None, Some(Reason::Removed(Side::Theirs)));
                    continue;
                }
                _ => continue,
            };
            let allows = |entry: &LockEntry| required.is_some_and(|it| it.constraints.allows(&entry.version));
            let is_new = |entry: &LockEntry| sides.base.is_none_or(|base| base.version != entry.version);
            let (side, why) = match (allows(ours), allows(theirs)) {
                (true, false) => (Side::Ours, Why::OnlyAllowed),
                (false, true) => (Side::Theirs, Why::OnlyAllowed),
                // A module that could not be read may allow less.
                (true, true) if configured.complete && is_new(ours) && is_new(theirs) => {
                    (if ours.version > theirs.version { Side::Ours } else { Side::Theirs }, Why::Newer)
                }
                _ => continue,
            };
            let (taken, dropped) = if side == Side::Ours { (ours, theirs) } else { (theirs, ours) };
            let merged = match self.entries.get(addr) {
                Some(Merged::Entry(entry)) if entry.version == taken.version => entry,
                _ => taken,
            };
            let versions = [taken, dropped].map(|entry| entry.version.clone());
            self.settle(addr, Some(Merged::Entry(merged.clone())), Some(Reason::Taken(side, versions, why)));
        }
    }

    /// The entries that both sides changed, of which the version of one side was taken, each with a remark.
    fn replaced(&mut self, locks: Three<&LockFile>) -> Vec<Replaced> {
        let mut replaced = Vec::new();
        let known: BTreeSet<ProviderAddr> = self.remarks.iter().filter_map(MergeRemark::address).cloned().collect();
        for (addr, sides) in changed_by_both(locks) {
            let (Some(Merged::Entry(taken)), Some(ours), Some(theirs)) =
                (self.entries.get(addr), sides.ours, sides.theirs)
            else {
                continue;
            };
            if ours.version == theirs.version {
                continue;
            }
            let side = if taken.version == ours.version { Side::Ours } else { Side::Theirs };
            let dropped = if side == Side::Ours { theirs } else { ours };
            if !known.contains(addr) {
                let why = if taken.version > dropped.version { Why::Newer } else { Why::Changed };
                let reason = Reason::Taken(side, [taken, dropped].map(|entry| entry.version.clone()), why);
                self.remarks.push(MergeRemark::Entry(addr.clone(), Box::new(reason)));
            }
            replaced.push(Replaced { addr: addr.clone(), side, taken: taken.clone(), dropped: dropped.clone() });
        }
        replaced
    }

    /// The text as `dialect` writes it, with markers around the blocks of each conflict.
    fn encode(&self, dialect: Dialect, markers: Markers) -> Vec<u8> {
        let header = self.without_entries().encode(dialect);
        let none = LockFile::new().encode(dialect).len();
        let block = |addr: &ProviderAddr, entry: &LockEntry| {
            let mut lock = LockFile::new();
            lock.insert(addr.clone(), entry.clone());
            lock.encode(dialect).split_off(none)
        };
        let mut text = header.into_bytes();
        for (addr, merged) in &self.entries {
            match merged {
                Merged::Entry(entry) => text.extend_from_slice(block(addr, entry).as_bytes()),
                Merged::Conflict { ours, theirs } => {
                    text.push(b'\n');
                    let [ours, theirs] = [ours, theirs].map(|entry| block(addr, entry));
                    markers.push_conflict(&mut text, ours.trim_start().as_bytes(), theirs.trim_start().as_bytes());
                }
            }
        }
        text
    }
}

/// Merges lock files.
///
/// A version changed on one side is taken with its entry. Changed on both, it is the higher that the constraints of both
/// allow. For equal versions the hashes are those that at least one side records. An entry that was removed on one
/// side and changed on the other is kept, with a remark.
pub fn merge_locks(locks: Three<&LockFile>) -> LockMerge {
    let Three { base, ours, theirs } = locks;
    let stacks = if ours.stacks == base.stacks { theirs.stacks } else { ours.stacks };
    let mut merge = LockMerge { entries: BTreeMap::new(), remarks: Vec::new(), stacks };
    let addrs: BTreeSet<&ProviderAddr> = ours.iter().chain(theirs.iter()).map(|(addr, _)| addr).collect();
    for addr in addrs {
        let sides = Three { base: base.get(addr), ours: ours.get(addr), theirs: theirs.get(addr) };
        let mut reasons = Vec::new();
        let merged = match (settle(sides, &mut reasons), sides.ours, sides.theirs) {
            (Settled::Entry(entry), ..) => Some(Merged::Entry(entry)),
            (Settled::Conflict, Some(ours), Some(theirs)) => {
                Some(Merged::Conflict { ours: ours.clone(), theirs: theirs.clone() })
            }
            (Settled::Absent | Settled::Conflict, ..) => None,
        };
        merge.entries.extend(merged.map(|merged| (addr.clone(), merged)));
        merge.remarks.extend(reasons.into_iter().map(|reason| MergeRemark::Entry(addr.clone(), Box::new(reason))));
    }
    merge
}

/// The providers whose entry both sides changed, and not alike.
fn changed_by_both(locks: Three<&LockFile>) -> Vec<(&ProviderAddr, Three<Option<&LockEntry>>)> {
    let Three { base, ours, theirs } = locks;
    let addrs: BTreeSet<&ProviderAddr> = ours.iter().chain(theirs.iter()).map(|(addr, _)| addr).collect();
    let entries = addrs
        .into_iter()
        .map(|addr| (addr, Three { base: base.get(addr), ours: ours.get(addr), theirs: theirs.get(addr) }));
    entries.filter(|(_, it)| it.ours != it.theirs && it.ours != it.base && it.theirs != it.base).collect()
}

/// Merges the texts of lock files. The result is canonical except for its conflicts.
pub(super) fn merge(texts: Three<&[u8]>, decisions: Decisions<'_>, options: MergeOptions) -> MergedText {
    let sides = decisions.sides;
    let Three { base, ours, theirs } = texts;
    let (dialect, differing) = tool(texts, sides, options.dialect);
    let markers = Markers { size: options.marker_size };
    let read = |side, text| {
        decode(text, detect_dialect(text).unwrap_or(dialect)).map_err(|found| Box::new(unreadable(side, &found)))
    };
    match (read(Side::Ours, ours), read(Side::Theirs, theirs)) {
        (Ok(ours), Ok(theirs)) => {
            let (ours, theirs) = (&ours.lock, &theirs.lock);
            let base = base_lock(base, dialect);
            let nothing = LockFile::new();
            let locks = Three { base: base.as_ref().unwrap_or(&nothing), ours, theirs };
            let mut merge = merge_locks(locks);
            if options.from_markers {
                merge.distrust_mixtures(ours, theirs);
            }
            let by_hand = both(sides, |side| base_lock(side, dialect)).map(|[one, other]| agreed(&one, &other));
            let by_hand = by_hand.map(|agreed| merge.decide(&agreed)).unwrap_or_default();
            if let Some(configured) = decisions.configured.filter(|_| !options.from_markers) {
                merge.configure(locks, configured, &by_hand);
            }
            let replaced = merge.replaced(locks);
            merge.remarks.sort_by(|one, other| one.address().cmp(&other.address()));
            let no_base = base.is_none().then_some(MergeRemark::NoBase);
            MergedText {
                text: merge.encode(dialect, markers),
                conflicts: merge.conflicts() > 0,
                remarks: no_base.into_iter().chain(differing).chain(merge.remarks).collect(),
                replaced,
            }
        }
        (ours_read, theirs_read) => {
            let remarks = ours_read.err().into_iter().chain(theirs_read.err()).map(|remark| *remark).collect();
            markers.whole_file(ours, theirs, remarks)
        }
    }
}

/// The tool that the merged file names: the new one of the side that changed it. Where only ours is a choice
/// between two, a remark says so.
fn tool(texts: Three<&[u8]>, sides: Option<[&[u8]; 2]>, otherwise: Dialect) -> (Dialect, Option<MergeRemark>) {
    let base = detect_dialect(texts.base);
    match (detect_dialect(texts.ours), detect_dialect(texts.theirs)) {
        (Some(ours), Some(theirs)) if ours != theirs => match both(sides, detect_dialect) {
            _ if base == Some(ours) => (theirs, None),
            _ if base == Some(theirs) => (ours, None),
            Some([one, other]) if one == other => (one, None),
            _ => (ours, Some(MergeRemark::ToolsDiffer(ours, theirs))),
        },
        (ours, theirs) => (ours.or(theirs).unwrap_or(otherwise), None),
    }
}

fn unreadable(side: Side, findings: &[Finding]) -> MergeRemark {
    let denied = findings.iter().find(|finding| finding.level() == Level::Deny);
    let why = denied.map_or_else(String::new, |finding| match finding.position {
        Some(position) => format!("line {}: {}", position.line, finding.message()),
        None => finding.message().to_owned(),
    });
    MergeRemark::Unreadable(side, why)
}

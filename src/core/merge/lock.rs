//! Two lock files, merged entry by entry.

use std::collections::{BTreeMap, BTreeSet};

use super::base::{agreed, base_lock};
use super::entry::{Settled, is_mixture, settle};
use super::markers::Markers;
use super::remark::{Reason, Remark, Side};
use super::{MergeOptions, MergedText, Three, both};
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level};
use crate::lockfile::{LockEntry, LockFile, decode, detect_dialect};

/// A merged lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockMerge {
    /// The entries, and the conflicts where an entry would be.
    pub entries: BTreeMap<ProviderAddr, Merged>,
    /// Decisions and conflicts that people should know of, in the order of the entries.
    pub remarks: Vec<Remark>,
}

/// One place of a merged lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The entry.
    Entry(LockEntry),
    /// Somebody has to decide.
    Conflict {
        /// The entry of ours.
        ours: LockEntry,
        /// The entry of theirs.
        theirs: LockEntry,
    },
}

impl LockMerge {
    /// The merged lock file; none if there are conflicts.
    pub fn lock(&self) -> Option<LockFile> {
        let mut lock = LockFile::new();
        for (addr, merged) in &self.entries {
            match merged {
                Merged::Entry(entry) => lock.insert(addr.clone(), entry.clone()),
                Merged::Conflict { .. } => return None,
            };
        }
        Some(lock)
    }

    /// How many entries somebody has to decide about.
    pub fn conflicts(&self) -> usize {
        self.entries.values().filter(|merged| matches!(merged, Merged::Conflict { .. })).count()
    }

    /// Makes a conflict of each entry whose sides may hold hashes of two releases.
    ///
    /// Between markers a side is what git left of it. Where one branch upgraded and the other added a platform, git has
    /// merged the version, so that both sides name the new one, and only the hashes tell whose they are.
    fn distrust_mixtures(&mut self, ours: &LockFile, theirs: &LockFile) {
        for (addr, ours) in ours.iter() {
            let Some(theirs) = theirs.get(addr).filter(|theirs| is_mixture(ours, theirs)) else { continue };
            let conflict = Merged::Conflict { ours: ours.clone(), theirs: theirs.clone() };
            self.entries.insert(addr.clone(), conflict);
            self.remarks.retain(|remark| !matches!(remark, Remark::Entry(about, _) if about == addr));
            self.remarks.push(Remark::Entry(addr.clone(), Box::new(Reason::Mixture)));
        }
    }

    /// Takes the entries that are agreed about, where there is a conflict and one of its sides has them so.
    fn decide(&mut self, agreed: &LockFile) {
        for (addr, merged) in &mut self.entries {
            let Merged::Conflict { ours, theirs } = merged else { continue };
            let Some(entry) = agreed.get(addr).filter(|entry| [&*ours, &*theirs].contains(entry)) else { continue };
            *merged = Merged::Entry(entry.clone());
            self.remarks.retain(|remark| !matches!(remark, Remark::Entry(about, _) if about == addr));
        }
    }

    /// The text as `dialect` writes it, with markers around the blocks of each conflict.
    fn encode(&self, dialect: Dialect, markers: Markers) -> Vec<u8> {
        let header = LockFile::new().encode(dialect);
        let block = |addr: &ProviderAddr, entry: &LockEntry| {
            let mut lock = LockFile::new();
            lock.insert(addr.clone(), entry.clone());
            lock.encode(dialect).split_off(header.len())
        };
        let mut text = header.clone().into_bytes();
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
/// allow. For equal versions the hashes are those that at least one side vouches for. An entry that was removed on one
/// side and changed on the other is kept, with a remark.
pub fn merge_locks(locks: Three<&LockFile>) -> LockMerge {
    let Three { base, ours, theirs } = locks;
    let mut merge = LockMerge { entries: BTreeMap::new(), remarks: Vec::new() };
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
        merge.remarks.extend(reasons.into_iter().map(|reason| Remark::Entry(addr.clone(), Box::new(reason))));
    }
    merge
}

/// Merges the texts of lock files. The result is canonical but for its conflicts.
pub(super) fn merge(texts: Three<&[u8]>, options: MergeOptions) -> MergedText {
    merge_decided(texts, None, options)
}

/// The same, with what two sides agree about as the decision of a conflict.
pub(super) fn merge_decided(texts: Three<&[u8]>, sides: Option<[&[u8]; 2]>, options: MergeOptions) -> MergedText {
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
            let mut merge = merge_locks(Three { base: base.as_ref().unwrap_or(&LockFile::new()), ours, theirs });
            if options.from_markers {
                merge.distrust_mixtures(ours, theirs);
            }
            if let Some([one, other]) = both(sides, |side| base_lock(side, dialect)) {
                merge.decide(&agreed(&one, &other));
            }
            let no_base = base.is_none().then_some(Remark::NoBase);
            MergedText {
                text: merge.encode(dialect, markers),
                conflicts: merge.conflicts() > 0,
                remarks: no_base.into_iter().chain(differing).chain(merge.remarks).collect(),
            }
        }
        (ours_read, theirs_read) => {
            let remarks = ours_read.err().into_iter().chain(theirs_read.err()).map(|remark| *remark).collect();
            markers.whole_file(ours, theirs, remarks)
        }
    }
}

/// The tool that the merged file names: that of the side that moved to another one. Where only that of ours is a choice
/// between two, it is told.
fn tool(texts: Three<&[u8]>, sides: Option<[&[u8]; 2]>, otherwise: Dialect) -> (Dialect, Option<Remark>) {
    let base = detect_dialect(texts.base);
    match (detect_dialect(texts.ours), detect_dialect(texts.theirs)) {
        (Some(ours), Some(theirs)) if ours != theirs => match both(sides, detect_dialect) {
            _ if base == Some(ours) => (theirs, None),
            _ if base == Some(theirs) => (ours, None),
            Some([one, other]) if one == other => (one, None),
            _ => (ours, Some(Remark::ToolsDiffer(ours, theirs))),
        },
        (ours, theirs) => (ours.or(theirs).unwrap_or(otherwise), None),
    }
}

fn unreadable(side: Side, findings: &[Finding]) -> Remark {
    let denied = findings.iter().find(|finding| finding.level == Level::Deny);
    let why = denied.map_or_else(String::new, |finding| match finding.position {
        Some(position) => format!("line {}: {}", position.line, finding.message),
        None => finding.message.clone(),
    });
    Remark::Unreadable(side, why)
}

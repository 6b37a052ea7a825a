//! Several entries of one provider in one lock file, as merges line by line and bots leave them: one is kept.

use std::collections::BTreeSet;

use super::entry::{Settled, settle};
use super::lock::Configured;
use super::remark::{Reason, Remark};
use super::{MergeOptions, MergedText, Three};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::{LockEntry, LockFile, detect_dialect, salvage};
use crate::version::Version;

/// Why a lock file stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrepaired {
    /// Something else is wrong with the text.
    Refused(Box<Finding>),
    /// Nothing decides between the entries of these providers.
    Undecided(Vec<Remark>),
}

/// True if the one thing that is wrong with a text, or one of several, is that a provider has several entries.
pub fn has_repeated(text: &[u8], options: MergeOptions) -> bool {
    !salvage(text, detect_dialect(text).unwrap_or(options.dialect)).repeated.is_empty()
}

/// Keeps one entry of each provider: of several versions the newest that the configuration allows, with the hashes of all
/// entries of that version.
pub fn keep_one_of_each(
    text: &[u8],
    configured: Option<Configured<'_>>,
    options: MergeOptions,
) -> Result<MergedText, Unrepaired> {
    let dialect = detect_dialect(text).unwrap_or(options.dialect);
    let decoded = salvage(text, dialect);
    let is_other = |finding: &&Finding| finding.level == Level::Deny && finding.rule != Rule::DuplicateProvider;
    if let Some(finding) = decoded.warnings.iter().find(is_other) {
        return Err(Unrepaired::Refused(Box::new(finding.clone())));
    }
    let (mut lock, mut remarks, mut undecided): (LockFile, _, _) = (decoded.lock, Vec::new(), Vec::new());
    for (addr, entries) in decoded.repeated {
        let remark = |reason| Remark::Entry(addr.clone(), Box::new(reason));
        match keep_one(&addr, &entries, configured) {
            Ok(entry) => {
                let versions: BTreeSet<&Version> = entries.iter().map(|entry| &entry.version).collect();
                let dropped = versions.into_iter().filter(|version| **version != entry.version).cloned().collect();
                remarks.push(remark(Reason::OneKept { count: entries.len(), taken: entry.version.clone(), dropped }));
                lock.insert(addr, entry);
            }
            Err(reason) => undecided.push(remark(reason)),
        }
    }
    if !undecided.is_empty() {
        return Err(Unrepaired::Undecided(undecided));
    }
    Ok(MergedText { text: lock.encode(dialect).into_bytes(), remarks, ..MergedText::default() })
}

fn keep_one(
    addr: &ProviderAddr,
    entries: &[LockEntry],
    configured: Option<Configured<'_>>,
) -> Result<LockEntry, Reason> {
    let versions: BTreeSet<&Version> = entries.iter().map(|entry| &entry.version).collect();
    let required = configured.and_then(|configured| configured.requirements.get(addr));
    let is_allowed = |version: &&&Version| required.is_some_and(|it| it.constraints.allows(version));
    // A module that could not be read may allow less than the newest.
    let is_known = configured.is_some_and(|configured| configured.complete);
    let allowed: Vec<&Version> = versions.iter().filter(is_allowed).copied().collect();
    let taken = match (versions.len(), &allowed[..]) {
        (1, _) => versions.first().copied(),
        (_, [only]) => Some(*only),
        (_, [.., newest]) if is_known => Some(*newest),
        _ => None,
    };
    let undecided = || Reason::Undecided(versions.iter().map(|version| (*version).clone()).collect());
    let taken = taken.ok_or_else(undecided)?;
    let mut same = entries.iter().filter(|entry| entry.version == *taken);
    let first = same.next().cloned().ok_or_else(undecided)?;
    same.try_fold(first, |joined, entry| {
        let mut reasons = Vec::new();
        match settle(Three { base: None, ours: Some(&joined), theirs: Some(entry) }, &mut reasons) {
            Settled::Entry(entry) => Ok(entry),
            Settled::Absent | Settled::Conflict => Err(reasons.pop().unwrap_or(Reason::NoHashLeft)),
        }
    })
}

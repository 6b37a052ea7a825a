//! Three-way merge of what git merges badly: the dependency lock file, the trust file and the module lock file.
//!
//! Lock files are merged on the model, entry by entry, and written in their canonical text; of the trust file each block
//! is taken whole. Conflicts carry the markers that everyone knows, around as little as can be. No side's text is ever
//! lost: what cannot be read is not merged. Nothing here knows git, files or the network.

mod base;
mod blocks;
mod entry;
mod lock;
mod markers;
mod modules;
mod remark;
mod repeated;
mod textconv;

pub use lock::{Configured, LockMerge, Merged, Replaced, merge_locks};
pub use markers::{DEFAULT_MARKER_SIZE, MarkerError, Split, split};
pub use remark::{Reason, Remark, Side, Why};
pub use repeated::{Unrepaired, has_repeated, keep_one_of_each};
pub use textconv::{Shortened, textconv};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Rule};
use crate::lockfile;

/// The common ancestor and the two versions made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Three<T> {
    /// The ancestor.
    pub base: T,
    /// Ours: the branch that is merged into.
    pub ours: T,
    /// Theirs: the branch that is merged.
    pub theirs: T,
}

/// What kind of text is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// `.terraform.lock.hcl`.
    LockFile,
    /// `.tflock.trust.hcl`.
    TrustFile,
    /// `.tflock.modules.hcl`.
    ModuleLock,
}

impl Document {
    /// The kind by the name of the file; whatever is named as neither of the others is taken for a lock file.
    pub fn by_name(name: &str) -> Self {
        match name {
            _ if name.ends_with(".trust.hcl") => Document::TrustFile,
            _ if name.ends_with(".modules.hcl") => Document::ModuleLock,
            _ => Document::LockFile,
        }
    }
}

/// A merged text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedText {
    /// The text; with markers if there are conflicts.
    pub text: Vec<u8>,
    /// True if conflicts are left.
    pub conflicts: bool,
    /// Decisions and conflicts to report.
    pub remarks: Vec<Remark>,
    /// The entries that both sides changed, of which the version of one side was taken.
    pub replaced: Vec<Replaced>,
}

impl MergedText {
    /// The entries that are in conflict, with the reasons.
    pub fn conflicting(&self) -> impl Iterator<Item = (&ProviderAddr, &Reason)> {
        self.remarks.iter().filter_map(|remark| match remark {
            Remark::Entry(addr, reason) if reason.is_conflict() => Some((addr, &**reason)),
            _ => None,
        })
    }
}

/// What decides where both sides changed something.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decisions<'a> {
    /// Both sides of a text with markers: where they agree to have an entry or a block as one of the merged
    /// texts has it, the user has decided by hand.
    pub sides: Option<[&'a [u8]; 2]>,
    /// What the merged configuration requires.
    pub configured: Option<Configured<'a>>,
}

/// How texts are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeOptions {
    /// The length of conflict markers.
    pub marker_size: usize,
    /// The tool, where the texts name none.
    pub dialect: Dialect,
    /// The sides were read between conflict markers: what git merged by itself is in both of them, whosever it is.
    pub from_markers: bool,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self { marker_size: DEFAULT_MARKER_SIZE, dialect: Dialect::Terraform, from_markers: false }
    }
}

/// Merges texts; an empty base means files added on both sides.
pub fn merge_texts(
    document: Document,
    texts: Three<&[u8]>,
    decisions: Decisions<'_>,
    options: MergeOptions,
) -> MergedText {
    match document {
        Document::LockFile => lock::merge(texts, decisions, options),
        Document::TrustFile => blocks::merge(texts, decisions.sides, options),
        Document::ModuleLock => modules::merge(texts, decisions.sides, options),
    }
}

/// Both sides of a text with markers; `None` if one of them cannot be read, so nothing shows what was decided.
fn both<T>(sides: Option<[&[u8]; 2]>, read: impl Fn(&[u8]) -> Option<T>) -> Option<[T; 2]> {
    let [ours, theirs] = sides?;
    Some([read(ours)?, read(theirs)?])
}

/// The first value of a side that is none, because no tool writes it: such a side is not merged.
pub fn not_literal(document: Document, text: &[u8], dialect: Dialect) -> Option<Finding> {
    if document != Document::LockFile {
        return None;
    }
    let findings = lockfile::decode(text, lockfile::detect_dialect(text).unwrap_or(dialect)).err()?;
    findings.into_iter().find(|finding| finding.rule == Rule::LockNotLiteral)
}

/// Whether a text can be one side of a merge.
pub fn is_readable(document: Document, text: &[u8], dialect: Dialect) -> bool {
    match document {
        Document::LockFile => lockfile::decode(text, lockfile::detect_dialect(text).unwrap_or(dialect)).is_ok(),
        Document::TrustFile => blocks::is_readable(text),
        Document::ModuleLock => modules::is_readable(text),
    }
}

#[cfg(test)]
mod tests;

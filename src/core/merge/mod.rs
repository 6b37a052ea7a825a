//! Three-way merge of what git merges badly: the dependency lock file, the trust file and the module lock file.
//!
//! Lock files are merged on the model, entry by entry, and written in their canonical text; of the trust file each block
//! is taken whole. Conflicts carry the markers that everyone knows, around as little as can be. No side's text is ever
//! lost: what cannot be read is not merged. Nothing here knows git, files or the network.
//!
//! The common ancestor may have been merged by git itself, so it can contain conflict markers. Of several entries of one
//! provider in one lock file, as merges line by line and bots leave them, one is kept.
//!
//! The text that git compares instead of a lock file has some lines for each entry. Hashes are counted by scheme and shown as one digest over all of them, so
//! no change of a hash hides. The form does not change from version to version without need: git may keep the texts.

mod entry;
mod lock;
mod modules;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use entry::{MergeRemark, Reason, Side, Why};
pub use lock::{Configured, LockMerge, Merged, Replaced, merge_locks};
pub use text::{DEFAULT_MARKER_SIZE, MarkerError, Split, split};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::lockfile::{self, Decoded, LockEntry, LockFile, decode, detect_dialect, salvage};
use crate::version::Version;
use entry::{Settled, settle};

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
    pub remarks: Vec<MergeRemark>,
    /// The entries that both sides changed, of which the version of one side was taken.
    pub replaced: Vec<Replaced>,
}

impl MergedText {
    /// The entries that are in conflict, with the reasons.
    pub fn conflicting(&self) -> impl Iterator<Item = (&ProviderAddr, &Reason)> {
        self.remarks.iter().filter_map(|remark| match remark {
            MergeRemark::Entry(addr, reason) if reason.is_conflict() => Some((addr, &**reason)),
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
        Document::TrustFile => text::merge(texts, decisions.sides, options),
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
        Document::TrustFile => text::is_readable(text),
        Document::ModuleLock => modules::is_readable(text),
    }
}

/// Reads the ancestor of lock files; `None` if it cannot be read.
///
/// Where two branches were merged in both directions, git merges their several common ancestors first. Of one with
/// conflicts that is known which its two sides agree about.
fn base_lock(text: &[u8], dialect: Dialect) -> Option<LockFile> {
    let read = |text: &[u8]| decode(text, detect_dialect(text).unwrap_or(dialect)).ok().map(|decoded| decoded.lock);
    if let Some(lock) = read(text) {
        return Some(lock);
    }
    let sides = split(text).ok()??;
    let (ours, theirs) = (read(&sides.ours)?, read(&sides.theirs)?);
    Some(agreed(&ours, &theirs))
}

/// The entries that both have, and have alike.
fn agreed(one: &LockFile, other: &LockFile) -> LockFile {
    let mut agreed = LockFile::new();
    for (addr, entry) in one.iter().filter(|(addr, entry)| other.get(addr) == Some(*entry)) {
        agreed.insert(addr.clone(), entry.clone());
    }
    agreed
}

/// Why a lock file stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unrepaired {
    /// Something else is wrong with the text.
    Refused(Box<Finding>),
    /// Nothing decides between the entries of these providers.
    Undecided(Vec<MergeRemark>),
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
    let is_other = |finding: &&Finding| finding.level() == Level::Deny && finding.rule != Rule::DuplicateProvider;
    if let Some(finding) = decoded.warnings.iter().find(is_other) {
        return Err(Unrepaired::Refused(Box::new(finding.clone())));
    }
    let (mut lock, mut remarks, mut undecided): (LockFile, _, _) = (decoded.lock, Vec::new(), Vec::new());
    for (addr, entries) in decoded.repeated {
        let remark = |reason| MergeRemark::Entry(addr.clone(), Box::new(reason));
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

/// How many hex digits of a digest are shown.
const SHOWN: usize = 24;

/// A lock file in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// The short text. Two lock files have the same one only if they are equal byte for byte.
    pub text: String,
    /// What the lock file says; none for a text that cannot be read as one, which is in the short text whole.
    pub lock: Option<LockFile>,
}

/// Shortens a lock file.
pub fn textconv(text: &[u8]) -> Shortened {
    let dialect = detect_dialect(text).unwrap_or(MergeOptions::default().dialect);
    if let Ok(decoded) = decode(text, dialect) {
        return Shortened { text: summary(text, &decoded), lock: Some(decoded.lock) };
    }
    let whole = String::from_utf8_lossy(text);
    Shortened { text: format!("cannot be read: text {}\n{whole}", digest([text])), lock: None }
}

fn summary(text: &[u8], decoded: &Decoded) -> String {
    let mut summary = String::new();
    // Writing to a string cannot fail.
    let _ = match decoded.header {
        Some(dialect) => writeln!(summary, "written by {}", dialect.program()),
        None => writeln!(summary, "written by hand"),
    };
    if !decoded.canonical {
        let _ = writeln!(summary, "not formatted: text {}", digest([text]));
    }
    for (addr, entry) in decoded.lock.iter() {
        let _ = writeln!(summary, "\n{addr} {}", entry.version);
        push_entry(&mut summary, entry);
    }
    summary
}

fn push_entry(summary: &mut String, entry: &LockEntry) {
    if !entry.constraints.is_empty() {
        let _ = writeln!(summary, "  constraints {}", entry.constraints);
    }
    for (name, scheme) in [("h1", HashScheme::H1), ("zh", HashScheme::Zh), ("other", HashScheme::Other)] {
        let hashes: Vec<&[u8]> = entry.hashes.of(scheme).map(PackageHash::as_str).map(str::as_bytes).collect();
        if !hashes.is_empty() {
            let noun = if hashes.len() == 1 { "hash" } else { "hashes" };
            let _ = writeln!(summary, "  {} {name} {noun}: {}", hashes.len(), digest(hashes));
        }
    }
}

/// The first digits of the digest over texts, each with a line end.
fn digest<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut all = Vec::new();
    for text in texts {
        all.extend_from_slice(text);
        all.push(b'\n');
    }
    let mut hex = Sha256Digest::of(&all).to_hex();
    hex.truncate(SHOWN);
    hex
}

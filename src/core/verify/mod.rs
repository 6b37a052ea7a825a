//! Is a lock file what it should be: from values to findings.
//!
//! ```text
//! lock file, spans, requirements, settings, pins ─┐
//!                                                 ├──► findings; hashes proven, refuted, unknown
//! what is known of each locked release ───────────┘
//! ```
//!
//! Three-valued: a hash is *proven* if a source attests it, *refuted* if all packages of its release are known and
//! no package has it, *unknown* otherwise. A missing answer never refutes. The folder contacts
//! no server, reads no files and knows no time but the one handed in.

mod entry;
mod facts;
mod hashes;
mod pinned;
pub mod policy;
#[cfg(test)]
mod realworld_tests;
mod release;
#[cfg(test)]
mod tests;
mod weakened;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

pub use entry::{init_changes, uncovered, unreachable_from_state};
pub use facts::{Compared, Facts, Unanswered, Verified, leveled};
pub use pinned::{Counted, PinChange, effective_pins, pin_changes};
pub use weakened::{Outer, Weakening, weakenings, weakenings_within};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Level, Position, Rule};
use crate::hash::PackageHash;
use crate::lockfile::{LockFile, Spans};
use crate::release::Lookup;
use crate::requirements::Requirements;
use crate::settings::Settings;
use crate::trust::pins::Pins;
use crate::version::Version;

/// One root module, as input of the judgment.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What its lock file says.
    pub lock: &'a LockFile,
    /// Its content before the judged change; `None` if no change is judged.
    pub before: Option<&'a LockFile>,
    /// When each release that is new in it was first recorded elsewhere; `None` if no change is judged.
    pub first_seen: Option<&'a BTreeMap<ProviderAddr, SystemTime>>,
    /// Where it says it.
    pub spans: &'a Spans,
    /// What its configuration needs; none without configuration.
    pub requirements: Option<&'a Requirements>,
    /// False if the configuration cannot be known whole: then nothing is said about entries that nothing requires.
    pub complete: bool,
    /// The settings.
    pub settings: &'a Settings,
    /// The tool whose rules apply.
    pub dialect: Dialect,
    /// True if the tool takes addresses of Terraform's registry in a state for those of OpenTofu's.
    pub translates_state: bool,
    /// The remembered signers; none without a trust file.
    pub pins: Option<&'a Pins>,
    /// The time of the run.
    pub now: SystemTime,
}

/// Judges a lock file by what is known of its releases.
///
/// The findings name no file, unless it is one of the configuration; they have the levels of the settings.
pub fn verify(subject: &Subject<'_>, facts: &Facts<'_>) -> (Verified, Vec<Finding>) {
    let mut verified = Verified::default();
    let mut findings = entry::missing(subject);
    for (addr, entry) in subject.lock.iter() {
        let spans = subject.spans.entries.get(addr).cloned().unwrap_or_default();
        let (knowledge, places) = (facts.of(addr), OnceCell::new());
        let judged = Judged { subject, facts, addr, entry, spans: &spans, knowledge, places };
        let mut found = judged.entry();
        found.extend(judged.release());
        let unknown_before = verified.unknown;
        let of_hashes = judged.hashes(&mut verified);
        match judged.altered() {
            // One fact, which is the reason of all that is wrong with the hashes.
            Some(altered) => found.push(altered),
            None => found.extend(judged.continuity().into_iter().chain(of_hashes)),
        }
        // That no recorded hash is of a wanted platform follows from it, and is not mended by locking the platform.
        if found.iter().any(|finding| [Rule::Republished, Rule::LockFileAltered].contains(&finding.rule)) {
            found.retain(|finding| finding.rule != Rule::PlatformUncovered);
        }
        let found: Vec<Finding> =
            found.into_iter().map(|finding| subject.leveled(finding, Some(&entry.version))).collect();
        // What the settings let pass is the finding; it proves no hash.
        if found.iter().all(|finding| finding.level < Level::Deny) {
            verified.inconclusive.extend(judged.unproven(verified.unknown - unknown_before));
        }
        findings.extend(found);
    }
    findings.sort_by_key(|finding| (finding.file.clone(), finding.position));
    (verified, findings)
}

/// The findings of a text that could not be read as a lock file, or that is merely not canonical.
pub fn of_text(findings: Vec<Finding>, subject: &Subject<'_>) -> Vec<Finding> {
    findings.into_iter().map(|finding| subject.leveled(finding, None)).collect()
}

/// Findings about a working tree as a whole, at the levels of its settings.
pub fn of_tree(findings: Vec<Finding>, settings: &Settings, now: SystemTime) -> Vec<Finding> {
    findings.into_iter().map(|finding| leveled(finding, None, (settings, now))).collect()
}

impl Subject<'_> {
    fn leveled(&self, finding: Finding, version: Option<&Version>) -> Finding {
        leveled(finding, version, (self.settings, self.now))
    }
}

struct Judged<'a> {
    subject: &'a Subject<'a>,
    facts: &'a Facts<'a>,
    addr: &'a crate::addr::ProviderAddr,
    entry: &'a crate::lockfile::LockEntry,
    spans: &'a crate::lockfile::EntrySpans,
    knowledge: &'a Lookup,
    /// The place of each hash; callers may look up many of one entry.
    places: OnceCell<HashMap<&'a PackageHash, Position>>,
}

impl Judged<'_> {
    fn find(&self, rule: crate::finding::Rule, message: impl Into<String>) -> Finding {
        Finding::new(rule, message).about(self.addr).of_version(&self.entry.version)
    }

    fn name(&self) -> String {
        format!("{} {}", self.addr, self.entry.version)
    }

    /// Where the version is, or the entry.
    fn version_at(&self) -> Position {
        self.spans.version.unwrap_or(self.spans.block)
    }

    /// Where the hashes begin, or the entry.
    fn hashes_at(&self) -> Position {
        self.spans.hashes.unwrap_or(self.spans.block)
    }

    fn place_of(&self, hash: &PackageHash) -> Position {
        let written = || self.spans.each_hash.iter().rev().map(|(hash, position)| (hash, *position)).collect();
        self.places.get_or_init(written).get(hash).copied().unwrap_or_else(|| self.hashes_at())
    }
}

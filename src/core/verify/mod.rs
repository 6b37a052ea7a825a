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
//!
//! [`Facts`] is what is known of the releases of one root module, and [`Verified`] how much `verify` knows about its lock file.

pub mod entry;
mod found;
mod hashes;
mod pinned;
pub mod provenance;
#[cfg(test)]
mod realworld_tests;
#[cfg(test)]
mod tests;
mod weakened;
mod witness;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

pub use entry::{init_changes, uncovered, unreachable_from_state};
pub use found::Completion;
pub use pinned::{Counted, PinChange, effective_pins, pin_changes};
pub use weakened::{Outer, Weakening, weakenings_within};
pub use witness::judge_witnesses;

use crate::addr::ProviderAddr;
use crate::config::RootKind;
use crate::dialect::Dialect;
use crate::error::{Error, ExitCode};
use crate::finding::{Finding, Level, Position};
use crate::hash::PackageHash;
use crate::lockfile::{LockFile, Spans};
use crate::release::continuity::EarlierRecord;
use crate::release::{Lookup, Release};
use crate::requirements::Requirements;
use crate::settings::Settings;
use crate::trust::pins::Pins;
use crate::version::Version;
use crate::words::short_commit;

/// One root module, as input of the judgment.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What its lock file says.
    pub lock: &'a LockFile,
    /// Its content before the judged change; `None` if no change is judged.
    pub before: Option<&'a LockFile>,
    /// What the change is judged by, for next steps; `None` if no change is judged.
    pub base: Option<&'a Compared>,
    /// When each release that is new in it was first recorded elsewhere; `None` if no change is judged.
    pub first_seen: Option<&'a BTreeMap<ProviderAddr, SystemTime>>,
    /// Where it says it.
    pub spans: &'a Spans,
    /// What its configuration needs; none without configuration.
    pub requirements: Option<&'a Requirements>,
    /// What reads the configuration.
    pub kind: RootKind,
    /// True for the lock file of an Atmos instance: YAML that is not read may add requirements, and override constraints.
    pub is_instance: bool,
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
        let judged = JudgedEntry { subject, facts, addr, entry, spans: &spans, knowledge, places };
        let mut found = judged.entry();
        found.extend(judged.release());
        let unknown_before = verified.unknown;
        let of_hashes = judged.hashes(&mut verified);
        match judged.altered() {
            // One fact, which is the reason of all that is wrong with the hashes.
            Some(altered) => found.push(altered),
            None => found.extend(judged.continuity().into_iter().chain(of_hashes)),
        }
        let completion = subject.completion();
        let mut found: Vec<Finding> =
            found.into_iter().map(|finding| completion.complete(finding, Some(&entry.version))).collect();
        judged.leave_out_consequences(&mut found);
        // What the settings let pass is the finding; it proves no hash.
        if found.iter().all(|finding| finding.level() < Level::Deny) {
            verified.inconclusive.extend(judged.unproven(verified.unknown - unknown_before));
        }
        findings.extend(found);
    }
    findings.sort_by_key(|finding| (finding.file.clone(), finding.position));
    (verified, findings)
}

impl<'a> Subject<'a> {
    /// True if its configuration, which is known whole, does not require the provider of an entry.
    pub fn is_unrequired(&self, addr: &ProviderAddr) -> bool {
        let is_required = self.requirements.is_none_or(|requirements| requirements.get(addr).is_some());
        self.complete && !self.is_instance && !is_required && self.lock.get(addr).is_some()
    }

    /// What makes its findings complete.
    pub fn completion(&self) -> Completion<'a> {
        Completion { settings: self.settings, now: self.now, base: self.base, is_writing: false }
    }
}

struct JudgedEntry<'a> {
    subject: &'a Subject<'a>,
    facts: &'a Facts<'a>,
    addr: &'a crate::addr::ProviderAddr,
    entry: &'a crate::lockfile::LockEntry,
    spans: &'a crate::lockfile::EntrySpans,
    knowledge: &'a Lookup,
    /// The place of each hash; callers may look up many of one entry.
    places: OnceCell<HashMap<&'a PackageHash, Position>>,
}

impl JudgedEntry<'_> {
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

/// What is known for one root module.
#[derive(Debug, Clone, Default)]
pub struct Facts<'a> {
    /// The locked release of each provider.
    pub releases: BTreeMap<ProviderAddr, Lookup>,
    /// Other releases, which may explain where a hash comes from.
    pub others: &'a [Arc<Release>],
    /// What else recorded the releases that seem to be published again, by provider.
    pub earlier: BTreeMap<ProviderAddr, Vec<EarlierRecord>>,
    /// The providers that came from a mirror inside the judged working tree.
    pub served_within: Option<&'a BTreeSet<ProviderAddr>>,
}

impl Facts<'_> {
    /// True if a change of the working tree can fill the mirror of a provider.
    pub fn is_served_within(&self, addr: &ProviderAddr) -> bool {
        self.served_within.is_some_and(|served| served.contains(addr))
    }

    /// What is known of the locked release of a provider.
    pub fn of(&self, addr: &ProviderAddr) -> &Lookup {
        self.releases.get(addr).unwrap_or(&Lookup::NotRequested)
    }

    /// What else recorded the locked release of a provider.
    pub fn earlier(&self, addr: &ProviderAddr) -> &[EarlierRecord] {
        self.earlier.get(addr).map_or(&[], Vec::as_slice)
    }

    /// The releases that a hash is known to belong to. Lines that name no archive count for nothing.
    pub fn owners(&self, hash: &PackageHash) -> BTreeSet<(&ProviderAddr, &Version)> {
        let of_run = self.releases.values().filter_map(Lookup::release);
        let releases = of_run.chain(self.others).filter(|release| release.owns(hash));
        releases.map(|release| (&release.address, &release.version)).collect()
    }
}

/// What `verify` knows about the recorded hashes of one root module; none is counted twice.
/// Reports write what is not a count themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Verified {
    /// Hashes that a source attests.
    pub proven: usize,
    /// Hashes that are neither proven nor refuted.
    pub unknown: usize,
    /// Why some are unknown: sources that gave no answer. Empty if no request was sent.
    #[serde(skip)]
    pub inconclusive: Vec<Unanswered>,
    /// True if nothing was looked at, since nothing changed since the base.
    pub unchanged: bool,
    /// Why the configuration was not checked, where it could not be read at the base either.
    #[serde(skip)]
    pub not_checked: Option<Error>,
    /// What the working tree was compared with; `None` if it was checked only against itself.
    #[serde(skip)]
    pub base: Option<Compared>,
    /// Each provider with each module that requires it, by dotted path.
    #[serde(skip)]
    pub required_by: BTreeSet<(ProviderAddr, String)>,
    /// The findings that `--fix` repaired.
    #[serde(skip)]
    pub repaired: Vec<Finding>,
    /// What of the installed packages was looked at, if that was asked.
    #[serde(skip)]
    pub installed: Option<InstalledCount>,
}

/// How many installed packages were hashed, and how many locked providers have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstalledCount {
    /// Packages, wherever they are.
    pub hashed: usize,
    /// Entries without a package of their version where `init` installs.
    pub not_installed: usize,
}

impl Verified {
    /// What the questions without an answer end a run with: one whose answer policy forbids is refused.
    pub fn code(&self) -> ExitCode {
        ExitCode::all(self.inconclusive.iter().map(|it| ExitCode::of_error(&it.error)))
    }
}

/// What a change is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The revision whose settings and trust file are used, as typed.
    pub revision: String,
    /// The object name of its commit.
    pub commit: String,
    /// The object name of the commit that lock files are compared with.
    pub merge_base: String,
    /// True if changes of settings and pins were approved: then those of the working tree are used.
    pub trust_change_allowed: bool,
}

impl Compared {
    /// The revision as users name it: `origin/main`.
    pub fn name(&self) -> &str {
        let start = ["refs/remotes/", "refs/heads/", "refs/tags/"].iter().find_map(|it| self.revision.strip_prefix(it));
        start.unwrap_or(&self.revision)
    }

    /// The merge base, short enough for users.
    pub fn short(&self) -> &str {
        short_commit(&self.merge_base)
    }
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Why there is none.
    pub error: Error,
    /// True if it is about an entry that changed since the base: such a question needs its answer.
    pub changed: bool,
}

//! `verify`: its arguments, and the judgment of each root module by what is known of its releases. `gate.rs` requests that, and
//! `fix.rs` repairs.

pub mod base;
mod explain;
pub mod facts;
mod fix;
mod gate;
pub mod module_hosts;
mod modules;
mod notes;
pub mod opening;
mod other_tool;
pub mod own_tree;
mod read_paths;
mod remedies;
pub mod root;
mod tree;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use clap::ValueEnum;

use super::shared::earlier::EarlierRecords;
use super::shared::options::{Modules, Packages, Within, bytes};
use super::shared::rules::RuleBook;
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::lockfile::LockEntry;
use crate::outcome::{Body, RootOutcome};
use crate::query::cached;
use crate::query::question::Depth;
use crate::release::continuity::{self, EarlierRecord};
use crate::release::{Lookup, Release, ReleaseKey, Releases};
use crate::requirements::Requirements;
use crate::verify as judgment;
use crate::verify::{Facts, Unanswered, Verified};
use base::BaseOptions;
use root::RootMemo;

pub use fix::verify;
pub use root::{GateRoot, GateRoots, tracked_or_none, tracked_packages};
pub use tree::TreeVerdict;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Also hash installed packages.
    pub installed: bool,
    /// Missing answers are notes instead of failures.
    pub tolerate_inconclusive: bool,
}

/// The result for one root module; without the root module if it could not be read.
#[derive(Debug)]
pub struct JudgedRoot<'a> {
    pub root: Option<&'a GateRoot>,
    pub outcome: RootOutcome,
}

/// Judges each root module; a failure does not stop the others. The second value has notes for users. `cache` has the
/// keys that explain a change of signers; `verdict` is what is known of the whole working tree; `limits` are those of the run.
pub fn judged<'a>(
    roots: &'a GateRoots,
    known: &Releases,
    cache: &Cache,
    options: VerifyOptions,
    verdict: &TreeVerdict,
    limits: &mut RunLimits,
) -> (Vec<JudgedRoot<'a>>, Vec<String>) {
    let releases: Vec<Arc<Release>> = known.values().filter_map(Lookup::release).cloned().collect();
    let RunLimits { searches, listed } = limits;
    let by = Judging { known, others: &releases, cache, options, verdict, searches };
    let (mut all, mut notes, mut judged) = (Vec::new(), Vec::new(), RootMemo::default());
    for (path, root) in roots {
        let root = match root {
            Ok(root) => root,
            Err(error) => {
                all.push(JudgedRoot { root: None, outcome: RootOutcome::failed(path, error.clone()) });
                continue;
            }
        };
        let judgment = if let Some(known) = judged.get(root) {
            Arc::clone(known)
        } else {
            let judgment = Arc::new(judge(root, &by));
            if judgment.of_files_alone {
                judged.insert(root, Arc::clone(&judgment));
            }
            judgment
        };
        all.push(JudgedRoot { root: Some(root), outcome: by.outcome(path, root, &judgment, listed, &mut notes) });
    }
    (all, notes)
}

/// What is left of the limits of a run, which may judge its root modules in groups.
#[derive(Debug)]
pub struct RunLimits {
    /// How many more entries may be looked up in the history.
    searches: Cell<usize>,
    listed: ListedCounts,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { searches: Cell::new(remedies::MOST_SEARCHES), listed: ListedCounts::default() }
    }
}

impl RunLimits {
    /// Notes on what is not listed.
    pub fn notes(self) -> impl Iterator<Item = String> {
        let left_out = self.listed.0.into_iter().filter(|(_, [_, left_out])| *left_out > 0);
        left_out.map(|((rule, _), [_, left_out])| format!("{left_out} more findings of {} are not listed", rule.id()))
    }
}

/// So many findings of a rule are listed, and at least one of each root module; the others are counted. A change of a few
/// megabytes could raise hundreds of thousands.
const MOST_LISTED: usize = 10_000;

/// How many findings of a rule at a level there were, and how many of them are not listed.
#[derive(Debug, Default)]
struct ListedCounts(BTreeMap<(Rule, Level), [usize; 2]>);

impl ListedCounts {
    /// The findings of a root module that are listed.
    fn listed<'f>(&mut self, findings: &'f [Finding]) -> Vec<&'f Finding> {
        let mut own = BTreeSet::new();
        let mut listed = Vec::new();
        for finding in findings {
            let kind = (finding.rule, finding.level());
            let [all, left_out] = self.0.entry(kind).or_default();
            *all += 1;
            if own.insert(kind) || *all <= MOST_LISTED {
                listed.push(finding);
            } else {
                *left_out += 1;
            }
        }
        listed
    }
}

/// The result for a root module, before its file names are changed for reports.
#[derive(Debug, Clone, Default)]
struct Judgment {
    verified: Verified,
    findings: Vec<Finding>,
    /// True if the result depends on nothing but these files, wherever they are.
    of_files_alone: bool,
}

struct Judging<'a> {
    known: &'a Releases,
    others: &'a [Arc<Release>],
    cache: &'a Cache,
    options: VerifyOptions,
    verdict: &'a TreeVerdict,
    searches: &'a Cell<usize>,
}

impl Judging<'_> {
    /// The result for users; an answer that may be missing becomes a note.
    fn outcome(
        &self,
        path: &Path,
        root: &GateRoot,
        judgment: &Judgment,
        listed: &mut ListedCounts,
        notes: &mut Vec<String>,
    ) -> RootOutcome {
        let required_by = root.requirements().map(Requirements::modules).unwrap_or_default();
        let mut verified = Verified { base: root.compared().cloned(), required_by, ..judgment.verified.clone() };
        let repairs = fix::Repairs::of(root, &judgment.findings, self.verdict.is_barred(path));
        let listed = listed.listed(&judgment.findings).into_iter();
        let mut findings: Vec<Finding> =
            listed.map(|finding| repairs.mark(root.placed_finding(finding.clone()))).collect();
        findings.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
        if self.options.tolerate_inconclusive {
            let tolerable = |it: &mut Unanswered| it.error.kind.is_inconclusive() && !it.changed;
            let tolerated = verified.inconclusive.extract_if(.., tolerable);
            notes.extend(tolerated.map(|it| format!("inconclusive: {}", it.error)));
        }
        let body = match root.unread().cloned() {
            None => Ok(Body::Verified(verified)),
            not_checked if root.was_unreadable() => Ok(Body::Verified(Verified { not_checked, ..verified })),
            Some(error) => {
                let unanswered = verified.inconclusive.into_iter().map(|it| it.error);
                Err(Error::all(std::iter::once(error.clone()).chain(unanswered)).unwrap_or(error))
            }
        };
        RootOutcome { path: path.to_owned(), body, findings }
    }

    /// The served release of an entry, if it seems to differ from the locked one.
    fn doubtful(&self, addr: &ProviderAddr, entry: &LockEntry) -> Option<&Arc<Release>> {
        let release = self.known.get(&(addr.clone(), entry.version.clone())).and_then(Lookup::release);
        release.filter(|release| release.current && continuity::is_doubtful(&entry.hashes, release))
    }

    /// Other records of a locked release, if the served one seems to differ.
    fn earlier_records(&self, root: &GateRoot, addr: &ProviderAddr) -> Vec<EarlierRecord> {
        let Some(entry) = root.lock().get(addr) else {
            return Vec::new();
        };
        let Some(release) = self.doubtful(addr, entry) else {
            return Vec::new();
        };
        let settings = root.settings();
        let cache = settings.source().is_origin().then_some(self.cache);
        let earlier = EarlierRecords { settings, dialect: settings.dialect, lock: root.lock(), cache };
        let at_base = root.base().and_then(|(compared, before)| {
            let commit = compared.short();
            let place = format!("the merge base with {}", compared.name());
            earlier.revision(addr, before, (&place, commit))
        });
        at_base.into_iter().chain(earlier.of(release)).collect()
    }
}

fn judge(root: &GateRoot, by: &Judging<'_>) -> Judgment {
    let (verified, mut findings) = of_root(root, by);
    let name = root.settings().name();
    findings.retain(|finding| !by.verdict.explains(&name, finding.rule));
    let findings = remedies::remedied(findings, root, by.known, by.searches);
    // For a doubtful release, and for a hash that no package has, the history of each lock file matters.
    let in_doubt = root.lock().iter().any(|(addr, entry)| by.doubtful(addr, entry).is_some());
    let in_doubt = in_doubt || findings.iter().any(|finding| remedies::refuted(finding).is_some());
    Judgment { verified, findings, of_files_alone: !by.options.installed && !in_doubt }
}

fn of_root(root: &GateRoot, by: &Judging<'_>) -> (Verified, Vec<Finding>) {
    let subject = root.subject();
    let settings = root.settings();
    let stated = settings.settings.level(Rule::RequirementsUnread.id());
    let of_text = root.text_findings(by.verdict.level_of_unread(&settings.path, stated));
    let Some(spans) = root.spans() else {
        // An unreadable file is no lock file, so it has no hashes.
        let findings = subject.completion().complete_all(of_text);
        let mut verified = root.unknown_tree();
        if findings.iter().all(|finding| finding.level() < Level::Deny) {
            verified.inconclusive.extend(root.unread_lock_file());
        }
        return (verified, findings);
    };
    let of = |(addr, entry): (&ProviderAddr, &LockEntry)| {
        let knowledge = by.known.get(&(addr.clone(), entry.version.clone())).cloned().unwrap_or_default();
        (addr.clone(), knowledge)
    };
    let earlier = root.lock().iter().map(|(addr, _)| (addr.clone(), by.earlier_records(root, addr)));
    let earlier = earlier.filter(|(_, records)| !records.is_empty()).collect();
    let releases = root.lock().iter().map(of).collect();
    let facts = Facts { releases, others: by.others, earlier, served_within: Some(root.served_within()) };
    let (mut verified, mut findings) = judgment::verify(&judgment::Subject { spans, ..subject }, &facts);
    verified.inconclusive.extend(root.unknown_tree().inconclusive);
    let mut extra = of_text;
    if by.options.installed {
        let installed = facts::of_installed(root);
        extra.extend(installed.findings);
        verified.installed = Some(installed.count);
        verified.inconclusive.extend(installed.errors.into_iter().map(|error| Unanswered { error, changed: false }));
    }
    let (more, errors) = modules::of_installed(root, by.options.installed);
    extra.extend(more);
    verified.inconclusive.extend(errors.into_iter().map(|error| Unanswered { error, changed: false }));
    findings.extend(subject.completion().complete_all(extra));
    (verified, findings)
}

/// Check the lock file: the gate for CI.
///
/// Checks that the lock file fits the configuration and the settings, that each recorded hash belongs to the locked
/// release, and that a remembered signer signed the release. Without --fix it changes no file and remembers no signer. Each
/// hash is proven, refuted or unknown: if a registry does not respond, the result is inconclusive (exit code 4), neither good nor bad.
/// With --offline it does not use the network.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock verify\n  tflock verify -r --base origin/main\n  tflock verify -r --fix\n  tflock verify -r --format json\n  tflock verify --deep --all-platforms"
)]
pub(crate) struct VerifyArgs {
    /// Check every root module below: every directory with a lock file, or with a backend and no caller.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Also hash what is installed.
    ///
    /// And what would be installed from disk: .terraform/providers and modules, plugin cache, filesystem mirrors.
    #[arg(long)]
    installed: bool,
    /// Repair what has one safe remedy, then check again.
    ///
    /// Adds missing hashes of wanted platforms and missing entries of providers with a remembered signer, updates constraints, and
    /// writes canonical text.
    #[arg(long, conflicts_with = "no_download")]
    pub(crate) fix: bool,
    /// Download no package; an h1 that neither index nor registry has stays unknown.
    #[arg(long, conflicts_with_all = ["deep", "all_platforms"])]
    no_download: bool,
    /// Download at most this many bytes, such as 500MiB; the rest stays unknown (exit code 4). Default: 2GiB, no limit
    /// with --deep.
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "no_download", hide_short_help = true)]
    max_download: Option<u64>,
    /// Use neither the index nor the registry's reports: compute each recorded h1 from its archive.
    #[arg(long)]
    deep: bool,
    /// With --deep: check every archive in the checksums.
    #[arg(long, requires = "deep", hide_short_help = true)]
    all_platforms: bool,
    /// Check a change, as in a pull request, by the settings and trust file of this revision.
    ///
    /// Compares lock files with its merge base with HEAD, and checks only the root modules that changed.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// With --base: the owner approved the changes of settings and trust file.
    ///
    /// The settings and trust file of the working tree apply then.
    #[arg(long, requires = "base")]
    allow_trust_change: bool,
    /// What to do if a registry does not respond; with --base, changed entries always fail.
    #[arg(long, value_name = "ACTION", value_enum, default_value_t = Inconclusive::Fail)]
    inconclusive: Inconclusive,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

const MOST: u64 = 2 << 30;

/// The values of `--inconclusive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Inconclusive {
    /// Exit code 4.
    Fail,
    /// A note.
    Warn,
}

impl VerifyArgs {
    pub(crate) fn options(&self) -> VerifyOptions {
        let tolerate_inconclusive = self.inconclusive == Inconclusive::Warn;
        VerifyOptions { installed: self.installed, tolerate_inconclusive }
    }

    pub(crate) fn depth(&self) -> Depth {
        Depth {
            download: !self.no_download,
            most: self.max_download.unwrap_or(if self.deep { u64::MAX } else { MOST }),
            recompute: self.deep,
            all_platforms: self.all_platforms,
        }
    }

    /// The base of the change; without it the working tree is judged by its own settings.
    pub(crate) fn base(&self) -> Option<BaseOptions> {
        let trust_change_allowed = self.allow_trust_change;
        self.base.clone().map(|revision| BaseOptions { revision, trust_change_allowed })
    }
}

/// Root modules with the records of earlier runs about their locked releases, which are those of the origin registries; of what
/// another source has nothing is known. Sends no request.
pub fn recalled_by_source(roots: GateRoots, cache: &Cache) -> Vec<(GateRoots, Releases)> {
    let asks_others =
        |root: &Result<GateRoot, Error>| root.as_ref().is_ok_and(|root| !root.settings().source().is_origin());
    let (others, of_origin): (GateRoots, GateRoots) = roots.into_iter().partition(|(_, root)| asks_others(root));
    let known = recalled(&of_origin, cache);
    vec![(of_origin, known), (others, Releases::new())]
}

/// The records of earlier runs about the locked releases; sends no request.
pub fn recalled(roots: &GateRoots, cache: &Cache) -> Releases {
    // A release is checked by the rules of each root module that locks it.
    let mut checks: BTreeMap<ReleaseKey, cached::Check> = BTreeMap::new();
    let mut seen = RootMemo::default();
    for root in roots.iter().filter_map(|(_, root)| root.as_ref().ok()) {
        if seen.get(root).is_some() {
            continue;
        }
        seen.insert(root, ());
        let rules = RuleBook::for_root(root.settings());
        for (addr, entry) in root.lock().iter() {
            let check = rules.check(addr);
            let of_release = checks.entry((addr.clone(), entry.version.clone()));
            of_release.and_modify(|known| *known = known.stricter(check)).or_insert(check);
        }
    }
    let recalled = |((addr, version), check): (ReleaseKey, cached::Check)| {
        let knowledge = cached::release(cache, &addr, &version, check);
        ((addr, version), knowledge)
    };
    checks.into_iter().map(recalled).collect()
}

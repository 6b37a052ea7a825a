//! `lock` and related commands: each root module is planned, answered, decided and written on its own. Root modules are
//! opened in parallel. Those that local facts answer are finished at once; the others wait until all queries are
//! answered, each sent once for all of them.

pub mod command;
mod decision;
mod intent;
mod job;
pub(super) mod requirements;
mod restoring;
mod root;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files of root modules")]
mod tests;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::shared::lock_options::{LockOptions, WriteMode};
use super::shared::sources::PackageSources;
use super::shared::targets::Targets;
use command::Locking;
use job::{KeptReleases, LockJob, RootState};
use writing::{SameVersions, StoredTrust, TrustStores};

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::root_files::DirectoryLock;
use crate::disk::roots::{ModuleLocking, Tree};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level};
use crate::interrupt::Interrupt;
use crate::outcome::RootOutcome;
use crate::parallel;
use crate::query::question::{Answer, Query, Refusal};
use crate::step::Step;
use crate::version::Version;
use crate::words::counted;
use crate::workspace::{NamedProviders, RunSettings};

pub use root::LockRoot;

/// How often a root module is started again because its files changed meanwhile.
const ATTEMPTS: usize = 8;

/// More than the processors, since they mostly wait for the disk.
const WRITERS: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct LockRun<'a> {
    pub(super) locking: &'a Locking<'a>,
    pub(super) cache: &'a Cache,
    /// That of the options, unless nothing may be written after all.
    pub(super) mode: WriteMode,
    pub(super) now: SystemTime,
    pub(crate) interrupt: &'a Interrupt,
}

impl LockRun<'_> {
    /// True if no package may be downloaded: entries are checked as far as signed checksums allow.
    fn no_download(self) -> bool {
        self.locking.options.no_download
    }

    /// True if nothing may be written unless every root module can be written.
    fn all_or_none(self) -> bool {
        self.locking.to.is_some()
    }
}

/// The root modules of a run.
pub(super) struct LockRoots<'a> {
    pub(super) run: LockRun<'a>,
    pub(super) targets: &'a Targets<'a>,
    /// The sources to query, opened on first use.
    pub(super) sources: &'a PackageSources<'a>,
    pub(super) named: &'a NamedProviders,
    pub(super) learned: Mutex<Learned>,
}

/// What a run learned about its root modules.
#[derive(Default)]
pub(super) struct Learned {
    /// Warnings about configuration.
    pub(super) warnings: Vec<String>,
    /// The releases that may be accepted as republished, and whether some root module records them.
    pub(super) accepted: BTreeMap<(ProviderAddr, Version), bool>,
    /// The named packages that are locked in some root module.
    pub(super) reselected: BTreeSet<String>,
    /// The notes of the command.
    pub(super) notes: BTreeSet<Step>,
}

impl LockRoots<'_> {
    /// Brings lock files in line with the intents of their root modules. A failure does not stop the others, unless all or
    /// none are to be written. Returns one outcome for each root module that was begun, in the order given.
    pub(super) fn lock(&self) -> Vec<RootOutcome> {
        let stores = self.run.locking.pins.as_ref().map(TrustStores::of_pins).unwrap_or_default();
        let mut shared = LockShared { stores, ..LockShared::default() };
        let mut pending: Vec<usize> = (0..self.targets.paths.len()).collect();
        let mut outcomes: BTreeMap<usize, RootOutcome> = BTreeMap::new();
        for _ in 0..ATTEMPTS {
            let results = self.pass(&pending, &mut shared);
            pending.clear();
            for (at, result) in results {
                match result {
                    RootState::Done(outcome) => drop(outcomes.insert(at, *outcome)),
                    RootState::Overtaken => pending.push(at),
                    RootState::Planned(_) | RootState::NotBegun => {}
                }
            }
            if pending.is_empty() {
                break;
            }
        }
        for at in pending {
            let message = "the files of the root module kept changing; nothing was written";
            let error = Error::new(ErrorKind::Disk, message).hint("wait until other programs are done, and run again");
            outcomes.insert(at, RootOutcome::failed(&self.targets.paths[at], error));
        }
        outcomes.into_values().collect()
    }

    /// One attempt at the root modules with these numbers, in any order.
    fn pass(&self, numbers: &[usize], shared: &mut LockShared) -> Vec<(usize, RootState)> {
        let run = self.run;
        let begun = parallel::each(numbers.len(), parallel::cores(), |at| self.begin(numbers[at], shared));
        let (mut jobs, mut ended) = (Vec::new(), Vec::new());
        for (number, state) in numbers.iter().zip(begun) {
            match state {
                RootState::Planned(job) => jobs.push(*job),
                state => ended.push((*number, state)),
            }
        }
        if shared.is_halted(run) {
            ended.extend(jobs.iter().map(|job| (job.number, RootState::NotBegun)));
            return ended;
        }
        let has_failed = ended.iter().any(|(_, state)| state.is_failure());
        shared.same_versions.join(&mut jobs);
        self.query_releases(&mut jobs);
        // Answers may reveal more platforms of the entries. That happens at most once: with an empty index and a registry
        // that reports hashes.
        let is_outgrown = |job: &mut LockJob| {
            job.root.uses_origin() && !run.all_or_none() && !run.no_download() && job.is_outgrown(run.cache)
        };
        ended.extend(jobs.extract_if(.., is_outgrown).map(|job| (job.number, RootState::Overtaken)));
        let (stored, mode) = decide(run, &mut jobs, shared, has_failed);
        let threads = if run.locking.fail_fast { 1 } else { WRITERS };
        ended.extend(parallel::consume(jobs, threads, |mut job| {
            let state = match job.decision.take() {
                Some(Ok(decision)) => shared.note(job.finish(decision, &stored, LockRun { mode, ..run })),
                Some(Err(error)) => shared.note(RootState::failed(job.path.clone(), error)),
                None => RootState::NotBegun,
            };
            (job.number, state)
        }));
        ended
    }

    /// Opens a root module. One that local facts answer is finished at once, unless all or none are to be written.
    fn begin(&self, number: usize, shared: &LockShared) -> RootState {
        let run = self.run;
        if shared.is_halted(run) {
            return RootState::NotBegun;
        }
        let path = &self.targets.paths[number];
        match self.open(number).and_then(|root| LockJob::new((number, path), root, run, shared)) {
            Ok(job) if job.open.is_empty() && job.kept.is_empty() && !run.all_or_none() => {
                // Without queries there are no trust updates.
                let decision = job.decide(&BTreeMap::new(), &shared.stores, run.cache);
                shared.note(job.finish(decision, &BTreeMap::new(), run))
            }
            Ok(job) => RootState::Planned(Box::new(job)),
            Err(error) => shared.note(RootState::failed(path.clone(), error)),
        }
    }

    /// Opens a root module and fetches its modules, ready to be planned.
    fn open(&self, number: usize) -> Result<LockRoot, Error> {
        let settings = self.targets.settings(number)?;
        let locking = self.run.locking;
        let options = &locking.options;
        let mut settings = RunSettings { dialect: locking.to.unwrap_or(settings.dialect), ..settings };
        settings.modules.locking = ModuleLocking {
            wanted: options.lock_modules,
            reselected: options.reselected_modules.clone(),
            moves: locking.to.is_some(),
        };
        if !options.from_lock {
            settings = settings.with_modules_fetched(&|settings, tree| self.prefetch(settings, tree));
        }
        // Under the lock, so the lock file and the configuration match: another run writes one after the other.
        let _lock = DirectoryLock::acquire_shared(&settings.root)?;
        let root = LockRoot::open(&settings, options, self.run.cache).inspect_err(|_| self.named.miss())?;
        self.named.see(root.names());
        let mut notes = BTreeSet::new();
        let (warnings, named) = (root.warnings.clone(), root.modules.named.clone());
        let is_recorded = |(addr, version): &(ProviderAddr, Version)| {
            root.lock.get(addr).is_some_and(|entry| entry.version == *version)
        };
        let accepted: Vec<_> = root.intent.republished.iter().map(|it| (it.clone(), is_recorded(it))).collect();
        let root = match locking.prepare {
            Some(prepare) => prepare(root, &settings, &mut notes),
            None => Ok(root),
        };
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        for (release, is_recorded) in accepted {
            *learned.accepted.entry(release).or_default() |= is_recorded;
        }
        learned.warnings.extend(warnings);
        learned.reselected.extend(named);
        learned.notes.extend(notes);
        root
    }

    /// Sends queries about providers that are known to be required, while more modules are being fetched. Not for
    /// commands that change the requirements, since these are not known yet.
    fn prefetch(&self, settings: &RunSettings, tree: &Arc<Tree>) {
        if self.run.locking.prepare.is_some() || self.run.no_download() {
            return;
        }
        let options = LockOptions { accept_missing_modules: true, ..self.run.locking.options.clone() };
        // Errors are reported later, when the whole tree is read.
        let root = LockRoot::in_part(settings, tree, &options, self.run.cache);
        if let Ok(job) = root.and_then(|root| LockJob::new((0, Path::new("")), root, self.run, &LockShared::default()))
        {
            self.sources.prefetch(&job.root.source, &job.open);
        }
    }

    /// Queries the sources for all jobs, each query once for all jobs with the same sources.
    fn query_releases(&self, jobs: &mut [LockJob]) {
        let (run, sources) = (self.run, self.sources);
        let open = jobs.iter().enumerate().filter(|(_, job)| !job.open.is_empty());
        let open = open.map(|(at, job)| (at, &job.root.source, job.open.keys()));
        let answers = sources.query_groups(open, |session, members| {
            let steps: Vec<&BTreeMap<ProviderAddr, Query>> = members.iter().map(|at| &jobs[*at].open).collect();
            let releases: BTreeMap<_, _> = members.iter().flat_map(|at| &jobs[*at].unattributed).collect();
            match session {
                _ if releases.is_empty() => {}
                _ if run.no_download() => sources.print(not_downloaded(&releases).to_string()),
                Some(_) => sources.print(unattributed(releases.len())),
                None => {}
            }
            if let Some(session) = session {
                return session.block_on(async |sources| sources.answers(&steps).await);
            }
            // Without an answer an entry stays unchanged.
            let is_needed = |step: &Query| !run.no_download() || step.recorded_release().is_none();
            let needed = |at: &usize| {
                let required = jobs[*at].open.iter().filter(|(addr, _)| jobs[*at].plan.steps.contains_key(addr));
                required.filter(|(_, step)| is_needed(step)).map(|(addr, _)| offline(addr)).collect()
            };
            Ok(members.iter().map(needed).collect())
        });
        for (at, answers) in answers {
            jobs[at].answers = answers;
        }
    }
}

#[derive(Default)]
struct LockShared {
    stores: TrustStores,
    kept: KeptReleases,
    same_versions: SameVersions,
    stop: AtomicBool,
}

impl LockShared {
    fn note(&self, state: RootState) -> RootState {
        self.stop.fetch_or(state.is_failure(), Ordering::Relaxed);
        state
    }

    /// True if no further root module is to be started.
    fn is_halted(&self, run: LockRun<'_>) -> bool {
        run.locking.fail_fast && self.stop.load(Ordering::Relaxed)
    }
}

/// Explains downloads that may change nothing.
fn unattributed(providers: usize) -> String {
    let of = counted(providers, "provider");
    format!("finding out which platforms the h1 hashes of {of} are for; this may download packages")
}

/// Reports what only packages can show; `true` is for a provider with fewer `h1:` hashes than platforms.
fn not_downloaded(releases: &BTreeMap<&ProviderAddr, &bool>) -> Step {
    let fewer: Vec<String> = releases.iter().filter(|(_, fewer)| ***fewer).map(|(addr, _)| addr.to_string()).collect();
    let fewer = match &fewer[..] {
        [] => String::new(),
        some => format!("; fewer h1 hashes than platforms: {}", some.join(", ")),
    };
    let of = counted(releases.len(), "provider");
    step!(
        "not checked because of --no-download: whether the hashes of {} are complete{}; `tflock verify` checks them",
        of,
        fewer
    )
}

/// Decides all entries and writes the trust files. Returns the results of writing them, and the mode for the lock files.
fn decide(run: LockRun<'_>, jobs: &mut [LockJob], shared: &LockShared, has_failed: bool) -> (StoredTrust, WriteMode) {
    decide_each(jobs, &shared.stores, run.cache, || shared.is_halted(run));
    let refused = |job: &LockJob| matches!(&job.decision, Some(Ok(decision)) if decision.is_refused());
    shared.stop.fetch_or(jobs.iter().any(refused), Ordering::Relaxed);
    let unwritten = |job: &LockJob| refused(job) || !matches!(job.decision, Some(Ok(_)));
    if run.all_or_none() && (has_failed || jobs.iter().any(unwritten)) {
        // Start over with empty stores: releases that are not written must not become trusted.
        let stores = TrustStores::of_revocations();
        for job in jobs.iter() {
            // This load succeeded before.
            let _ = stores.load(&job.root.settings.trust);
        }
        decide_each(jobs, &stores, run.cache, || false);
        let mode = if run.mode == WriteMode::Write { WriteMode::Check } else { run.mode };
        return (stores.commit(run), mode);
    }
    shared.same_versions.warn(jobs);
    // Trust files first: a lock file without remembered signers would stay a first use for ever.
    (shared.stores.commit(run), run.mode)
}

/// Decides one root module after the other; the trust updates of each apply to the next.
fn decide_each(jobs: &mut [LockJob], stores: &TrustStores, cache: &Cache, halted: impl Fn() -> bool) {
    for job in jobs {
        job.decision = match &job.answers {
            Ok(_) if halted() => None,
            Ok(answers) => Some(Ok(job.decide(answers, stores, cache))),
            Err(error) => Some(Err(error.clone())),
        };
    }
}

fn offline(addr: &ProviderAddr) -> (ProviderAddr, Answer) {
    let message = format!("locking provider {addr} needs its registry, and --offline forbids contacting it");
    let error = Error::new(ErrorKind::Offline, message).hint("run the command once without --offline");
    (addr.clone(), Err(Refusal::Error(error)))
}

fn is_denied(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Deny)
}

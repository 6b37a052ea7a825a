//! `lock` and its like: many root modules, each planned, asked for, settled and written on its own.
//!
//! Root modules are opened side by side. Those that local facts answer are done at once and forgotten; the others wait
//! until everything has been asked, each question once for all of them.

mod decision;
mod findings;
mod intent;
mod job;
mod kept;
mod locked_for;
mod modules;
mod pending;
mod root;
mod rules;
mod same_versions;
mod trust_stores;
mod unknown_provider;
mod ways_out;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::sources::Sources;
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level};
use crate::outcome::RootOutcome;
use crate::parallel;
use crate::query::answer::{Answer, Refusal};
use crate::query::question::Query;
use decision::Decision;
use job::{Finished, Job, Learning, Means, Place};
use kept::KeptReleases;
use same_versions::SameVersions;
use trust_stores::{Stored, TrustStores};

pub use pending::{Addition, Pending};
pub(super) use pending::{is_entry, require};
pub use root::Root;
pub(super) use rules::RuleBook;

/// How often a root module is started again because its files changed meanwhile.
const ATTEMPTS: usize = 8;

/// Threads that wait for the disk rather than compute.
const WRITERS: usize = 16;

/// How far the command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Writes lock files.
    Write,
    /// Tells whether it would.
    Check,
    /// Tells what it would write.
    DryRun,
}

/// What holds for all root modules of a run.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What is known from earlier runs.
    pub cache: &'a Cache,
    /// How far the run goes.
    pub mode: Mode,
    /// True if the root modules that are left are not begun once one has failed.
    pub fail_fast: bool,
    /// True if nothing is written unless every root module can be.
    pub all_or_none: bool,
    /// The time of the run.
    pub now: SystemTime,
}

/// Opens a root module by its number.
pub type Opener<'a> = &'a (dyn Fn(usize) -> Result<Root, Error> + Sync);

/// The root modules of a run.
pub struct Roots<'a> {
    /// Their paths, as reports name them.
    pub paths: &'a [PathBuf],
    /// Opens one by its number.
    pub open: Opener<'a>,
    /// Which sources they ask; nothing is opened unless there is something to ask.
    pub(in crate::commands) sources: &'a Sources<'a>,
}

/// Makes the lock files of some root modules what the intents of each want; what one of them cannot get does not stop
/// the others, unless all or none are to be written. One result for each that was begun, in the order given.
pub fn lock(run: Run<'_>, roots: &Roots<'_>) -> Vec<RootOutcome> {
    let mut shared = Shared::default();
    let mut pending: Vec<usize> = (0..roots.paths.len()).collect();
    let mut outcomes: BTreeMap<usize, RootOutcome> = BTreeMap::new();
    for _ in 0..ATTEMPTS {
        let results = pass(run, roots, &pending, &mut shared);
        pending.clear();
        for (at, result) in results {
            match result {
                Finished::Done(outcome) => drop(outcomes.insert(at, *outcome)),
                Finished::Overtaken => pending.push(at),
                Finished::NotBegun => {}
            }
        }
        if pending.is_empty() {
            break;
        }
    }
    for at in pending {
        let message = "the files of the root module kept changing; nothing was written";
        let error = Error::new(ErrorKind::Disk, message).hint("wait until other programs are done, and run again");
        outcomes.insert(at, failed(roots.paths[at].clone(), error));
    }
    outcomes.into_values().collect()
}

/// What the root modules of a run have in common.
#[derive(Default)]
struct Shared {
    stores: TrustStores,
    kept: KeptReleases,
    same_versions: SameVersions,
    /// True once one of them has failed.
    stop: AtomicBool,
}

impl Shared {
    fn note(&self, finished: Finished) -> Finished {
        self.stop.fetch_or(finished.is_failure(), Ordering::Relaxed);
        finished
    }

    /// True if no further root module is begun.
    fn is_halted(&self, run: Run<'_>) -> bool {
        run.fail_fast && self.stop.load(Ordering::Relaxed)
    }
}

/// A root module that was begun.
enum Begun {
    Finished(usize, Finished),
    Job(Box<Job>),
}

/// A job with what is known of its providers, or why it is not known.
struct Answered {
    job: Job,
    answers: Result<BTreeMap<ProviderAddr, Answer>, Error>,
}

/// A job with what was decided: none where an earlier one has failed, and that counts.
struct Decided {
    job: Job,
    decision: Option<Result<Decision, Error>>,
}

/// What was decided for all jobs, with the trust files written, and how far to go from there.
struct Decisions {
    decided: Vec<Decided>,
    stored: Stored,
    mode: Mode,
}

/// One attempt at the root modules with these numbers, in any order.
fn pass(run: Run<'_>, roots: &Roots<'_>, numbers: &[usize], shared: &mut Shared) -> Vec<(usize, Finished)> {
    let begun = parallel::each(numbers.len(), parallel::cores(), |at| begin(run, roots, numbers[at], shared));
    let (mut finished, mut jobs) = (Vec::new(), Vec::new());
    for begun in begun {
        match begun {
            Begun::Finished(number, how) => finished.push((number, how)),
            Begun::Job(job) => jobs.push(*job),
        }
    }
    let begun_well = !finished.iter().any(|(_, finished)| finished.is_failure());
    if shared.is_halted(run) {
        finished.extend(jobs.into_iter().map(|job| (job.number, Finished::NotBegun)));
        return finished;
    }
    shared.same_versions.join(&mut jobs);
    // Answers may tell of more platforms that a root module was locked for. That happens once at most, with an index that
    // knew nothing and a registry that reports hashes.
    let outgrown = |it: &Answered| it.job.root.asks_origin() && !run.all_or_none && it.job.is_outgrown(run.cache);
    let (overtaken, answered): (Vec<Answered>, Vec<Answered>) =
        ask(roots.sources, jobs).into_iter().partition(outgrown);
    finished.extend(overtaken.into_iter().map(|it| (it.job.number, Finished::Overtaken)));
    let Decisions { decided, stored, mode } = decide(run, answered, shared, begun_well);
    let threads = if run.fail_fast { 1 } else { WRITERS };
    finished.extend(parallel::consume(decided, threads, |Decided { job, decision }| {
        let how = match decision {
            Some(Ok(decision)) => shared.note(job.finish(decision, &stored, Run { mode, ..run })),
            Some(Err(error)) => shared.note(Finished::failed(job.path.clone(), error)),
            None => Finished::NotBegun,
        };
        (job.number, how)
    }));
    finished
}

/// Opens a root module. One that local facts answer is done at once, unless all or none are to be written.
fn begin(run: Run<'_>, roots: &Roots<'_>, number: usize, shared: &Shared) -> Begun {
    let path = &roots.paths[number];
    if shared.is_halted(run) {
        return Begun::Finished(number, Finished::NotBegun);
    }
    match (roots.open)(number).and_then(|root| Job::new(Place { number, path }, root, run, shared)) {
        Ok(job) if job.open.is_empty() && !run.all_or_none => {
            // Nothing can be learned where nothing was asked.
            let means = Means { stores: &shared.stores, cache: run.cache, learning: Learning::Everything };
            let decision = job.decide(&BTreeMap::new(), means);
            Begun::Finished(number, shared.note(job.finish(decision, &BTreeMap::new(), run)))
        }
        Ok(job) => Begun::Job(Box::new(job)),
        Err(error) => Begun::Finished(number, shared.note(Finished::failed(path.clone(), error))),
    }
}

/// Has asked what a root module will want to know, as far as that is clear while its modules are fetched. What is wrong is told
/// when all of it is read.
pub(super) fn prefetch(run: Run<'_>, root: Root, sources: &Sources<'_>) {
    let place = Place { number: 0, path: Path::new("") };
    if let Ok(job) = Job::new(place, root, run, &Shared::default()) {
        sources.prefetch(&job.root.source, &job.open);
    }
}

/// Asks what the jobs need to know, each question once for all that have the same sources.
fn ask(sources: &Sources<'_>, jobs: Vec<Job>) -> Vec<Answered> {
    let open = jobs.iter().enumerate().filter(|(_, job)| !job.open.is_empty());
    let open = open.map(|(at, job)| (at, &job.root.source, job.open.keys()));
    let mut answers = sources.ask(open, |session, members| {
        let steps: Vec<&BTreeMap<ProviderAddr, Query>> = members.iter().map(|at| &jobs[*at].open).collect();
        match session {
            Some(session) => {
                let jobs = members.iter().map(|at| &jobs[*at]);
                let releases: BTreeSet<_> = jobs.flat_map(|job| &job.unattributed).collect();
                if !releases.is_empty() {
                    sources.tell(unattributed(releases.len()));
                }
                session.ask(async |sources| sources.of_roots(&steps).await)
            }
            None => Ok(steps.iter().map(|steps| steps.keys().map(offline).collect()).collect()),
        }
    });
    let answered = jobs.into_iter().enumerate().map(|(at, job)| {
        let answers = answers.remove(&at).unwrap_or_else(|| Ok(BTreeMap::new()));
        Answered { job, answers }
    });
    answered.collect()
}

/// Why packages are fetched although there may be nothing to write.
fn unattributed(providers: usize) -> String {
    let of = if providers == 1 { "1 provider".to_owned() } else { format!("{providers} providers") };
    format!("the cache does not know which platforms the recorded h1 of {of} are for: fetching packages to find out")
}

/// Decides all entries and writes the trust files.
fn decide(run: Run<'_>, answered: Vec<Answered>, shared: &Shared, begun_well: bool) -> Decisions {
    let means = Means { stores: &shared.stores, cache: run.cache, learning: Learning::Everything };
    let decisions = each_decided(&answered, means, || shared.is_halted(run));
    let refused = |decision: &Option<Result<Decision, Error>>| !matches!(decision, Some(Ok(it)) if !it.is_refused());
    shared.stop.fetch_or(decisions.iter().flatten().flatten().any(Decision::is_refused), Ordering::Relaxed);
    if run.all_or_none && (!begun_well || decisions.iter().any(refused)) {
        // As if it had not been: of releases that are not written nothing is learned.
        let stores = TrustStores::default();
        for it in &answered {
            // It could be read before.
            let _ = it.job.load(&stores);
        }
        let means = Means { stores: &stores, learning: Learning::Revocations, ..means };
        let decided = together(answered, |answered| each_decided(answered, means, || false));
        let mode = if run.mode == Mode::Write { Mode::Check } else { run.mode };
        return Decisions { decided, stored: stores.commit(run), mode };
    }
    let mut decided = together(answered, |_| decisions);
    shared.same_versions.tell(&mut decided);
    // Pins first: a lock file whose signers are not remembered would be a first use for ever.
    Decisions { decided, stored: shared.stores.commit(run), mode: run.mode }
}

/// Decides the entries of each, one after the other: what is learned from one counts for the next.
fn each_decided(
    answered: &[Answered],
    means: Means<'_>,
    halted: impl Fn() -> bool,
) -> Vec<Option<Result<Decision, Error>>> {
    let decided = answered.iter().map(|Answered { job, answers }| match answers {
        Ok(_) if halted() => None,
        Ok(answers) => Some(Ok(job.decide(answers, means))),
        Err(error) => Some(Err(error.clone())),
    });
    decided.collect()
}

/// The jobs with what was decided for each.
fn together(
    answered: Vec<Answered>,
    decide: impl FnOnce(&[Answered]) -> Vec<Option<Result<Decision, Error>>>,
) -> Vec<Decided> {
    let decisions = decide(&answered);
    answered.into_iter().zip(decisions).map(|(it, decision)| Decided { job: it.job, decision }).collect()
}

fn offline(addr: &ProviderAddr) -> (ProviderAddr, Answer) {
    let message = format!("locking provider {addr} needs its registry, and --offline forbids asking it");
    let error = Error::new(ErrorKind::Offline, message).hint("run the command once without --offline");
    (addr.clone(), Err(Refusal::Error(error)))
}

fn failed(path: PathBuf, error: Error) -> RootOutcome {
    RootOutcome { path, body: Err(error), findings: Vec::new() }
}

fn is_denied(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Deny)
}

//! `lock` and its like: many root modules, each planned, asked for, settled and written on its own.
//!
//! Root modules are opened side by side. Those that local facts answer are done at once and forgotten; the others wait
//! until everything has been asked, each question once for all of them.

mod kept;
mod locked_for;
mod modules;
mod prepared;
mod root;
mod rules;
mod same_versions;
mod settlement;
mod trust_stores;
mod unknown_provider;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::sources::{Asked, Sources};
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::engine::facts::{Answer, Refusal};
use crate::engine::plan::Step;
use crate::engine::{parallel, run};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level};
use crate::outcome::RootOutcome;
use kept::KeptReleases;
use prepared::{Finished, Learning, Prepared, Settled};
use same_versions::SameVersions;
use trust_stores::{Stored, TrustStores};

pub use root::Root;
pub(super) use rules::RuleBook;

/// How often a root module is begun anew because its files changed meanwhile.
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
}

/// Opens a root module by its number.
pub type Opener<'a> = &'a (dyn Fn(usize) -> Result<Root, Error> + Sync);

/// The root modules of a run.
pub struct Roots<'a> {
    /// Their paths, as reports name them.
    pub paths: &'a [PathBuf],
    /// Opens one by its number.
    pub open: Opener<'a>,
    /// Whom they ask; nothing is opened unless there is something to ask.
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
        let message = "the files of the root module change all the time; nothing was written";
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

/// A root module on its way.
enum State {
    Waiting(Box<Prepared>),
    Finished(Finished),
}

/// One attempt at the root modules with these numbers.
fn pass(run: Run<'_>, roots: &Roots<'_>, numbers: &[usize], shared: &mut Shared) -> Vec<(usize, Finished)> {
    let mut states = parallel::each(numbers.len(), parallel::cores(), |at| {
        begin(run, roots.open, (numbers[at], &roots.paths[numbers[at]]), shared)
    });
    shared.same_versions.join(states.iter_mut().filter_map(State::waiting_mut).collect());
    let waiting: Vec<(usize, &Prepared)> =
        numbers.iter().zip(&states).filter_map(|(number, state)| Some((*number, state.waiting()?))).collect();
    let answers = if shared.is_halted(run) { Ok(Vec::new()) } else { ask(roots.sources, &waiting) };
    let (waiting, answers, outgrown) = outgrown(run, waiting, answers);
    let begun_well = !states.iter().any(State::is_failure);
    let (settled, stored, mode) = decide(run, &waiting, &answers, (shared, begun_well));
    let threads = if run.fail_fast { 1 } else { WRITERS };
    let cells: Vec<Mutex<Option<Result<Settled, Error>>>> = settled.into_iter().map(Mutex::new).collect();
    let answered = parallel::each(waiting.len(), threads, |at| {
        let (number, prepared) = waiting[at];
        let path = &roots.paths[number];
        match cells[at].lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Ok(settled)) => shared.note(prepared.finish(path, settled, &stored, Run { mode, ..run })),
            Some(Err(error)) => shared.note(Finished::failed(path.clone(), error)),
            None => Finished::NotBegun,
        }
    });
    let mut answered = answered.into_iter();
    let finished = numbers.iter().zip(states).map(|(number, state)| match state {
        State::Finished(finished) => finished,
        State::Waiting(_) if outgrown.contains(number) => Finished::Overtaken,
        State::Waiting(_) => answered.next().unwrap_or(Finished::NotBegun),
    });
    numbers.iter().copied().zip(finished).collect()
}

/// Sets aside the root modules that are to begin anew, since the answers tell of more platforms that they were locked
/// for. That happens once at most, with an index that knew nothing and a registry that reports hashes.
fn outgrown<'a>(
    run: Run<'_>,
    waiting: Vec<(usize, &'a Prepared)>,
    answers: Answers,
) -> (Vec<(usize, &'a Prepared)>, Answers, BTreeSet<usize>) {
    let is_outgrown =
        |prepared: &Prepared| prepared.root.asks_origin() && !run.all_or_none && prepared.is_outgrown(run.cache);
    let outgrown: BTreeSet<usize> =
        waiting.iter().filter(|(_, prepared)| is_outgrown(prepared)).map(|(number, _)| *number).collect();
    let kept = |number: &usize| !outgrown.contains(number);
    let answers = answers.map(|answers| {
        let answered = waiting.iter().zip(answers).filter(|((number, _), _)| kept(number));
        answered.map(|(_, answers)| answers).collect()
    });
    (waiting.into_iter().filter(|(number, _)| kept(number)).collect(), answers, outgrown)
}

/// Opens a root module. One that local facts answer is done at once, unless all or none are to be written.
fn begin(run: Run<'_>, open: Opener<'_>, (number, path): (usize, &Path), shared: &Shared) -> State {
    if shared.is_halted(run) {
        return State::Finished(Finished::NotBegun);
    }
    match open(number).and_then(|root| Prepared::new(root, run, shared)) {
        Ok(prepared) if prepared.open.is_empty() && !run.all_or_none => {
            // Nothing can be learned where nothing was asked.
            let settled = prepared.settle(&BTreeMap::new(), (&shared.stores, run.cache), Learning::Everything);
            State::Finished(shared.note(prepared.finish(path, settled, &BTreeMap::new(), run)))
        }
        Ok(prepared) => State::Waiting(Box::new(prepared)),
        Err(error) => State::Finished(shared.note(Finished::failed(path.to_owned(), error))),
    }
}

/// What is known of the providers of each root module, or why nobody knows.
type Answers = Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error>;

/// What was decided for each root module: none where an earlier one has failed, and that counts.
type Decided = Vec<Option<Result<Settled, Error>>>;

/// Decides all entries and writes the trust files, and says how far to go from there.
fn decide(
    run: Run<'_>,
    waiting: &[(usize, &Prepared)],
    answers: &Answers,
    (shared, begun_well): (&Shared, bool),
) -> (Decided, Stored, Mode) {
    let halted = || shared.is_halted(run);
    let mut settled = settle(waiting, answers, ((&shared.stores, run.cache), Learning::Everything), halted);
    let refused =
        |settled: &Option<Result<Settled, Error>>| !matches!(settled, Some(Ok(settled)) if !settled.is_refused());
    shared.stop.fetch_or(settled.iter().flatten().flatten().any(Settled::is_refused), Ordering::Relaxed);
    if run.all_or_none && (!begun_well || settled.iter().any(refused)) {
        // As if it had not been: of releases that are not written nothing is learned.
        let stores = TrustStores::default();
        for (_, prepared) in waiting {
            // It could be read before.
            let _ = prepared.load(&stores);
        }
        let settled = settle(waiting, answers, ((&stores, run.cache), Learning::Revocations), || false);
        let mode = if run.mode == Mode::Write { Mode::Check } else { run.mode };
        return (settled, stores.commit(run.mode), mode);
    }
    shared.same_versions.tell(waiting, &mut settled);
    // Pins first: a lock file whose signers nobody remembers would be a first use for ever.
    (settled, shared.stores.commit(run.mode), run.mode)
}

/// Decides the entries of each, one after the other: what is learned from one counts for the next.
fn settle(
    waiting: &[(usize, &Prepared)],
    answers: &Answers,
    (known, learning): ((&TrustStores, &Cache), Learning),
    halted: impl Fn() -> bool,
) -> Decided {
    let answers = match answers {
        Ok(answers) => answers,
        Err(error) => return waiting.iter().map(|_| Some(Err(error.clone()))).collect(),
    };
    let mut answers = answers.iter();
    let decided = waiting.iter().map(|(_, prepared)| {
        let answers = answers.next().filter(|_| !halted())?;
        Some(Ok(prepared.settle(answers, known, learning)))
    });
    decided.collect()
}

impl State {
    fn is_failure(&self) -> bool {
        matches!(self, State::Finished(finished) if finished.is_failure())
    }

    fn waiting_mut(&mut self) -> Option<&mut Prepared> {
        match self {
            State::Waiting(prepared) => Some(prepared),
            State::Finished(_) => None,
        }
    }

    fn waiting(&self) -> Option<&Prepared> {
        match self {
            State::Waiting(prepared) => Some(prepared),
            State::Finished(_) => None,
        }
    }
}

/// Asks for all root modules, those of the same sources together.
fn ask(sources: &Sources<'_>, waiting: &[(usize, &Prepared)]) -> Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error> {
    let mut groups: BTreeMap<Asked, Vec<usize>> = BTreeMap::new();
    for (at, (_, prepared)) in waiting.iter().enumerate().filter(|(_, (_, prepared))| !prepared.open.is_empty()) {
        groups.entry(sources.of(&prepared.root.source, prepared.open.keys())?).or_default().push(at);
    }
    let mut answers: Vec<BTreeMap<ProviderAddr, Answer>> = waiting.iter().map(|_| BTreeMap::new()).collect();
    for (asked, members) in groups {
        let steps: Vec<&BTreeMap<ProviderAddr, Step>> = members.iter().map(|at| &waiting[*at].1.open).collect();
        let given = match sources.open(&asked)? {
            Some(options) => run::gather(options, &steps)?,
            None => steps.iter().map(|steps| steps.keys().map(offline).collect()).collect(),
        };
        for (at, given) in members.into_iter().zip(given) {
            answers[at] = given;
        }
    }
    Ok(answers)
}

fn offline(addr: &ProviderAddr) -> (ProviderAddr, Answer) {
    let message = format!("locking provider {addr} needs its registry, which --offline forbids to ask");
    let error = Error::new(ErrorKind::Offline, message).hint("run the command once without --offline");
    (addr.clone(), Err(Refusal::Error(error)))
}

fn failed(path: PathBuf, error: Error) -> RootOutcome {
    RootOutcome { path, body: Err(error), findings: Vec::new() }
}

fn is_denied(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Deny)
}

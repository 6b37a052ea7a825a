//! `lock` and its like: many root modules, each planned, asked for, settled and written on its own.
//!
//! Root modules are opened side by side. Those that local facts answer are done at once and forgotten; the others wait
//! until everything has been asked, each question once for all of them.

mod memories;
mod prepared;
mod root;
mod rules;
mod settlement;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::disk::mirror::FilesystemMirror;
use crate::engine::facts::{Answer, Refusal};
use crate::engine::gather::GatherOptions;
use crate::engine::plan::Step;
use crate::engine::{Events, abreast, mirrors, run};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level};
use crate::outcome::RootOutcome;
use memories::Memories;
use prepared::{Finished, Prepared, Settled};

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

/// Whom to ask.
#[derive(Debug)]
pub enum Source {
    /// The origin registries.
    Registries(Box<GatherOptions>),
    /// A filesystem mirror, and nobody else.
    Mirror(FilesystemMirror, Events),
    /// Nobody: what is not known already is an error.
    Nobody,
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
    /// False if facts of earlier runs about registries do not count, as with a mirror.
    pub local: bool,
}

/// The root modules of a run.
pub struct Roots<'a> {
    /// Their paths, as reports name them.
    pub paths: &'a [PathBuf],
    /// Opens one by its number.
    pub open: &'a (dyn Fn(usize) -> Result<Root, Error> + Sync),
    /// Whom to ask, for a tool; called only if there is something to ask.
    pub source: &'a dyn Fn(Dialect) -> Result<Source, Error>,
}

/// Makes the lock files of some root modules what the intents of each want; what one of them cannot get does not stop
/// the others. One result for each that was begun, in the order given.
pub fn lock(run: Run<'_>, roots: &Roots<'_>) -> Vec<RootOutcome> {
    let (stop, memories) = (AtomicBool::new(false), Memories::default());
    let mut pending: Vec<usize> = (0..roots.paths.len()).collect();
    let mut outcomes: BTreeMap<usize, RootOutcome> = BTreeMap::new();
    for _ in 0..ATTEMPTS {
        let results = pass(run, roots, &pending, (&memories, &stop));
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

/// A root module on its way.
enum State {
    Waiting(Box<Prepared>),
    Finished(Finished),
}

/// One attempt at the root modules with these numbers.
fn pass(
    run: Run<'_>,
    roots: &Roots<'_>,
    numbers: &[usize],
    (memories, stop): (&Memories, &AtomicBool),
) -> Vec<(usize, Finished)> {
    let halted = || run.fail_fast && stop.load(Ordering::Relaxed);
    let done = |finished: Finished| {
        stop.fetch_or(finished.is_failure(), Ordering::Relaxed);
        finished
    };
    let states = abreast::each(numbers.len(), abreast::cores(), |at| {
        let path = &roots.paths[numbers[at]];
        if halted() {
            return State::Finished(Finished::NotBegun);
        }
        match (roots.open)(numbers[at]).and_then(|root| Prepared::new(root, run, memories)) {
            Ok(prepared) if prepared.open.is_empty() => {
                // Nothing can be learned where nothing was asked.
                let settled = prepared.settle(&BTreeMap::new(), memories);
                State::Finished(done(prepared.finish(path, settled, &BTreeMap::new(), run.mode)))
            }
            Ok(prepared) => State::Waiting(Box::new(prepared)),
            Err(error) => State::Finished(done(Finished::failed(path.clone(), error))),
        }
    });
    let waiting: Vec<(usize, &Prepared)> =
        numbers.iter().zip(&states).filter_map(|(number, state)| Some((*number, state.waiting()?))).collect();
    let answers = if halted() { Ok(Vec::new()) } else { ask(roots.source, &waiting) };
    let settled = settle(&waiting, answers, memories, halted, stop);
    // Pins first: a lock file whose signers nobody remembers would be a first use for ever.
    let stored = memories.commit(run.mode);
    let threads = if run.fail_fast { 1 } else { WRITERS };
    let cells: Vec<Mutex<Option<Result<Settled, Error>>>> = settled.into_iter().map(Mutex::new).collect();
    let answered = abreast::each(waiting.len(), threads, |at| {
        let (number, prepared) = waiting[at];
        let path = &roots.paths[number];
        match cells[at].lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Ok(settled)) => done(prepared.finish(path, settled, &stored, run.mode)),
            Some(Err(error)) => done(Finished::failed(path.clone(), error)),
            None => Finished::NotBegun,
        }
    });
    let mut answered = answered.into_iter();
    let finished = states.into_iter().map(|state| match state {
        State::Finished(finished) => finished,
        State::Waiting(_) => answered.next().unwrap_or(Finished::NotBegun),
    });
    numbers.iter().copied().zip(finished).collect()
}

/// Decides the entries of each, one after the other: what is learned from one counts for the next. None where an earlier
/// one has failed, and that counts.
fn settle(
    waiting: &[(usize, &Prepared)],
    answers: Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error>,
    memories: &Memories,
    halted: impl Fn() -> bool,
    stop: &AtomicBool,
) -> Vec<Option<Result<Settled, Error>>> {
    let answers = match answers {
        Ok(answers) => answers,
        Err(error) => return waiting.iter().map(|_| Some(Err(error.clone()))).collect(),
    };
    let mut answers = answers.into_iter();
    let decided = waiting.iter().map(|(_, prepared)| {
        let answers = answers.next().filter(|_| !halted())?;
        let settled = prepared.settle(&answers, memories);
        stop.fetch_or(settled.is_refused(), Ordering::Relaxed);
        Some(Ok(settled))
    });
    decided.collect()
}

impl State {
    fn waiting(&self) -> Option<&Prepared> {
        match self {
            State::Waiting(prepared) => Some(prepared),
            State::Finished(_) => None,
        }
    }
}

fn ask(
    source: &dyn Fn(Dialect) -> Result<Source, Error>,
    waiting: &[(usize, &Prepared)],
) -> Result<Vec<BTreeMap<ProviderAddr, Answer>>, Error> {
    let Some((_, first)) = waiting.first() else { return Ok(Vec::new()) };
    let steps: Vec<&BTreeMap<ProviderAddr, Step>> = waiting.iter().map(|(_, prepared)| &prepared.open).collect();
    match source(first.dialect())? {
        Source::Registries(options) => run::gather(*options, &steps),
        Source::Mirror(mirror, events) => {
            Ok(steps.iter().map(|steps| mirrors::gather(&mirror, steps, &events)).collect())
        }
        Source::Nobody => Ok(steps.iter().map(|steps| steps.keys().map(offline).collect()).collect()),
    }
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

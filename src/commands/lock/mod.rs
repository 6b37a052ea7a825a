//! `lock` and related commands: each root module is planned, answered, decided and written on its own. Root modules are
//! opened in parallel. Those that local facts answer are finished at once; the others wait until all queries are
//! answered, each sent once for all of them.

pub(super) mod addition;
pub mod command;
mod decision;
mod intent;
mod job;
mod migrating;
mod module_lock;
pub(super) mod request;
mod requirements;
mod restoring;
mod root;
mod same_versions;
mod session;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files of root modules")]
mod tests;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::shared::sharing::name_sharers;
use super::shared::sources::PackageSources;
use super::shared::targets::Targets;
use addition::Addition;
use job::{LockJob, RootState};
use request::{LockRequest, Preparation, RootRepair, WriteMode};
use same_versions::SameVersions;
use session::{LockSession, StoredTrust, TrustStores};
use writing::WritePhase;

use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::disk::root_files::DirectoryLock;
use crate::disk::roots::{ModuleLocking, Tree};
use crate::error::{Error, ErrorKind};
use crate::outcome::RootOutcome;
use crate::parallel::{self, locked};
use crate::path::shown;
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

/// The root modules of a run.
struct LockRoots<'a> {
    session: LockSession<'a>,
    targets: &'a Targets<'a>,
    /// The sources to query, opened on first use.
    sources: &'a PackageSources<'a>,
    named: &'a NamedProviders,
}

impl LockRoots<'_> {
    /// Brings lock files in line with the intents of their root modules. A failure does not stop the others, unless all or
    /// none are to be written. Returns one outcome for each root module that was begun, in the order given.
    fn lock(&self) -> Vec<RootOutcome> {
        let mut same_versions = SameVersions::default();
        let mut pending: Vec<usize> = (0..self.targets.paths.len()).collect();
        let mut outcomes: BTreeMap<usize, RootOutcome> = BTreeMap::new();
        for _ in 0..ATTEMPTS {
            let results = self.pass(&pending, &mut same_versions);
            pending.clear();
            for (at, result) in results {
                match result {
                    RootState::Done(outcome) => {
                        outcomes.insert(at, *outcome);
                    }
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
        let mut outcomes: Vec<RootOutcome> = outcomes.into_values().collect();
        name_sharers(self.targets, &mut outcomes);
        outcomes
    }

    /// One attempt at the root modules with these numbers, in any order.
    fn pass(&self, numbers: &[usize], same_versions: &mut SameVersions) -> Vec<(usize, RootState)> {
        let (session, request) = (&self.session, self.session.request);
        let begun = parallel::each(numbers.len(), parallel::cores(), |at| self.begin(numbers[at]));
        let (mut jobs, mut ended) = (Vec::new(), Vec::new());
        for (number, state) in numbers.iter().zip(begun) {
            match state {
                RootState::Planned(job) => jobs.push(*job),
                state => ended.push((*number, state)),
            }
        }
        if session.is_halted() {
            ended.extend(jobs.iter().map(|job| (job.number, RootState::NotBegun)));
            return ended;
        }
        let has_failed = ended.iter().any(|(_, state)| state.is_failure());
        same_versions.join(&mut jobs);
        self.query_releases(&mut jobs);
        // Answers may reveal more platforms of the entries. That happens at most once: with an empty index and a registry
        // that reports hashes.
        if !request.is_all_or_none() && !request.no_download {
            let outgrown = jobs.extract_if(.., |job| job.root.uses_origin() && job.is_outgrown(session.cache));
            ended.extend(outgrown.map(|job| (job.number, RootState::Overtaken)));
        }
        let phase = decide(session, &mut jobs, same_versions, has_failed);
        let threads = if request.fail_fast { 1 } else { WRITERS };
        ended.extend(parallel::consume(jobs, threads, |mut job| {
            let state = match job.decision.take() {
                Some(Ok(decision)) => self.noted(job.finish(decision, session, &phase)),
                Some(Err(error)) => self.noted(RootState::failed(job.path.clone(), error)),
                None => RootState::NotBegun,
            };
            (job.number, state)
        }));
        ended
    }

    fn noted(&self, state: RootState) -> RootState {
        self.session.note_failure(state.is_failure());
        state
    }

    /// Opens a root module. One that local facts answer is finished at once, unless all or none are to be written.
    fn begin(&self, number: usize) -> RootState {
        let session = &self.session;
        if session.is_halted() {
            return RootState::NotBegun;
        }
        let path = &self.targets.paths[number];
        match self.open(number).and_then(|root| LockJob::new((number, path), root, session)) {
            Ok(job) if job.open.is_empty() && job.kept.is_empty() && !session.request.is_all_or_none() => {
                // Without queries there are no trust updates.
                let decision = job.decide(&BTreeMap::new(), &session.stores, session.cache);
                let phase = WritePhase { trust: StoredTrust::new(), mode: session.request.mode };
                self.noted(job.finish(decision, session, &phase))
            }
            Ok(job) => RootState::Planned(Box::new(job)),
            Err(error) => self.noted(RootState::failed(path.clone(), error)),
        }
    }

    /// Opens a root module and fetches its modules, ready to be planned.
    fn open(&self, number: usize) -> Result<LockRoot, Error> {
        let settings = self.targets.settings(number)?;
        let request = self.session.request;
        let mut settings = RunSettings { dialect: request.new_tool().unwrap_or(settings.dialect), ..settings };
        settings.modules.locking = ModuleLocking {
            wanted: request.lock_modules,
            reselected: request.reselected_modules.clone(),
            moves: request.new_tool().is_some(),
        };
        if !request.from_lock {
            // Fetched modules are kept; the tree is read again below, where no other run writes.
            settings = settings.with_modules_fetched(&|settings, tree| self.prefetch(settings, tree));
        }
        // Under the lock, so the lock file and the configuration match: another run writes one after the other.
        let _lock = DirectoryLock::acquire_shared(&settings.root)?;
        let mut root = LockRoot::open(&settings, request, self.session.cache).inspect_err(|_| self.named.miss())?;
        self.named.see(root.names());
        let mut notes = BTreeSet::new();
        let named = root.modules.named.clone();
        let is_recorded = |(addr, version): &(ProviderAddr, Version)| {
            root.lock.get(addr).is_some_and(|entry| entry.version == *version)
        };
        let accepted: Vec<_> = root.intent.republished.iter().map(|it| (it.clone(), is_recorded(it))).collect();
        let tree = root.read.tree.clone();
        let prepared = self.prepare(&mut root, &mut notes);
        let mut collected = locked(&self.session.collected);
        for (release, is_recorded) in accepted {
            *collected.accepted.entry(release).or_default() |= is_recorded;
        }
        if let Some(tree) = tree {
            collected.of_trees.add(&settings.path, &tree);
        }
        collected.reselected.extend(named);
        collected.notes.extend(notes);
        prepared.map(|()| root)
    }

    /// Changes an opened root module as the command needs it, and adds the notes on that.
    fn prepare(&self, root: &mut LockRoot, notes: &mut BTreeSet<Step>) -> Result<(), Error> {
        match &self.session.request.preparation {
            Preparation::None => {}
            Preparation::Restore { revision } => self.session.restored.prepare(root, revision)?,
            Preparation::Bump(bump) => requirements::bump(root, bump)?,
            Preparation::Add(additions) => {
                let left = requirements::left_to_atmos(root, additions);
                root.prepared.no_lock = self.session.request.no_lock || left.is_some();
                let additions: Vec<Addition> =
                    additions.iter().map(|addition| addition.clone().without_lock(root.prepared.no_lock)).collect();
                requirements::add(root, &additions, notes)?;
                if !root.prepared.no_lock {
                    notes.extend(requirements::others_without_entry(root));
                }
                notes.extend(left);
            }
            Preparation::Remove(removal) => {
                requirements::remove(root, removal)?;
                if !removal.lock_only {
                    notes.extend(requirements::still_required(root));
                }
            }
            Preparation::Migrate(migration) => {
                notes.extend(migrating::remarks(root.settings()).into_iter().map(Step::from));
                migrating::migrate(root, *migration)?;
            }
            Preparation::Repair(repair) => {
                let RootRepair { providers, lost, base } =
                    repair.roots.get(&root.settings().name()).cloned().unwrap_or_default();
                root.restrict_to(providers);
                restoring::restore(root, lost, &base)?;
                root.prepared.is_of_base = true;
            }
        }
        Ok(())
    }

    /// Sends queries about providers that are known to be required, while more modules are being fetched. Not for
    /// commands that change the requirements, since these are not known yet.
    fn prefetch(&self, settings: &RunSettings, tree: &Arc<Tree>) {
        let request = self.session.request;
        if !matches!(request.preparation, Preparation::None) || request.no_download {
            return;
        }
        let request = LockRequest { accept_missing_modules: true, ..request.clone() };
        // Errors are reported later, when the whole tree is read.
        let root = LockRoot::in_part(settings, tree, &request, self.session.cache);
        let job = root.and_then(|root| LockJob::new((0, Path::new("")), root, &self.session.afresh()));
        if let Ok(job) = job {
            self.sources.prefetch(&job.root.source, &job.open);
        }
    }

    /// Queries the sources for all jobs, each query once for all jobs with the same sources.
    fn query_releases(&self, jobs: &mut [LockJob]) {
        let (no_download, sources) = (self.session.request.no_download, self.sources);
        let open = jobs.iter().enumerate().filter(|(_, job)| !job.open.is_empty());
        let open = open.map(|(at, job)| (at, &job.root.source, job.open.keys()));
        let answers = sources.query_groups(open, |session, members| {
            let steps: Vec<&BTreeMap<ProviderAddr, Query>> = members.iter().map(|at| &jobs[*at].open).collect();
            let releases: BTreeMap<_, _> = members.iter().flat_map(|at| &jobs[*at].unattributed).collect();
            match session {
                _ if releases.is_empty() => {}
                _ if no_download => sources.print(not_downloaded(&releases).to_string()),
                Some(_) => sources.print(unattributed(releases.len())),
                None => {}
            }
            if let Some(session) = session {
                return session.block_on(async |sources| sources.answers(&steps).await);
            }
            // Without an answer an entry stays unchanged.
            let is_needed = |step: &Query| !no_download || step.recorded_release().is_none();
            let needed = |at: &usize| {
                let required = jobs[*at].open.iter().filter(|(addr, _)| jobs[*at].plan.steps.contains_key(addr));
                required.filter(|(_, step)| is_needed(step)).map(|(addr, _)| offline(addr)).collect()
            };
            Ok(members.iter().map(needed).collect())
        });
        for (at, answers) in answers {
            jobs[at].answers = answers;
        }
        let errors: Vec<Error> = jobs.iter_mut().flat_map(|job| self.leave_out_overridden(job)).collect();
        locked(&self.session.collected).overridden.extend(errors);
    }

    /// Takes the providers out of the plan that have no entry, that their registry does not know and that `dev_overrides` of the
    /// CLI configuration run from a directory: the others can be locked.
    fn leave_out_overridden(&self, job: &mut LockJob) -> Vec<Error> {
        let Ok(answers) = &mut job.answers else { return Vec::new() };
        let is_unknown =
            |answer: &Answer| matches!(answer, Err(Refusal::Error(error)) if error.kind == ErrorKind::UnknownProvider);
        let unknown: Vec<ProviderAddr> =
            answers.iter().filter(|(_, answer)| is_unknown(answer)).map(|(addr, _)| addr.clone()).collect();
        let mut errors = Vec::new();
        for addr in unknown.into_iter().filter(|addr| job.root.lock.get(addr).is_none()) {
            let Some(directory) = self.sources.override_of(job.root.source.dialect, &addr) else { continue };
            if let Some(Err(Refusal::Error(error))) = answers.remove(&addr) {
                let known = (&job.root.requirements, &job.root.lock);
                let error =
                    decision::unknown_provider(error, known, &job.root.settings().name(), job.root.source.dialect);
                errors.push(Error { hints: overridden(&addr, &directory), ..error });
            }
            job.open.remove(&addr);
            job.plan.steps.remove(&addr);
        }
        errors
    }
}

/// What to do about a provider in development: the tools differ.
///
/// Source: `internal/command/init.go` of Terraform 1.14 to 1.17; `OpenTofu` installs what it overrides.
fn overridden(addr: &ProviderAddr, directory: &Path) -> Vec<Step> {
    vec![
        format!(
            "dev_overrides of your CLI configuration run {addr} from {}; the other providers are locked without it",
            shown(directory)
        )
        .into(),
        "Terraform 1.15 and later needs no entry for it; before that, and in OpenTofu, `init` fails without the registry".into(),
    ]
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

/// Decides all entries and writes the trust files.
fn decide(
    session: &LockSession<'_>,
    jobs: &mut [LockJob],
    same_versions: &SameVersions,
    has_failed: bool,
) -> WritePhase {
    let mode = session.request.mode;
    decide_each(jobs, &session.stores, session.cache, || session.is_halted());
    let refused = |job: &LockJob| matches!(&job.decision, Some(Ok(decision)) if decision.is_refused());
    session.note_failure(jobs.iter().any(refused));
    let unwritten = |job: &LockJob| refused(job) || !matches!(job.decision, Some(Ok(_)));
    if session.request.is_all_or_none() && (has_failed || jobs.iter().any(unwritten)) {
        // Start over with empty stores: releases that are not written must not become trusted.
        let stores = TrustStores::of_revocations();
        for job in jobs.iter() {
            // This load succeeded before.
            let _ = stores.load(&job.root.settings().trust);
        }
        decide_each(jobs, &stores, session.cache, || false);
        let unwritten = if mode == WriteMode::Write { WriteMode::Check } else { mode };
        return WritePhase { trust: session.write_trust(&stores, mode), mode: unwritten };
    }
    same_versions.warn(jobs);
    // Trust files first: a lock file without remembered signers would stay a first use for ever.
    WritePhase { trust: session.write_trust(&session.stores, mode), mode }
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

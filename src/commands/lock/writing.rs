//! Computes the changes of a decision in the files of a root module, and writes them; before that, selects one version of
//! each provider for all root modules of a run, if requested.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::LockRun;
use super::decision::Decision;
use super::job::LockJob;
use super::root::RootEdit;
use crate::commands::shared::lock_options::WriteMode;

use crate::addr::ProviderAddr;
use crate::commands::shared::trust_store::{self, TrustPlace, TrustStore};
use crate::diff::{self, AddedHash, Standing};
use crate::disk::root_files::{self, DirectoryLock};
use crate::disk::roots;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Position, Rule};
use crate::hash::PackageHash;
use crate::interrupt::Interrupt;
use crate::lock::plan::OneForAll;
use crate::lock::settle::EntryDecision;
use crate::lock::{self, Write};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{Changes, Need};
use crate::path::shown;
use crate::query::cached::SameVersion;
use crate::query::question::{Query, Selection};
use crate::query::select::{Criteria, ProvenanceRule};
use crate::report::diff::unified;
use crate::trust::Evidence;
use crate::trust::pins::{Pins, Signer};
use crate::trust::signer::TrustUpdate;
use crate::version::Version;

impl LockJob {
    /// The changes, written if the mode says so; `None` if the files changed since they were read.
    pub(super) fn write(&self, decision: &Decision, run: LockRun<'_>) -> Result<Option<Changes>, Error> {
        let Decision { entries, edits, .. } = decision;
        let mode = run.mode;
        let mut new = self.root.lock.clone();
        for addr in &self.plan.pruned {
            new.remove(addr);
        }
        for (addr, settled) in entries {
            new.insert(addr.clone(), settled.entry.clone());
        }
        let traits = self.root.kind.traits();
        if self.root.kind_is_known {
            new = new.of_kind(traits.has_stacks_header);
        }
        if run.locking.adds_only()
            && let Some(lost) = loses(&self.root.lock, &new)
        {
            let message = format!("locking again would take out something that is recorded for {lost}");
            return Err(Error::new(ErrorKind::Trust, message));
        }
        let mut list = diff::changes(&self.root.lock, &new);
        for change in &mut list {
            let Some(settled) = entries.get(&change.address) else {
                continue;
            };
            change.signer.clone_from(&settled.signer);
            if let (Some(Signer::Key(key)), false) = (&change.signer, decision.pinned.contains(&change.address)) {
                let (addr, version) = (&change.address, &settled.entry.version);
                change.identity =
                    trust_store::keys_of_release(run.cache, addr, version, run.now).remove(key).map(Box::new);
            }
            change.identical = settled.identical;
            if decision.pinned.contains(&change.address) {
                change.standing = Standing::Pinned;
            }
            change.hashes_added.clone_from(&settled.added);
            if self.root.earlier.contains_key(&change.address) || self.root.restored.contains_key(&change.address) {
                change.hashes_added.extend(remembered(settled, self.root.lock.get(&change.address)));
            }
        }
        let text = Some(new.encode(self.dialect())).filter(|_| !run.locking.options.no_lock);
        let old = self.root.bytes.as_deref();
        let stays = text.as_deref().is_none_or(|text| old == Some(text.as_bytes()));
        // Without requirements `providers lock` writes a file without entries, and tflock does so in a root module that
        // the user named. `init` neither writes nor requires one.
        let is_asked = mode != WriteMode::Check && !run.locking.options.found;
        let unmissed = !is_asked && old.is_none() && new.is_empty() && edits.is_empty();
        let needless = self.root.untouched || unmissed;
        let changed = (!stays || !edits.is_empty()) && !needless;
        let mut outcome =
            Changes { changed, path: self.root.settings.lock_file_shown(), changes: list, ..Changes::default() };
        outcome.upgrading = self.root.intent.upgrade.is_some();
        outcome.requirements_unread = self.root.requirements_unread;
        outcome.need = match (unmissed, run.no_download() && !self.unattributed.is_empty()) {
            (true, _) => Need::Needless,
            (false, true) => Need::Unchecked,
            (false, false) => Need::Wanted,
        };
        outcome.modules.clone_from(&self.root.modules.changes);
        outcome.edited = edits.iter().map(|edit| edit.shown.clone()).collect();
        outcome.lock_stays = stays;
        match mode {
            WriteMode::Check => {}
            WriteMode::DryRun | WriteMode::Write if needless => {}
            WriteMode::DryRun => outcome.diff = Some(self.diff(text.as_deref(), edits)),
            WriteMode::Write => match self.store(text, edits, run.interrupt)? {
                Some(written) => outcome.written = written,
                None => return Ok(None),
            },
        }
        if mode == WriteMode::Write {
            for (addr, decided) in entries.iter().filter(|(_, decided)| !decided.added.is_empty()) {
                run.cache.note_locked(addr, &decided.entry.version);
            }
        }
        Ok(Some(outcome))
    }

    fn diff(&self, text: Option<&str>, edits: &[RootEdit]) -> String {
        let mut diff = String::new();
        for edit in edits {
            diff += &unified(edit.texts.old.as_deref().unwrap_or_default(), &edit.texts.new, &shown(&edit.shown));
        }
        let old = String::from_utf8_lossy(self.root.bytes.as_deref().unwrap_or_default());
        let lock = text.map(|text| unified(&old, text, &shown(&self.root.settings.lock_file_shown())));
        diff + &lock.unwrap_or_default()
    }

    /// Writes the lock file together with the configuration, unless one of them changed since it was read.
    fn store(&self, text: Option<String>, edits: &[RootEdit], interrupt: &Interrupt) -> Result<Option<bool>, Error> {
        let _lock = DirectoryLock::acquire(&self.root.settings.root)?;
        if root_files::read_lock_file(&self.root.settings.lock_file())? != self.root.bytes {
            return Ok(None);
        }
        let edits: Vec<lock::Edit<'_>> = edits
            .iter()
            .map(|edit| lock::Edit { path: &edit.place, old: edit.texts.old.as_deref(), new: &edit.texts.new })
            .collect();
        let write = Write { path: self.root.settings.lock_file(), text, boundary: self.root.settings.boundary.clone() };
        lock::commit(&write, &edits, interrupt)
    }
}

/// The first provider whose recorded version or a recorded hash is gone.
fn loses<'a>(old: &'a LockFile, new: &LockFile) -> Option<&'a ProviderAddr> {
    let stays = |addr: &ProviderAddr, entry: &LockEntry| {
        new.get(addr).is_some_and(|now| {
            now.version == entry.version && entry.hashes.iter().all(|hash| now.hashes.contains(hash))
        })
    };
    old.iter().find(|(addr, entry)| !stays(addr, entry)).map(|(addr, _)| addr)
}

/// The hashes of an entry that come from the provider's earlier entry.
fn remembered(settled: &EntryDecision, old: Option<&LockEntry>) -> Vec<AddedHash> {
    let is_new = |hash: &&PackageHash| {
        settled.added.iter().all(|added| added.hash != **hash) && old.is_none_or(|old| !old.hashes.contains(hash))
    };
    let added = |hash: &PackageHash| AddedHash {
        hash: hash.clone(),
        platforms: BTreeSet::new(),
        evidence: vec![Evidence::Recorded],
    };
    settled.entry.hashes.iter().filter(is_new).map(added).collect()
}

#[derive(Default)]
pub(super) struct TrustStores {
    files: Mutex<BTreeMap<TrustPlace, Result<TrustStore, Error>>>,
    /// Learn revocations only: these apply even if the run is refused.
    pub(super) only_revocations: bool,
    /// Learn nothing: the pins are given.
    fixed: bool,
}

pub(super) type StoredTrust = BTreeMap<TrustPlace, Result<bool, Error>>;

impl TrustStores {
    /// Stores for a run that writes no lock file.
    pub(super) fn of_revocations() -> Self {
        Self { only_revocations: true, ..Self::default() }
    }

    /// Stores of pins that stay as given.
    pub(super) fn of_pins(pins: &BTreeMap<TrustPlace, Pins>) -> Self {
        let stores = pins.iter().map(|(place, pins)| (place.clone(), Ok(TrustStore::of_pins(pins.clone(), place))));
        Self { files: Mutex::new(stores.collect()), fixed: true, ..Self::default() }
    }

    pub(super) fn load(&self, place: &TrustPlace) -> Result<(), Error> {
        self.with(|stores| {
            let store = stores.entry(place.clone()).or_insert_with(|| TrustStore::load(place));
            store.as_ref().map(|_| ()).map_err(Error::clone)
        })
    }

    pub(super) fn pins(&self, place: &TrustPlace) -> Pins {
        self.with(|stores| match stores.get(place) {
            Some(Ok(store)) => store.pins().clone(),
            _ => Pins::default(),
        })
    }

    /// Whether it is asked where the releases of a provider were built.
    pub(super) fn provenance(&self, place: &TrustPlace, addr: &ProviderAddr) -> ProvenanceRule {
        self.with(|stores| match stores.get(place) {
            Some(Ok(store)) => ProvenanceRule::of(store.pins(), addr),
            _ => ProvenanceRule::NotAsked,
        })
    }

    /// True if there is a trust file.
    pub(super) fn exists(&self, place: &TrustPlace) -> bool {
        self.with(|stores| matches!(stores.get(place), Some(Ok(store)) if store.exists()))
    }

    /// Adds updates, and returns the new ones.
    pub(super) fn learn(&self, place: &TrustPlace, updates: Vec<TrustUpdate>) -> Result<Vec<TrustUpdate>, Error> {
        self.with(|stores| match stores.get_mut(place) {
            Some(Ok(store)) if !self.fixed => store.learn(updates),
            _ => Ok(Vec::new()),
        })
    }

    pub(super) fn commit(&self, run: LockRun<'_>) -> StoredTrust {
        if run.mode != WriteMode::Write {
            return StoredTrust::new();
        }
        let named =
            |addr: &ProviderAddr, version: &Version| trust_store::keys_of_release(run.cache, addr, version, run.now);
        self.with(|stores| {
            let read = stores.iter_mut().filter_map(|(place, store)| Some((place, store.as_mut().ok()?)));
            read.map(|(place, store)| (place.clone(), store.commit(&named, run.interrupt))).collect()
        })
    }

    fn with<R>(&self, work: impl FnOnce(&mut BTreeMap<TrustPlace, Result<TrustStore, Error>>) -> R) -> R {
        // A panic in a thread ends the whole run, so an incomplete state is never written.
        work(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The criteria of all root modules, by provider; empty unless requested. A root module that starts again adds the same
/// criteria once more, which changes nothing.
#[derive(Default)]
pub(super) struct SameVersions(BTreeMap<ProviderAddr, SameVersion>);

impl SameVersions {
    /// Makes the steps of all root modules look for a version that suits all of them.
    pub(super) fn join(&mut self, jobs: &mut [LockJob]) {
        let mut roots: Vec<&mut LockJob> = jobs.iter_mut().filter(|job| wanted(job).is_some()).collect();
        for job in &roots {
            for (addr, step) in &job.plan.steps {
                if let Some(criteria) = criteria(step) {
                    let places = places(job, addr).into_iter().map(|(file, at)| match at {
                        Some(position) => format!("{}:{position}", shown(&file)),
                        None => shown(&file),
                    });
                    let same = self.0.entry(addr.clone()).or_default();
                    same.add(criteria, step.release_criteria(criteria.complete), places);
                    if wanted(job) == Some(OneForAll::NotLower) {
                        same.keep_up(step.recorded.as_ref().map(|entry| &entry.version), criteria);
                    }
                }
            }
        }
        let shared: BTreeMap<&ProviderAddr, Arc<SameVersion>> =
            self.0.iter().map(|(addr, same)| (addr, Arc::new(same.clone()))).collect();
        for job in &mut roots {
            for (addr, step) in job.plan.steps.iter_mut().chain(&mut job.open) {
                if let Selection::Newest(criteria) = &mut step.selection {
                    criteria.same = shared.get(addr).cloned();
                }
            }
        }
    }

    /// Warns about providers that still have several versions, and names the conflicting constraints.
    pub(super) fn warn(&self, jobs: &mut [LockJob]) {
        for (addr, same) in &self.0 {
            let own = |job: &LockJob| job.decision.as_ref()?.as_ref().ok()?.version(addr).cloned();
            let versions: BTreeSet<Version> = jobs.iter().filter_map(own).collect();
            let versions: Vec<&Version> = versions.iter().collect();
            if versions.len() < 2 {
                continue;
            }
            let why = against(same, &versions, (jobs, addr));
            for job in jobs.iter_mut() {
                let Some(own) = own(job) else { continue };
                let finding = job.root.rules.leveled(differs(job, addr, (&own, &versions), &why), Some(&own));
                if let Some(Ok(decision)) = &mut job.decision {
                    decision.findings.push(finding);
                }
            }
        }
    }
}

fn differs(job: &LockJob, addr: &ProviderAddr, (own, versions): (&Version, &[&Version]), why: &str) -> Finding {
    let others: Vec<String> = versions.iter().filter(|version| **version != own).map(ToString::to_string).collect();
    let message = format!("{addr} is {own} here and {} in other root modules: {why}", others.join(", "));
    let finding = Finding::new(Rule::VersionsDiffer, message).about(addr);
    match places(job, addr).into_iter().next() {
        Some((file, Some(position))) => finding.in_file(&file).at(position),
        Some((file, None)) => finding.in_file(&file),
        None => finding,
    }
}

/// `16 root modules already have`, of those with an entry of that version.
fn having(jobs: &[LockJob], addr: &ProviderAddr, version: &Version) -> String {
    let has = |job: &&LockJob| job.root.lock.get(addr).is_some_and(|entry| entry.version == *version);
    match jobs.iter().filter(has).count() {
        1 => "1 root module already has".to_owned(),
        count => format!("{count} root modules already have"),
    }
}

/// Explains why several versions were selected.
fn against(same: &SameVersion, versions: &[&Version], (jobs, addr): (&[LockJob], &ProviderAddr)) -> String {
    let for_all: Vec<&Version> = versions.iter().filter(|it| same.opposed(&[it]).is_empty()).copied().collect();
    match (for_all.iter().max(), same.floor_above(&for_all)) {
        (None, _) => same.opposed(versions).join(", "),
        (Some(newest), Some(floor)) => format!(
            "the constraints of all allow {newest}, but {} {floor}; --allow-downgrade selects an older version there",
            having(jobs, addr, floor),
        ),
        // A reason other than the constraints.
        (Some(_), None) => {
            "the constraints would allow one for all, but not the step, the age or the platforms that are requested"
                .to_owned()
        }
    }
}

fn wanted(job: &LockJob) -> Option<OneForAll> {
    job.root.intent.upgrade.as_ref()?.same
}

fn criteria(step: &Query) -> Option<&Criteria> {
    match &step.selection {
        Selection::Newest(criteria) => Some(criteria),
        Selection::Keep(_) | Selection::Exactly(_) => None,
    }
}

/// The places of a root module's constraints on a provider: in configuration, or only in the lock file.
fn places(job: &LockJob, addr: &ProviderAddr) -> Vec<(PathBuf, Option<Position>)> {
    let settings = &job.root.settings;
    let origins = job.root.requirements.get(addr).into_iter().flat_map(|requirement| &requirement.origins);
    let constrained = origins.filter(|origin| origin.constraint.is_some());
    let places: Vec<_> =
        constrained.map(|origin| (roots::file_from(&settings.path, &origin.file), Some(origin.position))).collect();
    if places.is_empty() { vec![(settings.lock_file_shown(), None)] } else { places }
}

//! Computes the changes of a decision in the files of a root module, and writes them.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::job::Job;
use super::root::Edit;
use super::{Mode, Run};
use crate::commands::key_names;
use crate::diff;
use crate::diff::{AddedHash, Standing};
use crate::disk::directory_lock::DirectoryLock;
use crate::disk::lock_file;
use crate::error::Error;
use crate::evidence::Evidence;
use crate::hash::PackageHash;
use crate::interrupt::Interrupt;
use crate::lock::commit::{self, Write};
use crate::lock::settle::EntryDecision;
use crate::lockfile::LockEntry;
use crate::outcome::{Changes, Need};
use crate::report::diff::unified;
use crate::report::shown;
use crate::trust::pins::Signer;

impl Job {
    /// The changes, written if the mode says so; `None` if the files changed since they were read.
    pub(super) fn write(&self, decision: &Decision, run: Run<'_>) -> Result<Option<Changes>, Error> {
        let Decision { entries, edits, .. } = decision;
        let mode = run.mode;
        let mut new = self.root.lock.clone();
        for addr in &self.plan.pruned {
            new.remove(addr);
        }
        for (addr, settled) in entries {
            new.insert(addr.clone(), settled.entry.clone());
        }
        let mut list = diff::changes(&self.root.lock, &new);
        for change in &mut list {
            let Some(settled) = entries.get(&change.address) else { continue };
            change.signer.clone_from(&settled.signer);
            if let (Some(Signer::Key(key)), false) = (&change.signer, decision.pinned.contains(&change.address)) {
                let (addr, version) = (&change.address, &settled.entry.version);
                change.identity = key_names::of_release(run.cache, addr, version, run.now).remove(key).map(Box::new);
            }
            change.identical = settled.identical;
            if decision.pinned.contains(&change.address) {
                change.standing = Standing::Pinned;
            }
            change.hashes_added.clone_from(&settled.added);
            if self.root.earlier.contains_key(&change.address) {
                change.hashes_added.extend(remembered(settled, self.root.lock.get(&change.address)));
            }
        }
        let text = new.encode(self.dialect());
        let old = self.root.bytes.as_deref();
        // Without requirements `providers lock` writes a file without entries, and tflock does so in a root module that
        // the user named. `init` neither writes nor requires one.
        let is_asked = mode != Mode::Check && !self.root.found;
        let unmissed = !is_asked && old.is_none() && new.is_empty() && edits.is_empty();
        let needless = self.root.untouched || unmissed;
        let changed = (old != Some(text.as_bytes()) || !edits.is_empty()) && !needless;
        let mut outcome =
            Changes { changed, path: self.root.settings.lock_file_shown(), changes: list, ..Changes::default() };
        outcome.upgrading = self.root.intent.upgrade.is_some();
        outcome.need = match (unmissed, run.no_download && !self.unattributed.is_empty()) {
            (true, _) => Need::Needless,
            (false, true) => Need::Unchecked,
            (false, false) => Need::Wanted,
        };
        outcome.modules.clone_from(&self.root.modules.changes);
        outcome.edited = edits.iter().map(|edit| edit.shown.clone()).collect();
        outcome.lock_stays = old == Some(text.as_bytes());
        match mode {
            Mode::Check => {}
            Mode::DryRun | Mode::Write if needless => {}
            Mode::DryRun => outcome.diff = Some(self.diff(&text, edits)),
            Mode::Write => match self.store(&text, edits, run.interrupt)? {
                Some(written) => outcome.written = written,
                None => return Ok(None),
            },
        }
        if mode == Mode::Write {
            for (addr, decided) in entries.iter().filter(|(_, decided)| !decided.added.is_empty()) {
                run.cache.note_locked(addr, &decided.entry.version);
            }
        }
        Ok(Some(outcome))
    }

    fn diff(&self, text: &str, edits: &[Edit]) -> String {
        let mut diff = String::new();
        for edit in edits {
            diff += &unified(edit.texts.old.as_deref().unwrap_or_default(), &edit.texts.new, &shown(&edit.shown));
        }
        let old = String::from_utf8_lossy(self.root.bytes.as_deref().unwrap_or_default());
        diff + &unified(&old, text, &shown(&self.root.settings.lock_file_shown()))
    }

    /// Writes the lock file together with the configuration, unless one of them changed since it was read.
    fn store(&self, text: &str, edits: &[Edit], interrupt: &Interrupt) -> Result<Option<bool>, Error> {
        let _lock = DirectoryLock::acquire(&self.root.settings.root)?;
        if lock_file::read(&self.root.settings.lock_file())? != self.root.bytes {
            return Ok(None);
        }
        let edits: Vec<commit::Edit<'_>> = edits
            .iter()
            .map(|edit| commit::Edit { path: &edit.place, old: edit.texts.old.as_deref(), new: &edit.texts.new })
            .collect();
        let write = Write {
            path: self.root.settings.lock_file(),
            text: text.to_owned(),
            boundary: self.root.settings.boundary.clone(),
        };
        commit::commit(&write, &edits, interrupt)
    }
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

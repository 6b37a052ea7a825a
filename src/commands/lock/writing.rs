//! Computes the changes of a decision in the files of a root module, and writes them.

use std::collections::BTreeSet;

use super::decision::Decision;
use super::job::LockJob;
use super::request::WriteMode;
use super::root::{LockRoot, RootEdit};
use super::session::{LockSession, StoredTrust};

use crate::addr::ProviderAddr;
use crate::commands::shared::trust_store;
use crate::config::RootKind;
use crate::diff::{self, AddedHash, Change, Standing};
use crate::disk::root_files::{self, DirectoryLock};
use crate::error::{Error, ErrorKind};
use crate::hash::PackageHash;
use crate::interrupt::Interrupt;
use crate::lock::settle::EntryDecision;
use crate::lock::{self, Write};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{Changes, Need};
use crate::path::shown;
use crate::report::diff::unified;
use crate::trust::Evidence;
use crate::trust::pins::Signer;

/// How the decisions of a run are carried out: which trust files were written, and what becomes of the lock files.
pub(super) struct WritePhase {
    pub(super) trust: StoredTrust,
    /// That of the request, unless nothing may be written after all.
    pub(super) mode: WriteMode,
}

/// What became of the files of a root module.
pub(super) struct Written {
    pub(super) changes: Changes,
    /// The lock file as it is now, if it was written.
    pub(super) text: Option<String>,
}

impl LockJob {
    /// The changes, written if the mode says so; `None` if the files changed since they were read.
    pub(super) fn write(
        &self,
        decision: &Decision,
        session: &LockSession<'_>,
        mode: WriteMode,
    ) -> Result<Option<Written>, Error> {
        let Decision { entries, edits, .. } = decision;
        let (root, request) = (&self.root, session.request);
        let mut new = self.lock_with(entries);
        if root.read.tree.is_some() {
            new = new.of_kind(root.kind().traits().has_stacks_header);
        }
        if let Some(lost) = lost_provider(&root.lock, &new).filter(|_| request.adds_only()) {
            let message = format!("locking again would take out something that is recorded for {lost}");
            return Err(Error::new(ErrorKind::Trust, message));
        }
        let text = Some(new.encode(self.dialect())).filter(|_| !root.prepared.no_lock);
        let old = root.read.bytes.as_deref();
        // Terragrunt's provider cache server writes no header.
        let is_headless =
            || root.kind() == RootKind::Unit && old.is_some_and(|old| new.is_without_header(old, self.dialect()));
        let lock_stays = text.as_deref().is_none_or(|text| old == Some(text.as_bytes()) || is_headless());
        // Without requirements `providers lock` writes a file without entries, and tflock does so in a root module that
        // the user named. `init` neither writes nor requires one.
        let is_asked = mode != WriteMode::Check && !request.found;
        let unmissed = !is_asked && old.is_none() && new.is_empty() && edits.is_empty();
        let needless = root.prepared.untouched || unmissed;
        let mut changes = Changes {
            changed: (!lock_stays || !edits.is_empty()) && !needless,
            path: root.settings().lock_file_shown(),
            changes: self.provider_changes(&new, decision, session),
            upgrading: root.intent.upgrade.is_some(),
            requirements_unread: root.requirements_unread,
            keeps_unrequired: new.iter().any(|(addr, _)| root.requirements.get(addr).is_none()),
            need: match (unmissed, request.no_download && !self.unattributed.is_empty()) {
                (true, _) => Need::Needless,
                (false, true) => Need::Unchecked,
                (false, false) => Need::Wanted,
            },
            modules: root.modules.changes.clone(),
            edited: edits.iter().map(|edit| edit.shown.clone()).collect(),
            lock_stays,
            ..Changes::default()
        };
        if changes.changed && root.kind() == RootKind::Unit && root_files::is_link(&root.settings().lock_file()) {
            let message = "the lock file of this unit is a symbolic link, and nothing is written through it";
            let error = Error::new(ErrorKind::LockFile, message).in_file(root.settings().lock_file_shown());
            return Err(error.hint("replace the link by a file, which Terragrunt writes too"));
        }
        match mode {
            WriteMode::DryRun if !needless => changes.diff = Some(self.diff(text.as_deref(), edits)),
            WriteMode::Write if !needless => match self.store(text.as_deref(), edits, session.interrupt)? {
                Some(written) => changes.written = written,
                None => return Ok(None),
            },
            WriteMode::Check | WriteMode::DryRun | WriteMode::Write => {}
        }
        if mode == WriteMode::Write {
            for (addr, decided) in entries.iter().filter(|(_, decided)| !decided.added.is_empty()) {
                session.cache.note_locked(addr, &decided.entry.version);
            }
        }
        let text = text.filter(|_| changes.written);
        Ok(Some(Written { changes, text }))
    }

    /// The changes of the lock file, with what the run knows of their signers and hashes.
    fn provider_changes(&self, new: &LockFile, decision: &Decision, session: &LockSession<'_>) -> Vec<Change> {
        let LockRoot { lock, prepared, .. } = &self.root;
        let mut list = diff::changes(lock, new);
        for change in &mut list {
            let Some(settled) = decision.entries.get(&change.address) else {
                continue;
            };
            change.signer.clone_from(&settled.signer);
            let is_pinned = decision.pinned.contains(&change.address);
            if let (Some(Signer::Key(key)), false) = (&change.signer, is_pinned) {
                let (addr, version) = (&change.address, &settled.entry.version);
                let mut keys = trust_store::keys_of_release(session.cache, addr, version, session.now);
                change.identity = keys.remove(key).map(Box::new);
            }
            change.identical = settled.identical;
            change.witnesses = decision.agreed.get(&change.address).cloned().unwrap_or_default();
            if is_pinned {
                change.standing = Standing::Pinned;
            }
            change.hashes_added.clone_from(&settled.added);
            if prepared.earlier.contains_key(&change.address) || prepared.restored.contains_key(&change.address) {
                change.hashes_added.extend(remembered(settled, lock.get(&change.address)));
            }
        }
        list
    }

    fn diff(&self, text: Option<&str>, edits: &[RootEdit]) -> String {
        let mut diff = String::new();
        for edit in edits {
            diff += &unified(edit.texts.old.as_deref().unwrap_or_default(), &edit.texts.new, &shown(&edit.shown));
        }
        let old = String::from_utf8_lossy(self.root.read.bytes.as_deref().unwrap_or_default());
        let lock = text.map(|text| unified(&old, text, &shown(&self.root.settings().lock_file_shown())));
        diff + &lock.unwrap_or_default()
    }

    /// Writes the lock file together with the configuration, unless one of them changed since it was read.
    fn store(&self, text: Option<&str>, edits: &[RootEdit], interrupt: &Interrupt) -> Result<Option<bool>, Error> {
        let _lock = DirectoryLock::acquire(&self.root.settings().root)?;
        if root_files::read_lock_file(&self.root.settings().lock_file())? != self.root.read.bytes {
            return Ok(None);
        }
        let edits: Vec<lock::Edit<'_>> = edits
            .iter()
            .map(|edit| lock::Edit { path: &edit.place, old: edit.texts.old.as_deref(), new: &edit.texts.new })
            .collect();
        let text = text.map(str::to_owned);
        let write =
            Write { path: self.root.settings().lock_file(), text, boundary: self.root.settings().boundary.clone() };
        lock::commit(&write, &edits, interrupt)
    }
}

/// The first provider whose recorded version or a recorded hash is gone.
fn lost_provider<'a>(old: &'a LockFile, new: &LockFile) -> Option<&'a ProviderAddr> {
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

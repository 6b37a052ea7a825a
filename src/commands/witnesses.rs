//! What else recorded the releases of a lock file: its own history in git, and the index.
//!
//! Git decides where it knows an entry of the version. The index is a witness only where a lock file was written by what
//! it holds, and by nothing else under that version: that a release was seen proves nothing, since the gate itself
//! leaves in the index what it sees.

use std::path::Path;

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::git::{Git, Last};
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, PackageHashes};
use crate::lockfile::{self, LockEntry, LockFile};
use crate::release::Release;
use crate::release::altered::Witness;
use crate::workspace::git_in;

/// Hashes of a release that are looked for in the history, each by one call of git.
const LOOKED_FOR: usize = 3;

/// Where to look for witnesses of the entries of one lock file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witnesses<'a> {
    /// The directory of the lock file, to be opened.
    pub(super) root: &'a Path,
    /// The tool whose rules hold.
    pub(super) dialect: Dialect,
    /// What the lock file says.
    pub(super) lock: &'a LockFile,
    /// The index.
    pub(super) cache: &'a Cache,
}

impl Witnesses<'_> {
    /// The witnesses of a release on offer, the surest first; none for a provider without an entry.
    pub(super) fn of(&self, release: &Release) -> Vec<Witness> {
        let Some(entry) = self.lock.get(&release.address) else { return Vec::new() };
        let (in_history, is_known) = self.history(entry, release).unwrap_or_default();
        if !in_history.is_empty() || is_known {
            return in_history;
        }
        self.index(release).into_iter().collect()
    }

    /// What a revision recorded, by the name for people and that for git.
    pub(super) fn revision(&self, addr: &ProviderAddr, before: &LockFile, named: (&str, &str)) -> Option<Witness> {
        let (place, revision) = named;
        let recorded = before.get(addr)?.hashes.clone();
        Some(Witness { recorded, place: place.to_owned(), remedy: Some(self.restore(addr, before, revision)) })
    }

    /// What commits recorded under the version of the entry; beside it, whether git knows an entry of that version.
    fn history(&self, entry: &LockEntry, release: &Release) -> Option<(Vec<Witness>, bool)> {
        let git = Git::open(self.root).ok()?;
        let path = format!("{}{}", git.prefix(), lockfile::FILE_NAME);
        let last = |text: &str| -> Option<(String, LockFile)> {
            let Last { bytes, commit, until } = git.last_with(&path, text).ok()??;
            let lock = lockfile::decode(&bytes, self.dialect).ok()?.lock;
            lock.get(&release.address).filter(|recorded| recorded.version == entry.version)?;
            Some((if until.is_some() { commit } else { "HEAD".to_owned() }, lock))
        };
        let archives = release.archives().copied().map(PackageHash::zh);
        let contents = release.computed().map(|(hash, _)| hash.clone());
        let on_offer = archives.chain(contents).filter(|hash| !entry.hashes.contains(hash)).take(LOOKED_FOR);
        let any = last(&format!("\"{}\"", release.address));
        let is_known = any.is_some();
        let found = any.into_iter().chain(on_offer.filter_map(|hash| last(hash.as_str())));
        let witnesses = found.filter_map(|(revision, lock)| {
            let place = if revision == "HEAD" { revision.clone() } else { format!("commit {revision}") };
            self.revision(&release.address, &lock, (&place, &revision))
        });
        Some((witnesses.collect(), is_known))
    }

    /// The command that takes an entry back from a revision: with the whole file where nothing else differs.
    fn restore(&self, addr: &ProviderAddr, before: &LockFile, revision: &str) -> String {
        let others = |lock: &LockFile| {
            let mut others = lock.clone();
            others.remove(addr);
            others
        };
        let git = git_in(self.root);
        let file = lockfile::FILE_NAME;
        if others(before) == others(self.lock) {
            format!("Restore the entry: `{git} checkout {revision} -- {file}`.")
        } else {
            format!(
                "Restore the lines of this entry, and no others: `{git} restore --source {revision} --patch -- {file}`."
            )
        }
    }

    /// What the index knows a lock file to have recorded.
    fn index(&self, release: &Release) -> Option<Witness> {
        let sums = self.cache.locked(&release.address, &release.version)?;
        let lines = Sums::decode(&self.cache.document(&sums)?);
        let listed = Release::new(release.address.clone(), release.version.clone()).listing(&lines, |_| None);
        let recorded: PackageHashes = listed.lines.keys().copied().map(PackageHash::zh).collect();
        let addr = &release.address;
        let remedy = format!("Delete the `hashes` of the entry, then run `tflock lock {addr}`.");
        Some(Witness { recorded, place: "the index".to_owned(), remedy: Some(remedy) })
    }
}

//! What git's history recorded of a provider that a lock file has no entry for.
//!
//! A provider that was removed and comes back need not be a first use: the hashes of its last entry still stand in the
//! history, and a release of that version can be held to them.

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Finding, Rule};
use crate::git::{Git, GitError};
use crate::lockfile::{self, LockEntry};
use crate::version::Version;
use crate::workspace::RunSettings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub entry: LockEntry,
    /// The short name of the last commit that has it.
    pub commit: String,
    /// The day of the commit that took it out, as git writes it; none if that is not committed yet.
    pub until: Option<String>,
}

/// What the history of the lock file recorded last of a provider; none if it never did, or if what it recorded cannot be
/// read.
pub fn earlier(settings: &RunSettings, addr: &ProviderAddr) -> Result<Option<Earlier>, GitError> {
    let git = Git::open(&settings.root)?;
    let path = git.directory().join(lockfile::FILE_NAME);
    // The label is canonical in whatever the tools wrote.
    let Some(last) = git.last_with(&path, &format!("\"{addr}\""))? else { return Ok(None) };
    let decoded = lockfile::decode(&last.bytes, settings.dialect).ok();
    let entry = decoded.and_then(|decoded| decoded.lock.get(addr).cloned());
    Ok(entry.map(|entry| Earlier { entry, commit: last.commit, until: last.until }))
}

impl Earlier {
    /// A note on what became of it, now that a version is selected, or refused.
    pub fn finding(&self, addr: &ProviderAddr, selected: Option<&Version>, dialect: Dialect) -> Finding {
        let (name, version) = (addr.short(dialect), &self.entry.version);
        let until = self.until.as_ref().map_or(String::new(), |day| format!(" until {day}"));
        let before = format!("{addr} was locked at {version}{until}, last in commit {}", self.commit);
        let hashes = match self.entry.hashes.len() {
            1 => "the hash".to_owned(),
            count => format!("the {count} hashes"),
        };
        let message = match selected {
            Some(selected) if selected != version => {
                format!("{before}; to restore that version: `tflock add {name}@{version} --replace`")
            }
            _ => format!("{before}; checked against {hashes} recorded there"),
        };
        Finding::new(Rule::LockedBefore, message).about(addr)
    }
}

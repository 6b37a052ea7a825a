//! Looks up what git's history recorded of a provider without an entry in the lock file. A provider that is added again
//! need not be a first use: its version is checked against the hashes of its last entry.

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
    /// The day of the commit that removed it, as git writes it; `None` if the removal is not committed yet.
    pub until: Option<String>,
}

/// The last entry of a provider in the history of the lock file; `None` if there was none or it cannot be read.
pub fn earlier(settings: &RunSettings, addr: &ProviderAddr) -> Result<Option<Earlier>, GitError> {
    let git = Git::open(&settings.root)?;
    let path = git.directory().join(lockfile::FILE_NAME);
    // The tools always write the label in this form.
    let Some(last) = git.last_with(&path, &format!("\"{addr}\""))? else { return Ok(None) };
    let decoded = lockfile::decode(&last.bytes, settings.dialect).ok();
    let entry = decoded.and_then(|decoded| decoded.lock.get(addr).cloned());
    Ok(entry.map(|entry| Earlier { entry, commit: last.commit, until: last.until }))
}

impl Earlier {
    /// A note that compares the earlier entry with the selected version, or with a refusal.
    pub fn finding(&self, addr: &ProviderAddr, selected: Option<&Version>, dialect: Dialect) -> Finding {
        let (name, version) = (addr.short(dialect), &self.entry.version);
        let until = self.until.as_ref().map_or(String::new(), |day| format!(" until {day}"));
        let before = format!("{name} was locked at {version}{until}, last in commit {}", self.commit);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::PackageHashes;

    #[test]
    fn the_address_has_one_spelling() {
        let entry = LockEntry {
            version: Version::new(1, 0, 0),
            constraints: "~> 1.0".parse().unwrap(),
            hashes: PackageHashes::new(),
        };
        let earlier = Earlier { entry, commit: "abc1234".to_owned(), until: None };
        for dialect in [Dialect::Terraform, Dialect::OpenTofu] {
            let addr = ProviderAddr::parse("acme/widget", dialect).unwrap();
            for selected in [Some(Version::new(2, 0, 0)), Some(Version::new(1, 0, 0)), None] {
                let message = earlier.finding(&addr, selected.as_ref(), dialect).message;
                assert!(message.starts_with("acme/widget was locked at 1.0.0, last in commit abc1234"), "{message}");
                assert!(!message.contains("registry."), "{message}");
            }
        }
    }
}

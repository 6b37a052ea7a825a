//! Other records of the releases in a lock file: its own history in git, and the index. An entry in git for the same
//! version decides. The index proves a release only if a lock file was written from it, and from nothing else, under
//! that version: that tflock has seen a release proves nothing, since `verify` also records what it sees.

use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::cache::Cache;
use crate::finding::{Finding, Rule};
use crate::git::{Git, GitError, Last};
use crate::hash::{HashScheme, PackageHash, PackageHashes, Sums};
use crate::lockfile::{self, LockEntry, LockFile};
use crate::query::cached;
use crate::release::Release;
use crate::release::continuity::{self, EarlierRecord};
use crate::release::hashes::HashJudge;
use crate::step::{Step, Value};
use crate::trust::Evidence;
use crate::version::Version;
use crate::workspace::RunSettings;

/// How many hashes of a release to look up in the history; each is one call of git.
const LOOKED_FOR: usize = 3;

#[derive(Debug, Clone, Copy)]
pub(in crate::commands) struct EarlierRecords<'a> {
    pub(in crate::commands) settings: &'a RunSettings,
    pub(in crate::commands) dialect: Dialect,
    pub(in crate::commands) lock: &'a LockFile,
    /// What earlier runs saw, where they asked the source that is asked now.
    pub(in crate::commands) cache: Option<&'a Cache>,
}

impl EarlierRecords<'_> {
    /// The records of a served release, most reliable first; empty for a provider without an entry.
    pub(crate) fn of(&self, release: &Release) -> Vec<EarlierRecord> {
        let Some(entry) = self.lock.get(&release.address) else {
            return Vec::new();
        };
        let (mut found, is_known) = self.history(entry, release).unwrap_or_default();
        // What git explains it also restores, so the index is a record where git has none.
        let is_open = |found: &[EarlierRecord]| continuity::altered(&entry.hashes, release, found).is_none();
        if !is_known && !found.iter().any(|record| record.version == entry.version) && is_open(&found) {
            found.extend(self.index(release));
        }
        if is_open(&found) {
            found.extend(self.index_of_others(release));
        }
        found
    }

    /// The entry in a revision; `named` is its name for users and for git.
    pub(crate) fn revision(
        &self,
        addr: &ProviderAddr,
        before: &LockFile,
        named: (&str, &str),
    ) -> Option<EarlierRecord> {
        let (place, revision) = named;
        let LockEntry { version, hashes, .. } = before.get(addr)?.clone();
        let remedy = restore(addr, [before, self.lock], revision);
        Some(EarlierRecord { version, recorded: hashes, place: place.to_owned(), remedy })
    }

    /// The entry of HEAD, and the entries of other commits for the same version. The flag is true if git has an entry
    /// of that version.
    fn history(&self, entry: &LockEntry, release: &Release) -> Option<(Vec<EarlierRecord>, bool)> {
        let git = Git::open(&self.settings.root).ok()?;
        let path = self.settings.lock_file_of(&git);
        let decoded = |Last { bytes, commit, until }: Last| -> Option<(String, LockFile)> {
            let lock = lockfile::decode(&bytes, self.dialect).ok()?.lock;
            lock.get(&release.address)?;
            Some((if until.is_some() { commit } else { "HEAD".to_owned() }, lock))
        };
        let last = |text: &str| git.last_with(&path, text).ok().flatten().and_then(decoded);
        let archives = release.archives().copied().map(PackageHash::zh);
        let computed = release.h1.iter().filter(|(_, attested)| attested.evidence == Evidence::Computed);
        let contents = computed.map(|(hash, _)| hash.clone());
        let available = archives.chain(contents).filter(|hash| !entry.hashes.contains(hash)).take(LOOKED_FOR);
        let any = last(&format!("\"{}\"", release.address));
        let is_of_version = |lock: &LockFile| lock.get(&release.address).is_some_and(|it| it.version == entry.version);
        let is_known = any.as_ref().is_some_and(|(_, lock)| is_of_version(lock));
        let of_version = available.filter_map(|hash| last(hash.as_str())).filter(|(_, lock)| is_of_version(lock));
        let judge = HashJudge::of(Some(release));
        let refuted = entry.hashes.iter().find(|hash| judge.judge(hash).status.is_refuted());
        // Another entry may have the hash as long as there has been a lock file.
        let lacks =
            |bytes: &[u8], hash: &PackageHash| entry_lacks(bytes, &release.address, hash.as_str(), self.dialect);
        let before = refuted.and_then(|hash| {
            git.last_without(&path, hash.as_str(), |bytes| lacks(bytes, hash)).ok().flatten().and_then(decoded)
        });
        let found = any.into_iter().chain(before).chain(of_version);
        let records = found.filter_map(|(revision, lock)| {
            let place = if revision == "HEAD" { revision.clone() } else { format!("commit {revision}") };
            self.revision(&release.address, &lock, (&place, &revision))
        });
        Some((records.collect(), is_known))
    }

    fn index(&self, release: &Release) -> Option<EarlierRecord> {
        let sums = self.cache?.locked(&release.address, &release.version)?;
        let lines = Sums::decode(&self.cache?.document(&sums)?);
        let listed = Release::new(release.address.clone(), release.version.clone()).listing(&lines, |_| None);
        let recorded: PackageHashes = listed.lines.keys().copied().map(PackageHash::zh).collect();
        let version = release.version.clone();
        Some(EarlierRecord { version, recorded, place: "the index".to_owned(), remedy: Some(delete(&release.address)) })
    }

    /// Other versions in the index that own a hash: hashes prove this, no matter which run recorded them.
    fn index_of_others(&self, release: &Release) -> Vec<EarlierRecord> {
        let (addr, Some(cache)) = (&release.address, self.cache) else { return Vec::new() };
        let versions = cache.versions_of(addr).into_iter().filter(|version| *version != release.version);
        let known = versions.filter_map(|version| cached::unchecked(cache, addr, &version));
        let record = |other: Release| {
            let archives = other.lines.keys().copied().map(PackageHash::zh);
            let recorded = archives.chain(other.h1.keys().cloned()).collect();
            let place = "the index".to_owned();
            EarlierRecord { version: other.version, recorded, place, remedy: Some(delete(addr)) }
        };
        known.map(record).collect()
    }
}

/// How to restore an entry from a revision.
pub(crate) fn restore(addr: &ProviderAddr, [before, now]: [&LockFile; 2], revision: &str) -> Option<Step> {
    let restore = step!("Restore the entry as that commit has it: `tflock lock {} --restore-from {}`.", addr, revision);
    let version = &before.get(addr)?.version;
    Some(match now.get(addr).map(|entry| &entry.version).filter(|now| *now != version) {
        None => restore,
        // Only the version was to change.
        Some(now) => step!(
            "{} If {} is wanted: `tflock upgrade --precise {} {}` after that.",
            Value::Step(restore),
            now,
            now,
            addr
        ),
    })
}

/// True if the entry of a provider, or the whole file, does not have a hash.
fn entry_lacks(bytes: &[u8], addr: &ProviderAddr, hash: &str, dialect: Dialect) -> bool {
    let has = |entry: &LockEntry| entry.hashes.iter().any(|recorded| recorded.as_str() == hash);
    lockfile::decode(bytes, dialect).is_ok_and(|decoded| !decoded.lock.get(addr).is_some_and(has))
}

/// The last commit of the history whose entry is for the same version and has a hash, but none of these.
pub(crate) fn revision_without(
    settings: &RunSettings,
    (addr, entry): (&ProviderAddr, &LockEntry),
    refuted: &[&str],
) -> Option<String> {
    let git = Git::open(&settings.root).ok()?;
    let path = settings.lock_file_of(&git);
    let first = refuted.first()?;
    let lacks = |bytes: &[u8]| entry_lacks(bytes, addr, first, settings.dialect);
    let Last { bytes, commit, .. } = git.last_without(&path, first, lacks).ok()??;
    let lock = lockfile::decode(&bytes, settings.dialect).ok()?.lock;
    is_before(lock.get(addr)?, entry, refuted).then_some(commit)
}

/// True if an entry is for the same version as another and has a hash, but none of these.
pub(crate) fn is_before(before: &LockEntry, entry: &LockEntry, refuted: &[&str]) -> bool {
    let can_match = |hash: &PackageHash| hash.scheme() != HashScheme::Other && hash.is_well_formed();
    before.version == entry.version
        && before.hashes.iter().any(can_match)
        && !before.hashes.iter().any(|hash| refuted.contains(&hash.as_str()))
}

/// The next step if no revision has the entry unchanged.
fn delete(addr: &ProviderAddr) -> Step {
    step!("Delete the `hashes` of the entry, then run `tflock lock {}`.", addr)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    pub entry: LockEntry,
    /// The short name of the last commit that has it.
    pub commit: String,
    /// The day of the commit that removed it, as git writes it; `None` if the removal is not committed yet.
    pub until: Option<String>,
}

/// The last entry of a provider in the history of the lock file; `None` if there was none, its text is no lock file, or there is no
/// history.
pub fn earlier(settings: &RunSettings, addr: &ProviderAddr) -> Result<Option<Earlier>, GitError> {
    let Some(git) = Git::around(&settings.root)? else { return Ok(None) };
    let path = settings.lock_file_of(&git);
    // The tools always write the label in this form.
    let Some(last) = git.last_with(&path, &format!("\"{addr}\""))? else {
        return Ok(None);
    };
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
        Finding::new(Rule::LockedBefore, message).about(addr).of_version(version)
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
                let message = earlier.finding(&addr, selected.as_ref(), dialect).message().to_owned();
                assert!(message.starts_with("acme/widget was locked at 1.0.0, last in commit abc1234"), "{message}");
                assert!(!message.contains("registry."), "{message}");
            }
        }
    }
}

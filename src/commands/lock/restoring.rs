//! `lock ADDR --restore-from REV`: the entry as a commit has it, and nothing else.
//!
//! It must not make an entry acceptable that is not: the commit is one of this branch or of its upstream, so a commit that was
//! merely fetched is refused; the entry is literal and pins something; and what the settings and the trust file refuse of the
//! release stays refused. It is not compared with what a registry serves now, since it may be what to go back to from that;
//! what does not fit is a warning, and `verify` judges it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::root::LockRoot;
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule, is_denied};
use crate::git::{Commit, Git};
use crate::lockfile::{self, LockEntry, LockFile};
use crate::outcome::Outcome;
use crate::parallel::locked;
use crate::step::Value;
use crate::words::counted;
use crate::workspace::RunSettings;

/// What a run found out while it restored entries of its root modules.
#[derive(Default)]
pub(super) struct Restored {
    /// The commit that the revision means in each repository, by the top of the working tree.
    commits: Mutex<BTreeMap<PathBuf, Commit>>,
    restored: AtomicUsize,
    lacking: AtomicUsize,
}

impl Restored {
    /// Leaves the root module with the entries to restore, and nothing else to do. One that was found may have none; of one that the
    /// user named, each must be there.
    pub(super) fn prepare(&self, root: &mut LockRoot, revision: &str) -> Result<(), Error> {
        let git = Git::open(&root.settings().root)?;
        let commit = self.commit(&git, revision)?;
        let before = lock_file(&git, &commit, root.settings())?.unwrap_or_default();
        let wanted = root.intent.only.clone().unwrap_or_default();
        let (present, lacking): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|addr| before.get(addr).is_some());
        // With the lock files of Atmos instances, a directory that was named has several.
        let may_lack = root.intent.lenient || root.settings().lock_name.is_instance();
        if let Some(addr) = lacking.first().filter(|_| !may_lack) {
            return Err(absent(&addr.short(root.settings().dialect), &commit, revision));
        }
        let counter = if present.is_empty() { &self.lacking } else { &self.restored };
        let restored = present.into_iter().filter_map(|addr| Some((addr.clone(), before.get(&addr)?.clone())));
        let restored: BTreeMap<ProviderAddr, LockEntry> = restored.collect();
        root.prepared.untouched = restored.is_empty();
        root.restrict_to(restored.keys().cloned().collect());
        restore(root, restored, &commit.shown())?;
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn commit(&self, git: &Git, revision: &str) -> Result<Commit, Error> {
        let mut commits = locked(&self.commits);
        if let Some(commit) = commits.get(git.top()) {
            return Ok(commit.clone());
        }
        let (commit, _) = git.certain_commit(revision)?;
        if !git.is_in_branch(&commit)? {
            let message =
                format!("{} is no ancestor of HEAD or of its upstream, so nothing is restored from it", commit.shown());
            let error = Error::new(ErrorKind::Usage, message);
            let hint = step!("`git merge-base HEAD {}` names the last common commit, which is one", revision);
            return Err(error.hint(hint));
        }
        commits.insert(git.top().to_owned(), commit.clone());
        Ok(commit)
    }

    /// Names the commit, and counts the root modules whose lock file there has no such entry.
    pub(super) fn finish(&self, providers: &[String], revision: &str, mut outcome: Outcome) -> Outcome {
        let commits = locked(&self.commits);
        let [restored, lacking] = [&self.restored, &self.lacking].map(|it| it.load(Ordering::Relaxed));
        let refused = outcome.roots.iter().filter(|root| root.body.is_ok() && is_denied(&root.findings)).count();
        let Some(commit) = commits.values().next() else { return outcome };
        if restored == 0 && lacking > 0 {
            let error = absent(&providers.join(", "), commit, revision);
            return outcome.with_error(Some(error));
        }
        if restored > refused {
            let names: BTreeSet<String> = commits.values().map(full_name).collect();
            let names: Vec<String> = names.into_iter().collect();
            outcome.notes.push(step!(
                "restored from commit {}: {}",
                names.join(", "),
                Value::Words(providers.to_vec())
            ));
        }
        if lacking > 0 {
            outcome
                .notes
                .push(format!("not restored: {} without such an entry there", counted(lacking, "root module")));
        }
        outcome
    }
}

fn absent(name: &str, commit: &Commit, revision: &str) -> Error {
    let message = format!("the lock file of {} has no entry for {name}", commit.shown());
    let hint = step!("`git log {} -- {}` shows which commits changed the lock file", revision, lockfile::FILE_NAME);
    Error::new(ErrorKind::NotFound, message).hint(hint)
}

/// `0123456789 (HEAD~1)`
fn full_name(commit: &Commit) -> String {
    let short = commit.short();
    if commit.id.starts_with(&commit.name) { short.to_owned() } else { format!("{short} ({})", commit.name) }
}

/// The lock file of a root module in a commit.
fn lock_file(git: &Git, commit: &Commit, settings: &RunSettings) -> Result<Option<LockFile>, Error> {
    let path = settings.lock_file_of(git);
    let Some(bytes) = git.files(commit, &[path.to_string()])?.pop().flatten() else { return Ok(None) };
    let findings = match lockfile::decode(&bytes, settings.dialect) {
        Ok(decoded) => return Ok(Some(decoded.lock)),
        Err(findings) => findings,
    };
    let not_literal = findings.iter().find(|finding| finding.rule == Rule::LockNotLiteral);
    let kind = if not_literal.is_some() { ErrorKind::Trust } else { ErrorKind::LockFile };
    let why = not_literal.or(findings.first()).map(Finding::message).unwrap_or_default();
    let message = format!("nothing is restored from the lock file of {}: {why}", commit.shown());
    Err(Error::new(kind, message).in_file(settings.lock_file_shown()).hint("name another commit"))
}

/// Puts these entries of a commit in the place of the present ones, each checked against the configuration.
pub(super) fn restore(
    root: &mut LockRoot,
    entries: BTreeMap<ProviderAddr, LockEntry>,
    commit: &str,
) -> Result<(), Error> {
    for (addr, entry) in &entries {
        let name = addr.short(root.dialect());
        if !entry.hashes.pin_packages() {
            let message = format!("the entry of {name} in {commit} records no hash that a package can have");
            return Err(Error::new(ErrorKind::Trust, message).about(addr.clone()).hint("name another commit"));
        }
        if !root.configured {
            root.requirements.remove_origins(addr, |_| true);
        }
        match root.requirements.get(addr) {
            Some(required) if !required.constraints.allows(&entry.version) => {
                let message = format!(
                    "the version of {name} in {commit}, {}, does not match the version constraint \"{}\" of the configuration",
                    entry.version, required.constraints
                );
                let error = Error::new(ErrorKind::NotFound, message).about(addr.clone());
                return Err(error.hint(step!("`tflock why {}` shows which module requires what", name)));
            }
            Some(_) => {}
            None => root.requirements.add_entry(addr, entry),
        }
    }
    root.prepared.restored = entries;
    Ok(())
}

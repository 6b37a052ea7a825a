//! Lock files that the change removed: with their root modules, by moving, or alone.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::units::NewUnit;
use super::{Base, UnitsBefore, directory_of, is_lock_file, name_of};
use crate::addr::ProviderAddr;
use crate::commands::verify::remedies::creation;
use crate::commands::verify::root::GateRoot;
use crate::config::is_root_configuration;
use crate::disk::files;
use crate::finding::{Finding, Level, Rule};
use crate::git::{ChangedFiles, GitTree};
use crate::lockfile::{FILE_NAME, LockEntry, LockFile, likely_dialect, salvage};
use crate::path::{RepoPath, worktree};
use crate::verify::Compared;
use crate::version::Version;
use crate::workspace::requiring::ProviderUse;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Removed {
    /// The directories, relative to the top, that lost their ordinary lock file.
    pub(super) directories: BTreeSet<String>,
    /// The lost lock files of Atmos instances, relative to the top.
    instances: BTreeSet<String>,
    /// A directory that lost its lock file, or that has a lock file but lost all configuration.
    left: Option<String>,
    /// Such directories, by the names of their lost configuration files and then by their own name.
    names: BTreeMap<String, BTreeMap<String, String>>,
}

impl Removed {
    /// Finds the removed files of a tree.
    pub(super) fn of(before: &GitTree, changes: &ChangedFiles) -> Self {
        let lost = changes.paths().filter(|path| before.kind(path).is_some() && !changes.is_present(path));
        let (mut directories, mut instances) = (BTreeSet::new(), BTreeSet::new());
        let mut configuration = BTreeMap::<&str, Vec<&str>>::new();
        for path in lost {
            let (directory, name) = (directory_of(path), name_of(path));
            if name == FILE_NAME {
                directories.insert(directory.to_owned());
            } else if is_lock_file(path) {
                instances.insert(path.to_owned());
            } else if is_root_configuration(name) {
                configuration.entry(directory).or_default().push(name);
            }
        }
        let is_emptied = |directory: &str, lost: &[&str]| {
            let had_lock = before.kind(&RepoPath::from_git(directory).join(FILE_NAME)).is_some();
            had_lock && configuration_in(before, directory).count() == lost.len()
        };
        let emptied = configuration.iter().filter(|(directory, lost)| is_emptied(directory, lost));
        let mut left: BTreeSet<&str> = emptied.map(|(directory, _)| *directory).collect();
        left.extend(directories.iter().map(String::as_str));
        let mut names: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for directory in &left {
            for name in configuration.get(directory).into_iter().flatten() {
                let of_name = names.entry((*name).to_owned()).or_default();
                of_name.entry(name_of(directory).to_owned()).or_insert_with(|| (*directory).to_owned());
            }
        }
        let left = left.first().map(|directory| (*directory).to_owned());
        Self { directories, instances, left, names }
    }

    /// The entries of the removed lock files, as far as their texts are known.
    pub(super) fn recorded(&self, texts: &BTreeMap<String, Vec<u8>>) -> RecordedEntries {
        let paths = self.directories.iter().map(|directory| RepoPath::from_git(directory.as_str()).join(FILE_NAME));
        let instances = self.instances.iter().map(|path| RepoPath::from_git(path.as_str()));
        let texts = paths.chain(instances).filter_map(|path| texts.get(&*path));
        RecordedEntries::of(texts.map(|text| salvage(text, likely_dialect(text)).lock))
    }

    /// The directory that lost its lock file and configuration files with the same names as those of a new directory.
    fn predecessor(&self, directory: &str, names: &[String]) -> Option<&str> {
        let mut left = names.iter().filter_map(|name| self.names.get(name)).peekable();
        let first = left.peek().and_then(|of_name| of_name.values().next());
        let same = left.find_map(|of_name| of_name.get(name_of(directory)));
        same.or(first).map(String::as_str)
    }

    /// The finding for a new directory that requires providers and has no lock file; `names` are its files. It may be
    /// no root module, unless a removed one has such files.
    pub(super) fn finding(&self, directory: &str, names: &[String]) -> Finding {
        let file = RepoPath::from_git(directory).join(FILE_NAME);
        let finding = |rule, message: String| Finding::new(rule, message).in_file(&*file);
        let new = shown(directory);
        if let Some(old) = self.predecessor(directory, names) {
            let message = format!(
                "{new} has files of the same names as {}, which the change took away, and no dependency lock file",
                shown(old)
            );
            return finding(Rule::LockFileMoved, message);
        }
        let message = format!("{new} is new, requires providers and has no dependency lock file");
        let missing = |message| finding(Rule::LockFileMissing, message).remedied_by(creation());
        if let Some(left) = &self.left {
            return missing(format!("{message}; the change took the root module {} away", shown(left)));
        }
        missing(format!("{message}, and no root module calls it")).unless_stated(Level::Note)
    }
}

/// The names of configuration files that a tree has in a directory.
fn configuration_in<'a>(tree: &'a GitTree, directory: &'a str) -> impl Iterator<Item = &'a str> {
    let prefix = RepoPath::from_git(directory).prefix();
    let names = tree.below(directory).map(move |path| &path[prefix.len()..]);
    names.filter(|name| !name.contains('/') && is_root_configuration(name))
}

fn shown(directory: &str) -> &str {
    if directory.is_empty() { "." } else { directory }
}

fn moved_out_of_search(directory: &str, left: &str) -> Finding {
    let message = format!(
        "{} is new, where the settings exclude it from the search, and the lock file of {} was taken away",
        shown(directory),
        shown(left)
    );
    Finding::new(Rule::RootModuleMovedOut, message).in_file(&*RepoPath::from_git(directory).join(FILE_NAME))
}

/// The hashes of each release that all of some lock files record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordedEntries(BTreeMap<(ProviderAddr, Version), LockEntry>);

impl RecordedEntries {
    pub(super) fn of(locks: impl IntoIterator<Item = LockFile>) -> Self {
        let mut releases: BTreeMap<(ProviderAddr, Version), LockEntry> = BTreeMap::new();
        for lock in locks {
            for (addr, entry) in lock.iter() {
                match releases.entry((addr.clone(), entry.version.clone())) {
                    Entry::Vacant(new) => {
                        new.insert(entry.clone());
                    }
                    Entry::Occupied(mut known) if known.get().hashes != entry.hashes => {
                        let common = known.get().hashes.iter().filter(|hash| entry.hashes.contains(hash));
                        known.get_mut().hashes = common.cloned().collect();
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        Self(releases)
    }

    /// The recorded entries for the releases in a lock file.
    pub(super) fn of_lock(&self, lock: &LockFile) -> LockFile {
        let mut before = LockFile::new();
        for (addr, entry) in lock.iter() {
            if let Some(old) = self.0.get(&(addr.clone(), entry.version.clone())) {
                before.insert(addr.clone(), old.clone());
            }
        }
        before
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostLockFile {
    pub path: PathBuf,
    pub place: PathBuf,
    /// Whether there is configuration; only then is it known if a lock file is required.
    pub has_configuration: bool,
}

impl LostLockFile {
    /// The finding for a root module without configuration, as with Terragrunt.
    pub fn finding(&self, base: &Compared) -> Finding {
        let message = "the dependency lock file that was here at the base was removed";
        let finding = Finding::new(Rule::LockFileRemoved, message).in_file(self.path.join(FILE_NAME));
        finding.filled(crate::step::Hole::Revision, base.short())
    }
}

impl Base {
    /// The directories that lost their lock file but still have configuration, or, if they had none, any file that git tracked.
    pub fn lost(&self) -> Vec<LostLockFile> {
        let tree = self.before.tree();
        let found = self.removed.directories.iter().filter_map(|directory| {
            let place = self.top.join(directory);
            let has_configuration = files::names_in(&place).iter().any(|name| is_root_configuration(name));
            let was_bare = configuration_in(tree, directory).next().is_none();
            let prefix = RepoPath::from_git(directory.as_str()).prefix().len();
            let mut files = tree.below(directory).filter(|path| !path[prefix..].contains('/'));
            let is_left = has_configuration || (was_bare && files.any(|path| self.changes.is_present(path)));
            is_left.then(|| LostLockFile { path: PathBuf::from(directory), place, has_configuration })
        });
        found.collect()
    }

    /// The findings about removed lock files of Atmos instances, where anything is left of their directories: whether Atmos still uses
    /// an instance, only its YAML says.
    pub(super) fn lost_instances(&self) -> Vec<Finding> {
        let is_left = |path: &&String| {
            let directory = RepoPath::from_git(directory_of(path));
            let prefix = directory.prefix();
            let is_there = |(other, _): (&str, _)| {
                other.strip_prefix(&prefix).is_some_and(|name| !name.contains('/')) && self.changes.is_present(other)
            };
            self.changes.tracked().any(is_there)
        };
        let finding = |path: &String| {
            let message = "the lock file of an Atmos instance that was here at the base was removed";
            let remedy = "If Atmos no longer has the instance, the owner of the trust file approves it (`--allow-trust-change`); else restore the file from the base.";
            Finding::new(Rule::LockFileRemoved, message).in_file(path).remedied_by(remedy)
        };
        self.removed.instances.iter().filter(is_left).map(finding).collect()
    }

    /// Findings about new directories with configuration that require providers and have no lock file. A directory that
    /// a judged root module calls is excluded, since that lock file has its providers. `judged` are all root modules of
    /// the working tree; `may_be_called` is true for a directory if the sources of another one are not read.
    pub fn unlocked(
        &self,
        judged: &[&GateRoot],
        units: &UnitsBefore<'_>,
        may_be_called: impl Fn(&Path) -> bool,
    ) -> Vec<Finding> {
        let new = self.new_directories();
        if new.is_empty() {
            return Vec::new();
        }
        // A clone of the change does not have an ignored lock file.
        let callers = judged.iter().filter(|root| self.is_enough(root));
        let directories = callers.flat_map(|root| root.read().directories);
        let reached: BTreeSet<RepoPath> = directories.map(|it| self.way_to(&worktree::absolute(&it))).collect();
        // Root modules report a missing lock file themselves.
        let reported: BTreeSet<RepoPath> =
            judged.iter().filter(|root| root.has(Rule::LockFileMissing)).map(|root| self.way_of(root)).collect();
        let exclusions = self.exclusions().unwrap_or_default();
        let mut uses = ProviderUse::default();
        let is_unlocked = |directory: &&str| {
            let place = self.top.join(directory);
            let lock = RepoPath::from_git(*directory).join(FILE_NAME);
            let has_none = !reached.contains(*directory) && !self.changes.knows(&lock);
            has_none && !exclusions.cover(&place) && uses.may_require(&place)
        };
        let finding = |directory: &str| self.removed.finding(directory, &files::names_in(&self.top.join(directory)));
        let is_reported = |finding: &Finding| finding.rule == Rule::LockFileMissing;
        let mut found = Vec::new();
        for directory in new.into_iter().filter(is_unlocked) {
            let finding = match units.new_unit(&RepoPath::from_git(directory)) {
                NewUnit::NeedsNone => continue,
                NewUnit::LikeOthers(finding) => *finding,
                NewUnit::Other => {
                    let finding = finding(directory);
                    // A root module whose sources are not read may call it.
                    let is_lowered =
                        is_reported(&finding) && finding.level() > Level::Warn && may_be_called(Path::new(directory));
                    if is_lowered { finding.at_level(Level::Warn) } else { finding }
                }
            };
            if !is_reported(&finding) || !reported.contains(directory) {
                found.push(finding);
            }
        }
        found
    }

    /// The findings for root modules that moved to where the settings exclude them from the search: a new lock file there, or new
    /// configuration by the names that were taken away, while a directory that is searched lost its lock file.
    pub(super) fn moved_out_of_search(&self) -> Vec<Finding> {
        let exclusions = self.exclusions().unwrap_or_default();
        let searched = self.removed.directories.iter().find(|directory| !exclusions.cover(&self.top.join(directory)));
        let Some(left) = searched else { return Vec::new() };
        let tree = self.before.tree();
        let locks = self.changes.paths().filter(|path| is_lock_file(path) && tree.kind(path).is_none());
        let locked = locks.filter(|path| self.changes.is_present(path)).map(directory_of);
        let configured = self.new_directories().into_iter().filter(|directory| {
            let names = files::names_in(&self.top.join(directory));
            self.removed.predecessor(directory, &names).is_some()
        });
        let new: BTreeSet<&str> = locked.chain(configured).collect();
        let excluded = new.into_iter().filter(|directory| exclusions.cover(&self.top.join(directory)));
        excluded.map(|directory| moved_out_of_search(directory, left)).collect()
    }

    /// The directories with configuration that had none before.
    fn new_directories(&self) -> BTreeSet<&str> {
        let tree = self.before.tree();
        let new = self.changes.paths().filter(|path| is_root_configuration(name_of(path)));
        let new = new.filter(|path| tree.kind(path).is_none() && self.changes.is_present(path)).map(directory_of);
        let new: BTreeSet<&str> = new.collect();
        new.into_iter().filter(|directory| configuration_in(tree, directory).next().is_none()).collect()
    }
}

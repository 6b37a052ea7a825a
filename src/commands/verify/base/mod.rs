//! The gate of pull requests: the trusted settings, and the change to judge, when the working tree must not attest
//! itself. Two commits matter. Settings and trust file come from the *revision*. The change is computed from the *merge
//! base* of the revision and HEAD, so later commits on the revision are not part of it.

mod comments;
mod files_before;
mod hidden;
mod kinds;
mod removed;
mod snapshot;
mod stacks;
#[cfg(test)]
mod tests;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::read_paths::ReadPaths;
use super::root::{BaseChange, GateRoot, GateRoots, ReadingVerdict};
use crate::addr::{Hostname, ProviderAddr, UsedNames};
use crate::commands::diff::pairs::{DiffSide, Pair};
use crate::config::{RootKind, VERSION_FILES, is_read};
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::git::{ChangedFiles, Commit, FileKind, Git, GitError, GitTree};
use crate::lockfile::{self, LockFile, LockName, likely_dialect, salvage};
use crate::modulelock;
use crate::path::{RepoPath, lexical, links, shown, worktree};
use crate::requirements::Requirements;
use crate::settings::Settings;
use crate::trust::pins::FILE_NAME as TRUST_FILE;
use crate::verify::Compared;
use crate::workspace::discover::TrustedSettings;
use crate::workspace::ignored::{self, IgnoredLockFile};
use crate::workspace::{Exclusions, RunSettings, Scope, existing_directory, own_settings};
use removed::Removed;
use snapshot::{FirstSeen, Snapshot, TwoCommits, git_error, may_differ};

pub use removed::LostLockFile;
pub use units::UnitsBefore;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseOptions {
    pub revision: String,
    /// Whether the owner approved changes of settings and trust file.
    pub trust_change_allowed: bool,
}

/// The two commits by which the change in one working tree is judged, and the change.
#[derive(Debug)]
pub struct Base {
    options: BaseOptions,
    git: Git,
    /// The top of the working tree, without symbolic links.
    top: PathBuf,
    /// The commit whose settings and trust file apply.
    revision: Commit,
    /// The commit that the working tree is compared with.
    compared_with: Commit,
    changes: ChangedFiles,
    trusted: Snapshot,
    before: Snapshot,
    /// The texts of lock files of the merge base that changed since, or that are links, by path.
    locks: BTreeMap<String, Vec<u8>>,
    /// True if a settings or trust file changed, or the target of one that is a link.
    settings_changed: bool,
    removed: Removed,
    /// The strictest combination of settings for directories that lost their lock file.
    removed_settings: OnceLock<Result<Option<Settings>, Error>>,
    hosts_of_units: OnceLock<Result<Arc<BTreeSet<Hostname>>, Error>>,
    changes_beside_comments: OnceLock<Result<ChangedFiles, Error>>,
    /// The directories in which a file changed that names the version of a tool.
    changed_version_files: OnceLock<BTreeSet<String>>,
}

impl TrustedSettings for Base {
    fn of_directory(&self, directory: &Path) -> Settings {
        self.applied_settings(directory).unwrap_or_default()
    }
}

impl Base {
    /// Reads the commits of a working tree from git: what differs, and the settings of both.
    pub fn open(scope: &Scope, options: &BaseOptions) -> Result<Self, Error> {
        let mut places = Vec::new();
        for directory in scope.directories() {
            places.push(worktree::absolute(&existing_directory(&directory)?));
        }
        let base = Self::of_work_tree(&top_of_change(&places[0]), options)?;
        if let Some(other) = places.iter().find(|place| !place.starts_with(&base.top)) {
            let message = format!("{} is not in the working tree {}", shown(other), shown(&base.top));
            return Err(Error::new(ErrorKind::Usage, message).hint("run `tflock verify` once for each working tree"));
        }
        if scope.trust_file.is_none() {
            base.one_trust_file()?;
        }
        Ok(base)
    }

    fn of_work_tree(directory: &Path, options: &BaseOptions) -> Result<Self, Error> {
        let name = &options.revision;
        let failed = |error| git_error(error, name);
        let git = Git::open(directory).map_err(failed)?;
        let (revision, compared_with) = git.certain_commit(name).map_err(failed)?;
        let compared_with = compared_with.ok_or_else(|| failed(GitError::NoCommit { name: name.clone() }))?;
        let TwoCommits { trusted, before, changes } =
            Snapshot::sides(&git, &revision, &compared_with).map_err(failed)?;
        let top = git.top().to_owned();
        if !changes.tracked().any(|(path, _)| changes.is_present(path)) {
            let head = git.commit("HEAD").and_then(|head| head.map(|head| git.tree(&head)).transpose());
            if head.map_err(failed)?.is_some_and(|tree| tree.paths().next().is_some()) {
                return Err(not_checked_out(&top));
            }
        }
        // Others are read from disk.
        let locks = may_differ(before.tree(), &changes)
            .filter_map(|path| Some((path.to_owned(), before.text(path)?.to_vec())))
            .collect();
        let settings_changed = changes_settings(before.tree(), &changes);
        let removed = Removed::of(before.tree(), &changes);
        Ok(Self {
            options: options.clone(),
            git,
            top,
            revision,
            compared_with,
            changes,
            trusted,
            before,
            locks,
            settings_changed,
            removed,
            removed_settings: OnceLock::new(),
            hosts_of_units: OnceLock::new(),
            changes_beside_comments: OnceLock::new(),
            changed_version_files: OnceLock::new(),
        })
    }

    /// True if a place is in a git repository of its own, such as a submodule.
    pub fn is_nested(&self, boundary: &Path) -> bool {
        *boundary != *self.top
    }

    /// The directories that settings exclude from the search: those of the revision, unless the change of settings is approved.
    pub fn exclusions(&self) -> Option<Exclusions> {
        (!self.options.trust_change_allowed).then(|| self.trusted.exclusions(&self.top))
    }

    /// How Git ignores the lock file that is on disk in a root module, if it does.
    pub fn ignored(&self, root: &RunSettings) -> Option<IgnoredLockFile> {
        let file = self.way_to(&root.place).join(root.lock_name.as_str());
        if root.lock_name.is_instance() || self.changes.knows(&file) || !root.lock_file().is_file() {
            return None;
        }
        ignored::of(&root.root, std::iter::once(Path::new(""))).into_values().next()
    }

    pub fn top(&self) -> &Path {
        &self.top
    }

    /// What differs from the merge base, and what git tracks.
    pub fn changes(&self) -> &ChangedFiles {
        &self.changes
    }

    pub fn compared(&self) -> Compared {
        Compared {
            revision: self.options.revision.clone(),
            commit: self.revision.id.clone(),
            merge_base: self.compared_with.id.clone(),
            trust_change_allowed: self.options.trust_change_allowed,
        }
    }

    pub fn note(&self) -> String {
        let (revision, base) = (self.revision.short(), self.compared_with.short());
        let name = self.revision.reference.as_ref().unwrap_or(&self.options.revision);
        if self.options.trust_change_allowed {
            return format!(
                "compared with {base}, the merge base with {name}, using the working tree's own settings and trust file \
                 (--allow-trust-change)"
            );
        }
        if revision == base {
            return format!("compared with {name} ({revision}), using its settings and trust file");
        }
        format!(
            "compared with {base}, the merge base with {name}, using the settings and trust file of {name} ({revision})"
        )
    }

    /// The trusted settings for a root module, by its path without symbolic links; `None` if the working tree's own apply.
    pub fn settings(&self, root: &Path) -> Result<Option<Settings>, Error> {
        let way = root.strip_prefix(&self.top).unwrap_or(root);
        if way.to_str().is_none() {
            let message = "the path of this root module is not UTF-8, so git's output about it is ambiguous";
            return Err(Error::new(ErrorKind::Usage, message).in_file(way).hint("rename the directory"));
        }
        if self.options.trust_change_allowed {
            return Ok(None);
        }
        let own = self.trusted.effective(&self.way_to(root))?;
        // A new root module may have moved here; it must not escape the settings of either place.
        if self.had_lock(&self.way_to(root)) {
            return Ok(Some(own));
        }
        let of_removed =
            self.removed_settings.get_or_init(|| self.trusted.strictest(&self.removed.directories)).clone()?;
        Ok(Some(of_removed.map_or(own.clone(), |other| own.and_stricter(&other))))
    }

    /// The settings that apply to a directory, by its path without symbolic links: the trusted ones, or the working tree's own.
    pub fn applied_settings(&self, directory: &Path) -> Result<Settings, Error> {
        self.settings(directory)?.map_or_else(|| own_settings(directory), Ok)
    }

    /// The texts of the lock files that the change touches, as they were and as they are, by path. Those that cannot be read are left
    /// out: the gate judges them.
    pub fn pairs(&self) -> BTreeMap<RepoPath, Pair> {
        let beside = |path: &str, name: &str| RepoPath::from_git(directory_of(path)).join(name);
        let is_modules = |path: &str| name_of(path) == modulelock::FILE_NAME;
        let changed = self.changes.paths().filter(|path| is_modules(path) || is_lock_file(path));
        // A module lock file is shown with the ordinary lock file.
        let changed: BTreeSet<RepoPath> = changed
            .map(|path| if is_modules(path) { beside(path, lockfile::FILE_NAME) } else { RepoPath::from_git(path) })
            .collect();
        let of_modules = |path: &RepoPath| {
            let modules = beside(path, modulelock::FILE_NAME);
            (name_of(path) == lockfile::FILE_NAME && self.changes.has(&modules)).then_some(modules)
        };
        let touched: Vec<RepoPath> = changed.iter().filter_map(of_modules).collect();
        let before = if touched.is_empty() { Ok(BTreeMap::new()) } else { self.texts(&self.before, &touched) };
        let mut before = before.unwrap_or_default();
        let side = |name: &str, text| DiffSide { name: name.to_owned(), text };
        let old_name = format!("{} ({})", self.compared().name(), self.compared().short());
        let now = |path: &RepoPath| files::read_file(&self.top.join(&**path)).ok();
        let pair = |path: RepoPath| {
            let text = now(&path)?;
            let old = self.locks.get(&*path).cloned().or_else(|| text.clone().filter(|_| !self.changes.has(&path)));
            let modules = match of_modules(&path) {
                Some(modules) => [before.remove(&*modules), now(&modules)?],
                None => [None, None],
            };
            let shown = PathBuf::from(&*path);
            let (old, new) = (side(&old_name, old), side("this change", text));
            Some((path, Pair { path: shown, old, new, modules, ..Pair::default() }))
        };
        changed.into_iter().filter_map(pair).collect()
    }

    /// The changes of root modules since the merge base; `None` for one that could not be opened. A new one is compared with the
    /// entries of all removed lock files, since one of these may have been its own.
    pub fn changes_of(&self, roots: &GateRoots) -> Result<Vec<Option<BaseChange>>, Error> {
        let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok());
        let module_locks: Vec<RepoPath> = opened.map(|root| self.module_lock_path(root)).collect();
        let mut modules = self.texts(&self.before, &module_locks)?;
        let (mut recorded, mut ages) = (None, FirstSeen::default());
        let mut changes = Vec::with_capacity(roots.len());
        for (_, root) in roots {
            let Ok(root) = root else {
                changes.push(None);
                continue;
            };
            let before = match self.lock_before(root) {
                Some(lock) => lock,
                None => recorded.get_or_insert_with(|| self.removed.recorded(&self.locks)).of_lock(root.lock()),
            };
            changes.push(Some(BaseChange {
                base: self.compared(),
                first_seen: self.first_seen(root, &before, &mut ages)?,
                unseen: self.reads_through_untracked_link(root),
                // A missing file locked no modules.
                modules: modules.remove(&*self.module_lock_path(root)).unwrap_or_default(),
                before,
            }));
        }
        Ok(changes)
    }

    /// What the change means for how a root module is read. Requirements that are not read are denied where the root module is new,
    /// where it is read less than at the base, and where anything that it reads changed; so is what decides about a unit that the
    /// base does not have.
    pub fn reading(&self, root: &GateRoot, units: &UnitsBefore<'_>) -> Result<ReadingVerdict, Error> {
        if self.options.trust_change_allowed {
            return Ok(ReadingVerdict::default());
        }
        let (lost, new_overrides) = (units.lost_holes(root), units.new_overrides(root));
        if !lost.is_empty() || !root.is_not_read() {
            return Ok(ReadingVerdict { denies_unread: !lost.is_empty(), lost, new_overrides });
        }
        let is_new = self.before.tree().kind(&self.lock_path(root)).is_none();
        let read = root.read();
        let is_changed = touches(self.changes_beside_comments()?, root.settings().places(), &read)
            || read.texts.iter().any(|text| self.changes.touch(text));
        let denies_unread = is_new || is_changed && !units.is_as_before(root)? || units.is_read_less(root);
        Ok(ReadingVerdict { lost, denies_unread, new_overrides })
    }

    /// The findings about programs of a unit that are new.
    pub fn new_programs(&self, root: &GateRoot, units: &UnitsBefore<'_>) -> Vec<Finding> {
        self.lifted(units.new_programs(root))
    }

    /// The error for a file that was read through an untracked link of the tools: the link may lead elsewhere where the
    /// change is used.
    fn reads_through_untracked_link(&self, root: &GateRoot) -> Option<Error> {
        let files = root.read().files;
        let of_tools = |file: &&PathBuf| file.iter().any(|part| part == links::DATA);
        let leads = |file: &PathBuf| links::resolve(file).is_ok_and(|place| place != lexical(&self.top, file));
        let file = files.iter().filter(of_tools).find(|file| leads(file))?;
        let file = file.strip_prefix(&self.top).unwrap_or(file);
        let message = format!(
            "{} was read by way of a symbolic link that git does not track: what it leads to is not known where the change \
             is used",
            shown(file)
        );
        Some(
            Error::new(ErrorKind::NotInstalled, message).in_file(file).hint("install the module again, as a directory"),
        )
    }

    /// True if the root module is to be judged: a path that it reads or looks for changed, or any settings or trust file; or it is read
    /// less than at the base, whatever changed.
    pub fn concerns(&self, root: &GateRoot, units: &UnitsBefore<'_>) -> bool {
        let is_unreadable = root.unread().is_some() && !root.was_unreadable();
        let [place, tests] = root.settings().places();
        let locks = [root.settings().lock_name.as_str(), modulelock::FILE_NAME].map(|name| place.join(name));
        let is_changed =
            locks.iter().any(|file| self.changes.touch(file)) || touches(&self.changes, [place, tests], &root.read());
        self.settings_changed
            || is_unreadable
            || is_changed
            || units.is_read_less(root)
            || units.has_changed_influence(root)
            || self.has_other_version_files(root)
    }

    /// True if a file changed that names the version of a tool, at a root module or above it.
    fn has_other_version_files(&self, root: &GateRoot) -> bool {
        let directories = self.changed_version_files.get_or_init(|| {
            let is_one = |path: &&str| VERSION_FILES.contains(&name_of(path));
            self.changes.paths().filter(is_one).map(|path| directory_of(path).to_owned()).collect()
        });
        let way = self.way_of(root);
        directories.iter().any(|directory| Path::new(&*way).starts_with(directory))
    }

    /// The lock file of a root module at the merge base; `None` if there was none.
    fn lock_before(&self, root: &GateRoot) -> Option<LockFile> {
        let path = self.lock_path(root);
        let salvaged = |text: &[u8]| salvage(text, root.settings().dialect).lock;
        if let Some(text) = self.locks.get(&*path) {
            return Some(salvaged(text));
        }
        if self.before.tree().kind(&path) != Some(FileKind::File) {
            return None;
        }
        // The file is unchanged.
        let refused = || root_files::read_lock_file(&self.top.join(&*path)).ok().flatten().map(|text| salvaged(&text));
        if root.spans().is_some() { Some(root.lock().clone()) } else { refused() }
    }

    /// The providers of the changed lock files, at the merge base.
    pub fn locked_before(&self) -> BTreeSet<ProviderAddr> {
        let locks = self.locks.values().map(|text| salvage(text, likely_dialect(text)).lock);
        locks.flat_map(|lock| lock.iter().map(|(addr, _)| addr.clone()).collect::<Vec<_>>()).collect()
    }

    /// The finding for a root module for which the repository names another tool than at the base.
    pub fn named_tool(&self, root: &GateRoot, units: &UnitsBefore<'_>) -> Vec<Finding> {
        self.lifted(units.other_tool(root).into_iter().collect())
    }

    /// Findings about new providers of the repository whose names resemble others, unless the base pins them.
    pub fn similar_names(&self, root: &GateRoot, used: &UsedNames) -> Result<Vec<Finding>, Error> {
        let new = root.lock().iter().map(|(addr, _)| addr).filter(|addr| !used.contains(addr));
        let mut findings: Vec<Finding> =
            new.filter_map(|addr| crate::verify::entry::similar_name(addr, used)).collect();
        if findings.is_empty() {
            return Ok(findings);
        }
        let pins = self.trusted_pins(&root.settings().trust)?;
        findings.retain(|finding| finding.address.as_ref().is_none_or(|addr| pins.pin(addr).is_none()));
        let place = |finding: Finding| {
            let addr = finding.address.as_ref();
            let spans = addr.and_then(|addr| root.spans()?.entries.get(addr)).map(|spans| spans.block);
            finding.at(spans)
        };
        Ok(self.lifted(findings.into_iter().map(place).collect()))
    }

    /// Those of some files that one of the commits has, by path.
    fn texts(&self, of: &Snapshot, paths: &[RepoPath]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let failed = |error| git_error(error, &self.options.revision);
        let (read, unread): (Vec<&str>, Vec<&str>) =
            paths.iter().map(|path| &**path).partition(|path| of.text(path).is_some());
        let more = self.git.files_of(of.tree(), &unread).map_err(failed)?;
        let read = read.into_iter().filter_map(|path| Some((path.to_owned(), of.text(path)?.to_vec())));
        let more = unread.into_iter().zip(more).filter_map(|(path, text)| Some((path.to_owned(), text?)));
        Ok(read.chain(more).collect())
    }

    fn way_of(&self, root: &GateRoot) -> RepoPath {
        self.way_to(&root.settings().place)
    }

    fn module_lock_path(&self, root: &GateRoot) -> RepoPath {
        self.way_of(root).join(modulelock::FILE_NAME)
    }

    pub fn lock_path(&self, root: &GateRoot) -> RepoPath {
        self.way_of(root).join(root.settings().lock_name.as_str())
    }

    /// True if a directory had a lock file at the merge base.
    fn had_lock(&self, way: &RepoPath) -> bool {
        self.before.names_in(way).into_iter().any(is_lock_file)
    }

    /// True if a directory lacks no lock file because it has this one. That of an Atmos instance is one only where the base has such
    /// files, since nothing copies them elsewhere, and with all entries that the configuration requires.
    fn is_enough(&self, root: &GateRoot) -> bool {
        if !self.changes.knows(&self.lock_path(root)) {
            return false;
        }
        if !root.settings().lock_name.is_instance() {
            return true;
        }
        let mut required = root.requirements().into_iter().flat_map(Requirements::iter);
        root.kind() == RootKind::Module
            && root.unread().is_none()
            && required.all(|(addr, _)| root.lock().get(addr).is_some())
            && self.has_instances()
    }

    /// True if the base has lock files of Atmos instances, or the owner approved the change: elsewhere nothing copies them, so a directory
    /// with such files alone lacks a lock file.
    pub fn has_instances(&self) -> bool {
        let is_instance = |path: &str| LockName::of_instance(name_of(path)).is_some();
        self.options.trust_change_allowed || self.before.tree().paths().any(is_instance)
    }

    /// The findings about the settings of the working tree.
    pub fn policy(&self) -> Result<Vec<Finding>, Error> {
        Ok(self.lifted(snapshot::of_settings(self)?))
    }

    /// Lowers findings that the owner's approval covers.
    fn lifted(&self, findings: Vec<Finding>) -> Vec<Finding> {
        if !self.options.trust_change_allowed {
            return findings;
        }
        findings.into_iter().map(|finding| finding.let_pass("allowed by --allow-trust-change")).collect()
    }

    /// The settings for findings about the working tree as a whole.
    pub fn top_settings(&self) -> Result<Settings, Error> {
        if self.options.trust_change_allowed { own_settings(&self.top) } else { self.trusted.effective("") }
    }

    /// A path without symbolic links, relative to the top.
    pub fn way_to(&self, place: &Path) -> RepoPath {
        RepoPath::below(&self.top, place).unwrap_or_default()
    }

    /// The paths of files with this name in the working tree now, relative to the top.
    fn now(&self, name: &str) -> Vec<String> {
        let of_name = |path: &&str| name_of(path) == name;
        let mut paths: Vec<String> = self.before.paths(name).map(str::to_owned).collect();
        paths.extend(self.changes.paths().filter(of_name).map(str::to_owned));
        paths.sort_unstable();
        paths.dedup();
        paths.retain(|path| files::is_there(&self.top.join(path)));
        paths
    }

    /// Fails if there is a trust file below the top.
    pub fn one_trust_file(&self) -> Result<(), Error> {
        let places = self.now(TRUST_FILE).into_iter().map(|path| self.top.join(path));
        crate::disk::root_files::refuse_second_trust_files(places)
    }
}

/// The error for a clone of which nothing is checked out: its working tree shows nothing of the change.
fn not_checked_out(top: &Path) -> Error {
    let message = format!("nothing of HEAD is checked out in {}, so there is nothing to judge", shown(top));
    let hint = step!("check out its files: `git checkout HEAD -- .`; or clone without `--no-checkout`");
    Error::new(ErrorKind::Usage, message).hint(hint)
}

/// The top of the working tree to judge for a run in some directory. A repository that an enclosing one tracks
/// belongs to the outermost of these; otherwise a change could add a repository with a forged history. A clone inside
/// a repository that does not track it is judged by itself.
fn top_of_change(place: &Path) -> PathBuf {
    let tops = worktree::tops(place);
    let Some((own, around)) = tops.split_first() else {
        return place.to_owned();
    };
    let tracks = |outer: &&PathBuf| Git::open(outer).is_ok_and(|git| git.has_at(own));
    around.iter().rev().find(tracks).unwrap_or(own).clone()
}

/// True if a settings or trust file changed, or the target of one that is a link.
fn changes_settings(before: &GitTree, changes: &ChangedFiles) -> bool {
    let is_settings = |path: &&str| {
        let name = name_of(path);
        let is_ours = name.strip_prefix(".tflock").is_some_and(|rest| rest.strip_suffix(".hcl").is_some());
        is_ours && name != modulelock::FILE_NAME
    };
    let links = before.paths().filter(is_settings).filter(|path| before.kind(path) == Some(FileKind::Link));
    let mut targets = links.filter_map(|path| before.resolve(path));
    changes.paths().any(|path| is_settings(&path)) || targets.any(|target| changes.has(&target))
}

/// True if a file or directory changed that decides what a root module requires or installs; lock files aside.
fn touches(changes: &ChangedFiles, [place, tests]: [PathBuf; 2], read: &ReadPaths) -> bool {
    // A removed test directory is not among the directories that were read.
    let packages = [".terraform", "terraform.d"].map(|name| place.join(name));
    read.files.iter().any(|file| changes.touch(file))
        || read.directories.iter().chain([&tests]).any(|directory| changes.touch_within(directory, is_read))
        || read.listed.iter().any(|directory| changes.touch_list(directory))
        || packages.iter().any(|directory| changes.touch_below(directory))
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// True for the path of a lock file, by its name.
fn is_lock_file(path: &str) -> bool {
    LockName::of(name_of(path)).is_some()
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

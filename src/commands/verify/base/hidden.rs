//! Finds links, submodules and directories that would make the installed files differ from the judged ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{Base, directory_of, name_of};
use crate::commands::verify::{Root, ambiguous};
use crate::config::ConfigFiles;
use crate::dialect::Dialect;
use crate::disk::{root_files, roots};
use crate::finding::{Finding, Rule};
use crate::git::{ChangedFiles, Kind, Tree};
use crate::lockfile::{self, FILE_NAME};
use crate::path::{PackageFolder, RepoPath, links};
use crate::settings::FILE_NAME as SETTINGS_FILE;
use crate::trust::pins::FILE_NAME as TRUST_FILE;

/// The names in the directory of a root module that are read, or installed from.
const READ: [&str; 5] = [FILE_NAME, SETTINGS_FILE, ".terraform", "terraform.d", "terraform.d/plugins"];

/// Folders that the search for root modules skips.
const SKIPPED: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

impl Base {
    /// The findings about hidden paths, at the judged root modules and at those that were in the working tree before.
    pub fn hidden_paths(&self, judged: &[&Root], tool: Option<Dialect>) -> Vec<Finding> {
        let ways: BTreeMap<RepoPath, &Root> = judged.iter().map(|root| (self.way_of(root), *root)).collect();
        let roots = Roots::of(self.before.tree());
        let mut liftable = roots.crossings(&self.changes, ways.keys(), |at| self.is_out_of_sight(at));
        if tool.is_none() {
            liftable.extend(ways.keys().filter_map(|way| self.other_tool(way)));
        }
        let mut findings = self.lifted(liftable);
        findings.extend(self.untracked_lock_files());
        findings.extend(self.packages(&ways));
        findings.extend(ambiguous::findings(self.changes.tracked().map(|(path, _)| path)));
        findings
    }

    /// True if the place is outside this working tree, or in a skipped folder.
    fn is_out_of_sight(&self, at: &str) -> bool {
        let Ok(place) = links::resolve(&self.top.join(at)) else { return true };
        let Ok(way) = place.strip_prefix(&self.top) else { return true };
        way.iter().any(|part| SKIPPED.iter().any(|skipped| part == *skipped))
    }

    /// The finding for a root module that now belongs to the other tool.
    fn other_tool(&self, way: &RepoPath) -> Option<Finding> {
        if self.trusted.effective(way).is_ok_and(|settings| settings.dialect().is_some()) {
            return None;
        }
        let is_only_for_tofu = roots::is_only_for_tofu(&self.top.join(&**way));
        let of_lock = self.lock_tool_now(way);
        let (before, now) = (self.tool_before(way)?, if is_only_for_tofu { Some(Dialect::OpenTofu) } else { of_lock }?);
        if before == now {
            return None;
        }
        let message = if is_only_for_tofu && of_lock == Some(before) {
            format!("only OpenTofu reads the configuration now, and the lock file is one of {}", before.product())
        } else if self.was_only_for_tofu(way) {
            let now = now.product();
            format!("only OpenTofu read the configuration at the base; now the lock file makes {now} the tool")
        } else {
            format!("the lock file changed from {} to {}", before.product(), now.product())
        };
        Some(Finding::new(Rule::DialectChanged, message).in_file(&*way.join(FILE_NAME)))
    }

    /// The tool of a directory at the base: the only one that read its configuration, else that of its lock file.
    pub fn tool_before(&self, way: &RepoPath) -> Option<Dialect> {
        if self.was_only_for_tofu(way) {
            return Some(Dialect::OpenTofu);
        }
        let lock = way.join(FILE_NAME);
        match self.locks.get(&*lock) {
            Some(text) => lockfile::detect_dialect(text),
            // A lock file that did not change.
            None => self.lock_tool_now(way).filter(|_| self.before.tree().kind(&lock).is_some()),
        }
    }

    fn was_only_for_tofu(&self, way: &RepoPath) -> bool {
        let prefix = way.prefix();
        let names = self.before.tree().below(way).filter_map(|path| path.strip_prefix(&*prefix));
        let names: Vec<String> = names.filter(|name| !name.contains('/')).map(str::to_owned).collect();
        ConfigFiles::is_only_for_tofu(&names)
    }

    fn lock_tool_now(&self, way: &RepoPath) -> Option<Dialect> {
        lockfile::detect_dialect(&root_files::read_lock_file(&self.top.join(&*way.join(FILE_NAME))).ok()??)
    }

    /// Lock files that exist on disk but are no longer tracked: a clone of the change has none.
    fn untracked_lock_files(&self) -> Vec<Finding> {
        let lost =
            self.before.paths(FILE_NAME).filter(|path| !self.changes.is_tracked(path) && self.changes.is_present(path));
        let message = "the dependency lock file was taken out of version control";
        let finding =
            |path| Finding::new(Rule::LockFileRemoved, message).in_file(path).filled("REV", self.compared().short());
        lost.map(finding).collect()
    }

    /// Tracked packages outside of the judged root modules, or reached through links and submodules.
    fn packages(&self, ways: &BTreeMap<RepoPath, &Root>) -> Vec<Finding> {
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for (path, kind) in self.changes.tracked() {
            let Some(folder) = PackageFolder::on_the_way(path) else { continue };
            // Judging a root module reports its own packages.
            let is_plain = folder.path != path && folder.is_exact() && folder.name != ".terragrunt-cache";
            let is_reported = is_plain && ways.contains_key(folder.root);
            // A link with the name of the folder around the packages.
            let is_around =
                folder.name == "terraform.d" && (kind == Kind::File || !self.top.join(path).join("plugins").exists());
            if !is_reported && !is_around {
                folders.insert(folder.path);
            }
        }
        let finding = |folder: &str| {
            let message = format!("git tracks {folder}, from where packages are installed without a registry");
            Finding::new(Rule::TrackedPackages, message).in_file(folder)
        };
        folders.into_iter().map(finding).collect()
    }
}

/// The directories that had a lock file before.
pub(super) struct Roots<'a>(BTreeSet<&'a str>);

impl<'a> Roots<'a> {
    pub(super) fn of(before: &'a Tree) -> Self {
        Self(before.paths().filter(|path| name_of(path) == FILE_NAME).map(directory_of).collect())
    }

    /// New or changed submodules, and links at or above a directory that is judged or was.
    pub(super) fn crossings<'w>(
        &self,
        changes: &ChangedFiles,
        judged: impl Iterator<Item = &'w RepoPath>,
        is_out_of_sight: impl Fn(&str) -> bool,
    ) -> Vec<Finding> {
        let mut found: BTreeMap<&str, Kind> =
            changes.crossings().filter(|(_, kind)| *kind == Kind::Submodule).collect();
        if changes.crossings().next().is_some() {
            let before = self.0.iter().map(|way| RepoPath::from_git(*way));
            for way in judged.cloned().chain(before) {
                let own = std::iter::once(way.clone()).chain(READ.iter().map(|name| way.join(name)));
                let above = way.match_indices('/').map(|(at, _)| RepoPath::from_git(&way[..at]).join(SETTINGS_FILE));
                found.extend(own.chain(above).filter_map(|path| changes.crossing(&path)));
            }
            found.extend([SETTINGS_FILE, TRUST_FILE].into_iter().filter_map(|path| changes.crossing(path)));
        }
        found.into_iter().map(|(at, kind)| self.crossing(at, kind, &is_out_of_sight)).collect()
    }

    fn crossing(&self, at: &str, kind: Kind, is_out_of_sight: &impl Fn(&str) -> bool) -> Finding {
        let what = if kind == Kind::Submodule { "a submodule" } else { "a symbolic link" };
        if self.has_any_in(at) && (kind == Kind::Submodule || is_out_of_sight(at)) {
            let message =
                format!("{at} contained root modules at the base, and is now {what} to a place where none is checked");
            return Finding::new(Rule::RootModuleMovedOut, message).in_file(at);
        }
        let message = format!("{at} is {what} that is new or changed since the base");
        Finding::new(Rule::LinkChanged, message).in_file(at)
    }

    fn has_any_in(&self, directory: &str) -> bool {
        let below = RepoPath::from_git(directory).prefix();
        let first = self.0.range(below.as_str()..).next();
        self.0.contains(directory) || first.is_some_and(|first| first.starts_with(&below))
    }
}

//! What a change puts out of sight: links, submodules and directories by which what is installed would not be what is
//! judged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::gone::directory_of;
use super::{Base, slashed};
use crate::commands::verify::{Root, ambiguous};
use crate::dialect::Dialect;
use crate::disk::lock_file;
use crate::finding::{Finding, Rule};
use crate::git::Kind;
use crate::lockfile::{self, FILE_NAME};
use crate::path::folding::PackageFolder;
use crate::path::links;
use crate::settings::FILE_NAME as SETTINGS_FILE;
use crate::trust::pins::FILE_NAME as TRUST_FILE;

/// What is read for a root module, or installed from, in its directory.
const READ: [&str; 5] = [FILE_NAME, SETTINGS_FILE, ".terraform", "terraform.d", "terraform.d/plugins"];

/// Folders in which no root module is looked for.
const SKIPPED: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

impl Base {
    /// The findings about what the change put out of sight, of the root modules that are judged and of those that stood
    /// in the work tree before.
    pub fn sight(&self, judged: &[&Root], tool: Option<Dialect>) -> Vec<Finding> {
        let ways: BTreeMap<String, &Root> = judged.iter().map(|root| (self.way_of(root), *root)).collect();
        let mut liftable = self.crossings(&ways);
        if tool.is_none() {
            liftable.extend(ways.keys().filter_map(|way| self.other_tool(way)));
        }
        let mut findings = self.lifted(liftable);
        findings.extend(self.untracked_lock_files());
        findings.extend(self.packages(&ways));
        findings.extend(ambiguous::findings(self.changes.tracked().map(|(path, _)| path)));
        findings
    }

    /// The directory of a root module, from the top.
    pub(super) fn way_of(&self, root: &Root) -> String {
        slashed(&self.way_to(&root.settings().place))
    }

    /// The directories in which a lock file stood before.
    fn roots_before(&self) -> impl Iterator<Item = &str> {
        self.before.paths(FILE_NAME).map(directory_of)
    }

    /// Links and submodules that are new or changed, and stand at or above what is judged.
    fn crossings(&self, ways: &BTreeMap<String, &Root>) -> Vec<Finding> {
        let mut told: BTreeMap<&str, Finding> = BTreeMap::new();
        if !self.changes.has_crossings() {
            return Vec::new();
        }
        for way in ways.keys().map(String::as_str).chain(self.roots_before()) {
            let own = std::iter::once(way.to_owned()).chain(READ.iter().map(|name| join(way, name)));
            let above = way.match_indices('/').map(|(at, _)| join(&way[..at], SETTINGS_FILE));
            for path in own.chain(above).chain([SETTINGS_FILE, TRUST_FILE].map(str::to_owned)) {
                if let Some((at, kind)) = self.changes.crossing(&path) {
                    told.entry(at).or_insert_with(|| self.crossing(at, kind));
                }
            }
        }
        told.into_values().collect()
    }

    fn crossing(&self, at: &str, kind: Kind) -> Finding {
        let what = if kind == Kind::Submodule { "a submodule" } else { "a symbolic link" };
        let held = self.roots_before().any(|root| root == at || root.starts_with(&format!("{at}/")));
        if held && self.before.tree().is_directory(at) && self.is_out_of_sight(at, kind) {
            let message = format!(
                "{at} held root modules at the base, and is {what} now that leads to a place where none is judged"
            );
            return Finding::new(Rule::RootModuleMovedOut, message).in_file(at);
        }
        let message = format!("{at} is {what} that is new or changed since the base");
        Finding::new(Rule::LinkChanged, message).in_file(at)
    }

    /// True if what is there is no part of this work tree, or not looked at.
    fn is_out_of_sight(&self, at: &str, kind: Kind) -> bool {
        let Ok(place) = links::resolve(&self.top.join(at)) else { return true };
        let Ok(way) = place.strip_prefix(&self.top) else { return true };
        kind == Kind::Submodule || way.iter().any(|part| SKIPPED.iter().any(|skipped| part == *skipped))
    }

    /// The lock file of a root module that became that of the other tool.
    fn other_tool(&self, way: &str) -> Option<Finding> {
        if self.believed.effective(Path::new(way)).is_ok_and(|settings| settings.dialect().is_some()) {
            return None;
        }
        let path = join(way, FILE_NAME);
        let (before, now) = (self.tool_before(way)?, self.tool_now(way)?);
        let message =
            format!("the lock file is one of {} now, and was one of {} at the base", now.program(), before.program());
        (before != now).then(|| Finding::new(Rule::DialectChanged, message).in_file(path))
    }

    /// The tool whose lock file stood in a directory at the base; none also if it is as it was.
    pub fn tool_before(&self, way: &str) -> Option<Dialect> {
        lockfile::detect_dialect(self.locks.get(&join(way, FILE_NAME))?)
    }

    fn tool_now(&self, way: &str) -> Option<Dialect> {
        lockfile::detect_dialect(&lock_file::read(&self.top.join(join(way, FILE_NAME))).ok()??)
    }

    /// Lock files that are on the disk and no longer under version control: whoever checks the change out has none.
    fn untracked_lock_files(&self) -> Vec<Finding> {
        let gone =
            self.before.paths(FILE_NAME).filter(|path| !self.changes.is_tracked(path) && self.changes.stands(path));
        let message = "the dependency lock file was taken out of version control";
        let finding =
            |path| Finding::new(Rule::LockFileRemoved, message).in_file(path).filled("REV", self.compared().short());
        gone.map(finding).collect()
    }

    /// What git tracks of packages where no root module is judged, or by way of links and submodules.
    fn packages(&self, ways: &BTreeMap<String, &Root>) -> Vec<Finding> {
        let mut told: BTreeSet<&str> = BTreeSet::new();
        for (path, kind) in self.changes.tracked() {
            let Some(folder) = PackageFolder::on_the_way(path) else { continue };
            // What is told of the root module itself.
            // A repository that an earlier job left in its directory knows nothing of what this one tracks.
            let is_asked = ways.get(folder.root).is_some_and(|root| root.settings().boundary == self.top);
            let is_told = is_asked && folder.path != path && folder.is_exact() && folder.name != ".terragrunt-cache";
            // A link by the name of the folder around the packages.
            let is_around =
                folder.name == "terraform.d" && (kind == Kind::File || !self.top.join(path).join("plugins").exists());
            if !is_told && !is_around {
                told.insert(folder.path);
            }
        }
        let finding = |folder: &str| {
            let message = format!("git tracks {folder}, from where packages are installed without a registry");
            Finding::new(Rule::TrackedPackages, message).in_file(folder)
        };
        told.into_iter().map(finding).collect()
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

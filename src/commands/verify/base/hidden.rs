//! What a change hides: links, submodules and directories that would make the installed files differ from the judged ones,
//! configuration that was unreadable at the base too, and what a sparse working tree leaves out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Base, directory_of, is_lock_file, is_read, name_of, touches};
use crate::commands::verify::facts;
use crate::commands::verify::read_paths::ReadPaths;
use crate::commands::verify::root::GateRoot;
use crate::config::{ConfigFiles, Module, RootKind, SourceFile};
use crate::dialect::Dialect;
use crate::disk::roots;
use crate::disk::{files, root_files};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::git::{ChangedFiles, FileKind, GitTree};
use crate::lockfile::{self, FILE_NAME};
use crate::modulelock;
use crate::path::{PackageFolder, RepoPath, TOOL_FOLDERS, folded_name, lexical, links, shown};
use crate::settings::FILE_NAME as SETTINGS_FILE;
use crate::terragrunt;
use crate::trust::pins::FILE_NAME as TRUST_FILE;
use crate::workspace::{Exclusions, Root};

/// The names in the directory of a root module that are read, or installed from.
const READ: [&str; 6] =
    [FILE_NAME, modulelock::FILE_NAME, SETTINGS_FILE, ".terraform", "terraform.d", "terraform.d/plugins"];

impl Base {
    /// The findings about hidden paths, at the judged root modules and at those that were in the working tree before.
    pub fn hidden_paths(&self, judged: &[&GateRoot], tool: Option<Dialect>) -> Result<Vec<Finding>, Error> {
        let ways: BTreeMap<RepoPath, &GateRoot> = judged.iter().map(|root| (self.way_of(root), *root)).collect();
        let roots = LockDirectories::of(self.before.tree());
        let locks = judged.iter().map(|root| self.lock_path(root));
        let mut liftable = roots.crossings(&self.changes, ways.keys(), locks, |at| self.is_out_of_sight(at));
        liftable.extend(self.changed_kinds(&ways));
        liftable.extend(self.moved_out_of_search());
        liftable.extend(self.lost_instances());
        liftable.extend(self.changed_stacks()?);
        if tool.is_none() {
            liftable.extend(ways.keys().filter_map(|way| self.other_tool(way)));
        }
        let mut findings = self.lifted(liftable);
        findings.extend(self.untracked_lock_files());
        findings.extend(self.packages(&ways));
        findings.extend(self.prepared_directories(&ways));
        findings.extend(facts::of_names(self.changes.tracked().map(|(path, _)| path)));
        Ok(findings)
    }

    /// True if the lock file of a root module is denied, or a directory that leads to it.
    pub fn is_barred(&self, root: &GateRoot, denied: &[&Path]) -> bool {
        // By links, a directory is judged where it is, and written to by where it was named.
        let stations = links::stations(&root.settings().lock_file()).into_iter();
        let ways = stations.filter_map(|place| RepoPath::below(&self.top, &place)).chain([self.lock_path(root)]);
        ways.into_iter().any(|way| denied.iter().any(|file| Path::new(&*way).starts_with(file)))
    }

    /// True if the place is outside this working tree, or in a skipped folder.
    fn is_out_of_sight(&self, at: &str) -> bool {
        let Ok(place) = links::resolve(&self.top.join(at)) else {
            return true;
        };
        let Ok(way) = place.strip_prefix(&self.top) else {
            return true;
        };
        way.iter().any(|part| part == ".git" || TOOL_FOLDERS.iter().any(|skipped| part == *skipped))
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
        ConfigFiles::is_only_for_tofu(&self.before.names_in(way))
    }

    fn lock_tool_now(&self, way: &RepoPath) -> Option<Dialect> {
        lockfile::detect_dialect(&root_files::read_lock_file(&self.top.join(&*way.join(FILE_NAME))).ok()??)
    }

    /// Lock files that exist on disk but are no longer tracked: a clone of the change has none.
    fn untracked_lock_files(&self) -> Vec<Finding> {
        let lost = self.before.tree().paths().filter(|path| is_lock_file(path) && !self.changes.is_tracked(path));
        let lost = lost.filter(|path| self.changes.is_present(path));
        let message = "the dependency lock file was taken out of version control";
        let finding = |path| {
            Finding::new(Rule::LockFileRemoved, message)
                .in_file(path)
                .filled(crate::step::Hole::Revision, self.compared().short())
        };
        lost.map(finding).collect()
    }

    /// Tracked directories that Terragrunt takes for those it has made, so it runs the tool on what is there; and lists of files that
    /// it removes.
    fn prepared_directories(&self, ways: &BTreeMap<RepoPath, &GateRoot>) -> Vec<Finding> {
        let is_marker = |path: &&str| folded_name(name_of(path)) == ".terragrunt-source-version";
        let of_markers = self.changes.tracked().map(|(path, _)| path).filter(is_marker).map(directory_of);
        let of_units = ways.iter().filter_map(|(way, root)| {
            let directory = root.unit()?.download_dir.as_deref()?;
            let place = lexical(&self.top.join(&**way), Path::new(directory));
            let way = RepoPath::below(&self.top, &place)?;
            let prefix = way.prefix();
            let is_tracked = self.changes.tracked().any(|(path, _)| path.starts_with(&prefix));
            (!way.is_empty() && is_tracked).then(|| way.to_string())
        });
        let of_markers = of_markers.map(|at| if at.is_empty() { ".".to_owned() } else { at.to_owned() });
        let directories: BTreeSet<String> = of_markers.chain(of_units).collect();
        let finding = |directory: String| {
            let message = format!(
                "git tracks {directory}, where Terragrunt makes its working directories: it uses what is there"
            );
            Finding::new(Rule::TrackedPackages, message).in_file(directory)
        };
        let lists = self.changes.tracked().map(|(path, _)| path);
        let lists = lists.filter(|path| terragrunt::is_manifest(&folded_name(name_of(path)))).map(|path| {
            let message =
                format!("git tracks {path}, a list of files that Terragrunt removes from its working directory");
            Finding::new(Rule::TrackedPackages, message).in_file(path)
        });
        directories.into_iter().map(finding).chain(lists).collect()
    }

    /// Tracked packages outside of the judged root modules, or reached through links and submodules.
    fn packages(&self, ways: &BTreeMap<RepoPath, &GateRoot>) -> Vec<Finding> {
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for (path, kind) in self.changes.tracked() {
            let Some(folder) = PackageFolder::on_the_way(path) else {
                continue;
            };
            // Judging a root module reports its own packages.
            let is_plain = folder.path != path && folder.is_exact() && folder.name != ".terragrunt-cache";
            let is_reported = is_plain && ways.contains_key(folder.root);
            // A link with the name of the folder around the packages.
            let is_around = folder.name == "terraform.d"
                && (kind == FileKind::File || !self.top.join(path).join("plugins").exists());
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
pub(super) struct LockDirectories<'a>(BTreeSet<&'a str>);

impl<'a> LockDirectories<'a> {
    pub(super) fn of(before: &'a GitTree) -> Self {
        Self(before.paths().filter(|path| is_lock_file(path)).map(directory_of).collect())
    }

    /// New or changed submodules, and links at or above a directory that is judged or was.
    pub(super) fn crossings<'w>(
        &self,
        changes: &ChangedFiles,
        judged: impl Iterator<Item = &'w RepoPath>,
        locks: impl Iterator<Item = RepoPath>,
        is_out_of_sight: impl Fn(&str) -> bool,
    ) -> Vec<Finding> {
        let mut found: BTreeMap<&str, FileKind> =
            changes.crossings().filter(|(_, kind)| *kind == FileKind::Submodule).collect();
        if changes.crossings().next().is_some() {
            let before = self.0.iter().map(|way| RepoPath::from_git(*way));
            for way in judged.cloned().chain(before) {
                let own = std::iter::once(way.clone()).chain(READ.iter().map(|name| way.join(name)));
                let above = way.match_indices('/').map(|(at, _)| RepoPath::from_git(&way[..at]).join(SETTINGS_FILE));
                found.extend(own.chain(above).filter_map(|path| changes.crossing(&path)));
            }
            found.extend(locks.filter_map(|path| changes.crossing(&path)));
            found.extend([SETTINGS_FILE, TRUST_FILE].into_iter().filter_map(|path| changes.crossing(path)));
        }
        found.into_iter().map(|(at, kind)| self.crossing(at, kind, &is_out_of_sight)).collect()
    }

    fn crossing(&self, at: &str, kind: FileKind, is_out_of_sight: &impl Fn(&str) -> bool) -> Finding {
        let what = if kind == FileKind::Submodule { "a submodule" } else { "a symbolic link" };
        if self.has_any_in(at) && (kind == FileKind::Submodule || is_out_of_sight(at)) {
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

impl Base {
    /// True if the configuration was unreadable because of files of the base: each file that cannot be read by itself could not be
    /// read at the base either, and the change touches neither the directory nor the paths that its files name.
    pub fn was_unreadable(&self, root: &Root) -> bool {
        let dialect = root.settings.dialect;
        let was_there = |error: &Error| {
            let file = error.file.as_deref().map(RepoPath::of);
            error.kind == ErrorKind::Configuration
                && file.is_some_and(|it| self.before.tree().kind(&it).is_some() && !self.has_spoilt(&it, dialect))
        };
        let places = root.settings.places();
        let is_old = root.unread.as_ref().is_some_and(|error| error.each().all(was_there));
        let modules = root.tree.iter().flat_map(|tree| &tree.local_modules).map(|module| lexical(&places[0], module));
        let directories = places.iter().cloned().chain(modules).collect();
        is_old
            && !touches(&self.changes, places.clone(), &ReadPaths::of(root))
            && !self.touches_named(&places, directories)
    }

    /// True if a file of configuration cannot be read by itself any more, wherever its bytes come from; or if git does not say what
    /// it was.
    fn has_spoilt(&self, path: &RepoPath, dialect: Dialect) -> bool {
        let is_sound = |bytes: Option<Vec<u8>>| bytes.is_some_and(|bytes| is_sound_alone(path, bytes, dialect));
        let now = files::read(&self.top.join(&**path)).ok().flatten();
        let before = || self.git.files_of(self.before.tree(), &[path]);
        !is_sound(now) && before().map_or(true, |mut texts| is_sound(texts.pop().flatten()))
    }

    /// True if the change touches the files of some directories, or a path that they may name.
    fn touches_named(&self, [place, tests]: &[PathBuf; 2], directories: BTreeSet<PathBuf>) -> bool {
        let mut open: Vec<PathBuf> = directories.iter().cloned().collect();
        let mut known = directories;
        while let Some(directory) = open.pop() {
            // By itself each, since links lead from a directory to files anywhere.
            let mut names = files::names_in(&directory).into_iter().filter(|name| is_read(name));
            if names.any(|name| self.changes.touch(&directory.join(name))) {
                return true;
            }
            for named in named_in(&directory, Some(&**place).filter(|_| directory == *tests)) {
                let is_touched = match &named {
                    NamedPath::Path(path) => self.changes.touch(path) || self.changes.touch_within(path, is_read),
                    NamedPath::Below(path) => self.changes.touch_below(path),
                };
                if is_touched {
                    return true;
                }
                let (NamedPath::Path(path) | NamedPath::Below(path)) = named;
                if path.starts_with(&self.top) && known.insert(path.clone()) {
                    open.push(path);
                }
            }
        }
        false
    }
}

/// True if a file of configuration has no error of its own.
fn is_sound_alone(path: &str, bytes: Vec<u8>, dialect: Dialect) -> bool {
    let Ok(text) = String::from_utf8(bytes) else { return false };
    let file = [SourceFile { path: PathBuf::from(path), text }];
    let is_of_stack = RootKind::Stack.is_configuration(name_of(path));
    let kind = if is_of_stack { RootKind::Stack } else { RootKind::Module };
    Module::decode_as(kind, &file, &[], dialect).is_ok()
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NamedPath {
    Path(PathBuf),
    /// Some path below this one.
    Below(PathBuf),
}

/// The local paths that the files of a directory name. Paths in test files are relative to the root module.
fn named_in(directory: &Path, root: Option<&Path>) -> Vec<NamedPath> {
    let names = files::names_in(directory).into_iter().filter(|name| is_read(name));
    let texts = names.filter_map(|name| files::read(&directory.join(name)).ok().flatten());
    let mut found = Vec::new();
    for text in texts {
        for path in paths_in(&String::from_utf8_lossy(&text)) {
            let from = std::iter::once(directory).chain(root);
            found.extend(from.map(|from| match path.split_once("${") {
                Some((start, _)) => NamedPath::Below(lexical(from, Path::new(start))),
                None => NamedPath::Path(lexical(from, Path::new(path))),
            }));
        }
    }
    found
}

/// The quoted texts that begin like a local path.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_local = |piece: &&str| ["./", "../"].iter().any(|start| piece.starts_with(start)) || *piece == "..";
    text.lines().flat_map(|line| line.split('"')).filter(is_local)
}

impl Base {
    /// The directory of the first of these changes, and the error for all of them. Only those count that are below one of
    /// the directories of the run, or next to files that are there and may be read.
    pub fn left_out(&self, starts: &BTreeSet<PathBuf>, exclusions: Option<&Exclusions>) -> Option<(PathBuf, Error)> {
        let counts = |path: &&str| {
            let place = self.top.join(directory_of(path));
            let is_excluded = exclusions.is_some_and(|exclusions| exclusions.cover(&place));
            !is_excluded && (place.is_dir() || place.ancestors().any(|above| starts.contains(above)))
        };
        let mut paths = self.changes.left_out().filter(counts);
        let first = Path::new(paths.next()?);
        let more = paths.count();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("cannot judge {}{more}, which changed: the sparse checkout leaves it out", shown(first));
        let error = Error::new(ErrorKind::Usage, message).in_file(first).hint(step!(
            "check out everything: `git sparse-checkout disable`; in actions/checkout leave out `sparse-checkout`"
        ));
        Some((first.parent().unwrap_or(first).to_owned(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_paths_are_found_in_files_with_errors() {
        let text = "module \"a\" {\n source = \"../a\"\n}\nmodule {\n {\"source\": \"./b/c\", x = \"acme/x/y\" \"..\"";
        assert_eq!(paths_in(text).collect::<Vec<_>>(), ["../a", "./b/c", ".."]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes files")]
    fn paths_that_depend_on_values_are_all_below() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tests")).unwrap();
        std::fs::write(folder.path().join("main.tf"), "source = \"../${var.x}/y\"\n").unwrap();
        std::fs::write(folder.path().join("tests/x.tftest.hcl"), "source = \"./z\"\n").unwrap();
        let above = folder.path().parent().unwrap().to_owned();
        assert_eq!(named_in(folder.path(), None), [NamedPath::Below(above)]);
        let of_tests = ["tests/z", "z"].map(|path| NamedPath::Path(folder.path().join(path)));
        assert_eq!(named_in(&folder.path().join("tests"), Some(folder.path())), of_tests);
    }
}

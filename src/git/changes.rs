//! What differs between a commit and the working tree.
//!
//! Files are read and hashed here: git would run the filters that attributes and configuration of the repository name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::objects::kind;
use super::{FileKind, Git, GitError, GitOutput, GitTree, repository};
use crate::config::{VERSION_FILES, is_read};
use crate::disk::files;
use crate::disk::walk::{Walk, WalkOptions};
use crate::hash::digest;
use crate::path::{RepoPath, lexical, links, worktree};

/// The files that differ between a commit and the working tree, those included that are in one of them only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    top: PathBuf,
    /// From the top.
    paths: BTreeSet<RepoPath>,
    /// The links and submodules among them, as far as they are there now.
    crossings: BTreeMap<RepoPath, FileKind>,
    pub(super) tracked: BTreeMap<RepoPath, FileKind>,
    /// Links that are what they were.
    links: BTreeSet<RepoPath>,
    /// Directories that are no links, and none above them is.
    directories: BTreeSet<String>,
    /// What a sparse working tree leaves out although it changed.
    left_out: BTreeSet<RepoPath>,
    /// The names of objects of files that are not compared unless they are looked at: units of Terragrunt may read any file.
    not_compared: BTreeMap<RepoPath, String>,
}

#[derive(Debug, Default)]
pub(super) struct ListedFiles {
    /// What is tracked, with the kind, the object name, and whether the file is left out of a sparse working tree.
    pub(super) tracked: BTreeMap<RepoPath, (FileKind, String, bool)>,
}

impl Git {
    /// The files that differ between a commit, whose files are given, and the working tree. Untracked files count unless
    /// they are ignored.
    ///
    /// The bytes are compared of files that the tools, git or we may read for a root module; line ends that git turns
    /// around do not count. Others are compared when [`ChangedFiles::touch`] looks at them.
    pub fn changes_since(&self, tree: &GitTree) -> Result<ChangedFiles, GitError> {
        let listed = self.listed()?;
        let mut disk = Disk { top: self.top.clone(), real: BTreeMap::new() };
        let (mut paths, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        let (mut read, mut not_compared) = (Vec::<(&str, &str)>::new(), BTreeMap::new());
        // A link by a name that counts may lead to a file by any.
        let linked: BTreeSet<RepoPath> = tree.targets.keys().filter_map(|path| tree.resolve(path)).collect();
        for (path, entry) in &tree.entries {
            let now = listed.tracked.get(path);
            match (entry.kind, disk.kind(path)) {
                (_, None) if now.is_some_and(|(.., skipped)| *skipped) => {
                    let is_same = now.is_some_and(|(kind, id, _)| *kind == entry.kind && *id == entry.id);
                    left_out.extend((!is_same).then(|| path.clone()));
                }
                (FileKind::File, Some(PathKind::File)) if matters(path) || linked.contains(path) => {
                    read.push((path, &entry.id));
                }
                (FileKind::File, Some(PathKind::File)) => {
                    not_compared.insert(path.clone(), entry.id.clone());
                }
                (FileKind::Link, Some(PathKind::Link)) if disk.leads(path) == tree.targets.get(path).cloned() => {}
                // Where links cannot be made, git writes a file in their place.
                (FileKind::Link, Some(PathKind::File)) if cfg!(windows) => read.push((path, &entry.id)),
                (FileKind::Submodule, Some(PathKind::Directory))
                    if now.is_some_and(|(kind, id, _)| *kind == FileKind::Submodule && *id == entry.id)
                        && disk.is_at(path, &entry.id) => {}
                _ => {
                    paths.insert(path.clone());
                }
            }
        }
        paths.extend(changed(&self.top, &read).into_iter().map(RepoPath::from_git));
        let is_new = |path: &&RepoPath| !tree.entries.contains_key(*path);
        paths.extend(self.others(|path| listed.tracked.contains_key(path))?.into_iter().filter(|path| is_new(&path)));
        for (path, (.., skipped)) in listed.tracked.iter().filter(|(path, _)| is_new(path)) {
            let is_absent = *skipped && disk.kind(path).is_none();
            if is_absent { &mut left_out } else { &mut paths }.insert(path.clone());
        }
        left_out
            .retain(|path| matters(path) || listed.tracked.get(path).is_some_and(|(kind, ..)| *kind != FileKind::File));
        let crossings = paths.iter().filter_map(|path| {
            let tracked = listed.tracked.get(path).map(|(kind, ..)| *kind);
            match (tracked, disk.kind(path)) {
                (Some(FileKind::Submodule), _) => Some((path.clone(), FileKind::Submodule)),
                (_, Some(PathKind::Link)) => Some((path.clone(), FileKind::Link)),
                _ => None,
            }
        });
        let crossings = crossings.collect();
        let tracked = listed.tracked.into_iter().map(|(path, (kind, ..))| (path, kind)).collect();
        let links = tree.targets.keys().cloned().collect();
        let directories = disk.real.into_iter().filter_map(|(path, real)| real.then_some(path)).collect();
        Ok(ChangedFiles {
            top: self.top.clone(),
            paths,
            crossings,
            tracked,
            links,
            directories,
            left_out,
            not_compared,
        })
    }

    /// What git tracks in the working tree.
    pub(super) fn listed(&self) -> Result<ListedFiles, GitError> {
        let args = ["ls-files", "-z", "-t", "--stage", "--cached", "--full-name"];
        Ok(ListedFiles::of(&self.launcher.run(args)?.checked("ls-files")?))
    }

    /// What is in the working tree and neither tracked nor ignored.
    ///
    /// It is looked for here: git would open whatever has the name of an ignore file, and wait for the other end of a pipe.
    pub(super) fn others(&self, is_tracked: impl Fn(&RepoPath) -> bool) -> Result<Vec<RepoPath>, GitError> {
        let excludes = self.user_excludes()?;
        let walk = Walk::below(
            &self.top,
            &WalkOptions {
                skipped: &[],
                names_repositories: true,
                excludes: excludes.as_deref(),
                is_wanted: &|path| !is_tracked(&RepoPath::of(path)),
            },
        );
        Ok(walk.files.iter().map(|path| RepoPath::of(path)).collect())
    }
}

impl ListedFiles {
    /// Reads what `ls-files -z -t --stage` answers.
    pub(super) fn of(answer: &GitOutput) -> Self {
        let mut listed = Self::default();
        for line in answer.texts() {
            let Some((tag, rest)) = line.split_once(' ') else {
                continue;
            };
            if let Some((head, path)) = rest.split_once('\t')
                && let [mode, id, _] = head.split(' ').collect::<Vec<_>>()[..]
            {
                listed.tracked.insert(RepoPath::from_git(path), (kind(mode), id.to_owned(), tag == "S"));
            }
        }
        listed
    }
}

/// What is at a path of the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathKind {
    File,
    Link,
    Directory,
    Other,
}

/// The working tree on the disk, no link followed.
struct Disk {
    top: PathBuf,
    /// Directories by whether they are there, and neither they nor any above is a link.
    real: BTreeMap<String, bool>,
}

impl Disk {
    fn kind(&mut self, path: &str) -> Option<PathKind> {
        if let Some((directory, _)) = path.rsplit_once('/')
            && !self.is_real(directory)
        {
            return None;
        }
        let kind = self.top.join(path).symlink_metadata().ok()?.file_type();
        Some(match kind {
            kind if kind.is_symlink() => PathKind::Link,
            kind if kind.is_file() => PathKind::File,
            kind if kind.is_dir() => PathKind::Directory,
            _ => PathKind::Other,
        })
    }

    fn is_real(&mut self, directory: &str) -> bool {
        if let Some(known) = self.real.get(directory) {
            return *known;
        }
        let real = self.kind(directory) == Some(PathKind::Directory);
        self.real.insert(directory.to_owned(), real);
        real
    }

    /// Where a link leads to, as git would store it.
    fn leads(&self, path: &str) -> Option<Vec<u8>> {
        let target = std::fs::read_link(self.top.join(path)).ok()?;
        Some(target.into_os_string().into_encoded_bytes())
    }

    /// True if a submodule has a commit checked out, or is not checked out at all.
    fn is_at(&self, path: &str, id: &str) -> bool {
        let place = self.top.join(path);
        if place.join(".git").symlink_metadata().is_err() {
            return std::fs::read_dir(&place).is_ok_and(|mut entries| entries.next().is_none());
        }
        let head = repository(&place).and_then(|git_dir| files::read(&git_dir.join("HEAD")).ok().flatten());
        let head = String::from_utf8_lossy(&head.unwrap_or_default()).into_owned();
        // A branch that is checked out there is where git says.
        let on_branch = || Git::open(&place).and_then(|git| git.commit("HEAD")).ok().flatten();
        head.trim() == id || (head.starts_with("ref:") && on_branch().is_some_and(|commit| commit.id == id))
    }
}

/// True for files of which the bytes are compared: all that is read for a module, and lock files, settings and lists of
/// whatever name.
fn matters(path: &str) -> bool {
    let packages = [".terraform/", "terraform.d/"];
    let name = path.rsplit('/').next().unwrap_or(path);
    is_read(path)
        || VERSION_FILES.contains(&name)
        || [".hcl", ".json"].iter().any(|suffix| path.ends_with(suffix))
        || packages.iter().any(|folder| path.starts_with(folder) || path.contains(&format!("/{folder}")))
}

/// Those of some files whose bytes are not those of an object, on all cores.
fn changed<'a>(top: &Path, files: &[(&'a str, &str)]) -> Vec<&'a str> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(64);
    let differs = |(path, id): &&(&'a str, &str)| !is_same(&top.join(path), id);
    std::thread::scope(|scope| {
        let chunks = files.chunks(share);
        let work =
            chunks.map(|chunk| scope.spawn(move || chunk.iter().filter(differs).map(|it| it.0).collect::<Vec<_>>()));
        let work: Vec<_> = work.collect();
        let of_thread = |thread: std::thread::ScopedJoinHandle<'_, Vec<&'a str>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        work.into_iter().flat_map(of_thread).collect()
    })
}

/// True if a file has the content of an object, except for line ends. One that is too large to be read is not the same.
fn is_same(path: &Path, id: &str) -> bool {
    let Ok(Some(bytes)) = files::read(path) else { return false };
    if digest::has_name(&bytes, id) {
        return true;
    }
    let has_both = memchr::memmem::find(&bytes, b"\r\n").is_some();
    has_both && digest::has_name(&without_returns(&bytes), id)
}

/// A text with the line ends that git stores.
fn without_returns(bytes: &[u8]) -> Vec<u8> {
    let kept = bytes.iter().enumerate().filter(|(at, byte)| **byte != b'\r' || bytes.get(at + 1) != Some(&b'\n'));
    kept.map(|(_, byte)| *byte).collect()
}

impl ChangedFiles {
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// What git tracks below a directory, relative to it; `None` if git must be asked: in another working tree, or where
    /// paths are not UTF-8.
    pub fn tracked_below(&self, start: &Path) -> Option<Vec<PathBuf>> {
        let place = worktree::absolute(start);
        let is_here = worktree::top(&place).as_ref() == Some(&self.top);
        let is_exact = || self.tracked.keys().all(|path| !path.contains(char::REPLACEMENT_CHARACTER));
        let prefix = RepoPath::below(&self.top, &place).filter(|_| is_here && is_exact())?.prefix();
        let below = self.tracked.keys().filter_map(|path| path.strip_prefix(&prefix));
        Some(below.map(PathBuf::from).collect())
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(|path| &**path)
    }

    /// The same without the changes of some files.
    pub fn without(&self, files: &BTreeSet<&str>) -> Self {
        let mut rest = self.clone();
        rest.paths.retain(|path| !files.contains(&**path));
        rest
    }

    /// True if a file changed, by its path from the top.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// What changed and cannot be judged, since a sparse working tree leaves it out: of files only those that may be read.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().map(|path| &**path)
    }

    /// The links and submodules that are new or changed.
    pub fn crossings(&self) -> impl Iterator<Item = (&str, FileKind)> {
        self.crossings.iter().map(|(path, kind)| (&**path, *kind))
    }

    /// The first link or submodule that is new or changed and is at a path or above it, or at or above a link that the
    /// path leads over.
    pub fn crossing(&self, path: &str) -> Option<(&str, FileKind)> {
        let beyond = || {
            let stations = links::stations(&self.top.join(path)).into_iter();
            let mut ways = stations.filter_map(|place| RepoPath::below(&self.top, &place));
            ways.find_map(|way| first(&self.crossings, &way))
        };
        first(&self.crossings, path).or_else(|| if self.is_plain(path) { None } else { beyond() })
    }

    /// What git tracks now, from the top.
    pub fn tracked(&self) -> impl Iterator<Item = (&str, FileKind)> + Clone {
        self.tracked.iter().map(|(path, kind)| (&**path, *kind))
    }

    pub fn is_tracked(&self, path: &str) -> bool {
        self.tracked.contains_key(path)
    }

    /// True if something is at a path of the working tree and no link leads there.
    pub fn is_present(&self, path: &str) -> bool {
        Disk { top: self.top.clone(), real: BTreeMap::new() }.kind(path).is_some()
    }

    /// True if a file is there that is under version control or comes there with the next commit: what is ignored is not.
    pub fn knows(&self, path: &str) -> bool {
        self.is_present(path) && (self.is_tracked(path) || self.paths.contains(path))
    }

    /// True if what is at a path changed: a file, whether a directory is there, or what leads to it: a symbolic link, or the submodule that
    /// it is in.
    pub fn touch(&self, path: &Path) -> bool {
        let differs =
            |name: &RepoPath| self.not_compared.get(name).is_some_and(|id| !is_same(&self.top.join(&**name), id));
        self.names(path).iter().any(|name| self.holds(name) || differs(name) || self.is_other_directory(name))
    }

    /// True if there is a directory at a path now or was one at the base, and it may not be both.
    fn is_other_directory(&self, name: &RepoPath) -> bool {
        let prefix = name.prefix();
        let from = || RepoPath::from_git(prefix.as_str())..;
        let is_below = |path: &&RepoPath| path.starts_with(&prefix);
        let has_changed = self.paths.range(from()).next().is_some_and(|path| is_below(&path));
        has_changed && {
            let tracked = self.tracked.range(from()).map(|(path, _)| path);
            !tracked.take_while(is_below).any(|path| !self.paths.contains(path))
        }
    }

    /// True if the names in a directory changed, or a file that is directly in it.
    pub fn touch_list(&self, directory: &Path) -> bool {
        self.names(directory).iter().any(|name| {
            let prefix = name.prefix();
            let below = self.paths.range(RepoPath::from_git(prefix.as_str())..);
            let mut below = below.map_while(|path| path.strip_prefix(&prefix));
            let is_new_or_gone = |within: &str| match within.split_once('/') {
                Some((inner, _)) => self.is_other_directory(&name.join(inner)),
                None => true,
            };
            self.holds(name) || below.any(is_new_or_gone)
        })
    }

    /// True if a file changed that is in a directory and whose name passes.
    pub fn touch_within(&self, directory: &Path, passes: impl Fn(&str) -> bool) -> bool {
        self.names(directory).iter().any(|name| {
            let prefix = name.prefix();
            let within =
                self.paths.range(RepoPath::from_git(prefix.as_str())..).map_while(|path| path.strip_prefix(&prefix));
            self.holds(name) || within.into_iter().any(|rest| !rest.contains('/') && passes(rest))
        })
    }

    /// True if anything changed below a directory.
    pub fn touch_below(&self, directory: &Path) -> bool {
        self.names(directory).iter().any(|name| {
            let prefix = name.prefix();
            let from = || RepoPath::from_git(prefix.as_str())..;
            let has_changed = self.paths.range(from()).next().is_some_and(|path| path.starts_with(&prefix));
            let rest = self.not_compared.range(from()).take_while(|(path, _)| path.starts_with(&prefix));
            let mut rest = rest.map(|(path, id)| (self.top.join(&**path), id));
            self.holds(name) || has_changed || rest.any(|(place, id)| !is_same(&place, id))
        })
    }

    /// True if a path from the top changed, or one that it is below.
    pub fn holds(&self, name: &str) -> bool {
        self.paths.contains(name) || name.match_indices('/').any(|(at, _)| self.paths.contains(&name[..at]))
    }

    /// True if it is known that no link is at a path or above it.
    fn is_plain(&self, way: &str) -> bool {
        let parent = way.rsplit_once('/').map_or("", |(parent, _)| parent);
        let is_real = |directory: &str| directory.is_empty() || self.directories.contains(directory);
        let is_link = || self.links.contains(way) || self.crossings.contains_key(way);
        is_real(way) || (is_real(parent) && self.tracked.contains_key(way) && !is_link())
    }

    /// The names of a path from the top: as written, and after each symbolic link on its way.
    fn names(&self, path: &Path) -> Vec<RepoPath> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let written = lexical(Path::new(""), &absolute);
        let way = RepoPath::below(&self.top, &written);
        if let Some(way) = way.filter(|way| self.is_plain(way)) {
            return vec![way];
        }
        let mut places = links::stations(path);
        places.push(written);
        places.iter().filter_map(|place| RepoPath::below(&self.top, place)).collect()
    }
}

/// The first of some paths that equals a given one or is above it.
fn first<'a>(crossings: &'a BTreeMap<RepoPath, FileKind>, path: &str) -> Option<(&'a str, FileKind)> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut found = ends.filter_map(|end| crossings.get_key_value(&path[..end]));
    found.next().map(|(path, kind)| (&**path, *kind))
}

#[cfg(test)]
impl ChangedFiles {
    /// Changes of some files of a working tree, of which some are links or submodules now.
    pub fn of(top: &Path, paths: &[&str], crossings: &[(&str, FileKind)]) -> Self {
        let path = |path: &str| RepoPath::from_git(path);
        Self {
            top: top.to_owned(),
            paths: paths.iter().chain(crossings.iter().map(|(path, _)| path)).map(|it| path(it)).collect(),
            crossings: crossings.iter().map(|(at, kind)| (path(at), *kind)).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_touched_by_what_leads_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for place in ["a", "b/c", "shared"] {
            std::fs::create_dir_all(top.join(place)).unwrap();
        }
        std::fs::write(top.join("shared/main.tf"), "").unwrap();
        let changes = |paths: &[&str]| ChangedFiles::of(&top, paths, &[]);
        let tf = |name: &str| name.strip_suffix(".tf").is_some();
        let some = changes(&["a/main.tf", "b-c", "b/c/x/y.tf", "sub"]);
        assert!(some.touch(&top.join("a/main.tf")) && some.touch(&top.join("a/../a/main.tf")));
        assert!(some.touch(&top.join("sub/deep/main.tf")));
        assert!(!some.touch(&top.join("b/main.tf")) && !some.touch(Path::new("/elsewhere/a/main.tf")));
        assert!(some.touch_within(&top.join("a"), tf) && !some.touch_within(&top.join("a"), |name| name == "x"));
        assert!(!some.touch_within(&top.join("b"), tf) && !some.touch_within(&top.join("b/c"), tf));
        assert!(!some.touch_within(&top, tf) && changes(&["main.tf"]).touch_within(&top, tf));
        assert!(some.touch_below(&top.join("b")) && some.touch_below(&top) && !some.touch_below(&top.join("shared")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../shared", top.join("a/linked")).unwrap();
            let file = top.join("a/linked/main.tf");
            assert!(changes(&["shared/main.tf"]).touch(&file) && changes(&["a/linked"]).touch(&file));
            assert!(!changes(&["a/linke"]).touch(&file));
        }
    }

    #[test]
    fn line_ends_do_not_count() {
        assert_eq!(without_returns(b"a\r\nb\rc\r\n\r"), b"a\nb\rc\n\r");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let id = "422c2b7ab3b3c668038da977e4e93a5fc623169c";
        for (bytes, same) in [(&b"a\nb\n"[..], true), (b"a\r\nb\r\n", true), (b"a\r\nb", false), (b"ab\n", false)] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(is_same(&path, id), same, "{bytes:?}");
        }
    }

    #[test]
    fn the_first_crossing_on_the_way_is_reported() {
        let crossings = [("a/b", FileKind::Link), ("a/b/c", FileKind::Submodule)];
        let crossings: BTreeMap<_, _> = crossings.map(|(path, kind)| (RepoPath::from_git(path), kind)).into();
        assert_eq!(first(&crossings, "a/b/c/d"), Some(("a/b", FileKind::Link)));
        assert_eq!(first(&crossings, "a/b"), Some(("a/b", FileKind::Link)));
        assert_eq!(first(&crossings, "a"), None);
        assert_eq!(first(&crossings, "a/bc"), None);
    }
}

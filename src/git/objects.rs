//! Trees and files of commits, the lists of those that matter, and the configuration written out where it can be read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tempfile::TempDir;

use std::collections::HashSet;

use super::changes::ListedFiles;
use super::{Commit, Git, GitError};
use crate::config::is_root_configuration;
use crate::disk::own;
use crate::lockfile::{self, LockName};
use crate::path::RepoPath;

impl Git {
    /// The lock files of the working tree below the directory, relative to the top: tracked ones, and others that are not
    /// ignored.
    pub fn lock_files_now(&self) -> Result<Vec<String>, GitError> {
        let prefix = self.directory.prefix();
        let files = self.files_by_name(&[])?;
        Ok(files.into_iter().filter(|path| path.starts_with(&prefix)).collect())
    }

    /// True if the working tree is known to have lock files of Atmos instances.
    pub fn has_instances(&self) -> bool {
        let is_one = |path: &String| path.rsplit('/').next().and_then(LockName::of_instance).is_some();
        self.files_by_name(&[]).is_ok_and(|paths| paths.iter().any(is_one))
    }

    /// All files of the working tree, relative to the top: tracked ones, and others that are not ignored.
    pub fn repository_files(&self) -> Result<HashSet<String>, GitError> {
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--", ":(top)"];
        Ok(self.launcher.run(args)?.checked("ls-files")?.texts().collect())
    }

    /// The lock files, trust files and module lock files of the whole working tree, relative to the top: tracked ones, and
    /// others that are not ignored.
    pub fn own_files(&self) -> Result<Vec<String>, GitError> {
        self.files_by_name(&[crate::trust::pins::FILE_NAME, crate::modulelock::FILE_NAME])
    }

    /// The paths from the top that git could not merge.
    pub fn unmerged(&self) -> Result<BTreeSet<RepoPath>, GitError> {
        let answer =
            self.launcher.run(["ls-files", "-z", "-t", "--stage", "--unmerged", "--full-name"])?.checked("ls-files")?;
        Ok(ListedFiles::of(&answer).tracked.into_keys().collect())
    }

    /// Lock files, and files with some other names.
    fn files_by_name(&self, others: &[&str]) -> Result<Vec<String>, GitError> {
        let is_one = |last: &str| LockName::of(last).is_some() || others.contains(&last);
        let has_name = |path: &str| path.rsplit('/').next().is_some_and(is_one);
        let patterns = lockfile::NAME_PATTERNS.iter().chain(others).map(|name| format!(":(top,glob)**/{name}"));
        let args = ["ls-files", "-z", "--cached", "--full-name", "--"].map(str::to_owned).into_iter().chain(patterns);
        let tracked = self.launcher.run(args)?.checked("ls-files")?;
        let others = self.others(|path| !has_name(path))?;
        let all = tracked.texts().filter(|path| has_name(path)).chain(others.iter().map(ToString::to_string));
        let all: BTreeSet<String> = all.collect();
        Ok(all.into_iter().collect())
    }

    /// Adds the files that a sparse working tree leaves out, as the index has them.
    pub fn add_left_out(&self, paths: &[String], texts: &mut [Option<Vec<u8>>]) -> Result<(), GitError> {
        if texts.iter().all(Option::is_some) {
            return Ok(());
        }
        let answer = self.launcher.run(["ls-files", "-z", "-t", "--stage", "--cached"])?.checked("ls-files")?;
        let tracked = ListedFiles::of(&answer).tracked;
        let left_out = |path: &String| tracked.get(path.as_str()).filter(|(.., skipped)| *skipped).map(|(_, id, _)| id);
        let absent = paths.iter().zip(texts).filter(|(_, text)| text.is_none());
        let (places, ids): (Vec<&mut Option<Vec<u8>>>, Vec<&str>) =
            absent.filter_map(|(path, text)| Some((text, left_out(path)?.as_str()))).unzip();
        for (text, found) in places.into_iter().zip(self.blobs(&ids)?) {
            *text = Some(found);
        }
        Ok(())
    }

    /// Files of a commit by their paths from the top, in that order; none for those that are not there. Links inside
    /// of the tree are followed.
    pub fn files(&self, commit: &Commit, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let failed = |reason: &str| GitError::Failed { task: "cat-file", reason: reason.to_owned() };
        if paths.iter().any(|path| path.contains('\n')) {
            return Err(failed("a path has a line feed"));
        }
        let lines: Vec<String> = paths.iter().map(|path| format!("{}:{path}\n", commit.id)).collect();
        let args = ["cat-file", "--batch", "--follow-symlinks"];
        let answer = self.launcher.run_with(args, lines.concat().into_bytes())?.checked("cat-file")?;
        let files = objects(&answer.stdout, paths.len())?;
        let absent = paths.iter().zip(&files).filter(|(_, file)| file.is_none()).map(|(path, _)| path.as_str());
        self.make_sure_absent(commit, absent.collect())?;
        Ok(files)
    }

    /// A partial clone calls missing what it has not fetched; then the tree knows the path all the same.
    fn make_sure_absent(&self, commit: &Commit, paths: Vec<&str>) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let args = ["ls-tree", "-z", "--full-tree", &commit.id, "--"];
        let answer = self.launcher.run(args.into_iter().chain(paths))?.checked("ls-tree")?;
        let is_file = |line: &String| line.starts_with("100");
        if answer.texts().any(|line| is_file(&line)) { Err(GitError::Partial) } else { Ok(()) }
    }

    /// Objects by their names, in that order.
    pub(super) fn blobs(&self, ids: &[&str]) -> Result<Vec<Vec<u8>>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let lines: Vec<String> = ids.iter().map(|id| format!("{id}\n")).collect();
        let answer =
            self.launcher.run_with(["cat-file", "--batch"], lines.concat().into_bytes())?.checked("cat-file")?;
        let objects = objects(&answer.stdout, ids.len())?;
        objects.into_iter().map(|object| object.ok_or(GitError::Partial)).collect()
    }
}

/// All objects of the answer of `cat-file --batch`.
pub(super) fn objects(answer: &[u8], count: usize) -> Result<Vec<Option<Vec<u8>>>, GitError> {
    let failed = |CutOff| GitError::Failed { task: "cat-file", reason: "its answer was cut off".to_owned() };
    let mut rest = answer;
    (0..count).map(|_| next_object(&mut rest).map_err(failed)).collect()
}

/// An answer that ends before it should.
#[derive(Debug, PartialEq, Eq)]
struct CutOff;

/// Takes one object from the answer of `cat-file --batch`; `None` if there is no such file.
fn next_object(rest: &mut &[u8]) -> Result<Option<Vec<u8>>, CutOff> {
    let end = memchr::memchr(b'\n', rest).ok_or(CutOff)?;
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let fields: Vec<&str> = head.rsplit(' ').take(2).collect();
    let take = |size: &str, rest: &mut &[u8]| {
        let size: usize = size.parse().ok()?;
        let bytes = rest.get(..size)?.to_vec();
        *rest = rest.get(size + 1..)?;
        Some(bytes)
    };
    match fields[..] {
        // `missing`, or `ambiguous`.
        [word] | [word, _] if !word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(None),
        [size, "blob"] => take(size, rest).map(Some).ok_or(CutOff),
        // A directory, or a dangling link; the answer contains its text.
        [size, _] => take(size, rest).map(|_| None).ok_or(CutOff),
        _ => Err(CutOff),
    }
}

/// A path in which no character is special to git's patterns.
pub(super) fn escaped(path: &str) -> String {
    path.chars().flat_map(|c| if "*?[\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_batch() {
        let mut rest: &[u8] = b"0123 blob 3\nab\n\nabc:x y missing\ndangling 4\nHEAD\n0123 tree 2\nzz\n0 blob 0\n\n";
        let mut objects = Vec::new();
        while let Ok(object) = next_object(&mut rest) {
            objects.push(object.map(|bytes| String::from_utf8(bytes).unwrap()));
        }
        assert_eq!(objects, [Some("ab\n".to_owned()), None, None, None, Some(String::new())]);
        assert_eq!(next_object(&mut b"0123 blob 30\nab\n".as_slice()), Err(CutOff));
    }

    #[test]
    fn patterns_match_literally() {
        assert_eq!(escaped("a[1]/b*?\\"), "a\\[1]/b\\*\\?\\\\");
    }
}

/// How many symbolic links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// What is at a path of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Link,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) kind: FileKind,
    pub(super) id: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitTree {
    /// By the path from the top.
    pub(super) entries: BTreeMap<RepoPath, TreeEntry>,
    /// Where symbolic links lead to, as they say it.
    pub(super) targets: BTreeMap<RepoPath, Vec<u8>>,
}

impl Git {
    /// The tree of the last commit, mostly by one call of git; empty before the first commit.
    pub fn head_tree(&self) -> Result<GitTree, GitError> {
        match self.tree(&Commit::new("HEAD", "HEAD")) {
            Err(_) if self.has_no_commit()? => Ok(GitTree::default()),
            found => found,
        }
    }

    /// True before the first commit.
    pub fn has_no_commit(&self) -> Result<bool, GitError> {
        Ok(self.commit("HEAD")?.is_none())
    }

    pub fn tree(&self, commit: &Commit) -> Result<GitTree, GitError> {
        let answer = self.launcher.run(["ls-tree", "-r", "-z", "--full-tree", &commit.id])?.checked("ls-tree")?;
        let entries: BTreeMap<RepoPath, TreeEntry> = answer.texts().filter_map(|line| entry(&line)).collect();
        let links = || entries.iter().filter(|(_, entry)| entry.kind == FileKind::Link);
        let ids: Vec<&str> = links().map(|(_, entry)| entry.id.as_str()).collect();
        let targets = links().map(|(path, _)| path.clone()).zip(self.blobs(&ids)?).collect();
        Ok(GitTree { entries, targets })
    }

    /// The contents of files of commits whose trees are known, all of them by one process of git. Links inside of a tree are
    /// followed.
    pub fn contents<'t>(
        &self,
        files: impl IntoIterator<Item = (&'t GitTree, &'t str)>,
    ) -> Result<FileContents, GitError> {
        let ids: BTreeSet<&str> = files.into_iter().filter_map(|(tree, path)| tree.content_id(path)).collect();
        let ids: Vec<&str> = ids.into_iter().collect();
        let texts = self.blobs(&ids)?;
        Ok(FileContents(ids.into_iter().map(str::to_owned).zip(texts).collect()))
    }

    /// Files of a commit whose tree is known, by their paths from the top, in that order; none for those that are not
    /// there. Links inside of the tree are followed.
    pub fn files_of(&self, tree: &GitTree, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let contents = self.contents(paths.iter().map(|path| (tree, *path)))?;
        Ok(paths.iter().map(|path| contents.of(tree, path).map(<[u8]>::to_vec)).collect())
    }
}

/// A line such as `100644 blob ID\tPATH`.
pub(super) fn entry(line: &str) -> Option<(RepoPath, TreeEntry)> {
    let (head, path) = line.split_once('\t')?;
    let [mode, _, id] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let kind = kind(mode);
    Some((RepoPath::from_git(path), TreeEntry { kind, id: id.to_owned() }))
}

/// What a mode of git means.
pub(super) fn kind(mode: &str) -> FileKind {
    match mode {
        "120000" => FileKind::Link,
        "160000" => FileKind::Submodule,
        _ => FileKind::File,
    }
}

/// What files contain, by their object names.
#[derive(Debug, Default)]
pub struct FileContents(BTreeMap<String, Vec<u8>>);

impl FileContents {
    /// The text that a path of a tree leads to, if it was read.
    pub fn of(&self, tree: &GitTree, path: &str) -> Option<&[u8]> {
        self.0.get(tree.content_id(path)?).map(Vec::as_slice)
    }
}

impl GitTree {
    /// The object name of the file that a path leads to.
    fn content_id(&self, path: &str) -> Option<&str> {
        self.id(&self.resolve(path)?)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|path| &**path)
    }

    /// The object name of what is at a path, in hex.
    pub(super) fn id(&self, path: &str) -> Option<&str> {
        self.entries.get(path).map(|entry| entry.id.as_str())
    }

    /// What is at a path; none for directories and for what is not there.
    pub fn kind(&self, path: &str) -> Option<FileKind> {
        self.entries.get(path).map(|entry| entry.kind)
    }

    /// The paths below a directory, from the top.
    pub fn below(&self, directory: &str) -> impl Iterator<Item = &str> {
        let prefix = RepoPath::from_git(directory).prefix();
        let from = self.entries.range(RepoPath::from_git(prefix.as_str())..);
        from.map(|(path, _)| &**path).take_while(move |path| path.starts_with(&prefix))
    }

    /// The file that a path leads to, all links followed; `None` if that is no file of the tree.
    pub fn resolve(&self, path: &str) -> Option<RepoPath> {
        self.place(path).filter(|place| self.kind(place) == Some(FileKind::File))
    }

    /// Where a path leads, all links followed; `None` if that is not in the tree.
    pub fn place(&self, path: &str) -> Option<RepoPath> {
        let mut place: Vec<&str> = Vec::new();
        let mut rest: Vec<&str> = path.rsplit('/').collect();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match part {
                "" | "." => continue,
                ".." => {
                    place.pop()?;
                    continue;
                }
                part => place.push(part),
            }
            let here = place.join("/");
            let Some(target) = self.targets.get(here.as_str()) else { continue };
            links += 1;
            let target =
                std::str::from_utf8(target).ok().filter(|text| !text.starts_with('/') && links <= MAX_LINKS)?;
            place.pop();
            rest.extend(target.rsplit('/'));
        }
        Some(RepoPath::from_git(place.join("/")))
    }
}

#[cfg(test)]
impl GitTree {
    /// The tree of some files, with symbolic links and where they lead.
    pub fn of(files: &[&str], links: &[(&str, &str)]) -> Self {
        let of = |kind| move |path: &str| (RepoPath::from_git(path), TreeEntry { kind, id: String::new() });
        let mut entries: BTreeMap<_, _> = files.iter().copied().map(of(FileKind::File)).collect();
        entries.extend(links.iter().map(|(path, _)| of(FileKind::Link)(path)));
        let targets =
            links.iter().map(|(path, target)| (RepoPath::from_git(*path), target.as_bytes().to_vec())).collect();
        Self { entries, targets }
    }
}

#[cfg(test)]
mod tree_tests {
    use super::*;

    #[test]
    fn links_are_followed_within_the_tree() {
        let links =
            [("a/l", "../b/f"), ("c", "b"), ("out", "../../etc/f"), ("abs", "/etc/f"), ("loop", "loop"), ("no", "x")];
        let tree = GitTree::of(&["b/f", "b/g"], &links);
        let resolved = |path: &str| tree.resolve(path);
        assert_eq!(resolved("b/f").as_deref(), Some("b/f"));
        assert_eq!(resolved("a/l").as_deref(), Some("b/f"));
        assert_eq!(resolved("c/g").as_deref(), Some("b/g"));
        for path in ["out", "abs", "loop", "no", "b", "x"] {
            assert_eq!(resolved(path), None, "{path}");
        }
        assert_eq!(tree.below("b").collect::<Vec<_>>(), ["b/f", "b/g"]);
        assert_eq!((tree.below("c").count(), tree.below("").count()), (0, 8));
    }

    #[test]
    fn lines_of_a_tree() {
        let parsed = |line: &str| entry(line).map(|(path, entry)| (path, entry.kind));
        assert_eq!(parsed("100644 blob 01\ta b/c"), Some((RepoPath::from_git("a b/c"), FileKind::File)));
        assert_eq!(parsed("120000 blob 01\tl"), Some((RepoPath::from_git("l"), FileKind::Link)));
        assert_eq!(parsed("160000 commit 01\ts"), Some((RepoPath::from_git("s"), FileKind::Submodule)));
    }
}

/// The most files that are written for a commit; above that the configuration counts as not at hand.
const MOST: usize = 20_000;

impl Git {
    /// The configuration files of commits, each in a directory that goes away with the value; none for those that have too
    /// many. Each content is read once, all of them by one process of git.
    ///
    /// Installed modules and variable files are no part of it. Names that would leave the directory are left out.
    pub fn configurations(&self, trees: &[&GitTree]) -> Result<Vec<Option<TempDir>>, GitError> {
        let files: Vec<Vec<(&str, &str)>> = trees.iter().map(|tree| configuration(tree)).collect();
        let wanted = files.iter().filter(|files| files.len() <= MOST).flatten();
        let mut texts: BTreeMap<&str, Vec<u8>> = wanted.map(|(_, id)| (*id, Vec::new())).collect();
        let ids: Vec<&str> = texts.keys().copied().collect();
        for (id, text) in ids.iter().zip(self.blobs(&ids)?) {
            texts.insert(id, text);
        }
        let written = files.iter().map(|files| (files.len() <= MOST).then(|| write(files, &texts)).transpose());
        written.collect::<Result<_, _>>().map_err(|reason: std::io::Error| failed(&reason))
    }
}

fn failed(reason: &std::io::Error) -> GitError {
    GitError::Failed { task: "export", reason: reason.to_string() }
}

/// The configuration files of a tree with the objects that they are, links within it followed.
fn configuration(tree: &GitTree) -> Vec<(&str, &str)> {
    let paths = tree.paths().filter(|path| is_plain_configuration(path));
    paths.filter_map(|path| Some((path, tree.id(&tree.resolve(path)?)?))).collect()
}

fn is_plain_configuration(path: &str) -> bool {
    let leaves = path.contains(['\n', '\\', ':']) || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    is_root_configuration(path.rsplit('/').next().unwrap_or(path)) && !leaves
}

fn write(files: &[(&str, &str)], texts: &BTreeMap<&str, Vec<u8>>) -> std::io::Result<TempDir> {
    let directory = own::temporary_directory(".tflock-", &std::env::temp_dir())?;
    let mut made = "";
    for (path, id) in files {
        let path = Path::new(path);
        let parent = path.parent().and_then(Path::to_str).unwrap_or_default();
        if parent != made {
            std::fs::create_dir_all(directory.path().join(parent))?;
            made = parent;
        }
        std::fs::write(directory.path().join(path), &texts[id])?;
    }
    Ok(directory)
}

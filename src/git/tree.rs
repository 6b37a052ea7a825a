//! All files of a commit by their paths, with the links and submodules among them.

use std::collections::BTreeMap;

use super::{Commit, Git, GitError};
use crate::path::RepoPath;

/// How many symbolic links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// What is at a path of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Link,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) id: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// By the path from the top.
    pub(super) entries: BTreeMap<RepoPath, Entry>,
    /// Where symbolic links lead to, as they say it.
    pub(super) targets: BTreeMap<RepoPath, Vec<u8>>,
}

impl Git {
    pub fn tree(&self, commit: &Commit) -> Result<Tree, GitError> {
        let answer = self.launcher.run(["ls-tree", "-r", "-z", "--full-tree", &commit.id])?.checked("ls-tree")?;
        let entries: BTreeMap<RepoPath, Entry> = answer.texts().filter_map(|line| entry(&line)).collect();
        let links = || entries.iter().filter(|(_, entry)| entry.kind == Kind::Link);
        let ids: Vec<&str> = links().map(|(_, entry)| entry.id.as_str()).collect();
        let targets = links().map(|(path, _)| path.clone()).zip(self.blobs(&ids)?).collect();
        Ok(Tree { entries, targets })
    }

    /// Files of a commit whose tree is known, by their paths from the top, in that order; none for those that are not
    /// there. Links inside of the tree are followed.
    pub fn files_of(&self, tree: &Tree, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let resolved: Vec<Option<&Entry>> = paths.iter().map(|path| tree.entries.get(&*tree.resolve(path)?)).collect();
        let ids: Vec<&str> = resolved.iter().flatten().map(|entry| entry.id.as_str()).collect();
        let mut texts = self.blobs(&ids)?.into_iter();
        Ok(resolved.iter().map(|entry| entry.and_then(|_| texts.next())).collect())
    }
}

/// A line such as `100644 blob ID\tPATH`.
pub(super) fn entry(line: &str) -> Option<(RepoPath, Entry)> {
    let (head, path) = line.split_once('\t')?;
    let [mode, _, id] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
    let kind = kind(mode);
    Some((RepoPath::from_git(path), Entry { kind, id: id.to_owned() }))
}

/// What a mode of git means.
pub(super) fn kind(mode: &str) -> Kind {
    match mode {
        "120000" => Kind::Link,
        "160000" => Kind::Submodule,
        _ => Kind::File,
    }
}

impl Tree {
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|path| &**path)
    }

    /// The object name of what is at a path, in hex.
    pub(super) fn id(&self, path: &str) -> Option<&str> {
        self.entries.get(path).map(|entry| entry.id.as_str())
    }

    /// What is at a path; none for directories and for what is not there.
    pub fn kind(&self, path: &str) -> Option<Kind> {
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
        let path = RepoPath::from_git(place.join("/"));
        (self.kind(&path) == Some(Kind::File)).then_some(path)
    }
}

#[cfg(test)]
impl Tree {
    /// The tree of some files, with symbolic links and where they lead.
    pub fn of(files: &[&str], links: &[(&str, &str)]) -> Self {
        let of = |kind| move |path: &str| (RepoPath::from_git(path), Entry { kind, id: String::new() });
        let mut entries: BTreeMap<_, _> = files.iter().copied().map(of(Kind::File)).collect();
        entries.extend(links.iter().map(|(path, _)| of(Kind::Link)(path)));
        let targets =
            links.iter().map(|(path, target)| (RepoPath::from_git(*path), target.as_bytes().to_vec())).collect();
        Self { entries, targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_within_the_tree() {
        let links =
            [("a/l", "../b/f"), ("c", "b"), ("out", "../../etc/f"), ("abs", "/etc/f"), ("loop", "loop"), ("no", "x")];
        let tree = Tree::of(&["b/f", "b/g"], &links);
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
        assert_eq!(parsed("100644 blob 01\ta b/c"), Some((RepoPath::from_git("a b/c"), Kind::File)));
        assert_eq!(parsed("120000 blob 01\tl"), Some((RepoPath::from_git("l"), Kind::Link)));
        assert_eq!(parsed("160000 commit 01\ts"), Some((RepoPath::from_git("s"), Kind::Submodule)));
    }
}

//! Paths: as git and documents name them, as the file system has them, and where links lead.
//!
//! The folder is below `git` and `disk`: it looks at directory entries and reads no file.

pub mod folding;
pub mod links;
pub mod no_follow;
pub mod worktree;

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf};

pub use tflock_core::path::shown;

pub fn lexical(directory: &Path, path: &Path) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in directory.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(joined.components().next_back(), Some(Component::Normal(_))) => {
                joined.pop();
            }
            other => joined.push(other),
        }
    }
    joined
}

/// A path from the top of a working tree: names with slashes between them on every system, empty at the top, ordered
/// bytewise. What is not UTF-8 is replaced, in what git lists as in what the file system has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

impl RepoPath {
    pub fn from_git(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A relative path of the file system.
    pub fn of(path: &Path) -> Self {
        let names: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Self(names.join("/"))
    }

    /// The path of a place in a working tree, both absolute and without symbolic links; none outside of it.
    pub fn below(top: &Path, place: &Path) -> Option<Self> {
        place.strip_prefix(top).ok().map(Self::of)
    }

    /// The path of something in this directory, by one name or several.
    #[must_use]
    pub fn join(&self, names: &str) -> Self {
        Self(format!("{}{names}", self.prefix()))
    }

    /// What the paths of all in this directory begin with: nothing at the top.
    pub fn prefix(&self) -> String {
        if self.is_empty() { String::new() } else { format!("{}/", self.0) }
    }
}

impl Deref for RepoPath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_slashes() {
        let path: std::path::PathBuf = ["a", "b", "c.tf"].iter().collect();
        assert_eq!(&*RepoPath::of(&path), "a/b/c.tf");
        assert_eq!(&*RepoPath::of(Path::new("")), "");
        // The order is that of the bytes, not that of the names.
        assert!(RepoPath::from_git("a-b") < RepoPath::from_git("a/b"));
        assert_eq!(RepoPath::from_git("a").join("b/c").prefix(), "a/b/c/");
        assert_eq!(RepoPath::default().join("b").prefix(), "b/");
    }

    #[test]
    fn a_place_is_named_from_the_top() {
        let top = Path::new("top");
        assert_eq!(RepoPath::below(top, &top.join("a").join("b")).as_deref(), Some("a/b"));
        assert_eq!(RepoPath::below(top, top).as_deref(), Some(""));
        assert_eq!(RepoPath::below(top, Path::new("other")), None);
    }
}

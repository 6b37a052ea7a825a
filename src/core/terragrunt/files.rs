//! The files that a unit may read, and paths to them.
//!
//! Paths are absolute, with `/` between names, as the functions of Terragrunt give them.

use std::sync::Arc;

use crate::functions::clean;

/// The file of values that a stack writes for a unit.
pub(super) const VALUES: &str = "terragrunt.values.hcl";

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<T> {
    /// What was looked for.
    Is(T),
    /// Nothing, known to be so.
    Missing,
    /// Nothing is known of it, since it is not a part of the repository; why, as in "it depends on /x, which …".
    Denied(String),
}

/// What is in a directory by one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Found<EntryKind>,
}

/// The kinds of what is in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a link to one.
    File,
    /// A directory.
    Directory,
    /// A link to a directory.
    LinkedDirectory,
}

/// Files of one working tree. An implementation answers for nothing else. It records each path before it looks there, whatever it finds.
pub trait Files {
    /// The bytes of a file.
    fn read(&self, path: &str) -> Found<Arc<[u8]>>;

    /// Notes that each byte of a file counts: it was read as a text, in which nothing is a comment.
    fn note_text(&self, _path: &str) {}

    /// Whether a path leads to a directory, and not to a file.
    fn is_directory(&self, path: &str) -> Found<bool>;

    /// What is in a directory.
    fn list(&self, path: &str) -> Found<Vec<DirectoryEntry>>;
}

/// A path from a directory; absolute ones stay.
pub fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') { clean(path) } else { clean(&format!("{directory}/{path}")) }
}

/// The directory that a path is in.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => ".",
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// The length of what two paths begin with, in whole names.
fn shared(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(byte, of_other)| byte == of_other).count();
    let is_end = |path: &[u8]| path.get(same).is_none_or(|byte| *byte == b'/');
    if is_end(one) && is_end(other) { same } else { one[..same].iter().rposition(|byte| *byte == b'/').unwrap_or(0) }
}

/// The way from a directory to a path, both absolute.
pub fn relative(from: &str, to: &str) -> String {
    let shared = shared(from, to);
    let (mut from, mut to) = (names(&from[shared..]).peekable(), names(&to[shared..]).peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let mut way = String::new();
    for name in from.map(|_| "..").chain(to) {
        if !way.is_empty() {
            way.push('/');
        }
        way.push_str(name);
    }
    if way.is_empty() { ".".to_owned() } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_go() {
        for (path, wanted) in [("", "."), ("/", "/"), ("/../a", "/a"), ("a/../..", ".."), ("//a/./b//", "/a/b")] {
            assert_eq!(clean(path), wanted, "{path:?}");
        }
        assert_eq!((join("/a/b", "../c"), join("/a", "/c/.")), ("/a/c".to_owned(), "/c".to_owned()));
        assert_eq!((parent("/a"), parent("/a/b"), parent("a")), ("/", "/a", "."));
        for (from, to, wanted) in [
            ("/a", "/a", "."),
            ("/a/b", "/a/c/d", "../c/d"),
            ("/", "/a", "a"),
            ("/a", "/", ".."),
            ("/a/bc", "/a/bd", "../bd"),
            ("/a/b", "/a/bc", "../bc"),
            ("/a//b", "/a/b", "."),
            ("/ä", "/ö", "../ö"),
        ] {
            assert_eq!(relative(from, to), wanted, "{from} {to}");
        }
    }
}

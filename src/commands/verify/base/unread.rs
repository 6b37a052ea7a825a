//! Configuration that was unreadable at the base too: it does not block a change that does not touch it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Base, is_read, touches};
use crate::commands::verify::Root;
use crate::disk::files;
use crate::disk::roots::TEST_DIRECTORY;
use crate::error::{Error, ErrorKind};
use crate::path::{RepoPath, lexical};

impl Base {
    /// True if the configuration was unreadable because of files of the base, and the change touches neither its
    /// directory nor the paths that its files name.
    pub fn was_unreadable(&self, root: &Root) -> bool {
        let was_there = |error: &Error| {
            let file = error.file.as_deref().map(RepoPath::of);
            error.kind == ErrorKind::Configuration && file.is_some_and(|it| self.before.tree().kind(&it).is_some())
        };
        let place = &root.settings().place;
        let is_old = root.unread().is_some_and(|error| error.each().all(was_there));
        is_old && !touches(&self.changes, place, root.read()) && !self.touches_named(place)
    }

    /// True if the change touches the files of a directory, or a path that they may name.
    fn touches_named(&self, place: &Path) -> bool {
        let mut known: BTreeSet<PathBuf> = [place.to_owned(), place.join(TEST_DIRECTORY)].into();
        let mut open: Vec<PathBuf> = known.iter().cloned().collect();
        while let Some(directory) = open.pop() {
            for named in named_in(&directory) {
                let is_touched = match &named {
                    Named::Path(path) => self.changes.touch(path) || self.changes.touch_within(path, is_read),
                    Named::Below(path) => self.changes.touch_below(path),
                };
                if is_touched {
                    return true;
                }
                let (Named::Path(path) | Named::Below(path)) = named;
                if path.starts_with(&self.top) && known.insert(path.clone()) {
                    open.push(path);
                }
            }
        }
        false
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Path(PathBuf),
    /// Some path below this one.
    Below(PathBuf),
}

/// The local paths that the files of a directory name. Paths in test files may also be relative to the directory above.
fn named_in(directory: &Path) -> Vec<Named> {
    let names = files::names_in(directory).into_iter().filter(|name| is_read(name));
    let texts = names.filter_map(|name| files::read(&directory.join(name)).ok().flatten());
    let above = directory.parent().filter(|_| directory.ends_with(TEST_DIRECTORY));
    let mut found = Vec::new();
    for text in texts {
        for path in paths_in(&String::from_utf8_lossy(&text)) {
            let from = std::iter::once(directory).chain(above);
            found.extend(from.map(|from| match path.split_once("${") {
                Some((start, _)) => Named::Below(lexical(from, Path::new(start))),
                None => Named::Path(lexical(from, Path::new(path))),
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
        std::fs::create_dir(folder.path().join(TEST_DIRECTORY)).unwrap();
        std::fs::write(folder.path().join("main.tf"), "source = \"../${var.x}/y\"\n").unwrap();
        std::fs::write(folder.path().join("tests/x.tftest.hcl"), "source = \"./z\"\n").unwrap();
        let above = folder.path().parent().unwrap().to_owned();
        assert_eq!(named_in(folder.path()), [Named::Below(above)]);
        let of_tests = ["tests/z", "z"].map(|path| Named::Path(folder.path().join(path)));
        assert_eq!(named_in(&folder.path().join(TEST_DIRECTORY)), of_tests);
    }
}

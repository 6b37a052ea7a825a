//! The git work tree around a directory, found without git.
//!
//! Source: `git help repository-layout` and `git help gitrepository-layout`, as far as it goes by directory entries: the
//! first directory upwards that holds `.git`, a directory or (in linked work trees and submodules) a file.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// The most bytes of a `.git` file, which holds one path.
const LIMIT: u64 = 64 << 10;

/// The top of the work tree that a directory is in, absolute and without symbolic links. None outside of git.
pub fn top(directory: &Path) -> Option<PathBuf> {
    let start = absolute(directory);
    start.ancestors().find(|place| place.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

/// The directory that reading of settings and writing are confined to: the top, or the root module outside of git.
pub fn boundary(root: &Path) -> PathBuf {
    top(root).unwrap_or_else(|| absolute(root))
}

/// The top of the work tree around a directory and the way down from there; none at the top and outside of git.
pub fn above(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let (top, place) = (top(directory)?, absolute(directory));
    let prefix = place.strip_prefix(&top).ok().filter(|prefix| !prefix.as_os_str().is_empty())?;
    Some((top.clone(), prefix.to_owned()))
}

/// The way from the top of the work tree down to a directory, empty at the top; none outside of git.
pub fn place(directory: &Path) -> Option<PathBuf> {
    absolute(directory).strip_prefix(top(directory)?).ok().map(Path::to_owned)
}

/// A directory's absolute path without symbolic links; as far as that can be known.
pub fn absolute(directory: &Path) -> PathBuf {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    std::fs::canonicalize(directory)
        .or_else(|_| std::path::absolute(directory))
        .unwrap_or_else(|_| directory.to_owned())
}

/// A path from a directory, by its text: without `.` and inner `..`.
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

/// The repository that the `.git` at a top is or names, without symbolic links; none if it is neither.
pub(super) fn repository(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    let kind = std::fs::metadata(&entry).ok()?;
    if kind.is_dir() {
        return entry.canonicalize().ok();
    }
    let mut text = String::new();
    kind.is_file().then_some(())?;
    std::fs::File::open(&entry).ok()?.take(LIMIT).read_to_string(&mut text).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    top.join(named).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_linked_directory_is_where_it_leads() {
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        std::fs::create_dir_all(base.join("tree/.git")).unwrap();
        std::fs::create_dir_all(base.join("tree/root")).unwrap();
        std::os::unix::fs::symlink("tree/root", base.join("link")).unwrap();
        assert_eq!(top(&base.join("link")), Some(base.join("tree")));
    }

    #[test]
    fn a_file_names_the_repository() {
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        assert_eq!(repository(&base), None);
        std::fs::create_dir_all(base.join("main/worktrees/x")).unwrap();
        std::fs::write(base.join(".git"), "gitdir: main/worktrees/x\n").unwrap();
        assert_eq!(repository(&base), Some(base.join("main/worktrees/x")));
    }
}

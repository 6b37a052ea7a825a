//! Paths: as git and documents name them, as the file system has them, and where links lead.
//!
//! The folder is below `git` and `disk`: it looks at directory entries and reads no file.

pub mod folding;
pub mod links;
pub mod no_follow;
mod repo_path;
pub mod worktree;

use std::path::{Component, Path, PathBuf};

pub use repo_path::RepoPath;
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

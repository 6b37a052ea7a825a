//! The configuration of a commit, written out where it can be read like any other.

use std::path::Path;

use tempfile::TempDir;

use super::{Commit, Git, GitError};
use crate::config::is_configuration;

/// The most files that are written; above that the configuration counts as not at hand.
const MOST: usize = 5000;

impl Git {
    /// The configuration files of a commit, in a directory that goes away with the value; none if there are too many.
    ///
    /// Installed modules and variable files are no part of it. Names that would leave the directory are left out.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`].
    pub fn configuration(&self, commit: &Commit) -> Result<Option<TempDir>, GitError> {
        let paths: Vec<String> =
            self.tree(commit)?.paths().filter(|name| is_plain_configuration(name)).map(str::to_owned).collect();
        if paths.len() > MOST {
            return Ok(None);
        }
        let failed = |reason: std::io::Error| GitError::Failed { task: "export", reason: reason.to_string() };
        let directory = tempfile::tempdir().map_err(failed)?;
        for (path, bytes) in paths.iter().zip(self.files(commit, &paths)?) {
            let Some(bytes) = bytes else { continue };
            write(directory.path(), path, &bytes).map_err(failed)?;
        }
        Ok(Some(directory))
    }
}

fn is_plain_configuration(path: &str) -> bool {
    let leaves = path.contains(['\n', '\\', ':']) || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    is_configuration(path) && !leaves
}

fn write(directory: &Path, path: &str, bytes: &[u8]) -> std::io::Result<()> {
    let path = directory.join(path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, bytes)
}

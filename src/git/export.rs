//! The configuration of commits, written out where it can be read like any other.

use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;

use super::{Commit, Git, GitError, Tree};
use crate::config::is_configuration;

/// The most files that are written for a commit; above that the configuration counts as not at hand.
const MOST: usize = 20_000;

impl Git {
    /// The configuration files of commits, each in a directory that goes away with the value; none for those that have too
    /// many. Each content is read once, all of them by one process of git.
    ///
    /// Installed modules and variable files are no part of it. Names that would leave the directory are left out.
    pub fn configurations(&self, commits: &[&Commit]) -> Result<Vec<Option<TempDir>>, GitError> {
        let trees = commits.iter().map(|commit| self.tree(commit)).collect::<Result<Vec<Tree>, _>>()?;
        let files: Vec<Vec<(&str, &str)>> = trees.iter().map(configuration).collect();
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
fn configuration(tree: &Tree) -> Vec<(&str, &str)> {
    let paths = tree.paths().filter(|path| is_plain_configuration(path));
    paths.filter_map(|path| Some((path, tree.id(&tree.resolve(path)?)?))).collect()
}

fn is_plain_configuration(path: &str) -> bool {
    let leaves = path.contains(['\n', '\\', ':']) || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    is_configuration(path) && !leaves
}

fn write(files: &[(&str, &str)], texts: &BTreeMap<&str, Vec<u8>>) -> std::io::Result<TempDir> {
    let directory = tempfile::tempdir()?;
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

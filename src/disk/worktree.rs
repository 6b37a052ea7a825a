//! The git work tree around a root module, found without git; and the settings texts on the way to its top.
//!
//! Source: `git help repository-layout`, as far as it goes by directory entries: the first directory upwards
//! that holds `.git`, a directory or (in linked work trees and submodules) a file.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};

/// The name of settings files.
pub const SETTINGS_FILE: &str = ".tflock.hcl";

/// A settings file that is there but cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// The system refused, or it is not a file.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        reason: io::Error,
    },
    /// Text is UTF-8.
    #[error("cannot read {0}: it is not UTF-8 text")]
    NotText(PathBuf),
}

/// A settings file and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsText {
    /// Where it stands, absolute.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

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

/// The settings texts for a root module, the nearest first, up to the top of its work tree and never beyond.
///
/// # Errors
///
/// [`WorktreeError`] if one is there but cannot be read: rules that are not known cannot be kept.
pub fn settings_texts(root: &Path) -> Result<Vec<SettingsText>, WorktreeError> {
    let (root, boundary) = (absolute(root), boundary(root));
    let mut texts = Vec::new();
    for directory in root.ancestors().take_while(|place| place.starts_with(&boundary)) {
        let path = directory.join(SETTINGS_FILE);
        match std::fs::read(&path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => texts.push(SettingsText { path, text }),
                Err(_) => return Err(WorktreeError::NotText(path)),
            },
            // A link that leads nowhere is not an absent file.
            Err(reason) if reason.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {}
            Err(reason) => return Err(WorktreeError::Unreadable { path, reason }),
        }
    }
    Ok(texts)
}

/// A directory's absolute path without symbolic links; as far as that can be known.
pub fn absolute(directory: &Path) -> PathBuf {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    std::fs::canonicalize(directory)
        .or_else(|_| std::path::absolute(directory))
        .unwrap_or_else(|_| directory.to_owned())
}

impl From<WorktreeError> for Error {
    fn from(error: WorktreeError) -> Self {
        let (WorktreeError::Unreadable { path, .. } | WorktreeError::NotText(path)) = &error;
        Self::new(ErrorKind::Settings, error.to_string()).in_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(root: &Path) -> Vec<String> {
        settings_texts(root).unwrap().into_iter().map(|settings| settings.text).collect()
    }

    #[test]
    fn settings_are_searched_up_to_the_top() {
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        let (tree, root) = (base.join("tree"), base.join("tree/a/b"));
        std::fs::create_dir_all(&root).unwrap();
        for (place, text) in [("", "beyond"), ("tree", "top"), ("tree/a/b", "root")] {
            std::fs::write(base.join(place).join(SETTINGS_FILE), text).unwrap();
        }
        // Temporary directories are not in a work tree, or else this says nothing.
        if top(&base).is_none() {
            assert_eq!(texts(&root), ["root"]);
            assert_eq!(boundary(&root), root);
        }
        std::fs::write(tree.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(top(&root), Some(tree.clone()));
        assert_eq!(texts(&root), ["root", "top"]);
        assert_eq!(texts(&tree), ["top"]);
        std::fs::create_dir(tree.join("a/.git")).unwrap();
        assert_eq!(texts(&root), ["root"]);
    }

    #[test]
    fn settings_that_cannot_be_read_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join(".git")).unwrap();
        std::fs::create_dir(directory.path().join(SETTINGS_FILE)).unwrap();
        let error = settings_texts(directory.path()).unwrap_err();
        assert!(matches!(error, WorktreeError::Unreadable { .. }));
        assert_eq!(Error::from(error).kind, ErrorKind::Settings);
        std::fs::remove_dir(directory.path().join(SETTINGS_FILE)).unwrap();
        std::fs::write(directory.path().join(SETTINGS_FILE), b"\xff").unwrap();
        assert!(matches!(settings_texts(directory.path()), Err(WorktreeError::NotText(_))));
    }

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
}

//! The settings texts on the way from a root module to the top of its working tree.

use std::path::{Path, PathBuf};

use super::text;
use crate::error::{Error, ErrorKind};
use crate::path::worktree::WorkTree;
use crate::settings::FILE_NAME;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsText {
    /// Where it is, absolute.
    pub path: PathBuf,
    pub text: String,
}

/// The settings texts for a root module, the nearest first, up to the top of its working tree and never beyond.
pub fn settings_texts(root: &WorkTree) -> Result<Vec<SettingsText>, Error> {
    let read = |directory: &Path| {
        let path = directory.join(FILE_NAME);
        Ok(text::read_text(&path, &path, ErrorKind::Settings)?.map(|text| SettingsText { path, text }))
    };
    root.within().filter_map(|directory| read(directory).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::worktree::{boundary, top};

    fn texts(root: &Path) -> Vec<String> {
        settings_texts(&WorkTree::of(root)).unwrap().into_iter().map(|settings| settings.text).collect()
    }

    #[test]
    fn settings_are_searched_up_to_the_top() {
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        let (tree, root) = (base.join("tree"), base.join("tree/a/b"));
        std::fs::create_dir_all(&root).unwrap();
        for (place, text) in [("", "beyond"), ("tree", "top"), ("tree/a/b", "root")] {
            std::fs::write(base.join(place).join(FILE_NAME), text).unwrap();
        }
        // Temporary directories are not in a working tree, or else this says nothing.
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
        std::fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
        let place = WorkTree::of(directory.path());
        let error = settings_texts(&place).unwrap_err();
        assert_eq!((error.kind, error.file), (ErrorKind::Settings, Some(place.directory.join(FILE_NAME))));
        std::fs::remove_dir(directory.path().join(FILE_NAME)).unwrap();
        std::fs::write(directory.path().join(FILE_NAME), b"\xff").unwrap();
        assert!(settings_texts(&WorkTree::of(directory.path())).unwrap_err().message.ends_with("it is not UTF-8 text"));
    }
}

//! One commit as far as it is believed or compared: its settings, and which files it has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{name_of, slashed};
use crate::error::{Error, ErrorKind};
use crate::git::{Commit, Git, GitError, Tree};
use crate::settings::{self, Settings};

/// One commit.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// As people call it.
    name: String,
    tree: Arc<Tree>,
    /// The texts of settings files by their paths; none for those that cannot be read.
    settings: BTreeMap<String, Option<Vec<u8>>>,
}

impl Snapshot {
    pub(super) fn load(git: &Git, commit: &Commit) -> Result<Self, GitError> {
        let tree = git.tree(commit)?;
        let files: Vec<&str> = tree.paths().filter(|path| name_of(path) == settings::FILE_NAME).collect();
        let texts = git.files_of(&tree, &files)?;
        let settings = files.into_iter().map(str::to_owned).zip(texts).collect();
        Ok(Self { name: commit.shown(), tree: Arc::new(tree), settings })
    }

    /// All files of the commit.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The paths of files with a name, from the top.
    pub(super) fn paths<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.tree.paths().filter(move |path| name_of(path) == name)
    }

    /// The names of files in a directory.
    pub(super) fn names(&self, directory: &str) -> impl Iterator<Item = &str> {
        let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        self.tree.paths().filter_map(move |path| path.strip_prefix(&prefix)).filter(|rest| !rest.contains('/'))
    }

    /// The settings for a directory, from the top: those there over those around it.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub(super) fn effective(&self, directory: &Path) -> Result<Settings, Error> {
        effective(directory, |path| match self.settings.get(&slashed(path)).cloned() {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text)),
            Some(None) => {
                let message = format!("cannot read {} of {}", path.display(), self.name);
                Err(Error::new(ErrorKind::Settings, message).in_file(path))
            }
        })
    }
}

/// The settings for a directory: those there over those around it, of which `read` knows the texts.
pub(super) fn effective(
    directory: &Path,
    read: impl Fn(&Path) -> Result<Option<Vec<u8>>, Error>,
) -> Result<Settings, Error> {
    let (mut all, mut errors) = (Settings::default(), Vec::new());
    let around: Vec<&Path> = directory.ancestors().collect();
    for place in around.into_iter().rev() {
        let path: PathBuf = place.join(settings::FILE_NAME);
        let Some(text) = read(&path)? else { continue };
        let Ok(text) = String::from_utf8(text) else {
            let message = format!("cannot read {}: it is not UTF-8 text", path.display());
            return Err(Error::new(ErrorKind::Settings, message).in_file(path));
        };
        match settings::decode(&text, &path) {
            Ok(nested) => all = nested.stated_in(place).over(all),
            Err(wrong) => errors.extend(wrong.into_iter().map(Error::from)),
        }
    }
    Error::all(errors).map_or(Ok(all), Err)
}

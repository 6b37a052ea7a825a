//! The settings and files of one commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{directory_of, name_of};
use crate::error::{Error, ErrorKind};
use crate::git::{Commit, Git, GitError, Tree};
use crate::path::{RepoPath, shown};
use crate::settings::{self, Settings};
use crate::workspace::Exclusions;

#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    /// The name for users.
    name: String,
    tree: Arc<Tree>,
    /// The texts of settings files by path; `None` for unreadable ones.
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

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The paths of files with this name, relative to the top.
    pub(super) fn paths<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.tree.paths().filter(move |path| name_of(path) == name)
    }

    /// The effective settings of a directory, relative to the top.
    pub(super) fn effective(&self, directory: &str) -> Result<Settings, Error> {
        effective(Path::new(directory), |path| match self.settings.get(&*RepoPath::of(path)).cloned() {
            None => Ok(None),
            Some(Some(text)) => Ok(Some(text)),
            Some(None) => {
                let message = format!("cannot read {} of {}", shown(path), self.name);
                Err(Error::new(ErrorKind::Settings, message).in_file(path))
            }
        })
    }

    /// The strictest combination of the settings of some directories; `None` if there are no directories.
    pub(super) fn strictest(&self, directories: &BTreeSet<String>) -> Result<Option<Settings>, Error> {
        let nearest = |directory: &String| {
            let has_settings =
                |above: &&Path| self.settings.contains_key(&*RepoPath::of(above).join(settings::FILE_NAME));
            Path::new(directory).ancestors().find(has_settings).map(RepoPath::of).unwrap_or_default()
        };
        let stated: BTreeSet<RepoPath> = directories.iter().map(nearest).collect();
        let mut strictest: Option<Settings> = None;
        for directory in stated {
            let settings = self.effective(&directory)?;
            strictest = Some(match strictest {
                None => settings,
                Some(known) => known.and_stricter(&settings),
            });
        }
        Ok(strictest)
    }

    /// The directories that all settings files exclude from the search below this top. Invalid files are errors later,
    /// when the settings are used.
    pub(super) fn exclusions(&self, top: &Path) -> Exclusions {
        let stated = self.settings.iter().filter_map(|(path, text)| {
            let text = std::str::from_utf8(text.as_ref()?).ok()?;
            Some(settings::decode(text, Path::new(path)).ok()?.stated_in(&top.join(directory_of(path))))
        });
        stated.collect()
    }
}

/// The effective settings of a directory: its own over those of outer directories. `read` returns the texts.
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
            let message = format!("cannot read {}: it is not UTF-8 text", shown(&path));
            return Err(Error::new(ErrorKind::Settings, message).in_file(path));
        };
        match settings::decode(&text, &path) {
            Ok(nested) => all = nested.stated_in(place).over(all),
            Err(wrong) => errors.extend(wrong),
        }
    }
    Error::all(errors).map_or(Ok(all), Err)
}

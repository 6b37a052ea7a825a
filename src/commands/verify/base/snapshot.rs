//! The settings and files of one commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
        let (mut all, mut errors) = (Settings::default(), Vec::new());
        let around: Vec<&Path> = Path::new(directory).ancestors().collect();
        for place in around.into_iter().rev() {
            match self.over(place, std::mem::take(&mut all)) {
                Ok(settings) => all = settings,
                Err(error) => errors.push(error),
            }
        }
        Error::all(errors).map_or(Ok(all), Err)
    }

    /// The settings file of a directory over the settings further out.
    pub(super) fn over(&self, directory: &Path, outer: Settings) -> Result<Settings, Error> {
        let path = directory.join(settings::FILE_NAME);
        let text = match self.settings.get(&*RepoPath::of(&path)).cloned() {
            None => None,
            Some(Some(text)) => Some(text),
            Some(None) => {
                let message = format!("cannot read {} of {}", shown(&path), self.name);
                return Err(Error::new(ErrorKind::Settings, message).in_file(path));
            }
        };
        over(directory, text, outer)
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

/// The settings of a directory, if it has any, over those further out.
pub(super) fn over(directory: &Path, text: Option<Vec<u8>>, outer: Settings) -> Result<Settings, Error> {
    let Some(text) = text else { return Ok(outer) };
    let path = directory.join(settings::FILE_NAME);
    let Ok(text) = String::from_utf8(text) else {
        let message = format!("cannot read {}: it is not UTF-8 text", shown(&path));
        return Err(Error::new(ErrorKind::Settings, message).in_file(path));
    };
    match settings::decode(&text, &path) {
        Ok(nested) => nested.stated_in(directory).over(outer).bounded(&path),
        Err(wrong) => Error::all(wrong).map_or(Ok(outer), Err),
    }
}

/// An error of git, with next steps for the gate.
pub(super) fn git_error(error: GitError, revision: &str) -> Error {
    let deepen = "fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI";
    let said = Error::new(ErrorKind::Usage, error.to_string());
    match error {
        GitError::NoWorkTree { ref reason, .. } if reason.contains("dubious ownership") => error.into(),
        GitError::NoWorkTree { .. } => said.hint("--base compares with a revision of git: run in a clone"),
        GitError::Start(_) => said.hint("install git: --base needs it"),
        GitError::NoMergeBase { .. } => said.hint(format!("if they have one elsewhere, {deepen}")),
        GitError::UnknownName { shallow, ref remote, .. } => {
            let is_reported = shallow || remote.is_some();
            let message = format!("--base: {revision:?} is not a revision in this clone");
            let said = Error { message, ..Error::from(error) };
            if is_reported { said } else { said.hint(format!("a clone may lack other branches; {deepen}")) }
        }
        GitError::AmbiguousName { .. } => {
            let refused = Error::from(error);
            Error {
                message: format!("--base: {}, and anyone who may push a tag or a branch could choose", refused.message),
                ..refused
            }
        }
        GitError::TooShallow { .. }
        | GitError::OtherRepository { .. }
        | GitError::Partial
        | GitError::Interrupted(_)
        | GitError::TooSlow { .. }
        | GitError::TooLarge { .. }
        | GitError::Failed { .. } => error.into(),
    }
}

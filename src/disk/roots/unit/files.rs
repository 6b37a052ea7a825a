//! The files of the working tree that a unit may read. What is read, and what is looked for in vain, is recorded: it decides which
//! requirements a lock file is compared with.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::disk::files;
use crate::git::Git;
use crate::parallel::locked;
use crate::path::links::{self, FileRefusal};
use crate::path::{RepoPath, folded_name};
use crate::terragrunt::{Files, Found};

/// Directories that are no part of a repository.
const OUTSIDE: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

/// The files that repositories consist of, by the tops of their working trees; found once in a run.
#[derive(Debug, Default)]
pub struct RepositoryFiles(Mutex<HashMap<PathBuf, Option<Arc<HashSet<String>>>>>);

impl RepositoryFiles {
    /// The files of a working tree; `None` outside of git.
    fn of(&self, top: &Path) -> Option<Arc<HashSet<String>>> {
        let list = || Some(Arc::new(Git::open(top).ok()?.repository_files().ok()?));
        locked(&self.0).entry(top.to_owned()).or_insert_with(list).clone()
    }
}

/// The files below the top of a working tree.
pub(super) struct UnitFiles<'t> {
    top: &'t Path,
    /// What git tracks or would track; `None` outside of git.
    repository: Option<Arc<HashSet<String>>>,
    record: RefCell<Record>,
}

/// What was read, by absolute path.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    pub(super) read: BTreeSet<PathBuf>,
    /// What does not exist.
    pub(super) looked_for: BTreeSet<PathBuf>,
    /// Directories whose existence counts.
    pub(super) listed: BTreeSet<PathBuf>,
}

impl<'t> UnitFiles<'t> {
    pub(super) fn new(top: &'t Path, repositories: &RepositoryFiles) -> Self {
        Self { top, repository: repositories.of(top), record: RefCell::default() }
    }

    /// Notes a file that is read, unless git ignores it.
    fn take(&self, place: PathBuf) -> Result<(), String> {
        let is_ignored = self.repository.as_ref().is_some_and(|files| {
            let real = links::resolve(&place).unwrap_or_else(|_| place.clone());
            RepoPath::below(self.top, &real).is_none_or(|path| !files.contains(&*path))
        });
        if is_ignored {
            return Err("which git ignores".to_owned());
        }
        self.record.borrow_mut().read.insert(place);
        Ok(())
    }

    pub(super) fn record(&self) -> Record {
        self.record.borrow().clone()
    }

    /// The place of a path, if it is a part of the repository; else why it is not.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        let path = PathBuf::from(path);
        let Ok(within) = path.strip_prefix(self.top) else {
            return Err("which is outside of the working tree".to_owned());
        };
        let mut names = within.components().map(|name| folded_name(&name.as_os_str().to_string_lossy()));
        match names.find(|name| OUTSIDE.contains(&&**name)) {
            Some(name) => Err(format!("which is in {name} and so not a part of the repository")),
            None => Ok(path),
        }
    }

    /// What an error says of a path.
    fn absent<T>(&self, path: PathBuf, error: &io::Error) -> Found<T> {
        match (error.kind(), FileRefusal::of(error)) {
            (_, Some(refusal)) => Found::Denied(format!("which is not read: {refusal}")),
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, None) => {
                self.record.borrow_mut().looked_for.insert(path);
                Found::Missing
            }
            _ => Found::Denied(format!("which cannot be read: {error}")),
        }
    }
}

impl Files for UnitFiles<'_> {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        match files::read(&place) {
            Ok(Some(bytes)) => match self.take(place) {
                Ok(()) => Found::Is(bytes.into()),
                Err(reason) => Found::Denied(reason),
            },
            Ok(None) => self.absent(place, &io::ErrorKind::NotFound.into()),
            Err(error) => self.absent(place, &error),
        }
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        match links::resolve(&place).and_then(std::fs::metadata) {
            Ok(meta) if meta.is_dir() => {
                self.record.borrow_mut().listed.insert(place);
                Found::Is(true)
            }
            Ok(_) => match self.take(place) {
                Ok(()) => Found::Is(false),
                Err(reason) => Found::Denied(reason),
            },
            Err(error) => self.absent(place, &error),
        }
    }
    fn list(&self, path: &str) -> Found<Vec<(String, bool)>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        let entries = match links::resolve(&place).and_then(std::fs::read_dir) {
            Ok(entries) => entries,
            Err(error) => return self.absent(place, &error),
        };
        self.record.borrow_mut().listed.insert(place.clone());
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let kept = names.filter_map(|name| match self.is_directory(&format!("{path}/{name}")) {
            Found::Is(is_directory) => Some((name, is_directory)),
            Found::Missing | Found::Denied(_) => None,
        });
        Found::Is(kept.collect())
    }
}

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

/// What units of one run read of their repositories.
#[derive(Debug, Default)]
pub struct RepositoryFiles {
    /// The files that repositories consist of, by the tops of their working trees.
    lists: Mutex<HashMap<PathBuf, Option<Arc<HashSet<String>>>>>,
    texts: Mutex<HashMap<PathBuf, Found<Arc<[u8]>>>>,
    directories: Mutex<HashMap<PathBuf, Found<bool>>>,
}

impl RepositoryFiles {
    /// The files of a working tree; `None` outside of git.
    fn of(&self, top: &Path) -> Option<Arc<HashSet<String>>> {
        let list = || Some(Arc::new(Git::open(top).ok()?.repository_files().ok()?));
        locked(&self.lists).entry(top.to_owned()).or_insert_with(list).clone()
    }
}

/// What was found first at a path.
fn once<T: Clone>(
    known: &Mutex<HashMap<PathBuf, Found<T>>>,
    place: &Path,
    look: impl FnOnce() -> Found<T>,
) -> Found<T> {
    if let Some(found) = locked(known).get(place) {
        return found.clone();
    }
    let found = look();
    locked(known).insert(place.to_owned(), found.clone());
    found
}

/// The files below the top of a working tree.
pub(super) struct UnitFiles<'t> {
    top: &'t Path,
    /// What git tracks or would track; `None` outside of git.
    repository: Option<Arc<HashSet<String>>>,
    /// What other units found.
    repositories: &'t RepositoryFiles,
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
    pub(super) fn new(top: &'t Path, repositories: &'t RepositoryFiles) -> Self {
        Self { top, repository: repositories.of(top), repositories, record: RefCell::default() }
    }

    /// True for what is no part of the repository.
    fn is_ignored(&self, place: &Path) -> bool {
        self.repository.as_ref().is_some_and(|files| {
            let real = links::resolve(place).unwrap_or_else(|_| place.to_owned());
            RepoPath::below(self.top, &real).is_none_or(|path| !files.contains(&*path))
        })
    }

    fn text_at(&self, place: &Path) -> Found<Arc<[u8]>> {
        match files::read(place) {
            Ok(Some(_)) if self.is_ignored(place) => ignored(),
            Ok(Some(bytes)) => Found::Is(bytes.into()),
            Ok(None) => Found::Missing,
            Err(error) => absent(&error),
        }
    }

    fn directory_at(&self, place: &Path) -> Found<bool> {
        match links::resolve(place).and_then(std::fs::metadata) {
            Ok(meta) if meta.is_dir() => Found::Is(true),
            Ok(_) if self.is_ignored(place) => ignored(),
            Ok(_) => Found::Is(false),
            Err(error) => absent(&error),
        }
    }

    pub(super) fn record(&self) -> Record {
        self.record.borrow().clone()
    }

    /// The place of a path, if it is a part of the repository; else why it is not.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        part_of(self.top, PathBuf::from(path))
    }
}

/// A path, if it may be a part of the repository; else why it is not.
pub(super) fn part_of(top: &Path, path: PathBuf) -> Result<PathBuf, String> {
    let Ok(within) = path.strip_prefix(top) else {
        return Err("which is outside of the working tree".to_owned());
    };
    let mut names = within.components().map(|name| folded_name(&name.as_os_str().to_string_lossy()));
    match names.find(|name| OUTSIDE.contains(&&**name)) {
        Some(name) => Err(format!("which is in {name} and so not a part of the repository")),
        None => Ok(path),
    }
}

fn ignored<T>() -> Found<T> {
    Found::Denied("which git ignores".to_owned())
}

/// What an error says of a path.
fn absent<T>(error: &io::Error) -> Found<T> {
    match (error.kind(), FileRefusal::of(error)) {
        (_, Some(refusal)) => Found::Denied(format!("which is not read: {refusal}")),
        (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, None) => Found::Missing,
        _ => Found::Denied(format!("which cannot be read: {error}")),
    }
}

impl Files for UnitFiles<'_> {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        let found = once(&self.repositories.texts, &place, || self.text_at(&place));
        let mut record = self.record.borrow_mut();
        match &found {
            Found::Is(_) => record.read.insert(place),
            Found::Missing => record.looked_for.insert(place),
            Found::Denied(_) => false,
        };
        found
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        let found = once(&self.repositories.directories, &place, || self.directory_at(&place));
        let mut record = self.record.borrow_mut();
        match &found {
            Found::Is(true) => record.listed.insert(place),
            Found::Is(false) => record.read.insert(place),
            Found::Missing => record.looked_for.insert(place),
            Found::Denied(_) => false,
        };
        found
    }

    fn list(&self, path: &str) -> Found<Vec<(String, bool)>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        let entries = match links::resolve(&place).and_then(std::fs::read_dir) {
            Ok(entries) => entries,
            Err(error) => {
                let found = absent(&error);
                if found == Found::Missing {
                    self.record.borrow_mut().looked_for.insert(place);
                }
                return found;
            }
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

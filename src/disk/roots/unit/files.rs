//! The files of the working tree that a unit may read. What is read, and what is looked for in vain, is recorded: it decides which
//! requirements a lock file is compared with.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::DirEntry;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::disk::files;
use crate::git::Git;
use crate::parallel::locked;
use crate::path::links::{self, FileRefusal};
use crate::path::{RepoPath, folded_name};
use crate::terragrunt::{DirectoryEntry, EntryKind, Files, Found};

/// Directories that are no part of a repository.
const OUTSIDE: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

const OUTSIDE_OF_TREE: &str = "which is outside of the working tree";

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

/// What a unit depends on, by the paths that it names.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// Each path that was asked for, whatever the answer was.
    pub(super) asked: BTreeSet<PathBuf>,
    /// The files among them that were read.
    pub(super) read: BTreeSet<PathBuf>,
    /// Those of which each byte counts.
    pub(super) texts: BTreeSet<PathBuf>,
    /// The directories whose names count.
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

    /// The place of a path, if it is a part of the repository; else why it is not. Whatever is read passes here, so all is recorded.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        self.record.borrow_mut().asked.insert(PathBuf::from(path));
        self.part(path)
    }

    fn part(&self, path: &str) -> Result<PathBuf, String> {
        part_of(self.top, place_of(self.top, path).ok_or(OUTSIDE_OF_TREE)?)
    }

    /// What is in a directory by a name.
    fn entry(&self, path: &str, entry: &DirEntry) -> Found<EntryKind> {
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            return match self.is_directory(path) {
                Found::Is(true) => Found::Is(EntryKind::LinkedDirectory),
                Found::Is(false) => Found::Is(EntryKind::File),
                Found::Missing => Found::Missing,
                Found::Denied(reason) => Found::Denied(reason),
            };
        }
        // What is in the directory itself counts as a part of its list.
        let place = match self.part(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        match self.directory_at(&place) {
            Found::Is(true) => Found::Is(EntryKind::Directory),
            Found::Is(false) => Found::Is(EntryKind::File),
            Found::Missing => Found::Missing,
            Found::Denied(reason) => Found::Denied(reason),
        }
    }
}

/// An absolute place as units name it: on every system `/` and names, without the drive or the share of Windows.
pub(super) fn path_of(place: &Path) -> String {
    let names = place.components().filter_map(|part| match part {
        Component::Normal(name) => Some(format!("/{}", name.to_string_lossy())),
        _ => None,
    });
    names.collect()
}

/// The place in a working tree that units name so; `None` outside of it.
pub fn place_of(top: &Path, path: &str) -> Option<PathBuf> {
    let way = path.strip_prefix(&*path_of(top)).filter(|way| way.is_empty() || way.starts_with('/'))?;
    let mut place = top.to_owned();
    // Name by name: Windows knows no `/` in the long form of a path, and takes `C:` for a drive.
    place.extend(way.split('/').filter(|name| !name.is_empty()));
    place.starts_with(top).then_some(place)
}

/// A path, if it may be a part of the repository; else why it is not.
pub(super) fn part_of(top: &Path, path: PathBuf) -> Result<PathBuf, String> {
    let Ok(within) = path.strip_prefix(top) else { return Err(OUTSIDE_OF_TREE.to_owned()) };
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
        if matches!(found, Found::Is(_)) {
            self.record.borrow_mut().read.insert(PathBuf::from(path));
        }
        found
    }

    fn note_text(&self, path: &str) {
        self.record.borrow_mut().texts.insert(PathBuf::from(path));
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        match self.place(path) {
            Ok(place) => once(&self.repositories.directories, &place, || self.directory_at(&place)),
            Err(reason) => Found::Denied(reason),
        }
    }

    fn list(&self, path: &str) -> Found<Vec<DirectoryEntry>> {
        let place = match self.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        self.record.borrow_mut().listed.insert(PathBuf::from(path));
        let entries = links::resolve(&place).and_then(std::fs::read_dir).and_then(Iterator::collect);
        let entries: Vec<DirEntry> = match entries {
            Ok(entries) => entries,
            Err(error) => return absent(&error),
        };
        let mut found = Vec::new();
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else {
                return Found::Denied(format!("which is not read: {}", FileRefusal::Name));
            };
            let kind = self.entry(&format!("{path}/{name}"), &entry);
            found.push(DirectoryEntry { name, kind });
        }
        Found::Is(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_one_name_on_every_system() {
        let top = Path::new(if cfg!(windows) { r"\\?\C:\w\tree" } else { "/w/tree" });
        assert_eq!(path_of(top), "/w/tree");
        for (path, way) in [("/w/tree", vec![]), ("/w/tree/live/a", vec!["live", "a"])] {
            let place = way.iter().fold(top.to_owned(), |place, name| place.join(name));
            assert_eq!((place_of(top, path), path_of(&place)), (Some(place.clone()), path.to_owned()));
        }
        for path in ["/w", "/w/treehouse/a", "/other", "live"] {
            assert_eq!(place_of(top, path), None, "{path}");
        }
        // To push the name of a drive leads away from the working tree.
        assert_eq!(place_of(top, "/w/tree/D:/a").is_none(), cfg!(windows));
    }
}

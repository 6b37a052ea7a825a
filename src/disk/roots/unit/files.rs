//! The files of the working tree that a unit may read. What is read, and what is looked for in vain, is recorded: it decides which
//! requirements a lock file is compared with.
//!
//! All is kept by the text of its path, as the unit names it: hashing or comparing a [`Path`] goes through its names one by one.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::DirEntry;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::disk::files;
use crate::git::{Git, GitError};
use crate::parallel::locked;
use crate::path::links::{self, FileRefusal, is_absence};
use crate::path::{RepoPath, folded_name};
use crate::terragrunt::{DirectoryEntry, EntryKind, Files, Found};

/// Directories that are no part of a repository.
const OUTSIDE: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

const OUTSIDE_OF_TREE: &str = "which is outside of the working tree";

/// What units of one run read of their repositories, by the tops of the working trees.
#[derive(Debug, Default)]
pub struct RepositoryFiles(Mutex<HashMap<PathBuf, Arc<Repository>>>);

impl RepositoryFiles {
    fn of(&self, top: &Path) -> Arc<Repository> {
        let repository = || Arc::new(Repository::open(top));
        locked(&self.0).entry(top.to_owned()).or_insert_with(repository).clone()
    }
}

/// What units read below the top of one working tree.
#[derive(Debug)]
struct Repository {
    top: PathBuf,
    /// The top as units name it.
    top_path: String,
    /// What git tracks or would track; `None` outside of git. Else why it does not say that.
    list: Result<Option<HashSet<String>>, GitError>,
    texts: Mutex<HashMap<String, Found<Arc<[u8]>>>>,
    directories: Mutex<HashMap<String, Found<bool>>>,
}

/// What was found first at a path.
fn once<T: Clone>(known: &Mutex<HashMap<String, Found<T>>>, path: &str, look: impl FnOnce() -> Found<T>) -> Found<T> {
    if let Some(found) = locked(known).get(path) {
        return found.clone();
    }
    let found = look();
    locked(known).insert(path.to_owned(), found.clone());
    found
}

impl Repository {
    fn open(top: &Path) -> Self {
        let list = Git::around(top).and_then(|git| git.map(|git| git.repository_files()).transpose());
        let (top, top_path) = (top.to_owned(), path_of(top));
        Self { top, top_path, list, texts: Mutex::default(), directories: Mutex::default() }
    }

    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        let read = || self.place(path).map_or_else(Found::Denied, |place| self.text_at(&place));
        once(&self.texts, path, read)
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        let look = || self.place(path).map_or_else(Found::Denied, |place| self.directory_at(&place));
        once(&self.directories, path, look)
    }

    /// The place of a path, if it is a part of the repository; else why it is not.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        part_of(&self.top, place_below(&self.top, &self.top_path, path).ok_or(OUTSIDE_OF_TREE)?)
    }

    /// What was found at a place, if that is a part of the repository; else why that is not so or not known.
    fn part<T>(&self, place: &Path, found: T) -> Found<T> {
        let files = match &self.list {
            Ok(None) => return Found::Is(found),
            Ok(Some(files)) => files,
            Err(error) => return Found::Denied(format!("which git may ignore ({error})")),
        };
        let real = links::resolve(place).unwrap_or_else(|_| place.to_owned());
        match RepoPath::below(&self.top, &real) {
            Some(path) if files.contains(&*path) => Found::Is(found),
            _ => Found::Denied("which git ignores".to_owned()),
        }
    }

    fn text_at(&self, place: &Path) -> Found<Arc<[u8]>> {
        match files::read(place) {
            Ok(Some(bytes)) => self.part(place, bytes.into()),
            Ok(None) => Found::Missing,
            Err(error) => absent(&error),
        }
    }

    fn directory_at(&self, place: &Path) -> Found<bool> {
        match links::resolve(place).and_then(std::fs::metadata) {
            Ok(meta) if meta.is_dir() => Found::Is(true),
            Ok(_) => self.part(place, false),
            Err(error) => absent(&error),
        }
    }
}

/// The files that one unit may read. Whatever it asks for passes here, so all is recorded.
pub(super) struct UnitFiles {
    repository: Arc<Repository>,
    record: RefCell<Record>,
}

/// What a unit depends on, by the paths that it names.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// Each path that was asked for, whatever the answer was.
    pub(super) asked: BTreeSet<String>,
    /// The files among them that were read.
    pub(super) read: BTreeSet<String>,
    /// Those of which each byte counts.
    pub(super) texts: BTreeSet<String>,
    /// The directories whose names count.
    pub(super) listed: BTreeSet<String>,
}

impl UnitFiles {
    pub(super) fn new(top: &Path, repositories: &RepositoryFiles) -> Self {
        Self { repository: repositories.of(top), record: RefCell::default() }
    }

    pub(super) fn into_record(self) -> Record {
        self.record.into_inner()
    }

    fn note_asked(&self, path: &str) {
        add(&mut self.record.borrow_mut().asked, path);
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
        match self.repository.is_directory(path) {
            Found::Is(true) => Found::Is(EntryKind::Directory),
            Found::Is(false) => Found::Is(EntryKind::File),
            Found::Missing => Found::Missing,
            Found::Denied(reason) => Found::Denied(reason),
        }
    }
}

fn add(paths: &mut BTreeSet<String>, path: &str) {
    if !paths.contains(path) {
        paths.insert(path.to_owned());
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
    place_below(top, &path_of(top), path)
}

/// The same; `top_path` is the top as units name it.
fn place_below(top: &Path, top_path: &str, path: &str) -> Option<PathBuf> {
    let way = path.strip_prefix(top_path).filter(|way| way.is_empty() || way.starts_with('/'))?;
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

/// What an error says of a path.
fn absent<T>(error: &io::Error) -> Found<T> {
    match (error.kind(), FileRefusal::of(error)) {
        (_, Some(refusal)) => Found::Denied(format!("which is not read: {refusal}")),
        (kind, None) if is_absence(kind) => Found::Missing,
        _ => Found::Denied(format!("which cannot be read: {error}")),
    }
}

impl Files for UnitFiles {
    fn read(&self, path: &str) -> Found<Arc<[u8]>> {
        self.note_asked(path);
        let found = self.repository.read(path);
        if matches!(found, Found::Is(_)) {
            add(&mut self.record.borrow_mut().read, path);
        }
        found
    }

    fn note_text(&self, path: &str) {
        add(&mut self.record.borrow_mut().texts, path);
    }

    fn is_directory(&self, path: &str) -> Found<bool> {
        self.note_asked(path);
        self.repository.is_directory(path)
    }

    fn list(&self, path: &str) -> Found<Vec<DirectoryEntry>> {
        self.note_asked(path);
        let place = match self.repository.place(path) {
            Ok(place) => place,
            Err(reason) => return Found::Denied(reason),
        };
        add(&mut self.record.borrow_mut().listed, path);
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
    use crate::path::canonical;

    #[test]
    fn a_failure_of_git_is_no_tree_without_git() {
        let folder = tempfile::tempdir().unwrap();
        let top = canonical(folder.path()).unwrap();
        std::fs::write(top.join("a.hcl"), "").unwrap();
        let read = || Repository::open(&top).read(&path_of(&top.join("a.hcl")));
        assert!(matches!(read(), Found::Is(_)));
        // The directory of no repository.
        std::fs::create_dir(top.join(".git")).unwrap();
        assert!(matches!(read(), Found::Denied(_)));
    }

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

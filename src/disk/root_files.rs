//! The files of root modules and working trees, each read and written by its rules: lock file, trust file, settings, attributes,
//! state and reports; and the locks on their directories, for concurrent runs. A working tree has one trust file, at the top; outside of
//! git it is next to the root module.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::atomic::{self, FileMode, NewFile, StoreError, Stored, bare, failed, new_file, put_in_place, set_mode};
use super::files;
use super::waiting::{self, Waited};
use crate::error::{Error, ErrorKind};
use crate::git::tracked;
use crate::interrupt::{Interrupt, What};
use crate::path::links::{self, FileRefusal};
use crate::path::shown;
use crate::path::worktree::{self, WorkTree};
use crate::settings;
use crate::trust::pins;

/// True for a symbolic link, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

pub fn read_lock_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    files::read(path).map_err(|reason| {
        let (refusal, path) = (FileRefusal::of(&reason), bare(path));
        let message = match refusal {
            Some(FileRefusal::TooLarge) => format!("the lock file {} is larger than 16 MiB", shown(&path)),
            _ => format!("cannot read the lock file {}: {reason}", shown(&path)),
        };
        let hint = match refusal {
            _ if reason.kind() == io::ErrorKind::IsADirectory => {
                Some("move the directory away, and restore the file from version control")
            }
            Some(FileRefusal::TooLarge) => Some("restore the file from version control"),
            Some(FileRefusal::Nowhere | FileRefusal::Circle) => Some("fix the symbolic link, or remove it"),
            Some(FileRefusal::Outside | FileRefusal::Repository) => {
                Some("replace the symbolic link by a file in the working tree")
            }
            // `ERROR_SHARING_VIOLATION` or `ERROR_LOCK_VIOLATION`.
            None if cfg!(windows) && matches!(reason.raw_os_error(), Some(32 | 33)) => {
                Some("close the program that has it open, and run again")
            }
            Some(FileRefusal::NotAFile | FileRefusal::Name) | None => None,
        };
        Error::new(ErrorKind::LockFile, message).in_file(path).hints(hint)
    })
}

/// A lock on a directory: while it lives, no other run has the lock for writing.
///
/// It creates no file in the directory: the directory itself is locked (on Windows, a file in the temporary directory). A
/// run keeps it while it reads or writes files, never during a request, and never waits for a second lock; except in the
/// package store, where runs wait for another run's download, and all take the locks in one order.
#[derive(Debug)]
pub struct DirectoryLock {
    /// Closing it gives the lock back. Where the file system knows no locks it means none.
    _handle: File,
}

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same where others may be downloading.
const LONG_PATIENCE: Duration = Duration::from_secs(600);

impl DirectoryLock {
    /// The lock for writing; waits for others who read or write there, a minute at most.
    pub fn acquire(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock, PATIENCE)
    }

    /// The lock for writing where others may be downloading: waits for them ten minutes.
    pub fn acquire_patiently(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock, LONG_PATIENCE)
    }

    /// The lock for reading, which others may have too; waits for those who write there, a minute at most.
    pub fn acquire_shared(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock_shared, PATIENCE)
    }

    /// The lock for reading, waited for as long.
    pub fn acquire_shared_patiently(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock_shared, LONG_PATIENCE)
    }

    fn wait(
        directory: &Path,
        lock: fn(&File) -> Result<(), TryLockError>,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let handle = open_for_lock(directory).map_err(failed("lock", directory))?;
        match waiting::lock(&handle, lock, patience, directory) {
            Waited::GaveUp => Err(StoreError::Busy(directory.to_owned())),
            // A file system without locks is no reason not to work.
            Waited::Locked | Waited::Unsupported => Ok(Self { _handle: handle }),
        }
    }
}

#[cfg(not(windows))]
fn open_for_lock(directory: &Path) -> io::Result<File> {
    File::open(directory)
}

#[cfg(windows)]
fn open_for_lock(directory: &Path) -> io::Result<File> {
    let place = std::fs::canonicalize(directory)?;
    let digest = crate::hash::Sha256Digest::of(place.as_os_str().as_encoded_bytes()).to_hex();
    let file = std::env::temp_dir().join(format!("tflock-{}.lock", &digest[..32]));
    File::options().create(true).truncate(false).write(true).open(file)
}

/// As for a lock file.
const TRUST_FILE_MODE: FileMode = FileMode::Exactly(0o644);

/// Where the trust file for a root module is or would appear.
pub fn locate_trust_file(root: &WorkTree) -> Result<PathBuf, Error> {
    let first = root.boundary().join(pins::FILE_NAME);
    let below = root.within().filter(|place| *place != root.boundary());
    match below.map(|place| place.join(pins::FILE_NAME)).find(|path| path.symlink_metadata().is_ok()) {
        Some(second) => Err(second_file(&first, &second)),
        None => Ok(first),
    }
}

/// Refuses a trust file below the top of a working tree; outside of git each root module has its own.
pub fn refuse_second_trust_files(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
    for second in paths {
        let place = worktree::absolute(second.parent().unwrap_or(Path::new("")));
        if let Some(top) = worktree::top(&place).filter(|top| *top != place) {
            return Err(second_file(&top.join(pins::FILE_NAME), &second));
        }
    }
    Ok(())
}

pub fn read_trust_file(path: &Path, named: &Path) -> Result<Option<String>, Error> {
    files::read_text(path, named, ErrorKind::Settings)
}

/// Writes the trust file whole; true if its bytes changed.
pub fn store_trust_file(path: &Path, text: &str, interrupt: &Interrupt) -> Result<bool, Error> {
    let within = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = NewFile { path, bytes: text.as_bytes(), mode: TRUST_FILE_MODE, what: What::TrustFile };
    Ok(atomic::store(file, &worktree::boundary(within), interrupt)? == Stored::Written)
}

/// Locks the trust file for a read and a write, and removes leftovers of killed runs next to it.
///
/// The caller must not have the lock on a root module, which may be the same directory.
pub fn lock_trust_file(path: &Path) -> Result<DirectoryLock, Error> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = DirectoryLock::acquire(directory)?;
    atomic::sweep(directory);
    Ok(lock)
}

/// Two trust files could contradict each other.
fn second_file(first: &Path, second: &Path) -> Error {
    let (first_shown, second_shown) = (shown(first), shown(second));
    let message = format!("{second_shown} is a second trust file; the one of this working tree is {first_shown}");
    let hint = format!("move its blocks to {first_shown} and remove it");
    Error::new(ErrorKind::Settings, message).in_file(second).hint(hint)
}

/// Writes what `change` makes of the attributes file, with the lock on its directory; the text of a file that is not there
/// is empty. With nothing to say there is none.
pub fn update_attributes(
    top: &Path,
    interrupt: &Interrupt,
    change: impl FnOnce(&[u8]) -> Vec<u8>,
) -> Result<Stored, Error> {
    let path = top.join(tracked::ATTRIBUTES_FILE);
    let _lock = DirectoryLock::acquire(top)?;
    let old = files::read_file(&path)?.unwrap_or_default();
    let new = change(&old);
    if new == old {
        return Ok(Stored::Unchanged);
    }
    if !new.is_empty() {
        let file = NewFile { path: &path, bytes: &new, mode: FileMode::KeepOr(0o644), what: What::File };
        return Ok(atomic::store(file, top, interrupt)?);
    }
    let writing = interrupt.writing()?;
    match std::fs::remove_file(&path) {
        Ok(()) => {
            writing.wrote(What::File, &path);
            Ok(Stored::Written)
        }
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(Stored::Unchanged),
        Err(reason) => {
            let message = format!("cannot remove {}: {reason}", shown(&path));
            Err(Error::new(ErrorKind::Disk, message).in_file(path))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsText {
    /// Where it is, absolute.
    pub path: PathBuf,
    pub text: String,
}

/// The settings texts for a root module, the nearest first, up to the top of its working tree and never beyond.
pub fn settings_texts(root: &WorkTree) -> Result<Vec<SettingsText>, Error> {
    let read = |directory: &Path| {
        let path = directory.join(settings::FILE_NAME);
        Ok(files::read_text(&path, &path, ErrorKind::Settings)?.map(|text| SettingsText { path, text }))
    };
    root.within().filter_map(|directory| read(directory).transpose()).collect()
}

/// As any program writes a file, but no other user may change it.
pub(super) const OUTPUT: FileMode = FileMode::AtMost(0o644);

/// Writes a report. A regular file is replaced atomically.
///
/// In a git working tree a symbolic link is replaced, not followed, since the author of the tree chose its target. Elsewhere,
/// such as for `/dev/stdout`, the link is the user's own and is followed.
pub fn write_report(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // A device of Windows, which older versions have in every directory, newer ones by its bare name only.
    if cfg!(windows) && (name.eq_ignore_ascii_case("nul") || name.eq_ignore_ascii_case("con")) {
        return std::fs::OpenOptions::new().write(true).open(name)?.write_all(text.as_bytes());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = links::resolve(parent)?;
    let place = directory.join(name);
    let is_replaced = match place.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => !worktree::tops(&directory).is_empty(),
        Ok(meta) => meta.is_file(),
        Err(_) => true,
    };
    if !is_replaced {
        return std::fs::write(&place, text);
    }
    let mut temporary = new_file(".tmp".as_ref(), &directory)?;
    temporary.as_file_mut().write_all(text.as_bytes())?;
    set_mode(temporary.as_file(), OUTPUT, &place)?;
    put_in_place(temporary, &place)
}

pub fn read_state(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|reason| {
        let message = format!("cannot read the state {}: {reason}", shown(path));
        Error::new(ErrorKind::Disk, message).in_file(path).hint("write it with `terraform state pull > FILE`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(read_lock_file(&path).unwrap(), None);
        std::fs::write(&path, "x").unwrap();
        assert_eq!(read_lock_file(&path).unwrap().as_deref(), Some(&b"x"[..]));
        assert!(read_lock_file(folder.path()).unwrap_err().message.starts_with("cannot read the lock file "));
    }
}

#[cfg(test)]
mod directory_lock_tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn locked_work_is_done_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("count");
        std::fs::write(&file, "0").unwrap();
        let add = || {
            for _ in 0..50 {
                let _lock = DirectoryLock::acquire(directory.path()).unwrap();
                let count: u32 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
                std::fs::write(&file, (count + 1).to_string()).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(add);
            }
        });
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "200");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(DirectoryLock::acquire(&directory.path().join("none")).is_err());
    }

    #[test]
    fn waiting_for_a_lock_ends() {
        let directory = tempfile::tempdir().unwrap();
        let short = 2 * waiting::PAUSE;
        let writer = DirectoryLock::acquire(directory.path()).unwrap();
        for lock in [File::try_lock, File::try_lock_shared] {
            let error = DirectoryLock::wait(directory.path(), lock, short).unwrap_err();
            assert!(matches!(error, StoreError::Busy(_)), "{error}");
            assert!(!Error::from(error).hints.is_empty());
        }
        drop(writer);
        let readers = [(); 2].map(|()| DirectoryLock::acquire_shared(directory.path()).unwrap());
        assert!(DirectoryLock::wait(directory.path(), File::try_lock, short).is_err());
        drop(readers);
        DirectoryLock::wait(directory.path(), File::try_lock, short).unwrap();
    }
}

#[cfg(test)]
mod trust_file_tests {
    use super::*;

    #[test]
    fn there_is_one_at_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let top = crate::path::canonical(folder.path()).unwrap();
        let root = top.join("a/b");
        std::fs::create_dir_all(&root).unwrap();
        assert_eq!(locate_trust_file(&WorkTree::of(&root)).unwrap(), root.join(pins::FILE_NAME));
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(locate_trust_file(&WorkTree::of(&root)).unwrap(), top.join(pins::FILE_NAME));
        std::fs::write(top.join(pins::FILE_NAME), "").unwrap();
        assert_eq!(locate_trust_file(&WorkTree::of(&root)).unwrap(), top.join(pins::FILE_NAME));
        std::fs::write(top.join("a").join(pins::FILE_NAME), "").unwrap();
        assert!(locate_trust_file(&WorkTree::of(&root)).unwrap_err().message.contains("is a second trust file"));
        assert_eq!(locate_trust_file(&WorkTree::of(&top)).unwrap(), top.join(pins::FILE_NAME));
    }

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(pins::FILE_NAME);
        assert_eq!(read_trust_file(&path, &path).unwrap(), None);
        let interrupt = Interrupt::default();
        assert!(
            store_trust_file(&path, "# x\n", &interrupt).unwrap()
                && !store_trust_file(&path, "# x\n", &interrupt).unwrap()
        );
        assert_eq!(read_trust_file(&path, &path).unwrap().as_deref(), Some("# x\n"));
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read_trust_file(&path, &path).unwrap_err().message.ends_with("it is not UTF-8 text"));
        assert!(read_trust_file(folder.path(), folder.path()).is_err());
    }
}

#[cfg(test)]
mod attributes_file_tests {
    use super::*;

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let directory = tempfile::tempdir().unwrap();
        let add = |by: u8| {
            for _ in 0..20 {
                update_attributes(directory.path(), &Interrupt::default(), |text| [text, &[by, b'\n']].concat())
                    .unwrap();
            }
        };
        std::thread::scope(|scope| {
            for by in b"abcd" {
                scope.spawn(move || add(*by));
            }
        });
        let text = std::fs::read_to_string(directory.path().join(tracked::ATTRIBUTES_FILE)).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|by| text.matches(by).count()), [20; 4]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let empty = || update_attributes(directory.path(), &Interrupt::default(), |_| Vec::new()).unwrap();
        assert_eq!([empty(), empty()], [Stored::Written, Stored::Unchanged]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[cfg(test)]
mod settings_files_tests {
    use super::*;
    use crate::path::worktree::{boundary, top};

    fn texts(root: &Path) -> Vec<String> {
        settings_texts(&WorkTree::of(root)).unwrap().into_iter().map(|found| found.text).collect()
    }

    #[test]
    fn settings_are_searched_up_to_the_top() {
        let directory = tempfile::tempdir().unwrap();
        let base = crate::path::canonical(directory.path()).unwrap();
        let (tree, root) = (base.join("tree"), base.join("tree/a/b"));
        std::fs::create_dir_all(&root).unwrap();
        for (place, text) in [("", "beyond"), ("tree", "top"), ("tree/a/b", "root")] {
            std::fs::write(base.join(place).join(settings::FILE_NAME), text).unwrap();
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
        std::fs::create_dir(directory.path().join(settings::FILE_NAME)).unwrap();
        let place = WorkTree::of(directory.path());
        let error = settings_texts(&place).unwrap_err();
        assert_eq!((error.kind, error.file), (ErrorKind::Settings, Some(place.directory.join(settings::FILE_NAME))));
        std::fs::remove_dir(directory.path().join(settings::FILE_NAME)).unwrap();
        std::fs::write(directory.path().join(settings::FILE_NAME), b"\xff").unwrap();
        assert!(settings_texts(&WorkTree::of(directory.path())).unwrap_err().message.ends_with("it is not UTF-8 text"));
    }
}

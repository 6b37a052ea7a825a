//! The trust file of a working tree: one, at the top; outside of git, next to the root module.

use std::path::{Path, PathBuf};

use super::atomic::{self, Mode, NewFile, Stored};
use super::directory_lock::DirectoryLock;
use super::text;
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, What};
use crate::path::shown;
use crate::path::worktree::{self, WorkTree};
use crate::trust::pins::FILE_NAME;

/// As for a lock file.
const MODE: Mode = Mode::Exactly(0o644);

/// Where the trust file for a root module is or would appear.
pub fn locate(root: &WorkTree) -> Result<PathBuf, Error> {
    let first = root.boundary().join(FILE_NAME);
    let below = root.within().filter(|place| *place != root.boundary());
    match below.map(|place| place.join(FILE_NAME)).find(|path| path.symlink_metadata().is_ok()) {
        Some(second) => Err(second_file(&first, &second)),
        None => Ok(first),
    }
}

/// Refuses a trust file below the top of a working tree; outside of git each root module has its own.
pub fn only_at_tops(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
    for second in paths {
        let place = worktree::absolute(second.parent().unwrap_or(Path::new("")));
        if let Some(top) = worktree::top(&place).filter(|top| *top != place) {
            return Err(second_file(&top.join(FILE_NAME), &second));
        }
    }
    Ok(())
}

pub fn read(path: &Path, named: &Path) -> Result<Option<String>, Error> {
    text::read_text(path, named, ErrorKind::Settings)
}

/// Writes the trust file whole; true if its bytes changed.
pub fn store(path: &Path, text: &str, interrupt: &Interrupt) -> Result<bool, Error> {
    let within = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = NewFile { path, bytes: text.as_bytes(), mode: MODE, what: What::TrustFile };
    Ok(atomic::store(file, &worktree::boundary(within), interrupt)? == Stored::Written)
}

/// Locks the trust file for a read and a write, and removes leftovers of killed runs next to it.
///
/// The caller must not have the lock on a root module, which may be the same directory.
pub fn guard(path: &Path) -> Result<DirectoryLock, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_at_the_top() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("a/b");
        std::fs::create_dir_all(&root).unwrap();
        assert_eq!(locate(&WorkTree::of(&root)).unwrap(), root.join(FILE_NAME));
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(locate(&WorkTree::of(&root)).unwrap(), top.join(FILE_NAME));
        std::fs::write(top.join(FILE_NAME), "").unwrap();
        assert_eq!(locate(&WorkTree::of(&root)).unwrap(), top.join(FILE_NAME));
        std::fs::write(top.join("a").join(FILE_NAME), "").unwrap();
        assert!(locate(&WorkTree::of(&root)).unwrap_err().message.contains("is a second trust file"));
        assert_eq!(locate(&WorkTree::of(&top)).unwrap(), top.join(FILE_NAME));
    }

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        assert_eq!(read(&path, &path).unwrap(), None);
        let interrupt = Interrupt::default();
        assert!(store(&path, "# x\n", &interrupt).unwrap() && !store(&path, "# x\n", &interrupt).unwrap());
        assert_eq!(read(&path, &path).unwrap().as_deref(), Some("# x\n"));
        std::fs::write(&path, b"\xff").unwrap();
        assert!(read(&path, &path).unwrap_err().message.ends_with("it is not UTF-8 text"));
        assert!(read(folder.path(), folder.path()).is_err());
    }
}

//! The trust file of a work tree: one, at the top; outside of git, beside the root module.

use std::io;
use std::path::{Path, PathBuf};

use super::atomic::{self, Mode, Stored};
use super::directory_lock::DirectoryLock;
use super::files;
use crate::error::{Error, ErrorKind};
use crate::path::shown;
use crate::path::worktree::{self, Place};
use crate::trust::pins::FILE_NAME;

/// As for a lock file.
const MODE: Mode = Mode::Exactly(0o644);

#[derive(Debug, thiserror::Error)]
pub enum TrustFileError {
    /// Pins in two places would contradict each other one day.
    #[error("{} is a second trust file; the one of this working tree is {}", shown(second), shown(first))]
    Second { first: PathBuf, second: PathBuf },
    #[error("cannot read {}: {reason}", shown(path))]
    Unreadable {
        path: PathBuf,
        #[source]
        reason: io::Error,
    },
    /// Text is UTF-8.
    #[error("cannot read {}: it is not UTF-8 text", shown(.0))]
    NotText(PathBuf),
}

impl TrustFileError {
    /// The same error about the file as reports name it.
    #[must_use]
    pub fn shown_as(self, shown: &Path) -> Self {
        match self {
            Self::Unreadable { reason, .. } => Self::Unreadable { path: shown.to_owned(), reason },
            Self::NotText(_) => Self::NotText(shown.to_owned()),
            second @ Self::Second { .. } => second,
        }
    }
}

/// Where the trust file for a root module stands or would stand.
pub fn locate(root: &Place) -> Result<PathBuf, TrustFileError> {
    let first = root.boundary().join(FILE_NAME);
    let below = root.within().filter(|place| *place != root.boundary());
    match below.map(|place| place.join(FILE_NAME)).find(|path| path.symlink_metadata().is_ok()) {
        Some(second) => Err(TrustFileError::Second { first, second }),
        None => Ok(first),
    }
}

/// Makes sure that trust files stand at the tops of work trees only; outside of git each root module has its own.
pub fn only_at_tops(paths: impl IntoIterator<Item = PathBuf>) -> Result<(), TrustFileError> {
    for second in paths {
        let place = worktree::absolute(second.parent().unwrap_or(Path::new("")));
        if let Some(top) = worktree::top(&place).filter(|top| *top != place) {
            return Err(TrustFileError::Second { first: top.join(FILE_NAME), second });
        }
    }
    Ok(())
}

pub fn read(path: &Path) -> Result<Option<String>, TrustFileError> {
    match files::read(path) {
        Ok(Some(bytes)) => String::from_utf8(bytes).map(Some).map_err(|_| TrustFileError::NotText(path.to_owned())),
        Ok(None) => Ok(None),
        Err(reason) => Err(TrustFileError::Unreadable { path: path.to_owned(), reason }),
    }
}

/// Writes the trust file whole; true if its bytes changed.
pub fn store(path: &Path, text: &str) -> Result<bool, Error> {
    let within = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(atomic::store(path, text.as_bytes(), MODE, &worktree::boundary(within))? == Stored::Written)
}

/// Keeps other runs from writing the trust file, from reading it to writing it; what killed runs left beside it is swept
/// away.
///
/// Whoever holds it must not hold the lock on a root module, which may be the same directory.
pub fn guard(path: &Path) -> Result<DirectoryLock, Error> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lock = DirectoryLock::acquire(directory)?;
    atomic::sweep(directory);
    Ok(lock)
}

impl From<TrustFileError> for Error {
    fn from(error: TrustFileError) -> Self {
        let (path, hint) = match &error {
            TrustFileError::Second { first, second } => {
                (second, Some(format!("move its blocks to {} and remove it", first.display())))
            }
            TrustFileError::Unreadable { path, .. } | TrustFileError::NotText(path) => (path, None),
        };
        let told = Self::new(ErrorKind::Settings, error.to_string()).in_file(path);
        hint.into_iter().fold(told, Self::hint)
    }
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
        assert_eq!(locate(&Place::of(&root)).unwrap(), root.join(FILE_NAME));
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(locate(&Place::of(&root)).unwrap(), top.join(FILE_NAME));
        std::fs::write(top.join(FILE_NAME), "").unwrap();
        assert_eq!(locate(&Place::of(&root)).unwrap(), top.join(FILE_NAME));
        std::fs::write(top.join("a").join(FILE_NAME), "").unwrap();
        assert!(matches!(locate(&Place::of(&root)), Err(TrustFileError::Second { .. })));
        assert_eq!(locate(&Place::of(&top)).unwrap(), top.join(FILE_NAME));
    }

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        assert_eq!(read(&path).unwrap(), None);
        assert!(store(&path, "# x\n").unwrap() && !store(&path, "# x\n").unwrap());
        assert_eq!(read(&path).unwrap().as_deref(), Some("# x\n"));
        std::fs::write(&path, b"\xff").unwrap();
        assert!(matches!(read(&path), Err(TrustFileError::NotText(_))));
        assert!(matches!(read(folder.path()), Err(TrustFileError::Unreadable { .. })));
    }
}

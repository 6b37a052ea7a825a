//! The bytes of a lock file.

use std::io;
use std::path::{Path, PathBuf};

use super::atomic::bare;
use super::files;
use crate::error::{Error, ErrorKind};
use crate::path::links::Refusal;

#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    #[error("the lock file {} is larger than 16 MiB", bare(.0).display())]
    TooLarge(PathBuf),
    #[error("cannot read the lock file {}: {reason}", bare(path).display())]
    Unreadable {
        path: PathBuf,
        #[source]
        reason: io::Error,
    },
}

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, LockFileError> {
    files::read(path).map_err(|reason| match Refusal::of(&reason) {
        Some(Refusal::TooLarge) => LockFileError::TooLarge(path.to_owned()),
        _ => LockFileError::Unreadable { path: path.to_owned(), reason },
    })
}

impl From<LockFileError> for Error {
    fn from(error: LockFileError) -> Self {
        let (path, hint) = match &error {
            LockFileError::Unreadable { path, reason } if reason.kind() == io::ErrorKind::IsADirectory => {
                (path, Some("move the directory away, and restore the file from version control"))
            }
            LockFileError::Unreadable { path, reason } => (path, Refusal::of(reason).and_then(hint_on)),
            LockFileError::TooLarge(path) => (path, Some("restore the file from version control")),
        };
        let told = Self::new(ErrorKind::LockFile, error.to_string()).in_file(bare(path));
        hint.into_iter().fold(told, Self::hint)
    }
}

fn hint_on(refusal: Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Nowhere | Refusal::Circle => Some("fix the symbolic link, or remove it"),
        Refusal::Outside | Refusal::Repository => Some("replace the symbolic link by a file in the working tree"),
        Refusal::NotAFile | Refusal::TooLarge | Refusal::Name => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(read(&path).unwrap(), None);
        std::fs::write(&path, "x").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some(&b"x"[..]));
        assert!(matches!(read(folder.path()), Err(LockFileError::Unreadable { .. })));
    }
}

//! The bytes of a lock file.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::atomic::bare;
use crate::error::{Error, ErrorKind};

/// The most bytes of a lock file; no real one comes near.
const LIMIT: u64 = 16 << 20;

/// Why a lock file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// Larger than any lock file.
    #[error("the lock file {} is larger than 16 MiB", bare(.0).display())]
    TooLarge(PathBuf),
    /// The system refused.
    #[error("cannot read the lock file {}: {reason}", bare(path).display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        reason: io::Error,
    },
}

/// The bytes of a lock file; none if there is none.
///
/// # Errors
///
/// [`LockFileError`] if something is there that cannot be read as a file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, LockFileError> {
    let unreadable = |reason| LockFileError::Unreadable { path: path.to_owned(), reason };
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        // A link that leads nowhere is not an absent file.
        Err(reason) if reason.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(reason) => return Err(unreadable(reason)),
    };
    let mut bytes = Vec::new();
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(LockFileError::TooLarge(path.to_owned()));
    }
    Ok(Some(bytes))
}

impl From<LockFileError> for Error {
    fn from(error: LockFileError) -> Self {
        let (path, hint) = match &error {
            LockFileError::Unreadable { path, reason } if reason.kind() == io::ErrorKind::IsADirectory => {
                (path, Some("move the directory away, and restore the file from version control"))
            }
            LockFileError::Unreadable { path, reason } if reason.kind() == io::ErrorKind::NotFound => {
                (path, Some("it is a symbolic link that leads nowhere: mend it, or remove it"))
            }
            LockFileError::Unreadable { path, .. } => (path, None),
            LockFileError::TooLarge(path) => (path, Some("restore the file from version control")),
        };
        let told = Self::new(ErrorKind::LockFile, error.to_string()).in_file(bare(path));
        hint.into_iter().fold(told, Self::hint)
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

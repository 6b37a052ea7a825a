//! Single files that may not be there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A file that is there but cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {reason}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Why not.
    #[source]
    pub reason: std::io::Error,
}

/// The bytes of a file; none if there is no such file.
///
/// # Errors
///
/// [`ReadError`] if there is something that cannot be read.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(reason) if matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(reason) => Err(ReadError { path: path.to_owned(), reason }),
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self::new(crate::error::ErrorKind::Disk, error.to_string()).in_file(error.path)
    }
}

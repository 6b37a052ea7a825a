//! Single files that may not be there.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files;
use crate::error::Error;
use crate::path::shown;

#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {reason}", shown(path))]
pub struct ReadError {
    pub path: PathBuf,
    #[source]
    pub reason: std::io::Error,
}

/// The bytes of a file; none if there is no such file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    files::read(path).map_err(|reason| ReadError { path: path.to_owned(), reason })
}

/// The bytes of what a user named on the command line, even a pipe; none if there is no such file.
pub fn read_named(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    match files::read_named(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(reason) if matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(reason) => Err(ReadError { path: path.to_owned(), reason }),
    }
}

pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The names in a directory, as far as they are UTF-8; none if it cannot be read.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Self::new(crate::error::ErrorKind::Disk, error.to_string()).in_file(error.path)
    }
}

//! The last stage: writes what was settled.

use std::path::PathBuf;

use crate::disk::atomic::{self, Mode, Stored};
use crate::error::Error;

/// The mode of a lock file, whatever the umask and the mode before.
///
/// Source: `internal/replacefile`.
const LOCK_FILE_MODE: Mode = Mode::Exactly(0o644);

/// A text for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: PathBuf,
    /// Its whole new text.
    pub text: String,
    /// The directory that a symbolic link at `path` must not lead out of.
    pub boundary: PathBuf,
}

/// Writes a file as a whole or leaves it as it was; true if its bytes changed.
///
/// # Errors
///
/// Whatever the disk says; then the old text is still there.
pub fn commit(write: &Write) -> Result<bool, Error> {
    let stored = atomic::store(&write.path, write.text.as_bytes(), LOCK_FILE_MODE, &write.boundary)?;
    Ok(stored == Stored::Written)
}

//! The attributes file at the top of a work tree.

use std::io;
use std::path::Path;

use super::atomic::{Mode, Stored, store};
use super::text;
use crate::error::{Error, ErrorKind};
use crate::git::attributes::FILE_NAME;

/// The text of the attributes file; empty if there is none.
///
/// # Errors
///
/// Those of the system.
pub fn read(top: &Path) -> Result<Vec<u8>, Error> {
    Ok(text::read(&top.join(FILE_NAME))?.unwrap_or_default())
}

/// Writes the attributes file. With nothing to say there is none.
///
/// # Errors
///
/// Those of the system.
pub fn write(top: &Path, text: &[u8]) -> Result<Stored, Error> {
    let path = top.join(FILE_NAME);
    if !text.is_empty() {
        return Ok(store(&path, text, Mode::KeepOr(0o644), top)?);
    }
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(Stored::Written),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(Stored::Unchanged),
        Err(reason) => {
            let message = format!("cannot remove {}: {reason}", path.display());
            Err(Error::new(ErrorKind::Disk, message).in_file(path))
        }
    }
}

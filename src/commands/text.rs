//! Lock files as the commands need them.

use std::path::PathBuf;

use super::restore::refused;
use crate::disk::lock_file;
use crate::error::{Error, ErrorKind};
use crate::lockfile::{Decoded, decode};
use crate::workspace::RunSettings;

/// The lock file of a root module; none if there is none.
///
/// # Errors
///
/// That of the system, or all that is wrong with the file.
pub(super) fn decoded(root: &RunSettings) -> Result<Option<Decoded>, Error> {
    let Some(bytes) = lock_file::read(&root.lock_file())? else { return Ok(None) };
    let path = root.lock_file();
    decode(&bytes, root.dialect).map(Some).map_err(|findings| refused(findings, &path, &root.lock_file_shown()))
}

/// A root module without a lock file, for commands that need one.
pub(super) fn absent(shown: PathBuf) -> Error {
    Error::new(ErrorKind::LockFile, "there is no such dependency lock file")
        .in_file(shown)
        .hint("run `tflock lock`, or name the root module with `-C DIR`")
}

//! Lock files as the commands need them.

use std::path::{Path, PathBuf};

use crate::disk::lock_file;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::lockfile::{Decoded, decode};
use crate::workspace::RunSettings;

/// The lock file of a root module; none if there is none.
///
/// # Errors
///
/// That of the system, or all that is wrong with the file.
pub(super) fn decoded(root: &RunSettings) -> Result<Option<Decoded>, Error> {
    let Some(bytes) = lock_file::read(&root.lock_file())? else { return Ok(None) };
    decode(&bytes, root.dialect).map(Some).map_err(|findings| refused(&findings, &root.lock_file_shown()))
}

/// A lock file that the tools refuse.
pub(super) fn refused(findings: &[Finding], shown: &Path) -> Error {
    let findings: Vec<Finding> = findings.iter().cloned().map(|finding| finding.in_file(shown)).collect();
    let error = Error::of_findings(ErrorKind::LockFile, &findings);
    error.unwrap_or_else(|| Error::new(ErrorKind::LockFile, "the lock file is refused").in_file(shown))
}

/// A root module without a lock file, for commands that need one.
pub(super) fn absent(shown: PathBuf) -> Error {
    Error::new(ErrorKind::LockFile, "there is no such dependency lock file")
        .in_file(shown)
        .hint("run `tflock lock`, or name the root module with `-C DIR`")
}

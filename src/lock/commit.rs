//! The last stage: writes the files.

use std::path::{Path, PathBuf};

use crate::disk::atomic::{Mode, NewFile, StoreError, Stored};
use crate::disk::transaction::{self, Expected, Replacement};
use crate::error::Error;
use crate::interrupt::{Interrupt, What};

/// The mode of a lock file, whatever the umask and the earlier mode. Source: `internal/replacefile`.
const LOCK_FILE_MODE: Mode = Mode::Exactly(0o644);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub path: PathBuf,
    pub text: String,
    pub boundary: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    pub path: &'a Path,
    /// The expected current text; `None` if the file must not exist.
    pub old: Option<&'a str>,
    pub new: &'a str,
}

/// Writes a lock file, and after it the configuration; true if any bytes changed, `None` if the configuration changed
/// since it was read, so nothing was written. The caller must have the lock on the directory.
pub fn commit(write: &Write, edits: &[Edit<'_>], interrupt: &Interrupt) -> Result<Option<bool>, Error> {
    let bytes = write.text.as_bytes();
    let file = NewFile { path: &write.path, bytes, mode: LOCK_FILE_MODE, what: What::LockFile };
    let lock = Replacement { file, was: Expected::Anything };
    let edits = edits.iter().map(|edit| Replacement {
        file: NewFile {
            path: edit.path,
            bytes: edit.new.as_bytes(),
            mode: Mode::KeepOr(0o644),
            what: What::of_name(edit.path),
        },
        was: edit.old.map_or(Expected::Absent, |old| Expected::Bytes(old.as_bytes())),
    });
    let files: Vec<Replacement<'_>> = std::iter::once(lock).chain(edits).collect();
    let directory = write.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match transaction::store_all(&files, directory, &write.boundary, interrupt) {
        Ok(stored) => {
            // `add` creates such a file. What a run that is killed here leaves is empty, and means the same.
            let is_created = |path: &Path| path.file_stem().is_some_and(|stem| stem == "versions");
            let is_empty = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0);
            let emptied = files[1..]
                .iter()
                .map(|replacement| replacement.file)
                .filter(|file| is_created(file.path) && is_empty(file.path));
            emptied.for_each(|file| drop(std::fs::remove_file(file.path)));
            Ok(Some(stored.contains(&Stored::Written)))
        }
        Err(StoreError::Changed(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

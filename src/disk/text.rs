//! Single files that may not be there.

use std::fmt::Display;
use std::io;
use std::path::Path;

use super::files;
use crate::error::{Error, ErrorKind};
use crate::path::shown;

/// `None` if there is no such file.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    files::read(path).map_err(|reason| unreadable(ErrorKind::Disk, path, &reason))
}

/// Reads a path from the command line, which may be a pipe; `None` if there is no such file.
pub fn read_named(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match files::read_named(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(reason) if matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(reason) => Err(unreadable(ErrorKind::Disk, path, &reason)),
    }
}

/// Reads one of tflock's own files, in UTF-8; `None` if there is no such file. Errors show it as `named`.
pub fn read_text(path: &Path, named: &Path, kind: ErrorKind) -> Result<Option<String>, Error> {
    let Some(bytes) = files::read(path).map_err(|reason| unreadable(kind, named, &reason))? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| unreadable(kind, named, &"it is not UTF-8 text"))
}

fn unreadable(kind: ErrorKind, path: &Path, reason: &dyn Display) -> Error {
    Error::new(kind, format!("cannot read {}: {reason}", shown(path))).in_file(path)
}

/// True even for a broken link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The names in a directory that are UTF-8; empty if it cannot be read.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

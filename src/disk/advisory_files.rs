//! Databases of advisories on disk: a directory, or the archive that the database is published as.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use super::files;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::{Limits, ReadError, Unpacking};

/// The most bytes of one document, and of all in an archive.
const MOST: u64 = 10 << 20;
const MOST_IN_ALL: u64 = 256 << 20;

/// A document of a database in a directory.
pub fn document(directory: &Path, name: &str) -> Result<Vec<u8>, Error> {
    let path = directory.join(name);
    let failed = |problem: std::io::Error| {
        let message = format!("cannot read {name} of the database: {problem}");
        Error::new(ErrorKind::Unavailable, message)
            .in_file(&path)
            .hint("a database has the layout of https://vuln.go.dev")
    };
    let bytes = files::read_named_to(&path, MOST).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        let message = format!("{name} of the database is larger than 10 MiB");
        return Err(Error::new(ErrorKind::Unavailable, message).in_file(&path));
    }
    Ok(bytes)
}

/// The documents in an archive, by their names.
pub fn documents(archive: &Path) -> Result<HashMap<String, Vec<u8>>, Error> {
    let failed = |problem: ReadError| {
        let message = format!("cannot read the database: {problem}");
        Error::new(ErrorKind::Unavailable, message).in_file(archive)
    };
    let mut file = File::open(archive).map_err(|problem| failed(problem.into()))?;
    let limits = Limits { unpacked: MOST_IN_ALL, ..Limits::default() };
    let mut entries = Unpacking::open(&mut file, limits).map_err(failed)?;
    let mut documents = HashMap::new();
    loop {
        let mut bytes = Vec::new();
        let Some(entry) = entries.next_into(&mut bytes).map_err(failed)? else { return Ok(documents) };
        if !entry.directory {
            documents.insert(String::from_utf8_lossy(&entry.name).into_owned(), bytes);
        }
    }
}

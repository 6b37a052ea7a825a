//! Databases of advisories: read from a directory or from the archive that the database is published as, and kept in the cache by
//! the address of the database and the path of each document in it.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::cache::folder::replace;
use super::cache::{Cache, LAYOUT};
use super::files;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::hash::archive::{Limits, ReadError, Unpacking};

/// The most bytes of one document, and of all in an archive.
const MOST: u64 = 10 << 20;

const MOST_IN_ALL: u64 = 256 << 20;

/// A document of a database in a directory.
pub fn advisory_document(directory: &Path, name: &str) -> Result<Vec<u8>, Error> {
    let path = directory.join(name);
    let failed = |problem: std::io::Error| {
        let message = format!("cannot read {name} of the database: {problem}");
        Error::new(ErrorKind::Unavailable, message)
            .in_file(&path)
            .hint("a database has the layout of https://vuln.go.dev")
    };
    let bytes = files::read_shared(&path, MOST).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        let message = format!("{name} of the database is larger than 10 MiB");
        return Err(Error::new(ErrorKind::Unavailable, message).in_file(&path));
    }
    Ok(bytes)
}

/// The documents in an archive, by their names.
pub fn advisory_documents(archive: &Path) -> Result<HashMap<String, Vec<u8>>, Error> {
    let failed = |problem: ReadError| {
        let message = format!("cannot read the database: {problem}");
        Error::new(ErrorKind::Unavailable, message).in_file(archive)
    };
    let mut file = File::open(archive).map_err(|problem| failed(problem.into()))?;
    let limits = Limits { unpacked: MOST_IN_ALL, ..Limits::default() };
    let mut entries = Unpacking::open(&mut file, limits).map_err(failed)?;
    let mut advisory_documents = HashMap::new();
    loop {
        let mut bytes = Vec::new();
        let Some(entry) = entries.next_into(&mut bytes).map_err(failed)? else { return Ok(advisory_documents) };
        if !entry.directory {
            advisory_documents.insert(String::from_utf8_lossy(&entry.name).into_owned(), bytes);
        }
    }
}

pub(super) const FOLDER: &str = "advisories";

fn advisory_path(database: &str, name: &str) -> PathBuf {
    [LAYOUT, FOLDER, &Sha256Digest::of(database.as_bytes()).to_hex(), name].iter().collect()
}

impl Cache {
    /// A document that an earlier run got from a database, if it is there undamaged.
    pub fn advisory_document(&self, database: &str, name: &str) -> Option<Vec<u8>> {
        let bytes = self.folder()?.read(&advisory_path(database, name))?;
        let (digest, document) = bytes.split_at_checked(65)?;
        (digest == format!("{}\n", Sha256Digest::of(document)).as_bytes()).then(|| document.to_vec())
    }

    /// Keeps a document of a database. That it cannot be kept costs only time.
    pub fn keep_advisory_document(&self, database: &str, name: &str, document: &[u8]) {
        if let Some(folder) = self.folder() {
            let digest = format!("{}\n", Sha256Digest::of(document));
            drop(replace(folder, &advisory_path(database, name), &[digest.as_bytes(), document].concat()));
        }
    }
}

//! Documents of databases of advisories, by the address of the database and their path in it.

use std::path::PathBuf;

use super::{Cache, replace};
use crate::hash::Sha256Digest;

pub(super) const FOLDER: &str = "advisories";

impl Cache {
    fn advisory_path(&self, database: &str, name: &str) -> Option<PathBuf> {
        Some(self.folder()?.join(FOLDER).join(Sha256Digest::of(database.as_bytes()).to_hex()).join(name))
    }

    /// A document that an earlier run got from a database, if it is there undamaged.
    pub fn advisory_document(&self, database: &str, name: &str) -> Option<Vec<u8>> {
        let bytes = std::fs::read(self.advisory_path(database, name)?).ok()?;
        let (digest, document) = bytes.split_at_checked(65)?;
        (digest == format!("{}\n", Sha256Digest::of(document)).as_bytes()).then(|| document.to_vec())
    }

    /// Keeps a document of a database. That it cannot be kept costs only time.
    pub fn keep_advisory_document(&self, database: &str, name: &str, document: &[u8]) {
        if let Some(path) = self.advisory_path(database, name) {
            let digest = format!("{}\n", Sha256Digest::of(document));
            drop(replace(&path, &[digest.as_bytes(), document].concat()));
        }
    }
}

//! The module lock file of a root module.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::unreadable;
use super::{Tree, TreeError};
use crate::disk::files;
use crate::error::{Error, ErrorKind};
use crate::modulelock::{self, FILE_NAME, ModuleLockFile};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadModuleLock {
    pub text: String,
    pub file: ModuleLockFile,
}

impl ReadModuleLock {
    /// Reads a text; `shown` is its file as reports name it.
    pub fn decode(bytes: Vec<u8>, shown: &Path) -> Result<Self, Error> {
        let wrong = |message: &str| Error::new(ErrorKind::LockFile, message).in_file(shown);
        let text = String::from_utf8(bytes).map_err(|_| wrong("the module lock file is not UTF-8 text"))?;
        match modulelock::decode(&text, shown).map_err(Error::all) {
            Ok(file) => Ok(Self { text, file }),
            Err(error) => Err(error.unwrap_or_else(|| wrong("the module lock file cannot be read"))),
        }
    }
}

impl Tree {
    /// What is known of a root module whose configuration cannot be read: which modules are locked.
    pub fn of_modules_alone(root: &Path) -> Self {
        Self { complete: false, module_lock: read(root).ok().flatten().map(Arc::new), ..Self::default() }
    }
}

pub(super) fn read(root: &Path) -> Result<Option<ReadModuleLock>, Box<TreeError>> {
    let path = PathBuf::from(FILE_NAME);
    match files::read(&root.join(&path)) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => {
            let read = ReadModuleLock::decode(bytes, &path);
            read.map(Some).map_err(|error| Box::new(TreeError::ModuleLock(Box::new(error))))
        }
        Err(error) => Err(Box::new(unreadable(path, &error))),
    }
}

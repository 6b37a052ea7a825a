//! What can be wrong with the text of module locks.

use std::path::PathBuf;

use super::FILE_NAME;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::Shape;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct ModuleLockError {
    /// The file, as handed to [`super::decode()`].
    pub file: PathBuf,
    pub position: Position,
    pub problem: ModuleLockProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleLockProblem {
    #[error(transparent)]
    Shape(#[from] Shape),
    #[error("{0:?} is not a version of a module: expected all three numbers, without a prefix")]
    Version(String),
    /// Not an `h1:`.
    #[error("{0:?} is not an h1 hash")]
    Hash(String),
    #[error("{0:?} is not the full name of a commit")]
    Commit(String),
}

impl From<ModuleLockError> for Error {
    fn from(error: ModuleLockError) -> Self {
        let shape = match &error.problem {
            ModuleLockProblem::Shape(shape) => shape.hint(FILE_NAME),
            _ => None,
        };
        let hint = shape
            .unwrap_or_else(|| "restore the file from version control, or resolve its conflict markers".to_owned());
        Error::new(ErrorKind::LockFile, error.to_string()).in_file(error.file).at(error.position).hint(hint)
    }
}

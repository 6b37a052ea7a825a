//! The canonical text of a lock file.

use super::LockFile;
use crate::dialect::Dialect;

impl LockFile {
    /// The text as `dialect` writes it, byte for byte.
    pub fn encode(&self, dialect: Dialect) -> String {
        todo!("{dialect}")
    }
}

//! A cache of parsed files: equal lock files and equal configuration are parsed once for all root modules.

use std::sync::Arc;

use crate::dialect::Dialect;
use crate::disk::memo::TextMemo;
use crate::disk::roots::TreeMemo;
use crate::finding::Finding;
use crate::lockfile::{Decoded, decode};

#[derive(Debug, Clone, Default)]
pub struct Readings {
    locks: Arc<[TextMemo<Arc<Decoded>>; 2]>,
    pub(super) trees: Arc<TreeMemo>,
}

impl Readings {
    /// Parses a lock file, or returns the earlier result for the same bytes.
    pub fn lock_file(&self, bytes: &[u8], dialect: Dialect) -> Result<Arc<Decoded>, Vec<Finding>> {
        let known = &self.locks[dialect as usize];
        match known.get(bytes) {
            Some(decoded) => Ok(decoded),
            None => Ok(known.keep(bytes, Arc::new(decode(bytes, dialect)?))),
        }
    }
}

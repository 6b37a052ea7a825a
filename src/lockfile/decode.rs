//! Text to lock file, or all that is wrong with it.

use super::{LockFile, Spans};
use crate::dialect::Dialect;
use crate::finding::Finding;

/// A lock file as read.
#[derive(Debug, Clone)]
pub struct Decoded {
    /// What it says.
    pub lock: LockFile,
    /// Where it says it.
    pub spans: Spans,
    /// The tool whose header it has, if it has one.
    pub header: Option<Dialect>,
    /// Warnings: what is accepted, but not as the tools would write it. Never at level deny.
    pub warnings: Vec<Finding>,
    /// True if the text is exactly what `encode` gives in the dialect of its header.
    pub canonical: bool,
}

/// Decodes the bytes of a lock file as `dialect` would.
///
/// # Errors
///
/// All findings of the file, by position, when one of them is at level deny.
pub fn decode(text: &[u8], dialect: Dialect) -> Result<Decoded, Vec<Finding>> {
    todo!("{text:?} {dialect}")
}

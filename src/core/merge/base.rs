//! The common ancestor, which git may have merged itself, so it can contain conflict markers.

use super::markers::split;
use crate::dialect::Dialect;
use crate::lockfile::{LockFile, decode, detect_dialect};

/// Reads the ancestor of lock files; `None` if it cannot be read.
///
/// Where two branches were merged in both directions, git merges their several common ancestors first. Of one with
/// conflicts that is known which its two sides agree about.
pub(super) fn base_lock(text: &[u8], dialect: Dialect) -> Option<LockFile> {
    let read = |text: &[u8]| decode(text, detect_dialect(text).unwrap_or(dialect)).ok().map(|decoded| decoded.lock);
    if let Some(lock) = read(text) {
        return Some(lock);
    }
    let sides = split(text).ok()??;
    let (ours, theirs) = (read(&sides.ours)?, read(&sides.theirs)?);
    Some(agreed(&ours, &theirs))
}

/// The entries that both have, and have alike.
pub(super) fn agreed(one: &LockFile, other: &LockFile) -> LockFile {
    let mut agreed = LockFile::new();
    for (addr, entry) in one.iter().filter(|(addr, entry)| other.get(addr) == Some(*entry)) {
        agreed.insert(addr.clone(), entry.clone());
    }
    agreed
}

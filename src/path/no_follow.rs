//! Paths without symbolic links, checked by the system in one call.
//!
//! Linux can refuse all links, from version 5.6 on. On other systems, or if a link is on the way, the
//! callers go step by step: most paths have none, and for them that would be a call for each part.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::lexical;

/// Directories of which no part was a symbolic link when this run looked, so each is checked once.
static PLAIN: RwLock<Option<HashSet<PathBuf>>> = RwLock::new(None);

/// Remembers a directory that is none and has none above it.
pub(super) fn remember(directory: &Path) {
    let mut plain = PLAIN.write().unwrap_or_else(PoisonError::into_inner);
    plain.get_or_insert_default().insert(directory.to_owned());
}

pub(super) fn is_remembered(directory: &Path) -> bool {
    let plain = PLAIN.read().unwrap_or_else(PoisonError::into_inner);
    plain.as_ref().is_some_and(|plain| plain.contains(directory))
}

fn leads_to_remembered(path: &Path) -> bool {
    // By its text alone `..` leads elsewhere where a link is before it, so each part must be known.
    let Ok(path) = std::path::absolute(path) else { return false };
    let plain = lexical(Path::new(""), &path);
    let has_parents = path.components().any(|part| part == std::path::Component::ParentDir);
    is_remembered(&plain)
        && (!has_parents || path.ancestors().all(|above| is_remembered(&lexical(Path::new(""), above))))
}

/// Opens what is at a path for reading, without waiting for the other end of a pipe; `None` if a link is on the way, or
/// if the system cannot know.
#[cfg(target_os = "linux")]
pub fn open(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::OFlags;
    flagged(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map(|opened| opened.ok().map(File::from))
}

/// True if the path exists without a link on the way; false also if the system cannot know.
#[cfg(target_os = "linux")]
pub fn leads(path: &Path) -> io::Result<bool> {
    match flagged(path, rustix::fs::OFlags::PATH)? {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::LOOP) => Ok(false),
        // The system does not know how to.
        Err(_) => Ok(leads_to_remembered(path)),
    }
}

#[cfg(target_os = "linux")]
fn flagged(path: &Path, flags: rustix::fs::OFlags) -> io::Result<Result<std::os::fd::OwnedFd, rustix::io::Errno>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(Ok(opened)),
        Err(reason @ (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => Err(reason.into()),
        Err(reason) => Ok(Err(reason)),
    }
}

/// As on Linux: nothing is known here.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn open(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// As on Linux: nothing is known here.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn leads(path: &Path) -> io::Result<bool> {
    Ok(leads_to_remembered(path))
}

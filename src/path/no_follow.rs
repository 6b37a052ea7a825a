//! Paths on which no symbolic link stands, asked of the system in one call.
//!
//! Linux can be told to follow no link at all, from version 5.6 on. Where it cannot, or where a link stands on the way, the
//! callers go step by step: most paths have none, and for them that would be a call for each part.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens what stands at a path for reading, without waiting for the other end of a pipe; none if a link is on the way, or
/// if the system cannot tell.
///
/// # Errors
///
/// [`io::ErrorKind::NotFound`], [`io::ErrorKind::NotADirectory`]: nothing is there, and no link led to where it is not.
#[cfg(target_os = "linux")]
pub fn open(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::OFlags;
    flagged(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map(|opened| opened.map(File::from))
}

/// True if something is there and no link is on the way; false also if the system cannot tell.
///
/// # Errors
///
/// As [`open`].
#[cfg(target_os = "linux")]
pub fn leads(path: &Path) -> io::Result<bool> {
    flagged(path, rustix::fs::OFlags::PATH).map(|opened| opened.is_some())
}

#[cfg(target_os = "linux")]
fn flagged(path: &Path, flags: rustix::fs::OFlags) -> io::Result<Option<std::os::fd::OwnedFd>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(Some(opened)),
        Err(reason @ (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => Err(reason.into()),
        Err(_) => Ok(None),
    }
}

/// As on Linux: nothing is known here.
///
/// # Errors
///
/// None.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn open(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// As on Linux: nothing is known here.
///
/// # Errors
///
/// None.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn leads(_: &Path) -> io::Result<bool> {
    Ok(false)
}

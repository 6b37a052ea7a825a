//! Files that reports are written to, where the user named one.

use std::io::{self, Write as _};
use std::path::Path;

use super::atomic::{new_file, put_in_place};
use crate::path::links;
use crate::path::worktree;

/// Writes a report. A regular file is replaced atomically.
///
/// In a git working tree a symbolic link is replaced, not followed, since the author of the tree chose its target. Elsewhere,
/// such as for `/dev/stdout`, the link is the user's own and is followed.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    // A device of Windows, which older versions have in every directory, newer ones by its bare name only.
    if cfg!(windows) && (name.eq_ignore_ascii_case("nul") || name.eq_ignore_ascii_case("con")) {
        return std::fs::OpenOptions::new().write(true).open(name)?.write_all(text.as_bytes());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = links::resolve(parent)?;
    let place = directory.join(name);
    let is_replaced = match place.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => worktree::top(&directory).is_some(),
        Ok(meta) => meta.is_file(),
        Err(_) => true,
    };
    if !is_replaced {
        return std::fs::write(&place, text);
    }
    let mut temporary = new_file(".tmp".as_ref(), &directory)?;
    temporary.write_all(text.as_bytes())?;
    put_in_place(temporary, &place)
}

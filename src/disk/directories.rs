//! Directories that tflock makes for what it keeps: caches, the package store, data directories, mirrors.
//!
//! None is behind a symbolic link that a change of a working tree may contain: what is written there, and what is swept there,
//! would be elsewhere. The way is looked at before anything is made.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::finding::shell_word;
use crate::path::links::{self, LinkOnTheWay};
use crate::path::shown;

/// Makes a directory and those above it. Links that lead to the working tree or to the user's own directories are followed.
pub fn create(directory: &Path) -> io::Result<()> {
    create_below(directory, directory)
}

/// The same; below `top` no link is followed, in a working tree or not.
pub fn create_below(top: &Path, directory: &Path) -> io::Result<()> {
    links::refuse_on_the_way(top, directory)?;
    fs::create_dir_all(directory)
}

/// True if only we and the administrator may write to a file or directory.
#[cfg(unix)]
pub(super) fn is_ours_alone(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let own = rustix::process::geteuid().as_raw();
    (found.uid() == own || found.uid() == 0) && found.mode() & 0o022 == 0
}

#[cfg(not(unix))]
pub(super) fn is_ours_alone(_: &fs::Metadata) -> bool {
    true
}

/// Takes from others what lets them write to a directory of ours, whatever the umask was when it was made.
#[cfg(unix)]
pub(super) fn close_to_others(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let found = fs::metadata(directory)?;
    if found.mode() & 0o022 == 0 || found.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(found.mode() & !0o022))
}

#[cfg(not(unix))]
pub(super) fn close_to_others(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Refuses a data directory, or a folder in it, behind which another place is.
pub fn refuse_links(data_dir: &Path, folder: &str) -> Result<(), Error> {
    let place = data_dir.join(folder);
    links::refuse_on_the_way(around(data_dir), &place).map_err(|reason| {
        let error = Error::new(ErrorKind::Disk, format!("cannot install {folder}: {reason}")).in_file(&place);
        hint(&reason).into_iter().fold(error, Error::hint)
    })
}

/// The directory that a data directory is in.
pub fn around(data_dir: &Path) -> &Path {
    data_dir.parent().unwrap_or(data_dir)
}

/// The next step if a link is the reason.
pub(super) fn hint(reason: &io::Error) -> Option<String> {
    LinkOnTheWay::of(reason).map(|LinkOnTheWay { link }| format!("remove the link: `rm {}`", shell_word(&shown(link))))
}

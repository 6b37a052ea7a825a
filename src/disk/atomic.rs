//! Files that are replaced whole, one or several: either the old bytes are there or the new ones, whatever happens in between.
//!
//! A new file is written next to the old one, flushed and renamed over it. Equal bytes are not written again.
//!
//! Configuration, lock file and trust file are replaced together: all new files are written and flushed next to the old ones before
//! the first one is renamed, so most failures happen while nothing has changed. Each rename is atomic: after a kill at any moment every
//! file is the old one or the new one, and the new ones are the first of the list.
//!
//! The caller's order makes a second run complete what a first one left: the trust file, then the lock files, then
//! configuration. A pin without an entry in a lock file is a known signer, no more. An entry that configuration does not
//! require yet is found again by the second run, which finds the configuration as the first one did. The reverse order
//! would leave a requirement that is there already, and an entry whose first use is not remembered.
//!
//! Source: `internal/replacefile` in terraform, which neither flushes nor locks, and replaces symbolic links.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{files, own};
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, Interrupted, What, Writing};
use crate::path::shown;

const BESIDE: &str = ".tflock-";

/// How many random characters that end has.
const RANDOM: usize = 9;

/// How many symbolic links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// These, whatever the umask and the old file say; `0o644` for a lock file.
    Exactly(u32),
    /// Those of the old file, or these if there is none.
    KeepOr(u32),
    /// These, as far as the umask allows.
    AtMost(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It had these bytes already and was not touched.
    Unchanged,
    Written,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("refusing to write {}: it leads to {}, outside of {}", shown(&bare(path)), shown(target), shown(within))]
    Outside { path: PathBuf, target: PathBuf, within: PathBuf },
    #[error("refusing to write {}: it leads to {}, where git keeps its own files", shown(&bare(path)), shown(target))]
    Repository { path: PathBuf, target: PathBuf },
    #[error("refusing to write {}: it changed after it was read", shown(&bare(.0)))]
    Changed(PathBuf),
    #[error("cannot work in {}: another program has locked it for too long", shown(&bare(.0)))]
    Busy(PathBuf),
    #[error("refusing to write {}: it is not a file", shown(&bare(.0)))]
    NotAFile(PathBuf),
    #[error("cannot {action} {}: {reason}", shown(&bare(path)))]
    System {
        /// What was being done, such as `write`.
        action: &'static str,
        path: PathBuf,
        #[source]
        reason: io::Error,
    },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// A path as users write it: without `./` before it, and not by a descriptor.
pub(super) fn bare(path: &Path) -> PathBuf {
    let bare = path.strip_prefix(".").ok().filter(|path| !path.as_os_str().is_empty());
    own::known_as(bare.unwrap_or(path))
}

pub fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |reason| StoreError::System { action, path, reason }
}

/// A file to be replaced, or created.
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'a> {
    /// Its directory must exist.
    pub path: &'a Path,
    pub bytes: &'a [u8],
    pub mode: FileMode,
    pub what: What,
}

/// Replaces a file whole, or creates it.
///
/// A symbolic link is followed and stays. Wherever the path leads must be inside `within`: the top of the working tree, or
/// the root module where there is none.
pub fn store(file: NewFile<'_>, within: &Path, interrupt: &Interrupt) -> Result<Stored, StoreError> {
    let staged = stage(file, within)?;
    staged.replace(&interrupt.writing()?)
}

#[derive(Debug)]
pub(super) struct Staged {
    path: PathBuf,
    target: PathBuf,
    what: What,
    /// `None` if the old file has the same bytes.
    temporary: Option<tempfile::NamedTempFile>,
}

/// Writes a new file next to the old one, which is not touched yet.
pub(super) fn stage(file: NewFile<'_>, within: &Path) -> Result<Staged, StoreError> {
    let NewFile { path, bytes, mode, what } = file;
    let target = resolve(path, within)?;
    let (Some(directory), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(StoreError::NotAFile(path.to_owned()));
    };
    let staged =
        |temporary, target: &Path| Staged { path: path.to_owned(), target: target.to_owned(), what, temporary };
    match std::fs::metadata(&target) {
        Ok(old) if !old.is_file() => return Err(StoreError::NotAFile(path.to_owned())),
        Ok(_) if std::fs::read(&target).is_ok_and(|old| old == bytes) => return Ok(staged(None, &target)),
        _ => {}
    }
    // The library adds the random name, which means nothing.
    let unnamed = |error: io::Error| failed("create a file next to", path)(io::Error::from(error.kind()));
    let mut temporary = self::temporary(directory, name).map_err(unnamed)?;
    temporary.as_file_mut().write_all(bytes).map_err(failed("write", path))?;
    set_mode(temporary.as_file(), mode, &target).map_err(failed("set the permissions of", path))?;
    temporary.as_file().sync_all().map_err(failed("write", path))?;
    Ok(staged(Some(temporary), &target))
}

/// A new file next to that of a name, which [`sweep`] knows.
pub(super) fn temporary(directory: &Path, name: &OsStr) -> io::Result<tempfile::NamedTempFile> {
    let mut prefix = name.to_owned();
    prefix.push(BESIDE);
    new_file(&prefix, directory)
}

/// A new file of a name that begins so. Until it is whole only the user may open it: whoever has it open could write to it later.
pub(super) fn new_file(prefix: &OsStr, directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new();
    file.prefix(prefix).rand_bytes(RANDOM);
    // The reason would name the new file, which no user knows.
    file.tempfile_in(directory).map_err(|reason| reason.kind().into())
}

/// How many milliseconds a program that has a file open is waited for, between attempts.
const DELAYS: [u64; 6] = [10, 20, 50, 100, 200, 500];

/// Puts a new file in the place of an old one. Windows refuses that while a program has the old one open without sharing, as
/// scanners do for a moment.
pub(crate) fn put_in_place(file: tempfile::NamedTempFile, target: &Path) -> io::Result<()> {
    // By the library of Rust, whose rename replaces what is open with sharing, on Windows too.
    let (_, path) = file.keep().map_err(|error| error.error)?;
    let done = renamed(&path, target);
    if done.is_err() {
        drop(std::fs::remove_file(&path));
    }
    done
}

/// Renames a file or a directory, and waits for a program that has it open for a moment.
pub(super) fn renamed(from: &Path, to: &Path) -> io::Result<()> {
    retried(&DELAYS, is_held, || std::fs::rename(from, to))
}

fn retried(
    delays: &[u64],
    is_passing: impl Fn(&io::Error) -> bool,
    mut attempt: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    for delay in delays {
        match attempt() {
            Err(reason) if is_passing(&reason) => std::thread::sleep(Duration::from_millis(*delay)),
            done => return done,
        }
    }
    attempt()
}

/// True if another program has a file open: `ERROR_ACCESS_DENIED`, `ERROR_SHARING_VIOLATION`, `ERROR_LOCK_VIOLATION`.
fn is_held(reason: &io::Error) -> bool {
    cfg!(windows) && matches!(reason.raw_os_error(), Some(5 | 32 | 33))
}

impl Staged {
    pub(super) fn replace(self, writing: &Writing<'_>) -> Result<Stored, StoreError> {
        let Some(temporary) = self.temporary else { return Ok(Stored::Unchanged) };
        put_in_place(temporary, &self.target).map_err(failed("replace", &self.path))?;
        writing.wrote(self.what, &self.path);
        if let Some(directory) = self.target.parent() {
            sync_directory(directory);
        }
        Ok(Stored::Written)
    }
}

/// Removes new files that a killed run left in a directory before it could put them in their places.
///
/// The caller holds the lock on the directory: no other run is about to use them. What cannot be removed stays.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && entry.file_name().to_str().is_some_and(is_left_behind) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

fn is_left_behind(name: &str) -> bool {
    let end = name.rsplit_once(BESIDE).filter(|(before, _)| !before.is_empty()).map(|(_, end)| end);
    end.is_some_and(|end| end.len() == RANDOM && end.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Follows symbolic links up to the file itself, which need not exist.
fn resolve(path: &Path, within: &Path) -> Result<PathBuf, StoreError> {
    let mut place = path.to_owned();
    let mut links = 0;
    while let Ok(link) = std::fs::read_link(&place) {
        place = directory_of(&place).join(link);
        links += 1;
        if links > MAX_LINKS {
            return Err(StoreError::NotAFile(path.to_owned()));
        }
    }
    let name = place.file_name().ok_or_else(|| StoreError::NotAFile(path.to_owned()))?;
    let directory = directory_of(&place);
    let target = std::fs::canonicalize(directory).map_err(failed("write into", directory))?.join(name);
    let within = std::fs::canonicalize(within).map_err(failed("write into", within))?;
    // What git keeps for itself is no part of the working tree.
    match target.strip_prefix(&within) {
        Ok(way) if !way.iter().any(|part| part.eq_ignore_ascii_case(".git")) => Ok(target),
        Ok(_) => Err(StoreError::Repository { path: path.to_owned(), target }),
        Err(_) => Err(StoreError::Outside { path: path.to_owned(), target, within }),
    }
}

/// The directory that a path is in; the current one for a bare name.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(unix)]
pub(super) fn set_mode(file: &File, mode: FileMode, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let bits = match mode {
        FileMode::Exactly(bits) => bits,
        FileMode::KeepOr(bits) => std::fs::metadata(path).map_or(bits, |old| old.permissions().mode() & 0o7777),
        FileMode::AtMost(bits) => bits & allowed(),
    };
    file.set_permissions(std::fs::Permissions::from_mode(bits))
}

/// Lets others use a directory that is complete, as far as the umask allows.
#[cfg(unix)]
pub(super) fn widen(directory: &Path, bits: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(bits & allowed()))
}

/// What the umask of the process takes away, once it is known.
#[cfg(unix)]
static UMASK: std::sync::OnceLock<u32> = std::sync::OnceLock::new();

/// Reads the umask. That is only possible by changing it for all threads, so it is called before there are others.
pub fn read_umask() {
    #[cfg(unix)]
    UMASK.get_or_init(|| {
        let umask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
        rustix::process::umask(umask);
        // It has 16 bits on macOS.
        #[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "32 bits on Linux"))]
        let taken: u32 = umask.bits().into();
        taken
    });
}

#[cfg(unix)]
fn allowed() -> u32 {
    !UMASK.get().copied().unwrap_or(0o022)
}

#[cfg(not(unix))]
pub(super) fn set_mode(_: &File, _: FileMode, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn widen(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Makes a rename last through a loss of power, where directories can be flushed. It is done already: never an error.
fn sync_directory(directory: &Path) {
    #[cfg(unix)]
    if let Ok(handle) = File::open(directory) {
        drop(handle.sync_all());
    }
    #[cfg(not(unix))]
    let _ = directory;
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let (file, hint) = match &error {
            StoreError::Outside { path, .. } | StoreError::Repository { path, .. } => {
                (path, Some("replace the symbolic link by a file, or run tflock in the working tree that it leads to"))
            }
            StoreError::Changed(path) => (path, Some("wait until other programs are done with it, and run again")),
            StoreError::Busy(path) => (path, Some("wait until it is done, or end it, and run again")),
            StoreError::System { path, reason, .. } if is_held(reason) => {
                (path, Some("close the program that has it open, such as an editor or `terraform`, and run again"))
            }
            StoreError::NotAFile(path) | StoreError::System { path, .. } => (path, None),
            StoreError::Interrupted(interrupted) => return (*interrupted).into(),
        };
        let of_link = match &error {
            StoreError::System { reason, .. } => files::hint_about_directory(reason),
            _ => None,
        };
        let mapped = Self::new(ErrorKind::Disk, error.to_string()).in_file(bare(file));
        hint.map(str::to_owned).into_iter().chain(of_link).fold(mapped, Self::hint)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    pub file: NewFile<'a>,
    pub was: Expected<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected<'a> {
    Anything,
    Absent,
    Bytes(&'a [u8]),
}

/// Replaces files, or creates them, in the order of the list; see [`store`] for each.
///
/// A file that already has its new bytes is not touched, whatever `was` says, so a second run can complete the first.
/// The caller must have locked `directory`; leftovers of killed runs are removed from it first. A signal finds all files
/// old, or waits until all are new.
pub fn store_all(
    files: &[Replacement<'_>],
    directory: &Path,
    within: &Path,
    interrupt: &Interrupt,
) -> Result<Vec<Stored>, StoreError> {
    sweep(directory);
    let staged: Vec<_> = files
        .iter()
        .map(|replacement| {
            check(*replacement)?;
            stage(replacement.file, within)
        })
        .collect::<Result<_, _>>()?;
    let writing = interrupt.writing()?;
    staged.into_iter().map(|file| file.replace(&writing)).collect()
}

fn check(Replacement { file, was }: Replacement<'_>) -> Result<(), StoreError> {
    if was == Expected::Anything {
        return Ok(());
    }
    let now = match std::fs::read(file.path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(reason) => return Err(StoreError::System { action: "read", path: file.path.to_owned(), reason }),
    };
    let is_as_expected = match (&now, was) {
        (None, Expected::Absent) => true,
        (Some(now), Expected::Bytes(was)) => now == was,
        _ => false,
    };
    if is_as_expected || now.as_deref() == Some(file.bytes) {
        Ok(())
    } else {
        Err(StoreError::Changed(file.path.to_owned()))
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod transaction_tests;

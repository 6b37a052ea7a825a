//! What tflock keeps for itself: the cache and the package store. The one place that creates, checks and opens what is in them.
//!
//! Nothing there is used that another user may have put there or may change: each directory, from the top down, and each file belongs
//! to the user or to root, and only its owner may write to it. No link is followed below the top, and nothing is opened that waits for
//! another program. Directories are made with `0700` (those of the store, which root modules may lead to, with `0755`) and files with
//! `0600`, whatever the umask, and never more than it allows.
//!
//! On Linux the top is opened once, and all else is reached from its descriptor: whoever may rename a directory above it changes
//! nothing. Below it only the user and root can rename anything, so what was checked stays what it is.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::atomic::{self, put_in_place};
use super::files;
use crate::parallel::locked;
use crate::path::links::{FileRefusal, is_absence, refuse_on_the_way, refused};
use crate::path::shown;
use crate::step::shell_word;

/// Why a directory or a file of tflock's own is not used. It comes inside of an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsafe {
    #[error(
        "{} can be written by other users, who could forge it; `chmod -R go-w {}` closes it, if none of them did; or set TFLOCK_CACHE_DIR",
        shown(path),
        shell_word(&shown(top))
    )]
    Open { path: PathBuf, top: PathBuf },
    #[error("{} belongs to user {owner}; remove it, or set TFLOCK_CACHE_DIR to a directory of your own", shown(path))]
    Foreign { path: PathBuf, owner: u32 },
    #[error("{} is a symbolic link, and tflock does not follow it; remove it or set TFLOCK_CACHE_DIR", shown(path))]
    Link { path: PathBuf },
    #[error("{} is not a directory; remove it or set TFLOCK_CACHE_DIR", shown(path))]
    NotADirectory { path: PathBuf },
}

impl Unsafe {
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<Unsafe> for io::Error {
    fn from(reason: Unsafe) -> Self {
        Self::other(reason)
    }
}

/// Directories for the user alone.
const PRIVATE: u32 = 0o700;

/// Directories of packages, which root modules may lead to.
pub const SHELF: u32 = 0o755;

/// What a file of ours is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenFor {
    Read,
    Append,
    /// To be locked; made if it is missing.
    Lock,
}

/// A directory of tflock's own, which need not exist yet.
#[derive(Debug)]
pub struct OwnFolder {
    /// Its path, as the user knows it.
    place: PathBuf,
    /// What leads to it from now on, once it exists.
    pinned: OnceLock<Pinned>,
    /// The directories below it that were checked, by their paths in it.
    checked: Mutex<HashSet<OsString>>,
    /// The first that was refused.
    problem: OnceLock<Unsafe>,
}

#[derive(Debug)]
struct Pinned {
    path: PathBuf,
    /// Open as long as the path is used.
    _handle: Option<File>,
}

impl OwnFolder {
    /// The directory at a place, unless it is not safe.
    pub fn at(place: &Path) -> io::Result<Self> {
        let folder = Self {
            place: place.to_owned(),
            pinned: OnceLock::new(),
            checked: Mutex::default(),
            problem: OnceLock::new(),
        };
        match folder.pin().err() {
            // It may be made later, or else why not is said then.
            Some(reason) if !is_absence(reason.kind()) => Err(reason),
            _ => Ok(folder),
        }
    }

    pub fn place(&self) -> &Path {
        &self.place
    }

    /// A path in it for other functions, without a check.
    pub fn path(&self, way: &Path) -> PathBuf {
        self.pinned.get().map_or(&self.place, |pinned| &pinned.path).join(way)
    }

    /// Why something in it was not used.
    pub fn problem(&self) -> Option<&Unsafe> {
        self.problem.get()
    }

    /// Opens the top and checks it.
    fn pin(&self) -> io::Result<&Path> {
        if let Some(pinned) = self.pinned.get() {
            return Ok(&pinned.path);
        }
        let handle = open_directory(&self.place)?;
        self.check(&handle.metadata()?, Path::new(""))?;
        let pinned = match pinned_path(&handle) {
            Some(path) => Pinned { path, _handle: Some(handle) },
            None => Pinned { path: self.place.clone(), _handle: None },
        };
        Ok(&self.pinned.get_or_init(|| pinned).path)
    }

    /// The bytes of a file. What is not there, not safe, no regular file, too large or unreadable counts as missing.
    pub fn read(&self, way: &Path) -> Option<Vec<u8>> {
        let path = self.existing(way.parent()?)?.join(way.file_name()?);
        let file = open(&path, OpenFor::Read).ok()?;
        let found = file.metadata().ok()?;
        self.check(&found, way).ok()?;
        files::contents(file, &found).ok()
    }

    pub fn read_text(&self, way: &Path) -> Option<String> {
        String::from_utf8(self.read(way)?).ok()
    }

    /// Writes a file by renaming. It is not flushed to the disk: what is damaged counts as absent.
    pub fn replace(&self, way: &Path, bytes: &[u8]) -> io::Result<()> {
        let directory = self.directory(way.parent().unwrap_or(Path::new("")))?;
        let mut file = atomic::new_file(".tmp".as_ref(), &directory)?;
        file.as_file_mut().write_all(bytes)?;
        put_in_place(file, &directory.join(way.file_name().unwrap_or_default()))
    }

    /// Opens a file to append to it. What is no file there is replaced by one.
    pub fn append(&self, way: &Path) -> io::Result<File> {
        let path = self.directory(way.parent().unwrap_or(Path::new("")))?.join(way.file_name().unwrap_or_default());
        let opened = open(&path, OpenFor::Append).and_then(|file| {
            let found = file.metadata()?;
            self.check(&found, way)?;
            if found.is_file() { Ok(file) } else { Err(refused(FileRefusal::NotAFile)) }
        });
        match opened {
            Err(reason) if Unsafe::of(&reason).is_none() && reason.kind() != io::ErrorKind::PermissionDenied => {
                self.replace(way, b"")?;
                open(&path, OpenFor::Append)
            }
            done => done,
        }
    }

    /// A file to be locked, made if it is missing; nothing is written to it.
    pub fn lock_file(&self, way: &Path) -> io::Result<File> {
        let path = self.directory(way.parent().unwrap_or(Path::new("")))?.join(way.file_name().unwrap_or_default());
        let file = open(&path, OpenFor::Lock)?;
        let found = file.metadata()?;
        self.check(&found, way)?;
        if found.is_file() { Ok(file) } else { Err(refused(FileRefusal::NotAFile)) }
    }

    /// A directory in it by a path for other functions, if it exists and is safe.
    pub fn existing(&self, way: &Path) -> Option<PathBuf> {
        self.reached(way, None).ok()
    }

    /// The same, made if it is missing, for the user alone.
    pub fn directory(&self, way: &Path) -> io::Result<PathBuf> {
        self.reached(way, Some(PRIVATE))
    }

    /// The same, which others may read as far as the umask allows. One of ours that a group may write to is closed: what is in it is
    /// hashed before it is used.
    pub fn shelf(&self, way: &Path) -> io::Result<PathBuf> {
        self.reached(way, Some(SHELF))
    }

    fn reached(&self, way: &Path, creation: Option<u32>) -> io::Result<PathBuf> {
        let top = match self.pin() {
            Err(reason) if reason.kind() == io::ErrorKind::NotFound && creation.is_some() => {
                refuse_on_the_way(&self.place, &self.place)?;
                make_directories(&self.place)?;
                self.pin()?
            }
            pinned => pinned?,
        };
        let path = top.join(way);
        if locked(&self.checked).contains(way.as_os_str()) {
            return Ok(path);
        }
        let mut reached = PathBuf::new();
        for part in way.components() {
            let Component::Normal(part) = part else { return Err(io::ErrorKind::InvalidFilename.into()) };
            reached.push(part);
            if locked(&self.checked).contains(reached.as_os_str()) {
                continue;
            }
            let place = top.join(&reached);
            if let Some(mode) = creation {
                make_directory(&place, mode)?;
            }
            if creation == Some(SHELF) {
                close_to_group(&place)?;
            }
            self.check_directory(&place.symlink_metadata()?, &reached)?;
            locked(&self.checked).insert(reached.clone().into_os_string());
        }
        Ok(path)
    }

    fn check_directory(&self, found: &fs::Metadata, way: &Path) -> io::Result<()> {
        let path = || self.place.join(way);
        match found {
            found if found.is_symlink() => Err(self.refused(Unsafe::Link { path: path() })),
            found if !found.is_dir() => Err(self.refused(Unsafe::NotADirectory { path: path() })),
            found => self.check(found, way),
        }
    }

    /// Refuses what another user owns or may write to.
    fn check(&self, found: &fs::Metadata, way: &Path) -> io::Result<()> {
        let Some(fault) = fault_of(found) else { return Ok(()) };
        let path = if way.as_os_str().is_empty() { self.place.clone() } else { self.place.join(way) };
        Err(self.refused(match fault {
            Danger::Foreign(owner) => Unsafe::Foreign { path, owner },
            Danger::Open => Unsafe::Open { path, top: self.place.clone() },
        }))
    }

    fn refused(&self, problem: Unsafe) -> io::Error {
        self.problem.get_or_init(|| problem.clone());
        problem.into()
    }
}

/// Why other users decide about a file or a directory.
#[cfg_attr(not(unix), expect(dead_code, reason = "owners are not read here"))]
enum Danger {
    Foreign(u32),
    Open,
}

#[cfg(unix)]
fn fault_of(found: &fs::Metadata) -> Option<Danger> {
    use std::os::unix::fs::MetadataExt as _;

    if found.uid() != 0 && found.uid() != rustix::process::geteuid().as_raw() {
        return Some(Danger::Foreign(found.uid()));
    }
    (found.mode() & 0o022 != 0).then_some(Danger::Open)
}

/// True if only the user and root may write to a file or directory.
pub(super) fn is_safe(found: &fs::Metadata) -> bool {
    fault_of(found).is_none()
}

/// Closes a directory of the store of ours that a group may write to.
#[cfg(unix)]
fn close_to_group(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    let found = directory.symlink_metadata()?;
    let is_open = found.is_dir() && found.mode() & 0o022 == 0o020;
    if !is_open || found.uid() != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(found.mode() & 0o7755))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn close_to_group(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn fault_of(_: &fs::Metadata) -> Option<Danger> {
    None
}

/// The path of a directory of ours that users know: errors show no descriptor.
pub fn known_as(path: &Path) -> PathBuf {
    let rest = path.strip_prefix(DESCRIPTORS).ok();
    let named = rest.and_then(|rest| {
        let (number, rest) = (rest.components().next()?, rest.components().skip(1).collect::<PathBuf>());
        let place = fs::read_link(Path::new(DESCRIPTORS).join(number)).ok()?;
        Some(if rest.as_os_str().is_empty() { place } else { place.join(rest) })
    });
    named.unwrap_or_else(|| path.to_owned())
}

const DESCRIPTORS: &str = "/proc/self/fd";

/// A path that leads to an open directory whatever becomes of its name; `None` where the system has none.
#[cfg(target_os = "linux")]
fn pinned_path(handle: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::MetadataExt as _;

    let path = Path::new(DESCRIPTORS).join(handle.as_raw_fd().to_string());
    let (one, other) = (path.metadata().ok()?, handle.metadata().ok()?);
    ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn pinned_path(_: &File) -> Option<PathBuf> {
    None
}

#[cfg(unix)]
fn open_directory(place: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::CLOEXEC;
    let opened = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(place);
    opened.map_err(|reason| match reason.kind() {
        io::ErrorKind::NotADirectory if place.exists() => Unsafe::NotADirectory { path: place.to_owned() }.into(),
        _ => reason,
    })
}

#[cfg(windows)]
fn open_directory(place: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;

    if !place.metadata()?.is_dir() {
        return Err(Unsafe::NotADirectory { path: place.to_owned() }.into());
    }
    // `FILE_FLAG_BACKUP_SEMANTICS`, without which no directory can be opened.
    File::options().read(true).custom_flags(0x0200_0000).open(place)
}

/// Opens a file, no link and no pipe that waits.
fn open(path: &Path, purpose: OpenFor) -> io::Result<File> {
    let mut options = File::options();
    match purpose {
        OpenFor::Read => options.read(true),
        OpenFor::Append => options.append(true).create(true),
        OpenFor::Lock => options.read(true).write(true).create(true).truncate(false),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

/// A new file that only the user may read or write.
pub fn new_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a directory, unless it is there.
fn make_directory(path: &Path, mode: u32) -> io::Result<()> {
    match files::directory_builder(mode).create(path) {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => Err(reason),
        _ => Ok(()),
    }
}

/// A new directory for the user alone, which goes with its handle.
pub fn temporary_directory(prefix: &str, parent: &Path) -> io::Result<tempfile::TempDir> {
    let mut directory = tempfile::Builder::new();
    directory.prefix(prefix);
    #[cfg(unix)]
    directory.permissions(std::os::unix::fs::PermissionsExt::from_mode(PRIVATE));
    // The reason would name the new directory, which no user knows.
    directory.tempdir_in(parent).map_err(|reason| reason.kind().into())
}

/// A file that only the user may read or write, empty.
pub fn truncated_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a directory and those above it, to which no other user may write.
pub fn make_directories(path: &Path) -> io::Result<()> {
    files::directory_builder(SHELF).recursive(true).create(path)
}

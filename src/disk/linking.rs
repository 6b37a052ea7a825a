//! Directories of packages that appear whole: links to the files of a stored package, made next to their place and renamed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use tempfile::TempDir;

use super::atomic::{StoreError, failed, renamed, widen};
use super::root_files::DirectoryLock;
use super::{files, own};
use crate::interrupt::{Interrupt, What};
use crate::settings::LinkChoice;

/// What our own directories begin with, which no tool takes for a package.
pub(super) const OWN: &str = ".tflock-";

/// Makes packages appear, all in one way.
#[derive(Debug)]
pub struct Linker {
    choice: LinkChoice,
    interrupt: Interrupt,
    /// False once the file system has refused: it is not worth a second attempt.
    clones: AtomicBool,
    copied: AtomicBool,
}

impl Linker {
    pub fn new(choice: LinkChoice, interrupt: Interrupt) -> Self {
        Self { choice, interrupt, clones: AtomicBool::new(true), copied: AtomicBool::new(false) }
    }

    /// True if it had to copy although links were wanted.
    pub fn had_to_copy(&self) -> bool {
        self.choice == LinkChoice::Auto && self.copied.load(Ordering::Relaxed)
    }

    /// Puts a package of the store in a place, whatever is there; its parent must exist. The caller has the lock on it. True if a file
    /// was copied, and not linked; `None` if another run has removed the package meanwhile.
    pub fn place(&self, from: &Path, place: &Path) -> Result<Option<bool>, StoreError> {
        if !from.is_dir() {
            return Ok(None);
        }
        // With the lock nothing of it is removed, so all of its files are seen.
        let _lock = DirectoryLock::acquire_shared_patiently(from.parent().unwrap_or(from))?;
        if from.is_dir() { self.attempt(from, place).map(Some) } else { Ok(None) }
    }

    fn attempt(&self, from: &Path, place: &Path) -> Result<bool, StoreError> {
        let parent = place.parent().unwrap_or(place);
        let staged = temporary_in(parent)?;
        if self.choice == LinkChoice::Symlink {
            let link = staged.path().join("link");
            symlink(&own::known_as(from), &link).map_err(failed("link", place))?;
            let writing = self.interrupt.writing()?;
            exchange(&link, place)?;
            writing.wrote(What::InstalledPackage, place);
            return Ok(false);
        }
        let copied = self.fill(from, staged.path())?;
        let writing = self.interrupt.writing()?;
        put_in_place(staged, place)?;
        writing.wrote(What::InstalledPackage, place);
        Ok(copied)
    }

    /// Removes a package, unless the run was interrupted.
    pub fn remove(&self, place: &Path) -> Result<(), StoreError> {
        let writing = self.interrupt.writing()?;
        remove(place)?;
        writing.wrote(What::RemovedPackage, place);
        Ok(())
    }

    fn fill(&self, from: &Path, to: &Path) -> Result<bool, StoreError> {
        let mut copied = false;
        let mut folders = vec![(from.to_owned(), to.to_owned())];
        while let Some((from, to)) = folders.pop() {
            for entry in fs::read_dir(&from).map_err(failed("read", &from))? {
                let entry = entry.map_err(failed("read", &from))?;
                let (source, target) = (entry.path(), to.join(entry.file_name()));
                if entry.file_type().map_err(failed("read", &source))?.is_dir() {
                    files::directory_builder(own::SHELF).create(&target).map_err(failed("create", &target))?;
                    folders.push((source, target));
                } else {
                    copied |= self.link(&source, &target).map_err(failed("link", &source))?;
                }
            }
        }
        Ok(copied)
    }

    /// True if it had to copy.
    fn link(&self, from: &Path, to: &Path) -> io::Result<bool> {
        match self.choice {
            LinkChoice::Clone => clone(from, to).map(|()| false),
            LinkChoice::Hard => fs::hard_link(from, to).map(|()| false),
            LinkChoice::Copy => copy(from, to).map(|()| true),
            LinkChoice::Auto | LinkChoice::Symlink => {
                if self.clones.load(Ordering::Relaxed) {
                    match clone(from, to) {
                        Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                            self.clones.store(false, Ordering::Relaxed);
                            let _ = fs::remove_file(to);
                        }
                        done => return done.map(|()| false),
                    }
                }
                match fs::hard_link(from, to) {
                    Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                        copy(from, to)?;
                        self.copied.store(true, Ordering::Relaxed);
                        Ok(true)
                    }
                    done => done.map(|()| false),
                }
            }
        }
    }
}

fn clone(from: &Path, to: &Path) -> io::Result<()> {
    reflink_copy::reflink(from, to)?;
    set_ordinary(from, to)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    set_ordinary(from, to)
}

#[cfg(unix)]
fn set_ordinary(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let executable = fs::metadata(from)?.permissions().mode() & 0o111 != 0;
    fs::set_permissions(to, fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_ordinary(_: &Path, to: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(to)?.permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "this is not Unix")]
    permissions.set_readonly(false);
    fs::set_permissions(to, permissions)
}

/// Makes a file read-only for all, and lets all run it if it is a program.
#[cfg(unix)]
pub(super) fn set_read_only(path: &Path, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(if executable { 0o555 } else { 0o444 }))
}

#[cfg(not(unix))]
pub(super) fn set_read_only(path: &Path, _: bool) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn symlink(to: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

#[cfg(windows)]
fn symlink(to: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(to, link)
}

/// A new directory below `parent`, which [`sweep`] recognises, for the user alone.
pub(super) fn temporary_in(parent: &Path) -> Result<TempDir, StoreError> {
    own::temporary_directory(OWN, parent).map_err(failed("create a directory in", parent))
}

/// Opens a directory to readers as far as the umask allows, and renames it to its place. The old one is moved away first, so the place
/// has the old one, the new one or nothing.
pub(super) fn put_in_place(staged: TempDir, place: &Path) -> Result<(), StoreError> {
    widen(staged.path(), own::SHELF).map_err(failed("set the permissions of", place))?;
    exchange(staged.path(), place)?;
    // It is no longer there to be removed.
    let _ = staged.keep();
    Ok(())
}

fn exchange(from: &Path, place: &Path) -> Result<(), StoreError> {
    if !is_taken(place) {
        // Nothing is moved away, so a run that is killed after the rename leaves nothing behind.
        return renamed(from, place).map_err(failed("create", place));
    }
    let aside = temporary_in(place.parent().unwrap_or(place))?;
    take_away(place, &aside)?;
    renamed(from, place).map_err(|reason| {
        // Windows refuses to rename what another program has open: nothing is lost.
        let _ = renamed(&aside.path().join("old"), place);
        failed("replace", place)(reason)
    })
}

/// Removes a directory or a link, never what a link leads to. It goes at once, not file by file.
pub fn remove(place: &Path) -> Result<(), StoreError> {
    let aside = temporary_in(place.parent().unwrap_or(place))?;
    take_away(place, &aside)
}

/// Moves what is in a place into a directory that is about to be removed.
fn take_away(place: &Path, aside: &TempDir) -> Result<(), StoreError> {
    match renamed(place, &aside.path().join("old")) {
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(failed("replace", place)),
    }
}

/// Removes what killed runs left in a directory. The caller has the lock on it.
pub fn sweep(directory: &Path) {
    for path in left_in(directory) {
        let _ = fs::remove_dir_all(path);
    }
}

/// What killed runs left in a directory, or what other runs are working on.
pub fn left_in(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(OWN)).map(|entry| entry.path())
}

/// True if anything has this path, a link that leads nowhere too.
pub fn is_taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The bytes of all files in a directory.
pub fn size_of(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let size = |path: PathBuf| match fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() => size_of(&path),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(|entry| size(entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_replaced_stays() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("place");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("file"), "old").unwrap();
        exchange(&directory.path().join("absent"), &place).unwrap_err();
        exchange(&directory.path().join("absent"), &directory.path().join("new")).unwrap_err();
        assert_eq!(fs::read_to_string(place.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

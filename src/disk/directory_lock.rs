//! Locks on directories, for concurrent runs.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::atomic::{StoreError, failed};

/// A lock on a directory: while it lives, no other run has the lock for writing.
///
/// It creates no file in the directory: the directory itself is locked (on Windows, a file in the temporary directory). A
/// run keeps it while it reads or writes files, never during a request, and never waits for a second lock; except in the
/// package store, where runs wait for another run's download, and all take the locks in one order.
#[derive(Debug)]
pub struct DirectoryLock {
    /// Closing it gives the lock back. Where the file system knows no locks it means none.
    _handle: File,
}

/// How long a lock is waited for: a minute, looked at every so often.
const PATIENCE: (u32, Duration) = (3000, Duration::from_millis(20));

impl DirectoryLock {
    /// The lock for writing; waits for others who read or write there, a minute at most.
    pub fn acquire(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock, PATIENCE)
    }

    /// The lock for writing where others may be downloading: waits for them ten minutes.
    pub fn acquire_patiently(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock, (10 * PATIENCE.0, PATIENCE.1))
    }

    /// The lock for reading, which others may have too; waits for those who write there, a minute at most.
    pub fn acquire_shared(directory: &Path) -> Result<Self, StoreError> {
        Self::wait(directory, File::try_lock_shared, PATIENCE)
    }

    fn wait(
        directory: &Path,
        lock: fn(&File) -> Result<(), TryLockError>,
        (times, pause): (u32, Duration),
    ) -> Result<Self, StoreError> {
        let handle = open_for_lock(directory).map_err(failed("lock", directory))?;
        for _ in 0..times {
            // A file system without locks is no reason not to work.
            if !matches!(lock(&handle), Err(TryLockError::WouldBlock)) {
                return Ok(Self { _handle: handle });
            }
            std::thread::sleep(pause);
        }
        Err(StoreError::Busy(directory.to_owned()))
    }
}

#[cfg(not(windows))]
fn open_for_lock(directory: &Path) -> io::Result<File> {
    File::open(directory)
}

#[cfg(windows)]
fn open_for_lock(directory: &Path) -> io::Result<File> {
    let place = std::fs::canonicalize(directory)?;
    let digest = crate::hash::Sha256Digest::of(place.as_os_str().as_encoded_bytes()).to_hex();
    let file = std::env::temp_dir().join(format!("tflock-{}.lock", &digest[..32]));
    File::options().create(true).truncate(false).write(true).open(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn locked_work_is_done_one_after_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("count");
        std::fs::write(&file, "0").unwrap();
        let add = || {
            for _ in 0..50 {
                let _lock = DirectoryLock::acquire(directory.path()).unwrap();
                let count: u32 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
                std::fs::write(&file, (count + 1).to_string()).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(add);
            }
        });
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "200");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(DirectoryLock::acquire(&directory.path().join("none")).is_err());
    }

    #[test]
    fn waiting_for_a_lock_ends() {
        let directory = tempfile::tempdir().unwrap();
        let short = (2, Duration::from_millis(1));
        let writer = DirectoryLock::acquire(directory.path()).unwrap();
        for lock in [File::try_lock, File::try_lock_shared] {
            let error = DirectoryLock::wait(directory.path(), lock, short).unwrap_err();
            assert!(matches!(error, StoreError::Busy(_)), "{error}");
            assert!(!Error::from(error).hints.is_empty());
        }
        drop(writer);
        let readers = [(); 2].map(|()| DirectoryLock::acquire_shared(directory.path()).unwrap());
        assert!(DirectoryLock::wait(directory.path(), File::try_lock, short).is_err());
        drop(readers);
        DirectoryLock::wait(directory.path(), File::try_lock, short).unwrap();
    }
}

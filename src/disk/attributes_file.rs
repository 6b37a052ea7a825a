//! The attributes file at the top of a working tree.

use std::io;
use std::path::Path;

use super::atomic::{Mode, NewFile, Stored, store};
use super::directory_lock::DirectoryLock;
use super::text;
use crate::error::{Error, ErrorKind};
use crate::git::tracked::FILE_NAME;
use crate::interrupt::{Interrupt, What};
use crate::path::shown;

/// Writes what `change` makes of the attributes file, with the lock on its directory; the text of a file that is not there
/// is empty. With nothing to say there is none.
pub fn update(top: &Path, interrupt: &Interrupt, change: impl FnOnce(&[u8]) -> Vec<u8>) -> Result<Stored, Error> {
    let path = top.join(FILE_NAME);
    let _lock = DirectoryLock::acquire(top)?;
    let old = text::read(&path)?.unwrap_or_default();
    let new = change(&old);
    if new == old {
        return Ok(Stored::Unchanged);
    }
    if !new.is_empty() {
        let file = NewFile { path: &path, bytes: &new, mode: Mode::KeepOr(0o644), what: What::File };
        return Ok(store(file, top, interrupt)?);
    }
    let writing = interrupt.writing()?;
    match std::fs::remove_file(&path) {
        Ok(()) => {
            writing.wrote(What::File, &path);
            Ok(Stored::Written)
        }
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(Stored::Unchanged),
        Err(reason) => {
            let message = format!("cannot remove {}: {reason}", shown(&path));
            Err(Error::new(ErrorKind::Disk, message).in_file(path))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let directory = tempfile::tempdir().unwrap();
        let add = |by: u8| {
            for _ in 0..20 {
                update(directory.path(), &Interrupt::default(), |text| [text, &[by, b'\n']].concat()).unwrap();
            }
        };
        std::thread::scope(|scope| {
            for by in b"abcd" {
                scope.spawn(move || add(*by));
            }
        });
        let text = std::fs::read_to_string(directory.path().join(FILE_NAME)).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|by| text.matches(by).count()), [20; 4]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let empty = || update(directory.path(), &Interrupt::default(), |_| Vec::new()).unwrap();
        assert_eq!([empty(), empty()], [Stored::Written, Stored::Unchanged]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

//! The bytes of a lock file.

use std::io;
use std::path::Path;

use super::atomic::bare;
use super::files;
use crate::error::{Error, ErrorKind};
use crate::path::links::Refusal;
use crate::path::shown;

pub fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    files::read(path).map_err(|reason| {
        let (refusal, path) = (Refusal::of(&reason), bare(path));
        let message = match refusal {
            Some(Refusal::TooLarge) => format!("the lock file {} is larger than 16 MiB", shown(path)),
            _ => format!("cannot read the lock file {}: {reason}", shown(path)),
        };
        let hint = match refusal {
            _ if reason.kind() == io::ErrorKind::IsADirectory => {
                Some("move the directory away, and restore the file from version control")
            }
            Some(Refusal::TooLarge) => Some("restore the file from version control"),
            Some(Refusal::Nowhere | Refusal::Circle) => Some("fix the symbolic link, or remove it"),
            Some(Refusal::Outside | Refusal::Repository) => {
                Some("replace the symbolic link by a file in the working tree")
            }
            // `ERROR_SHARING_VIOLATION` or `ERROR_LOCK_VIOLATION`.
            None if cfg!(windows) && matches!(reason.raw_os_error(), Some(32 | 33)) => {
                Some("close the program that has it open, and run again")
            }
            Some(Refusal::NotAFile | Refusal::Name) | None => None,
        };
        hint.into_iter().fold(Error::new(ErrorKind::LockFile, message).in_file(path), Error::hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_not_unreadable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert_eq!(read(&path).unwrap(), None);
        std::fs::write(&path, "x").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some(&b"x"[..]));
        assert!(read(folder.path()).unwrap_err().message.starts_with("cannot read the lock file "));
    }
}

//! An index of known hashes that several machines share, as a directory.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::atomic::new_file;
use super::cache::exchange::IndexKey;
use super::{directories, files};
use crate::path::{shown, worktree};
use crate::settings::IndexPlace;

/// True if an index is a directory in one of some working trees, by whatever spelling.
pub fn is_within(place: &IndexPlace, trees: &[PathBuf]) -> bool {
    match place {
        IndexPlace::Directory(base) => worktree::is_within(base, trees),
        IndexPlace::Https(_) | IndexPlace::Cloud(_) => false,
    }
}

/// The content of an entry of an index; `None` if it does not exist.
pub fn read(base: &Path, key: &IndexKey) -> Result<Option<Vec<u8>>, String> {
    match files::read_named_to(&base.join(key.name()), key.limit()) {
        Ok(text) => Ok(Some(text)),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound && base.is_dir() => Ok(None),
        Err(problem) => Err(format!("{}: {problem}", shown(base))),
    }
}

/// Writes an entry, whole or not at all. One that is there stays unchanged; false then.
pub fn write(entry: &Path, line: &str) -> io::Result<bool> {
    if entry.exists() {
        return Ok(false);
    }
    let directory = entry.parent().unwrap_or(entry);
    directories::create(directory)?;
    let mut temporary = new_file(".tmp".as_ref(), directory)?;
    temporary.write_all(line.as_bytes())?;
    match temporary.persist_noclobber(entry) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::cache::exchange::{decode_line, encode_line};
    use crate::disk::cache::{IndexEntry, Origin};
    use crate::hash::Sha256Digest;

    /// 200 readers and 8 writers at once: an entry is there whole or not at all.
    #[test]
    fn nothing_is_torn() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        let digest = |salt: &str, number: u32| Sha256Digest::of(format!("{salt}{number}").as_bytes());
        let entries: Vec<IndexEntry> = (0..50)
            .map(|number| IndexEntry {
                zh: digest("zh", number),
                h1: digest("h1", number),
                size: u64::from(number),
                origin: Origin::Imported,
            })
            .collect();
        let read_all = || {
            for entry in &entries {
                if let Some(text) = read(base, &IndexKey::Archive(entry.zh)).unwrap() {
                    assert_eq!(decode_line(&text).as_ref(), Some(entry));
                }
            }
        };
        let written = std::sync::atomic::AtomicUsize::new(0);
        let write_all = || {
            for entry in &entries {
                let news = write(&base.join(IndexKey::Archive(entry.zh).name()), &encode_line(entry)).unwrap();
                written.fetch_add(usize::from(news), std::sync::atomic::Ordering::Relaxed);
            }
        };
        std::thread::scope(|scope| {
            for number in 0..208 {
                if number % 26 == 0 {
                    scope.spawn(write_all)
                } else {
                    scope.spawn(read_all)
                };
            }
        });
        assert_eq!(written.into_inner(), entries.len());
        read_all();
    }
}

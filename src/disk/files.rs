//! The one reader of files that someone else may have written: those of root modules, their settings and trust files; and the
//! directories that tflock makes for others: data directories, mirrors. `own.rs` has what it keeps for itself.
//!
//! Only regular files of at most [`LIMIT`] bytes are read, and links that `path/links.rs` refuses are not followed.
//!
//! No directory of ours is behind a symbolic link that a change of a working tree may contain: what is written there, and what is swept
//! there, would be elsewhere. The way is looked at before anything is made.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use super::files;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::parallel::locked;
use crate::path::links::{self, FileRefusal, LinkOnTheWay, is_absence, refused, stepwise};
use crate::path::shown;
use crate::step::shell_word;

/// The most bytes of a file; no real one comes near.
pub const LIMIT: u64 = 16 << 20;

/// The bytes of a file; `None` if it does not exist.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            contents(file, &found).map(Some)
        }
        Err(reason) if is_absence(reason.kind()) => Ok(None),
        Err(reason) => Err(reason),
    }
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    if let Some(file) = links::open_without_links(path)? {
        return Ok(file);
    }
    let place = stepwise(path)?;
    // Before it is opened: opening a pipe waits for its other end.
    check(&place.symlink_metadata()?)?;
    std::fs::File::open(&place)
}

fn check(meta: &std::fs::Metadata) -> io::Result<()> {
    match meta {
        meta if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        meta if !meta.is_file() => Err(refused(FileRefusal::NotAFile)),
        meta if meta.len() > LIMIT => Err(refused(FileRefusal::TooLarge)),
        _ => Ok(()),
    }
}

/// The bytes of what a user named on the command line, even a pipe.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    bounded(std::fs::File::open(path)?, 0)
}

/// At most one byte more than so many of a file in a directory that others may fill. A pipe is not waited for.
pub fn read_shared(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_at_once(path)?;
    if !file.metadata()?.is_file() {
        return Err(refused(FileRefusal::NotAFile));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// At most one byte more than so many of what a user named on the command line, even a pipe.
pub fn read_named_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is in a regular file.
pub(super) fn contents(file: std::fs::File, found: &std::fs::Metadata) -> io::Result<Vec<u8>> {
    check(found)?;
    // One byte more shows its end without another look.
    bounded(file, usize::try_from(found.len()).unwrap_or_default() + 1)
}

fn bounded(file: std::fs::File, expected: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected);
    file.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT { Err(refused(FileRefusal::TooLarge)) } else { Ok(bytes) }
}

/// `None` if there is no such file.
pub fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    files::read(path).map_err(|reason| unreadable(ErrorKind::Disk, path, &reason))
}

/// Reads a path from the command line, which may be a pipe; `None` if there is no such file.
pub fn read_named_file(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match files::read_named(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(reason) if is_absence(reason.kind()) => Ok(None),
        Err(reason) => Err(unreadable(ErrorKind::Disk, path, &reason)),
    }
}

/// Reads one of tflock's own files, in UTF-8; `None` if there is no such file. Errors show it as `named`.
pub fn read_text(path: &Path, named: &Path, kind: ErrorKind) -> Result<Option<String>, Error> {
    let Some(bytes) = files::read(path).map_err(|reason| unreadable(kind, named, &reason))? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| unreadable(kind, named, &"it is not UTF-8 text"))
}

fn unreadable(kind: ErrorKind, path: &Path, reason: &dyn Display) -> Error {
    Error::new(kind, format!("cannot read {}: {reason}", shown(path))).in_file(path)
}

/// True even for a broken link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The names in a directory that are UTF-8; empty if it cannot be read.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

#[derive(Debug)]
pub struct TextMemo<V> {
    /// The first text, which most others are compared with; so a run about one root module hashes nothing.
    first: OnceLock<(Box<[u8]>, V)>,
    others: Mutex<HashMap<Sha256Digest, V>>,
}

impl<V> Default for TextMemo<V> {
    fn default() -> Self {
        Self { first: OnceLock::new(), others: Mutex::default() }
    }
}

impl<V: Clone> TextMemo<V> {
    /// What was made of an equal text, else what is made now, which is kept if the second value says it; an error is not.
    pub fn get_or_make<E>(&self, text: &[u8], make: impl FnOnce() -> Result<(V, bool), E>) -> Result<V, E> {
        let Some((first, of_first)) = self.first.get() else {
            let (value, is_kept) = make()?;
            if is_kept {
                // Another thread may have been faster, with this text or another one.
                let _ = self.first.set((text.into(), value.clone()));
            }
            return Ok(value);
        };
        if **first == *text {
            return Ok(of_first.clone());
        }
        let digest = Sha256Digest::of(text);
        if let Some(known) = locked(&self.others).get(&digest) {
            return Ok(known.clone());
        }
        let (value, is_kept) = make()?;
        Ok(if is_kept { locked(&self.others).entry(digest).or_insert(value).clone() } else { value })
    }
}

/// Makes directories that no other user may write to, whatever the umask.
pub(super) fn directory_builder(mode: u32) -> fs::DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Makes a directory and those above it, to which no other user may write. Links that lead to the working tree or to the user's own directories are followed.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    create_directory_below(directory, directory)
}

/// The same; below `top` no link is followed, in a working tree or not.
pub fn create_directory_below(top: &Path, directory: &Path) -> io::Result<()> {
    links::refuse_on_the_way(top, directory)?;
    directory_builder(0o755).recursive(true).create(directory)
}

/// Refuses a data directory, or a folder in it, behind which another place is.
pub fn refuse_linked_directory(data_dir: &Path, folder: &str) -> Result<(), Error> {
    let place = data_dir.join(folder);
    links::refuse_on_the_way(around_data_dir(data_dir), &place).map_err(|reason| {
        let error = Error::new(ErrorKind::Disk, format!("cannot install {folder}: {reason}")).in_file(&place);
        error.hints(hint_about_directory(&reason))
    })
}

/// The directory that a data directory is in.
pub fn around_data_dir(data_dir: &Path) -> &Path {
    data_dir.parent().unwrap_or(data_dir)
}

/// The next step if a link is the reason.
pub(super) fn hint_about_directory(reason: &io::Error) -> Option<String> {
    LinkOnTheWay::of(reason).map(|LinkOnTheWay { link }| format!("remove the link: `rm {}`", shell_word(&shown(link))))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;
    use crate::path::links::{stations, without_links};

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap().join("tree");
        for place in [".git", "a/b", "c", ".terraform/modules", "../outside"] {
            std::fs::create_dir_all(top.join(place)).unwrap();
        }
        for file in ["c/f", ".git/f", "../outside/f"] {
            std::fs::write(top.join(file), file).unwrap();
        }
        (folder, top)
    }

    #[test]
    fn links_stay_in_the_work_tree() {
        let (_folder, top) = tree();
        let outside = top.join("../outside/f");
        let refusal = |path: &str| read(&top.join(path)).err().and_then(|error| FileRefusal::of(&error));
        let rows: [(&str, &str, &str, Option<FileRefusal>); 13] = [
            ("a/l", "../c/f", "a/l", None),
            ("a/b/up", "../..", "a/b/up/c/f", None),
            ("chain", "a/l", "chain", None),
            ("out", "../outside/f", "out", Some(FileRefusal::Outside)),
            // Out and in again: elsewhere the tree has another name.
            ("round", "../tree/c/f", "round", Some(FileRefusal::Outside)),
            ("absolute", outside.to_str().unwrap(), "absolute", Some(FileRefusal::Outside)),
            ("process", "/proc/self/cwd/f", "process", Some(FileRefusal::Outside)),
            ("folder", "../outside", "folder/f", Some(FileRefusal::Outside)),
            ("repository", ".git/f", "repository", Some(FileRefusal::Repository)),
            ("here", ".", "here/.git/f", Some(FileRefusal::Repository)),
            ("circle", "circle", "circle", Some(FileRefusal::Circle)),
            ("nowhere", "c/none", "nowhere", Some(FileRefusal::Nowhere)),
            (".terraform/modules/m", outside.parent().unwrap().to_str().unwrap(), ".terraform/modules/m/f", None),
        ];
        for (link, target, path, wanted) in rows {
            symlink(target, top.join(link)).unwrap();
            assert_eq!(refusal(path), wanted, "{link}");
        }
        // `..` that a caller names is no link.
        assert_eq!(read(&top.join("a/../../outside/f")).unwrap().as_deref(), Some(&b"../outside/f"[..]));
        assert_eq!(read(&top.join("none/f")).unwrap(), None);
        let shown = |path: &str| -> Vec<String> {
            let stations = stations(&top.join(path)).into_iter();
            stations.map(|place| place.strip_prefix(&top).unwrap().display().to_string()).collect()
        };
        assert_eq!(shown("chain"), ["chain", "a/l", "c/f"]);
        assert_eq!(shown("a/b/up/chain"), ["a/b/up", "chain", "a/l", "c/f"]);
        assert_eq!(shown("c/f"), ["c/f"]);
        assert_eq!(shown("nowhere").first().map(String::as_str), Some("nowhere"));
    }

    #[test]
    fn directories_are_named_without_links() {
        let (_folder, top) = tree();
        symlink("../c", top.join("a/m")).unwrap();
        symlink("a", top.join("root")).unwrap();
        for (base, dir, named) in [
            ("a", "m", "../c"),
            ("a", "../a/b", "../a/b"),
            ("a", "b", "b"),
            ("root", "m", "../c"),
            ("root", "../c", "../c"),
            ("a", "m/none", "m/none"),
            ("c", "../root/b", "../a/b"),
            ("a", "../root", ""),
        ] {
            assert_eq!(without_links(&top.join(base), Path::new(dir)), Path::new(named), "{base} {dir}");
        }
    }

    #[test]
    fn only_regular_files_of_some_size() {
        let (_folder, top) = tree();
        let refusal = |path: &Path| read(path).err().and_then(|error| FileRefusal::of(&error));
        assert_eq!(refusal(Path::new("/dev/zero")), Some(FileRefusal::NotAFile));
        let _socket = std::os::unix::net::UnixListener::bind(top.join("socket")).unwrap();
        assert_eq!(refusal(&top.join("socket")), Some(FileRefusal::NotAFile));
        assert_eq!(read(&top.join("c")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::fs::File::create(top.join("large")).unwrap().set_len(LIMIT + 1).unwrap();
        assert_eq!(refusal(&top.join("large")), Some(FileRefusal::TooLarge));
        assert!(read_named(&top.join("large")).is_err() && read_named(&top.join("c/f")).is_ok());
    }
}

#[cfg(test)]
mod memo_tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn equal_texts_share_their_result() {
        let memo = TextMemo::default();
        let made = |text: &[u8]| memo.get_or_make(text, || Ok::<_, ()>((Arc::new(text.to_vec()), true))).unwrap();
        let known = |text: &[u8]| memo.get_or_make(text, || Err(()));
        let [one, two] = [b"one", b"two"].map(|text| made(text));
        assert!(known(b"one").is_ok_and(|kept| Arc::ptr_eq(&one, &kept)));
        assert!(known(b"two").is_ok_and(|kept| Arc::ptr_eq(&two, &kept)));
        assert_eq!((known(b"three"), *two != *one), (Err(()), true));
        memo.get_or_make(b"three", || Ok::<_, ()>((Arc::default(), false))).unwrap();
        assert_eq!(known(b"three"), Err(()));
    }
}

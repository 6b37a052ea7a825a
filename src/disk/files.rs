//! The one reader of files that someone else may have written: those of root modules, their settings and trust files.
//!
//! Only regular files of at most [`LIMIT`] bytes are read, and links that `path/links.rs` refuses are not followed.

use std::io::{self, Read as _};
use std::path::Path;

use crate::path::links::{self, Refusal, refused, stepwise};

/// The most bytes of a file; no real one comes near.
pub const LIMIT: u64 = 16 << 20;

/// The bytes of a file; `None` if it does not exist.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match open(path) {
        Ok(file) => contents(file).map(Some),
        Err(reason) if is_absence(&reason) => Ok(None),
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

fn is_absence(reason: &io::Error) -> bool {
    matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn check(meta: &std::fs::Metadata) -> io::Result<()> {
    match meta {
        meta if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        meta if !meta.is_file() => Err(refused(Refusal::NotAFile)),
        meta if meta.len() > LIMIT => Err(refused(Refusal::TooLarge)),
        _ => Ok(()),
    }
}

/// The bytes of what a user named on the command line, even a pipe.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    bounded(std::fs::File::open(path)?, 0)
}

/// At most one byte more than so many of what a user named on the command line, even a pipe.
pub fn read_named_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What is in a regular file.
fn contents(file: std::fs::File) -> io::Result<Vec<u8>> {
    let meta = file.metadata()?;
    check(&meta)?;
    // One byte more shows its end without another look.
    bounded(file, usize::try_from(meta.len()).unwrap_or_default() + 1)
}

fn bounded(file: std::fs::File, expected: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected);
    file.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT { Err(refused(Refusal::TooLarge)) } else { Ok(bytes) }
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
        let refusal = |path: &str| read(&top.join(path)).err().and_then(|error| Refusal::of(&error));
        let rows: [(&str, &str, &str, Option<Refusal>); 13] = [
            ("a/l", "../c/f", "a/l", None),
            ("a/b/up", "../..", "a/b/up/c/f", None),
            ("chain", "a/l", "chain", None),
            ("out", "../outside/f", "out", Some(Refusal::Outside)),
            // Out and in again: elsewhere the tree has another name.
            ("round", "../tree/c/f", "round", Some(Refusal::Outside)),
            ("absolute", outside.to_str().unwrap(), "absolute", Some(Refusal::Outside)),
            ("process", "/proc/self/cwd/f", "process", Some(Refusal::Outside)),
            ("folder", "../outside", "folder/f", Some(Refusal::Outside)),
            ("repository", ".git/f", "repository", Some(Refusal::Repository)),
            ("here", ".", "here/.git/f", Some(Refusal::Repository)),
            ("circle", "circle", "circle", Some(Refusal::Circle)),
            ("nowhere", "c/none", "nowhere", Some(Refusal::Nowhere)),
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
        let refusal = |path: &Path| read(path).err().and_then(|error| Refusal::of(&error));
        assert_eq!(refusal(Path::new("/dev/zero")), Some(Refusal::NotAFile));
        let _socket = std::os::unix::net::UnixListener::bind(top.join("socket")).unwrap();
        assert_eq!(refusal(&top.join("socket")), Some(Refusal::NotAFile));
        assert_eq!(read(&top.join("c")).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        std::fs::File::create(top.join("large")).unwrap().set_len(LIMIT + 1).unwrap();
        assert_eq!(refusal(&top.join("large")), Some(Refusal::TooLarge));
        assert!(read_named(&top.join("large")).is_err() && read_named(&top.join("c/f")).is_ok());
    }
}

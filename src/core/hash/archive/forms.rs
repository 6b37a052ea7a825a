//! From the entries of an archive to its two `h1:` hashes.
//!
//! The directory form is what an unpacked package hashes to, so the extractor is imitated here; the archive form is
//! taken over the names as stored. Lock files record the first; a packed mirror is checked by the second.
//!
//! Source: `go-getter`, `decompress_zip.go`; `golang.org/x/mod/sumdb/dirhash`, `HashZip`.

use super::{BadArchive, Oddity};
use crate::hash::h1::h1;
use crate::hash::{PackageHash, Sha256Digest};

/// Longer parts of a path are refused by every file system in use.
const LONGEST_PART: usize = 255;

/// One entry, as the central directory describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: Box<[u8]>,
    pub directory: bool,
    /// Its Unix mode, if the archive was made where there is one.
    pub mode: Option<u32>,
    /// The digest of the content; none for a directory whose content cannot be read.
    pub digest: Option<Sha256Digest>,
}

/// The content of an unpacked package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub h1: PackageHash,
    pub files: Vec<PackageFile>,
}

/// One file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// Its path, with slashes.
    pub path: Box<[u8]>,
    /// Whether it can be run.
    pub executable: bool,
}

/// The `h1:` of the unpacked package.
pub fn directory_form(entries: &[Entry]) -> Result<Installed, BadArchive> {
    if entries.is_empty() {
        return Err(BadArchive::Empty);
    }
    let mut paths = Vec::with_capacity(entries.len());
    for entry in entries {
        paths.push((path_of(&entry.name, entry.directory)?, entry));
    }
    // By parts, so the files of a folder follow it at once.
    paths.sort_by(|(one, _), (other, _)| parts(one).cmp(parts(other)));
    for pair in paths.windows(2) {
        let [(path, entry), (next, of_next)] = pair else { continue };
        let clash =
            if path == next { entry.directory != of_next.directory } else { !entry.directory && lies_in(next, path) };
        if clash {
            return Err(BadArchive::NotADirectory(lossy(path)));
        }
        if path == next && !entry.directory {
            return Err(Oddity::SameName.into());
        }
    }
    paths.retain(|(_, entry)| !entry.directory);
    let mut hashed: Vec<(Vec<u8>, Sha256Digest)> = Vec::with_capacity(paths.len());
    let mut files = Vec::with_capacity(paths.len());
    for (path, entry) in paths {
        let Some(digest) = entry.digest else { return Err(BadArchive::NotADirectory(lossy(&entry.name))) };
        let executable = entry.mode.is_some_and(|mode| mode & 0o111 != 0);
        files.push(PackageFile { path: path.as_slice().into(), executable });
        hashed.push((path, digest));
    }
    Ok(Installed { h1: h1(hashed)?, files })
}

/// The `h1:` of the packed archive, if it has one. Every entry counts.
pub fn archive_form(entries: &[Entry]) -> Option<PackageHash> {
    let listed: Option<Vec<_>> = entries.iter().map(|entry| Some((&*entry.name, entry.digest?))).collect();
    h1(listed?).ok()
}

/// True if a file of this name at the top of a package is the program of a provider of this type.
///
/// Source: `internal/providercache`, `CachedProvider.ExecutableFile`.
pub fn is_program_of(name: &[u8], kind: &str) -> bool {
    let rest = name.strip_prefix(PROGRAM).and_then(|rest| rest.strip_prefix(kind.as_bytes()));
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'_' | b'.')) && !rest.contains(&b'/'))
}

/// What the names of programs begin with.
pub(super) const PROGRAM: &[u8] = b"terraform-provider-";

/// The path of a file in the package, by its name in the archive; none for directories, whose names end in a slash.
pub(super) fn file_path(name: &[u8]) -> Result<Option<Vec<u8>>, BadArchive> {
    if name.last() == Some(&b'/') { Ok(None) } else { path_of(name, false).map(Some) }
}

fn path_of(name: &[u8], is_directory: bool) -> Result<Vec<u8>, BadArchive> {
    if name.split(|byte| matches!(byte, b'/' | b'\\')).any(|part| part == b"..") {
        return Err(BadArchive::ParentName(lossy(name)));
    }
    let strange = |part: &[u8]| part.contains(&0) || part.len() > LONGEST_PART;
    // There a backslash separates, so the hash would depend on the machine.
    if parts(name).any(strange) || (cfg!(windows) && name.contains(&b'\\')) {
        return Err(BadArchive::Name(lossy(name)));
    }
    let kept: Vec<&[u8]> = parts(name).filter(|part| !matches!(*part, b"" | b".")).collect();
    if kept.is_empty() && !is_directory {
        return Err(BadArchive::NotADirectory(lossy(name)));
    }
    Ok(kept.join(&b'/'))
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

fn lies_in(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

pub(super) fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, &str)]) -> Vec<Entry> {
        list.iter()
            .map(|(name, content)| Entry {
                name: name.as_bytes().into(),
                directory: name.ends_with('/'),
                mode: name.starts_with("terraform-").then_some(0o755),
                digest: Some(Sha256Digest::of(content.as_bytes())),
            })
            .collect()
    }

    fn installed(list: &[(&str, &str)]) -> Result<String, BadArchive> {
        directory_form(&entries(list)).map(|installed| installed.h1.to_string())
    }

    const BASE: (&str, &str) = ("terraform-provider-foo_v1.0.0", "#!bin\n");

    #[test]
    fn names_are_cleaned_and_none_comes_twice() {
        let plain = installed(&[("d/e", "2"), BASE]);
        for name in ["/d/e", "./d/e", "d//e", "d/./e", "d/e/."] {
            assert_eq!(installed(&[BASE, (name, "2")]), plain, "{name}");
            assert_eq!(installed(&[BASE, ("d/e", "2"), (name, "2")]), Err(Oddity::SameName.into()), "{name}");
        }
    }

    #[test]
    fn a_file_cannot_be_a_directory() {
        for list in [
            [("a", ""), ("a/b", "")],
            [("a/b", ""), ("a", "")],
            [("a", ""), ("a/", "")],
            [("a/b/", ""), ("a", "")],
            [("a", ""), (".", "")],
        ] {
            assert!(matches!(installed(&list), Err(BadArchive::NotADirectory(_))), "{list:?}");
        }
        assert!(installed(&[("a/", ""), ("a/b", ""), ("a-b", ""), ("a.b/c", ""), ("/", "")]).is_ok());
        assert!(matches!(installed(&[("a", ""), ("a-b", ""), ("a/b", "")]), Err(BadArchive::NotADirectory(_))));
    }

    #[test]
    fn names_that_cannot_be_unpacked() {
        for name in ["..", "a/../b", "..\\evil", "a\\..", "a/..\\b"] {
            assert_eq!(installed(&[(name, "")]), Err(BadArchive::ParentName(name.to_owned())));
        }
        assert!(matches!(installed(&[("a\0", "")]), Err(BadArchive::Name(_))));
        assert!(matches!(installed(&[(&"a".repeat(256), "")]), Err(BadArchive::Name(_))));
        assert!(installed(&[("...", ""), ("a..b", "")]).is_ok());
        assert_eq!(installed(&[]), Err(BadArchive::Empty));
    }

    #[test]
    fn a_newline_counts_in_files_only() {
        assert!(matches!(installed(&[("a\nb", "")]), Err(BadArchive::H1(_))));
        assert!(installed(&[BASE, ("a\nb/", "")]).is_ok());
        assert_eq!(archive_form(&entries(&[BASE, ("a\nb/", "")])), None);
    }

    #[test]
    fn programs_are_recognised_by_their_name() {
        for (name, is) in [
            ("terraform-provider-foo", true),
            ("terraform-provider-foo_v1", true),
            ("terraform-provider-foo.exe", true),
            ("terraform-provider-foobar", false),
            ("terraform-provider-fo", false),
        ] {
            assert_eq!(is_program_of(name.as_bytes(), "foo"), is, "{name}");
        }
        assert!(!is_program_of(b"terraform-provider-foo_v1/x", "foo"));
        let found = directory_form(&entries(&[("terraform-provider-a", ""), ("./x", "")])).unwrap();
        let file = |path: &str, executable| PackageFile { path: path.as_bytes().into(), executable };
        assert_eq!(found.files, [file("terraform-provider-a", true), file("x", false)]);
    }
}

//! From the entries of an archive to its two `h1:` hashes.
//!
//! The directory form is what an unpacked package hashes to, so the extractor is imitated here; the archive form is
//! taken over the names as stored. Lock files record the first; a packed mirror is checked by the second.
//!
//! Source: `go-getter`, `decompress_zip.go`; `golang.org/x/mod/sumdb/dirhash`, `HashZip`.
//!
//! The programs of a package: every file that is one by its first bytes, and which of them the tools start.

use super::error::{BadArchive, Oddity};
use crate::goinfo::{BuiltFrom, LIMIT, Unknown};
use crate::hash::digest::h1;
use crate::hash::{PackageHash, Sha256Digest};

/// Longer parts of a path are refused by every file system in use.
const LONGEST_PART: usize = 255;

/// One entry, as the central directory describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveEntry {
    pub name: Box<[u8]>,
    pub directory: bool,
    /// Its Unix mode, if the archive was made where there is one.
    pub mode: Option<u32>,
    /// The digest of the content; none for a directory whose content cannot be read.
    pub digest: Option<Sha256Digest>,
}

/// The content of an unpacked package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledForm {
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
pub fn directory_form(entries: &[ArchiveEntry]) -> Result<InstalledForm, BadArchive> {
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
    Ok(InstalledForm { h1: h1(hashed)?, files })
}

/// The `h1:` of the packed archive, if it has one. Every entry counts.
pub fn archive_form(entries: &[ArchiveEntry]) -> Option<PackageHash> {
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

/// So many programs of a package are kept; the others are counted.
pub const MOST_PROGRAMS: usize = 16;

/// A file of a package that is a program, or that has the name of the program of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its path in the installed package.
    pub path: String,
    pub built_from: BuiltFrom,
}

impl ProgramFile {
    /// True for a file that only has the name of a program.
    fn is_other(&self) -> bool {
        self.built_from == [Err(Unknown::NotAProgram)]
    }

    /// Why not everything is known of what it was built from.
    fn unknown(&self) -> Option<&Unknown> {
        self.built_from.iter().find_map(|info| info.as_ref().err())
    }
}

/// What is known of the programs of a package: a function of its files, in whichever order and wherever they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackagePrograms {
    /// First those with the name of the program of a provider, then the others, each by their paths.
    pub files: Vec<ProgramFile>,
    /// The number of further ones.
    pub unread: usize,
}

impl PackagePrograms {
    /// The program of a provider of this type that the tools start: of those that match the first one, by the bytes of
    /// its name. `None` if there is none, or too many.
    ///
    /// Source: `internal/providercache`, `CachedProvider.ExecutableFile`.
    pub fn started(&self, kind: &str) -> Option<&ProgramFile> {
        self.files.iter().find(|file| is_program_of(file.path.as_bytes(), kind))
    }

    /// Why it is not known what the program of a provider of this type was built from.
    pub fn unknown(&self, kind: &str) -> Option<Unknown> {
        let named = self.files.iter().filter(|file| is_named(&file.path));
        if self.unread > 0 && named.clone().count() == MOST_PROGRAMS {
            return Some(Unknown::NotRead);
        }
        let Some(started) = self.started(kind) else { return Some(Unknown::NoProgram) };
        let last = folded(&started.path);
        let mut rivals = named.filter(|file| is_program_of(folded(&file.path).as_bytes(), kind));
        let is_unread = |file: &ProgramFile| folded(&file.path) <= last && file.unknown().is_some();
        started.unknown().cloned().or_else(|| rivals.any(is_unread).then_some(Unknown::Ambiguous))
    }

    /// The other programs of the package of a provider of this type.
    pub fn others(&self, kind: &str) -> impl Iterator<Item = &ProgramFile> {
        let started = self.started(kind).map(|file| file.path.as_str());
        self.files.iter().filter(move |file| Some(file.path.as_str()) != started && !file.is_other())
    }

    /// True if more can be read of a program once the package is unpacked.
    pub fn has_old_layout(&self) -> bool {
        self.files.iter().flat_map(|file| &file.built_from).any(|info| *info == Err(Unknown::OldLayout))
    }

    /// True if something is known of one of them.
    pub fn is_any_known(&self) -> bool {
        self.files.iter().flat_map(|file| &file.built_from).any(Result::is_ok)
    }
}

/// Takes in the files of a package in any order, of which it keeps what matters.
#[derive(Debug, Default)]
pub struct ProgramFiles {
    kept: Vec<Kept>,
    unread: usize,
}

#[derive(Debug)]
struct Kept {
    /// False for those that come first: the tools may start them.
    is_unnamed: bool,
    path: Vec<u8>,
    number: usize,
    built_from: BuiltFrom,
}

impl ProgramFiles {
    /// Takes in the file of this number.
    pub fn add(&mut self, path: Vec<u8>, number: usize, built_from: BuiltFrom) {
        let is_unnamed = !is_named(&String::from_utf8_lossy(&path));
        if is_unnamed && built_from == [Err(Unknown::NotAProgram)] {
            return;
        }
        let at = self.kept.partition_point(|kept| (kept.is_unnamed, &kept.path) < (is_unnamed, &path));
        self.kept.insert(at, Kept { is_unnamed, path, number, built_from });
        if self.kept.len() > MOST_PROGRAMS {
            self.kept.pop();
            self.unread += 1;
        }
    }

    /// What is known of them. `is_file` is false for numbers that turned out to be none.
    pub fn finish(self, is_file: impl Fn(usize) -> bool) -> PackagePrograms {
        let mut size = 0;
        let mut bounded = |info: Result<crate::goinfo::GoInfo, Unknown>| {
            let info = info?;
            size += info.text().len();
            if size > LIMIT { Err(Unknown::TooLarge) } else { Ok(info) }
        };
        let kept = self.kept.into_iter().filter(|kept| is_file(kept.number));
        let files = kept.map(|Kept { path, built_from, .. }| ProgramFile {
            path: String::from_utf8_lossy(&path).into_owned(),
            built_from: built_from.into_iter().map(&mut bounded).collect(),
        });
        PackagePrograms { files: files.collect(), unread: self.unread }
    }
}

/// True for a file that on some system is at the top of the package under the name of the program of a provider.
fn is_named(path: &str) -> bool {
    let path = folded(path);
    !path.contains('/') && path.as_bytes().starts_with(PROGRAM)
}

/// A path without what makes no difference on some systems: which separator, case, dots and spaces at the end of a name.
fn folded(path: &str) -> String {
    let parts = path.split(['/', '\\']).map(|part| part.trim_end_matches(['.', ' '])).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("/").to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests;

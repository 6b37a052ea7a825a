//! Packages of modules, laid out in a directory of ours: their contents and their hash, and what the hash does not show.
//!
//! The author of an archive or a repository is not trusted: nothing is written outside of the directory, nothing through a
//! link, nothing but files, directories and links that stay inside, and no more than a bounded number of bytes.
//!
//! A link has the same hash as a file with the text of its target. So of two packages that differ in nothing else at most one may be
//! locked. A file that could be a link to something of its package is none that anyone writes, for files end in a line feed; nor is a
//! link whose target reads like a file.

mod formats;
mod fuzzed;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::refusals::ambiguous;
use crate::config::is_root_configuration;
use crate::disk::own;
use crate::hash::digest::Sha256;
use crate::hash::digest::h1;
use crate::hash::{PackageHash, Sha256Digest};
use crate::modulelock::Ambiguity;
use crate::path::shown;
use formats::way;

pub(super) use formats::{Compression, unpack_tar, unpack_zip};
pub use fuzzed::read_package;

/// The most bytes of all files of a package: many times the largest real one.
const MAX_BYTES: u64 = 512 << 20;

/// The most entries of a package.
const MAX_ENTRIES: usize = 200_000;

/// The longest name, and the longest target of a link, in bytes: systems follow no longer ones.
const MAX_NAME: usize = 4095;

/// Why a package cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("the entry {0:?} leads out of the package")]
    Escape(String),
    /// A name, or the target of a link, that is not UTF-8: two of them could become one.
    #[error("the name {0:?} is not UTF-8")]
    NotUtf8(String),
    #[error("the entry {0:?} lies where git looks for a repository")]
    Repository(String),
    #[error("the link {name:?} leads out of the package, to {target:?}")]
    LinkOut { name: String, target: String },
    #[error("the entry {0:?} lies behind a link")]
    ThroughLink(String),
    #[error("the entry {0:?} is neither a file nor a directory nor a link")]
    Special(String),
    #[error("the package has more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    #[error("the package has more than {MAX_ENTRIES} entries")]
    TooMany,
    #[error("the archive cannot be read: {0}")]
    Archive(io::Error),
    #[error("cannot write {}: {reason}", shown(path))]
    Disk { path: PathBuf, reason: io::Error },
}

#[derive(Debug)]
pub(super) struct Builder {
    top: PathBuf,
    links: BTreeMap<String, String>,
    contents: BTreeMap<String, Sha256Digest>,
    /// The files with one line without a line end, short enough for the target of a link.
    lines: BTreeSet<String>,
    entries: usize,
    bytes: u64,
    ambiguity: Option<Ambiguity>,
}

impl Builder {
    /// A package in an existing, empty directory.
    pub(super) fn new(top: &Path) -> Self {
        Self {
            top: top.to_owned(),
            links: BTreeMap::new(),
            contents: BTreeMap::new(),
            lines: BTreeSet::new(),
            entries: 0,
            bytes: 0,
            ambiguity: None,
        }
    }

    /// Notes why something else could be installed for the hash; the first reason counts.
    pub(super) fn note(&mut self, ambiguity: Option<Ambiguity>) {
        self.ambiguity = self.ambiguity.take().or(ambiguity);
    }

    pub(super) fn bytes_left(&self) -> u64 {
        MAX_BYTES - self.bytes
    }

    pub(super) fn directory(&mut self, name: &str) -> Result<(), UnpackError> {
        let name = self.entry(name)?;
        let path = self.top.join(&name);
        own::make_directories(&path).map_err(disk(&path))
    }

    /// Writes a file; one of the same name before it is replaced.
    pub(super) fn file(&mut self, name: &str, content: &mut dyn Read) -> Result<(), UnpackError> {
        let clean = self.entry(name)?;
        if clean.is_empty() {
            return Err(UnpackError::Escape(beginning(name)));
        }
        let path = self.top.join(&clean);
        let parent = path.parent().unwrap_or(&self.top);
        own::make_directories(parent).map_err(disk(parent))?;
        let mut file = own::truncated_file(&path).map_err(disk(&path))?;
        let mut hasher = Sha256::new();
        let (mut size, mut is_line) = (0, true);
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = content.read(&mut buffer).map_err(UnpackError::Archive)?;
            if count == 0 {
                break;
            }
            self.bytes += count as u64;
            if self.bytes > MAX_BYTES {
                return Err(UnpackError::TooLarge);
            }
            (size, is_line) = (size + count, is_line && !buffer[..count].contains(&b'\n'));
            hasher.update(&buffer[..count]);
            file.write_all(&buffer[..count]).map_err(disk(&path))?;
        }
        self.links.remove(&clean);
        if is_line && (1..=MAX_NAME).contains(&size) {
            self.lines.insert(clean.clone());
        } else {
            self.lines.remove(&clean);
        }
        self.contents.insert(clean, hasher.finish());
        Ok(())
    }

    /// Makes a file one that can be run, as scripts of modules are.
    pub(super) fn executable(&mut self, name: &str) -> Result<(), UnpackError> {
        let path = self.top.join(clean_name(name).unwrap_or_default());
        make_executable(&path).map_err(disk(&path))
    }

    /// Notes a link, which is made at the end: so nothing can be written through it.
    pub(super) fn link(&mut self, name: &str, target: &str) -> Result<(), UnpackError> {
        let clean = self.entry(name)?;
        let out = || UnpackError::LinkOut { name: beginning(name), target: beginning(target) };
        let parent = clean.rsplit_once('/').map_or("", |(parent, _)| parent);
        let inside = !target.starts_with('/') && !target.contains('\\');
        let leads_in = || clean_name(&format!("{parent}/{target}")).is_some_and(|to| !is_of_repository(&to));
        if clean.is_empty() || target.len() > MAX_NAME || !inside || !leads_in() {
            return Err(out());
        }
        self.contents.insert(clean.clone(), Sha256Digest::of(target.as_bytes()));
        self.links.insert(clean, target.to_owned());
        Ok(())
    }

    /// A second name of a file that is there already. It is an empty file, as the tools unpack one.
    ///
    /// Source: `github.com/hashicorp/go-getter` v1, `decompress_tar.go`: an entry without content of its own.
    pub(super) fn hard_link(&mut self, name: &str, target: &str) -> Result<(), UnpackError> {
        let original = clean_name(target).filter(|target| self.contents.contains_key(target));
        let original = original.filter(|target| !self.links.contains_key(target));
        if original.is_none() {
            return Err(UnpackError::LinkOut { name: beginning(name), target: beginning(target) });
        }
        self.file(name, &mut io::empty())
    }

    /// Makes the links, and looks whether they stay inside.
    pub(super) fn finish(self) -> Result<UnpackedContents, UnpackError> {
        let behind = |name: &str| {
            let above = name.match_indices('/').map(|(at, _)| &name[..at]);
            above.into_iter().any(|above| self.links.contains_key(above))
        };
        if let Some(name) = self.contents.keys().find(|name| behind(name)) {
            return Err(UnpackError::ThroughLink(beginning(name)));
        }
        let out = |(name, target): (&String, &String)| UnpackError::LinkOut {
            name: beginning(name),
            target: beginning(target),
        };
        if let Some(link) = self.links.iter().find(|(name, _)| formats::way(&self.links, name).is_none()) {
            return Err(out(link));
        }
        lay_links(&self.top, &self.links)?;
        let top = fs::canonicalize(&self.top).map_err(disk(&self.top))?;
        for (name, target) in &self.links {
            let path = self.top.join(name);
            match fs::canonicalize(&path) {
                Ok(real) if real.starts_with(&top) => {}
                Ok(_) => return Err(out((name, target))),
                // It leads nowhere now, and shall not lead anywhere later.
                Err(_) => drop(fs::remove_file(&path)),
            }
        }
        let mut contents = UnpackedContents {
            digests: self.contents,
            links: self.links,
            bytes: self.bytes,
            ambiguity: self.ambiguity,
        };
        if contents.ambiguity.is_none() {
            contents.ambiguity = unclear(&contents, &self.lines, &top);
        }
        Ok(contents)
    }

    /// Counts an entry, and gives its clean name.
    fn entry(&mut self, name: &str) -> Result<String, UnpackError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(UnpackError::TooMany);
        }
        let clean = clean_name(name).filter(|_| !name.starts_with('/') && name.len() <= MAX_NAME);
        let clean = clean.ok_or_else(|| UnpackError::Escape(beginning(name)))?;
        if is_of_repository(&clean) { Err(UnpackError::Repository(beginning(name))) } else { Ok(clean) }
    }
}

/// A name without `.` and inner `..`; `None` if it leads upwards, or is odd.
fn clean_name(name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ if part.contains(['\\', '\0']) || cfg!(windows) && part.contains(':') => return None,
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// True for names with a component by which git finds a repository, on some file system.
///
/// Source: git `path.c`, `is_ntfs_dotgit`; `utf8.c`, `is_hfs_dotgit`.
fn is_of_repository(name: &str) -> bool {
    name.split('/').any(|part| matches!(&*folded(part), ".git" | "git~1"))
}

/// True if some file system reads the name of a file as one that begins with `.git`. Short names on Windows begin
/// with `git` or `gi` and have a tilde.
///
/// Source: git `path.c`, `is_ntfs_dot_str`; `utf8.c`, `is_hfs_dot_str`.
pub(super) fn is_read_as(name: &str, other: &str) -> bool {
    let folded = folded(name);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut halves = folded.split_once('~').into_iter();
    folded == other || halves.any(|(start, number)| start.starts_with("gi") && is_number(number))
}

/// The name of a file as systems that fold names see it.
fn folded(part: &str) -> String {
    let kept = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let part: String = part.chars().filter(kept).collect();
    part.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_ascii_lowercase()
}

pub(super) fn text_of(name: &[u8]) -> Result<&str, UnpackError> {
    std::str::from_utf8(name).map_err(|_| UnpackError::NotUtf8(beginning(&String::from_utf8_lossy(name))))
}

/// Makes links below a directory. All their directories are made before the first of them, so none is
/// made through another, even where the file system takes two names for one.
pub(super) fn lay_links(top: &Path, links: &BTreeMap<String, String>) -> Result<(), UnpackError> {
    for name in links.keys() {
        let path = top.join(name);
        // A file of the same name came before.
        let _ = fs::remove_file(&path);
        let parent = path.parent().unwrap_or(top);
        own::make_directories(parent).map_err(disk(parent))?;
    }
    links.iter().try_for_each(|(name, target)| {
        let path = top.join(name);
        make_link(target, &path).map_err(disk(&path))
    })
}

fn beginning(name: &str) -> String {
    name.chars().take(200).collect()
}

fn disk(path: &Path) -> impl FnOnce(io::Error) -> UnpackError {
    let path = path.to_owned();
    move |reason| UnpackError::Disk { path, reason }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn make_link(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Links need a privilege there, and configuration behind them is rare.
#[cfg(not(unix))]
fn make_link(_: &str, _: &Path) -> io::Result<()> {
    Ok(())
}

/// The contents of a package, as its source gives it: names, and digests of contents. A link counts as its target's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UnpackedContents {
    digests: BTreeMap<String, Sha256Digest>,
    pub(super) links: BTreeMap<String, String>,
    pub(super) bytes: u64,
    /// Why something else could be installed for its hash, if so.
    pub(super) ambiguity: Option<Ambiguity>,
}

impl UnpackedContents {
    /// The files with the digests of their contents, in hex: those of configuration, and all others.
    pub(super) fn files(&self) -> [BTreeMap<String, String>; 2] {
        let files = self.digests.iter().filter(|(name, _)| !self.links.contains_key(*name));
        let files = files.map(|(name, digest)| (name.clone(), digest.to_hex()));
        let (configuration, others) = files.partition(|(name, _)| is_root_configuration(name));
        [configuration, others]
    }

    /// The hash of the package. Names with a component that begins with a dot do not count: the tools leave them out of
    /// second copies of a package.
    pub(super) fn hash(&self) -> Result<PackageHash, String> {
        let counted = self.digests.iter().filter(|(name, _)| counts(name));
        h1(counted.map(|(name, digest)| (name, *digest))).map_err(|error| error.to_string())
    }
}

/// True for names that count for the hash of a package.
pub(super) fn counts(name: &str) -> bool {
    !name.split('/').any(|part| part.starts_with('.'))
}

/// Why the hash of a package would not determine its contents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unclear {
    #[error("the name {0:?} has a line feed")]
    LineFeed(String),
    #[error("the file {name:?} contains only {text:?}: a link to that in its place would have the same hash")]
    File { name: String, text: String },
    #[error("the link {name:?} leads to {text:?}: a file with that text in its place would have the same hash")]
    Link { name: String, text: String },
}

/// Looks through a package at some place, given its files that have one line without a line end.
fn unclear(contents: &UnpackedContents, lines: &BTreeSet<String>, top: &Path) -> Option<Ambiguity> {
    find(contents, lines, top).map(|unclear| ambiguous(unclear.to_string()))
}

fn find(contents: &UnpackedContents, lines: &BTreeSet<String>, top: &Path) -> Option<Unclear> {
    if let Some(name) = contents.digests.keys().find(|name| name.contains('\n')) {
        return Some(Unclear::LineFeed(name.clone()));
    }
    let files = lines.iter().filter(|name| counts(name) && !contents.links.contains_key(*name));
    // What cannot be read, or is no text, is not the target of a link either.
    let mut texts = files.filter_map(|name| Some((name, fs::read_to_string(top.join(name)).ok()?)));
    if let Some((name, text)) = texts.find(|(name, text)| may_be_link(contents, name, text)) {
        return Some(Unclear::File { name: name.clone(), text });
    }
    let mut others = contents.links.iter().filter(|(name, _)| counts(name));
    let link = others.find(|(name, text)| may_be_file(contents, name, text));
    link.map(|(name, text)| Unclear::Link { name: name.clone(), text: text.clone() })
}

/// True if a link with this text would lead to another entry.
fn may_be_link(contents: &UnpackedContents, name: &str, text: &str) -> bool {
    let end = (!text.starts_with('/')).then(|| way(&contents.links, &sibling(name, text))).flatten();
    end.is_some_and(|way| way.end != name && is_entry(contents, &way.end))
}

/// True if a link reads like the content of a file, and leads to nothing that the hash covers.
fn may_be_file(contents: &UnpackedContents, name: &str, text: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "\"'={}[]()$".contains(c);
    let is_comment = is_root_configuration(name) && text.contains('#');
    let way = way(&contents.links, &sibling(name, text));
    let is_covered = way.is_some_and(|way| is_entry(contents, &way.end) && !way.is_hidden);
    (is_comment || text.contains(is_odd)) && !is_covered
}

fn sibling(name: &str, target: &str) -> String {
    name.rsplit_once('/').map_or_else(|| target.to_owned(), |(folder, _)| format!("{folder}/{target}"))
}

/// True for the names of files, links and the directories that they are in.
fn is_entry(contents: &UnpackedContents, place: &str) -> bool {
    let folder = format!("{place}/");
    let is_folder =
        || contents.digests.range(folder.clone()..).next().is_some_and(|(name, _)| name.starts_with(&folder));
    place.is_empty() || contents.digests.contains_key(place) || is_folder()
}

#[cfg(test)]
mod archive_tests;

#[cfg(test)]
mod tests;

#[cfg(test)]
mod unclear_tests {
    use super::tests::{FILE, LINK, Sandbox, unpacked};

    /// Each two of one text: not both may be locked.
    #[test]
    fn a_link_is_not_taken_for_a_file() {
        for (name, text, sibling) in [
            ("extra.tf", "#evil", "#evil"),
            ("guard.tf", "#guard", "#guard"),
            ("a/policy.json", "../other.json", "other.json"),
            ("sub", "real", "real/main.tf"),
            ("x.txt", ".h/x", ".h/x"),
            ("top.txt", "real/..", "real/main.tf"),
            // It leads to nothing, or to what no hash covers.
            ("x.tf.json", "{}", "main.tf"),
            ("x.tf", "locals{a=1}", "main.tf"),
            ("x.tf", "#/../.h/x.tf", ".h/x.tf"),
            ("run.sh", "echo no >&2", "main.tf"),
            ("two", "a\nb", "main.tf"),
        ] {
            let why = |kind| unpacked(&Sandbox::new(), &[(sibling, FILE, "x"), (name, kind, text)]).unwrap().ambiguity;
            let reason = why(FILE).or_else(|| why(LINK)).unwrap().reason;
            assert!(reason.contains("would have the same hash") && reason.contains(name), "{reason}");
        }
    }

    #[test]
    fn ordinary_files_are_unambiguous() {
        for entries in [
            [("real/x.tf", FILE, "x\n"), ("x.tf", LINK, "real/x.tf"), ("broken", LINK, "nowhere")],
            [("VERSION", FILE, "VERSION"), ("main.tf", FILE, "# nothing yet"), ("x.tf", FILE, "// see ../main.tf")],
            [("a", FILE, ""), ("main.tf", FILE, "# see .github/x"), (".github/x", FILE, "x")],
            [("README.md", LINK, ".github/README.md"), (".github/README.md", FILE, "x"), ("b", FILE, "a\n")],
            [("a", FILE, "b\n"), ("b", FILE, "a\r\n"), (".link", FILE, "a")],
        ] {
            assert_eq!(unpacked(&Sandbox::new(), &entries).unwrap().ambiguity, None);
        }
    }

    #[cfg_attr(windows, ignore = "Windows has no such names")]
    #[test]
    fn line_feeds_in_names_are_not_clear() {
        let lines = unpacked(&Sandbox::new(), &[(".a\nb", FILE, "x")]).unwrap().ambiguity;
        assert!(lines.unwrap().reason.contains("has a line feed"));
    }
}

//! Paths: as git and documents name them, as the file system has them, and where links lead. The folder is below `git` and
//! `disk`: it looks at directory entries and reads no file.
//!
//! This file has which names the file systems of macOS and Windows take for one, or for a name that is read here. Paths are compared
//! without case, in any normalization, without code points that HFS+ ignores; of a name of Windows without the dots and spaces at its
//! end and without the name of a stream, `\` as a separator, and by the short names that NTFS makes. This takes more names for one
//! than any single file system does.
//!
//! Source: `is_hfs_dot_generic` and `is_ntfs_dot_generic` of git for what the systems ignore, Unicode's CaseFolding.txt.

pub mod links;
pub mod worktree;

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::{Component, Path, PathBuf, Prefix};

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

pub use tflock_core::words::shown;

pub fn lexical(directory: &Path, path: &Path) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in directory.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(joined.components().next_back(), Some(Component::Normal(_))) => {
                joined.pop();
            }
            other => joined.push(other),
        }
    }
    joined
}

/// The path of what is there, without links. On Windows it begins as others do, `C:\` and not `\\?\C:\`: two spellings of one place
/// would not be equal.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = std::fs::canonicalize(path)?;
    let mut components = real.components();
    let Some(Component::Prefix(prefix)) = components.next() else { return Ok(real) };
    let Prefix::VerbatimDisk(letter) = prefix.kind() else { return Ok(real) };
    Ok(Path::new(&format!("{}:", char::from(letter))).join(components.as_path()))
}

/// A path from the top of a working tree: names with slashes between them on every system, empty at the top, ordered
/// bytewise. What is not UTF-8 is replaced, in what git lists as in what the file system has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(String);

impl RepoPath {
    pub fn from_git(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A relative path of the file system.
    pub fn of(path: &Path) -> Self {
        let names: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        Self(names.join("/"))
    }

    /// The path of a place in a working tree, both absolute and without symbolic links; none outside of it.
    pub fn below(top: &Path, place: &Path) -> Option<Self> {
        place.strip_prefix(top).ok().map(Self::of)
    }

    /// The path of something in this directory, by one name or several.
    #[must_use]
    pub fn join(&self, names: &str) -> Self {
        Self(format!("{}{names}", self.prefix()))
    }

    /// What the paths of all in this directory begin with: nothing at the top.
    pub fn prefix(&self) -> String {
        if self.is_empty() { String::new() } else { format!("{}/", self.0) }
    }
}

impl Deref for RepoPath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The names that mean something wherever they are in a working tree, each with the beginning and the end of its short name.
const GUARDED: [(&str, &str, &str); 16] = [
    (".terraform", "terraform", ""),
    ("terraform.d", "terraform", ".d"),
    (".terragrunt-cache", "terragrunt-cache", ""),
    (".terraform.lock.hcl", "terraformlock", ".hcl"),
    (".tflock.hcl", "tflock", ".hcl"),
    (".tflock.trust.hcl", "tflocktrust", ".hcl"),
    (".tflock.modules.hcl", "tflockmodules", ".hcl"),
    ("terragrunt.hcl", "terragrunt", ".hcl"),
    ("terragrunt.hcl.json", "terragrunthcl", ".jso"),
    ("terragrunt.values.hcl", "terragruntvalues", ".hcl"),
    ("terragrunt.autoinclude.hcl", "terragruntautoinclude", ".hcl"),
    ("terragrunt.stack.hcl", "terragruntstack", ".hcl"),
    ("terragrunt.autoinclude.stack.hcl", "terragruntautoincludestack", ".hcl"),
    (".gitattributes", "gitattributes", ""),
    (".gitmodules", "gitmodules", ""),
    (".git", "git", ""),
];

/// The folders of the tools in a root module, from which packages are installed, with copies of files from other places.
pub const TOOL_FOLDERS: [&str; 2] = [".terraform", ".terragrunt-cache"];

pub fn folded_name(name: &str) -> String {
    let bare = bare(name);
    let folded = if bare.is_ascii() { bare.to_ascii_lowercase() } else { folded_letters(bare) };
    guarded_by_short_name(&folded).map_or(folded, str::to_owned)
}

/// A name of Windows without its stream, and without the dots and spaces at its end.
fn bare(name: &str) -> &str {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    name.trim_end_matches(['.', ' '])
}

fn folded_letters(name: &str) -> String {
    let ignored = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    // U+206A to U+206F are ignored by HFS+ and in this property; `ı` is no `i` in any case folding.
    let seen: String = name.chars().filter(|c| !ignored.contains(*c)).collect();
    let plain = DecomposingNormalizerBorrowed::new_nfd().normalize(&seen).into_owned();
    let fold = |c: char| match c {
        'ı' => vec![c],
        _ => c.to_uppercase().flat_map(char::to_lowercase).collect(),
    };
    let lower: String = plain.chars().flat_map(fold).collect();
    let folded = DecomposingNormalizerBorrowed::new_nfd().normalize(&lower).into_owned();
    bare(&folded).to_owned()
}

/// The guarded name that this may be the short name of: `TERRAF~1.D`, `TE4F3A~1.D`.
fn guarded_by_short_name(name: &str) -> Option<&'static str> {
    let (start, rest) = name.split_once('~').filter(|(start, _)| start.is_ascii())?;
    let end = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = rest.len() - end.len();
    let is_begun =
        |long: &str| long.starts_with(start) && start.len() == long.len().min(7_usize.saturating_sub(digits));
    let is_hashed = |long: &str| {
        start.len() == 6 && start[..2] == long[..2] && start[2..].bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_short = |long: &str| digits > 0 && (is_begun(long) || is_hashed(long));
    GUARDED.iter().find(|(_, long, suffix)| end == *suffix && is_short(long)).map(|(name, ..)| *name)
}

/// The parts of a path by any separator, without those that lead nowhere.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !matches!(bare(part), ""))
}

/// A path from the top as every file system that folds names would compare it.
pub fn folded(path: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/._-".contains(&byte);
    if path.bytes().all(is_plain) && !path.contains("./") && !path.ends_with('.') {
        return Cow::Borrowed(path);
    }
    Cow::Owned(parts(path).map(folded_name).collect::<Vec<_>>().join("/"))
}

/// A folder of packages that a path leads into, or is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageFolder<'a> {
    pub root: &'a str,
    pub path: &'a str,
    /// The name that it is read by; the folder `terraform.d` may contain packages.
    pub name: &'static str,
}

impl<'a> PackageFolder<'a> {
    /// The first one on the way of a path from the top, in any spelling.
    pub fn on_the_way(path: &'a str) -> Option<Self> {
        let mut start = 0;
        for end in path.match_indices(['/', '\\']).map(|(at, _)| at).chain([path.len()]) {
            let name = folded_name(&path[start..end]);
            let found = |end: usize, name: &'static str| {
                Some(Self { root: path[..start].trim_end_matches(['/', '\\']), path: &path[..end], name })
            };
            if let Some(name) = TOOL_FOLDERS.into_iter().find(|it| *it == name) {
                return found(end, name);
            }
            if name == "terraform.d" {
                let rest = path.get(end + 1..).unwrap_or_default();
                let below = parts(rest).next().filter(|part| folded_name(part) == "plugins");
                let plugins = below.and_then(|part| Some(end + 1 + rest.find(part)? + part.len()));
                return plugins.map_or_else(|| found(end, "terraform.d"), |next| found(next, "terraform.d/plugins"));
            }
            start = end + 1;
        }
        None
    }

    /// True if every system reads it by this spelling.
    pub fn is_exact(&self) -> bool {
        let way = self.path.strip_prefix(self.root).map(|way| way.trim_start_matches('/'));
        way == Some(self.name) && !self.root.contains('\\')
    }
}

/// A tracked name that is read on some systems only, or two that are one there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AmbiguousName<'a> {
    pub path: &'a str,
    /// The other path, or the name that it is read by.
    pub read_as: String,
}

/// What is ambiguous among the paths that git tracks, of the files that `is_read` says are read by their names, and of guarded
/// ones.
pub fn ambiguous_names<'a>(
    tracked: impl Iterator<Item = &'a str> + Clone,
    is_read: impl Fn(&str) -> bool,
) -> Vec<AmbiguousName<'a>> {
    let mut found: BTreeMap<String, AmbiguousName<'_>> = BTreeMap::new();
    let mut spellings = Spellings::default();
    for path in tracked.clone() {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let whole = folded(path);
        let last = whole.rsplit('/').next().unwrap_or_default();
        let is_guarded = GUARDED.iter().any(|(guarded, ..)| *guarded == last) && !TOOL_FOLDERS.contains(&last);
        let hides_git = whole.split('/').any(|part| part == ".git");
        // Windows drops the end of a name; letters of another case are no suffix of configuration anywhere.
        let is_dropped = || is_read(bare(name.rsplit('\\').next().unwrap_or(name))) && !is_read(name);
        let is_separated = || name.contains('\\') && (is_read(last) || is_guarded);
        if hides_git || (is_guarded && last != "terraform.d" && name != last) || is_dropped() || is_separated() {
            found.insert(whole.to_string(), AmbiguousName { path, read_as: whole.into_owned() });
        } else if is_guarded || is_read(last) {
            found.extend(spellings.add(directory, path, whole.into_owned()));
        }
    }
    // What is no file that is read may still take the place of a directory on the way to one.
    for path in tracked {
        found.extend(spellings.in_place_of_directory(path));
    }
    found.into_values().collect()
}

/// The first spelling of each path that is read, by its folded form.
#[derive(Debug, Default)]
struct Spellings<'a> {
    files: BTreeMap<String, &'a str>,
    /// The directories with files that tflock reads.
    directories: BTreeMap<String, &'a str>,
    /// All directories on the way to them.
    ways: BTreeMap<String, &'a str>,
}

impl<'a> Spellings<'a> {
    fn add(&mut self, directory: &'a str, path: &'a str, whole: String) -> Option<(String, AmbiguousName<'a>)> {
        let folded_directory = whole.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
        if !self.ways.contains_key(&folded_directory) {
            let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
            for way in ends.map(|end| &directory[..end]).filter(|way| !way.is_empty()) {
                self.ways.entry(folded(way).into_owned()).or_insert(way);
            }
        }
        let other_directory = *self.directories.entry(folded_directory.clone()).or_insert(directory);
        if other_directory != directory {
            return Some((folded_directory, AmbiguousName { path: directory, read_as: other_directory.to_owned() }));
        }
        let other = *self.files.entry(whole.clone()).or_insert(path);
        (other != path).then(|| (whole, AmbiguousName { path, read_as: other.to_owned() }))
    }

    fn in_place_of_directory(&self, path: &'a str) -> Option<(String, AmbiguousName<'a>)> {
        let folded = folded(path);
        let other = *self.ways.get(&*folded)?;
        (other != path).then(|| (folded.into_owned(), AmbiguousName { path, read_as: other.to_owned() }))
    }
}

#[cfg(test)]
mod folding_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_slashes() {
        let path: std::path::PathBuf = ["a", "b", "c.tf"].iter().collect();
        assert_eq!(&*RepoPath::of(&path), "a/b/c.tf");
        assert_eq!(&*RepoPath::of(Path::new("")), "");
        // The order is that of the bytes, not that of the names.
        assert!(RepoPath::from_git("a-b") < RepoPath::from_git("a/b"));
        assert_eq!(RepoPath::from_git("a").join("b/c").prefix(), "a/b/c/");
        assert_eq!(RepoPath::default().join("b").prefix(), "b/");
    }

    #[test]
    fn a_place_is_named_from_the_top() {
        let top = Path::new("top");
        assert_eq!(RepoPath::below(top, &top.join("a").join("b")).as_deref(), Some("a/b"));
        assert_eq!(RepoPath::below(top, top).as_deref(), Some(""));
        assert_eq!(RepoPath::below(top, Path::new("other")), None);
    }
}

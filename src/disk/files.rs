//! The one reader of files that somebody else may have written: those of root modules, their settings and trust files.
//!
//! Only regular files of at most [`LIMIT`] bytes are read. A symbolic link that stands in a git work tree must not lead
//! out of it or into `.git`, at any step: what it leads to would differ from place to place, and from what was reviewed.
//! `..` in a path that a caller names is no link. The tools make links of their own below `.terraform`, which lead
//! anywhere; where git tracks them, that is told elsewhere.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use super::linkless;
use crate::git::worktree::lexical;

/// The most bytes of a file; no real one comes near.
pub const LIMIT: u64 = 16 << 20;

/// How many symbolic links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The folder of a root module in which the tools keep what they install.
pub const DATA: &str = ".terraform";

/// Why something that is there is not read. It comes inside of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A link leads out of the work tree.
    #[error("a symbolic link on its way leads out of the git work tree, or is absolute")]
    Outside,
    /// A link leads into the repository.
    #[error("a symbolic link on its way leads into .git")]
    Repository,
    /// Links that lead to each other.
    #[error("symbolic links form a circle")]
    Circle,
    /// A link whose target is not there.
    #[error("a symbolic link on its way leads nowhere")]
    Nowhere,
    /// A pipe, a device or a socket.
    #[error("it is not a regular file")]
    NotAFile,
    /// Larger than [`LIMIT`].
    #[error("it is larger than 16 MiB")]
    TooLarge,
    /// A directory with a file that counts, and that no text can name.
    #[error("the name of a file in it is not UTF-8")]
    Name,
}

impl Refusal {
    /// The refusal inside of an error, if there is one.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

fn refused(refusal: Refusal) -> io::Error {
    io::Error::other(refusal)
}

/// The bytes of a file; none if there is no such file.
///
/// # Errors
///
/// [`Refusal`], or what the system says.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match open(path) {
        Ok(file) => contents(file).map(Some),
        Err(reason) if is_absence(&reason) => Ok(None),
        Err(reason) => Err(reason),
    }
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    if let Some(file) = linkless::open(path)? {
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
///
/// # Errors
///
/// [`Refusal::TooLarge`], or what the system says.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    bounded(std::fs::File::open(path)?, 0)
}

/// At most one byte more than so many of what a user named on the command line, even a pipe.
///
/// # Errors
///
/// What the system says.
pub fn read_named_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What stands in a regular file.
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

/// Where a path leads to, without symbolic links.
///
/// # Errors
///
/// [`Refusal`] for what links may not do; [`io::ErrorKind::NotFound`] if nothing is there.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    if linkless::leads(path)? {
        return Ok(lexical(Path::new(""), &std::path::absolute(path)?));
    }
    stepwise(path)
}

fn stepwise(path: &Path) -> io::Result<PathBuf> {
    let mut way = Way::to(path)?;
    way.end()?;
    Ok(way.place)
}

/// All that a path leads over: each symbolic link on its way, and where it ends; as far as it leads. Each is a place
/// without symbolic links above it.
pub fn stations(path: &Path) -> Vec<PathBuf> {
    let Ok(mut way) = Way::to(path) else { return Vec::new() };
    let _ = way.end();
    let mut stations = way.links;
    stations.push(way.place);
    stations
}

/// Where a directory is that configuration names from another one, in the form of that name: links are put in the place
/// of what leads to them, as the tools do. What cannot be resolved is told when it is read.
pub fn without_links(base: &Path, dir: &Path) -> PathBuf {
    if linkless::leads(&base.join(dir)).is_ok_and(|leads| leads) {
        return dir.to_owned();
    }
    let resolved = resolve(base).and_then(|base| Ok((resolve(&base.join(dir))?, base)));
    match resolved {
        Ok((place, base)) if lexical(&base, dir) != place => relative(&base, &place),
        _ => dir.to_owned(),
    }
}

/// The way from one directory to a place, both without symbolic links.
fn relative(base: &Path, place: &Path) -> PathBuf {
    let shared = base.components().zip(place.components()).take_while(|(one, other)| one == other).count();
    let up = base.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(place.components().skip(shared)).collect()
}

/// One part of a path that is still to be gone.
struct Step {
    part: OsString,
    /// The work tree that must not be left, for the parts of links that stand in one.
    within: Option<PathBuf>,
}

/// A path of which a part was gone.
struct Way {
    /// How far, without symbolic links.
    place: PathBuf,
    /// What is left, the next part last.
    rest: Vec<Step>,
    /// The links that were followed.
    links: Vec<PathBuf>,
}

impl Way {
    fn to(path: &Path) -> io::Result<Self> {
        let mut way = Self { place: PathBuf::new(), rest: Vec::new(), links: Vec::new() };
        way.ahead(&std::path::absolute(path)?, None);
        Ok(way)
    }

    fn end(&mut self) -> io::Result<()> {
        while let Some(step) = self.rest.pop() {
            self.go(&step)?;
        }
        Ok(())
    }

    /// Puts the parts of a path before what is left.
    fn ahead(&mut self, path: &Path, within: Option<&Path>) {
        let parts = path.components().rev();
        self.rest
            .extend(parts.map(|part| Step { part: part.as_os_str().to_owned(), within: within.map(Path::to_owned) }));
    }

    fn go(&mut self, step: &Step) -> io::Result<()> {
        match Path::new(&step.part).components().next() {
            None | Some(Component::CurDir) => {}
            Some(Component::ParentDir) => {
                self.place.pop();
            }
            // The first part of a path that is absolute.
            Some(Component::Prefix(_) | Component::RootDir) => self.place.push(&step.part),
            Some(Component::Normal(name)) => {
                if !self.links.is_empty() && name.eq_ignore_ascii_case(".git") {
                    return Err(refused(Refusal::Repository));
                }
                self.place.push(name);
                let meta = self.place.symlink_metadata().map_err(|reason| self.absent(reason))?;
                if meta.is_symlink() {
                    return self.follow(step);
                }
            }
        }
        match &step.within {
            Some(top) if !self.place.starts_with(top) => Err(refused(Refusal::Outside)),
            _ => Ok(()),
        }
    }

    /// A link that leads nowhere is not an absent file.
    fn absent(&self, reason: io::Error) -> io::Error {
        let is_absent = matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        if is_absent && !self.links.is_empty() { refused(Refusal::Nowhere) } else { reason }
    }

    fn follow(&mut self, step: &Step) -> io::Result<()> {
        self.links.push(self.place.clone());
        if self.links.len() > MAX_LINKS {
            return Err(refused(Refusal::Circle));
        }
        let target = std::fs::read_link(&self.place)?;
        self.place.pop();
        let within = confines(&self.place, &step.part).or_else(|| step.within.clone());
        if within.is_some() && target.has_root() {
            return Err(refused(Refusal::Outside));
        }
        if target.has_root() {
            self.place = PathBuf::new();
        }
        self.ahead(&target, within.as_deref());
        Ok(())
    }
}

/// The work tree that a link must not lead out of: the one that it stands in, unless it is one of the tools.
fn confines(directory: &Path, name: &OsStr) -> Option<PathBuf> {
    let top = directory.ancestors().find(|place| place.join(".git").symlink_metadata().is_ok())?;
    let way = directory.strip_prefix(top).ok()?;
    let of_tools = way.iter().chain([name]).any(|part| part == DATA);
    (!of_tools).then(|| top.to_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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

//! Where paths lead over symbolic links, and which links are refused.
//!
//! A symbolic link that is in a git working tree must not lead out of it or into `.git`, at any step: what it leads to
//! would differ from place to place, and from what was reviewed. `..` in a path that a caller names is no link. The tools
//! make links of their own below `.terraform`, which lead anywhere; if git tracks them, another check reports it.
//!
//! What tflock makes for itself (caches, stores, data directories) is never behind a link of a working tree, wherever that leads.
//!
//! That a path has no link is checked by the system in one call where it can: Linux can refuse all links, from version 5.6 on. On
//! other systems, or if a link is on the way, the callers go step by step: most paths have none, and for them that would be a call
//! for each part.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use super::{lexical, shown, worktree};

/// How many symbolic links in a row are followed, as on Linux.
const MAX_LINKS: usize = 40;

/// The folder of a root module in which the tools keep what they install.
pub const DATA: &str = ".terraform";

/// True if an error says that nothing is at a path.
pub fn is_absence(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Why something that is there is not read. It comes inside of an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileRefusal {
    #[error("a symbolic link on its way leads out of the git working tree, or is absolute")]
    Outside,
    #[error("a symbolic link on its way leads into .git")]
    Repository,
    #[error("symbolic links form a circle")]
    Circle,
    #[error("a symbolic link on its way leads nowhere")]
    Nowhere,
    #[error("it is not a regular file")]
    NotAFile,
    #[error("it is larger than 16 MiB")]
    TooLarge,
    #[error("the name of a file in it is not UTF-8")]
    Name,
}

/// A symbolic link on the way to a directory that tflock makes. It comes inside of an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is a symbolic link, and tflock does not write through it", shown(&self.link))]
pub struct LinkOnTheWay {
    pub link: PathBuf,
}

impl LinkOnTheWay {
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl FileRefusal {
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

pub(crate) fn refused(refusal: FileRefusal) -> io::Error {
    io::Error::other(refusal)
}

pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    if exists_without_links(path)? {
        return Ok(lexical(Path::new(""), &std::path::absolute(path)?));
    }
    stepwise(path)
}

pub(crate) fn stepwise(path: &Path) -> io::Result<PathBuf> {
    let mut way = PathWalk::to(path)?;
    way.end()?;
    Ok(way.place)
}

/// Refuses a symbolic link on the way to a directory that tflock makes: in a git working tree, where a change may have put
/// it, and anywhere below `top`. What does not exist is no link.
pub fn refuse_on_the_way(top: &Path, directory: &Path) -> io::Result<()> {
    if exists_without_links(directory).is_ok_and(|leads| leads) {
        return Ok(());
    }
    let (base, below) = directory.strip_prefix(top).map_or((directory, Path::new("")), |below| (top, below));
    let mut way = PathWalk::to(base)?;
    way.is_for_writing = true;
    let to_base = std::mem::take(&mut way.rest);
    way.ahead(below, None);
    way.own = way.rest.len();
    way.rest.extend(to_base);
    match way.end() {
        Err(reason) if is_absence(reason.kind()) => Ok(()),
        done => done,
    }
}

/// All that a path leads over: each symbolic link on its way, and where it ends; as far as it leads, through links that are refused too:
/// others follow them. Each is a place without symbolic links above it.
pub fn stations(path: &Path) -> Vec<PathBuf> {
    let Ok(mut way) = PathWalk::to(path) else { return Vec::new() };
    way.is_unconfined = true;
    let _ = way.end();
    let mut stations = way.links;
    stations.push(way.place);
    stations
}

/// The directory `dir` that configuration in `base` names, with links resolved, as the tools do. A name that cannot be resolved is an error when it is read.
pub fn without_links(base: &Path, dir: &Path) -> PathBuf {
    if exists_without_links(&base.join(dir)).is_ok_and(|leads| leads) {
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

struct LinkStep {
    part: OsString,
    /// The working tree that links inside of it must not leave.
    within: Option<PathBuf>,
}

#[derive(Default)]
struct PathWalk {
    /// How far, without symbolic links.
    place: PathBuf,
    /// What is left, the next part last.
    rest: Vec<LinkStep>,
    links: Vec<PathBuf>,
    /// True if directories are to be made there, so that no link of a working tree is followed.
    is_for_writing: bool,
    /// True if links may lead anywhere, as nothing is read there.
    is_unconfined: bool,
    /// How many of the last parts no link may be at, wherever they are.
    own: usize,
}

impl PathWalk {
    fn to(path: &Path) -> io::Result<Self> {
        let mut way = Self::default();
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
        self.rest.extend(
            parts.map(|part| LinkStep { part: part.as_os_str().to_owned(), within: within.map(Path::to_owned) }),
        );
    }

    fn go(&mut self, step: &LinkStep) -> io::Result<()> {
        match Path::new(&step.part).components().next() {
            None | Some(Component::CurDir) => {}
            Some(Component::ParentDir) => {
                self.place.pop();
            }
            // The first part of a path that is absolute.
            Some(Component::Prefix(_) | Component::RootDir) => {
                self.place.push(&step.part);
                remember_without_links(&self.place);
            }
            Some(Component::Normal(name)) => {
                if !self.is_unconfined && !self.links.is_empty() && name.eq_ignore_ascii_case(".git") {
                    return Err(refused(FileRefusal::Repository));
                }
                self.place.push(name);
                if !is_remembered(&self.place) {
                    let meta = self.place.symlink_metadata().map_err(|reason| self.absent(reason))?;
                    if meta.is_symlink() {
                        return self.follow(step);
                    }
                    if meta.is_dir() {
                        remember_without_links(&self.place);
                    }
                }
            }
        }
        match &step.within {
            Some(top) if !self.place.starts_with(top) => Err(refused(FileRefusal::Outside)),
            _ => Ok(()),
        }
    }

    /// A link that leads nowhere is not an absent file.
    fn absent(&self, reason: io::Error) -> io::Error {
        let is_absent = is_absence(reason.kind());
        if is_absent && !self.links.is_empty() && !self.is_for_writing { refused(FileRefusal::Nowhere) } else { reason }
    }

    fn follow(&mut self, step: &LinkStep) -> io::Result<()> {
        let directory = self.place.parent().unwrap_or(&self.place);
        let is_own = self.rest.len() < self.own;
        if self.is_for_writing && (is_own || worktree::above_or_at(directory).is_some()) {
            return Err(io::Error::other(LinkOnTheWay { link: as_seen_here(&self.place) }));
        }
        self.links.push(self.place.clone());
        if self.links.len() > MAX_LINKS {
            return Err(refused(FileRefusal::Circle));
        }
        let target = std::fs::read_link(&self.place)?;
        self.place.pop();
        let within = if self.is_unconfined { None } else { confines(&self.place, &step.part) };
        let within = within.or_else(|| step.within.clone());
        if within.is_some() && target.has_root() {
            return Err(refused(FileRefusal::Outside));
        }
        if target.has_root() {
            self.place = PathBuf::new();
        }
        self.ahead(&target, within.as_deref());
        Ok(())
    }
}

/// The working tree that a link must not lead out of: the one that it is in, unless it is one of the tools.
fn confines(directory: &Path, name: &OsStr) -> Option<PathBuf> {
    let top = worktree::above_or_at(directory)?;
    let way = directory.strip_prefix(&top).ok()?;
    let of_tools = way.iter().chain([name]).any(|part| part == DATA);
    (!of_tools).then_some(top)
}

/// A path below the directory of the process as users write it.
fn as_seen_here(path: &Path) -> PathBuf {
    let here = std::path::absolute(".").unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}

/// Directories of which no part was a symbolic link when this run looked, so each is checked once. They are kept by their text: hashing
/// a [`Path`] goes through its parts one by one.
static PLAIN: RwLock<Option<HashSet<OsString>>> = RwLock::new(None);

/// Remembers a directory that is none and has none above it.
fn remember_without_links(directory: &Path) {
    let mut plain = PLAIN.write().unwrap_or_else(PoisonError::into_inner);
    plain.get_or_insert_default().insert(directory.as_os_str().to_owned());
}

fn is_remembered(directory: &Path) -> bool {
    let plain = PLAIN.read().unwrap_or_else(PoisonError::into_inner);
    plain.as_ref().is_some_and(|plain| plain.contains(directory.as_os_str()))
}

fn leads_to_remembered(path: &Path) -> bool {
    // By its text alone `..` leads elsewhere where a link is before it, so each part must be known.
    let Ok(path) = std::path::absolute(path) else { return false };
    let plain = lexical(Path::new(""), &path);
    let has_parents = path.components().any(|part| part == std::path::Component::ParentDir);
    is_remembered(&plain)
        && (!has_parents || path.ancestors().all(|above| is_remembered(&lexical(Path::new(""), above))))
}

/// Opens what is at a path for reading, without waiting for the other end of a pipe; `None` if a link is on the way, or
/// if the system cannot know.
#[cfg(target_os = "linux")]
pub fn open_without_links(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::OFlags;
    flagged(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY).map(|opened| opened.ok().map(File::from))
}

/// True if the path exists without a link on the way; false also if the system cannot know.
#[cfg(target_os = "linux")]
pub fn exists_without_links(path: &Path) -> io::Result<bool> {
    match flagged(path, rustix::fs::OFlags::PATH)? {
        Ok(_) => Ok(true),
        Err(rustix::io::Errno::LOOP) => Ok(false),
        // The system does not know how to.
        Err(_) => Ok(leads_to_remembered(path)),
    }
}

#[cfg(target_os = "linux")]
fn flagged(path: &Path, flags: rustix::fs::OFlags) -> io::Result<Result<std::os::fd::OwnedFd, rustix::io::Errno>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    match openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(opened) => Ok(Ok(opened)),
        Err(reason @ (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => Err(reason.into()),
        Err(reason) => Ok(Err(reason)),
    }
}

/// As on Linux: nothing is known here.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn open_without_links(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// As on Linux: nothing is known here.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
pub fn exists_without_links(path: &Path) -> io::Result<bool> {
    Ok(leads_to_remembered(path))
}

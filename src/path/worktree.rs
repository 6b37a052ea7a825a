//! The git working tree around a directory, and whose it is.
//!
//! Its top is the first directory upwards that contains `.git`, a directory or (in linked working trees and submodules) a file.
//! A name decides nothing: where another user may create entries, so may another user create `.git`. There are two questions:
//!
//! - [`top`]: whose settings, trust file and history are used? Git's own rule: the user must own the top and its `.git`, or git must
//!   accept them all the same (`safe.directory`, `SUDO_UID`). Else a directory is on its own, as outside of git.
//! - [`trees`]: whose changes may be at a place, so links and caches there are not trusted? Besides those, each tree of which
//!   root or the owner of the place has the `.git`.
//!
//! Source: `git help repository-layout`; `safe.directory` in `git help config`; `ensure_valid_ownership` in git's `setup.c`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::{canonical, lexical, links, shown};
use crate::parallel::locked;
use crate::step::{Step, Value};

/// A directory, and the working tree around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkTree {
    /// The directory, absolute and without symbolic links, as far as that can be known.
    pub directory: PathBuf,
    /// The top of the working tree that it is in; none outside of git, and where git would refuse the tree.
    pub top: Option<PathBuf>,
}

impl WorkTree {
    pub fn of(directory: &Path) -> Self {
        let directory = absolute(directory);
        Self { top: top_of(&directory).ok().flatten(), directory }
    }

    /// The directory that reading of settings and writing are confined to: the top, or the directory itself outside of git.
    pub fn boundary(&self) -> &Path {
        self.top.as_ref().unwrap_or(&self.directory)
    }

    /// The way from the top of the working tree, empty at the top; none outside of git.
    pub fn way(&self) -> Option<&Path> {
        self.directory.strip_prefix(self.top.as_ref()?).ok()
    }

    pub fn within(&self) -> impl Iterator<Item = &Path> {
        self.directory.ancestors().take_while(|place| place.starts_with(self.boundary()))
    }
}

/// The top of the working tree, which paths of root modules are relative to, as seen from the directory of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Top {
    /// From the directory of the run to the top.
    pub up: PathBuf,
    /// From the top to the directory of the run; empty if it is not below the top.
    pub down: PathBuf,
}

impl Top {
    /// A path below the top, relative to the directory of the run: `live/a` in `live` is `a`.
    pub fn path_to(&self, path: &Path) -> PathBuf {
        let path: PathBuf = path.components().filter(|component| *component != Component::CurDir).collect();
        let common = self.down.components().zip(path.components()).take_while(|(here, there)| here == there).count();
        if common == 0 {
            return self.up.join(path).components().filter(|component| *component != Component::CurDir).collect();
        }
        let up = std::iter::repeat_n(Component::ParentDir, self.down.components().count() - common);
        up.chain(path.components().skip(common)).collect()
    }
}

/// A working tree that is not used, since it belongs to another user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{} belongs to user {owner}, not to the user who runs tflock", shown(entry))]
pub struct ForeignTree {
    pub top: PathBuf,
    /// What belongs to the other user: `.git`, or the top.
    pub entry: PathBuf,
    pub owner: u32,
}

impl ForeignTree {
    /// How a user who trusts the owner says so.
    pub fn remedy(&self) -> Step {
        step!("if you trust that user: `git config --global --add safe.directory {}`", shown(&self.top))
    }

    /// What follows, if the run goes on without the tree.
    pub fn note(&self) -> Step {
        let top = shown(&self.top);
        step!(
            "{}: the settings, the trust file and the history of {} are not used; {}",
            self,
            top,
            Value::Step(self.remedy())
        )
    }
}

/// What is known of the owners of working trees. They do not change while a run lasts.
#[derive(Debug, Default)]
struct Owners {
    judged: BTreeMap<PathBuf, Option<ForeignTree>>,
    /// Those in which a directory of the run is.
    unused: BTreeSet<ForeignTree>,
}

static OWNERS: Mutex<Owners> = Mutex::new(Owners { judged: BTreeMap::new(), unused: BTreeSet::new() });

/// Says whether git accepts a working tree that another user owns.
static ACCEPTS: OnceLock<fn(&Path) -> bool> = OnceLock::new();

/// Sets how git is asked. Without it, no tree of another user is used.
pub fn ask_with(accepts: fn(&Path) -> bool) {
    let _ = ACCEPTS.set(accepts);
}

/// The working trees of other users that directories of this run are in.
pub fn unused() -> BTreeSet<ForeignTree> {
    locked(&OWNERS).unused.clone()
}

/// The top of the working tree around a directory, whose path is absolute and without symbolic links; an error if it is another
/// user's, and git does not accept it.
pub fn top_of(directory: &Path) -> Result<Option<PathBuf>, ForeignTree> {
    let Some(top) = directory.ancestors().find(|place| git_entry(place).is_some()) else { return Ok(None) };
    match judged(top) {
        None => Ok(Some(top.to_owned())),
        Some(foreign) => {
            locked(&OWNERS).unused.insert(foreign.clone());
            Err(foreign)
        }
    }
}

/// The nearest working tree whose changes may be at a place, of a path without symbolic links.
pub(super) fn above_or_at(place: &Path) -> Option<PathBuf> {
    trees_around(place).next().map(Path::to_owned)
}

fn trees_around(place: &Path) -> impl Iterator<Item = &Path> {
    let holds =
        move |top: &&Path| git_entry(top).is_some_and(|entry| is_owner_of(&entry, place) || judged(top).is_none());
    place.ancestors().filter(holds)
}

fn git_entry(top: &Path) -> Option<std::fs::Metadata> {
    top.join(".git").symlink_metadata().ok()
}

/// None if the user owns a working tree, or git accepts it.
fn judged(top: &Path) -> Option<ForeignTree> {
    if let Some(known) = locked(&OWNERS).judged.get(top) {
        return known.clone();
    }
    let foreign = foreign(top).filter(|_| !ACCEPTS.get().is_some_and(|accepts| accepts(top)));
    locked(&OWNERS).judged.insert(top.to_owned(), foreign.clone());
    foreign
}

/// What of a working tree another user owns.
#[cfg(unix)]
fn foreign(top: &Path) -> Option<ForeignTree> {
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    // Where the repository is that a file names, git looks itself.
    [top.join(".git"), top.to_owned()].into_iter().find_map(|entry| {
        let owner = entry.symlink_metadata().ok()?.uid();
        (owner != user).then(|| ForeignTree { top: top.to_owned(), entry, owner })
    })
}

/// Owners are not read here.
#[cfg(not(unix))]
fn foreign(_: &Path) -> Option<ForeignTree> {
    None
}

/// True if the owner of a `.git` decides about a place anyway: it is the user, root or the owner of the place.
#[cfg(unix)]
fn is_owner_of(entry: &std::fs::Metadata, place: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let owner = entry.uid();
    let of_place = || place.ancestors().find_map(|existing| existing.symlink_metadata().ok()).map(|found| found.uid());
    owner == 0 || owner == rustix::process::geteuid().as_raw() || of_place() == Some(owner)
}

#[cfg(not(unix))]
fn is_owner_of(_: &std::fs::Metadata, _: &Path) -> bool {
    true
}

/// The tops of all working trees whose changes may be at a directory, the nearest first.
pub fn tops(directory: &Path) -> Vec<PathBuf> {
    trees_around(&absolute(directory)).map(Path::to_owned).collect()
}

/// The directories whose files a pull request could write: the tops of all working trees that a directory is in, or outside of
/// git the directory itself.
pub fn trees(directory: &Path) -> Vec<PathBuf> {
    let tops = tops(directory);
    if tops.is_empty() { vec![absolute(directory)] } else { tops }
}

/// The top of the working tree that a directory is in, absolute and without symbolic links. None outside of git, and where git would
/// refuse the tree.
pub fn top(directory: &Path) -> Option<PathBuf> {
    top_of(&absolute(directory)).ok().flatten()
}

/// The directory that reading of settings and writing are confined to: the top, or the root module outside of git.
pub fn boundary(root: &Path) -> PathBuf {
    WorkTree::of(root).boundary().to_owned()
}

/// The top of the working tree around a directory and the way down from there; none at the top and outside of git.
pub fn above(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let place = WorkTree::of(directory);
    let prefix = place.way().filter(|prefix| !prefix.as_os_str().is_empty())?.to_owned();
    Some((place.top?, prefix))
}

/// The way from the top of the working tree down to a directory, empty at the top; none outside of git.
pub fn place(directory: &Path) -> Option<PathBuf> {
    WorkTree::of(directory).way().map(Path::to_owned)
}

/// A directory's absolute path without symbolic links; as far as that can be known.
pub fn absolute(directory: &Path) -> PathBuf {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    if links::exists_without_links(directory).is_ok_and(|leads| leads)
        && let Ok(path) = std::path::absolute(directory)
    {
        return lexical(Path::new(""), &path);
    }
    canonical(directory).or_else(|_| std::path::absolute(directory)).unwrap_or_else(|_| directory.to_owned())
}

/// True if a directory is in one of some working trees, in any spelling, or if the way to it leads over a link in one: then a
/// change of these can fill it.
pub fn is_within(directory: &Path, trees: &[PathBuf]) -> bool {
    let mut places = links::stations(directory);
    // The system may take names of other letters for the same; the link itself must not be followed for its own name.
    places.extend(places.clone().iter().filter_map(|place| Some(real_path(place.parent()?).join(place.file_name()?))));
    places.push(real_path(directory));
    trees.iter().map(|tree| real_path(tree)).any(|tree| places.iter().any(|place| place.starts_with(&tree)))
}

pub fn real_path(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|place| Some((place, canonical(place).ok()?)));
    match existing {
        Some((place, real)) => path.strip_prefix(place).map_or(real.clone(), |rest| real.join(rest)),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn a_linked_directory_is_where_it_leads() {
        use super::{top, tops};
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        std::fs::create_dir_all(base.join("tree/.git")).unwrap();
        std::fs::create_dir_all(base.join("tree/root")).unwrap();
        std::os::unix::fs::symlink("tree/root", base.join("link")).unwrap();
        assert_eq!(top(&base.join("link")), Some(base.join("tree")));
        std::fs::create_dir_all(base.join("tree/root/sub/.git")).unwrap();
        assert_eq!(tops(&base.join("link/sub")), [base.join("tree/root/sub"), base.join("tree")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_behind_a_link_is_where_the_link_is() {
        use super::is_within;
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path();
        for place in ["tree/.git", "tree/root", "outside"] {
            std::fs::create_dir_all(base.join(place)).unwrap();
        }
        let link = |name: &str, target: &str| std::os::unix::fs::symlink(target, base.join(name)).unwrap();
        link("tree/out", "../outside");
        link("tree/nowhere", "../none");
        link("alias", "tree");
        link("twice", "alias");
        link("in", "tree/root");
        link("over", "tree/out");
        let trees = [base.join("tree")];
        let within = [
            "tree",
            "tree/root/x/y",
            "tree/out",
            "tree/out/x",
            "tree/nowhere/x",
            "alias/out/x",
            "twice/x",
            "in/x",
            "over/x",
        ];
        for place in within {
            assert!(is_within(&base.join(place), &trees), "{place}");
        }
        for place in ["", "outside", "none/x", "tree-2", "tree/../outside"] {
            assert!(!is_within(&base.join(place), &trees), "{place}");
        }
    }
}

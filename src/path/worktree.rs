//! The git working tree around a directory, found without git.
//!
//! Source: `git help repository-layout` and `git help gitrepository-layout`, as far as it goes by directory entries: the
//! first directory upwards that contains `.git`, a directory or (in linked working trees and submodules) a file.

use std::path::{Component, Path, PathBuf};

use super::{lexical, links};

/// A directory, and the working tree around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkTree {
    /// The directory, absolute and without symbolic links, as far as that can be known.
    pub directory: PathBuf,
    /// The top of the working tree that it is in; none outside of git.
    pub top: Option<PathBuf>,
}

impl WorkTree {
    pub fn of(directory: &Path) -> Self {
        let directory = absolute(directory);
        Self { top: above_or_at(&directory), directory }
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

/// The first directory upwards with a `.git`, of a path without symbolic links.
pub(super) fn above_or_at(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|place| place.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

pub fn tops(directory: &Path) -> Vec<PathBuf> {
    let around = |top: &PathBuf| above_or_at(top.parent()?);
    std::iter::successors(top(directory), around).collect()
}

/// The directories whose files a pull request could write: the tops of all working trees that a directory is in, or outside of
/// git the directory itself.
pub fn trees(directory: &Path) -> Vec<PathBuf> {
    let tops = tops(directory);
    if tops.is_empty() { vec![absolute(directory)] } else { tops }
}

/// The top of the working tree that a directory is in, absolute and without symbolic links. None outside of git.
pub fn top(directory: &Path) -> Option<PathBuf> {
    above_or_at(&absolute(directory))
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
    std::fs::canonicalize(directory)
        .or_else(|_| std::path::absolute(directory))
        .unwrap_or_else(|_| directory.to_owned())
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
    let existing = path.ancestors().find_map(|place| Some((place, std::fs::canonicalize(place).ok()?)));
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

//! Two points of the git history, and their lock files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use super::inputs::{ends, usage};
use super::pairs::{DiffSide, NO_COMMIT, Pair};
use super::signers::{TrustText, TrustTexts, trust_text};
use crate::dialect::Dialect;
use crate::disk::files;
use crate::error::Error;
use crate::git::{Commit, Git, GitTree};
use crate::lockfile::{FILE_NAME, LockName};
use crate::modulelock;
use crate::path::shown;
use crate::trust::pins::FILE_NAME as FILE_OF_PINS;

#[derive(Debug)]
pub(super) struct History {
    pub(in crate::commands) git: Git,
    /// `None` if there is no commit yet.
    pub(in crate::commands) old: Option<Point>,
    /// `None` for the working tree.
    pub(in crate::commands) new: Option<Point>,
    /// The configuration of the commits, written out on first use; `None` if it is not available.
    written: OnceLock<Option<[Option<TempDir>; 2]>>,
}

/// A commit and its files.
#[derive(Debug)]
pub(super) struct Point {
    commit: Commit,
    tree: GitTree,
}

impl Point {
    fn read(git: &Git, commit: Commit) -> Result<Self, Error> {
        let tree = git.tree(&commit)?;
        Ok(Self { commit, tree })
    }
}

/// Parses a name into the two points to compare.
pub(crate) fn history(git: Git, name: Option<&str>, tip: bool) -> Result<History, Error> {
    let Some(name) = name else {
        // Before the first commit there is nothing to compare with.
        let old = git.commit("HEAD")?.map(|head| Point::read(&git, head)).transpose()?;
        return Ok(History { git, old, new: None, written: OnceLock::new() });
    };
    let (old, new) = match (name.split_once("..."), name.split_once("..")) {
        (Some(_), _) | (_, Some(_)) if tip => return Err(usage("--tip is for one revision, not for two")),
        (Some(_), _) => {
            let [old, new] = two(&git, name)?;
            (git.merge_base(&old, &new)?, Some(new))
        }
        (None, Some(_)) => {
            let [old, new] = two(&git, name)?;
            (old, Some(new))
        }
        (None, None) if tip => (git.known_commit(name)?, None),
        (None, None) => match git.with_head(name)? {
            Some([old, head, _]) if old.id == head.id => (old, None),
            Some([.., base]) => (base, None),
            None => {
                let old = git.known_commit(name)?;
                match git.commit("HEAD")?.filter(|head| head.id != old.id) {
                    Some(head) => (git.merge_base(&old, &head)?, None),
                    None => (old, None),
                }
            }
        },
    };
    let old = Some(Point::read(&git, old)?);
    let new = new.map(|commit| Point::read(&git, commit)).transpose()?;
    Ok(History { git, old, new, written: OnceLock::new() })
}

fn two(git: &Git, name: &str) -> Result<[Commit; 2], Error> {
    match ends(name)[..] {
        [old, new] => Ok([git.known_commit(old)?, git.known_commit(new)?]),
        _ => Err(usage(format!("{name:?} is not a pair of revisions"))),
    }
}

fn is_lock_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| LockName::of(name).is_some())
}

fn module_lock_of(lock_file: &str) -> String {
    match lock_file.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{}", modulelock::FILE_NAME),
        None => modulelock::FILE_NAME.to_owned(),
    }
}

impl History {
    /// The directories with the configuration of both sides, shared by all root modules; `None` if one is not available.
    pub(crate) fn configuration(&self) -> Option<[&Path; 2]> {
        let [old, new] = self.written.get_or_init(|| self.write_configuration()).as_ref()?;
        let new = if self.new.is_some() { new.as_ref()?.path() } else { self.git.top() };
        Some([old.as_ref()?.path(), new])
    }

    fn write_configuration(&self) -> Option<[Option<TempDir>; 2]> {
        let trees: Vec<&GitTree> = [self.old.as_ref()?].into_iter().chain(&self.new).map(|point| &point.tree).collect();
        let mut written = self.git.configurations(&trees).ok()?.into_iter();
        Some([written.next().flatten(), written.next().flatten()])
    }

    pub(crate) fn pairs(
        &self,
        path: Option<&Path>,
        recursive: bool,
        dialect: Option<Dialect>,
    ) -> Result<(Vec<Pair>, TrustTexts), Error> {
        let (wanted, is_directory) = self.wanted(path)?;
        let paths = if recursive {
            self.below(&wanted)?
        } else if is_directory {
            self.beside(wanted)
        } else {
            vec![wanted]
        };
        let modules: Vec<String> = paths.iter().map(|path| module_lock_of(path)).collect();
        let all: Vec<String> = paths.iter().chain(&modules).cloned().collect();
        let (mut old, old_pins) = match &self.old {
            Some(point) => self.files(point, &all)?,
            None => (vec![None; all.len()], None),
        };
        let (mut new, new_pins) = if let Some(point) = &self.new {
            self.files(point, &all).map(|(texts, pins)| (texts, Ok(pins)))?
        } else {
            let texts = all.iter().map(|path| files::read_file(&self.git.top().join(path)));
            let mut texts = texts.collect::<Result<Vec<_>, Error>>()?;
            self.git.add_left_out(&all, &mut texts)?;
            (texts, trust_text(self.git.top(), None))
        };
        let [old_name, new_name] = [(&self.old, NO_COMMIT), (&self.new, "the working tree")]
            .map(|(point, none)| point.as_ref().map_or(none.to_owned(), |point| point.commit.shown()));
        let modules = old.split_off(paths.len()).into_iter().zip(new.split_off(paths.len()));
        let texts = paths.iter().zip(old).zip(new).zip(modules);
        // A directory with several lock files has one for modules.
        let mut directories = BTreeSet::new();
        let pairs = texts.map(|(((path, old), new), (old_modules, new_modules))| Pair {
            path: PathBuf::from(path),
            old: DiffSide { name: old_name.clone(), text: old },
            new: DiffSide { name: new_name.clone(), text: new },
            dialect,
            restorable_from: self
                .old
                .as_ref()
                .filter(|_| self.new.is_none())
                .map(|point| point.commit.short().to_owned()),
            modules: if directories.insert(Path::new(path).parent()) {
                [old_modules, new_modules]
            } else {
                [None, None]
            },
        });
        Ok((pairs.collect(), [Ok(old_pins), new_pins]))
    }

    /// The texts of all lock files of the old side.
    pub(crate) fn lock_files_before(&self) -> Result<Vec<Vec<u8>>, Error> {
        let Some(old) = &self.old else { return Ok(Vec::new()) };
        let paths: Vec<&str> = old.tree.paths().filter(|path| is_lock_file(path)).collect();
        Ok(self.git.files_of(&old.tree, &paths)?.into_iter().flatten().collect())
    }

    fn files(&self, point: &Point, paths: &[String]) -> Result<(Vec<TrustText>, TrustText), Error> {
        let all: Vec<&str> = paths.iter().map(String::as_str).chain([FILE_OF_PINS]).collect();
        let mut texts = self.git.files_of(&point.tree, &all)?;
        let pins = texts.pop().flatten();
        Ok((texts, pins))
    }

    /// The lock file that a path names, relative to the top: the path itself, or the ordinary one in that directory. Also
    /// whether it names the directory.
    fn wanted(&self, path: Option<&Path>) -> Result<(String, bool), Error> {
        let typed = path.unwrap_or(Path::new(""));
        let outside = || usage(format!("{} is outside of the working tree", shown(typed)));
        let from_top = match typed.strip_prefix(self.git.top()) {
            Ok(within) => within.to_owned(),
            Err(_) if typed.is_absolute() => return Err(outside()),
            Err(_) => Path::new(&**self.git.directory()).join(typed),
        };
        let mut parts: Vec<&str> = Vec::new();
        for part in from_top.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str().ok_or_else(outside)?),
                Component::ParentDir => {
                    parts.pop().ok_or_else(outside)?;
                }
                _ => {}
            }
        }
        let is_directory = parts.is_empty() || self.git.top().join(parts.join("/")).is_dir();
        let is_named = parts.last().is_some_and(|name| Path::new(name).extension().is_some_and(|end| end == "hcl"));
        let names_directory = is_directory || !is_named;
        if names_directory {
            parts.push(FILE_NAME);
        }
        Ok((parts.join("/"), names_directory))
    }

    /// The lock files of either side in the directory of an ordinary one: also those of Atmos instances. Without any, the
    /// ordinary one.
    fn beside(&self, ordinary: String) -> Vec<String> {
        let directory = ordinary.strip_suffix(FILE_NAME).unwrap_or_default();
        let is_in_it = |path: &&str| is_lock_file(path) && path.rfind('/').map_or(0, |at| at + 1) == directory.len();
        let of_point = |point: &Point| -> Vec<String> {
            point.tree.below(directory.trim_end_matches('/')).filter(is_in_it).map(str::to_owned).collect()
        };
        let mut paths: BTreeSet<String> = self.old.iter().chain(&self.new).flat_map(of_point).collect();
        if self.new.is_none() {
            let names = files::names_in(&self.git.top().join(directory)).into_iter();
            paths.extend(names.filter(|name| LockName::of(name).is_some()).map(|name| format!("{directory}{name}")));
        }
        if paths.is_empty() { vec![ordinary] } else { paths.into_iter().collect() }
    }

    /// The lock files of either side in the directory of `lock_file` or below it.
    fn below(&self, lock_file: &str) -> Result<Vec<String>, Error> {
        let directory = lock_file.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        let lock_files = |point: &Point| -> Vec<String> {
            let paths = point.tree.below(self.git.directory());
            paths.filter(|path| is_lock_file(path)).map(str::to_owned).collect()
        };
        let mut paths = self.old.as_ref().map(lock_files).unwrap_or_default();
        paths.extend(match &self.new {
            Some(point) => lock_files(point),
            None => self.git.lock_files_now()?,
        });
        paths.retain(|path| path.starts_with(&directory));
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}

//! Git: the repository around a directory, what it holds, and what is fetched from others.
//!
//! Git is asked, not imitated: worktrees, packed objects, alternates and partial clones are its business. The repository
//! is found once, by its `.git`, and named to every call, since git itself takes any directory that looks like a
//! repository for one, and such a directory can be committed like any other. [`Launcher`] has the rules for what may run.
#![expect(clippy::disallowed_methods, reason = "git is started in this folder")]

mod answer;
pub mod attributes;
mod changes;
mod config;
mod error;
mod export;
mod history;
mod launch;
mod names;
mod objects;
mod packages;
mod tracked;
mod tree;
pub mod worktree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use answer::{Answer, Running};
pub use changes::Changes;
pub use config::Stage;
pub use error::GitError;
pub use history::Last;
pub use launch::{Launcher, Transports};
pub use names::Commit;
pub use packages::{PACKAGE_FOLDERS, TrackedPackages, package_folder};
pub use tracked::Question;
pub use tree::{Kind, Tree};

/// The repositories of work trees that this process has asked git about, by the top: one question each.
static FOUND: Mutex<BTreeMap<PathBuf, Found>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
struct Found {
    git_dir: PathBuf,
    shallow: bool,
}

/// A directory in a work tree of git.
#[derive(Debug, Clone)]
pub struct Git {
    launcher: Launcher,
    top: PathBuf,
    prefix: String,
    shallow: bool,
}

impl Git {
    /// The work tree that a directory is in.
    ///
    /// # Errors
    ///
    /// [`GitError::Start`], [`GitError::NoWorkTree`]; [`GitError::OtherRepository`] if git does not take the `.git` at the
    /// top for the repository.
    pub fn open(directory: &Path) -> Result<Self, GitError> {
        let failed = |reason: &str| GitError::NoWorkTree { directory: directory.to_owned(), reason: reason.to_owned() };
        let place = worktree::absolute(directory);
        let top = worktree::top(&place).ok_or_else(|| failed("there is no .git there or above it"))?;
        let prefix = place.strip_prefix(&top).ok().and_then(slashed).ok_or_else(|| failed("its path is not UTF-8"))?;
        let prefix = if prefix.is_empty() { prefix } else { format!("{prefix}/") };
        let known = FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(&top).cloned();
        let Found { git_dir, shallow } = match known {
            Some(found) => found,
            None => find(directory, &top)?,
        };
        Ok(Self { launcher: Launcher::inspect(&top, &git_dir), top, prefix, shallow })
    }

    /// The directory that was asked about, relative to the top, with a slash at its end; empty at the top.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The top of the work tree, absolute and without symbolic links.
    pub fn top(&self) -> &Path {
        &self.top
    }
}

/// Asks git for the repository of a work tree, whose owner it checks, and makes sure that it is that of its `.git`.
fn find(directory: &Path, top: &Path) -> Result<Found, GitError> {
    let args = ["rev-parse", "--is-shallow-repository", "--show-toplevel", "--absolute-git-dir"];
    let answer = Launcher::unnamed(top).run(args)?;
    let failed = |reason: String| GitError::NoWorkTree { directory: directory.to_owned(), reason };
    if !answer.succeeded() {
        return Err(failed(answer.said()));
    }
    // A path may hold a line feed itself; then nothing here is what it seems, and git is not used.
    let text = String::from_utf8(answer.stdout).map_err(|_| failed("its path is not UTF-8".to_owned()))?;
    let lines: Vec<&str> = text.lines().collect();
    let [shallow, shown, git_dir] = lines[..] else {
        return Err(failed("its path has line feeds".to_owned()));
    };
    let (shown, git_dir) = (worktree::absolute(Path::new(shown)), worktree::absolute(Path::new(git_dir)));
    if shown != top || worktree::repository(top).as_ref() != Some(&git_dir) {
        return Err(GitError::OtherRepository { top: top.to_owned(), found: git_dir });
    }
    let found = Found { git_dir, shallow: shallow == "true" };
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).insert(top.to_owned(), found.clone());
    Ok(found)
}

/// A relative path with slashes between its parts; none if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

/// Reads bytes as git's answers about objects, trees and the work tree, for the fuzzer.
#[doc(hidden)]
pub fn read_answers(bytes: &[u8]) {
    let answer = Answer { code: Some(0), stdout: bytes.to_vec(), stderr: bytes.to_vec() };
    let _ = (changes::Listed::of(&answer), answer.said());
    let _ = answer.texts().filter_map(|line| tree::entry(&line)).count();
    let _ = objects::objects(bytes, 3);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_made_of_plain_files_is_not_the_one() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let git = |place: &Path, args: &[&str]| {
            let status = std::process::Command::new("git").arg("-C").arg(place).args(args).status().unwrap();
            assert!(status.success());
        };
        let planted = top.join("prod");
        git(&top, &["init", "--quiet"]);
        git(&top, &["init", "--quiet", "--bare", "prod"]);
        git(&planted, &["config", "core.bare", "false"]);
        git(&planted, &["config", "core.worktree", "."]);
        let found = Git::open(&planted).unwrap();
        assert_eq!((found.top(), found.prefix()), (top.as_path(), "prod/"));
        // Nor where its own `.git` is none.
        std::fs::create_dir(planted.join(".git")).unwrap();
        assert!(Git::open(&planted).is_err());
    }
}

//! Git: the repository around a directory, its contents, and fetches from other repositories.
//!
//! The program answers, and is not imitated: worktrees, packed objects, alternates and partial clones are its business. The repository
//! is found once, by its `.git`, and named to every call, since git itself takes any directory that looks like a
//! repository for one, and such a directory can be committed like any other. [`Launcher`] has the rules for what may run.
#![expect(clippy::disallowed_methods, reason = "git is started in this folder")]

mod answer;
pub mod attributes;
mod changes;
mod config;
mod launch;
mod names;
mod objects;
mod tracked_files;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub use answer::{Answer, GitError, Running};
pub use changes::ChangedFiles;
pub use config::Stage;
pub use launch::{Launcher, Transports};
pub use names::{Commit, Last};
pub use objects::{Kind, Tree};
pub use tracked_files::{Question, TrackedFiles, TrackedFolder};

use crate::path::{RepoPath, worktree};

/// The most bytes of a `.git` file, which contains one path.
const LIMIT: u64 = 64 << 10;

/// The repositories of working trees that this process has looked up, by the top: one call of git each.
static FOUND: Mutex<BTreeMap<PathBuf, Found>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
struct Found {
    git_dir: PathBuf,
    shallow: bool,
}

#[derive(Debug, Clone)]
pub struct Git {
    launcher: Launcher,
    top: PathBuf,
    directory: RepoPath,
    shallow: bool,
}

impl Git {
    /// The working tree that a directory is in.
    pub fn open(directory: &Path) -> Result<Self, GitError> {
        let failed = |reason: &str| GitError::NoWorkTree { directory: directory.to_owned(), reason: reason.to_owned() };
        let place = worktree::absolute(directory);
        let top = worktree::top(&place).ok_or_else(|| failed("there is no .git there or above it"))?;
        let way = place.strip_prefix(&top).ok().filter(|way| way.to_str().is_some());
        let way = way.map(RepoPath::of).ok_or_else(|| failed("its path is not UTF-8"))?;
        let known = FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(&top).cloned();
        let Found { git_dir, shallow } = match known {
            Some(found) => found,
            None => find(directory, &top)?,
        };
        Ok(Self { launcher: Launcher::inspect(&top, &git_dir), top, directory: way, shallow })
    }

    pub fn directory(&self) -> &RepoPath {
        &self.directory
    }

    /// The top of the working tree, absolute and without symbolic links.
    pub fn top(&self) -> &Path {
        &self.top
    }
}

/// Looks up the repository of a working tree, whose owner git checks, and makes sure that its `.git` names the same one.
fn find(directory: &Path, top: &Path) -> Result<Found, GitError> {
    let args = ["rev-parse", "--is-shallow-repository", "--show-toplevel", "--absolute-git-dir"];
    let answer = Launcher::unnamed(top).run(args)?;
    let failed = |reason: String| GitError::NoWorkTree { directory: directory.to_owned(), reason };
    if !answer.succeeded() {
        return Err(failed(answer.said()));
    }
    // A path may contain a line feed; then the output is ambiguous, and git is not used.
    let text = String::from_utf8(answer.stdout).map_err(|_| failed("its path is not UTF-8".to_owned()))?;
    let lines: Vec<&str> = text.lines().collect();
    let [shallow, shown, git_dir] = lines[..] else {
        return Err(failed("its path has line feeds".to_owned()));
    };
    let (shown, git_dir) = (worktree::absolute(Path::new(shown)), worktree::absolute(Path::new(git_dir)));
    if shown != top || repository(top).as_ref() != Some(&git_dir) {
        return Err(GitError::OtherRepository { top: top.to_owned(), found: git_dir });
    }
    let found = Found { git_dir, shallow: shallow == "true" };
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).insert(top.to_owned(), found.clone());
    Ok(found)
}

/// The repository that the `.git` at a top is or names, without symbolic links; `None` if it is neither.
pub(super) fn repository(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    let kind = std::fs::metadata(&entry).ok()?;
    if kind.is_dir() {
        return entry.canonicalize().ok();
    }
    let mut text = String::new();
    kind.is_file().then_some(())?;
    std::fs::File::open(&entry).ok()?.take(LIMIT).read_to_string(&mut text).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    top.join(named).canonicalize().ok()
}

/// Reads bytes as git's answers about objects, trees and the working tree, for the fuzzer.
#[doc(hidden)]
pub fn read_answers(bytes: &[u8]) {
    let answer = Answer { code: Some(0), stdout: bytes.to_vec(), stderr: bytes.to_vec() };
    let _ = (changes::Listed::of(&answer), answer.said());
    let _ = answer.texts().filter_map(|line| objects::entry(&line)).count();
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
        assert_eq!((found.top(), &**found.directory()), (top.as_path(), "prod"));
        // Nor where its own `.git` is none.
        std::fs::create_dir(planted.join(".git")).unwrap();
        assert!(Git::open(&planted).is_err());
    }

    #[test]
    fn a_file_names_the_repository() {
        let directory = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(directory.path()).unwrap();
        assert_eq!(repository(&base), None);
        std::fs::create_dir_all(base.join("main/worktrees/x")).unwrap();
        std::fs::write(base.join(".git"), "gitdir: main/worktrees/x\n").unwrap();
        assert_eq!(repository(&base), Some(base.join("main/worktrees/x")));
    }
}

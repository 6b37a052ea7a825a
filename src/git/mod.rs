//! Git: the repository around a directory, its contents, and fetches from other repositories.
//!
//! The program answers, and is not imitated: worktrees, packed objects, alternates and partial clones are its business. The repository
//! is found once, by its `.git`, and named to every call, since git itself takes any directory that looks like a
//! repository for one, and such a directory can be committed like any other. [`Launcher`] has the rules for what may run.
//!
//! What git says, while it works and when it has ended.

#![expect(clippy::disallowed_methods, reason = "git is started in this folder")]

mod changes;
mod launch;
mod names;
mod objects;
pub mod tracked;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::disk::files;
use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, Interrupted};
use crate::parallel::locked;
use crate::path::worktree::{self, ForeignTree};
use crate::path::{RepoPath, canonical};

pub use changes::ChangedFiles;
pub use launch::{IgnoreRule, Launcher, Stage, Transports};
pub use names::{Commit, Last};
pub use objects::{FileContents, FileKind, GitTree};
pub use tracked::{TrackedFiles, TrackedFolder, TrackedQuestion};

/// The most bytes of a `.git` file, which contains one path.
const LIMIT: u64 = 64 << 10;

/// The repositories of working trees that this process has looked up, by the top: one call of git each.
static FOUND: Mutex<BTreeMap<PathBuf, FoundRepository>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
struct FoundRepository {
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
        let top = worktree::top_of(&place)?.ok_or_else(|| failed("there is no .git there or above it"))?;
        let way = place.strip_prefix(&top).ok().filter(|way| way.to_str().is_some());
        let way = way.map(RepoPath::of).ok_or_else(|| failed("its path is not UTF-8"))?;
        let known = locked(&FOUND).get(&top).cloned();
        let FoundRepository { git_dir, shallow } = match known {
            Some(found) => found,
            None => find(directory, &top)?,
        };
        Ok(Self { launcher: Launcher::inspect(&top, &git_dir), top, directory: way, shallow })
    }

    /// The same; `None` outside of any working tree, and in one of another user, which counts as none.
    pub fn around(directory: &Path) -> Result<Option<Self>, GitError> {
        worktree::top(directory).map(|_| Self::open(directory)).transpose()
    }

    pub fn directory(&self) -> &RepoPath {
        &self.directory
    }

    /// The top of the working tree, absolute and without symbolic links.
    pub fn top(&self) -> &Path {
        &self.top
    }
}

/// True if git uses a working tree that another user owns: the rule is git's, by configuration that no tree contains.
pub fn accepts(top: &Path) -> bool {
    find(top, top).is_ok()
}

/// Looks up the repository of a working tree, whose owner git checks, and makes sure that its `.git` names the same one.
fn find(directory: &Path, top: &Path) -> Result<FoundRepository, GitError> {
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
    let found = FoundRepository { git_dir, shallow: shallow == "true" };
    locked(&FOUND).insert(top.to_owned(), found.clone());
    Ok(found)
}

/// The repository that the `.git` at a top is or names, without symbolic links; `None` if it is neither.
pub(super) fn repository(top: &Path) -> Option<PathBuf> {
    let entry = top.join(".git");
    let kind = std::fs::metadata(&entry).ok()?;
    if kind.is_dir() {
        return canonical(&entry).ok();
    }
    let mut text = String::new();
    kind.is_file().then_some(())?;
    std::fs::File::open(&entry).ok()?.take(LIMIT).read_to_string(&mut text).ok()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    canonical(&top.join(named)).ok()
}

/// The file of a repository with patterns of what it ignores, which is in no commit; `None` if the top is that of no working tree.
pub fn excludes(top: &Path) -> Option<PathBuf> {
    let git_dir = repository(top)?;
    let common = files::read(&git_dir.join("commondir")).ok().flatten();
    let common = common.map(|bytes| git_dir.join(String::from_utf8_lossy(&bytes).trim()));
    Some(common.unwrap_or(git_dir).join("info/exclude"))
}

/// Reads bytes as git's answers about objects, trees and the working tree, for the fuzzer.
#[doc(hidden)]
pub fn read_answers(bytes: &[u8]) {
    let answer = GitOutput { code: Some(0), stdout: bytes.to_vec(), stderr: bytes.to_vec() };
    let _ = (changes::ListedFiles::of(&answer), answer.said());
    let _ = answer.texts().filter_map(|line| objects::entry(&line)).count();
    let _ = objects::objects(bytes, 3);
}

/// How often a signal is looked for while git works.
const GLANCE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct GitOutput {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Git at work. Dropped, it is ended.
#[derive(Debug)]
pub struct Running {
    child: Child,
    outputs: [Receiver<Vec<u8>>; 2],
    task: String,
    limit: Duration,
    most: u64,
    interrupt: Interrupt,
}

impl Running {
    pub fn answer(mut self) -> Result<GitOutput, GitError> {
        let (stdout, stderr) = (self.output(0)?, self.output(1)?);
        let status = self.child.wait().map_err(|error| GitError::Start(error.to_string()))?;
        Ok(GitOutput { code: status.code(), stdout, stderr })
    }

    fn output(&self, at: usize) -> Result<Vec<u8>, GitError> {
        let slow = || GitError::TooSlow { task: self.task.clone(), limit: self.limit };
        let began = Instant::now();
        loop {
            let left = self.limit.checked_sub(began.elapsed()).ok_or_else(slow)?;
            match self.outputs[at].recv_timeout(left.min(GLANCE)) {
                Ok(bytes) if bytes.len() as u64 > self.most => {
                    return Err(GitError::TooLarge { task: self.task.clone(), most: self.most });
                }
                Ok(bytes) => return Ok(bytes),
                Err(RecvTimeoutError::Timeout) if self.interrupt.is_requested() => return Err(Interrupted.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(slow()),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Most often it has ended and was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl GitOutput {
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// What git printed.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// The first line of what git says, without the word before it.
    pub fn said(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
        let line = ["fatal: ", "error: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
        // Git prints the address that it used, after the user's rewriting: with passwords and tokens.
        crate::redact::words(line)
    }

    /// The same answer, if git succeeded.
    pub fn checked(self, task: &'static str) -> Result<Self, GitError> {
        // "could not fetch ID from promisor remote": what is not here may not be fetched.
        let is_partial = || memchr::memmem::find(&self.stderr, b"promisor remote").is_some();
        match self.succeeded() {
            true => Ok(self),
            false if is_partial() => Err(GitError::Partial),
            false => Err(GitError::Failed { task, reason: self.said() }),
        }
    }

    /// What is between zero bytes.
    pub fn records(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty())
    }

    /// The texts between zero bytes. Text that is not UTF-8 is kept with replacement characters.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.records().map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

/// Reads to the end, but no more than one byte beyond what an answer may have.
fn read_aside(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // A cut answer shows in the exit code.
            let _ = pipe.take(most.saturating_add(1)).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// Why git gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    #[error("cannot start git: {0}")]
    Start(String),
    #[error("{} is not in a git working tree: {reason}", shown(directory))]
    NoWorkTree { directory: PathBuf, reason: String },
    #[error(
        "git takes {} for the repository of {}, which has one of its own",
        crate::path::shown(found),
        crate::path::shown(top)
    )]
    OtherRepository { top: PathBuf, found: PathBuf },
    #[error(transparent)]
    Foreign(#[from] ForeignTree),
    #[error("{name:?} is neither a revision nor a file")]
    UnknownName { name: String, shallow: bool, remote: Option<String>, near: Option<String> },
    #[error("HEAD has no commit yet, so there is nothing to compare with {name:?}")]
    NoCommit { name: String },
    #[error("{name:?} may mean {}", candidates.join(" or "))]
    AmbiguousName { name: String, candidates: Vec<String> },
    #[error("the clone is too shallow: it lacks the commit where {old:?} and {new:?} diverge")]
    TooShallow { old: String, new: String },
    #[error("{old:?} and {new:?} have no common ancestor")]
    NoMergeBase { old: String, new: String },
    #[error("the clone is a partial one (`--filter`), and it lacks the requested object")]
    Partial,
    #[error("git {task} did not end within {} s", limit.as_secs())]
    TooSlow { task: String, limit: Duration },
    #[error("git {task} printed more than {most} bytes")]
    TooLarge { task: String, most: u64 },
    #[error("git {task} failed: {reason}")]
    Failed { task: &'static str, reason: String },
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// A directory as users name it.
fn shown(directory: &Path) -> String {
    if directory.as_os_str().is_empty() { ".".to_owned() } else { crate::path::shown(directory) }
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let mapped = Error::new(ErrorKind::Usage, error.to_string());
        let deepen = |mapped: Error| {
            mapped
                .hint("fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI")
                .hint(step!("or here: `git fetch --unshallow`"))
        };
        match error {
            GitError::Interrupted(interrupted) => interrupted.into(),
            GitError::Start(_) => mapped.hint("install git, or put it on PATH"),
            GitError::Foreign(foreign) => mapped.hint(foreign.remedy()),
            // The repository that a `.git` file names.
            GitError::NoWorkTree { reason, .. } if reason.contains("dubious ownership") => mapped.hint(step!(
                "`git config --global --add safe.directory DIR`, where the checkout belongs to another user"
            )),
            GitError::NoWorkTree { directory, .. } if worktree::top(&directory).is_some() => {
                mapped.hint(step!("repair `.git` there: `git status` must work"))
            }
            GitError::NoWorkTree { .. } => mapped.hint("name a directory of the working tree with `-C DIR`"),
            GitError::OtherRepository { .. } => {
                mapped.hint(step!("repair `.git` there: `git status` must name the same working tree"))
            }
            GitError::UnknownName { remote: Some(remote), .. } => {
                mapped.hint(format!("the clone has no such branch of its own; try {remote:?}"))
            }
            GitError::UnknownName { near: Some(near), .. } => mapped.hint(crate::step::Step::meant(near)),
            GitError::UnknownName { shallow: true, .. } => {
                deepen(mapped.hint("the clone is shallow and may lack the revision"))
            }
            GitError::UnknownName { .. } => {
                mapped.hint(step!("`git branch --all` lists the branches, `git tag` the tags"))
            }
            GitError::AmbiguousName { candidates, .. } => {
                let branch = |name: &&String| name.starts_with("refs/remotes/") || name.starts_with("refs/heads/");
                match candidates.iter().rev().find(branch) {
                    Some(branch) => mapped.hint(format!("name it in full: `{branch}`, if that is meant")),
                    None => mapped.hint("name it in full"),
                }
            }
            GitError::NoCommit { .. } => mapped,
            GitError::TooShallow { .. } => deepen(mapped),
            GitError::NoMergeBase { .. } => mapped.hint("`--tip` compares with the revision itself"),
            GitError::Partial => mapped
                .hint("clone without a filter: in actions/checkout leave out `filter` and `sparse-checkout`")
                .hint(step!("or here: `git fetch --refetch --no-filter`")),
            GitError::TooSlow { .. } | GitError::TooLarge { .. } | GitError::Failed { .. } => {
                Error { kind: ErrorKind::Disk, ..mapped }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_made_of_plain_files_is_not_the_one() {
        let folder = tempfile::tempdir().unwrap();
        let top = canonical(folder.path()).unwrap();
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
        let base = canonical(directory.path()).unwrap();
        assert_eq!(repository(&base), None);
        std::fs::create_dir_all(base.join("main/worktrees/x")).unwrap();
        std::fs::write(base.join(".git"), "gitdir: main/worktrees/x\n").unwrap();
        assert_eq!(repository(&base), Some(base.join("main/worktrees/x")));
    }
}

//! What git says, while it works and when it has ended.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};
use crate::interrupt::{Interrupt, Interrupted};

/// How often a signal is looked for while git works.
const GLANCE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Git at work. Dropped, it is ended.
#[derive(Debug)]
pub struct Running {
    pub(super) child: Child,
    pub(super) outputs: [Receiver<Vec<u8>>; 2],
    pub(super) task: String,
    pub(super) limit: Duration,
    pub(super) most: u64,
    pub(super) interrupt: Interrupt,
}

impl Running {
    pub fn answer(mut self) -> Result<Answer, GitError> {
        let (stdout, stderr) = (self.output(0)?, self.output(1)?);
        let status = self.child.wait().map_err(|error| GitError::Start(error.to_string()))?;
        Ok(Answer { code: status.code(), stdout, stderr })
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

impl Answer {
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
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
pub(super) fn read_aside(pipe: Option<impl Read + Send + 'static>, most: u64) -> Receiver<Vec<u8>> {
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
    #[error("{name:?} is neither a revision nor a file")]
    UnknownName { name: String, shallow: bool, remote: Option<String>, near: Option<String> },
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
                .hint("or here: `git fetch --unshallow`")
        };
        match error {
            GitError::Interrupted(interrupted) => interrupted.into(),
            GitError::Start(_) => mapped.hint("install git, or put it on PATH"),
            GitError::NoWorkTree { reason, .. } if reason.contains("dubious ownership") => mapped
                .hint("`git config --global --add safe.directory DIR`, where the checkout belongs to another user"),
            GitError::NoWorkTree { .. } => mapped.hint("name a directory of the working tree with `-C DIR`"),
            GitError::OtherRepository { .. } => {
                mapped.hint("repair `.git` there: `git status` must name the same working tree")
            }
            GitError::UnknownName { remote: Some(remote), .. } => {
                mapped.hint(format!("the clone has no such branch of its own; try {remote:?}"))
            }
            GitError::UnknownName { near: Some(near), .. } => mapped.hint(format!("did you mean {near}?")),
            GitError::UnknownName { shallow: true, .. } => {
                deepen(mapped.hint("the clone is shallow and may lack the revision"))
            }
            GitError::UnknownName { .. } => mapped.hint("`git branch --all` lists the branches, `git tag` the tags"),
            GitError::AmbiguousName { candidates, .. } => {
                let branch = |name: &&String| name.starts_with("refs/remotes/") || name.starts_with("refs/heads/");
                match candidates.iter().rev().find(branch) {
                    Some(branch) => mapped.hint(format!("name it in full: `{branch}`, if that is meant")),
                    None => mapped.hint("name it in full"),
                }
            }
            GitError::TooShallow { .. } => deepen(mapped),
            GitError::NoMergeBase { .. } => mapped.hint("`--tip` compares with the revision itself"),
            GitError::Partial => mapped
                .hint("clone without a filter: in actions/checkout leave out `filter` and `sparse-checkout`")
                .hint("or here: `git fetch --refetch --no-filter`"),
            GitError::TooSlow { .. } | GitError::TooLarge { .. } | GitError::Failed { .. } => {
                Error { kind: ErrorKind::Disk, ..mapped }
            }
        }
    }
}

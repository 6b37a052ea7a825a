//! Why git gave no answer, and the next step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, ErrorKind};

/// Why git gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// The program cannot be started.
    #[error("cannot start git: {0}")]
    Start(String),
    /// Not inside of a work tree.
    #[error("{} is not in a git working tree: {reason}", shown(directory))]
    NoWorkTree {
        /// The directory that was asked about.
        directory: PathBuf,
        /// What git says.
        reason: String,
    },
    /// Git takes another repository for that of the work tree.
    #[error(
        "git takes {} for the repository of {}, which has one of its own",
        crate::path::shown(found),
        crate::path::shown(top)
    )]
    OtherRepository {
        /// The top of the work tree.
        top: PathBuf,
        /// What git takes.
        found: PathBuf,
    },
    /// No commit has this name.
    #[error("{name:?} is neither a revision nor a file")]
    UnknownName {
        /// The name as typed.
        name: String,
        /// True if the clone is shallow, so that the revision may exist elsewhere.
        shallow: bool,
        /// A name of the same branch at a remote, which does exist.
        remote: Option<String>,
        /// A branch of the clone whose name is near.
        near: Option<String>,
    },
    /// A name that means several things, one of which may have been made by someone else.
    #[error("{name:?} may mean {}", candidates.join(" or "))]
    AmbiguousName {
        /// The name as typed.
        name: String,
        /// The full names of what it may mean.
        candidates: Vec<String>,
    },
    /// The history that is here does not reach back to where two commits part.
    #[error("the clone is too shallow: where {old:?} and {new:?} part is not in it")]
    TooShallow {
        /// One commit as it was named.
        old: String,
        /// The other.
        new: String,
    },
    /// Two commits without a common ancestor.
    #[error("{old:?} and {new:?} have no common ancestor")]
    NoMergeBase {
        /// One commit as it was named.
        old: String,
        /// The other.
        new: String,
    },
    /// A partial clone lacks objects that are needed.
    #[error("the clone is a partial one (`--filter`), and what is asked for is not in it")]
    Partial,
    /// Git did not end in time.
    #[error("git {task} did not end within {} s", limit.as_secs())]
    TooSlow {
        /// What it was asked to do.
        task: String,
        /// How long it could take.
        limit: Duration,
    },
    /// Git answers without end.
    #[error("git {task} answers with more than {most} bytes")]
    TooLarge {
        /// What it was asked to do.
        task: String,
        /// How much it could answer.
        most: u64,
    },
    /// Git failed at something that it should be able to do.
    #[error("git {task} failed: {reason}")]
    Failed {
        /// What it was asked to do.
        task: &'static str,
        /// What it says.
        reason: String,
    },
}

/// A directory as people name it.
fn shown(directory: &Path) -> String {
    if directory.as_os_str().is_empty() { ".".to_owned() } else { crate::path::shown(directory) }
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let told = Error::new(ErrorKind::Usage, error.to_string());
        let deepen = |told: Error| {
            told.hint("fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI")
                .hint("or here: `git fetch --unshallow`")
        };
        match error {
            GitError::Start(_) => told.hint("install git, or put it on PATH"),
            GitError::NoWorkTree { reason, .. } if reason.contains("dubious ownership") => {
                told.hint("`git config --global --add safe.directory DIR`, where the checkout belongs to another user")
            }
            GitError::NoWorkTree { .. } => told.hint("name a directory of the working tree with `-C DIR`"),
            GitError::OtherRepository { .. } => {
                told.hint("repair `.git` there: `git status` must name the same working tree")
            }
            GitError::UnknownName { remote: Some(remote), .. } => {
                told.hint(format!("the clone has no such branch of its own; try {remote:?}"))
            }
            GitError::UnknownName { near: Some(near), .. } => told.hint(format!("did you mean {near}?")),
            GitError::UnknownName { shallow: true, .. } => {
                deepen(told.hint("the clone is shallow and may lack the revision"))
            }
            GitError::UnknownName { .. } => told.hint("`git branch --all` lists the branches, `git tag` the tags"),
            GitError::AmbiguousName { candidates, .. } => {
                let branch = |name: &&String| name.starts_with("refs/remotes/") || name.starts_with("refs/heads/");
                match candidates.iter().rev().find(branch) {
                    Some(branch) => told.hint(format!("name it in full: `{branch}`, if that is meant")),
                    None => told.hint("name it in full"),
                }
            }
            GitError::TooShallow { .. } => deepen(told),
            GitError::NoMergeBase { .. } => told.hint("`--tip` compares with the revision itself"),
            GitError::Partial => told
                .hint("clone without a filter: in actions/checkout leave out `filter` and `sparse-checkout`")
                .hint("or here: `git fetch --refetch --no-filter`"),
            GitError::TooSlow { .. } | GitError::TooLarge { .. } | GitError::Failed { .. } => {
                Error { kind: ErrorKind::Disk, ..told }
            }
        }
    }
}

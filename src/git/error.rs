//! Why git gave no answer, and the next step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupted;

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

//! A repository as git sees it, asked and told through the git program: its configuration, its attributes and the
//! versions of a file that is being merged.
//!
//! Git alone knows where its files are (linked work trees, `GIT_DIR`) and how they are written.

pub mod attributes;

use std::ffi::OsStr;
use std::io::ErrorKind as ErrorKindOfSystem;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::atomic::{Mode, Stored, store};
use crate::error::{Error, ErrorKind};

/// Git could not be asked, or refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitConfigError {
    /// There is no such program, or it does not start.
    #[error("cannot start git: {0}")]
    Start(String),
    /// Not in a work tree.
    #[error("{} is not in a git work tree", .0.display())]
    NoWorkTree(PathBuf),
    /// It ended with a failure.
    #[error("git {command} failed: {message}")]
    Failed {
        /// What it was asked to do.
        command: String,
        /// The first line of its standard error.
        message: String,
    },
}

/// A git work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    top: PathBuf,
}

/// The exit code of git and what it wrote to standard output.
struct Answer {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Repository {
    /// Finds the work tree that a directory is in.
    ///
    /// # Errors
    ///
    /// [`GitConfigError::Start`], [`GitConfigError::NoWorkTree`].
    pub fn find(directory: &Path) -> Result<Self, GitConfigError> {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let answer = git(directory, ["rev-parse", "--show-toplevel"])?;
        let line = answer.stdout.strip_suffix(b"\n").unwrap_or_default();
        if answer.code != Some(0) || line.is_empty() {
            return Err(GitConfigError::NoWorkTree(directory.to_owned()));
        }
        Ok(Self { top: path_of(line) })
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The value of a key in the configuration of this repository; the user's and the system's do not count.
    ///
    /// # Errors
    ///
    /// [`GitConfigError`] if git cannot read its configuration.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitConfigError> {
        let answer = git(&self.top, ["config", "--local", "--get", key])?;
        match answer.code {
            Some(0) => {
                let text = String::from_utf8_lossy(&answer.stdout).into_owned();
                Ok(Some(text.strip_suffix('\n').map_or(text.clone(), str::to_owned)))
            }
            Some(1) => Ok(None),
            _ => Err(failed("config", &answer)),
        }
    }

    /// Sets a key in the configuration of this repository.
    ///
    /// # Errors
    ///
    /// [`GitConfigError`] if git cannot write its configuration.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), GitConfigError> {
        let answer = git(&self.top, ["config", "--local", "--replace-all", key, value])?;
        if answer.code == Some(0) { Ok(()) } else { Err(failed("config", &answer)) }
    }

    /// Removes a key from the configuration of this repository, and its section with the last one.
    ///
    /// # Errors
    ///
    /// [`GitConfigError`] if git cannot write its configuration.
    pub fn unset_config(&self, key: &str) -> Result<(), GitConfigError> {
        let answer = git(&self.top, ["config", "--local", "--unset-all", key])?;
        // 5: there is no such key.
        if matches!(answer.code, Some(0 | 5)) { Ok(()) } else { Err(failed("config", &answer)) }
    }

    /// The text of the attributes file at the top; empty if there is none.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn attributes_text(&self) -> Result<Vec<u8>, Error> {
        let path = self.top.join(attributes::FILE_NAME);
        match std::fs::read(&path) {
            Err(reason) if reason.kind() != ErrorKindOfSystem::NotFound => {
                let message = format!("cannot read {}: {reason}", path.display());
                Err(Error::new(ErrorKind::Disk, message).in_file(path))
            }
            read => Ok(read.unwrap_or_default()),
        }
    }

    /// Writes the attributes file at the top. With nothing to say there is none.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn store_attributes(&self, text: &[u8]) -> Result<Stored, Error> {
        let path = self.top.join(attributes::FILE_NAME);
        if !text.is_empty() {
            return Ok(store(&path, text, Mode::KeepOr(0o644), &self.top)?);
        }
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(Stored::Written),
            Err(reason) if reason.kind() == ErrorKindOfSystem::NotFound => Ok(Stored::Unchanged),
            Err(reason) => {
                let message = format!("cannot remove {}: {reason}", path.display());
                Err(Error::new(ErrorKind::Disk, message).in_file(path))
            }
        }
    }

    /// The value of an attribute of a path below the top, from whichever file sets it; `unspecified` if none does.
    ///
    /// # Errors
    ///
    /// [`GitConfigError`] if git cannot tell.
    pub fn attribute(&self, name: &str, path: &str) -> Result<String, GitConfigError> {
        let answer = git(&self.top, ["check-attr", "-z", name, "--", path])?;
        let value = answer.stdout.split(|byte| *byte == 0).nth(2);
        match (answer.code, value) {
            (Some(0), Some(value)) => Ok(String::from_utf8_lossy(value).into_owned()),
            _ => Err(failed("check-attr", &answer)),
        }
    }
}

/// A version of a file in an unfinished merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The common ancestor.
    Base = 1,
    /// Ours.
    Ours = 2,
    /// Theirs.
    Theirs = 3,
}

/// A version of a file that git could not merge; none outside of git, or if there is no such version.
pub fn stage(file: &Path, stage: Stage) -> Option<Vec<u8>> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = file.file_name()?.to_str()?;
    let answer = git(directory, ["show", "--no-textconv", &format!(":{}:./{name}", stage as u8)]).ok()?;
    (answer.code == Some(0)).then_some(answer.stdout)
}

fn git<I>(directory: &Path, arguments: I) -> Result<Answer, GitConfigError>
where
    I: IntoIterator<Item: AsRef<OsStr>>,
{
    let output = Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|reason| GitConfigError::Start(reason.to_string()))?;
    Ok(Answer { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
}

fn failed(command: &str, answer: &Answer) -> GitConfigError {
    let text = String::from_utf8_lossy(&answer.stderr);
    let message = text.trim().lines().next().unwrap_or("it gave no reason").to_owned();
    GitConfigError::Failed { command: command.to_owned(), message }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;

    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

impl From<GitConfigError> for Error {
    fn from(error: GitConfigError) -> Self {
        let told = Self::new(ErrorKind::Disk, error.to_string());
        match error {
            GitConfigError::Start(_) => told.hint("install git, or put it on PATH"),
            GitConfigError::NoWorkTree(_) => told.hint("name a directory of the work tree with `-C DIR`"),
            GitConfigError::Failed { .. } => told,
        }
    }
}

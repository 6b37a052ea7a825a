//! The git program: which commit a name means, and which lock files a commit and the work tree hold.
//!
//! Git is asked, not imitated: worktrees, packed objects, alternates and partial clones are its business. Nothing is
//! changed, no filter or textconv of the repository runs, and names never become options.

mod changes;
mod export;
mod history;

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::error::{Error, ErrorKind};
use crate::lockfile;

pub use changes::Changes;
pub use history::Last;

/// Why git gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// The program cannot be started.
    #[error("cannot start git: {0}")]
    Start(String),
    /// Not inside of a work tree.
    #[error("{} is not in a git work tree: {reason}", directory.display())]
    NoWorkTree {
        /// The directory that was asked about.
        directory: PathBuf,
        /// What git says.
        reason: String,
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
    /// Git failed at something that it should be able to do.
    #[error("git {task} failed: {reason}")]
    Failed {
        /// What it was asked to do.
        task: &'static str,
        /// What it says.
        reason: String,
    },
}

/// A commit by the name it was asked for, and its object name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// As typed.
    pub name: String,
    /// The object name, in hex.
    pub id: String,
}

impl Commit {
    /// The commit for people: its name, and the object name where that tells more.
    pub fn shown(&self) -> String {
        let short = self.id.get(..10).unwrap_or(&self.id);
        if self.id.starts_with(&self.name) || self.name == "HEAD" {
            self.name.clone()
        } else {
            format!("{} ({short})", self.name)
        }
    }
}

/// A work tree of git.
#[derive(Debug, Clone)]
pub struct Git {
    directory: PathBuf,
    top: PathBuf,
    prefix: String,
    shallow: bool,
}

impl Git {
    /// The work tree that a directory is in.
    ///
    /// # Errors
    ///
    /// [`GitError::Start`], [`GitError::NoWorkTree`].
    pub fn open(directory: &Path) -> Result<Self, GitError> {
        let args = ["rev-parse", "--is-shallow-repository", "--show-prefix", "--show-toplevel"];
        let output = run(directory, args)?;
        let failed = |reason| GitError::NoWorkTree { directory: directory.to_owned(), reason };
        if !output.status.success() {
            return Err(failed(said(&output)));
        }
        // A prefix or path may hold a line feed itself; then nothing here is what it seems, and git is not used.
        let text = String::from_utf8(output.stdout).map_err(|_| failed("its path is not UTF-8".to_owned()))?;
        let lines: Vec<&str> = text.lines().collect();
        let [shallow, prefix, top] = lines[..] else {
            return Err(failed("its path has line feeds".to_owned()));
        };
        Ok(Self {
            directory: directory.to_owned(),
            top: PathBuf::from(top),
            prefix: prefix.to_owned(),
            shallow: shallow == "true",
        })
    }

    /// The directory that was asked about, relative to the top, with a slash at its end; empty at the top.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The commit that a name means; none if it means none.
    ///
    /// # Errors
    ///
    /// [`GitError::Start`].
    pub fn commit(&self, name: &str) -> Result<Option<Commit>, GitError> {
        if name.is_empty() {
            return Ok(None);
        }
        let wanted = format!("{name}^{{commit}}");
        let output = run(&self.directory, ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])?;
        let id = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let found = output.status.success() && !id.is_empty();
        Ok(found.then(|| Commit { name: name.to_owned(), id }))
    }

    /// The commit that a name must mean.
    ///
    /// # Errors
    ///
    /// [`GitError::UnknownName`] if it means none.
    pub fn known_commit(&self, name: &str) -> Result<Commit, GitError> {
        if let Some(commit) = self.commit(name)? {
            return Ok(commit);
        }
        let remote = format!("origin/{name}");
        let remote = self.commit(&remote)?.map(|commit| commit.name);
        Err(GitError::UnknownName { name: name.to_owned(), shallow: self.shallow, remote })
    }

    /// Where two lines of history part.
    ///
    /// # Errors
    ///
    /// [`GitError::TooShallow`] if that is not in the clone, [`GitError::NoMergeBase`] if there is no such commit.
    pub fn merge_base(&self, old: &Commit, new: &Commit) -> Result<Commit, GitError> {
        let output = run(&self.directory, ["merge-base", &old.id, &new.id])?;
        let text = String::from_utf8_lossy(&output.stdout);
        if let Some(id) = text.lines().next().filter(|id| output.status.success() && !id.is_empty()) {
            return Ok(Commit { name: format!("merge base with {}", old.name), id: id.to_owned() });
        }
        let (old, new) = (old.name.clone(), new.name.clone());
        Err(if self.shallow { GitError::TooShallow { old, new } } else { GitError::NoMergeBase { old, new } })
    }

    /// The lock files of a commit below the directory, relative to the top.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`].
    pub fn lock_files(&self, commit: &Commit) -> Result<Vec<String>, GitError> {
        let mut args = vec!["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit.id];
        if !self.prefix.is_empty() {
            args.extend(["--", &self.prefix]);
        }
        self.names("ls-tree", args)
    }

    /// The lock files of the work tree below the directory, relative to the top: tracked ones, and others that are not
    /// ignored.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`].
    pub fn lock_files_now(&self) -> Result<Vec<String>, GitError> {
        let pattern = format!(":(top,glob){}**/{}", escaped(&self.prefix), lockfile::FILE_NAME);
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--", &pattern];
        let mut names = self.names("ls-files", args)?;
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn names<'a>(&self, task: &'static str, args: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>, GitError> {
        let output = run(&self.directory, args)?;
        if !output.status.success() {
            return Err(GitError::Failed { task, reason: said(&output) });
        }
        let names = output.stdout.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        let is_lock_file = |name: &&str| name.rsplit('/').next() == Some(lockfile::FILE_NAME);
        Ok(names.filter(is_lock_file).map(str::to_owned).collect())
    }

    /// Files of a commit by their paths from the top, in that order; none for those that are not there. Links inside
    /// of the tree are followed.
    ///
    /// # Errors
    ///
    /// [`GitError::Failed`], also if a path has a line feed.
    pub fn files(&self, commit: &Commit, paths: &[String]) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let failed = |reason: &str| GitError::Failed { task: "cat-file", reason: reason.to_owned() };
        if paths.iter().any(|path| path.contains('\n')) {
            return Err(failed("a path has a line feed"));
        }
        let lines: Vec<String> = paths.iter().map(|path| format!("{}:{path}\n", commit.id)).collect();
        let output =
            run_with(&self.directory, ["cat-file", "--batch", "--follow-symlinks"], lines.concat().into_bytes())?;
        if !output.status.success() {
            return Err(failed(&said(&output)));
        }
        let mut rest = output.stdout.as_slice();
        paths.iter().map(|_| next_object(&mut rest).map_err(|CutOff| failed("its answer was cut off"))).collect()
    }
}

/// An answer that ends before it should.
#[derive(Debug, PartialEq, Eq)]
struct CutOff;

/// Takes one object from the answer of `cat-file --batch`: none if there is no such file.
fn next_object(rest: &mut &[u8]) -> Result<Option<Vec<u8>>, CutOff> {
    let end = memchr::memchr(b'\n', rest).ok_or(CutOff)?;
    let head = String::from_utf8_lossy(&rest[..end]).into_owned();
    *rest = &rest[end + 1..];
    let fields: Vec<&str> = head.rsplit(' ').take(2).collect();
    let take = |size: &str, rest: &mut &[u8]| {
        let size: usize = size.parse().ok()?;
        let bytes = rest.get(..size)?.to_vec();
        *rest = rest.get(size + 1..)?;
        Some(bytes)
    };
    match fields[..] {
        // `missing`, or `ambiguous`.
        [word] | [word, _] if !word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(None),
        [size, "blob"] => take(size, rest).map(Some).ok_or(CutOff),
        // A directory, or a link to where nothing is; the answer holds its text.
        [size, _] => take(size, rest).map(|_| None).ok_or(CutOff),
        _ => Err(CutOff),
    }
}

/// A path in which no character is special to git's patterns.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|c| if "*?[\\".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

fn run<S: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = S>) -> Result<Output, GitError> {
    run_with(directory, args, Vec::new())
}

fn run_with<S: AsRef<OsStr>>(
    directory: &Path,
    args: impl IntoIterator<Item = S>,
    input: Vec<u8>,
) -> Result<Output, GitError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(["--no-pager", "--no-optional-locks"]).args(args);
    // Messages in English, and no question to the user.
    command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| GitError::Start(error.to_string());
    let mut child = command.spawn().map_err(failed)?;
    // On a thread of its own: git answers while it reads, and neither side may wait for the other.
    let writer = child.stdin.take().map(|mut pipe| std::thread::spawn(move || pipe.write_all(&input)));
    let output = child.wait_with_output().map_err(failed)?;
    // If git ended before it read all, its status says why.
    drop(writer.map(std::thread::JoinHandle::join));
    Ok(output)
}

/// The first line of what git says, without the word before it.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    let line = ["fatal: ", "error: "].iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line);
    line.to_owned()
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let told = Error::new(ErrorKind::Usage, error.to_string());
        let deepen = |told: Error| {
            told.hint("fetch the whole history: `fetch-depth: 0` in actions/checkout, `GIT_DEPTH: 0` in GitLab CI")
                .hint("or here: `git fetch --unshallow`")
        };
        match error {
            GitError::Start(_) => told.hint("install git, or name two files: `tflock diff OLD NEW`"),
            GitError::NoWorkTree { .. } => told.hint("outside of git name two files: `tflock diff OLD NEW`"),
            GitError::UnknownName { remote: Some(remote), .. } => {
                told.hint(format!("the clone has no such branch of its own; try {remote:?}"))
            }
            GitError::UnknownName { shallow: true, .. } => {
                deepen(told.hint("the clone is shallow and may lack the revision"))
            }
            GitError::UnknownName { .. } => told,
            GitError::TooShallow { .. } => deepen(told),
            GitError::NoMergeBase { .. } => told.hint("`--tip` compares with the revision itself"),
            GitError::Failed { .. } => Error { kind: ErrorKind::Disk, ..told },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_a_batch() {
        let mut rest: &[u8] = b"0123 blob 3\nab\n\nabc:x y missing\ndangling 4\nHEAD\n0123 tree 2\nzz\n0 blob 0\n\n";
        let mut objects = Vec::new();
        while let Ok(object) = next_object(&mut rest) {
            objects.push(object.map(|bytes| String::from_utf8(bytes).unwrap()));
        }
        assert_eq!(objects, [Some("ab\n".to_owned()), None, None, None, Some(String::new())]);
        assert_eq!(next_object(&mut b"0123 blob 30\nab\n".as_slice()), Err(CutOff));
    }

    #[test]
    fn patterns_stand_for_themselves() {
        assert_eq!(escaped("a[1]/b*?\\"), "a\\[1]/b\\*\\?\\\\");
    }
}

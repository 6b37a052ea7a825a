//! Parses the typed names: files, or revisions and perhaps a path.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{is_nothing, usage};
use crate::error::{Error, ErrorKind};
use crate::finding::shell_word;
use crate::git::{Git, GitError};
use crate::path::worktree;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// An existing file or directory.
    File(PathBuf),
    /// A revision, or two with dots between them.
    Revision(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Two files.
    Files(PathBuf, PathBuf),
    /// A revision, with the lock file at a path or of the root module.
    Revision { name: Option<String>, path: Option<PathBuf> },
}

/// `typed` are the names before `--`, `files` those after it, if there is one.
pub(super) fn form(typed: &[OsString], files: Option<&[OsString]>, directory: &Path) -> Result<Form, Error> {
    if typed.iter().chain(files.unwrap_or_default()).any(|name| name == "-") {
        return Err(usage("diff does not read standard input").hint("save the text to a file, and name the file"));
    }
    let mut names = match files {
        // Arguments after `--` are files, so those before it are revisions.
        Some(_) => typed.iter().map(|name| Ok(Named::Revision(utf8(name)?))).collect::<Result<_, Error>>()?,
        None => named(typed, directory)?,
    };
    names.extend(files.unwrap_or_default().iter().map(|file| Named::File(PathBuf::from(file))));
    let (mut revisions, mut paths) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            Named::File(path) => paths.push(path),
            Named::Revision(name) if paths.is_empty() => revisions.push(name),
            Named::Revision(_) => return Err(unfit()),
        }
    }
    match (revisions.as_slice(), paths.as_slice()) {
        ([], [old, new]) => Ok(Form::Files(old.clone(), new.clone())),
        (_, [_, _, ..]) => Err(unfit()),
        ([], path) => Ok(Form::Revision { name: None, path: path.first().cloned() }),
        ([name], path) => Ok(Form::Revision { name: Some(name.clone()), path: path.first().cloned() }),
        ([old, new], path) if !old.contains("..") && !new.contains("..") => {
            Ok(Form::Revision { name: Some(format!("{old}..{new}")), path: path.first().cloned() })
        }
        _ => Err(unfit()),
    }
}

fn unfit() -> Error {
    usage("expected a revision, two revisions or two files")
}

fn utf8(name: &OsStr) -> Result<String, Error> {
    let text = name.to_str().map(str::to_owned);
    text.ok_or_else(|| usage(format!("{:?} is not the name of a revision", name.to_string_lossy())))
}

/// Classifies names that may be revisions or files.
fn named(names: &[OsString], directory: &Path) -> Result<Vec<Named>, Error> {
    if names.iter().all(|name| is_only_file(name, directory)) {
        return Ok(names.iter().map(|name| Named::File(PathBuf::from(name))).collect());
    }
    let git = Git::open(directory);
    let is_revision = |name: &OsStr| -> Result<bool, Error> {
        match (&git, name.to_str()) {
            (Ok(git), Some(name)) => Ok(ends(name)
                .into_iter()
                .try_fold(true, |all, end| -> Result<bool, Error> { Ok(all && git.commit(end)?.is_some()) })?),
            _ => Ok(false),
        }
    };
    let mut meant = Vec::new();
    for name in names {
        let path = Path::new(name);
        let is_file = is_nothing(path) || directory.join(path).exists();
        meant.push(match (is_file, is_revision(name)?) {
            (true, true) => {
                let shown = name.to_string_lossy();
                let word = shell_word(&shown);
                return Err(usage(format!("{shown:?} is both a revision and a file"))
                    .hint(format!("`tflock diff {word} --` means the revision, `tflock diff -- {word}` the file")));
            }
            (true, false) => Named::File(path.to_owned()),
            (false, true) => Named::Revision(utf8(name)?),
            (false, false) => return Err(unknown(name, git)),
        });
    }
    Ok(meant)
}

/// True if git refuses the name as a revision, or outside of git; then git need not be started.
///
/// Source: `git help check-ref-format`, `git help revisions`.
fn is_only_file(name: &OsStr, directory: &Path) -> bool {
    if is_nothing(Path::new(name)) {
        return true;
    }
    let Some(text) = name.to_str() else { return directory.join(name).exists() };
    let refused = |end: &str| {
        let syntax = end.contains([':', '@', '^', '~', '{']);
        !syntax && (end.starts_with('/') || end.split('/').any(|part| part.starts_with('.') || part.is_empty()))
    };
    let cannot = ends(text).into_iter().any(refused) || worktree::top(directory).is_none();
    cannot && directory.join(name).exists()
}

fn unknown(name: &OsStr, git: Result<Git, GitError>) -> Error {
    let neither = || usage(format!("{:?} is neither a revision nor a file", name.to_string_lossy()));
    let Some(text) = name.to_str() else { return neither() };
    match git {
        // A revision cannot have such a name, whatever dots it contains.
        Ok(_) if text.starts_with("./") || text.starts_with("../") || text.starts_with('/') => {
            Error::new(ErrorKind::Disk, format!("there is no file {text:?}")).in_file(text)
        }
        Ok(git) => ends(text).into_iter().find_map(|end| git.known_commit(end).err()).map_or_else(neither, Error::from),
        // Outside of git only files are possible.
        Err(reason) => {
            let hint = match reason {
                GitError::Start(_) => "revisions are compared by git, which cannot be started: install it",
                _ => "revisions need a git working tree: run in a clone, or name two files",
            };
            Error::new(ErrorKind::Disk, format!("there is no file {text:?}")).in_file(text).hint(hint)
        }
    }
}

/// The revisions in a name: one, or two around dots, where an empty one means HEAD.
pub(super) fn ends(name: &str) -> Vec<&str> {
    match name.split_once("...").or_else(|| name.split_once("..")) {
        Some((old, new)) => [old, new].map(|end| if end.is_empty() { "HEAD" } else { end }).to_vec(),
        None => vec![name],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        assert_eq!(ends("main"), ["main"]);
        assert_eq!(ends("a..b"), ["a", "b"]);
        assert_eq!(ends("a...b"), ["a", "b"]);
        assert_eq!(ends("..b"), ["HEAD", "b"]);
        assert_eq!(ends("a..."), ["a", "HEAD"]);
        assert_eq!(ends("../x"), ["HEAD", "/x"]);
    }

    #[test]
    fn names_that_can_only_be_files() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let only = |name: &str| is_only_file(OsStr::new(name), here);
        assert!(only(".gitignore") && only("./src/lib.rs") && only("src/../Cargo.toml"));
        assert!(!only("./no/such/file") && !only("HEAD") && !only("..main") && !only("HEAD:.gitignore"));
        if worktree::top(here).is_some() {
            assert!(!only("src") && !only("src/lib.rs"));
        }
    }

    #[test]
    fn behind_dashes_there_are_files() {
        let given = |names: &[&str], files: &[&str]| {
            let own = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
            form(&own(names), Some(&own(files)), Path::new("."))
        };
        let revision = |name: Option<&str>, path: Option<&str>| Form::Revision {
            name: name.map(str::to_owned),
            path: path.map(PathBuf::from),
        };
        assert_eq!(given(&["main"], &[]), Ok(revision(Some("main"), None)));
        assert_eq!(given(&["main"], &["main"]), Ok(revision(Some("main"), Some("main"))));
        assert_eq!(given(&[], &["main"]), Ok(revision(None, Some("main"))));
        assert_eq!(given(&["a", "b"], &["x"]), Ok(revision(Some("a..b"), Some("x"))));
        assert_eq!(given(&[], &["a", "b"]), Ok(Form::Files("a".into(), "b".into())));
        for (names, files) in [(&[][..], &["-"][..]), (&["a"], &["-"]), (&["a", "b", "c"], &[]), (&["a..b", "c"], &[])]
        {
            assert!(given(names, files).is_err(), "{names:?} {files:?}");
        }
    }
}

//! Reads one root module: its lock file, then its configuration. Reading is in steps, so users can be prompted in
//! between; no step takes a lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::below;
use super::{Names, RunSettings};
use crate::dialect::Dialect;
use crate::disk::lock_file;
use crate::disk::memo::TextMemo;
use crate::disk::roots::{MissingModules, Tree, TreeError, TreeMemo, TreeOptions};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule, shell_word};
use crate::git::Git;
use crate::lockfile::{self, Decoded, FILE_NAME, LockFile, decode};
use crate::requirements::Requirements;

#[derive(Debug, Clone)]
pub struct RootModule {
    pub settings: RunSettings,
    pub bytes: Option<Vec<u8>>,
    /// The parsed lock file or its problems; `None` if there is no lock file.
    pub lock: Option<Result<Arc<Decoded>, Vec<Finding>>>,
    /// `None` without configuration, or until it is read.
    pub tree: Option<Arc<Tree>>,
}

/// A root module with a lock file, and as much of its configuration as can be read.
#[derive(Debug, Clone)]
pub struct LockedRoot {
    pub lock: Arc<Decoded>,
    pub tree: Option<Arc<Tree>>,
    /// What was not read and may require more providers.
    pub unread: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How to treat modules that are not installed.
    pub missing: MissingModules,
    /// Whether modules count as installed if the other tool installed them.
    pub of_either_tool: bool,
    /// Whether a root module without lock file needs configuration. With a lock file it needs none, as with Terragrunt.
    pub required: bool,
}

impl Reading {
    /// Skips modules that are not installed; requires configuration or a lock file.
    pub const LENIENT: Self = Self { missing: MissingModules::Skip, of_either_tool: false, required: true };
}

impl RootModule {
    pub fn open(settings: &RunSettings) -> Result<Self, Error> {
        let bytes = lock_file::read(&settings.lock_file())?;
        let lock = bytes.as_ref().map(|bytes| settings.readings.lock_file(bytes, settings.dialect));
        Ok(Self { settings: settings.clone(), bytes, lock, tree: None })
    }

    /// The lock file and, if readable, the configuration.
    pub fn open_locked(settings: &RunSettings) -> Result<LockedRoot, Error> {
        let mut module = Self::open(settings)?;
        module.decoded()?;
        // Entries are listed even if the configuration cannot be read.
        let unread = match module.read_configuration(Reading::LENIENT) {
            Ok(()) => module.tree.as_ref().and_then(|tree| tree.unread()),
            Err(error) => Some(error.located()),
        };
        match module.lock {
            Some(Ok(lock)) => Ok(LockedRoot { lock, tree: module.tree, unread }),
            _ => Err(absent(settings.lock_file_shown(), &settings.root)),
        }
    }

    pub fn read_configuration(&mut self, how: Reading) -> Result<(), Error> {
        let Reading { missing, of_either_tool, required } = how;
        let options = TreeOptions { of_either_tool, ..self.settings.tree_options(missing) };
        let may_lack = !required || self.bytes.is_some();
        match self.settings.load_tree(&options) {
            Ok(tree) => self.tree = Some(tree),
            Err(errors) if may_lack && matches!(errors[..], [TreeError::NoConfiguration(_)]) => {}
            Err(errors) => {
                let errors = errors.into_iter().map(|error| self.settings.tree_error(error));
                let unknown = || Error::new(ErrorKind::Configuration, "the configuration cannot be read");
                return Err(Error::all(errors).unwrap_or_else(unknown));
            }
        }
        Ok(())
    }

    /// The parsed lock file; `None` if there is no file.
    pub fn decoded(&self) -> Result<Option<&Decoded>, Error> {
        match &self.lock {
            None => Ok(None),
            Some(Ok(decoded)) => Ok(Some(decoded)),
            Some(Err(findings)) => {
                let (path, shown) = (self.settings.lock_file(), self.settings.lock_file_shown());
                Err(refused(findings.clone(), &path, &shown))
            }
        }
    }

    pub fn requirements(&self) -> Option<&Requirements> {
        self.tree.as_ref().map(|tree| &tree.requirements)
    }

    pub fn entries(&self) -> Option<&LockFile> {
        self.lock.as_ref()?.as_ref().ok().map(|decoded| &decoded.lock)
    }

    pub fn names(&self) -> Names<'_> {
        Names { requirements: self.requirements(), lock: self.entries(), dialect: self.settings.dialect }
    }
}

/// The error for a missing lock file: its shown path, and its directory to look for root modules below.
pub fn absent(shown: PathBuf, directory: &Path) -> Error {
    let error = Error::new(ErrorKind::LockFile, "there is no such dependency lock file").in_file(shown);
    match below(directory) {
        Some(hint) => error.hint(hint),
        None => error.hint("run `tflock lock`, or name the root module with `-C DIR`"),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Readings {
    locks: Arc<[TextMemo<Arc<Decoded>>; 2]>,
    pub(super) trees: Arc<TreeMemo>,
}

impl Readings {
    /// Parses a lock file, or returns the earlier result for the same bytes.
    pub fn lock_file(&self, bytes: &[u8], dialect: Dialect) -> Result<Arc<Decoded>, Vec<Finding>> {
        let known = &self.locks[dialect as usize];
        match known.get(bytes) {
            Some(decoded) => Ok(decoded),
            None => Ok(known.keep(bytes, Arc::new(decode(bytes, dialect)?))),
        }
    }
}

/// The error for a refused lock file; `path` opens it. If it has values that no tool writes, the hint is the command
/// that restores this file.
pub fn refused(findings: Vec<Finding>, path: &Path, shown: &Path) -> Error {
    let not_literal = findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    let mut error = Error::of_lock_file(findings, shown);
    if not_literal {
        let hint = advice(path);
        let advise = |error: &mut Error| {
            if error.kind == ErrorKind::Trust {
                error.message = format!("{} ({})", error.message, Rule::LockNotLiteral.id());
                error.hints = vec![hint.clone()];
            }
        };
        advise(&mut error);
        error.others.iter_mut().for_each(advise);
    }
    error
}

/// The next step for a lock file with values that no tool writes.
fn advice(path: &Path) -> String {
    let name = path.file_name().map_or(FILE_NAME.into(), |name| name.to_string_lossy());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let git = git_in(directory);
    let name = shell_word(&name);
    match recorded(directory, path) {
        Some(text) if is_plain(&text) => {
            format!("`{git} checkout HEAD -- {name}` restores the committed file")
        }
        Some(_) => format!(
            "HEAD has such values too: `{git} log --oneline -- {name}` lists the revisions of the file, and \
             `{git} checkout REV -- {name}` restores it from one without them"
        ),
        None => "no tool writes such values: restore the file from a copy that you trust".to_owned(),
    }
}

/// The beginning of a git command for a directory, given relative to the directory of the run.
pub fn git_in(directory: &Path) -> String {
    match crate::path::shown(directory).trim_end_matches('/') {
        "" | "." => "git".to_owned(),
        directory => format!("git -C {}", shell_word(directory)),
    }
}

/// The file in HEAD; `None` outside of git, or if git does not track it.
fn recorded(directory: &Path, path: &Path) -> Option<Vec<u8>> {
    let git = Git::open(directory).ok()?;
    let head = git.commit("HEAD").ok()??;
    let name = path.file_name()?.to_str()?;
    git.files(&head, &[git.directory().join(name).to_string()]).ok()?.pop()?
}

fn is_plain(text: &[u8]) -> bool {
    let dialect = lockfile::detect_dialect(text).unwrap_or(Dialect::Terraform);
    let has = |findings: Vec<Finding>| findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    lockfile::decode(text, dialect).map_or_else(|findings| !has(findings), |_| true)
}

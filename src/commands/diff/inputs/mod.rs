//! Selects the texts to compare: files, commits, the working tree.

mod form;
mod history;
mod trust;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::DiffArgs;
use super::pairs::{Pair, Side, SideRequirements};
use super::signers::Trust;
use crate::dialect::Dialect;
use crate::disk::files;
use crate::disk::roots::{MissingModules, TreeError, TreeOptions, load_tree, placed};
use crate::error::{Error, ErrorKind};
use crate::git::{Git, GitError};
use crate::lockfile::FILE_NAME;
use crate::path::shown;
use crate::workspace::Scope;
use form::{Form, form};
use history::{History, history};

#[derive(Debug)]
pub struct Comparison {
    pub pairs: Vec<Pair>,
    /// The remembered signers of both sides.
    pub trust: Trust,
    pub notes: Vec<String>,
    /// The directory of the run.
    directory: PathBuf,
    /// The source of the configuration of both sides; `None` for files.
    history: Option<History>,
}

/// Reads the two sides to compare.
pub fn compare(args: &DiffArgs, directory: &Path, scope: &Scope) -> Result<Comparison, Error> {
    let (dialect, trust_file) = (scope.dialect(), scope.trust_file.as_deref());
    match form(&args.names, args.files(), directory)? {
        Form::Files(old, new) => {
            if args.tip || args.recursive {
                let option = if args.tip { "--tip" } else { "--recursive" };
                return Err(usage(format!("{option} is for revisions, not for two files")));
            }
            let [before, after] = [file(directory, &old)?, file(directory, &new)?];
            let pair = Pair { path: new, old: before, new: after, dialect, ..Pair::default() };
            let pair = if is_module_lock(&pair.path) { Pair::of_modules(pair) } else { pair };
            let pins = || trust::text(directory, trust_file);
            Ok(Comparison::new(vec![pair], [pins(), pins()], directory, None))
        }
        Form::Revision { name, path } => {
            let git = Git::open(directory).map_err(without_git)?;
            let history = history(git, name.as_deref(), args.tip)?;
            let (pairs, mut pins) = history.pairs(path.as_deref(), args.recursive, dialect)?;
            if let Some(named) = trust_file {
                pins = [(); 2].map(|()| trust::text(directory, Some(named)));
            }
            Ok(Comparison::new(pairs, pins, directory, Some(history)))
        }
    }
}

fn is_module_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".modules.hcl"))
}

/// Adds a hint that files can be compared without git.
fn without_git(error: GitError) -> Error {
    let is_none = matches!(error, GitError::Start(_) | GitError::NoWorkTree { .. });
    let mapped = Error::from(error);
    if is_none { mapped.hint("outside of git name two files: `tflock diff OLD NEW`") } else { mapped }
}

fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message).hint("run `tflock diff --help`")
}

fn file(directory: &Path, path: &Path) -> Result<Side, Error> {
    if is_nothing(path) {
        return Ok(Side { name: shown(path), text: None });
    }
    let place = directory.join(path);
    let place = if place.is_dir() { place.join(FILE_NAME) } else { place };
    let absent = || Error::new(ErrorKind::Disk, format!("there is no file {}", shown(path))).in_file(path);
    let text = files::read_named_file(&place)?.ok_or_else(absent)?;
    Ok(Side { name: shown(path), text: Some(text) })
}

/// True for the path that git passes in place of a missing file.
fn is_nothing(path: &Path) -> bool {
    path == Path::new("/dev/null") || (cfg!(windows) && path.as_os_str().eq_ignore_ascii_case("nul"))
}

impl Comparison {
    fn new(pairs: Vec<Pair>, pins: trust::Texts, directory: &Path, history: Option<History>) -> Self {
        let (trust, notes) = trust::trust(pins);
        Self { pairs, trust, notes, directory: directory.to_owned(), history }
    }

    pub fn top(&self) -> Option<&Path> {
        self.history.as_ref().map(|history| history.git.top())
    }

    /// The directory whose settings apply to a lock file: its own, or the nearest existing one above it.
    pub fn directory(&self, pair: &Pair) -> PathBuf {
        let Some(history) = &self.history else { return self.directory.clone() };
        let own = history.git.top().join(&pair.path);
        let there = own.ancestors().skip(1).find(|place| place.is_dir());
        there.map_or_else(|| history.git.top().to_owned(), Path::to_owned)
    }

    /// The requirements of the root module of a lock file, before and now; `None` without configuration to look at.
    pub fn requirements(&self, pair: &Pair) -> Option<[SideRequirements; 2]> {
        let history = self.history.as_ref()?;
        let root = pair.path.parent()?;
        let dialect = pair.dialect.or_else(|| crate::lockfile::detect_dialect(pair.new.text.as_deref()?));
        let dialect = dialect.unwrap_or(Dialect::Terraform);
        let [old, new] = history.configuration()?;
        Some([old, new].map(|top| SideRequirements::read(top, root, dialect)))
    }
}

impl SideRequirements {
    fn read(top: &Path, root: &Path, dialect: Dialect) -> Self {
        // Installed modules are known for the working tree only; both sides are read without them, to be comparable.
        let data_dir = Some(PathBuf::from(".terraform/none"));
        let options = TreeOptions { data_dir, missing: MissingModules::Skip, ..TreeOptions::new(dialect) };
        match load_tree(&top.join(root), &options) {
            Ok(tree) => {
                let unread = tree.unread();
                Self { known: Some(Arc::unwrap_or_clone(tree).requirements), unread }
            }
            Err(errors) => {
                let is_unread = |error: &TreeError| !matches!(error, TreeError::NoConfiguration(_));
                let first = errors.into_iter().find(is_unread).map(|error| placed(error.into(), root));
                Self { known: None, unread: first.map(|error| error.located()) }
            }
        }
    }
}

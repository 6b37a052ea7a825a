//! One root module: its settings as plain values, its lock file, and its configuration.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::discover::below;
use super::{ProviderNames, RunSettings};
use crate::config::RootKind;
use crate::disk::root_files;
use crate::disk::roots::{
    MissingModules, Tree, TreeError, TreeOptions, UnreadPart, UnreadReason, file_from, has_configuration, unlisted_host,
};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Location, Position, Rule};
use crate::git::Git;
use crate::lockfile::{Decoded, FILE_NAME, LockFile, LockName, Spans, decode, likely_dialect};
use crate::requirements::Requirements;
use crate::step::{Step, Value};

/// One root module as it was read. Nothing changes it afterwards; what is found out later is held next to it.
#[derive(Debug, Clone)]
pub struct Root {
    pub settings: RunSettings,
    /// The text of the lock file.
    pub bytes: Option<Vec<u8>>,
    /// The parsed lock file or its problems; `None` if there is no lock file.
    pub lock: Option<Result<Arc<Decoded>, Vec<Finding>>>,
    /// `None` without configuration, and if it was not read.
    pub tree: Option<Arc<Tree>>,
    /// Why the configuration cannot be read.
    pub unread: Option<Error>,
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

impl Root {
    /// Reads the lock file and the configuration.
    pub fn open(settings: &RunSettings, how: Reading) -> Result<Self, Error> {
        let root = Self::of_lock_file(settings)?;
        Ok(match root.read(how) {
            Ok(None) => root,
            Ok(Some(tree)) => root.with_tree(tree),
            Err(error) => {
                let lock = root.lock.map(|lock| lock.map_err(|findings| after_configuration(findings, &error)));
                Self { lock, unread: Some(error), ..root }
            }
        })
    }

    /// Reads the lock file alone.
    pub fn of_lock_file(settings: &RunSettings) -> Result<Self, Error> {
        let bytes = root_files::read_lock_file(&settings.lock_file())?;
        let lock = bytes.as_ref().map(|bytes| settings.readings.lock_file(bytes, settings.dialect));
        Ok(Self { settings: settings.clone(), bytes, lock, tree: None, unread: None })
    }

    /// Reads the lock file, and takes configuration that was read already.
    pub fn of_tree(settings: &RunSettings, tree: &Arc<Tree>) -> Result<Self, Error> {
        let root = Self::of_lock_file(settings)?;
        settings.refuse_source(tree)?;
        Ok(root.with_tree(Arc::clone(tree)))
    }

    /// Reads the lock file, which has to be there, and as much of the configuration as can be read.
    pub fn open_locked(settings: &RunSettings) -> Result<Self, Error> {
        let root = Self::open(settings, Reading::LENIENT)?;
        // Entries are listed even if the configuration cannot be read.
        root.locked()?;
        Ok(root)
    }

    /// The root module, unless its configuration cannot be read.
    pub fn whole(self) -> Result<Self, Error> {
        self.unread.clone().map_or(Ok(self), Err)
    }

    /// The configuration of a root module with this lock file; `None` if it may lack one and does.
    fn read(&self, how: Reading) -> Result<Option<Arc<Tree>>, Error> {
        let Reading { missing, of_either_tool, required } = how;
        let options = TreeOptions { of_either_tool, ..self.settings.tree_options(missing) };
        let may_lack = !required || self.bytes.is_some();
        match self.load_tree(options) {
            Ok(tree) => {
                self.settings.refuse_source(&tree)?;
                Ok(Some(tree))
            }
            Err(errors) if may_lack && matches!(errors[..], [TreeError::NoConfiguration(_)]) => Ok(None),
            Err(errors) => {
                let errors = errors.into_iter().map(|error| self.settings.tree_error(error));
                let unknown = || Error::new(ErrorKind::Configuration, "the configuration cannot be read");
                Err(Error::all(errors).unwrap_or_else(unknown))
            }
        }
    }

    /// Reads the configuration. That of a unit is read once more where a change alters the environment, and all of both counts.
    fn load_tree(&self, mut options: TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
        let tree = self.settings.load_tree(&options)?;
        let Some(other) = self.settings.modules.other_environment.as_ref().filter(|_| tree.kind == RootKind::Unit)
        else {
            return Ok(tree);
        };
        options.units.environment = self.settings.modules.over(other);
        let other = self.settings.load_tree(&options)?;
        Ok(Arc::new(Arc::unwrap_or_clone(tree).and(&other)))
    }

    /// The same with its configuration, and with what its kind decides: packages of stacks come from their origin registries alone.
    fn with_tree(mut self, tree: Arc<Tree>) -> Self {
        if tree.kind.traits().only_origin {
            self.settings.settings.source = None;
        }
        let tree = if self.settings.lock_name.is_instance() { of_instance(tree, &self.settings) } else { tree };
        Self { tree: Some(tree), ..self }
    }

    /// What was not read and may require more providers.
    pub fn unread_reason(&self) -> Option<String> {
        let of_tree = || self.tree.as_ref().and_then(|tree| tree.unread());
        self.unread.as_ref().map(Error::located).or_else(of_tree)
    }

    /// The parsed lock file; an error if there is none.
    pub fn locked(&self) -> Result<&Arc<Decoded>, Error> {
        let without = || absent(self.settings.lock_file_shown(), &self.settings.root);
        self.decoded()?.ok_or_else(|| self.not_created().unwrap_or_else(without))
    }

    /// The error for a missing lock file that tflock does not create, since requirements are not read.
    pub fn not_created(&self) -> Option<Error> {
        let part = self.tree.as_ref()?.unread_parts.first().filter(|_| self.lock.is_none())?;
        let message = format!("requirements are not read, and there is no lock file: {}", part.reason);
        let error = Error::new(ErrorKind::Configuration, message);
        let error = error.in_file(file_from(&self.settings.path, &part.place.file)).at(part.place.position);
        Some(error.hint("create the lock file with the tool; then tflock completes its hashes"))
    }

    /// The parsed lock file; `None` if there is no file.
    pub fn decoded(&self) -> Result<Option<&Arc<Decoded>>, Error> {
        match &self.lock {
            None => Ok(None),
            Some(Ok(decoded)) => Ok(Some(decoded)),
            Some(Err(findings)) => {
                let (path, shown) = (self.settings.lock_file(), self.settings.lock_file_shown());
                Err(refused(findings.clone(), &path, &shown))
            }
        }
    }

    /// The requirements, as far as they are known; `None` if nothing was read.
    pub fn requirements(&self) -> Option<&Requirements> {
        self.tree.as_ref().filter(|_| self.unread.is_none()).and_then(|tree| tree.known_requirements())
    }

    /// The findings about configuration that is not evaluated, or that a lock file lacks; files are relative to the root
    /// module.
    pub fn unread_requirements(&self) -> Vec<Finding> {
        let finding = |what: &str, reason: &str| {
            Finding::new(
                Rule::RequirementsUnread,
                format!("{what} not read, so not compared with the lock file: {reason}"),
            )
        };
        let lock_name = &self.settings.lock_name;
        let Some(tree) = &self.tree else {
            let reason =
                if lock_name.is_instance() { UnreadReason::AtmosInstance } else { UnreadReason::NoConfiguration };
            let none = finding("the requirements are", &reason.to_string());
            let none = none.in_file(lock_name.as_str()).at(Position::default());
            return self.lock.iter().map(|_| none.clone()).collect();
        };
        let what = if tree.requirements.is_empty() { "the requirements are" } else { "a part of the requirements is" };
        let placed = |part: &UnreadPart| {
            let finding = finding(what, &part.reason).in_file(&*part.place.file).at(part.place.position);
            match tree.computed_host.as_deref().filter(|host| part.reason == unlisted_host(host)) {
                Some(host) => finding.remedied_by(format!(
                    "Add {host:?} to `module_hosts` in the `policy` block of .tflock.hcl on the base branch, next to the hosts \
                     of the other modules."
                )),
                None => finding,
            }
        };
        tree.unread_parts.iter().map(placed).collect()
    }

    pub fn entries(&self) -> Option<&LockFile> {
        self.sound().map(|decoded| &decoded.lock)
    }

    /// What the lock file says; nothing if there is none or it cannot be read.
    pub fn lock(&self) -> &LockFile {
        static NOTHING: LazyLock<LockFile> = LazyLock::new(LockFile::default);
        self.entries().unwrap_or(&NOTHING)
    }

    /// Where the lock file has its entries; `None` if it cannot be read.
    pub fn spans(&self) -> Option<&Spans> {
        self.sound().map(|decoded| &decoded.spans)
    }

    fn sound(&self) -> Option<&Decoded> {
        self.lock.as_ref()?.as_deref().ok()
    }

    /// What reads the configuration; a module if there is none.
    pub fn kind(&self) -> RootKind {
        self.tree.as_ref().map(|tree| tree.kind).unwrap_or_default()
    }

    pub fn names(&self) -> ProviderNames<'_> {
        ProviderNames { requirements: self.requirements(), lock: self.entries(), dialect: self.settings.dialect }
    }
}

/// The findings of a lock file, without the command that merges its sides by a configuration which cannot be read.
fn after_configuration(findings: Vec<Finding>, unread: &Error) -> Vec<Finding> {
    let remedied = |finding: Finding| {
        let merges = finding.general_help().commands().any(|command| command.is("merge"));
        if merges && unread.kind == ErrorKind::Configuration {
            let first = "Correct the configuration first, which decides how both sides are merged";
            finding.remedied_by(format!("{first}: {}", unread.located()))
        } else {
            finding
        }
    };
    findings.into_iter().map(remedied).collect()
}

/// The configuration of the directory as that of an Atmos instance, which may require more.
fn of_instance(tree: Arc<Tree>, settings: &RunSettings) -> Arc<Tree> {
    let mut tree = Arc::unwrap_or_clone(tree);
    let place = Location { file: Path::new(settings.lock_name.as_str()).into(), position: Position::default() };
    tree.unread_parts.push(UnreadReason::AtmosInstance.at(&place));
    tree.complete = false;
    Arc::new(tree)
}

/// The error for a missing lock file: its shown path, and its directory to look for root modules below.
pub fn absent(shown: PathBuf, directory: &Path) -> Error {
    let is_ordinary = shown.file_name().is_none_or(|name| LockName::of_file(name).is_some());
    let error = Error::new(ErrorKind::LockFile, "there is no such dependency lock file").in_file(shown);
    if !is_ordinary {
        return error.hint("check the name of the file");
    }
    if !super::instance_names(directory).is_empty() {
        return error.hint(
            "Atmos copies the lock file of an instance there before it runs `init`: this command leaves those alone",
        );
    }
    match below(directory) {
        Some(hint) => error.hint(hint),
        None if has_configuration(directory) => {
            error.hint(step!("run `tflock lock`, or name the root module with `-C DIR`"))
        }
        None => error.hint("name the directory of a root module with -C"),
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
fn advice(path: &Path) -> Step {
    let name = path.file_name().map_or(FILE_NAME.into(), |name| name.to_string_lossy());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let git = Value::Words(git_in(directory));
    match recorded(directory, path) {
        Some(text) if is_plain(&text) => {
            step!("`{} checkout HEAD -- {}` restores the committed file", git, name)
        }
        Some(_) => step!(
            "HEAD has such values too: `{} log --oneline -- {}` lists the revisions of the file, and \
             `{} checkout REV -- {}` restores it from one without them",
            git,
            name,
            git,
            name
        ),
        None => "no tool writes such values: restore the file from a copy that you trust".into(),
    }
}

/// The beginning of a git command for a directory, given relative to the directory of the run.
pub fn git_in(directory: &Path) -> Vec<String> {
    match crate::path::shown(directory).trim_end_matches('/') {
        "" | "." => vec!["git".to_owned()],
        directory => ["git", "-C", directory].map(str::to_owned).to_vec(),
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
    let has = |findings: Vec<Finding>| findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    decode(text, likely_dialect(text)).map_or_else(|findings| !has(findings), |_| true)
}

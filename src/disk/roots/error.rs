//! Why a module tree cannot be read, and the surroundings that it may depend on: the values of variables, the directory of the
//! root module and its workspace.

use std::io;
use std::path::{Path, PathBuf};

use super::TreeOptions;
use crate::config::{
    ConfigError, Location, ManifestError, ModuleSourceError, SourceFile, Surroundings, VariableFile, VariableValues,
};
use crate::dialect::Dialect;
use crate::disk::{files, roots};
use crate::error::{Error, ErrorKind};
use crate::evaluate::Meter;
use crate::path::links::{FileRefusal, is_absence};
use crate::path::{shown, worktree};
use crate::step::Step;
use crate::value::{Budget, Unevaluated};

/// Why a module tree cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read {path:?}: {reason}", path = shown(path), reason = words(*kind))]
    Read { path: PathBuf, kind: io::ErrorKind },
    #[error("cannot read {path:?}: {reason}", path = shown(path))]
    Refused { path: PathBuf, reason: FileRefusal },
    #[error("no configuration files in {path:?}", path = shown(.0))]
    NoConfiguration(PathBuf),
    /// All of the configuration is for the other tool.
    #[error("only OpenTofu reads the configuration files in {path:?}, and the tool is Terraform", path = shown(.0))]
    OnlyForTofu(PathBuf),
    /// `modules.json` is damaged.
    #[error("cannot read the list of installed modules: {reason}")]
    Manifest {
        path: PathBuf,
        #[source]
        reason: ManifestError,
    },
    #[error("{}", .0.message)]
    ModuleLock(Box<Error>),
    /// A file of variables that the command line names cannot be read.
    #[error("{}", .0.message)]
    NamedFile(Box<Error>),
    /// A file of variables with an error.
    #[error("cannot read the values of variables: {error}")]
    Variables {
        error: ConfigError,
        /// True if the command line names it, so its path is from the directory of the process.
        named: bool,
    },
    /// An entry of `required_providers` that is evaluated, and has no value.
    #[error("the {argument} of provider {name:?} cannot be determined statically, because {reason}")]
    Provider { name: String, argument: &'static str, place: Location, dialect: Dialect, reason: Unevaluated },
    #[error("module {key:?}: {problem}")]
    Module { key: String, place: Location, dialect: Dialect, problem: ModuleProblem },
}

impl TreeError {
    /// True if there is no such file.
    pub(super) fn is_absence(&self) -> bool {
        matches!(self, Self::Read { kind, .. } if is_absence(*kind))
    }

    /// The same error, with the places in configuration that it names moved.
    #[must_use]
    pub(super) fn moved(self, moved: impl Fn(Location) -> Location) -> Self {
        match self {
            Self::Config(error) => Self::Config(error.moved(moved)),
            Self::Provider { name, argument, place, dialect, reason } => {
                Self::Provider { name, argument, place: moved(place), dialect, reason }
            }
            Self::Module { key, place, dialect, problem } => {
                Self::Module { key, place: moved(place), dialect, problem }
            }
            error => error,
        }
    }
}

/// Why a module cannot be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleProblem {
    #[error("there is no directory {directory:?}")]
    NoDirectory { directory: String, submodule: Option<String> },
    #[error("the module from {0:?} is not installed")]
    NotInstalled(String),
    #[error("it is installed from {installed:?}, but its source is {source_text:?}")]
    SourceChanged { installed: String, source_text: String },
    #[error("version {installed:?} is installed, which does not satisfy {constraint:?}")]
    VersionChanged { installed: String, constraint: String },
    #[error("its source cannot be determined statically, because {0}")]
    NotStatic(Unevaluated),
    #[error("its version cannot be determined statically, because {0}")]
    VersionNotStatic(Unevaluated),
    #[error("its version is {0:?}, which is not a version constraint")]
    Version(String),
    #[error("invalid source: {0}")]
    Source(#[from] ModuleSourceError),
    #[error("{}", .0.message)]
    NotFetched(Box<Error>),
    #[error("the path {0:?} leads out of the module's package")]
    OutsidePackage(String),
    #[error("it calls itself, or the modules are nested too deeply")]
    Cycle,
}

impl ModuleProblem {
    /// True if the tool cannot work with it either.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Version(_)) || matches!(self.unevaluated(), Some((_, Unevaluated::Refused { .. })))
    }

    /// The same with the place that it names moved.
    pub(super) fn moved(self, moved: impl Fn(Location) -> Location) -> Self {
        match self {
            Self::NotStatic(reason) => Self::NotStatic(reason.moved(moved)),
            Self::VersionNotStatic(reason) => Self::VersionNotStatic(reason.moved(moved)),
            problem => problem,
        }
    }

    /// The argument whose expression has no value, and why, if that is the problem.
    pub(super) fn unevaluated(&self) -> Option<(&'static str, &Unevaluated)> {
        match self {
            Self::NotStatic(reason) => Some(("source", reason)),
            Self::VersionNotStatic(reason) => Some(("version", reason)),
            _ => None,
        }
    }

    pub(super) fn next_steps(&self, dialect: Dialect) -> Vec<Step> {
        let install = step!("install the modules with `{} get`", dialect.program());
        match self {
            _ if self.is_refused() => vec![refused_too(dialect)],
            Self::NotStatic(Unevaluated::Unset(name)) | Self::VersionNotStatic(Unevaluated::Unset(name)) => {
                vec![set(name).into()]
            }
            Self::NoDirectory { submodule: Some(path), .. } => {
                vec![step!("check out the git submodule {}: `git submodule update --init`", path)]
            }
            Self::NoDirectory { .. } => {
                vec!["correct its source, or first run what creates the directory, such as `make`".into()]
            }
            Self::NotInstalled(_) | Self::SourceChanged { .. } | Self::VersionChanged { .. } => vec![install],
            _ => Vec::new(),
        }
    }
}

fn refused_too(dialect: Dialect) -> Step {
    step!("correct the configuration or the value: `{} init` refuses it too", dialect.program())
}

/// How to give a variable of the root module a value.
pub(super) fn set(name: &str) -> String {
    format!("set it with `--var {name}=VALUE` or `--var-file FILE`; TF_VAR_{name} counts too, but not under --base")
}

/// As the system says it, where the library's own words are another's.
fn words(kind: io::ErrorKind) -> String {
    if kind == io::ErrorKind::NotFound { "no such file or directory".to_owned() } else { kind.to_string() }
}

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        let message = error.to_string();
        match error {
            TreeError::Config(error) => error.into(),
            TreeError::ModuleLock(error) | TreeError::NamedFile(error) => *error,
            TreeError::Variables { error, .. } => Error { message, ..error.into() },
            TreeError::Refused { path, reason: FileRefusal::Outside } => Error::new(ErrorKind::Disk, message)
                .in_file(path)
                .hint(
                    "no file outside the working tree is read, since no commit has it: put a copy of the file in place of the \
                     link",
                ),
            TreeError::Read { path, .. } | TreeError::Refused { path, .. } => {
                Error::new(ErrorKind::Disk, message).in_file(path)
            }
            TreeError::NoConfiguration(_) => {
                Error::new(ErrorKind::Configuration, message).hint("name the directory of a root module with -C")
            }
            TreeError::OnlyForTofu(_) => Error::new(ErrorKind::Configuration, message).hint(
                "to use Terraform, rename the files to .tf; to use OpenTofu, pass `--tool tofu`, or set `tool = \"tofu\"` in \
                 .tflock.hcl; without an option or a setting, tflock takes such a directory for one of OpenTofu",
            ),
            TreeError::Manifest { path, .. } => Error::new(ErrorKind::Configuration, message)
                .in_file(path)
                .hint("install the modules again with `init`"),
            TreeError::Provider { place, dialect, reason, .. } => {
                let (kind, next_step) = match &reason {
                    Unevaluated::Unset(name) => (ErrorKind::NotInstalled, set(name).into()),
                    _ => (ErrorKind::Configuration, refused_too(dialect)),
                };
                Error::new(kind, message).in_file(place.file.to_path_buf()).at(place.position).hint(next_step)
            }
            TreeError::Module { place, problem: ModuleProblem::NotFetched(reason), .. } => {
                // Without the name of the call: what cannot be fetched is reported once, wherever it is called.
                reason.in_file(place.file.to_path_buf()).at(place.position)
            }
            TreeError::Module { place, dialect, problem, .. } => {
                // What has no value here is no mistake of the configuration.
                let is_open = problem.unevaluated().is_some() && !problem.is_refused();
                let kind = if is_open { ErrorKind::NotInstalled } else { ErrorKind::Configuration };
                let error = Error::new(kind, message).in_file(place.file.to_path_buf()).at(place.position);
                error.hints(problem.next_steps(dialect))
            }
        }
    }
}

/// What the command line sets.
#[derive(Debug, Clone)]
pub enum Assignment {
    Value(String, String),
    File(Result<VariableFile, Vec<TreeError>>),
}

/// The files of variables of a root module that the tools read without being told.
#[derive(Debug, Default)]
pub(super) struct AutomaticFiles {
    pub(super) names: Vec<PathBuf>,
    files: Vec<VariableFile>,
    errors: Vec<TreeError>,
}

impl AutomaticFiles {
    /// Reads all of them, since the tools refuse one that does not parse even if nothing depends on it.
    pub(super) fn read(root: &Path, names: &[String]) -> Self {
        Self::of(names.iter().map(|name| roots::text(root, PathBuf::from(name))))
    }

    pub(super) fn of(texts: impl Iterator<Item = Result<SourceFile, Box<TreeError>>>) -> Self {
        let mut automatic = Self::default();
        for text in texts {
            automatic.names.extend(text.as_ref().map(|file| file.path.clone()));
            match text.map_err(|error| vec![*error]).and_then(|file| decode(&file.path, &file.text, false)) {
                Ok(file) => automatic.files.push(file),
                Err(errors) => automatic.errors.extend(errors),
            }
        }
        automatic
    }

    /// What is wrong with files of variables, those of the command line among them.
    pub(super) fn errors(&self, options: &TreeOptions) -> Vec<TreeError> {
        let named = options.assigned.iter().filter_map(|assigned| match assigned {
            Assignment::File(Err(errors)) => Some(errors),
            _ => None,
        });
        self.errors.iter().chain(named.flatten()).cloned().collect()
    }

    /// What the configuration of a root module sees. The values of later sources go before those of earlier ones.
    pub(super) fn surroundings(&self, root: &Path, options: &TreeOptions) -> Surroundings {
        let mut values = VariableValues::default();
        for (name, text) in &options.inputs {
            values.set(name, text);
        }
        for (name, text) in &options.variables {
            values.set_from_environment(name, text);
        }
        for file in &self.files {
            values.set_all(file);
        }
        for assigned in &options.assigned {
            match assigned {
                Assignment::Value(name, text) => values.set(name, text),
                Assignment::File(Ok(file)) => values.set_all(file),
                Assignment::File(Err(_)) => {}
            }
        }
        Surroundings {
            dialect: options.dialect,
            variables: values,
            directory: worktree::absolute(root).to_string_lossy().replace('\\', "/"),
            workspace: workspace(root, options),
            meter: Meter::new(Budget::of_root(options.roots)),
        }
    }
}

/// Reads a file of variables that the command line names, by its path from the directory of the process.
pub(super) fn named(path: &Path) -> Result<Assignment, TreeError> {
    let unreadable = |error: io::Error| roots::unreadable(path.to_owned(), &error).into();
    let bytes = files::read_named(path).map_err(|error| TreeError::NamedFile(Box::new(unreadable(error))))?;
    Ok(Assignment::File(decode(path, &String::from_utf8_lossy(&bytes), true)))
}

fn decode(path: &Path, text: &str, named: bool) -> Result<VariableFile, Vec<TreeError>> {
    VariableFile::decode(path, text).map_err(|errors| {
        let errors = errors.into_iter();
        errors.map(|error| TreeError::Variables { error, named }).collect()
    })
}

/// The workspace that is selected: by the environment, else by the tool's own file.
///
/// Source: opentofu `internal/command/meta.go`, `WorkspaceOverridden`; `validWorkspaceName`.
fn workspace(root: &Path, options: &TreeOptions) -> Result<String, &'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+=:@".contains(&byte);
    match &options.workspace {
        Some(name) if name.bytes().all(is_plain) => return Ok(name.clone()),
        Some(_) => return Err("TF_WORKSPACE is not a valid name of a workspace"),
        None => {}
    }
    let file = options.data_dir.as_deref().unwrap_or(Path::new(".terraform")).join("environment");
    let text = match roots::text(root, file) {
        Ok(file) => file.text,
        Err(error) if error.is_absence() => String::new(),
        Err(_) => return Err("the file that names the selected workspace cannot be read"),
    };
    let name = text.trim();
    Ok(if name.is_empty() { "default" } else { name }.to_owned())
}

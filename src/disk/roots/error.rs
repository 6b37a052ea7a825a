//! Why a module tree cannot be read.

use std::io;
use std::path::PathBuf;

use crate::config::{ConfigError, Location, ManifestError, ModuleSourceError};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::path::links::Refusal;
use crate::path::shown;

/// Why a module tree cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot read {path:?}: {kind}", path = shown(path))]
    Read { path: PathBuf, kind: io::ErrorKind },
    #[error("cannot read {path:?}: {reason}", path = shown(path))]
    Refused { path: PathBuf, reason: Refusal },
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
    #[error("module {key:?}: {problem}")]
    Module { key: String, place: Location, dialect: Dialect, problem: ModuleProblem },
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
    #[error("its source cannot be determined statically{because}", because = because(.0.as_deref()))]
    NotStatic(Option<String>),
    #[error("its version cannot be determined statically{because}", because = because(.0.as_deref()))]
    VersionNotStatic(Option<String>),
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
    pub(super) fn next_steps(&self, dialect: Dialect) -> Vec<String> {
        let install = format!("install the modules with `{} get`", dialect.program());
        match self {
            // Terraform knows no variables there.
            Self::NotStatic(Some(_)) | Self::VersionNotStatic(Some(_)) if dialect == Dialect::OpenTofu => {
                let set = "set a variable that it depends on with `--var NAME=VALUE`, `--var-file FILE` or TF_VAR_NAME";
                vec![set.to_owned(), install]
            }
            Self::NoDirectory { submodule: Some(path), .. } => {
                vec![format!("check out the git submodule {path}: `git submodule update --init`")]
            }
            Self::NoDirectory { .. } => {
                vec!["correct its source, or first run what creates the directory, such as `make`".to_owned()]
            }
            Self::NotInstalled(_)
            | Self::SourceChanged { .. }
            | Self::VersionChanged { .. }
            | Self::NotStatic(_)
            | Self::VersionNotStatic(_) => vec![install],
            _ => Vec::new(),
        }
    }
}

fn because(reference: Option<&str>) -> String {
    reference.map(|reference| format!(", because it depends on {reference}")).unwrap_or_default()
}

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        let message = error.to_string();
        match error {
            TreeError::Config(error) => error.into(),
            TreeError::ModuleLock(error) => *error,
            TreeError::Read { path, .. } | TreeError::Refused { path, .. } => {
                Error::new(ErrorKind::Disk, message).in_file(path)
            }
            TreeError::NoConfiguration(_) => {
                Error::new(ErrorKind::Configuration, message).hint("name the directory of a root module with -C")
            }
            TreeError::OnlyForTofu(_) => Error::new(ErrorKind::Configuration, message).hint(
                "pass `--tool tofu`, or set `tool = \"tofu\"` in .tflock.hcl; without an option or a setting, tflock takes such \
                 a directory for one of OpenTofu",
            ),
            TreeError::Manifest { path, .. } => Error::new(ErrorKind::Configuration, message)
                .in_file(path)
                .hint("install the modules again with `init`"),
            TreeError::Module { place, problem: ModuleProblem::NotFetched(reason), .. } => {
                // Without the name of the call: what cannot be fetched is reported once, wherever it is called.
                reason.in_file(place.file.to_path_buf()).at(place.position)
            }
            TreeError::Module { place, dialect, problem, .. } => {
                let error =
                    Error::new(ErrorKind::Configuration, message).in_file(place.file.to_path_buf()).at(place.position);
                problem.next_steps(dialect).into_iter().fold(error, Error::hint)
            }
        }
    }
}

//! What can be wrong with a CLI configuration.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::addr::HostnameError;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::hcl1::Hcl1Error;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid CLI configuration: {fault}")]
pub struct CliConfigError {
    pub file: Option<PathBuf>,
    /// The place in the file; none if the file cannot be read.
    pub position: Option<Position>,
    pub fault: CliConfigFault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CliConfigFault {
    #[error("cannot read it: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Syntax(#[from] Hcl1Error),
    #[error("the {block} block {label:?} has an invalid hostname: {reason}")]
    Hostname {
        /// `host` or `credentials`.
        block: &'static str,
        label: String,
        reason: HostnameError,
    },
    #[error("{name} wants {wanted}, not {got}")]
    Type { name: String, wanted: &'static str, got: &'static str },
    #[error("{block} needs an argument {name:?}")]
    Missing { block: String, name: &'static str },
    #[error("no more than one {0} block may be specified")]
    Repeated(&'static str),
    /// `=` or a label where a plain block is wanted.
    #[error("{0} must be a block without label and equals sign")]
    NotABlock(String),
    #[error("unknown provider installation method {0:?}")]
    UnknownMethod(String),
    /// `dev_overrides` behind another method.
    #[error("the dev_overrides block must come before all other installation methods")]
    LateOverrides,
}

impl CliConfigError {
    pub(super) fn new(position: Position, fault: CliConfigFault) -> Self {
        Self { file: None, position: Some(position), fault }
    }

    pub(super) fn unreadable(file: &Path, reason: &impl Display) -> Self {
        let fault = CliConfigFault::Unreadable(reason.to_string());
        Self { file: Some(file.to_path_buf()), position: None, fault }
    }

    pub(super) fn in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_path_buf());
        self
    }
}

impl From<Hcl1Error> for CliConfigError {
    fn from(error: Hcl1Error) -> Self {
        Self::new(error.position, error.into())
    }
}

impl From<CliConfigError> for Error {
    fn from(error: CliConfigError) -> Self {
        let hint = match &error.fault {
            CliConfigFault::Unreadable(_) => "set TF_CLI_CONFIG_FILE to a file that can be read".to_owned(),
            CliConfigFault::UnknownMethod(name) if name == "oci_mirror" => {
                "oci_mirror is a method of OpenTofu: use --tool tofu".to_owned()
            }
            _ => "correct the file, or set TF_CLI_CONFIG_FILE to another one".to_owned(),
        };
        let mut shown = Error::new(ErrorKind::Settings, error.to_string()).hint(hint);
        shown.file = error.file;
        shown.position = error.position;
        shown
    }
}

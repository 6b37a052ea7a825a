//! What can be wrong with a settings file.

use std::path::PathBuf;

use super::{AgeError, DateError, ExcludeError, FILE_NAME, IndexPlaceError, SourceError};
use crate::addr::{HostnameError, PatternError};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::document::{Shape, did_you_mean};
use crate::platform::PlatformError;
use crate::version::{ConstraintError, VersionError};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SettingsError {
    /// The file, as handed to [`super::decode()`].
    pub file: PathBuf,
    pub position: Position,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error(transparent)]
    Shape(#[from] Shape),
    #[error("there is no rule {name:?}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownRule { name: String, suggestion: Option<&'static str> },
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error(transparent)]
    Provider(#[from] PatternError),
    #[error("{text:?} is not a host: {reason}")]
    Host {
        text: String,
        #[source]
        reason: HostnameError,
    },
    #[error("{text:?} is not a version constraint: {reason}")]
    Constraint {
        text: String,
        #[source]
        reason: ConstraintError,
    },
    #[error("{text:?} is not a version: {reason}")]
    Version {
        text: String,
        #[source]
        reason: VersionError,
    },
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Exclude(#[from] ExcludeError),
    #[error(transparent)]
    Index(#[from] IndexPlaceError),
    #[error("{0:?} is not the name of an index: expected up to 64 letters, digits, dashes, underscores and dots")]
    IndexName(String),
    #[error(transparent)]
    Age(#[from] AgeError),
    #[error(transparent)]
    Date(#[from] DateError),
}

impl Problem {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Shape(shape) => shape.hint(FILE_NAME),
            Self::UnknownRule { .. } => Some("`tflock explain` lists the rules".to_owned()),
            _ => None,
        }
    }
}

impl From<SettingsError> for Error {
    fn from(error: SettingsError) -> Self {
        let hint = error.problem.hint();
        let mut mapped = Error::new(ErrorKind::Settings, error.to_string()).in_file(error.file).at(error.position);
        mapped.hints.extend(hint);
        mapped
    }
}

//! What can be wrong with a settings file.

use std::path::PathBuf;

use super::{AgeError, DateError, ExcludeError, FILE_NAME, IndexPlaceError, SourceError};
use crate::addr::{HostnameError, PatternError};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::document::{Shape, did_you_mean};
use crate::platform::PlatformError;
use crate::version::{ConstraintError, VersionError};

/// One thing that is wrong with a settings file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SettingsError {
    /// The file, as handed to [`super::decode()`].
    pub file: PathBuf,
    /// Where in it.
    pub position: Position,
    /// What is wrong.
    pub problem: Problem,
}

/// The kinds of things that are wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The document is not made as its grammar wants it.
    #[error(transparent)]
    Shape(#[from] Shape),
    /// A rule that there is not.
    #[error("there is no rule {name:?}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownRule {
        /// The id as written.
        name: String,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
    },
    /// A platform is refused.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// An address or a pattern is refused.
    #[error(transparent)]
    Provider(#[from] PatternError),
    /// A host is refused.
    #[error("{text:?} is not a host: {reason}")]
    Host {
        /// The host as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: HostnameError,
    },
    /// A constraint is refused.
    #[error("{text:?} is not a version constraint: {reason}")]
    Constraint {
        /// The constraint as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: ConstraintError,
    },
    /// A version is refused.
    #[error("{text:?} is not a version: {reason}")]
    Version {
        /// The version as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: VersionError,
    },
    /// A source of packages is refused.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A pattern of directories is refused.
    #[error(transparent)]
    Exclude(#[from] ExcludeError),
    /// The URL of an index is refused.
    #[error(transparent)]
    Index(#[from] IndexPlaceError),
    /// The name of an index is refused.
    #[error("{0:?} is not the name of an index: expected up to 64 letters, digits, dashes, underscores and dots")]
    IndexName(String),
    /// An age is refused.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// A date is refused.
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

//! What can be wrong with a settings file.

use std::path::PathBuf;

use super::{AgeError, DateError, FILE_NAME};
use crate::addr::{HostnameError, PatternError};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::platform::PlatformError;
use crate::version::{ConstraintError, VersionError};

/// One thing that is wrong with a settings file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SettingsError {
    /// The file, as handed to [`super::decode`].
    pub file: PathBuf,
    /// Where in it.
    pub position: Position,
    /// What is wrong.
    pub problem: Problem,
}

/// The kinds of things that are wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not HCL.
    #[error("{FILE_NAME} is not valid HCL: {0}")]
    Syntax(String),
    /// An attribute that there is not.
    #[error("there is no setting {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownAttribute {
        /// The name as written.
        name: String,
        /// Where it stands, in words.
        place: &'static str,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
    },
    /// A block that there is not.
    #[error("there is no block {name:?} {place}{hint}", hint = did_you_mean(*.suggestion))]
    UnknownBlock {
        /// The name as written.
        name: String,
        /// Where it stands, in words.
        place: &'static str,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
    },
    /// `policy = …`
    #[error("{0:?} is a block and takes no equals sign")]
    IsABlock(&'static str),
    /// `platforms { … }`
    #[error("{0:?} is an attribute and takes an equals sign")]
    IsAnAttribute(&'static str),
    /// Labels that a block does not have, or lacks.
    #[error("a {block} block has {wanted}")]
    Labels {
        /// The block.
        block: &'static str,
        /// What it has, in words.
        wanted: &'static str,
    },
    /// The second of a block that can stand once.
    #[error("{0} stands twice")]
    Twice(String),
    /// A value of another type, or no literal one.
    #[error("{name} must be {wanted}")]
    Type {
        /// The attribute.
        name: &'static str,
        /// The type, in words.
        wanted: &'static str,
    },
    /// A word that the attribute does not know.
    #[error("{name} cannot be {value:?}{hint}", hint = did_you_mean(*.suggestion))]
    Word {
        /// The attribute.
        name: &'static str,
        /// The value as written.
        value: String,
        /// What was meant, perhaps.
        suggestion: Option<&'static str>,
        /// What it can be.
        words: Vec<&'static str>,
    },
    /// A list without elements where one is needed.
    #[error("{0} must not be empty")]
    EmptyList(&'static str),
    /// An attribute without which a block means nothing.
    #[error("a {block} block needs {name}")]
    Missing {
        /// The block.
        block: &'static str,
        /// The attribute.
        name: &'static str,
    },
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
    /// An age is refused.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// A date is refused.
    #[error(transparent)]
    Date(#[from] DateError),
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!("; did you mean {word:?}?")).unwrap_or_default()
}

impl Problem {
    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownAttribute { suggestion: None, .. } | Self::UnknownBlock { suggestion: None, .. } => {
                Some(format!("see the section on {FILE_NAME} in the README for what there is"))
            }
            Self::Word { words, .. } => Some(format!("write one of: {}", words.join(", "))),
            Self::UnknownRule { .. } => Some("`tflock explain RULE` knows the rules".to_owned()),
            Self::IsABlock(name) => Some(format!("write {name} {{ … }}")),
            Self::IsAnAttribute(name) => Some(format!("write {name} = …")),
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

//! What can be wrong with a trust file.

use std::path::PathBuf;

use super::FILE_NAME;
use crate::addr::{AddrError, PatternError};
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::settings::{DateError, Shape};
use crate::trust::FingerprintError;
use crate::version::VersionError;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct PinError {
    /// The file, as handed to [`super::decode()`].
    pub file: PathBuf,
    pub position: Position,
    pub problem: TrustProblem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustProblem {
    #[error(transparent)]
    Shape(#[from] Shape),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Address(#[from] AddrError),
    #[error(transparent)]
    Fingerprint(#[from] FingerprintError),
    #[error(transparent)]
    Date(#[from] DateError),
    #[error("{text:?} is not a version: {reason}")]
    Version {
        text: String,
        #[source]
        reason: VersionError,
    },
    #[error("{0:?} has no host; a pin is for host/namespace/type")]
    NoHost(String),
    #[error("{0:?} covers every host; a pin holds for one host")]
    AnyHost(String),
    #[error("a provider block needs signers or unsigned = true")]
    NoSigner,
    #[error("the file has more than {0} blocks, which is the limit")]
    TooMany(usize),
}

impl TrustProblem {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Shape(shape) => shape.hint(FILE_NAME),
            Self::NoSigner => Some("remove the block, or name who signs the provider".to_owned()),
            Self::NoHost(text) => Some(format!("write registry.terraform.io/{text} or registry.opentofu.org/{text}")),
            _ => None,
        }
    }
}

impl From<PinError> for Error {
    fn from(error: PinError) -> Self {
        let hint = error.problem.hint();
        let mut mapped = Error::new(ErrorKind::Settings, error.to_string()).in_file(error.file).at(error.position);
        mapped.hints.extend(hint);
        mapped
    }
}

//! Why a source gave no usable answer, as an error for users.

use url::Url;

use super::wire::WireError;
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::helper::HelperError;
use crate::error::{Error, ErrorKind};
use crate::net::{NetError, ShownUrl, token_variable_shown};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// It affirms that there is no such thing.
    Absent(Error),
    /// It is not known.
    Unknown(Error),
}

impl Miss {
    /// What a source has; `None` if it affirms that there is no such thing.
    pub fn found<T>(answer: Result<T, Self>) -> Result<Option<T>, Error> {
        match answer {
            Ok(found) => Ok(Some(found)),
            Err(Self::Absent(_)) => Ok(None),
            Err(Self::Unknown(error)) => Err(error),
        }
    }
}

impl From<Error> for Miss {
    fn from(error: Error) -> Self {
        Self::Unknown(error)
    }
}

impl From<Miss> for Error {
    fn from(miss: Miss) -> Self {
        let (Miss::Absent(error) | Miss::Unknown(error)) = miss;
        error
    }
}

/// 401 or 403 of a host, with credentials or without.
pub(super) fn unauthorized(host: &Hostname, sent: bool) -> Error {
    let (refused, hint) = if sent {
        ("rejected the given authentication credentials", "check the token in")
    } else {
        ("requires authentication credentials", "put a token into")
    };
    let variable = token_variable_shown(host);
    Error::new(ErrorKind::Unauthorized, format!("host {host} {refused}"))
        .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
}

pub(super) fn no_credentials(host: &Hostname, problem: HelperError) -> Error {
    let message = format!("getting the credentials of {host} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

pub(super) fn unanswered(source: &str, addr: &ProviderAddr, problem: NetError) -> Error {
    let message = format!("the request to {source} for provider {addr} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

pub(super) fn unusable(source: &str, addr: &ProviderAddr, url: &Url, reason: &WireError) -> Error {
    let message = format!("{source}'s response about provider {addr} cannot be used: {reason}");
    Error::new(ErrorKind::Unavailable, message).about_url(ShownUrl::new(url).as_str())
}

//! Why a registry gave no usable answer, and what people are told of it.

use super::wire::WireError;
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::helper::HelperError;
use crate::error::{Error, ErrorKind};
use crate::net::{DiscoveryError, NetError, ShownUrl, token_variable_shown};
use crate::platform::Platform;
use crate::version::Version;

/// Why a host does not let anybody in, whatever its protocol.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AccessError {
    /// 401 or 403.
    #[error("host {host} {}", if *.sent { "rejected the given authentication credentials" } else { "requires authentication credentials" })]
    Unauthorized {
        /// The host whose credentials count.
        host: Hostname,
        /// Whether credentials were sent.
        sent: bool,
    },
    /// The credentials helper failed.
    #[error("asking for the credentials of {host} failed: {source}")]
    Credentials {
        /// The host.
        host: Hostname,
        /// What happened.
        source: HelperError,
    },
}

impl From<AccessError> for Error {
    fn from(error: AccessError) -> Self {
        let message = error.to_string();
        match error {
            AccessError::Unauthorized { host, sent } => {
                let hint = if sent { "check the token in" } else { "put a token into" };
                let variable = token_variable_shown(&host);
                Error::new(ErrorKind::Unauthorized, message)
                    .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
            }
            AccessError::Credentials { source, .. } => Error { message, ..Error::from(source) },
        }
    }
}

/// Why a registry gave no usable answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SourceError {
    /// The host has no provider registry, or could not be asked for it.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// The registry affirms that there is no such provider.
    #[error("provider registry {host} does not have a provider named {addr}")]
    NoProvider {
        /// The registry.
        host: Hostname,
        /// The provider.
        addr: ProviderAddr,
    },
    /// The registry knows the provider and lists no release of it.
    #[error("provider registry {host} lists no release of provider {addr}")]
    NoRelease {
        /// The registry.
        host: Hostname,
        /// The provider.
        addr: ProviderAddr,
    },
    /// The registry affirms that there is no such package.
    #[error("provider {addr} {version} is not available for {platform}")]
    NoPackage {
        /// The provider.
        addr: ProviderAddr,
        /// The release.
        version: Version,
        /// The platform.
        platform: Platform,
    },
    /// The checksums or their signature are not where the registry says.
    #[error("{what} of provider {addr} {version} cannot be retrieved: {url} answered 404 Not Found")]
    NoDocument {
        /// `the checksums` or `the signature over the checksums`.
        what: &'static str,
        /// The provider.
        addr: ProviderAddr,
        /// The release.
        version: Version,
        /// Where it should be.
        url: ShownUrl,
    },
    /// The credentials that the host wants are missing, or were of no use.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The registry is not reachable, or answered with an error.
    #[error("asking the registry about provider {addr} failed: {source}")]
    Net {
        /// The provider.
        addr: ProviderAddr,
        /// What happened.
        source: NetError,
    },
    /// An answer that means nothing.
    #[error("the registry's response about provider {addr} cannot be used: {reason}")]
    Answer {
        /// The provider.
        addr: ProviderAddr,
        /// The URL, as it may be shown.
        url: ShownUrl,
        /// What is wrong with it.
        reason: WireError,
    },
    /// The answer is about another platform.
    #[error("the registry's response to a request for {wanted} of provider {addr} has incorrect target {got}")]
    WrongTarget {
        /// The provider.
        addr: ProviderAddr,
        /// The URL, as it may be shown.
        url: ShownUrl,
        /// The platform asked for.
        wanted: Platform,
        /// What the answer says.
        got: String,
    },
    /// A URL that is none, or of another scheme than https and http.
    #[error("the registry's response about provider {addr} has the invalid {field} {text:?}")]
    Url {
        /// The provider.
        addr: ProviderAddr,
        /// The field.
        field: &'static str,
        /// As served.
        text: String,
    },
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        let message = error.to_string();
        match error {
            SourceError::Discovery(error) => error.into(),
            SourceError::NoProvider { addr, .. } => Error::new(ErrorKind::UnknownProvider, message)
                .about(addr)
                .hint("check its source address; `tflock why` shows every place that asks for it"),
            SourceError::NoRelease { .. } | SourceError::NoPackage { .. } => Error::new(ErrorKind::NotFound, message),
            SourceError::NoDocument { url, .. } | SourceError::WrongTarget { url, .. } => {
                Error::new(ErrorKind::NotFound, message).about_url(url.as_str())
            }
            SourceError::Access(error) => error.into(),
            SourceError::Net { source, .. } => {
                let mut error = Error::from(source);
                error.message = message;
                error
            }
            SourceError::Answer { url, reason, .. } => {
                let error = Error::new(ErrorKind::Unavailable, message).about_url(url.as_str());
                match reason {
                    WireError::Json(_) | WireError::Missing(_) | WireError::Page(_) => {
                        error.hint("a proxy or login page may have answered in place of the registry")
                    }
                    _ => error,
                }
            }
            SourceError::Url { .. } => Error::new(ErrorKind::Unavailable, message),
        }
    }
}

//! Provider source addresses: `host/namespace/type`, and patterns of them, as in `include` and `exclude` of installation
//! methods.
//!
//! An address is normalised when it is parsed; below this module no text that means one is passed around. The folder
//! knows nothing of versions, files or registries.
//!
//! Source: `github.com/hashicorp/terraform-registry-address` v0.5.0 and `github.com/opentofu/registry-address/v2`.

mod hostname;
mod similar;
#[cfg(test)]
mod tests;

use std::fmt;

pub use hostname::{Hostname, HostnameError, PartError, normalise_namespace, normalise_part};
pub use similar::{UsedNames, namesake, registry_page, well_known};

use crate::dialect::Dialect;

/// A provider that can be locked: normalised, never built-in, never legacy.
///
/// Ordered by comparison form of the host, then namespace, then type, bytewise and component by component: the order of
/// the blocks in a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProviderAddr {
    host: Hostname,
    namespace: String,
    kind: String,
}

/// What a source string means.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProviderSource {
    /// A provider of a registry.
    Provider(ProviderAddr),
    /// Part of the program, such as `terraform.io/builtin/terraform`; the full text.
    BuiltIn(String),
    /// The namespace `-` of Terraform 0.12; the full text.
    Legacy(String),
}

/// Why a text is not a provider source address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddrError {
    /// Not one to three non-empty parts.
    #[error("provider source {0:?} is not of the form [hostname/][namespace/]name")]
    Shape(String),
    /// The host part is refused.
    #[error("invalid hostname {text:?} in a provider source: {reason}")]
    Host {
        /// The part as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: HostnameError,
    },
    /// The namespace is refused.
    #[error("invalid provider namespace {text:?}: {reason}")]
    Namespace {
        /// The part as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: PartError,
    },
    /// The type is refused.
    #[error("invalid provider type {text:?}: {reason}")]
    Type {
        /// The part as written.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: PartError,
    },
    /// `terraform-provider-…` belongs into names of repositories only.
    #[error(
        "provider source {text:?} has a type with the prefix {prefix:?}, which is valid only in the name of a repository; did you mean {suggestion:?}?"
    )]
    RepositoryPrefix {
        /// The source as written.
        text: String,
        /// What is too much.
        prefix: String,
        /// The source without it.
        suggestion: String,
    },
    /// `terraform-…` is redundant in the type of a provider.
    #[error("provider source {text:?} has a type with the redundant prefix {prefix:?}")]
    RedundantPrefix {
        /// The source as written.
        text: String,
        /// What is too much.
        prefix: String,
    },
    /// The legacy namespace on another host than the default one.
    #[error("the legacy provider namespace \"-\" can be used only with hostname {0}")]
    LegacyNamespace(&'static str),
    /// Built-in or legacy where only a lockable provider will do.
    #[error("provider {0} is built in or legacy and has no entry in a dependency lock file")]
    NotLockable(String),
}

impl ProviderSource {
    /// Parses a source string of configuration; `dialect` gives the default host.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, AddrError> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 3 || parts.iter().any(|part| part.is_empty()) {
            return Err(AddrError::Shape(text.to_owned()));
        }
        let written = parts[parts.len() - 1];
        let kind = normalise_part(written).map_err(|reason| AddrError::Type { text: written.to_owned(), reason })?;
        if parts.len() == 1 {
            return Ok(Self::new(default_host(dialect), "hashicorp".to_owned(), kind, dialect));
        }
        let namespace = parts[parts.len() - 2];
        let host = match parts[..] {
            [host, _, _] => {
                Hostname::parse(host).map_err(|reason| AddrError::Host { text: host.to_owned(), reason })?
            }
            _ => default_host(dialect),
        };
        if namespace == "-" {
            let default = dialect.default_registry_host();
            if host.as_ascii() != default {
                return Err(AddrError::LegacyNamespace(default));
            }
            refuse_prefix(text, &host, namespace, &kind, dialect)?;
            return Ok(Self::Legacy(format!("{host}/-/{kind}")));
        }
        let namespace = normalise_namespace(namespace, dialect)
            .map_err(|reason| AddrError::Namespace { text: namespace.to_owned(), reason })?;
        refuse_prefix(text, &host, &namespace, &kind, dialect)?;
        Ok(Self::new(host, namespace, kind, dialect))
    }

    /// The address that a local name means when nothing gives its source.
    ///
    /// Source: `internal/addrs/provider.go`, `ImpliedProviderForUnqualifiedType`.
    pub fn implied(local_name: &str, dialect: Dialect) -> Result<Self, AddrError> {
        if local_name == "terraform" {
            return Ok(Self::BuiltIn("terraform.io/builtin/terraform".to_owned()));
        }
        let kind =
            normalise_part(local_name).map_err(|reason| AddrError::Type { text: local_name.to_owned(), reason })?;
        Ok(Self::new(default_host(dialect), "hashicorp".to_owned(), kind, dialect))
    }

    /// The provider, if it can be locked.
    pub fn lockable(self) -> Option<ProviderAddr> {
        match self {
            Self::Provider(addr) => Some(addr),
            Self::BuiltIn(_) | Self::Legacy(_) => None,
        }
    }

    fn new(host: Hostname, namespace: String, kind: String, dialect: Dialect) -> Self {
        let addr = ProviderAddr { host, namespace, kind };
        let built_in = addr.namespace == "builtin" && dialect.built_in_hosts().contains(&addr.host.as_ascii());
        if built_in { Self::BuiltIn(addr.to_string()) } else { Self::Provider(addr) }
    }
}

impl fmt::Display for ProviderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(addr) => addr.fmt(f),
            Self::BuiltIn(text) | Self::Legacy(text) => f.write_str(text),
        }
    }
}

impl ProviderAddr {
    /// Parses a source string that must mean a lockable provider.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, AddrError> {
        let source = ProviderSource::parse(text, dialect)?;
        let full = source.to_string();
        source.lockable().ok_or(AddrError::NotLockable(full))
    }

    /// The host of the origin registry.
    pub fn host(&self) -> &Hostname {
        &self.host
    }

    /// The namespace, such as `hashicorp`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The type, such as `aws`.
    pub fn type_name(&self) -> &str {
        &self.kind
    }

    /// The address as users write it: without the host where that is the default one.
    pub fn short(&self, dialect: Dialect) -> String {
        if self.host.as_ascii() == dialect.default_registry_host() {
            format!("{}/{}", self.namespace, self.kind)
        } else {
            self.to_string()
        }
    }

    /// The same provider at another registry, as when moving from one tool to the other.
    #[must_use]
    pub fn at(&self, host: Hostname) -> Self {
        Self { host, ..self.clone() }
    }
}

/// The full form with the display form of the host, as in the labels of a lock file.
impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.kind)
    }
}

/// The host of source addresses that name none.
pub fn default_host(dialect: Dialect) -> Hostname {
    match Hostname::parse(dialect.default_registry_host()) {
        Ok(host) => host,
        Err(_) => unreachable!("the default registry hosts are valid"),
    }
}

fn refuse_prefix(text: &str, host: &Hostname, namespace: &str, kind: &str, dialect: Dialect) -> Result<(), AddrError> {
    for prefix in dialect.redundant_type_prefixes() {
        let Some(rest) = kind.strip_prefix(prefix) else { continue };
        return Err(match rest.strip_prefix("provider-").filter(|rest| normalise_part(rest).is_ok()) {
            Some(rest) => AddrError::RepositoryPrefix {
                text: text.to_owned(),
                prefix: format!("{prefix}provider-"),
                suggestion: ProviderAddr { host: host.clone(), namespace: namespace.to_owned(), kind: rest.to_owned() }
                    .short(dialect),
            },
            None => AddrError::RedundantPrefix { text: text.to_owned(), prefix: (*prefix).to_owned() },
        });
    }
    Ok(())
}

const WILDCARD: &str = "*";

/// An address in which parts from the right may be `*`: `host/namespace/*`.
///
/// Ordered as addresses are, a wildcard before anything it covers.
///
/// Source: `internal/getproviders/multi_source.go`, `ParseMultiSourceMatchingPatterns`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddrPattern {
    host: Option<Hostname>,
    namespace: Option<String>,
    kind: Option<String>,
}

/// Why a text is not a pattern of addresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Not two or three parts.
    #[error("invalid provider matching pattern {0:?}: must have either two or three slash-separated segments")]
    Shape(String),
    /// The host part is refused.
    #[error("invalid hostname in provider matching pattern {text:?}: {reason}")]
    Host {
        /// The pattern.
        text: String,
        /// The rule it breaks.
        #[source]
        reason: HostnameError,
    },
    /// The namespace is refused.
    #[error("invalid provider namespace {part:?} in provider matching pattern {text:?}: {reason}")]
    Namespace {
        /// The pattern.
        text: String,
        /// The part as written.
        part: String,
        /// The rule it breaks.
        #[source]
        reason: PartError,
    },
    /// The type is refused.
    #[error("invalid provider type {part:?} in provider matching pattern {text:?}: {reason}")]
    Type {
        /// The pattern.
        text: String,
        /// The part as written.
        part: String,
        /// The rule it breaks.
        #[source]
        reason: PartError,
    },
    /// `*` as host of something definite.
    #[error(
        "invalid provider matching pattern {0:?}: hostname can be a wildcard only if both namespace and provider type are also wildcards"
    )]
    HostWildcard(String),
    /// `*` as namespace of something definite.
    #[error(
        "invalid provider matching pattern {0:?}: namespace can be a wildcard only if the provider type is also a wildcard"
    )]
    NamespaceWildcard(String),
}

impl AddrPattern {
    /// Parses a pattern of two or three parts; `dialect` gives the host of those with two.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, PatternError> {
        let whole = || text.to_owned();
        let (host, namespace, kind) = match text.split('/').collect::<Vec<_>>()[..] {
            [namespace, kind] => (Some(default_host(dialect)), namespace, kind),
            [WILDCARD, namespace, kind] => (None, namespace, kind),
            [host, namespace, kind] => {
                let host = Hostname::parse(host).map_err(|reason| PatternError::Host { text: whole(), reason })?;
                (Some(host), namespace, kind)
            }
            _ => return Err(PatternError::Shape(whole())),
        };
        let kind = part_of(kind, normalise_part).map_err(|reason| PatternError::Type {
            text: whole(),
            part: kind.to_owned(),
            reason,
        })?;
        let normal = |part: &str| normalise_namespace(part, dialect);
        let namespace = part_of(namespace, normal).map_err(|reason| PatternError::Namespace {
            text: whole(),
            part: namespace.to_owned(),
            reason,
        })?;
        if host.is_none() && (namespace.is_some() || kind.is_some()) {
            return Err(PatternError::HostWildcard(whole()));
        }
        if namespace.is_none() && kind.is_some() {
            return Err(PatternError::NamespaceWildcard(whole()));
        }
        Ok(Self { host, namespace, kind })
    }

    /// The address, if the pattern covers no other.
    pub fn only(&self) -> Option<ProviderAddr> {
        // The text names the host.
        self.is_exact().then(|| ProviderAddr::parse(&self.to_string(), Dialect::Terraform).ok()).flatten()
    }

    /// True if the pattern covers an address.
    pub fn matches(&self, addr: &ProviderAddr) -> bool {
        self.host.as_ref().is_none_or(|host| host == addr.host())
            && self.namespace.as_ref().is_none_or(|namespace| namespace == addr.namespace())
            && self.kind.as_ref().is_none_or(|kind| kind == addr.type_name())
    }

    /// True if the pattern covers every address that the other one covers.
    pub fn covers(&self, other: &Self) -> bool {
        fn part<T: PartialEq>(own: Option<&T>, other: Option<&T>) -> bool {
            own.is_none() || own == other
        }
        // What differs most often comes first.
        part(self.kind.as_ref(), other.kind.as_ref())
            && part(self.namespace.as_ref(), other.namespace.as_ref())
            && part(self.host.as_ref(), other.host.as_ref())
    }

    /// True if the pattern covers a provider of a namespace at a host.
    pub fn reaches(&self, host: &str, namespace: &str) -> bool {
        self.host.as_ref().is_none_or(|own| own.as_ascii() == host)
            && self.namespace.as_ref().is_none_or(|own| own == namespace)
    }

    /// The patterns that cover all that this one covers, itself first, then ever wider ones.
    pub fn widened(self) -> [Self; 4] {
        let kinds = Self { kind: None, ..self.clone() };
        let namespaces = Self { namespace: None, ..kinds.clone() };
        let hosts = Self { host: None, ..namespaces.clone() };
        [self, kinds, namespaces, hosts]
    }

    /// The host in the form that is compared.
    pub fn host_text(&self) -> Option<String> {
        self.host.as_ref().map(|host| host.as_ascii().to_owned())
    }

    /// The namespace, if the pattern has one.
    pub fn namespace_text(&self) -> Option<String> {
        self.namespace.clone()
    }

    /// The type, if the pattern has one.
    pub fn type_text(&self) -> Option<String> {
        self.kind.clone()
    }

    /// True without a wildcard, so at most one address matches.
    pub fn is_exact(&self) -> bool {
        self.kind.is_some()
    }
}

fn part_of(part: &str, normal: impl Fn(&str) -> Result<String, PartError>) -> Result<Option<String>, PartError> {
    if part == WILDCARD { Ok(None) } else { normal(part).map(Some) }
}

impl From<ProviderAddr> for AddrPattern {
    fn from(addr: ProviderAddr) -> Self {
        Self { host: Some(addr.host), namespace: Some(addr.namespace), kind: Some(addr.kind) }
    }
}

/// The full form, always with three parts.
impl fmt::Display for AddrPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.as_ref().map_or(WILDCARD, Hostname::as_display);
        let namespace = self.namespace.as_deref().unwrap_or(WILDCARD);
        write!(f, "{host}/{namespace}/{}", self.kind.as_deref().unwrap_or(WILDCARD))
    }
}

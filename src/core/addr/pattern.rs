//! Patterns of addresses, as in `include` and `exclude` of installation methods.

use std::fmt;

use super::{Hostname, HostnameError, PartError, ProviderAddr, default_host, normalise_part};
use crate::dialect::Dialect;

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
        let kind =
            parse_part(kind).map_err(|reason| PatternError::Type { text: whole(), part: kind.to_owned(), reason })?;
        let namespace = parse_part(namespace).map_err(|reason| PatternError::Namespace {
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

fn parse_part(part: &str) -> Result<Option<String>, PartError> {
    if part == WILDCARD { Ok(None) } else { normalise_part(part).map(Some) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, addr: &str) -> bool {
        let addr = ProviderAddr::parse(addr, Dialect::Terraform).unwrap();
        AddrPattern::parse(pattern, Dialect::Terraform).unwrap().matches(&addr)
    }

    #[test]
    fn wildcards_are_at_the_right() {
        assert!(matches("*/*/*", "example.com/a/b"));
        assert!(matches("Example.com/*/*", "example.com/a/b"));
        assert!(matches("example.com/A/*", "example.com/a/b"));
        assert!(matches("a/b", "registry.terraform.io/a/b"));
        assert!(matches("*/*", "a/b"));
        assert!(!matches("*/*", "example.com/a/b"));
        assert!(!matches("example.com/a/*", "example.com/c/b"));
        assert!(!matches("a/b", "registry.opentofu.org/a/b"));
    }

    #[test]
    fn refusals() {
        let error = |text| AddrPattern::parse(text, Dialect::Terraform).unwrap_err();
        assert_eq!(error("aws"), PatternError::Shape("aws".to_owned()));
        assert_eq!(error("a/b/c/d"), PatternError::Shape("a/b/c/d".to_owned()));
        assert_eq!(error("*/a/*"), PatternError::HostWildcard("*/a/*".to_owned()));
        assert_eq!(error("*/*/a"), PatternError::HostWildcard("*/*/a".to_owned()));
        assert_eq!(error("h.com/*/a"), PatternError::NamespaceWildcard("h.com/*/a".to_owned()));
        assert_eq!(error("*/a"), PatternError::NamespaceWildcard("*/a".to_owned()));
        assert!(matches!(error("a/"), PatternError::Type { .. }));
        assert!(matches!(error("a*/b"), PatternError::Namespace { .. }));
        assert!(matches!(error("a..b/a/b"), PatternError::Host { .. }));
    }

    #[test]
    fn patterns_cover_patterns() {
        let covers = |one, other| {
            let parse = |text| AddrPattern::parse(text, Dialect::Terraform).unwrap();
            parse(one).covers(&parse(other))
        };
        assert!(covers("a/*", "a/b") && covers("a/*", "a/*") && covers("*/*/*", "x.y/*/*"));
        assert!(!covers("a/b", "a/*") && !covers("a/*", "b/*") && !covers("a.b/c/*", "c/*"));
    }

    #[test]
    fn text_is_full() {
        let text = |pattern| AddrPattern::parse(pattern, Dialect::OpenTofu).unwrap().to_string();
        assert_eq!(text("Acme/*"), "registry.opentofu.org/acme/*");
        assert_eq!(text("*/*/*"), "*/*/*");
        let addr = ProviderAddr::parse("acme/x", Dialect::OpenTofu).unwrap();
        assert!(AddrPattern::from(addr.clone()).matches(&addr));
        assert!(AddrPattern::from(addr).is_exact());
    }
}

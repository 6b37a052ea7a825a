//! Where a module comes from: next door, a registry, or anywhere else.
//!
//! Source: `internal/addrs/module_source.go`, `github.com/hashicorp/terraform-registry-address`, `module.go`.
//!
//! Texts of URLs, escaped as Go's `net/url` does it.

mod remote;

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use url::Url;

pub use remote::{RemoteModule, host_of};

use crate::addr::{Hostname, default_host};
use crate::dialect::Dialect;
use crate::redact;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleSource {
    /// A path relative to the calling module, cleaned, beginning with `./` or `../`.
    Local(String),
    Registry(RegistryModule),
    Remote(RemoteModule),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryModule {
    pub host: Hostname,
    pub namespace: String,
    pub name: String,
    /// The third part, such as `aws`.
    pub system: String,
    /// The directory within the package; empty for its top.
    pub subdir: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleSourceError {
    #[error("the source is empty")]
    Empty,
    /// Neither local nor anything that can be downloaded; without secrets.
    #[error("{0:?} names no way to get the module{path}", path = as_path(.0))]
    Unknown(String),
    /// `github.com/` with less than a repository behind it; without secrets.
    #[error("{0:?} is not of the form github.com/OWNER/REPOSITORY")]
    GitHub(String),
    /// The directory behind `//` is above the package.
    #[error("the directory {0:?} leads out of the module's package")]
    OutsidePackage(String),
    /// Sources with a version must name a registry; without secrets.
    #[error("{0:?} has a version and so must be a module of a registry, [HOST/]NAMESPACE/NAME/SYSTEM")]
    NotRegistry(String),
}

/// What to write for a path, where the text may be meant as one.
fn as_path(text: &str) -> String {
    let is_address = text.contains("::") || text.contains("://") || text.starts_with("//");
    if is_address { String::new() } else { format!("; if it is a path, write \"./{text}\"") }
}

impl ModuleSource {
    /// Parses the source of a call; a call with a version must name a registry.
    pub fn parse(text: &str, versioned: bool, dialect: Dialect) -> Result<Self, ModuleSourceError> {
        if text.is_empty() {
            return Err(ModuleSourceError::Empty);
        }
        let local = is_local(text);
        if !local && let Some(module) = RegistryModule::parse(text, dialect) {
            return Ok(Self::Registry(module));
        }
        if versioned {
            return Err(ModuleSourceError::NotRegistry(redact::module_source(text)));
        }
        if local {
            return Ok(Self::Local(clean_local(text)));
        }
        RemoteModule::parse(text).map(Self::Remote)
    }

    /// The package that the module is in, as module locks know it: without directory, user and secret, its parameters in
    /// order, with digests in the place of values that may be secret. None for local modules, which are in the package of their caller.
    pub fn package(&self) -> Option<String> {
        match self {
            Self::Local(_) => None,
            Self::Registry(module) => Some(RegistryModule { subdir: String::new(), ..module.clone() }.to_string()),
            Self::Remote(module) => Some(redact::package_key(module.package())),
        }
    }

    /// The host that it comes from, as written: of the registry, or of the address. `None` for local modules.
    pub fn host(&self) -> Option<String> {
        match self {
            Self::Local(_) => None,
            Self::Registry(module) => Some(module.host.as_ascii().to_owned()),
            Self::Remote(module) => module.host(),
        }
    }

    pub fn reference(&self) -> Option<String> {
        let Self::Remote(module) = self else { return None };
        let (_, query) = module.package().strip_prefix("git::")?.split_once('?')?;
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == "ref").map(|(_, value)| value.into_owned())
    }

    /// The module of the same name at the default registry of the other tool; none for modules of other places.
    pub fn of_other_tool(&self, dialect: Dialect) -> Option<Self> {
        let Self::Registry(module) = self else { return None };
        let is_default = module.host.as_ascii() == dialect.default_registry_host();
        is_default.then(|| Self::Registry(RegistryModule { host: default_host(dialect.other()), ..module.clone() }))
    }

    /// True if `modules.json` records this source: both in the one form, as the tools compare them.
    ///
    /// Source: `internal/modsdir/manifest.go`, `ReadManifestSnapshot`.
    pub fn matches_record(&self, recorded: &str, dialect: Dialect) -> bool {
        match Self::parse(recorded, false, dialect) {
            Ok(recorded) => *self == recorded,
            Err(_) => false,
        }
    }

    /// The address in its one form, as `modules.json` records it. It may contain a secret; `Display` shows none.
    pub fn address(&self) -> String {
        match self {
            Self::Remote(module) => module.address(),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(text) => f.write_str(text),
            Self::Remote(module) => module.fmt(f),
            Self::Registry(module) => module.fmt(f),
        }
    }
}

impl RegistryModule {
    /// `None` if the text is something else.
    fn parse(text: &str, dialect: Dialect) -> Option<Self> {
        let (package, subdir) = text.split_once("//").unwrap_or((text, ""));
        let parts: Vec<&str> = package.split('/').collect();
        let (host, namespace, name, system) = match parts[..] {
            [namespace, name, system] => (dialect.default_registry_host(), namespace, name, system),
            [host, namespace, name, system] if host.contains('.') => (host, namespace, name, system),
            _ => return None,
        };
        let host = Hostname::parse(host).ok()?;
        if matches!(host.as_ascii(), "github.com" | "bitbucket.org") || !is_name(namespace) || !is_name(name) {
            return None;
        }
        let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if system.is_empty() || system.len() > 64 || !system.bytes().all(lower) {
            return None;
        }
        let subdir = if subdir.is_empty() { String::new() } else { clean(subdir) };
        if subdir == ".." || subdir.starts_with("../") {
            return None;
        }
        let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
        Some(Self { host, namespace, name, system, subdir })
    }
}

/// The full form, with the host always written.
impl fmt::Display for RegistryModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host, self.namespace, self.name, self.system)?;
        if self.subdir.is_empty() { Ok(()) } else { write!(f, "//{}", self.subdir) }
    }
}

/// True for `[HOST/]NAMESPACE/NAME`, perhaps with a directory behind `//`: a package of a component registry, in a stack.
///
/// Source: `github.com/hashicorp/go-slug`, `sourceaddrs/source.go`; `terraform-registry-address`, `component.go`.
pub fn is_of_component_registry(text: &str) -> bool {
    let (package, _) = text.split_once("//").unwrap_or((text, ""));
    let parts: Vec<&str> = package.split('/').collect();
    match parts[..] {
        [namespace, name] => is_name(namespace) && is_name(name),
        [host, namespace, name] => {
            let is_host = host.contains('.') && !matches!(host, "github.com" | "bitbucket.org");
            is_host && Hostname::parse(host).is_ok() && is_name(namespace) && is_name(name)
        }
        _ => false,
    }
}

/// Letters and digits, in between also dashes and underscores, 64 at most.
fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let outer = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    (1..=64).contains(&text.len())
        && text.bytes().all(inner)
        && outer(text.bytes().next())
        && outer(text.bytes().next_back())
}

fn is_local(text: &str) -> bool {
    ["./", "../", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix))
}

fn clean_local(text: &str) -> String {
    let path = clean(&text.replace('\\', "/"));
    match path.as_str() {
        "." => "./".to_owned(),
        ".." => "../".to_owned(),
        _ if path.starts_with("../") => path,
        _ => format!("./{path}"),
    }
}

/// A path without `.`, inner `..` and doubled slashes; `.` if nothing is left.
///
/// Source: Go's `path.Clean`.
fn clean(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if !root.is_empty() => {}
            _ => parts.push(part),
        }
    }
    let cleaned = format!("{root}{}", parts.join("/"));
    if cleaned.is_empty() { ".".to_owned() } else { cleaned }
}

const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

const PATH: &AsciiSet = &QUERY
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

/// A path with everything escaped that has another meaning, or none, in a URL.
fn path(text: &[u8]) -> String {
    percent_encode(text, PATH).to_string()
}

/// A path unchanged if that is legal, else escaped.
fn legal_path(text: &str) -> Option<String> {
    let plain = unescape(text)?;
    let is_legal = |byte: u8| matches!(byte, b'!' | b'\''..=b'*' | b'[' | b']' | b'%') || path(&[byte]).len() == 1;
    Some(if text.bytes().all(is_legal) { text.to_owned() } else { path(&plain) })
}

/// The bytes that a text means; `None` if a `%` is not followed by two hexadecimal digits.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let is_hex = |digits: &str| digits.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    text.split('%').skip(1).all(is_hex).then(|| percent_decode_str(text).collect())
}

/// A query sorted by its keys, each key and value escaped again; `None` if it is malformed.
fn query(text: &str) -> Option<String> {
    let plain = |text: &str| unescape(&text.replace('+', " "));
    let mut pairs = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if pair.contains(';') {
            return None;
        }
        pairs.push((plain(key)?, plain(value)?));
    }
    // Values of one key keep their order.
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let escaped = |text: &[u8]| percent_encode(text, QUERY).to_string().replace("%20", "+");
    let pairs = pairs.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value)));
    Some(pairs.collect::<Vec<_>>().join("&"))
}

/// True if a text is a URL with a scheme.
fn is_url(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control()) && Url::parse(text).is_ok() && unescape(text).is_some()
}

#[cfg(test)]
mod tests;

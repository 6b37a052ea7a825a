//! Where a module comes from: next door, a registry, or anywhere else.
//!
//! Source: `internal/addrs/module_source.go`, `github.com/hashicorp/terraform-registry-address`, `module.go`.

use std::fmt;

use crate::addr::{Hostname, default_host};
use crate::dialect::Dialect;

/// The source address of a module call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleSource {
    /// A path relative to the calling module, cleaned, beginning with `./` or `../`.
    Local(String),
    /// A module of a registry.
    Registry(RegistryModule),
    /// An address for the downloaders, as written.
    Remote(String),
}

/// A module of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryModule {
    /// The registry.
    pub host: Hostname,
    /// The first part.
    pub namespace: String,
    /// The second part.
    pub name: String,
    /// The third part, such as `aws`.
    pub system: String,
    /// The directory within the package; empty for its top.
    pub subdir: String,
}

/// Why a text is not the source of a module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModuleSourceError {
    /// Nothing.
    #[error("the source is empty")]
    Empty,
    /// Neither local nor anything that can be downloaded.
    #[error("{0:?} names no way to get the module; if it is a path, write \"./{0}\"")]
    Unknown(String),
    /// Sources with a version must name a registry.
    #[error("{0:?} has a version and so must be a module of a registry, [HOST/]NAMESPACE/NAME/SYSTEM")]
    NotRegistry(String),
}

impl ModuleSource {
    /// Parses the source of a call; a call with a version must name a registry.
    ///
    /// # Errors
    ///
    /// [`ModuleSourceError`].
    pub fn parse(text: &str, versioned: bool, dialect: Dialect) -> Result<Self, ModuleSourceError> {
        if text.is_empty() {
            return Err(ModuleSourceError::Empty);
        }
        let local = is_local(text);
        if !local && let Some(module) = RegistryModule::parse(text, dialect) {
            return Ok(Self::Registry(module));
        }
        if versioned {
            return Err(ModuleSourceError::NotRegistry(text.to_owned()));
        }
        if local {
            return Ok(Self::Local(clean_local(text)));
        }
        if is_remote(text) {
            Ok(Self::Remote(text.to_owned()))
        } else {
            Err(ModuleSourceError::Unknown(text.to_owned()))
        }
    }

    /// The module of the same name at the default registry of the other tool; none for modules of other places.
    pub fn of_other_tool(&self, dialect: Dialect) -> Option<Self> {
        let Self::Registry(module) = self else { return None };
        let is_default = module.host.as_ascii() == dialect.default_registry_host();
        is_default.then(|| Self::Registry(RegistryModule { host: default_host(dialect.other()), ..module.clone() }))
    }

    /// True if a record of `modules.json` with this source can be of this module.
    ///
    /// The tools record remote sources in a longer form than they are written in; forms are compared without what
    /// they add.
    pub fn matches_record(&self, recorded: &str) -> bool {
        match self {
            Self::Local(path) => path == recorded,
            Self::Registry(module) => module.to_string() == recorded,
            Self::Remote(text) => text == recorded || remote_core(text) == remote_core(recorded),
        }
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(text) | Self::Remote(text) => f.write_str(text),
            Self::Registry(module) => module.fmt(f),
        }
    }
}

impl RegistryModule {
    /// None if the text is something else.
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
        let subdir = clean(subdir);
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

/// What go-getter can find: a forced method, an URL, a shorthand of a known host, or an absolute path.
fn is_remote(text: &str) -> bool {
    let known = ["github.com/", "gitlab.com/", "bitbucket.org/", "git@", "/"];
    text.contains("::")
        || text.contains("://")
        || known.iter().any(|prefix| text.starts_with(prefix))
        || text.contains(".amazonaws.com/")
        || text.contains("googleapis.com/")
        || text.as_bytes().get(1) == Some(&b':')
}

fn clean_local(text: &str) -> String {
    let path = clean(&text.replace('\\', "/"));
    match path.as_str() {
        "" => "./".to_owned(),
        ".." => "../".to_owned(),
        _ if path.starts_with("../") => path,
        _ => format!("./{path}"),
    }
}

/// A relative path without `.`, inner `..` and doubled slashes.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A remote source without method, scheme, user and `.git`, which the tools add to what was written.
fn remote_core(text: &str) -> String {
    let text = text.split_once("::").map_or(text, |(_, rest)| rest);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = match text.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest.replacen(':', "/", 1),
        _ => text.to_owned(),
    };
    text.replacen(".git//", "//", 1).replacen(".git?", "?", 1).trim_end_matches(".git").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, ModuleSourceError> {
        ModuleSource::parse(text, false, Dialect::Terraform).map(|source| {
            let kind = match source {
                ModuleSource::Local(_) => "local",
                ModuleSource::Registry(_) => "registry",
                ModuleSource::Remote(_) => "remote",
            };
            format!("{kind} {source}")
        })
    }

    #[test]
    fn the_three_kinds_are_told_apart() {
        for (text, expected) in [
            ("./m", "local ./m"),
            ("./", "local ./"),
            ("../", "local ../"),
            (".//a/./b/../c/", "local ./a/c"),
            ("../../x", "local ../../x"),
            ("./a/../../b", "local ../b"),
            ("..\\x", "local ../x"),
            ("a/b/c", "registry registry.terraform.io/a/b/c"),
            ("a/b/c//sub/x", "registry registry.terraform.io/a/b/c//sub/x"),
            ("Example.com:8443/a_b/b/aws", "registry example.com:8443/a_b/b/aws"),
            ("127.0.0.1:18443/acme/net/lab", "registry 127.0.0.1:18443/acme/net/lab"),
            ("github.com/a/b/c", "remote github.com/a/b/c"),
            ("github.com/a/b", "remote github.com/a/b"),
            ("git::https://example.com/x.git?ref=v1", "remote git::https://example.com/x.git?ref=v1"),
            ("git@github.com:a/b.git", "remote git@github.com:a/b.git"),
            ("/abs/path", "remote /abs/path"),
            ("https://example.com/x.zip", "remote https://example.com/x.zip"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["m", "a/b", "example.com/b/c", "a/b/AWS", "localhost/a/b/c", "", ".", " ./m"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_version_asks_for_a_registry() {
        for text in ["./x", "github.com/a/b", "git::https://example.com/x.git"] {
            let parsed = ModuleSource::parse(text, true, Dialect::Terraform);
            assert_eq!(parsed, Err(ModuleSourceError::NotRegistry(text.to_owned())));
        }
        let parsed = ModuleSource::parse("a/b/c", true, Dialect::OpenTofu).unwrap();
        assert_eq!(parsed.to_string(), "registry.opentofu.org/a/b/c");
    }

    #[test]
    fn records_hold_a_longer_form() {
        let matches = |text: &str, recorded: &str| {
            ModuleSource::parse(text, false, Dialect::Terraform).unwrap().matches_record(recorded)
        };
        assert!(matches("a/b/c", "registry.terraform.io/a/b/c"));
        assert!(!matches("a/b/c", "registry.terraform.io/a/b/c//sub"));
        assert!(matches("github.com/a/b//x?ref=v1", "git::https://github.com/a/b.git//x?ref=v1"));
        assert!(matches("git@github.com:a/b.git", "git::ssh://git@github.com/a/b.git"));
        assert!(!matches("github.com/a/b?ref=v1", "git::https://github.com/a/b.git?ref=v2"));
    }
}

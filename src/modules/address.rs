//! Addresses of packages that are neither local nor in a registry: which of them are fetched, and how; and the directory of a module
//! within its package, where `*` means the one entry that fits.
//!
//! Source: terraform `internal/getmodules/getter.go`, for the methods that there are; `github.com/hashicorp/go-getter` v1, `SubdirGlob`;
//! Go's `path/filepath`, `Glob`.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use globset::GlobBuilder;
use url::Url;

use crate::config::{ModuleSource, ModuleSourceError, RemoteModule, host_of};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::net::ShownUrl;
use crate::redact;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FetchMethod {
    Git,
    Archive,
    Oci,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    pub method: FetchMethod,
    /// Where it is, with its parameters, without directory.
    pub url: Url,
    /// The directory within the package, with `*` where the tools expand it; empty for its top.
    pub subdir: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("the address {0:?} cannot be understood")]
    Syntax(String),
    /// `s3::`, `gcs::`, `hg::` and the like.
    #[error("modules cannot be fetched by {0:?}")]
    Method(String),
    #[error("the address {0:?} names a file or directory of this machine outside of the working tree")]
    File(String),
    /// `http`, `git` and the like: anyone on the network path can change the answer.
    #[error("the address {0:?} is not encrypted")]
    Unencrypted(String),
    /// `..` above the top of the package.
    #[error("the directory {0:?} leads out of the package")]
    Subdir(String),
    /// A `ref` that git would take for an option, or that is no name.
    #[error("the ref {0:?} is neither a branch nor a tag nor a commit")]
    Reference(String),
}

impl RemoteAddress {
    /// An address in any of its forms.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        match ModuleSource::parse(text, false, Dialect::Terraform) {
            Ok(ModuleSource::Remote(module)) => Self::of(&module),
            Err(ModuleSourceError::OutsidePackage(subdir)) => Err(AddressError::Subdir(subdir)),
            _ => Err(AddressError::Syntax(redact::module_source(text))),
        }
    }

    /// The address of a call; what someone else names is no file of this machine.
    pub fn of(module: &RemoteModule) -> Result<Self, AddressError> {
        Self::of_call(module, None)
    }

    /// The address of a call, which may name a git repository inside of the working tree.
    pub fn of_call(module: &RemoteModule, work_tree: Option<&Path>) -> Result<Self, AddressError> {
        let (forced, place) = module.method();
        let url = Url::parse(place).map_err(|_| AddressError::Syntax(module.to_string()))?;
        let own = Self { method: FetchMethod::Git, url, subdir: String::new() };
        let is_own = forced == Some("git") && own.is_within(work_tree);
        let method = if is_own { FetchMethod::Git } else { method_of(forced, &own.url, module)? };
        if method == FetchMethod::Git {
            check_reference(&own.url)?;
        }
        Ok(Self { method, subdir: clean_subdir(module.subdir())?, ..own })
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        self.url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    }

    /// True if it names its content by a digest, so the content cannot change.
    pub fn is_fixed(&self) -> bool {
        let strong = |checksum: &str| checksum.starts_with("sha256:") || checksum.starts_with("sha512:");
        match self.method {
            FetchMethod::Git => false,
            FetchMethod::Archive => {
                let checksum = self.parameter("checksum");
                checksum.is_some_and(|it| strong(&it) || !it.contains(':') && it.len() >= 64)
            }
            FetchMethod::Oci => self.parameter("digest").is_some(),
        }
    }

    /// The same at one commit, in a git repository.
    #[must_use]
    pub fn at_commit(mut self, commit: &str) -> Self {
        let others: Vec<(String, String)> =
            self.url.query_pairs().filter(|(key, _)| key != "ref").map(|(k, v)| (k.into(), v.into())).collect();
        self.url.query_pairs_mut().clear().extend_pairs(others).append_pair("ref", commit);
        self
    }

    /// What module locks record of a location: without user and secret.
    pub fn location(&self) -> String {
        let method = if self.method == FetchMethod::Git { "git::" } else { "" };
        let package = redact::package(&format!("{method}{}", self.url));
        let (place, query) = package
            .split_once('?')
            .map_or((package.as_str(), String::new()), |(place, query)| (place, format!("?{query}")));
        let subdir = if self.subdir.is_empty() { String::new() } else { format!("//{}", self.subdir) };
        format!("{place}{subdir}{query}")
    }

    /// The URL to request, without the parameters for the downloader.
    pub fn plain_url(&self) -> Url {
        let ours: &[&str] = match self.method {
            FetchMethod::Git => &["ref", "depth", "sshkey"],
            FetchMethod::Archive => &["archive", "checksum", "filename"],
            FetchMethod::Oci => &["tag", "digest"],
        };
        let mut plain = self.url.clone();
        let kept: Vec<(String, String)> = self
            .url
            .query_pairs()
            .filter(|(key, _)| !ours.contains(&&**key))
            .map(|(k, v)| (k.into(), v.into()))
            .collect();
        plain.set_query(None);
        if !kept.is_empty() {
            plain.query_pairs_mut().extend_pairs(kept);
        }
        plain
    }

    /// True for a directory of this machine that is inside of a working tree, links resolved. What is left of its parameters
    /// would be part of the path for git.
    pub(super) fn is_within(&self, work_tree: Option<&Path>) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        let url = Some(self.plain_url()).filter(|url| url.scheme() == "file");
        let place = url.filter(|url| url.query().is_none() && url.fragment().is_none());
        let place = place.and_then(|url| url.to_file_path().ok()).and_then(|path| real(&path));
        place.zip(work_tree.and_then(real)).is_some_and(|(place, tree)| place.starts_with(tree))
    }

    /// The host to contact, with its port if one is named.
    pub fn host(&self) -> Option<String> {
        host_of(&self.url)
    }

    /// The host of the file of checksums that it names, if one.
    pub(super) fn host_of_checksums(&self) -> Option<String> {
        host_of(&Url::parse(self.parameter("checksum")?.strip_prefix("file:")?).ok()?)
    }

    /// What means the package in records and messages: without directory, user and secret, its parameters sorted.
    pub fn package(&self) -> String {
        let mut url = self.url.clone();
        let mut pairs: Vec<(String, String)> = url.query_pairs().map(|(k, v)| (k.into(), v.into())).collect();
        pairs.retain(|(key, _)| key != "sshkey" && key != "depth");
        pairs.sort();
        url.set_query(None);
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        let shown = ShownUrl::new(&url);
        match self.method {
            FetchMethod::Git => format!("git::{}", shown.as_str()),
            FetchMethod::Archive | FetchMethod::Oci => shown.as_str().to_owned(),
        }
    }
}

/// The package with the directory.
impl fmt::Display for RemoteAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.package();
        let (place, query) = package.split_once('?').map_or((package.as_str(), None), |(a, b)| (a, Some(b)));
        f.write_str(place)?;
        if !self.subdir.is_empty() {
            write!(f, "//{}", self.subdir)?;
        }
        query.map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}

/// Joins the directory of a location and that of the call.
pub(super) fn join_subdirs(outer: &str, inner: &str) -> Result<String, AddressError> {
    clean_subdir(&format!("{outer}/{inner}"))
}

fn clean_subdir(text: &str) -> Result<String, AddressError> {
    let mut parts: Vec<&str> = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| AddressError::Subdir(text.trim_start_matches('/').to_owned()))?;
            }
            _ => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

fn method_of(forced: Option<&str>, url: &Url, module: &RemoteModule) -> Result<FetchMethod, AddressError> {
    match (forced, url.scheme()) {
        (None | Some("git" | "http" | "https" | "file"), "file") => Err(AddressError::File(module.to_string())),
        (Some("git"), "https" | "ssh") => Ok(FetchMethod::Git),
        (None | Some("http" | "https"), "https") => Ok(FetchMethod::Archive),
        (None, "oci") => Ok(FetchMethod::Oci),
        (None | Some("git" | "http" | "https"), "http" | "git") => Err(AddressError::Unencrypted(module.to_string())),
        (forced, scheme) => Err(AddressError::Method(forced.unwrap_or(scheme).to_owned())),
    }
}

/// What git would not read as a name must not reach it.
fn check_reference(url: &Url) -> Result<(), AddressError> {
    let Some((_, reference)) = url.query_pairs().find(|(key, _)| key == "ref") else { return Ok(()) };
    let odd = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let bad =
        reference.starts_with('-') || reference.contains(odd) || reference.contains("..") || reference.contains("@{");
    if bad { Err(AddressError::Reference(reference.into_owned())) } else { Ok(()) }
}

pub(super) fn expand(tree: &Path, subdir: &str, source: &str) -> Result<PathBuf, Error> {
    let missing = |what: &str| {
        Error::new(ErrorKind::NotFound, format!("the module package from {source} has {what} {subdir:?}"))
            .hint("correct what follows // in the source of the module call")
    };
    let mut found = vec![PathBuf::new()];
    for part in subdir.split('/').filter(|part| !part.is_empty()) {
        found = if part.contains(['*', '?', '[']) {
            found.iter().flat_map(|path| matches(tree, path, part)).collect()
        } else {
            found.into_iter().map(|path| path.join(part)).filter(|path| tree.join(path).exists()).collect()
        };
    }
    let path = match &found[..] {
        [] => return Err(missing("no directory")),
        [path] => tree.join(path),
        _ => return Err(missing("several entries that fit")),
    };
    let real = fs::canonicalize(&path).and_then(|real| Ok((real, fs::canonicalize(tree)?)));
    match real {
        Ok((real, top)) if real.starts_with(&top) && real.is_dir() => Ok(path),
        Ok((real, _)) if real.is_dir() => Err(Error::new(
            ErrorKind::Package,
            format!("the directory {subdir:?} leads out of the module package from {source}"),
        )),
        _ => Err(missing("no directory")),
    }
}

/// The entries of a directory whose names fit a pattern.
fn matches(tree: &Path, path: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() else { return Vec::new() };
    let matcher = glob.compile_matcher();
    let entries = fs::read_dir(tree.join(path)).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name| matcher.is_match(name)).map(|name| path.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(FetchMethod, String, String), AddressError> {
        RemoteAddress::parse(text).map(|address| (address.method, address.url.to_string(), address.subdir))
    }

    #[test]
    fn all_forms_of_one_thing() {
        let git = |url: &str, subdir: &str| Ok((FetchMethod::Git, url.to_owned(), subdir.to_owned()));
        let archive = |url: &str, subdir: &str| Ok((FetchMethod::Archive, url.to_owned(), subdir.to_owned()));
        for (text, expected) in [
            ("git::https://a.example/x.git", git("https://a.example/x.git", "")),
            ("git::https://a.example/x.git//m/n?ref=v1&depth=1", git("https://a.example/x.git?ref=v1&depth=1", "m/n")),
            ("github.com/acme/x", git("https://github.com/acme/x.git", "")),
            ("github.com/acme/x.git//m?ref=v1", git("https://github.com/acme/x.git?ref=v1", "m")),
            ("github.com/acme/x?ref=v1", git("https://github.com/acme/x.git?ref=v1", "")),
            ("bitbucket.org/acme/x", git("https://bitbucket.org/acme/x.git", "")),
            ("git@github.com:acme/x.git//m?ref=v1", git("ssh://git@github.com/acme/x.git?ref=v1", "m")),
            ("git::git@a.example:acme/x", git("ssh://git@a.example/acme/x", "")),
            ("git::ssh://me@a.example:22/x.git", git("ssh://me@a.example:22/x.git", "")),
            ("https://a.example/x.tar.gz//*?archive=tar.gz", archive("https://a.example/x.tar.gz?archive=tar.gz", "*")),
            ("https://a.example/x.zip?u=https://b//c", archive("https://a.example/x.zip?u=https://b//c", "")),
            ("https://a.example//m/./n/../o", archive("https://a.example/", "m/o")),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_fetched() {
        let method = |name: &str| Err(AddressError::Method(name.to_owned()));
        for (text, name) in [
            ("s3::https://s3-eu-west-1.amazonaws.com/b/x.zip", "s3"),
            ("b.s3.amazonaws.com/x.zip", "s3"),
            ("gcs::https://www.googleapis.com/storage/v1/b/x.zip", "gcs"),
            ("hg::https://a.example/x", "hg"),
            ("ssh://a.example/x", "ssh"),
            ("ext::sh", "ext"),
        ] {
            match RemoteAddress::parse(text).map(|_| ()) {
                Err(AddressError::Syntax(_)) if name == "ext" => {}
                other => assert_eq!(other, method(name), "{text}"),
            }
        }
        for text in ["file:///etc", "/etc", "git::file:///etc", "git::/etc", "//etc"] {
            assert!(matches!(parse(text), Err(AddressError::File(_) | AddressError::Syntax(_))), "{text}");
        }
        for text in ["http://a.example/x.zip", "git::http://a.example/x", "git::git://a.example/x"] {
            assert!(matches!(parse(text), Err(AddressError::Unencrypted(_))), "{text}");
        }
        for text in ["a.zip", "files/a.zip", "git::", "https://", "github.com/acme", "./x"] {
            assert!(matches!(parse(text), Err(AddressError::Syntax(_))), "{text} {:?}", parse(text));
        }
        assert!(matches!(parse("https://a.example/x.zip//m/../.."), Err(AddressError::Subdir(_))));
        assert_eq!(join_subdirs("a", "../b"), Ok("b".to_owned()));
        assert!(join_subdirs("a", "../../b").is_err());
    }

    #[test]
    fn a_ref_never_becomes_an_option() {
        for reference in ["--upload-pack=x", "-x", "a..b", "v1^{}", "HEAD~1", "a b", "@{1}"] {
            let text = format!("git::https://a.example/x?ref={reference}");
            assert!(matches!(parse(&text), Err(AddressError::Reference(_))), "{reference}");
        }
        assert!(parse("git::https://a.example/x?ref=feature/a-b_1.0").is_ok());
    }

    /// Git takes for a part of the path what is no parameter of ours.
    #[test]
    fn a_work_tree_is_not_left_by_parameters() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir(tree.path().join("m")).unwrap();
        let is_own = |rest: &str| {
            let text = format!("git::file://{}/{rest}", tree.path().display());
            let Ok(ModuleSource::Remote(module)) = ModuleSource::parse(&text, false, Dialect::Terraform) else {
                panic!("{text}")
            };
            RemoteAddress::of_call(&module, Some(tree.path())).is_ok()
        };
        if cfg!(unix) {
            assert!(is_own("m") && is_own("m?ref=v1&depth=1"));
        }
        assert!(!is_own("m?x=1") && !is_own("m?ref=v1&x") && !is_own("m#x") && !is_own("m/../.."));
    }

    #[test]
    fn records_contain_no_secret() {
        let address =
            RemoteAddress::parse("git::https://me:pw@a.example/x.git//m?token=t&ref=v1&depth=1&sshkey=k").unwrap();
        assert_eq!(address.package(), "git::https://a.example/x.git?ref=v1&token=…");
        assert_eq!(address.to_string(), "git::https://a.example/x.git//m?ref=v1&token=…");
        assert_eq!(address.plain_url().as_str(), "https://me:pw@a.example/x.git?token=t");
        assert_eq!(address.host().as_deref(), Some("a.example"));
    }
}

#[cfg(test)]
mod subdir_tests {
    use super::*;

    #[test]
    fn a_glob_matches_one_entry() {
        let place = tempfile::tempdir().unwrap();
        for dir in ["only/m/x", "only/m/y", "only/n"] {
            fs::create_dir_all(place.path().join(dir)).unwrap();
        }
        fs::write(place.path().join("only/file"), "").unwrap();
        let found = |subdir: &str| {
            let found = expand(place.path(), subdir, "https://a.example/x.zip");
            found.map(|path| crate::path::shown(path.strip_prefix(place.path()).unwrap()))
        };
        assert_eq!(found("").unwrap(), "");
        assert_eq!(found("only/m/x").unwrap(), "only/m/x");
        assert_eq!(found("*").unwrap(), "only");
        assert_eq!(found("*/[m]/?").map_err(|error| error.kind), Err(ErrorKind::NotFound));
        assert_eq!(found("*/n*").unwrap(), "only/n");
        assert_eq!(found("*/*/x").unwrap(), "only/m/x");
        for missing in ["none", "only/file", "z*", "only/*", "only/m/x/*"] {
            let error = found(missing).unwrap_err();
            assert_eq!(error.kind, ErrorKind::NotFound, "{missing}");
        }
        let error = found("only/m/*").unwrap_err();
        assert!(error.message.contains("several"), "{}", error.message);
    }
}

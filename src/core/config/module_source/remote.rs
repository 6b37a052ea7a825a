//! Addresses for the downloaders, in the one form in which the tools compare and record them.
//!
//! Source: `internal/getmodules/moduleaddrs` (`NormalizePackageAddress`, `SplitPackageSubdir`) and its detectors in
//! `github.com/hashicorp/go-getter` v1, `detect*.go`.

use std::fmt;

use url::Url;

use super::{ModuleSourceError, clean};
use crate::redact;

/// A module that is neither local nor of a registry: a package, and a directory in it.
///
/// Its `Display` form shows no user information and no secret; [`RemoteModule::address`] is the address itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteModule {
    package: String,
    subdir: String,
}

impl RemoteModule {
    pub(super) fn parse(text: &str) -> Result<Self, ModuleSourceError> {
        let (package, subdir) = split(text);
        let detected = detect(&package).map_err(|error| match error {
            ModuleSourceError::Unknown(_) => ModuleSourceError::Unknown(redact::module_source(text)),
            other => other,
        });
        let (package, more) = split(&detected?);
        let subdir = match (more.as_str(), subdir.as_str()) {
            (_, "") => more,
            ("", _) => subdir,
            _ => clean(&format!("{more}/{subdir}")),
        };
        if subdir == ".." || subdir.starts_with("../") {
            return Err(ModuleSourceError::OutsidePackage(subdir));
        }
        Ok(Self { package, subdir })
    }

    /// What is downloaded: perhaps a method before `::`, a URL, perhaps a query. It may contain a secret.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The method before `::`, if one is named, and the address behind it.
    pub fn method(&self) -> (Option<&str>, &str) {
        match self.package.split_once("::") {
            Some((method, rest)) if is_method(method) => (Some(method), rest),
            _ => (None, &self.package),
        }
    }

    /// The host that it comes from, with its port where one is named; none for files, and what is no URL.
    pub fn host(&self) -> Option<String> {
        host_of(&Url::parse(self.method().1).ok()?)
    }

    /// The directory within the package; empty for its top.
    pub fn subdir(&self) -> &str {
        &self.subdir
    }

    /// The whole, as `modules.json` records it. It may contain a secret.
    pub fn address(&self) -> String {
        if self.subdir.is_empty() {
            return self.package.clone();
        }
        match self.package.split_once('?') {
            Some((package, query)) => format!("{package}//{}?{query}", self.subdir),
            None => format!("{}//{}", self.package, self.subdir),
        }
    }
}

impl fmt::Display for RemoteModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact::module_source(&self.address()))
    }
}

fn is_method(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The host of a URL, in lower case, with its port where one is named.
pub fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?.to_ascii_lowercase();
    Some(url.port().map_or(host.clone(), |port| format!("{host}:{port}")))
}

/// Takes the directory behind `//` out of an address, whose query stays.
fn split(text: &str) -> (String, String) {
    let stop = text.find('?').unwrap_or(text.len());
    let start = text[..stop].find("://").map_or(0, |at| at + 3);
    match text[start..stop].find("//") {
        Some(at) => {
            let at = start + at;
            let subdir = &text[at + 2..stop];
            let subdir = if subdir.is_empty() { String::new() } else { clean(subdir) };
            (format!("{}{}", &text[..at], &text[stop..]), subdir)
        }
        None => (text.to_owned(), String::new()),
    }
}

fn detect(package: &str) -> Result<String, ModuleSourceError> {
    let forced = package.split_once("::").filter(|(method, rest)| is_method(method) && !rest.is_empty());
    let address = forced.map_or(package, |(_, rest)| rest);
    if super::is_url(address) {
        return Ok(package.to_owned());
    }
    let unknown = || ModuleSourceError::Unknown(redact::module_source(package));
    let (method, url) = github(address)?
        .or_else(|| ssh(address))
        .or_else(|| bitbucket(address))
        .or_else(|| google(address))
        .or_else(|| amazon(address))
        .or_else(|| address.starts_with('/').then(|| ("", format!("file://{address}"))))
        .ok_or_else(unknown)?;
    let method = forced.map_or(method, |(method, _)| method);
    Ok(if method.is_empty() { url } else { format!("{method}::{url}") })
}

type Detected = Option<(&'static str, String)>;

fn github(address: &str) -> Result<Detected, ModuleSourceError> {
    let Some(rest) = address.strip_prefix("github.com/") else { return Ok(None) };
    let wrong = || ModuleSourceError::GitHub(redact::module_source(address));
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut parts = path.splitn(3, '/');
    let (Some(owner), Some(repository), below) = (parts.next(), parts.next(), parts.next()) else {
        return Err(wrong());
    };
    if query.contains('?') {
        return Err(wrong());
    }
    let mut path = super::legal_path(&format!("/{owner}/{repository}")).ok_or_else(wrong)?;
    if path.strip_suffix(".git").is_none() {
        path.push_str(".git");
    }
    let below = below.map(|below| format!("//{below}")).unwrap_or_default();
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    Ok(Some(("git", format!("https://github.com{path}{below}{query}"))))
}

/// `git@HOST:PATH`, as scp writes it.
fn ssh(address: &str) -> Detected {
    let (host, path) = address.strip_prefix("git@")?.split_once(':').filter(|(host, _)| !host.is_empty())?;
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = super::path(path.strip_prefix('/').unwrap_or(path).as_bytes());
    let query = query.map(super::query).map_or(Some(String::new()), |query| query.map(|query| format!("?{query}")))?;
    let query = if query == "?" { "" } else { &query };
    Some(("git", format!("ssh://git@{host}/{path}{query}")))
}

/// The tools request from Bitbucket whether it is a git repository; since 2020 all of them are.
fn bitbucket(address: &str) -> Detected {
    let (path, query) = address.strip_prefix("bitbucket.org/").map(at_query)?;
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some(("git", format!("https://bitbucket.org/{}.git{query}", super::legal_path(path)?)))
}

fn google(address: &str) -> Detected {
    let (path, query) = at_query(address);
    let mut parts = path.splitn(5, '/').filter(|_| path.contains("googleapis.com/")).skip(2);
    let (version, bucket, object) = (parts.next()?, parts.next()?, super::legal_path(parts.next()?)?);
    Some(("gcs", format!("https://www.googleapis.com/storage/{version}/{bucket}/{object}{query}")))
}

/// The three styles of addresses of S3.
fn amazon(address: &str) -> Detected {
    let (path, query) = at_query(address);
    let (host, path) = path.split_once('/').filter(|_| path.contains(".amazonaws.com/"))?;
    let labels: Vec<&str> = host.split('.').collect();
    let path = super::legal_path(path)?;
    let place = match labels[..] {
        [region, _, _] => format!("{region}.amazonaws.com"),
        [bucket, region, _, _] => format!("{region}.amazonaws.com/{bucket}"),
        [bucket, "s3", region, _, _] => format!("s3.{region}.amazonaws.com/{bucket}"),
        _ => return None,
    };
    Some(("s3", format!("https://{place}/{path}{query}")))
}

/// What is before the query, and the query with its mark.
fn at_query(text: &str) -> (&str, &str) {
    text.split_at(text.find('?').unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for (text, expected) in [
            ("github.com/o/r//x?ref=v1", "git::https://github.com/o/r.git//x?ref=v1"),
            ("github.com/o/r.git?ref=feature/x", "git::https://github.com/o/r.git?ref=feature/x"),
            ("github.com/o/r/dir", "git::https://github.com/o/r.git//dir"),
            ("github.com/o/r/dir//sub/../more?ref=1", "git::https://github.com/o/r.git//dir/more?ref=1"),
            ("github.com/o/r/", "git::https://github.com/o/r.git"),
            ("github.com/o/r?", "git::https://github.com/o/r.git"),
            ("github.com/o/r//mod/?ref=v1", "git::https://github.com/o/r.git//mod?ref=v1"),
            ("github.com/o/r//./mod", "git::https://github.com/o/r.git//mod"),
            ("github.com/o/r//?ref=v1", "git::https://github.com/o/r.git?ref=v1"),
            ("github.com/o/r//m*/x", "git::https://github.com/o/r.git//m*/x"),
            ("git::github.com/o/r", "git::https://github.com/o/r.git"),
            ("github.com/o/r é", "git::https://github.com/o/r%20%C3%A9.git"),
            ("git@github.com:a/b.git", "git::ssh://git@github.com/a/b.git"),
            ("git@h:/o/r.git?ref=v1&depth=1", "git::ssh://git@h/o/r.git?depth=1&ref=v1"),
            ("git@h:o/r.git//a/../b?ref=feature/x", "git::ssh://git@h/o/r.git//b?ref=feature%2Fx"),
            ("git@h:2222/o/r", "git::ssh://git@h/2222/o/r"),
            ("git::https://h/r.git?", "git::https://h/r.git?"),
            ("git::https://h/ré.git//m?ref=a/b", "git::https://h/ré.git//m?ref=a/b"),
            ("git::https://u:pw@h/r.git//m", "git::https://u:pw@h/r.git//m"),
            ("https://h/x.zip//a//b?archive=zip", "https://h/x.zip//a/b?archive=zip"),
            ("/abs/x", "file:///abs/x"),
            ("git::/abs/x", "git::file:///abs/x"),
            ("localhost:8080/x", "localhost:8080/x"),
            ("bitbucket.org/o/r//m", "git::https://bitbucket.org/o/r.git//m"),
            ("s3-eu-west-1.amazonaws.com/b/k.zip", "s3::https://s3-eu-west-1.amazonaws.com/b/k.zip"),
            ("b.s3.eu-west-1.amazonaws.com/k.zip?x=1", "s3::https://s3.eu-west-1.amazonaws.com/b/k.zip?x=1"),
            ("www.googleapis.com/storage/v1/b/f.zip", "gcs::https://www.googleapis.com/storage/v1/b/f.zip"),
        ] {
            let found = RemoteModule::parse(text).map(|remote| remote.address());
            assert_eq!(found.as_deref(), Ok(expected), "{text}");
            let again = RemoteModule::parse(expected).map(|remote| remote.address());
            assert_eq!(again.as_deref(), Ok(expected));
        }
    }

    #[test]
    fn addresses_without_a_getter_are_refused() {
        for text in ["gitlab.com/o/r", "git::host/x", "git::ssh://git@h:o/r", "foo@h:o/r", "m", "git::https://h/%zz"] {
            assert!(matches!(RemoteModule::parse(text), Err(ModuleSourceError::Unknown(_))), "{text}");
        }
        let refusal = |text| RemoteModule::parse(text).unwrap_err().to_string();
        assert_eq!(refusal("m//x"), "\"m//x\" names no way to get the module; if it is a path, write \"./m//x\"");
        assert_eq!(refusal("//../x"), "\"//../x\" names no way to get the module");
        assert_eq!(refusal("git::host/x"), "\"git::host/x\" names no way to get the module");
        for text in ["github.com/o", "github.com/o/r?a?b"] {
            assert!(matches!(RemoteModule::parse(text), Err(ModuleSourceError::GitHub(_))), "{text}");
        }
        for text in ["github.com/o/r//../x", "git::https://h/r.git//a/../..", "git@h:o/r//../../x?ref=1"] {
            assert!(matches!(RemoteModule::parse(text), Err(ModuleSourceError::OutsidePackage(_))), "{text}");
        }
    }
}

//! What a run takes from outside: where packages and their hashes come from, as `--source` and the settings say it;
//! directories that a search for root modules leaves out; the environment as a value, and the texts in it that must never be
//! shown.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use url::Url;

use crate::redact;
use crate::words::shown;

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceChoice {
    /// `origin`: the registry at the address's own host, whatever the CLI configuration says, as `providers lock` does.
    #[default]
    Origin,
    /// `configured`: the installation methods of the CLI configuration, as `init` does.
    Configured,
    /// `fs:DIR`: a filesystem mirror, and nothing else.
    Directory(PathBuf),
    /// `net:URL`: a network mirror, and nothing else.
    Network(String),
    /// `oci:TEMPLATE`: an OCI mirror, and nothing else.
    Oci(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a source of packages: expected origin, configured, fs:DIR, net:URL or oci:TEMPLATE")]
pub struct SourceError(String);

impl SourceChoice {
    /// The same, with a directory that is in a file of this folder.
    #[must_use]
    pub fn stated_in(self, folder: &Path) -> Self {
        match self {
            Self::Directory(directory) => Self::Directory(folder.join(directory)),
            other => other,
        }
    }
}

impl FromStr for SourceChoice {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let refused = || SourceError(redact::module_source(text));
        match text.split_once(':').filter(|(_, place)| !place.is_empty()) {
            None if text == "origin" => Ok(Self::Origin),
            None if text == "configured" => Ok(Self::Configured),
            Some(("fs", directory)) => Ok(Self::Directory(directory.into())),
            Some(("net", url)) => Ok(Self::Network(url.to_owned())),
            Some(("oci", template)) => Ok(Self::Oci(template.to_owned())),
            _ => Err(refused()),
        }
    }
}

/// As written, without secrets.
impl fmt::Display for SourceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Origin => f.write_str("origin"),
            Self::Configured => f.write_str("configured"),
            Self::Directory(directory) => write!(f, "fs:{}", shown(directory)),
            Self::Network(url) => write!(f, "net:{}", redact::module_source(url)),
            Self::Oci(template) => write!(f, "oci:{template}"),
        }
    }
}

/// An `index` block.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index {
    /// What it is called in reports.
    pub name: Arc<str>,
    pub place: IndexPlace,
    pub trust: IndexTrust,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexPlace {
    /// `file:`: a directory, by its absolute path.
    Directory(PathBuf),
    /// `https:`: the path ends with a slash.
    Https(Url),
    /// `s3:`, `gs:` and `az:`: a bucket or container, and a path in it. Only where the feature `cloud` is.
    Cloud(Url),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum IndexTrust {
    /// `verified`: as if they had been computed here.
    Verified,
    /// `reported`: `lock` may write them; they prove nothing.
    #[default]
    Reported,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IndexPlaceError {
    #[error("{text:?} is not a URL: {reason}; a directory is written file:///PATH")]
    Url { text: String, reason: url::ParseError },
    #[error("an index at {0}: needs a program with the feature \"cloud\", which this one was built without")]
    Cloud(String),
    #[error("an index at {0}: is written {0}://NAME or {0}://NAME/PATH, with the name of a bucket or container")]
    Bucket(String),
    #[error("an index is at file:, https:, s3:, gs: or az:, not at {0}:")]
    Scheme(String),
    #[error("{0:?} is not the file: URL of an absolute path")]
    Path(String),
    /// Something that may be a secret, or that no file name can follow.
    #[error(
        "the URL of an index has neither user nor query nor fragment; a token comes from TF_TOKEN_… or the CLI configuration"
    )]
    Parts,
}

impl IndexPlace {
    pub fn parse(text: &str) -> Result<Self, IndexPlaceError> {
        let url =
            Url::parse(text).map_err(|reason| IndexPlaceError::Url { text: redact::module_source(text), reason })?;
        if !url.username().is_empty() || url.password().is_some() || url.query().or(url.fragment()).is_some() {
            return Err(IndexPlaceError::Parts);
        }
        match url.scheme() {
            "file" => url.to_file_path().map(Self::Directory).map_err(|()| IndexPlaceError::Path(text.to_owned())),
            "https" => {
                let mut url = url;
                if !url.path().ends_with('/') {
                    url.set_path(&format!("{}/", url.path()));
                }
                Ok(Self::Https(url))
            }
            scheme @ ("s3" | "gs" | "az") if !cfg!(feature = "cloud") => Err(IndexPlaceError::Cloud(scheme.to_owned())),
            "s3" | "gs" | "az" if url.has_host() && url.port().is_none() => Ok(Self::Cloud(url)),
            scheme @ ("s3" | "gs" | "az") => Err(IndexPlaceError::Bucket(scheme.to_owned())),
            scheme => Err(IndexPlaceError::Scheme(scheme.to_owned())),
        }
    }
}

/// A pattern of directories: names with slashes between them, `*` for any part of a name, `**` for any number of names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Exclude {
    /// The directory of the settings file, from which the pattern begins.
    folder: PathBuf,
    pattern: String,
}

/// A pattern that no directory below a settings file can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a pattern of directories below the settings file, such as \"legacy/**\"")]
pub struct ExcludeError(String);

impl Exclude {
    pub fn parse(text: &str) -> Result<Self, ExcludeError> {
        let is_name = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains('\\');
        let pattern = text.strip_suffix('/').unwrap_or(text);
        let is_one = !pattern.starts_with('!') && pattern.split('/').all(is_name);
        if is_one {
            Ok(Self { folder: PathBuf::new(), pattern: pattern.to_owned() })
        } else {
            Err(ExcludeError(text.to_owned()))
        }
    }

    /// The same, in a settings file of this folder.
    #[must_use]
    pub fn stated_in(self, folder: &Path) -> Self {
        Self { folder: folder.join(self.folder), ..self }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    pub fn covers(&self, directory: &Path) -> bool {
        let Ok(way) = directory.strip_prefix(&self.folder) else { return false };
        let pattern: Vec<&str> = self.pattern.split('/').collect();
        // Which parts of the pattern the names so far have.
        let mut matched = vec![false; pattern.len() + 1];
        matched[0] = true;
        pass_any(&pattern, &mut matched);
        for name in way.components() {
            let Component::Normal(name) = name else { return false };
            let name = name.to_string_lossy();
            let mut next = vec![false; pattern.len() + 1];
            for (at, part) in pattern.iter().enumerate().filter(|(at, _)| matched[*at]) {
                if *part == "**" {
                    next[at] = true;
                } else if has_form(part, &name) {
                    next[at + 1] = true;
                }
            }
            pass_any(&pattern, &mut next);
            if next[pattern.len()] {
                return true;
            }
            matched = next;
        }
        false
    }
}

/// `**` means no name, too.
fn pass_any(pattern: &[&str], matched: &mut [bool]) {
    for (at, part) in pattern.iter().enumerate() {
        if *part == "**" && matched[at] {
            matched[at + 1] = true;
        }
    }
}

/// True if a name has the form of a part, in which `*` means any text.
fn has_form(part: &str, name: &str) -> bool {
    let mut pieces = part.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// The environment variables of the run, by name.
///
/// Only the shell reads the process's environment; everyone else is handed this. A variable whose value is empty
/// counts as not set, unless a caller uses [`Variables::raw`]. Cheap to clone: every root module of a run has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(Arc<BTreeMap<String, String>>);

impl Variables {
    /// The value of a variable that is set to something.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.raw(name).filter(|value| !value.is_empty())
    }

    /// The value of a variable, which may be empty.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of a variable as a number above zero; anything else counts as not set, as in both tools.
    pub fn positive(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok().filter(|number| *number > 0)
    }

    /// The variables whose names begin with a prefix, as the rest of the name and the value, ordered by name.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(Arc::new(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }
}

/// A token. `Debug` never shows it and there is no `Display`; [`Secret::reveal`] is for the one header it goes to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// A secret; `None` if the text is empty, because an empty token is an absent one.
    ///
    /// From here on `redact::secrets` takes it out of whatever is printed.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = Some(text.into()).filter(|text: &String| !text.is_empty())?;
        crate::redact::remember(&text);
        Some(Self(text))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests;

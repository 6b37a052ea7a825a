//! Repositories on GitHub, by their names.

use std::fmt;
use std::str::FromStr;

/// A repository on GitHub, `OWNER/NAME`, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Repository {
    owner: String,
    name: String,
}

/// A text that names no repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a repository: expected github.com/OWNER/NAME")]
pub struct BadRepository(pub String);

impl Repository {
    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if both names mean one repository: GitHub compares them without case.
    pub fn is(&self, other: &Self) -> bool {
        self.owner.eq_ignore_ascii_case(&other.owner) && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// The repository that a package is downloaded from: `https://github.com/OWNER/NAME/releases/download/TAG/FILE`. It is what a
    /// registry says, so it suggests where to look, and proves nothing.
    pub fn of_download(url: &url::Url) -> Option<Self> {
        let path: Vec<&str> = url.path_segments()?.collect();
        let is_release = url.scheme() == "https" && url.host_str() == Some("github.com") && url.port().is_none();
        match path[..] {
            [owner, name, "releases", "download", _, _] if is_release => Self::new(owner, name).ok(),
            _ => None,
        }
    }

    /// Names as GitHub allows them, so that nothing else ever becomes a part of a URL.
    pub fn new(owner: &str, name: &str) -> Result<Self, BadRepository> {
        let is_owner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        let is_name = |b: u8| is_owner(b) || b == b'.';
        let is_sound = (1..=39).contains(&owner.len())
            && owner.bytes().all(is_owner)
            && (1..=100).contains(&name.len())
            && name.bytes().all(is_name)
            && !matches!(name, "." | "..");
        let repository = || Self { owner: owner.to_owned(), name: name.to_owned() };
        is_sound.then(repository).ok_or_else(|| BadRepository(format!("{owner}/{name}")))
    }
}

impl serde::Serialize for Repository {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("github.com/{self}"))
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for Repository {
    type Err = BadRepository;

    /// Reads `github.com/OWNER/NAME`, as the trust file has it.
    fn from_str(text: &str) -> Result<Self, BadRepository> {
        let (owner, name) = text
            .strip_prefix("github.com/")
            .and_then(|path| path.split_once('/'))
            .ok_or_else(|| BadRepository(text.to_owned()))?;
        Self::new(owner, name)
    }
}

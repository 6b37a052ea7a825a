//! Where packages and their hashes come from, as `--source` and the settings say it: sources, and shared indexes.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use url::Url;

use crate::path::shown;
use crate::redact;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_places() {
        for text in ["origin", "configured", "fs:/opt/mirror", "net:https://m.example/v1/", "oci:r.example/${type}"] {
            assert_eq!(text.parse::<SourceChoice>().unwrap().to_string(), text);
        }
        for text in ["", "orign", "fs:", "net", "https://m.example/", "ftp:x"] {
            assert!(text.parse::<SourceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let source: SourceChoice = "net:https://me:pw@m.example/v1/?key=K".parse().unwrap();
        assert_eq!(source.to_string(), "net:https://m.example/v1/?key=…");
        assert!(!"https://me:pw@m.example/".parse::<SourceChoice>().unwrap_err().to_string().contains("pw"));
    }

    #[test]
    fn a_directory_is_named_from_the_file_that_names_it() {
        let stated = |text: &str| text.parse::<SourceChoice>().unwrap().stated_in(Path::new("a/b")).to_string();
        assert_eq!(stated("fs:mirror"), "fs:a/b/mirror");
        assert_eq!(stated("fs:/mirror"), "fs:/mirror");
        assert_eq!(stated("origin"), "origin");
    }
}

#[cfg(test)]
mod index_tests {
    use super::*;

    #[test]
    fn places() {
        let https = |text: &str| IndexPlace::Https(Url::parse(text).unwrap());
        assert_eq!(IndexPlace::parse("https://h.example/a/b"), Ok(https("https://h.example/a/b/")));
        assert_eq!(IndexPlace::parse("https://h.example:8443"), Ok(https("https://h.example:8443/")));
        #[cfg(unix)]
        assert_eq!(IndexPlace::parse("file:///srv/index"), Ok(IndexPlace::Directory("/srv/index".into())));
        for (text, phrase) in [
            ("index", "is not a URL"),
            ("http://h.example/", "not at http:"),
            ("https://user:word@h.example/", "neither user nor query"),
            ("https://h.example/?sig=secret", "neither user nor query"),
            ("https://user:secret@h.example:port/", "invalid port number"),
        ] {
            let error = IndexPlace::parse(text).unwrap_err().to_string();
            assert!(error.contains(phrase) && !error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn clouds_need_a_program_that_knows_them() {
        for text in ["s3://bucket/x", "gs://bucket", "az://container/a/b"] {
            let place = IndexPlace::parse(text);
            if cfg!(feature = "cloud") {
                assert_eq!(place, Ok(IndexPlace::Cloud(Url::parse(text).unwrap())));
            } else {
                assert!(place.unwrap_err().to_string().contains("the feature \"cloud\""), "{text}");
            }
        }
        assert!(IndexPlace::parse("s3:///x").is_err());
    }

    #[test]
    fn the_stricter_trust_is_the_greater() {
        assert!(IndexTrust::Reported > IndexTrust::Verified);
    }
}

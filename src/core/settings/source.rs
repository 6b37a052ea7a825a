//! Where packages come from, as `--source` and the settings say it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

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

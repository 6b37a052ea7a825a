//! Platforms: `os_arch`.

use std::fmt;
use std::str::FromStr;

/// An operating system and an architecture, such as `linux_arm64`.
///
/// Any two words are valid, as in the tools. Ordered by text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    text: String,
    underscore: usize,
}

/// A text that is not `os_arch`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a platform: two words separated by one underscore are wanted, such as linux_amd64")]
pub struct PlatformError(pub String);

impl Platform {
    /// The platform of an operating system and an architecture, in Go's words.
    ///
    /// # Errors
    ///
    /// [`PlatformError`] if either is empty or holds an underscore or white space.
    pub fn new(os: &str, arch: &str) -> Result<Self, PlatformError> {
        format!("{os}_{arch}").parse()
    }

    /// The platform this program runs on.
    pub fn host() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" => "ppc64le",
            other => other,
        };
        Self { text: format!("{os}_{arch}"), underscore: os.len() }
    }

    /// The operating system, such as `linux`.
    pub fn os(&self) -> &str {
        &self.text[..self.underscore]
    }

    /// The architecture, such as `amd64`.
    pub fn arch(&self) -> &str {
        &self.text[self.underscore + 1..]
    }

    /// `os_arch`.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let valid = |word: &str| !word.is_empty() && !word.contains('_') && !word.contains(char::is_whitespace);
        match text.split_once('_') {
            // Separators never stand in the name of a platform; refusing them keeps it usable as a path.
            Some((os, arch)) if valid(os) && valid(arch) && !text.contains(['/', '\\']) => {
                Ok(Self { text: text.to_owned(), underscore: os.len() })
            }
            _ => Err(PlatformError(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words() {
        let platform: Platform = "linux_amd64".parse().unwrap();
        assert_eq!((platform.os(), platform.arch()), ("linux", "amd64"));
        for bad in ["", "linux", "linux_", "_amd64", "a_b_c", "linux amd64", "a_b c", "a/b_c"] {
            assert_eq!(bad.parse::<Platform>(), Err(PlatformError(bad.to_owned())));
        }
    }
}

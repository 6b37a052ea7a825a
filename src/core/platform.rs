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

/// For what Go builds, or built when providers of today were released.
///
/// Source: `go tool dist list` of Go 1.24; `darwin_386` of Go 1.14.
const BUILT: [&str; 38] = [
    "aix_ppc64",
    "android_arm64",
    "darwin_386",
    "darwin_amd64",
    "darwin_arm64",
    "dragonfly_amd64",
    "freebsd_386",
    "freebsd_amd64",
    "freebsd_arm",
    "freebsd_arm64",
    "freebsd_riscv64",
    "illumos_amd64",
    "linux_386",
    "linux_amd64",
    "linux_arm",
    "linux_arm64",
    "linux_loong64",
    "linux_mips",
    "linux_mips64",
    "linux_mips64le",
    "linux_mipsle",
    "linux_ppc64",
    "linux_ppc64le",
    "linux_riscv64",
    "linux_s390x",
    "netbsd_386",
    "netbsd_amd64",
    "netbsd_arm",
    "netbsd_arm64",
    "openbsd_386",
    "openbsd_amd64",
    "openbsd_arm",
    "openbsd_arm64",
    "solaris_amd64",
    "windows_386",
    "windows_amd64",
    "windows_arm",
    "windows_arm64",
];

/// A text that is not `os_arch`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a platform: expected two words separated by one underscore, such as linux_amd64{hint}", hint = meant_by(.0))]
pub struct PlatformError(pub String);

/// The end of a message: the platform that the words of other tools mean.
fn meant_by(text: &str) -> String {
    if text.contains([',', ' ']) {
        return "; write each platform as an argument or a string of its own".to_owned();
    }
    let meant = text.split_once(['_', '-', '/']).and_then(|(os, arch)| nearest(os, arch));
    meant.map(|platform| format!("; did you mean {platform}?")).unwrap_or_default()
}

/// The platform that Go supports and that two words most likely mean.
fn nearest(os: &str, arch: &str) -> Option<&'static str> {
    if os.len() + arch.len() > 32 {
        return None;
    }
    let (os, arch) = (os.to_ascii_lowercase(), arch.to_ascii_lowercase());
    let os = match os.as_str() {
        "macos" | "osx" | "mac" => "darwin",
        "win" | "win32" | "win64" => "windows",
        other => other,
    };
    let arch = match arch.as_str() {
        "x64" | "x86_64" | "x86-64" => "amd64",
        "aarch64" => "arm64",
        "x86" | "i386" | "i686" => "386",
        other => other,
    };
    let wanted = format!("{os}_{arch}");
    let near = BUILT.iter().map(|known| (strsim::osa_distance(known, &wanted), *known)).min()?;
    (near.0 <= 2).then_some(near.1)
}

impl Platform {
    /// The platform of an operating system and an architecture, in Go's words.
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

    /// For what Go, in which providers are written, builds: what may be offered, while there may be others.
    pub fn built() -> [&'static str; BUILT.len()] {
        BUILT
    }

    /// The platform that was probably meant by one for which Go, in which providers are written, builds nothing; `None`
    /// if no name is similar, since Go may have new ones by now.
    pub fn meant(&self) -> Option<&'static str> {
        if BUILT.contains(&self.as_str()) {
            return None;
        }
        nearest(self.os(), self.arch())
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
            // Separators never appear in the name of a platform; refusing them keeps it usable as a path.
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

    #[test]
    fn misspelt_platforms() {
        let meant = |text: &str| text.parse::<Platform>().unwrap().meant();
        assert_eq!([meant("macos_arm64"), meant("linux_amd46")], [Some("darwin_arm64"), Some("linux_amd64")]);
        assert_eq!([meant("linux_x64"), meant("win64_x64")], [Some("linux_amd64"), Some("windows_amd64")]);
        // Known ones, and what may be new.
        assert_eq!([meant("linux_arm"), meant("windows_arm"), meant("haiku_amd64")], [None; 3]);
        assert!(BUILT.is_sorted());
    }
}

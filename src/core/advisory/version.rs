//! Versions of Go modules and of Go.

use std::cmp::Ordering;
use std::fmt;

/// A semantic version as Go orders them. Build metadata such as `+incompatible` counts for nothing.
#[derive(Debug, Clone)]
pub struct GoVersion {
    version: semver::Version,
    /// Without `v` and `go`.
    text: String,
}

impl GoVersion {
    /// Reads a version with or without `v` or `go` before it; `1` and `1.2` mean `1.0.0` and `1.2.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let text = text.strip_prefix("go").unwrap_or(text);
        let full = match text.split('.').count() {
            _ if text.contains(['-', '+']) => text.to_owned(),
            1 => format!("{text}.0.0"),
            2 => format!("{text}.0"),
            _ => text.to_owned(),
        };
        let version = semver::Version::parse(&full).ok()?;
        Some(Self { version, text: full })
    }

    /// The version of the standard library, from what a toolchain calls itself: `go1.22.11`, `go1.22rc1 X:boringcrypto`. None
    /// for others than releases, such as `devel go1.23-1f0e3f`.
    pub fn of_toolchain(name: &str) -> Option<Self> {
        let number = name.split_whitespace().next()?.strip_prefix("go")?;
        let at = ["beta", "rc"].iter().find_map(|kind| number.find(kind)).unwrap_or(number.len());
        let (numbers, before) = number.split_at(at);
        let parts: Vec<&str> = numbers.split('.').collect();
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(1..=3).contains(&parts.len()) || !parts.iter().all(is_number) {
            return None;
        }
        let kind = before.trim_end_matches(|c: char| c.is_ascii_digit());
        match before.strip_prefix(kind)? {
            "" if before.is_empty() => Self::parse(numbers),
            count if is_number(&count) && matches!(kind, "beta" | "rc") => {
                let Self { text, .. } = Self::parse(numbers)?;
                Self::parse(&format!("{text}-{kind}.{count}"))
            }
            _ => None,
        }
    }
}

impl PartialEq for GoVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for GoVersion {}

impl PartialOrd for GoVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for GoVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.version.cmp_precedence(&other.version)
    }
}

impl fmt::Display for GoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.text)
    }
}

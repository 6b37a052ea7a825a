//! What the names of tags and of built files say of the version that they are of.

use crate::platform::Platform;
use crate::version::Version;

/// Systems by which a name goes on behind its version: `widget-1.2.3-linux-amd64`.
const SYSTEMS: [&str; 12] = [
    "linux",
    "darwin",
    "macos",
    "windows",
    "freebsd",
    "openbsd",
    "netbsd",
    "dragonfly",
    "solaris",
    "illumos",
    "android",
    "aix",
];

/// What a name has in the place of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NamedVersion {
    Version(Version),
    /// Numbers like those of a version that no provider can have, such as `1.2.3.4`.
    Other,
}

impl NamedVersion {
    /// The last thing in a name that reads as a version: three numbers or more with dots between them, and what belongs to them.
    pub(super) fn last_in(name: &str) -> Option<Self> {
        let bytes = name.as_bytes();
        let (mut at, mut last) = (0, None);
        while let Some(byte) = bytes.get(at) {
            if !byte.is_ascii_digit() {
                at += 1;
                continue;
            }
            let run = &name[at..];
            let length = run.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
            let numbers = run[..length].trim_end_matches('.');
            at += length;
            if numbers.split('.').count() >= 3 {
                let suffix = suffix(&run[numbers.len()..]);
                last = Some(format!("{numbers}{suffix}").parse().map_or(Self::Other, Self::Version));
                at += suffix.len();
            }
        }
        last
    }

    pub(super) fn is(&self, version: &Version) -> bool {
        matches!(self, Self::Version(named) if named == version)
    }
}

/// The pre-release and the metadata that a text behind the numbers begins with: `-beta.1+2`, up to the name of a system.
fn suffix(behind: &str) -> &str {
    if !behind.starts_with(['-', '+']) {
        return "";
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-+.".contains(byte);
    let text = &behind[..behind.bytes().take_while(|byte| is_part(byte)).count()];
    let is_system = |part: &str| SYSTEMS.iter().any(|system| part.eq_ignore_ascii_case(system));
    let mut at = 0;
    for part in text.split('-') {
        if is_system(part.split('.').next().unwrap_or(part)) {
            return text[..at].trim_end_matches('-');
        }
        at += part.len() + 1;
    }
    text.trim_end_matches(['-', '+', '.'])
}

/// A file name without the ending of an archive, in whatever case.
pub(super) fn without_extension(file: &str) -> &str {
    let stem = file.len().checked_sub(4).and_then(|at| file.split_at_checked(at));
    stem.filter(|(_, ending)| ending.eq_ignore_ascii_case(".zip")).map_or(file, |(stem, _)| stem)
}

/// `[terraform-provider-]TYPE_[v]VERSION_OS_ARCH[_vN].zip`: the name of an archive, read without what builders add to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Conventional {
    kind: String,
    version: Version,
    platform: Platform,
}

impl Conventional {
    pub(super) fn of(file: &str) -> Option<Self> {
        let name = without_extension(file).to_ascii_lowercase();
        let mut parts: Vec<&str> = name.strip_prefix("terraform-provider-").unwrap_or(&name).split('_').collect();
        // The level of an architecture, as in `amd64_v1`.
        let is_level = |part: &&str| part.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
        if parts.len() == 5 && parts.last().is_some_and(is_level) {
            parts.pop();
        }
        let [kind, version, os, arch] = parts[..] else { return None };
        let version = version.strip_prefix('v').unwrap_or(version).parse().ok()?;
        Some(Self { kind: kind.to_owned(), version, platform: format!("{os}_{arch}").parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_thing_that_reads_as_a_version_is_one() {
        for (name, version) in [
            ("v1.3.0", "1.3.0"),
            ("V1.3.0", "1.3.0"),
            ("01.3.0", "1.3.0"),
            ("release-1.3.0", "1.3.0"),
            ("provider/v1.3.0-beta.1", "1.3.0-beta.1"),
            ("widget@1.3.0", "1.3.0"),
            ("terraform-provider-vault-v1.3.0", "1.3.0"),
            ("2.0.0/nightly/1.3.0", "1.3.0"),
            ("v1.3.0-2.0.0", "1.3.0-2.0.0"),
            ("terraform-provider-widget_v1.3.0_linux_amd64", "1.3.0"),
            ("terraform-provider-widget_1.3.0_linux_amd64_v1", "1.3.0"),
            ("widget-1.3.0-rc1-Linux-amd64", "1.3.0-rc1"),
            ("widget-1.3.0-linux-amd64", "1.3.0"),
            ("widget-1.3.0-darwin.arm64", "1.3.0"),
            ("widget.1.3.0.tar.gz", "1.3.0"),
            ("ü1.3.0ü", "1.3.0"),
        ] {
            let version = NamedVersion::Version(version.parse().unwrap());
            assert_eq!(NamedVersion::last_in(name), Some(version), "{name}");
        }
        for name in ["v1.3.0.0", "1.3.0.1", "1..3.0"] {
            assert_eq!(NamedVersion::last_in(name), Some(NamedVersion::Other), "{name}");
        }
        for name in ["", "v1", "v1.3", "nightly", "release-2024", "package", "...", "ü", "1.3-2.0"] {
            assert_eq!(NamedVersion::last_in(name), None, "{name}");
        }
    }

    #[test]
    fn archives_are_read_without_what_builders_add() {
        let plain = Conventional::of("terraform-provider-widget_1.3.0_linux_amd64.zip").unwrap();
        for same in [
            "terraform-provider-widget_v1.3.0_linux_amd64.zip",
            "terraform-provider-widget_1.3.0_linux_amd64_v1.zip",
            "widget_1.3.0_linux_amd64.ZIP",
            "Terraform-Provider-Widget_1.3.0_Linux_amd64.zip",
        ] {
            assert_eq!(Conventional::of(same).as_ref(), Some(&plain), "{same}");
        }
        assert_ne!(Conventional::of("widget_1.3.0_linux_arm64.zip"), Some(plain));
        assert_eq!(Conventional::of("package.zip"), None);
    }
}

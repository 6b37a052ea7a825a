//! The parts of an address: service hostnames, namespaces and types; what is compared, what is shown.
//!
//! International names are what the tools know them as.
//!
//! Source: `golang.org/x/net/idna`, profile `Lookup`, with the tables of Unicode 15.0. The `idna` crate has newer ones.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};

use crate::dialect::Dialect;

/// The host of a registry, with its port where that is not 443.
///
/// Two hostnames are equal when their comparison forms are. Lock files and directories show the display form, URLs and
/// `TF_TOKEN_…` variables the comparison form.
#[derive(Debug, Clone)]
pub struct Hostname {
    ascii: String,
    display: String,
    port: Option<u16>,
}

/// Why a text is not a service hostname.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostnameError {
    /// Nothing is before the port.
    #[error("hostname is empty")]
    Empty,
    /// `https://…` in place of a host.
    #[error("need just a hostname and optional port number, not a full URL")]
    Url,
    /// The text after `:` is no number.
    #[error("port portion contains non-digit characters")]
    PortNotANumber,
    /// A port below 1, which the tools take, though no server can listen there.
    #[error("port number is less than 1")]
    PortTooSmall,
    /// A port above 65535.
    #[error("port number is greater than 65535")]
    PortTooLarge,
    /// Two dots in a row, or one in front.
    #[error("hostname contains empty label (two consecutive periods)")]
    EmptyLabel,
    /// A label in its `xn--` form; hostnames are written in Unicode.
    #[error("hostname label {0:?} specified in punycode format; service hostnames must be given in unicode")]
    Punycode(String),
    /// Refused by the IDNA lookup profile.
    #[error("hostname {0:?} is not a valid internationalised domain name")]
    Idna(String),
}

impl Hostname {
    /// Parses a hostname as a person writes it: Unicode, with an optional port.
    pub fn parse(text: &str) -> Result<Self, HostnameError> {
        Self::parse_with(text, Spelling::Unicode)
    }

    /// Parses a hostname that may be spelt in punycode, as in the name of a `TF_TOKEN_…` variable.
    pub fn parse_any_spelling(text: &str) -> Result<Self, HostnameError> {
        Self::parse_with(text, Spelling::Any)
    }

    fn parse_with(text: &str, spelling: Spelling) -> Result<Self, HostnameError> {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, parse_port(name, port)?),
            None => (text, None),
        };
        if name.is_empty() {
            return Err(HostnameError::Empty);
        }
        let labels = name.strip_suffix('.').unwrap_or(name);
        for label in labels.split('.') {
            if label.is_empty() {
                return Err(HostnameError::EmptyLabel);
            }
            if spelling == Spelling::Unicode && label.starts_with("xn--") {
                return Err(HostnameError::Punycode(label.to_owned()));
            }
        }
        let refused = || HostnameError::Idna(name.to_owned());
        let (ascii, display) = if name.split('.').all(is_normal_label) {
            (name.to_owned(), name.to_owned())
        } else {
            let ascii = to_ascii(name).ok_or_else(refused)?;
            let display = to_unicode(&ascii, AsciiDenyList::STD3).ok_or_else(refused)?;
            (ascii, display)
        };
        let suffix = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self { ascii: format!("{ascii}{suffix}"), display: format!("{display}{suffix}"), port })
    }

    /// The comparison form: ASCII, lower case, with `:port` unless that is 443.
    pub fn as_ascii(&self) -> &str {
        &self.ascii
    }

    /// The display form: Unicode, with `:port` unless that is 443.
    pub fn as_display(&self) -> &str {
        &self.display
    }

    /// The port, unless it is 443.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Unicode,
    Any,
}

/// Ports are decimal numbers as Go's `Atoi` reads them: a sign and leading zeros are allowed.
fn parse_port(name: &str, text: &str) -> Result<Option<u16>, HostnameError> {
    match text.parse::<i64>() {
        Ok(443) => Ok(None),
        Ok(..1) => Err(HostnameError::PortTooSmall),
        Ok(port) => u16::try_from(port).map(Some).map_err(|_| HostnameError::PortTooLarge),
        Err(_) if matches!(name, "http" | "https") => Err(HostnameError::Url),
        Err(_) => Err(HostnameError::PortNotANumber),
    }
}

impl FromStr for Hostname {
    type Err = HostnameError;

    fn from_str(text: &str) -> Result<Self, HostnameError> {
        Self::parse(text)
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display)
    }
}

impl PartialEq for Hostname {
    fn eq(&self, other: &Self) -> bool {
        self.ascii == other.ascii
    }
}

impl Eq for Hostname {}

impl Hash for Hostname {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ascii.hash(state);
    }
}

impl PartialOrd for Hostname {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hostname {
    fn cmp(&self, other: &Self) -> Ordering {
        self.ascii.cmp(&other.ascii)
    }
}

/// Characters that Unicode 15.0 allows in no name. Later versions drop them or map them to others, so two addresses
/// would be one that are two, or none, for the tools. Those that Unicode 15.0 does not know at all are not listed.
const DISALLOWED: [(char, char); 15] = [
    ('\u{4c0}', '\u{4c0}'),
    ('\u{10a0}', '\u{10c5}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{1806}', '\u{1806}'),
    ('\u{180e}', '\u{180e}'),
    ('\u{2061}', '\u{2063}'),
    ('\u{206a}', '\u{206f}'),
    ('\u{2132}', '\u{2132}'),
    ('\u{2183}', '\u{2183}'),
    ('\u{2260}', '\u{2260}'),
    ('\u{226e}', '\u{226f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{1d173}', '\u{1d17a}'),
];

/// What STD3 denies, but for the underscore.
const WITH_UNDERSCORE: AsciiDenyList = AsciiDenyList::new(true, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~");

/// A name in Unicode, normalised; `None` if it is not a valid name.
fn to_unicode(name: &str, denied: AsciiDenyList) -> Option<String> {
    let name = prepared(name)?;
    let (normal, valid) = Uts46::new().to_unicode(name.as_bytes(), denied, Hyphens::CheckFirstLast);
    // Places are counted in bytes, as there.
    let hyphens = |label: &str| label.len() > 4 && label.as_bytes().get(2..4) == Some(b"--");
    let sound = valid.is_ok() && !normal.contains('/') && !normal.split('.').any(hyphens);
    sound.then(|| normal.into_owned())
}

/// A name in ASCII, each label of another alphabet in its `xn--` form; `None` if it is not a valid name.
fn to_ascii(name: &str) -> Option<String> {
    let name = prepared(name)?;
    let ascii = Uts46::new().to_ascii(name.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Ignore);
    ascii.ok().filter(|ascii| !ascii.is_empty() && !ascii.contains('/')).map(std::borrow::Cow::into_owned)
}

/// True for a label that is in its normal form already, as nearly all are: without what IDNA would have to look at.
fn is_normal_label(label: &str) -> bool {
    !label.is_empty()
        && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !(label.starts_with('-') || label.ends_with('-') || label.contains("--"))
}

fn prepared(name: &str) -> Option<String> {
    let disallowed = |c: char| !c.is_ascii() && DISALLOWED.iter().any(|(first, last)| (*first..=*last).contains(&c));
    // Later versions map it to `ß`.
    (!name.contains(disallowed)).then(|| name.replace('ẞ', "ss"))
}

/// Why a namespace or type is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// Nothing there.
    #[error("must have at least one character")]
    Empty,
    /// `.` separates the labels of hosts.
    #[error("dots are not allowed")]
    Dot,
    /// `--`, which also keeps `xn--` out.
    #[error("cannot use multiple consecutive dashes")]
    ConsecutiveDashes,
    /// Refused by the IDNA lookup profile.
    #[error("must contain only letters, digits, and dashes, and may not use leading or trailing dashes")]
    Characters,
}

/// Normalises a type or a local name: UTS 46 lookup form in Unicode.
///
/// Source: `github.com/hashicorp/terraform-registry-address`, `ParseProviderPart`. There as here a dot may come out of
/// the normalisation (of U+3002), but unlike there never at an end or twice: a part is the name of a directory.
pub fn normalise_part(part: &str) -> Result<String, PartError> {
    normalise(part, AsciiDenyList::STD3)
}

/// Normalises a namespace: as a type, and for Terraform 1.16 and later with underscores, wherever they are.
///
/// Source: `github.com/hashicorp/terraform-registry-address` v0.5.0; OpenTofu has no such rule.
pub fn normalise_namespace(namespace: &str, dialect: Dialect) -> Result<String, PartError> {
    normalise(namespace, if dialect == Dialect::Terraform { WITH_UNDERSCORE } else { AsciiDenyList::STD3 })
}

fn normalise(part: &str, denied: AsciiDenyList) -> Result<String, PartError> {
    if part.is_empty() {
        return Err(PartError::Empty);
    }
    if part.contains('.') {
        return Err(PartError::Dot);
    }
    if part.contains("--") {
        return Err(PartError::ConsecutiveDashes);
    }
    if is_normal_label(part) {
        return Ok(part.to_owned());
    }
    to_unicode(part, denied).filter(|normal| !normal.split('.').any(str::is_empty)).ok_or(PartError::Characters)
}

#[cfg(test)]
mod hostname_tests {
    use super::*;

    #[test]
    fn the_short_way_for_plain_labels_says_what_idna_says() {
        for label in ["a", "7", "a-b", "a--b", "ab--c", "-a", "a-", "-", "", "xn--x-9fa", "xn--a", "a_b", "A", "é"] {
            let of_idna = to_ascii(label).and_then(|ascii| to_unicode(&ascii, AsciiDenyList::STD3));
            let is_same = of_idna.as_deref() == Some(label) && to_ascii(label).as_deref() == Some(label);
            assert!(is_same || !is_normal_label(label), "{label}: {of_idna:?}");
        }
    }

    #[test]
    fn both_forms() {
        let host = Hostname::parse("ÉX.com:8443").unwrap();
        assert_eq!(host.as_display(), "éx.com:8443");
        assert_eq!(host.as_ascii(), "xn--x-9fa.com:8443");
        assert_eq!(Hostname::parse("example.com:443").unwrap().as_ascii(), "example.com");
        assert_eq!(Hostname::parse("example.com:08443").unwrap().as_ascii(), "example.com:8443");
        assert_eq!(Hostname::parse("example.com:+8443").unwrap().as_ascii(), "example.com:8443");
        assert_eq!(Hostname::parse_any_spelling("xn--caf-dma.fr").unwrap().as_display(), "café.fr");
    }

    #[test]
    fn refusals() {
        let error = |text| Hostname::parse(text).unwrap_err();
        assert_eq!(error("https://example.com"), HostnameError::Url);
        assert_eq!(error("example.com:x"), HostnameError::PortNotANumber);
        assert_eq!(error("example.com:"), HostnameError::PortNotANumber);
        assert_eq!(error("example.com:-"), HostnameError::PortNotANumber);
        assert_eq!(error("example.com:99999999999999999999"), HostnameError::PortNotANumber);
        assert_eq!(error("example.com:65536"), HostnameError::PortTooLarge);
        assert_eq!(error("example.com:0"), HostnameError::PortTooSmall);
        assert_eq!(error("example.com:-5"), HostnameError::PortTooSmall);
        assert_eq!(error("a..b"), HostnameError::EmptyLabel);
        assert_eq!(error(""), HostnameError::Empty);
        assert!(matches!(error("xn--caf-dma.fr"), HostnameError::Punycode(_)));
        assert!(matches!(error("my_host.example"), HostnameError::Idna(_)));
        assert!(matches!(error("pr--1.example.com"), HostnameError::Idna(_)));
    }
}

#[cfg(test)]
mod idna_tests {
    use super::*;

    /// As terraform 1.11.4 takes them.
    #[test]
    fn names_of_the_tools() {
        let normal = |name: &str| to_unicode(name, AsciiDenyList::STD3);
        assert_eq!(normal("feature--site").as_deref(), Some("feature--site"));
        assert_eq!(normal("aẞb").as_deref(), Some("assb"));
        assert_eq!(normal("aßb").as_deref(), Some("aßb"));
        for name in ["pr--1", "ab--c.test", "x.ab--c", "é--b", "ab\u{ff0d}\u{ff0d}c", "xn--ab--c-epa"] {
            assert_eq!(normal(name), None, "{name}");
        }
        for (first, last) in DISALLOWED {
            assert_eq!([first, last].map(|c| normal(&format!("a{c}b"))), [None, None], "{first:?}");
        }
    }
}

#[cfg(test)]
mod part_tests {
    use super::*;

    #[test]
    fn normal_forms() {
        assert_eq!(normalise_part("AWS").as_deref(), Ok("aws"));
        assert_eq!(normalise_part("ａｗｓ").as_deref(), Ok("aws"));
        assert_eq!(normalise_part("ß").as_deref(), Ok("ß"));
        assert_eq!(normalise_part("a\u{3002}b").as_deref(), Ok("a.b"));
    }

    #[test]
    fn refusals() {
        assert_eq!(normalise_part(""), Err(PartError::Empty));
        assert_eq!(normalise_part("a.b"), Err(PartError::Dot));
        assert_eq!(normalise_part("a--b"), Err(PartError::ConsecutiveDashes));
        for part in
            ["-a", "a-", "a_b", " a", "a b", "\u{3002}", "\u{3002}\u{3002}", "a\u{3002}", "a\u{ff0f}b", "\u{ad}"]
        {
            assert_eq!(normalise_part(part), Err(PartError::Characters), "{part:?}");
        }
    }
    #[test]
    fn only_terraform_has_underscores_and_only_in_namespaces() {
        let terraform = |part: &str| normalise_namespace(part, Dialect::Terraform);
        for part in ["my_org", "_my_org_", "_", "é_b", "a-_b"] {
            assert_eq!(terraform(part).as_deref(), Ok(part));
            assert_eq!(normalise_namespace(part, Dialect::OpenTofu), Err(PartError::Characters), "{part}");
        }
        assert_eq!(terraform("My\u{ff3f}Org").as_deref(), Ok("my_org"));
        for c in (0u8..=127).map(char::from).filter(|c| !['_', '.', '-'].contains(c)) {
            let part = format!("a{c}b");
            assert_eq!(terraform(&part), normalise_part(&part), "{part:?}");
        }
        for part in ["-a_b", "a_b-", "a_b.c", "a__b--c", ""] {
            assert!(terraform(part).is_err(), "{part}");
        }
    }
}

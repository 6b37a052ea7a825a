//! Service hostnames: what is compared, what is shown.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::idna;

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
        let ascii = idna::to_ascii(name).ok_or_else(refused)?;
        let display = idna::to_unicode(&ascii).ok_or_else(refused)?;
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

#[cfg(test)]
mod tests {
    use super::*;

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

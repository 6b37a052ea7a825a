//! Users and passwords for hosts, as the tools find them for archives: in `$NETRC`, or `.netrc` in the home directory.
//!
//! Source: `github.com/hashicorp/go-getter` v1, `netrc.go`; `github.com/bgentry/go-netrc`.

use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use crate::disk::files;
use crate::net::Authorization;
use crate::settings::{Secret, Variables};

#[derive(Clone, Default)]
pub struct Netrc(Vec<Machine>);

#[derive(Clone, Default)]
struct Machine {
    /// None for the one that means all others.
    name: Option<String>,
    login: String,
    password: String,
}

impl Netrc {
    /// That of the user; an empty one if there is none, or none that can be read.
    pub fn of_user(variables: &Variables) -> Self {
        let named = variables.get("NETRC").filter(|path| !path.is_empty()).map(PathBuf::from);
        let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let path = named.or_else(|| Some(PathBuf::from(variables.get(home)?).join(name)));
        let bytes = path.filter(|path| path.is_file()).and_then(|path| files::read_named(&path).ok());
        Self::parse(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
    }

    fn parse(text: &str) -> Self {
        let mut machines: Vec<Machine> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let mut words = line.split_whitespace();
            while let Some(word) = words.next() {
                let mut value = || words.next().unwrap_or_default().to_owned();
                match (word, machines.last_mut()) {
                    ("machine", _) => machines.push(Machine { name: Some(value()), ..Machine::default() }),
                    ("default", _) => machines.push(Machine::default()),
                    ("login", Some(machine)) => machine.login = value(),
                    ("password", Some(machine)) => machine.password = value(),
                    ("account", _) => drop(value()),
                    // A macro goes on to the next empty line.
                    ("macdef", _) => {
                        lines.find(|line| line.trim().is_empty());
                        break;
                    }
                    _ if word.starts_with('#') => break,
                    _ => {}
                }
            }
        }
        Self(machines)
    }

    /// What an address wants, by host and port as it names them; nothing if it names a user itself.
    pub(super) fn authorization(&self, url: &Url) -> Option<Authorization> {
        if !url.username().is_empty() {
            return None;
        }
        let host = url.host_str()?;
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let own = self.0.iter().find(|machine| machine.name.as_ref() == Some(&host));
        let machine = own.or_else(|| self.0.iter().rfind(|machine| machine.name.is_none()))?;
        // From here on it is not printed.
        let _ = Secret::new(machine.password.clone());
        let both = STANDARD.encode(format!("{}:{}", machine.login, machine.password));
        Secret::new(both).map(Authorization::Basic)
    }
}

impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netrc({} machines)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(netrc: &str, url: &str) -> Option<String> {
        let Authorization::Basic(both) = Netrc::parse(netrc).authorization(&Url::parse(url).unwrap())? else {
            panic!("a token")
        };
        Some(String::from_utf8(STANDARD.decode(both.reveal()).unwrap()).unwrap())
    }

    #[test]
    fn machines_are_known_by_host_and_port() {
        let text = "# mine\nmachine a.example login me password pw1 account x\nmacdef init\nmachine no.example login no\n\n\
                    machine b.example:8443\n  login you\n  password pw2\n";
        for (url, wanted) in [
            ("https://a.example/x", Some("me:pw1")),
            ("https://a.example:8443/x", None),
            ("https://b.example:8443/x", Some("you:pw2")),
            ("https://sub.a.example/x", None),
            ("https://no.example/x", None),
            ("https://other@a.example/x", None),
        ] {
            assert_eq!(sent(text, url).as_deref(), wanted, "{url}");
        }
        let with_default = format!("default login any password pw3\n{text}");
        assert_eq!(sent(&with_default, "https://else.example/").as_deref(), Some("any:pw3"));
        assert_eq!(sent(&with_default, "https://a.example/").as_deref(), Some("me:pw1"));
    }

    #[test]
    fn nonsense_is_nothing() {
        for text in ["", "login x password y", "machine", "machine a.example login", "\u{0}"] {
            assert!(!matches!(sent(text, "https://a.example/").as_deref(), Some(sent) if sent != ":"), "{text:?}");
        }
    }
}

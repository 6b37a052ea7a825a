//! The module registry protocol, `modules.v1`; and users and passwords for hosts, as the tools find them for archives: in `$NETRC`, or
//! `.netrc` in the home directory.
//!
//! Source: `internal/registry/client.go` of both tools, `internal/initwd/module_install.go`; `github.com/hashicorp/go-getter` v1,
//! `netrc.go`; `github.com/bgentry/go-netrc`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use url::Url;

use super::address::{AddressError, RemoteAddress};
use crate::config::RegistryModule;
use crate::dialect::Dialect;
use crate::disk::files;
use crate::error::{Error, ErrorKind};
use crate::net::{
    Authorization, Client, Credentials, Discovery, DocumentKind, DocumentRequest, FetchedDocument, NetError, Service,
    ShownUrl, token_variable_shown,
};
use crate::settings::{Secret, Variables};
use crate::version::ModuleVersion;

#[derive(Debug)]
pub struct ModuleRegistry {
    client: Client,
    discovery: Arc<Discovery>,
    credentials: Arc<Credentials>,
}

/// The answer to *which versions are there*.
#[derive(Deserialize)]
struct VersionsAnswer {
    #[serde(default)]
    modules: Option<Vec<ModuleItem>>,
}

#[derive(Deserialize)]
struct ModuleItem {
    #[serde(default)]
    versions: Option<Vec<VersionItem>>,
}

#[derive(Deserialize)]
struct VersionItem {
    #[serde(default)]
    version: String,
}

/// The answer to *where is this version*.
#[derive(Deserialize)]
struct LocationAnswer {
    #[serde(default)]
    location: Option<String>,
}

impl ModuleRegistry {
    /// Registries behind one client.
    pub fn new(client: Client, discovery: Arc<Discovery>, credentials: Arc<Credentials>) -> Self {
        Self { client, discovery, credentials }
    }

    pub(super) fn discovery(&self) -> &Discovery {
        &self.discovery
    }

    /// All versions that a registry lists, in its order, as it writes them. Only the first module of an answer counts.
    pub async fn versions(&self, module: &RegistryModule) -> Result<Vec<String>, Error> {
        let url = self.endpoint(module, "versions").await?;
        let document = self.request(module, url).await?;
        let answer: VersionsAnswer =
            read(&document).map_err(|reason| unusable(module, &document.final_url, &reason))?;
        let first = answer.modules.into_iter().flatten().next();
        let Some(first) = first else {
            return Err(unusable(module, &document.final_url, "it lists no module"));
        };
        Ok(first.versions.into_iter().flatten().map(|item| item.version).collect())
    }

    pub async fn location(
        &self,
        module: &RegistryModule,
        version: &ModuleVersion,
        dialect: Dialect,
    ) -> Result<RemoteAddress, Error> {
        let url = self.endpoint(module, &format!("{}/download", version.canonical())).await?;
        let document = self.request(module, url.clone()).await?;
        let header = document.header("x-terraform-get").map(str::to_owned);
        let text = location_text(dialect, header, in_body(&document))
            .ok_or_else(|| unusable(module, &document.final_url, "it names no location of the module"))?;
        resolve(&text, &url).map_err(|reason| misplaced(module, &text, &reason))
    }

    async fn endpoint(&self, module: &RegistryModule, rest: &str) -> Result<Url, Error> {
        let base = self.discovery.url(&module.host, Service::Modules).await?;
        let path = format!("{}/{}/{}/{rest}", module.namespace, module.name, module.system);
        base.join(&path).map_err(|_| unusable(module, &base, "its service URL is not valid"))
    }

    async fn request(&self, module: &RegistryModule, url: Url) -> Result<FetchedDocument, Error> {
        // As in the tools, a helper that fails means no token.
        let token = self.credentials.token(&module.host).await.unwrap_or_default();
        let request = DocumentRequest::new(url, DocumentKind::Metadata).token(token.clone());
        self.client.document(&request).await.map_err(|error| refused(module, error, token.is_some()))
    }
}

fn read<'a, T: Deserialize<'a>>(document: &'a FetchedDocument) -> Result<T, String> {
    serde_json::from_slice(&document.body)
        .map_err(|error| format!("it is not the JSON document of the protocol: {error}"))
}

/// The location in a body; `None` if it is not JSON, or has none.
fn in_body(document: &FetchedDocument) -> Option<String> {
    let answer: LocationAnswer = read(document).ok()?;
    answer.location.filter(|location| !location.is_empty())
}

/// Which of the two counts: Terraform goes by the header, OpenTofu by the body where it has a location. Where the one that
/// counts is absent the tools differ; we take the other.
fn location_text(dialect: Dialect, header: Option<String>, body: Option<String>) -> Option<String> {
    let header = header.filter(|header| !header.is_empty());
    match dialect {
        Dialect::Terraform => header.or(body),
        Dialect::OpenTofu => body.or(header),
    }
}

/// A location as an address; relative ones are relative to the question.
fn resolve(text: &str, requested: &Url) -> Result<RemoteAddress, AddressError> {
    let is_relative = ["/", "./", "../"].iter().any(|prefix| text.starts_with(prefix));
    if is_relative {
        let joined = requested.join(text).map_err(|_| AddressError::Syntax(text.to_owned()))?;
        return RemoteAddress::parse(joined.as_str());
    }
    RemoteAddress::parse(text)
}

fn unusable(module: &RegistryModule, url: &Url, reason: &str) -> Error {
    let message = format!("the registry's answer about module {module} cannot be used: {reason}");
    Error::new(ErrorKind::Unavailable, message)
        .about_url(ShownUrl::new(url).as_str())
        .hint("a proxy or login page may have answered in place of the registry")
}

fn misplaced(module: &RegistryModule, text: &str, reason: &AddressError) -> Error {
    let location = ShownUrl::from_text(text);
    let message = format!("the registry places module {module} at {:?}: {reason}", location.as_str());
    Error::new(ErrorKind::Package, message).hint("a location must be an archive over https, or a git repository")
}

fn refused(module: &RegistryModule, error: NetError, sent: bool) -> Error {
    match error.status() {
        Some(404) => {
            let message = format!("module registry {} does not have the module {module}", module.host);
            Error::new(ErrorKind::NotFound, message).hint("check the source of the module call")
        }
        Some(status @ (401 | 403)) => {
            let variable = token_variable_shown(&module.host);
            let (refused, hint) = if sent {
                ("although credentials were sent to it", "check the token in")
            } else {
                ("and no credentials were sent to it", "put a token into")
            };
            Error::new(
                ErrorKind::Unauthorized,
                format!("host {} answered {status} for module {module}, {refused}", module.host),
            )
            .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
        }
        _ => {
            let message = format!("the request to the registry for module {module} failed: {error}");
            Error { message, ..Error::from(error) }
        }
    }
}

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

    #[test]
    fn which_location_counts() {
        let text = |dialect, header: Option<&str>, body: Option<&str>| {
            location_text(dialect, header.map(str::to_owned), body.map(str::to_owned))
        };
        let (terraform, tofu) = (Dialect::Terraform, Dialect::OpenTofu);
        assert_eq!(text(terraform, Some("h"), Some("b")).as_deref(), Some("h"));
        assert_eq!(text(tofu, Some("h"), Some("b")).as_deref(), Some("b"));
        assert_eq!(text(terraform, None, Some("b")).as_deref(), Some("b"));
        assert_eq!(text(tofu, Some("h"), None).as_deref(), Some("h"));
        assert_eq!(text(tofu, Some(""), None), None);
    }

    #[test]
    fn locations_are_relative_to_the_question() {
        let requested = Url::parse("https://r.example/v1/a/b/c/1.0.0/download").unwrap();
        let resolved = |text: &str| resolve(text, &requested).map(|address| address.to_string());
        for (text, expected) in [
            ("/x.zip//m?archive=zip", "https://r.example/x.zip//m?archive=zip"),
            ("./x.zip", "https://r.example/v1/a/b/c/1.0.0/x.zip"),
            ("../x.zip", "https://r.example/v1/a/b/c/x.zip"),
            ("git::https://g.example/x.git?ref=v1", "git::https://g.example/x.git?ref=v1"),
        ] {
            assert_eq!(resolved(text).as_deref(), Ok(expected), "{text}");
        }
        assert!(matches!(resolved("file:///etc"), Err(AddressError::File(_))));
        assert!(matches!(resolved("git::file:///etc"), Err(AddressError::File(_))));
        for text in ["a.zip", "files/a.zip", "acme/net/lab", "r.example/acme/net/lab"] {
            assert!(matches!(resolved(text), Err(AddressError::Syntax(_))), "{text}");
        }
    }
}

#[cfg(test)]
mod netrc_tests {
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

//! The module registry protocol, `modules.v1`.
//!
//! Source: `internal/registry/client.go` of both tools, `internal/initwd/module_install.go`.

use std::sync::Arc;

use serde::Deserialize;
use url::Url;

use super::address::{AddressError, RemoteAddress};
use crate::config::{ModuleVersion, RegistryModule};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::net::{
    Client, Credentials, Discovery, Document, DocumentRequest, Kind, NetError, Service, ShownUrl, token_variable_shown,
};

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

    async fn request(&self, module: &RegistryModule, url: Url) -> Result<Document, Error> {
        // As in the tools, a helper that fails means no token.
        let token = self.credentials.token(&module.host).await.unwrap_or_default();
        let request = DocumentRequest::new(url, Kind::Metadata).token(token.clone());
        self.client.document(&request).await.map_err(|error| refused(module, error, token.is_some()))
    }
}

fn read<'a, T: Deserialize<'a>>(document: &'a Document) -> Result<T, String> {
    serde_json::from_slice(&document.body)
        .map_err(|error| format!("it is not the JSON document of the protocol: {error}"))
}

/// The location in a body; `None` if it is not JSON, or has none.
fn in_body(document: &Document) -> Option<String> {
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
        Some(401 | 403) => {
            let variable = token_variable_shown(&module.host);
            let (refused, hint) = if sent {
                ("rejected the given authentication credentials", "check the token in")
            } else {
                ("requires authentication credentials", "put a token into")
            };
            Error::new(ErrorKind::Unauthorized, format!("host {} {refused} for module {module}", module.host))
                .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
        }
        _ => {
            let message = format!("the request to the registry for module {module} failed: {error}");
            Error { message, ..Error::from(error) }
        }
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

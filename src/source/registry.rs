//! The provider registry protocol, `providers.v1`.
//!
//! Source: `internal/getproviders/registry_client.go`, `registry_source.go`.

use std::sync::Arc;

use url::Url;

use super::wire::{self, WireError};
use super::{
    Connection, Miss, no_credentials, page_beside_download, page_of_source, unanswered, unauthorized, unusable,
};
use crate::addr::{Hostname, ProviderAddr};
use crate::config::StandIn;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hash::Sha256Digest;
use crate::net::{Client, Credentials, Discovery, DocumentKind, DocumentRequest, FetchedDocument, Service, ShownUrl};
use crate::platform::Platform;
use crate::release::Offer;
use crate::release::hashes::ReportedPackages;
use crate::version::Version;

/// As users know it.
const REGISTRY: &str = "the registry";

/// The origin registries: each address is requested from its own host.
#[derive(Debug)]
pub struct Registry {
    client: Client,
    discovery: Arc<Discovery>,
    credentials: Arc<Credentials>,
    stand_in: Option<StandIn>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryPackage {
    pub platform: Platform,
    /// The plugin protocols of the release.
    pub protocols: Vec<String>,
    pub file_name: String,
    pub url: Url,
    /// The digest that the answer announces.
    pub shasum: Sha256Digest,
    /// Where checksums and signature are, and the keys that may have signed.
    pub signed: SignedUrls,
    /// What the origin reports about the packages of all platforms, unsigned.
    pub reported: ReportedPackages,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SignedUrls {
    pub sums: Url,
    pub signature: Url,
    pub keys: Vec<String>,
}

/// What a registry says of all releases of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderListing {
    pub offers: Arc<Vec<Offer>>,
    /// Such as that the provider is deprecated; one line each.
    pub warnings: Arc<[String]>,
}

impl Registry {
    pub fn new(connection: Connection) -> Self {
        let Connection { client, discovery, credentials, stand_in, .. } = connection;
        Self { client, discovery, credentials, stand_in }
    }

    pub fn credentials(&self) -> &Arc<Credentials> {
        &self.credentials
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What the registry lists, as the tool of the dialect reads it.
    pub async fn versions(&self, addr: &ProviderAddr, dialect: Dialect) -> Result<ProviderListing, Miss> {
        let url = self.endpoint(addr, &format!("{}/{}/versions", addr.namespace(), addr.type_name())).await?;
        let absent = |words: Option<&str>| {
            let words = words.map(|words| format!(": {words}")).unwrap_or_default();
            let (namespace, name) = (addr.namespace(), addr.type_name());
            let message = format!("{} has no provider {namespace}/{name}{words}", addr.host());
            let error = Error::new(ErrorKind::UnknownProvider, message).about(addr.clone());
            let hint = step!("check its source address; `tflock why` shows every place that requires it");
            Miss::Absent(error.hint(hint))
        };
        let document = self.metadata(addr, url, absent).await?;
        let read = wire::read::<wire::Versions>(&document.body);
        let read = read.and_then(|versions| Ok((versions.warnings(), versions.offers(dialect)?)));
        let (warnings, offers) = read.map_err(|reason| answer(addr, &document.final_url, &reason))?;
        if offers.is_empty() {
            let message = format!("provider registry {} lists no release of provider {addr}", addr.host());
            return Err(Miss::Absent(Error::new(ErrorKind::NotFound, message)));
        }
        Ok(ProviderListing { offers: Arc::new(offers), warnings: warnings.into() })
    }

    pub async fn package(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<RegistryPackage, Miss> {
        let (namespace, kind) = (addr.namespace(), addr.type_name());
        let path = format!("{namespace}/{kind}/{version}/download/{}/{}", platform.os(), platform.arch());
        let url = self.endpoint(addr, &path).await?;
        let absent = |words: Option<&str>| match words {
            None => {
                let message = format!("provider {addr} {version} is not available for {platform}");
                Miss::Absent(Error::new(ErrorKind::NotFound, message))
            }
            // Another version need not have what this one lacks.
            Some(words) => {
                let message =
                    format!("the registry does not give provider {addr} {version} for {platform} (404): {words}");
                Error::new(ErrorKind::NotFound, message).about(addr.clone()).into()
            }
        };
        let document = self.metadata(addr, url, absent).await?;
        let download: wire::Download =
            wire::read(&document.body).map_err(|reason| answer(addr, &document.final_url, &reason))?;
        Ok(package_of(addr, platform, &document.final_url, download)?)
    }

    /// The publisher's page about a release, if its package or the registry names one.
    ///
    /// The package's own URL names it on hosts of the usual kind. Else the registry is requested as Terraform's public one
    /// can be, outside of any protocol; an answer that is none counts as no place.
    pub async fn link(&self, addr: &ProviderAddr, version: &Version, package: &RegistryPackage) -> Option<Url> {
        if let Some(page) = page_beside_download(&package.url) {
            return Some(page);
        }
        let path = format!("{}/{}/{version}", addr.namespace(), addr.type_name());
        let url = self.endpoint(addr, &path).await.ok()?;
        let absent = |_: Option<&str>| Miss::Absent(Error::new(ErrorKind::NotFound, "there is no such document"));
        let document = self.metadata(addr, url, absent).await.ok()?;
        let about: wire::About = wire::read(&document.body).ok()?;
        page_of_source(&about.source, about.tag.as_deref())
    }

    pub async fn signed_document(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        url: &Url,
        kind: DocumentKind,
    ) -> Result<Vec<u8>, Miss> {
        let request = DocumentRequest::new(url.clone(), kind);
        let what = if kind == DocumentKind::Sums { "the checksums" } else { "the signature over the checksums" };
        let document = self.client.document(&request).await.map_err(|error| match error.status() {
            Some(404) => {
                let url = ShownUrl::new(url);
                let message =
                    format!("{what} of provider {addr} {version} cannot be retrieved: {url} answered 404 Not Found");
                Miss::Absent(Error::new(ErrorKind::NotFound, message).about_url(url.as_str()))
            }
            _ => unanswered(REGISTRY, addr, error).into(),
        })?;
        // Checksums begin with a digest and signatures with a packet, whatever the server calls them.
        let sound = match document.body.first() {
            Some(first) if kind == DocumentKind::Sums => first.is_ascii_hexdigit(),
            first => first.is_some_and(|first| first & 0x80 != 0),
        };
        if !sound && document.is_page() {
            return Err(answer(addr, &document.final_url, &WireError::Page(what)).into());
        }
        Ok(document.body)
    }

    /// The host that knows a provider.
    fn host<'a>(&'a self, addr: &'a ProviderAddr) -> &'a Hostname {
        self.discovery.asked(addr.host(), self.stand_in.as_ref())
    }

    async fn endpoint(&self, addr: &ProviderAddr, path: &str) -> Result<Url, Miss> {
        let base = self.discovery.url(self.host(addr), Service::Providers).await.map_err(Error::from)?;
        Ok(base.join(path).map_err(|_| no_url(addr, "service URL", base.as_str()))?)
    }

    async fn metadata(
        &self,
        addr: &ProviderAddr,
        url: Url,
        absent: impl Fn(Option<&str>) -> Miss,
    ) -> Result<FetchedDocument, Miss> {
        let host = self.host(addr);
        let token = self.credentials.token(host).await;
        let token = token.map_err(|problem| no_credentials(host, problem))?;
        let request = DocumentRequest::new(url, DocumentKind::Metadata).token(token.clone());
        self.client.document(&request).await.map_err(|error| match error.status() {
            Some(404) => absent(error.words()),
            Some(status @ (401 | 403)) => unauthorized(host, status, token.is_some()).into(),
            _ => unanswered(REGISTRY, addr, error).into(),
        })
    }
}

fn answer(addr: &ProviderAddr, url: &Url, reason: &WireError) -> Error {
    let error = unusable(REGISTRY, addr, url, reason);
    match reason {
        WireError::Json(_) | WireError::Missing(_) | WireError::Page(_) => {
            error.hint("a proxy or login page may have answered in place of the registry")
        }
        _ => error,
    }
}

fn no_url(addr: &ProviderAddr, field: &str, text: &str) -> Error {
    let message = format!("the registry's response about provider {addr} has the invalid {field} {text:?}");
    Error::new(ErrorKind::Unavailable, message)
}

fn package_of(
    addr: &ProviderAddr,
    platform: &Platform,
    base: &Url,
    download: wire::Download,
) -> Result<RegistryPackage, Error> {
    let wrong = |reason| answer(addr, base, &reason);
    if download.os.is_empty() && download.arch.is_empty() {
        return Err(wrong(WireError::Missing("os")));
    }
    if (download.os.as_str(), download.arch.as_str()) != (platform.os(), platform.arch()) {
        let (os, arch) = (&download.os, &download.arch);
        let message = format!(
            "the registry's response to a request for {platform} of provider {addr} has incorrect target {os}_{arch}"
        );
        return Err(Error::new(ErrorKind::NotFound, message).about_url(ShownUrl::new(base).as_str()));
    }
    let resolve = |field: &'static str, text: &String| {
        if text.is_empty() {
            return Err(wrong(WireError::Missing(field)));
        }
        let url = base.join(text).ok().filter(|url| matches!(url.scheme(), "https" | "http"));
        url.ok_or_else(|| no_url(addr, field, text))
    };
    Ok(RegistryPackage {
        platform: platform.clone(),
        url: resolve("download_url", &download.url)?,
        shasum: Sha256Digest::from_hex(&download.shasum)
            .ok_or_else(|| wrong(WireError::Shasum(download.shasum.clone())))?,
        signed: SignedUrls {
            sums: resolve("shasums_url", &download.shasums_url)?,
            signature: resolve("shasums_signature_url", &download.shasums_signature_url)?,
            keys: download.keys(),
        },
        reported: download.reported().map_err(wrong)?,
        protocols: download.protocols,
        file_name: download.filename,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_urls_are_resolved_against_the_answer() {
        let addr = ProviderAddr::parse("example.com/acme/widget", Dialect::Terraform).unwrap();
        let body = format!(
            r#"{{"os":"linux","arch":"arm","filename":"f","download_url":"../f.zip","shasums_url":"s",
                "shasums_signature_url":"https://cdn.example/s.sig","shasum":"{}"}}"#,
            "ab".repeat(32),
        );
        let base = Url::parse("https://example.com/v1/a/download").unwrap();
        let platform = "linux_arm".parse().unwrap();
        let read = || wire::read(body.as_bytes()).unwrap();
        let package = package_of(&addr, &platform, &base, read()).unwrap();
        assert_eq!(package.url.as_str(), "https://example.com/v1/f.zip");
        assert_eq!(package.signed.sums.as_str(), "https://example.com/v1/a/s");
        let other = "linux_amd64".parse().unwrap();
        let error = package_of(&addr, &other, &base, read()).unwrap_err();
        assert!(error.message.ends_with("has incorrect target linux_arm"), "{error:?}");
    }
}

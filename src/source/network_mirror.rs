//! The provider network mirror protocol: documents below one URL with versions, archives and their hashes.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/index.json      {"versions": {"1.1.0": {}}}
//! BASE/HOST/NAMESPACE/TYPE/VERSION.json    {"archives": {"linux_amd64": {"url": "…", "hashes": ["h1:…", "zh:…"]}}}
//! ```
//!
//! Source: `internal/getproviders/http_mirror_source.go`. There, hosts with a port are not supported, since `HOST:PORT/…`
//! is taken for a URL; here they can.

use std::collections::BTreeMap;
use std::sync::Arc;

use url::Url;

use super::mirror::SignedDocuments;
use super::wire::{self, WireError};
use super::{Miss, no_credentials, unanswered, unauthorized, unusable};
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::mirror_contents::armored_blocks;
use crate::disk::mirror_writer::copy_names;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::net::{Client, Credentials, Document, DocumentRequest, Kind, NetError, ShownUrl};
use crate::platform::Platform;
use crate::settings::Secret;
use crate::version::Version;

/// A network mirror. Documents are requested with the token of its host, archives without one.
#[derive(Debug)]
pub struct NetworkMirror {
    client: Client,
    credentials: Arc<Credentials>,
    base: Url,
    host: Hostname,
    trust_all_hashes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirrorArchive {
    pub url: Url,
    /// The last part of its URL's path.
    pub file_name: String,
    /// Its hashes of known schemes, as the mirror reports them; empty if it reports none.
    pub hashes: Vec<PackageHash>,
}

/// As users know it.
const MIRROR: &str = "the network mirror";

impl NetworkMirror {
    pub fn new(client: Client, credentials: Arc<Credentials>, base: &str) -> Result<Self, Error> {
        let shown = ShownUrl::from_text(base).to_string();
        let wrong = |reason: String| no_url(&shown, &reason);
        let base = Url::parse(base).map_err(|problem| wrong(problem.to_string()))?;
        if base.scheme() != "https" {
            return Err(wrong("a network mirror must be served over https".to_owned()));
        }
        let host = match base.port() {
            Some(port) => format!("{}:{port}", base.host_str().unwrap_or_default()),
            None => base.host_str().unwrap_or_default().to_owned(),
        };
        let host = Hostname::parse_any_spelling(&host).map_err(|problem| wrong(problem.to_string()))?;
        Ok(Self { client, credentials, base, host, trust_all_hashes: false })
    }

    /// The same, where its user trusts all that it says of hashes.
    #[must_use]
    pub fn trusting_all_hashes(self, trust_all_hashes: bool) -> Self {
        Self { trust_all_hashes, ..self }
    }

    /// True if its user trusts all that it says of hashes, of whatever platform.
    pub fn trusts_all_hashes(&self) -> bool {
        self.trust_all_hashes
    }

    pub fn shown(&self) -> ShownUrl {
        ShownUrl::new(&self.base)
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The versions of a provider, ascending. Keys of the index that are no version are passed over, as in the tools.
    pub async fn versions(&self, addr: &ProviderAddr) -> Result<Vec<Version>, Miss> {
        let absent = |_: &Url| {
            let mirror = self.shown();
            let message = format!("provider {addr} was not found in {MIRROR} {mirror}");
            Miss::Absent(Error::new(ErrorKind::NotFound, message).about_url(mirror.as_str()))
        };
        let document = self.document(addr, "index.json", absent).await?;
        let index: wire::MirrorIndex = read(addr, &document)?;
        let versions = index
            .versions
            .ok_or_else(|| unusable(MIRROR, addr, &document.final_url, &WireError::Missing("versions")))?;
        let mut versions: Vec<Version> = versions.0.iter().filter_map(|text| text.parse().ok()).collect();
        versions.sort();
        versions.dedup();
        Ok(versions)
    }

    /// The archives of a release, by platform, or why one cannot be used: a hash without a scheme, hashes of unknown schemes
    /// only. The tools look at the archive that they install, whatever is said of the others. Keys that are no platform are
    /// passed over.
    pub async fn archives(
        &self,
        addr: &ProviderAddr,
        version: &Version,
    ) -> Result<BTreeMap<Platform, Result<MirrorArchive, Error>>, Miss> {
        let absent = |url: &Url| {
            let message = format!(
                "{MIRROR} lists {addr} {version} in its index, but its response for that version is 404 Not Found"
            );
            Miss::Unknown(Error::new(ErrorKind::Unavailable, message).about_url(ShownUrl::new(url).as_str()))
        };
        let document = self.document(addr, &format!("{version}.json"), absent).await?;
        let release: wire::MirrorVersion = read(addr, &document)?;
        let wrong = |reason| unusable(MIRROR, addr, &document.final_url, &reason);
        let archives = release.archives.ok_or_else(|| wrong(WireError::Missing("archives")))?;
        let known = archives.into_iter().filter_map(|(key, archive)| Some((key.parse::<Platform>().ok()?, archive)));
        let read = known.map(|(platform, it)| (platform, archive_of(&document.final_url, &it).map_err(wrong)));
        Ok(read.collect())
    }

    /// The mirror's copies of what was signed, next to the packages, if it has all of them. That a file is not served, for
    /// whatever reason but that the server fails, says that there is no copy.
    pub async fn signed_copies(&self, addr: &ProviderAddr, version: &Version) -> Result<Option<SignedDocuments>, Miss> {
        let [sums, signature, keys] = copy_names(addr, version);
        let Some(sums) = self.copy(addr, &sums, Kind::Sums).await? else { return Ok(None) };
        let Some(signature) = self.copy(addr, &signature, Kind::Signature).await? else { return Ok(None) };
        let Some(keys) = self.copy(addr, &keys, Kind::Sums).await? else { return Ok(None) };
        Ok(Some(SignedDocuments { sums, signature, keys: armored_blocks(&String::from_utf8_lossy(&keys)) }))
    }

    async fn copy(&self, addr: &ProviderAddr, name: &str, kind: Kind) -> Result<Option<Vec<u8>>, Miss> {
        // As for archives, without a token.
        match self.request(addr, name, (kind, None)).await? {
            Ok(document) if document.is_page() => Ok(None),
            Ok(document) => Ok(Some(document.body)),
            Err(Refused { error, .. }) if error.status().is_some_and(|status| status < 500 && status != 429) => {
                Ok(None)
            }
            Err(Refused { error, .. }) => Err(unanswered(MIRROR, addr, error).into()),
        }
    }

    async fn document(&self, addr: &ProviderAddr, name: &str, absent: impl Fn(&Url) -> Miss) -> Result<Document, Miss> {
        let token = self.credentials.token(&self.host).await;
        let token = token.map_err(|problem| no_credentials(&self.host, problem))?;
        self.request(addr, name, (Kind::Metadata, token)).await?.map_err(|Refused { url, sent, error }| {
            match error.status() {
                Some(404) => absent(&url),
                Some(401 | 403) => unauthorized(&self.host, sent).into(),
                _ => unanswered(MIRROR, addr, error).into(),
            }
        })
    }

    /// A file next to the packages of a provider.
    async fn request(
        &self,
        addr: &ProviderAddr,
        name: &str,
        (kind, token): (Kind, Option<Secret>),
    ) -> Result<Result<Document, Refused>, Miss> {
        // With `./` in front the colon of a port is no end of a scheme.
        let path = format!("./{}/{}/{}/{name}", addr.host().as_ascii(), addr.namespace(), addr.type_name());
        let url = self.base.join(&path);
        let url = url.map_err(|problem| no_url(&path, &problem.to_string()))?;
        let sent = token.is_some();
        let request = DocumentRequest::new(url.clone(), kind).token(token);
        Ok(self.client.document(&request).await.map_err(|error| Refused { url, sent, error }))
    }
}

/// A request that was not answered with success.
struct Refused {
    url: Url,
    sent: bool,
    error: NetError,
}

fn read<T: serde::de::DeserializeOwned>(addr: &ProviderAddr, document: &Document) -> Result<T, Error> {
    let wrong = |reason| unusable(MIRROR, addr, &document.final_url, &reason);
    match document.media_type().as_deref() {
        Some("application/json") => wire::read(&document.body).map_err(wrong),
        _ if document.is_page() => Err(wrong(WireError::Page("its document"))),
        other => Err(wrong(WireError::ContentType(other.unwrap_or_default().to_owned()))),
    }
}

fn archive_of(base: &Url, archive: &wire::MirrorArchive) -> Result<MirrorArchive, WireError> {
    let url =
        base.join(&archive.url).ok().filter(|url| !archive.url.is_empty() && matches!(url.scheme(), "https" | "http"));
    let url = url.ok_or(WireError::Missing("url"))?;
    let mut hashes = Vec::new();
    for text in &archive.hashes {
        hashes.push(text.parse::<PackageHash>().map_err(|_| WireError::PackageHash(text.clone()))?);
    }
    let some = !hashes.is_empty();
    hashes.retain(|hash| hash.scheme() != HashScheme::Other);
    if some && hashes.is_empty() {
        return Err(WireError::UnknownSchemes);
    }
    let file_name = url.path_segments().and_then(|mut segments| segments.next_back()).unwrap_or_default().to_owned();
    Ok(MirrorArchive { url, file_name, hashes })
}

fn no_url(url: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("{url:?} is not the URL of a network mirror: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, hashes: &[&str]) -> Result<MirrorArchive, WireError> {
        let base = Url::parse("https://mirror.example/m/registry.example/acme/x/1.0.0.json").unwrap();
        let hashes = hashes.iter().map(|text| (*text).to_owned()).collect();
        archive_of(&base, &wire::MirrorArchive { url: url.to_owned(), hashes })
    }

    #[test]
    fn urls_count_from_the_document() {
        for (text, wanted) in [
            ("x.zip", "https://mirror.example/m/registry.example/acme/x/x.zip"),
            ("../../../x.zip", "https://mirror.example/m/x.zip"),
            ("/x.zip", "https://mirror.example/x.zip"),
            ("http://other.example/x.zip", "http://other.example/x.zip"),
        ] {
            assert_eq!(read(text, &[]).unwrap().url.as_str(), wanted);
        }
        assert!(read("", &[]).is_err() && read("file:///x.zip", &[]).is_err());
    }

    #[test]
    fn hashes_need_schemes_and_one_that_is_known() {
        assert_eq!(read("x", &["h1:a", "sha3:b"]).unwrap().hashes.len(), 1);
        assert_eq!(read("x", &["abc"]).unwrap_err(), WireError::PackageHash("abc".to_owned()));
        assert_eq!(read("x", &["sha3:abc"]).unwrap_err(), WireError::UnknownSchemes);
    }

    #[test]
    fn only_https_urls_are_mirrors() {
        let mirror =
            |url: &str| NetworkMirror::new(Client::new(crate::net::ClientOptions::default()), Arc::default(), url);
        assert_eq!(mirror("https://m.example:8443/x/").unwrap().host.as_ascii(), "m.example:8443");
        for wrong in ["http://m.example/", "m.example", "https://"] {
            assert_eq!(mirror(wrong).unwrap_err().kind, ErrorKind::Usage, "{wrong}");
        }
    }
}

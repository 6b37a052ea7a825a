//! A mirror of whatever protocol: what it has of a provider, and where each package is; and the provider network mirror
//! protocol: documents below one URL with versions, archives and their hashes.
//!
//! ```text
//! BASE/HOST/NAMESPACE/TYPE/index.json      {"versions": {"1.1.0": {}}}
//! BASE/HOST/NAMESPACE/TYPE/VERSION.json    {"archives": {"linux_amd64": {"url": "…", "hashes": ["h1:…", "zh:…"]}}}
//! ```
//!
//! Source: `internal/getproviders/http_mirror_source.go`. There, hosts with a port are not supported, since `HOST:PORT/…`
//! is taken for a URL; here they can.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use url::Url;

use super::oci::{OciMirror, OciPackage};
use super::wire::{self, WireError};
use super::{Miss, no_credentials, unanswered, unauthorized, unusable};
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::files;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::mirror_writer::{armored_blocks, copy_names};
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash};
use crate::net::{
    Client, ClientOptions, Credentials, DocumentKind, DocumentRequest, FetchedDocument, NetError, ShownUrl,
};
use crate::path::shown;
use crate::platform::Platform;
use crate::settings::Secret;
use crate::version::Version;

/// A mirror. It says what it has and judges nothing.
#[derive(Debug)]
pub enum Mirror {
    Directory(DirectoryMirror),
    /// A server with the network mirror protocol.
    Network(Box<NetworkMirror>),
    Oci(Box<OciMirror>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MirrorPackage {
    Local(LocalPackage),
    Archive(MirrorArchive),
    Oci(OciPackage),
    /// Listed, but without a usable location.
    Unusable(Error),
}

/// What was signed, its signature, and the keys that may have made it: a registry's, or a mirror's own copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedDocuments {
    pub sums: Vec<u8>,
    pub signature: Vec<u8>,
    pub keys: Vec<String>,
}

pub type MirrorPackages = BTreeMap<Platform, MirrorPackage>;

impl Mirror {
    /// The mirror, as users know it.
    pub fn shown(&self) -> String {
        match self {
            Self::Directory(mirror) => format!("the filesystem mirror {}", shown(mirror.base())),
            Self::Network(mirror) => format!("the network mirror {}", mirror.shown()),
            Self::Oci(mirror) => format!("the OCI mirror {}", mirror.shown()),
        }
    }

    pub fn client(&self) -> Client {
        match self {
            Self::Directory(_) => Client::new(ClientOptions::default()),
            Self::Network(mirror) => mirror.client().clone(),
            Self::Oci(mirror) => mirror.client().client().clone(),
        }
    }

    pub fn placed(&self, error: Error) -> Error {
        match self {
            Self::Directory(mirror) => error.in_file(mirror.base()),
            Self::Network(mirror) => error.about_url(mirror.shown().as_str()),
            Self::Oci(_) => error,
        }
    }

    /// The versions of a provider, ascending.
    pub async fn versions(&self, addr: &ProviderAddr) -> Result<Vec<Version>, Miss> {
        match self {
            Self::Directory(mirror) => mirror.versions(addr).await,
            Self::Network(mirror) => mirror.versions(addr).await,
            Self::Oci(mirror) => mirror.versions(&mirror.repository(addr)?).await,
        }
    }

    pub async fn packages(&self, addr: &ProviderAddr, version: &Version) -> Result<MirrorPackages, Miss> {
        match self {
            Self::Directory(mirror) => mirror.packages(addr, version).await,
            Self::Network(mirror) => {
                let mut packages = MirrorPackages::new();
                for (platform, archive) in mirror.archives(addr, version).await? {
                    let package = match archive {
                        Ok(archive) => MirrorPackage::Archive(archive),
                        // What is said of every platform is recorded.
                        Err(problem) if mirror.trusts_all_hashes() => return Err(problem.into()),
                        Err(problem) => MirrorPackage::Unusable(problem),
                    };
                    packages.insert(platform, package);
                }
                Ok(packages)
            }
            Self::Oci(mirror) => {
                let repository = mirror.repository(addr)?;
                let packages = mirror.packages(&repository, version).await?.into_iter();
                Ok(packages.map(|(platform, package)| (platform, MirrorPackage::Oci(package))).collect())
            }
        }
    }

    /// The mirror's own copies of the signed checksums of a release, if it has all of them.
    pub async fn signed_copies(&self, addr: &ProviderAddr, version: &Version) -> Result<Option<SignedDocuments>, Miss> {
        match self {
            Self::Directory(mirror) => mirror.signed_copies(addr, version).await,
            Self::Network(mirror) => mirror.signed_copies(addr, version).await,
            Self::Oci(_) => Ok(None),
        }
    }

    /// True if the tool does not pass it over where it lacks a provider or a version, even if only a later source has that.
    ///
    /// Source: as seen with tofu 1.12; "not found" is passed over only where versions are listed.
    pub fn fails_if_absent(&self) -> bool {
        matches!(self, Self::Oci(_))
    }

    pub fn lacks(&self, addr: &ProviderAddr) -> Error {
        let message = format!("{} has no release of provider {addr}", self.shown());
        let error = self.placed(Error::new(ErrorKind::NotFound, message));
        match self {
            Self::Directory(_) => error.hint("check the directory: HOST/NAMESPACE/TYPE is looked for below it"),
            _ => error,
        }
    }

    /// True if what it says of other platforms is to be recorded as well.
    pub fn trusts_all_hashes(&self) -> bool {
        matches!(self, Self::Network(mirror) if mirror.trusts_all_hashes())
    }
}

/// A directory with packages, read aside from the runtime's threads. Whether it exists shows when it is read.
#[derive(Debug, Clone)]
pub struct DirectoryMirror {
    base: PathBuf,
    opened: Arc<OnceLock<FilesystemMirror>>,
}

impl DirectoryMirror {
    pub fn new(base: PathBuf) -> Self {
        Self { base, opened: Arc::default() }
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The versions of a provider, ascending; empty if the mirror does not have it.
    pub async fn versions(&self, addr: &ProviderAddr) -> Result<Vec<Version>, Miss> {
        let addr = addr.clone();
        self.aside(move |mirror| mirror.versions(&addr)).await
    }

    pub async fn packages(&self, addr: &ProviderAddr, version: &Version) -> Result<MirrorPackages, Miss> {
        let (addr, version) = (addr.clone(), version.clone());
        let packages = self.aside(move |mirror| {
            let packages = mirror.packages(&addr)?;
            let local = |package: &LocalPackage| MirrorPackage::Local(package.clone());
            Ok(packages.of(&version).map(|(platform, package)| (platform.clone(), local(package))).collect())
        });
        packages.await
    }

    /// The copies of signed documents next to the packed packages.
    pub async fn signed_copies(&self, addr: &ProviderAddr, version: &Version) -> Result<Option<SignedDocuments>, Miss> {
        let (addr, version) = (addr.clone(), version.clone());
        let folder = self.aside(move |mirror| {
            let packages = mirror.packages(&addr)?;
            // What is signed are archives: where a directory is a package, the signature says nothing of it.
            let mut folders = packages.of(&version).map(|(_, package)| match package {
                LocalPackage::Packed(path) => path.parent().map(Path::to_owned),
                LocalPackage::Unpacked(_) => None,
            });
            let folder = folders.next().flatten().filter(|_| folders.all(|folder| folder.is_some()));
            Ok(folder.map(|folder| (folder, copy_names(&addr, &version))))
        });
        let Some((folder, names)) = folder.await? else { return Ok(None) };
        let read = |name: &str, kind: DocumentKind| bounded(&folder.join(name), kind);
        let (Some(sums), Some(signature), Some(keys)) = (
            read(&names[0], DocumentKind::Sums)?,
            read(&names[1], DocumentKind::Signature)?,
            read(&names[2], DocumentKind::Sums)?,
        ) else {
            return Ok(None);
        };
        Ok(Some(SignedDocuments { sums, signature, keys: armored_blocks(&String::from_utf8_lossy(&keys)) }))
    }

    /// Reads the directory on a thread that may wait for a disk.
    async fn aside<R: Send + 'static>(
        &self,
        read: impl FnOnce(&FilesystemMirror) -> Result<R, MirrorError> + Send + 'static,
    ) -> Result<R, Miss> {
        let Self { base, opened } = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let mirror = match opened.get() {
                Some(mirror) => mirror,
                None => &FilesystemMirror::open(base).map(|mirror| opened.get_or_init(|| mirror).clone())?,
            };
            read(mirror)
        });
        match reading.await {
            Ok(read) => read.map_err(|error| Miss::Unknown(error.into())),
            Err(problem) => {
                let message = format!("reading the filesystem mirror was interrupted: {problem}");
                Err(Miss::Unknown(Error::new(ErrorKind::Interrupted, message)))
            }
        }
    }
}

/// A file of bounded size, if it exists.
fn bounded(path: &Path, kind: DocumentKind) -> Result<Option<Vec<u8>>, Miss> {
    let unreadable = |reason: &dyn std::fmt::Display| {
        let message = format!("cannot read {}: {reason}", shown(path));
        Miss::Unknown(Error::new(ErrorKind::Disk, message).in_file(path))
    };
    let bytes = files::read(path).map_err(|reason| unreadable(&reason))?;
    match bytes {
        Some(bytes) if bytes.len() as u64 > kind.limit() => {
            Err(unreadable(&format!("it is larger than {} bytes", kind.limit())))
        }
        bytes => Ok(bytes),
    }
}

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
        let Some(sums) = self.copy(addr, &sums, DocumentKind::Sums).await? else { return Ok(None) };
        let Some(signature) = self.copy(addr, &signature, DocumentKind::Signature).await? else { return Ok(None) };
        let Some(keys) = self.copy(addr, &keys, DocumentKind::Sums).await? else { return Ok(None) };
        Ok(Some(SignedDocuments { sums, signature, keys: armored_blocks(&String::from_utf8_lossy(&keys)) }))
    }

    async fn copy(&self, addr: &ProviderAddr, name: &str, kind: DocumentKind) -> Result<Option<Vec<u8>>, Miss> {
        // As for archives, without a token.
        match self.request(addr, name, kind, None).await? {
            Ok(document) if document.is_page() => Ok(None),
            Ok(document) => Ok(Some(document.body)),
            Err(Refused { error, .. }) if error.status().is_some_and(|status| status < 500 && status != 429) => {
                Ok(None)
            }
            Err(Refused { error, .. }) => Err(unanswered(MIRROR, addr, error).into()),
        }
    }

    async fn document(
        &self,
        addr: &ProviderAddr,
        name: &str,
        absent: impl Fn(&Url) -> Miss,
    ) -> Result<FetchedDocument, Miss> {
        let token = self.credentials.token(&self.host).await;
        let token = token.map_err(|problem| no_credentials(&self.host, problem))?;
        self.request(addr, name, DocumentKind::Metadata, token).await?.map_err(|Refused { url, sent, error }| {
            match error.status() {
                Some(404) => absent(&url),
                Some(status @ (401 | 403)) => unauthorized(&self.host, status, sent).into(),
                _ => unanswered(MIRROR, addr, error).into(),
            }
        })
    }

    /// A file next to the packages of a provider.
    async fn request(
        &self,
        addr: &ProviderAddr,
        name: &str,
        kind: DocumentKind,
        token: Option<Secret>,
    ) -> Result<Result<FetchedDocument, Refused>, Miss> {
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

fn read<T: serde::de::DeserializeOwned>(addr: &ProviderAddr, document: &FetchedDocument) -> Result<T, Error> {
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

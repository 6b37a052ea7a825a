//! Sources of releases: what they offer, in our types.
//!
//! A source reports; it judges nothing and writes nothing. It keeps *absent* (the source says that there is no such
//! thing) apart from *unavailable* (not known).

pub mod advisories;
mod index;
#[cfg(feature = "cloud")]
mod index_cloud;
mod methods;
mod mirror;
mod network_mirror;
pub mod oci;
mod registry;
mod wire;

use std::sync::Arc;

use oci::{OciClient, OciMirror, Template};
use url::Url;

use self::wire::WireError;
use crate::addr::{Hostname, ProviderAddr};
use crate::disk::helper::HelperError;
use crate::disk::oci_credentials::OciCredentials;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, Credentials, Discovery, NetError, ShownUrl, token_variable_shown};

pub use index::{IndexStores, Published, SharedIndexes};
pub use methods::{Filter, Location, Method};
pub use mirror::{DirectoryMirror, Mirror, MirrorPackage, MirrorPackages, SignedDocuments};
pub use network_mirror::{MirrorArchive, NetworkMirror};
pub use registry::{Listing, Package, Registry, SignedUrls};

#[derive(Debug)]
pub enum Source {
    /// The registry at each address's own host.
    Registry(Box<Registry>),
    Mirror(Mirror),
}

/// What sources connect with.
#[derive(Debug, Clone)]
pub struct Connection {
    pub client: Client,
    pub discovery: Arc<Discovery>,
    pub credentials: Arc<Credentials>,
    pub oci: Arc<OciCredentials>,
}

impl Source {
    /// Opens the source of a method. `connect` takes the further attempts of a download, where they are stated.
    pub fn open(method: &Method, connect: impl Fn(Option<u32>) -> Result<Connection, Error>) -> Result<Self, Error> {
        Ok(Self::Mirror(match &method.place {
            Location::Direct { download_retries } => {
                let Connection { client, discovery, credentials, .. } = connect(*download_retries)?;
                return Ok(Self::Registry(Box::new(Registry::new(client, discovery, credentials))));
            }
            Location::Directory(base) => Mirror::Directory(DirectoryMirror::new(base.clone())),
            Location::Network { url, download_retries, trust_all_hashes } => {
                let Connection { client, credentials, .. } = connect(*download_retries)?;
                let mirror = NetworkMirror::new(client, credentials, url)?;
                Mirror::Network(Box::new(mirror.trusting_all_hashes(*trust_all_hashes)))
            }
            Location::Oci(template) => {
                let Connection { client, oci, .. } = connect(None)?;
                let parsed = Template::parse(template, &method.filter.include)?;
                Mirror::Oci(Box::new(OciMirror::new(OciClient::new(client, oci), parsed, template)))
            }
        }))
    }
}

/// True if a list of protocols has one that the tools speak (5 or 6), or says nothing.
pub fn speaks_supported_protocol(protocols: &[String]) -> bool {
    let major = |text: &String| text.split('.').next().and_then(|number| number.parse::<u64>().ok());
    protocols.is_empty() || protocols.iter().filter_map(major).any(|major| (5..7).contains(&major))
}

/// Reads bytes as each answer of registries and mirrors, for the fuzzer.
#[doc(hidden)]
pub fn read_answers(bytes: &[u8]) {
    let _ = wire::read::<wire::Versions>(bytes).and_then(wire::Versions::offers);
    let _ = wire::read::<wire::MirrorIndex>(bytes);
    let _ = wire::read::<wire::MirrorVersion>(bytes);
    let _ = wire::read::<wire::About>(bytes);
    if let Ok(download) = wire::read::<wire::Download>(bytes) {
        let _ = (download.keys(), download.reported());
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// It affirms that there is no such thing.
    Absent(Error),
    /// It is not known.
    Unknown(Error),
}

impl Miss {
    /// What a source has; `None` if it affirms that there is no such thing.
    pub fn found<T>(answer: Result<T, Self>) -> Result<Option<T>, Error> {
        match answer {
            Ok(found) => Ok(Some(found)),
            Err(Self::Absent(_)) => Ok(None),
            Err(Self::Unknown(error)) => Err(error),
        }
    }
}

impl From<Error> for Miss {
    fn from(error: Error) -> Self {
        Self::Unknown(error)
    }
}

impl From<Miss> for Error {
    fn from(miss: Miss) -> Self {
        let (Miss::Absent(error) | Miss::Unknown(error)) = miss;
        error
    }
}

/// 401 or 403 of a host, with credentials or without.
fn unauthorized(host: &Hostname, sent: bool) -> Error {
    let (refused, hint) = if sent {
        ("rejected the given authentication credentials", "check the token in")
    } else {
        ("requires authentication credentials", "put a token into")
    };
    let variable = token_variable_shown(host);
    Error::new(ErrorKind::Unauthorized, format!("host {host} {refused}"))
        .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
}

fn no_credentials(host: &Hostname, problem: HelperError) -> Error {
    let message = format!("getting the credentials of {host} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

fn unanswered(source: &str, addr: &ProviderAddr, problem: NetError) -> Error {
    let message = format!("the request to {source} for provider {addr} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

fn unusable(source: &str, addr: &ProviderAddr, url: &Url, reason: &WireError) -> Error {
    let message = format!("{source}'s response about provider {addr} cannot be used: {reason}");
    Error::new(ErrorKind::Unavailable, message).about_url(ShownUrl::new(url).as_str())
}

/// The longest URL that is worth showing, in bytes.
const LONGEST_PAGE: usize = 400;

/// The page of a release, where its package lies next to it: `OWNER/REPOSITORY/releases/download/TAG/FILE`, as GitHub,
/// Gitea and Forgejo have it.
// Nothing proves these pages: no request is sent there, and users are shown https only.
fn page_beside_download(package: &Url) -> Option<Url> {
    let segments: Vec<&str> = package.path_segments()?.collect();
    let [owner, repository, "releases", "download", tag, _] = segments[..] else { return None };
    let mut page = package.clone();
    page.set_path(&format!("{owner}/{repository}/releases/tag/{tag}"));
    shown_page(page)
}

/// The page of a tag in a repository, or the repository.
fn page_of_source(source: &str, tag: Option<&str>) -> Option<Url> {
    let mut page = shown_page(Url::parse(source).ok()?)?;
    if let Some(tag) = tag.filter(|tag| !tag.is_empty() && page.host_str() == Some("github.com")) {
        page.path_segments_mut().ok()?.pop_if_empty().extend(["releases", "tag", tag]);
    }
    shown_page(page)
}

/// The URL as it may be shown: https, without credentials, query and fragment.
fn shown_page(mut url: Url) -> Option<Url> {
    url.set_query(None);
    url.set_fragment(None);
    let plain = url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none();
    (plain && url.as_str().len() <= LONGEST_PAGE).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(text: &str) -> Option<String> {
        page_beside_download(&Url::parse(text).unwrap()).map(String::from)
    }

    fn source(text: &str, tag: Option<&str>) -> Option<String> {
        page_of_source(text, tag).map(String::from)
    }

    #[test]
    fn the_page_beside_a_download() {
        let page = Some("https://github.com/acme/terraform-provider-x/releases/tag/v1.2.0".to_owned());
        assert_eq!(download("https://github.com/acme/terraform-provider-x/releases/download/v1.2.0/x.zip?a=b"), page);
        assert_eq!(download("https://example.com/x/1.2.0/x.zip"), None);
        assert_eq!(download("http://github.com/a/b/releases/download/v1/x.zip"), None);
        assert_eq!(download("https://me:secret@github.com/a/b/releases/download/v1/x.zip"), None);
    }

    #[test]
    fn a_tag_of_a_repository() {
        let page = |text: &str| Some(text.to_owned());
        assert_eq!(
            source("https://github.com/a/b", Some("v1.0.0")),
            page("https://github.com/a/b/releases/tag/v1.0.0")
        );
        assert_eq!(
            source("https://github.com/a/b/", Some("../x y")),
            page("https://github.com/a/b/releases/tag/..%2Fx%20y")
        );
        assert_eq!(source("https://github.com/a/b?q#f", None), page("https://github.com/a/b"));
        assert_eq!(source("https://git.example/a/b", Some("v1")), page("https://git.example/a/b"));
        for wrong in
            ["", "javascript:alert(1)", "http://github.com/a/b", "data:text/html,x", "https://u@github.com/a", "/a/b"]
        {
            assert_eq!(source(wrong, Some("v1")), None, "{wrong}");
        }
        assert_eq!(source(&format!("https://example.com/{}", "a".repeat(400)), None), None);
    }
}

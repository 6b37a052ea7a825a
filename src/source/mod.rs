//! Sources of releases: what they offer, in our types, and which of them an installation method uses for which provider.
//!
//! A source reports; it judges nothing and writes nothing. It keeps *absent* (the source says that there is no such
//! thing) apart from *unavailable* (not known).
//!
//! Installation methods are plain values in an order; nothing is opened here. `origin`, `fs:`, `net:` and `oci:` are lists of one.
//!
//! Source: `internal/command/cliconfig/provider_installation.go`, `internal/getproviders/multi_source.go` and
//! `provider_source.go` of both tools.

pub mod advisories;
mod index;
#[cfg(feature = "cloud")]
mod index_cloud;
mod mirror;
pub mod oci;
pub mod provenance;
mod registry;
mod wire;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;

use crate::addr::{AddrPattern, Hostname, PatternError, ProviderAddr};
use crate::config::StandIn;
use crate::dialect::Dialect;
use crate::disk::cli_config::{CliConfig, Installation, MethodBlock as Written, MethodKind};
use crate::disk::helper::HelperError;
use crate::disk::mirror::{FilesystemMirror, MirrorError};
use crate::disk::oci_credentials::OciCredentials;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, Credentials, Discovery, NetError, ShownUrl, token_variable_shown};
use crate::settings::SourceChoice;
use oci::{ImageTemplate, OciClient, OciMirror};
use wire::WireError;

pub use index::{IndexStores, Published, SharedIndexes};
pub use mirror::{
    DirectoryMirror, Mirror, MirrorArchive, MirrorPackage, MirrorPackages, NetworkMirror, SignedDocuments,
};
pub use registry::{ProviderListing, Registry, RegistryPackage, SignedUrls};

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
    /// What `localterraform.com` means in the root modules that ask, if that is known.
    pub stand_in: Option<StandIn>,
}

impl Source {
    /// Opens the source of a method. `connect` takes the further attempts of a download, where they are stated.
    pub fn open(method: &Method, connect: impl Fn(Option<u32>) -> Result<Connection, Error>) -> Result<Self, Error> {
        Ok(Self::Mirror(match &method.place {
            SourceLocation::Direct { download_retries } => {
                return Ok(Self::Registry(Box::new(Registry::new(connect(*download_retries)?))));
            }
            SourceLocation::Directory(base) => Mirror::Directory(DirectoryMirror::new(base.clone())),
            SourceLocation::Network { url, download_retries, trust_all_hashes } => {
                let Connection { client, credentials, .. } = connect(*download_retries)?;
                let mirror = NetworkMirror::new(client, credentials, url)?;
                Mirror::Network(Box::new(mirror.trusting_all_hashes(*trust_all_hashes)))
            }
            SourceLocation::Oci(template) => {
                let Connection { client, oci, .. } = connect(None)?;
                let parsed = ImageTemplate::parse(template, &method.filter.include)?;
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
    let _ = wire::read::<wire::Versions>(bytes).and_then(|versions| versions.offers(Dialect::OpenTofu));
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
fn unauthorized(host: &Hostname, status: u16, sent: bool) -> Error {
    let (refused, hint) = if sent {
        ("although credentials were sent to it", "check the token in")
    } else {
        ("and no credentials were sent to it", "put a token into")
    };
    let variable = token_variable_shown(host);
    Error::new(ErrorKind::Unauthorized, format!("host {host} answered {status}, {refused}"))
        .hint(format!("{hint} {variable}, or a credentials block of the CLI configuration"))
}

fn no_credentials(host: &Hostname, problem: HelperError) -> Error {
    let message = format!("getting the credentials of {host} failed: {problem}");
    Error { message, ..Error::from(problem) }
}

fn unanswered(source: &str, addr: &ProviderAddr, problem: NetError) -> Error {
    let message = format!("the request to {source} for provider {addr} failed: {problem}");
    of_package(message, problem)
}

/// Why something of a release did not come. URLs that a registry names get no token, as with the tools, so giving one cannot help.
pub fn of_package(message: String, problem: NetError) -> Error {
    let wants_token = problem.refused_token() == Some(false);
    let error = Error { message, ..Error::from(problem) };
    if !wants_token {
        return error;
    }
    let hint = "no token was sent there: the tools send none to the URLs of packages and checksums that a registry names, so \
                it has to sign these URLs";
    Error { hints: Vec::new(), ..error }.hint(hint).hint("a mirror gets the token for its own host, if you give one")
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

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Method {
    pub place: SourceLocation,
    pub filter: Filter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceLocation {
    Direct {
        /// Further attempts of a download, where they are stated.
        download_retries: Option<u32>,
    },
    Directory(PathBuf),
    Network {
        url: String,
        /// Further attempts of a download, where they are stated.
        download_retries: Option<u32>,
        trust_all_hashes: bool,
    },
    /// An OCI mirror, by its template as written.
    Oci(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Filter {
    pub include: Vec<AddrPattern>,
    /// Not these, even if included.
    pub exclude: Vec<AddrPattern>,
}

impl Filter {
    pub fn takes(&self, addr: &ProviderAddr) -> bool {
        let any = |patterns: &[AddrPattern]| patterns.iter().any(|pattern| pattern.matches(addr));
        !any(&self.exclude) && (self.include.is_empty() || any(&self.include))
    }
}

impl From<SourceLocation> for Method {
    fn from(place: SourceLocation) -> Self {
        Self { place, filter: Filter::default() }
    }
}

impl Method {
    /// The registries and nothing else.
    pub fn origin() -> Self {
        SourceLocation::Direct { download_retries: None }.into()
    }

    /// The methods that a source of packages means, in the order in which they are used. A relative path in the
    /// CLI configuration starts from `root`, the directory that the tools would run in.
    pub fn of(choice: &SourceChoice, config: &CliConfig, dialect: Dialect, root: &Path) -> Result<Vec<Self>, Error> {
        Ok(match choice {
            SourceChoice::Origin => vec![Self::origin()],
            SourceChoice::Directory(directory) => vec![SourceLocation::Directory(directory.clone()).into()],
            SourceChoice::Network(url) => {
                let (url, download_retries) = (url.clone(), None);
                vec![SourceLocation::Network { url, download_retries, trust_all_hashes: false }.into()]
            }
            SourceChoice::Oci(template) => vec![SourceLocation::Oci(template.clone()).into()],
            SourceChoice::Configured => match &config.installation {
                Some(installation) => {
                    stated(installation, dialect, root).map_err(|error| error.in_file(&config.files[0]))?
                }
                None => implied(config, root)?,
            },
        })
    }
}

/// The methods of a `provider_installation` block.
fn stated(installation: &Installation, dialect: Dialect, root: &Path) -> Result<Vec<Method>, Error> {
    installation.methods.iter().map(|written| method(written, dialect, root)).collect()
}

fn method(written: &Written, dialect: Dialect, root: &Path) -> Result<Method, Error> {
    let patterns = |texts: &[String]| -> Result<Vec<AddrPattern>, Error> {
        let parsed: Result<_, PatternError> = texts.iter().map(|text| AddrPattern::parse(text, dialect)).collect();
        parsed.map_err(|problem| {
            let message = format!("invalid CLI configuration: {problem}");
            Error::new(ErrorKind::Settings, message).at(written.position)
        })
    };
    let place = match written.kind.clone() {
        MethodKind::Direct { download_retry_count } => {
            SourceLocation::Direct { download_retries: download_retry_count }
        }
        MethodKind::FilesystemMirror { path } => SourceLocation::Directory(root.join(path)),
        MethodKind::NetworkMirror { url, download_retry_count, trust_all_hashes } => {
            SourceLocation::Network { url, download_retries: download_retry_count, trust_all_hashes }
        }
        MethodKind::OciMirror { repository_template } => SourceLocation::Oci(repository_template),
    };
    Ok(Method { place, filter: Filter { include: patterns(&written.include)?, exclude: patterns(&written.exclude)? } })
}

/// The methods without such a block: directories of plugins, as far as they are there, then the registries for the
/// providers of which they have no package, of whatever version and platform.
fn implied(config: &CliConfig, root: &Path) -> Result<Vec<Method>, Error> {
    let mut methods = Vec::new();
    let mut found: BTreeSet<ProviderAddr> = BTreeSet::new();
    for directory in config.plugin_dirs(root) {
        match FilesystemMirror::open(&directory) {
            Ok(mirror) => found.extend(mirror.providers()?),
            Err(MirrorError::Missing(_) | MirrorError::NotADirectory(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        methods.push(SourceLocation::Directory(directory).into());
    }
    let exclude = found.into_iter().map(AddrPattern::from).collect();
    methods.push(Method { filter: Filter { include: Vec::new(), exclude }, ..Method::origin() });
    Ok(methods)
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

#[cfg(test)]
mod methods_tests {
    use super::*;
    use crate::settings::Variables;

    fn methods(config: &str) -> Result<Vec<Method>, Error> {
        let dialect = Dialect::OpenTofu;
        let mut config = CliConfig::decode(config, dialect, &Variables::default()).unwrap();
        config.files.push("x.tfrc".into());
        Method::of(&SourceChoice::Configured, &config, dialect, Path::new("root"))
    }

    fn taking(methods: &[Method], addr: &str) -> Vec<usize> {
        let addr = ProviderAddr::parse(addr, Dialect::OpenTofu).unwrap();
        (0..methods.len()).filter(|at| methods[*at].filter.takes(&addr)).collect()
    }

    #[test]
    fn every_combination_of_include_and_exclude() {
        for (filter, taken) in [
            ("", true),
            ("include = [\"acme/x\"]", true),
            ("include = [\"acme/*\"]", true),
            ("include = [\"*/*\"]", true),
            ("include = [\"*/*/*\"]", true),
            ("include = [\"registry.opentofu.org/acme/x\"]", true),
            ("include = [\"registry.terraform.io/acme/x\"]", false),
            ("include = [\"acme/y\"]", false),
            ("include = [\"acme/y\", \"acme/x\"]", true),
            ("exclude = [\"acme/x\"]", false),
            ("exclude = [\"acme/*\"]", false),
            ("exclude = [\"*/*/*\"]", false),
            ("exclude = [\"acme/y\"]", true),
            ("include = [\"acme/*\"]\n exclude = [\"acme/x\"]", false),
            ("include = [\"acme/x\"]\n exclude = [\"acme/*\"]", false),
            ("include = [\"acme/*\"]\n exclude = [\"acme/y\"]", true),
            ("include = [\"acme/y\"]\n exclude = [\"acme/y\"]", false),
        ] {
            let read = methods(&format!("provider_installation {{\n direct {{\n {filter}\n }}\n}}\n")).unwrap();
            assert_eq!(!taking(&read, "acme/x").is_empty(), taken, "{filter}");
        }
    }

    #[test]
    fn methods_keep_their_order_and_arguments() {
        let read = methods(
            "provider_installation {\n filesystem_mirror {\n path = \"m\"\n exclude = [\"acme/y\"]\n }\n network_mirror {\n \
             url = \"https://m.example/\"\n trust_all_hashes = true\n download_retry_count = 5\n }\n direct {\n include = \
             [\"acme/y\"]\n }\n}\n",
        )
        .unwrap();
        assert_eq!(read[0].place, SourceLocation::Directory("root/m".into()));
        let (url, download_retries) = ("https://m.example/".to_owned(), Some(5));
        assert_eq!(read[1].place, SourceLocation::Network { url, download_retries, trust_all_hashes: true });
        assert_eq!((taking(&read, "acme/x"), taking(&read, "acme/y")), (vec![0, 1], vec![1, 2]));
    }

    #[test]
    fn without_methods_there_is_no_source() {
        assert_eq!(methods("provider_installation {}").unwrap(), []);
    }

    #[test]
    fn an_invalid_pattern_is_reported_with_its_place() {
        let error = methods("provider_installation {\n direct {\n include = [\"a\"]\n }\n}\n").unwrap_err();
        assert!(error.message.contains("must have either two or three"), "{error:?}");
        assert!(error.file.is_some() && error.position.is_some());
    }
}

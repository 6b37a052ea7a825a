//! Sources of releases: what they offer, in our types.
//!
//! A source reports; it judges nothing and writes nothing. It keeps *absent* (the source says that there is no such
//! thing) apart from *unavailable* (not known).

pub mod advisories;
mod directory;
mod error;
mod index;
#[cfg(feature = "cloud")]
mod index_cloud;
mod index_store;
mod link;
mod methods;
mod mirror;
mod network_mirror;
pub mod oci;
mod registry;
mod wire;

use std::sync::Arc;

use crate::disk::oci_credentials::OciCredentials;
use crate::error::Error;
use crate::net::{Client, Credentials, Discovery};
use oci::{OciClient, OciMirror, Template};

pub use directory::DirectoryMirror;
pub use error::Miss;
pub use index::SharedIndexes;
pub use index_store::{IndexStores, Published};
pub use methods::{Filter, Location, Method};
pub use mirror::{Mirror, MirrorPackage, MirrorPackages, SignedDocuments};
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

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

pub use directory::DirectoryMirror;
pub use error::Miss;
pub use index::SharedIndexes;
pub use index_store::{IndexStores, Published};
pub use methods::{Filter, Location, Method};
pub use mirror::{Mirror, MirrorPackage, MirrorPackages};
pub use network_mirror::{MirrorArchive, NetworkMirror};
pub use registry::{Listing, Package, Registry, SignedUrls};

#[derive(Debug)]
pub enum Source {
    /// The registry at each address's own host.
    Registry(Box<Registry>),
    Mirror(Mirror),
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

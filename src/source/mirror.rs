//! A mirror of whatever protocol: what it has of a provider, and where each package is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Miss;
use super::network_mirror::{MirrorArchive, NetworkMirror};
use super::oci::{OciMirror, OciPackage};
use crate::addr::ProviderAddr;
use crate::disk::files;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::mirror_contents::armored_blocks;
use crate::disk::mirror_writer::copy_names;
use crate::error::{Error, ErrorKind};
use crate::net::{Client, ClientOptions, Kind};
use crate::path::shown;
use crate::platform::Platform;
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
}

impl DirectoryMirror {
    pub fn new(base: PathBuf) -> Self {
        Self { base }
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
        let read = |name: &str, kind: Kind| bounded(&folder.join(name), kind);
        let (Some(sums), Some(signature), Some(keys)) =
            (read(&names[0], Kind::Sums)?, read(&names[1], Kind::Signature)?, read(&names[2], Kind::Sums)?)
        else {
            return Ok(None);
        };
        Ok(Some(SignedDocuments { sums, signature, keys: armored_blocks(&String::from_utf8_lossy(&keys)) }))
    }

    /// Reads the directory on a thread that may wait for a disk.
    async fn aside<R: Send + 'static>(
        &self,
        read: impl FnOnce(&FilesystemMirror) -> Result<R, MirrorError> + Send + 'static,
    ) -> Result<R, Miss> {
        let base = self.base.clone();
        let reading =
            tokio::task::spawn_blocking(move || FilesystemMirror::open(base).and_then(|mirror| read(&mirror)));
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
fn bounded(path: &Path, kind: Kind) -> Result<Option<Vec<u8>>, Miss> {
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

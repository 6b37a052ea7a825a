//! Filesystem mirrors as a source: what a directory has, read aside from the runtime's threads.

use std::path::{Path, PathBuf};

use super::error::Miss;
use super::mirror::{MirrorPackage, MirrorPackages, SignedDocuments};
use crate::addr::ProviderAddr;
use crate::disk::files;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::mirror_contents::armored_blocks;
use crate::disk::mirror_writer::copy_names;
use crate::error::{Error, ErrorKind};
use crate::net::Kind;
use crate::path::shown;
use crate::version::Version;

/// A directory with packages. Whether it exists shows when it is read.
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

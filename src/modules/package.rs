//! A package that is fetched anew: an archive, or a commit of a repository.

use super::address::RemoteAddress;
use super::archive::{Archive, ArchiveKind};
use super::fetch::Fetcher;
use super::git::Extent;
use super::git_package::{self, GitPackage};
use super::store::{PackageRecord, StoredPackage};
use super::wanted::Wanted;
use crate::error::{Error, ErrorKind};

impl Fetcher {
    pub(super) async fn archive(
        &self,
        address: &RemoteAddress,
        kind: ArchiveKind,
        wanted: &Wanted,
    ) -> Result<StoredPackage, Error> {
        let checksum = Box::pin(self.web().checksum(address, &wanted.hosts)).await?;
        let archive = Box::pin(self.web().download(&address.plain_url(), checksum)).await?;
        self.unpacked(archive, kind, address.package()).await
    }

    /// The package in an archive, unless the store has it.
    pub(super) async fn unpacked(
        &self,
        archive: Archive,
        kind: ArchiveKind,
        source: String,
    ) -> Result<StoredPackage, Error> {
        let key = format!("archive {}", archive.digest);
        let store = self.store();
        if let Some(package) = store.package(&key) {
            return Ok(package);
        }
        let work = move || {
            let staging = store.staging()?;
            let contents = archive.unpack(kind, &staging.path().join("tree"))?;
            store.keep(&key, staging, PackageRecord::of(source, contents))
        };
        blocking(work).await
    }

    pub(super) async fn git(&self, address: &RemoteAddress, wanted: &Wanted) -> Result<StoredPackage, Error> {
        let extent = if wanted.whole { Extent::Whole } else { Extent::Configuration };
        let access = self.git_access(wanted);
        let (package, commit) = (GitPackage { address: address.clone(), extent }, wanted.commit().map(str::to_owned));
        let fetched = self.by_git(move || git_package::fetch(&access, &package)).await;
        fetched.map_err(|error| match commit {
            Some(commit) if error.kind == ErrorKind::NotFound => vanished(address, &commit),
            _ => error,
        })
    }

    /// Does something that starts git, when its turn comes.
    pub(super) async fn by_git<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        // The semaphore is never closed.
        let _permit = self.git_permits.acquire().await;
        blocking(work).await
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Error::new(ErrorKind::Disk, format!("fetching a module failed: {error}"))))
}

/// A commit that is locked and that no source has any more.
fn vanished(address: &RemoteAddress, commit: &str) -> Error {
    let package = address.package();
    let message = format!("the locked commit {commit} is no longer in the module's repository {package}");
    Error::new(ErrorKind::Unavailable, message)
        .about_url(package)
        .hint("ask its publisher for the commit; `tflock upgrade --modules` locks what is served now")
}

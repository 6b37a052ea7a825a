//! A package that is fetched anew: an archive, or a commit of a repository.

use std::sync::Arc;

use super::address::RemoteAddress;
use super::archive::{Archive, ArchiveKind};
use super::checkout::ambiguous;
use super::fetch::Fetcher;
use super::git::Extent;
use super::git_package::{self, GitPackage};
use super::store::{PackageRecord, StoredPackage};
use super::wanted::Wanted;
use crate::error::{Error, ErrorKind};
use crate::modulelock::Ambiguity;
use crate::net::Cost;

impl Fetcher {
    pub(super) async fn archive(
        &self,
        address: &RemoteAddress,
        kind: ArchiveKind,
        wanted: &Wanted,
    ) -> Result<StoredPackage, Error> {
        let checksum = Box::pin(self.web(wanted).checksum(address)).await?;
        let archive = Box::pin(self.web(wanted).download(&address.plain_url(), checksum)).await?;
        self.unpacked(archive, kind, address.package()).await
    }

    /// The package in an archive, unless the store has it.
    pub(super) async fn unpacked(
        &self,
        archive: Archive,
        kind: ArchiveKind,
        source: String,
    ) -> Result<StoredPackage, Error> {
        let key = archive_key(&archive.digest);
        let store = self.store();
        if let Some(package) = store.package(&key) {
            return Ok(package);
        }
        let budget = Arc::clone(self.budget());
        let work = move || {
            let staging = store.staging()?;
            let contents = archive.unpack(kind, &staging.path().join("tree"))?;
            budget.spend(Cost::Unpacked, contents.bytes)?;
            let mut record = PackageRecord::of(source, contents);
            // The tools make empty files of them, or files with their targets.
            let link = record.links.first_key_value();
            let linked =
                link.map(|(name, _)| ambiguous(format!("{name:?} is a link, and the tools unpack it as a file")));
            record.ambiguity = linked.or(record.ambiguity);
            store.keep(&key, staging, record)
        };
        blocking(work).await
    }

    pub(super) async fn git(
        &self,
        address: &RemoteAddress,
        commit: Option<&str>,
        wanted: &Wanted,
    ) -> Result<(StoredPackage, Option<Ambiguity>), Error> {
        let extent = if wanted.whole { Extent::Whole } else { Extent::Configuration };
        let access = self.git_access(wanted);
        let commit = commit.map(str::to_owned);
        let package = GitPackage { address: address.clone(), commit: commit.clone(), extent };
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

/// By what the package of an archive is found again. What was kept before was not examined for links.
pub(super) fn archive_key(digest: &str) -> String {
    format!("archive examined {digest}")
}

/// A commit that is locked and that no source has any more.
fn vanished(address: &RemoteAddress, commit: &str) -> Error {
    let package = address.package();
    let message = format!("the locked commit {commit} is no longer in the module's repository {package}");
    Error::new(ErrorKind::Unavailable, message)
        .about_url(package)
        .hint("ask its publisher for the commit; `tflock upgrade --modules` locks what is served now")
}

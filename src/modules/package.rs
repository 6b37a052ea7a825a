//! What the source of a package has now, whatever was learnt before: an archive, an OCI artifact or a commit that is fetched anew, what
//! is served in the place of a locked package, and which versions and tags are offered.
//!
//! Source: opentofu `internal/getmodules/oci_getter.go`.

use std::sync::Arc;

use super::address::{FetchMethod, RemoteAddress};
use super::archive::{Archive, ArchiveKind};
use super::fetch::{Fetcher, Followed, address_of};
use super::git::Extent;
use super::git_package::{self, GitPackage};
use super::refusals::ambiguous;
use super::store::{PackageRecord, StoredModule};
use super::wanted::Wanted;
use crate::config::{ModuleSource, RegistryModule};
use crate::error::{Error, ErrorKind};
use crate::modulelock::{Ambiguity, ModulePin, Offered, Served};
use crate::net::Cost;
use crate::source::oci::{self, Descriptor, OciRepository};
use crate::version::ModuleVersion;

impl Fetcher {
    pub(super) async fn archive(
        &self,
        address: &RemoteAddress,
        kind: ArchiveKind,
        wanted: &Wanted,
    ) -> Result<StoredModule, Error> {
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
    ) -> Result<StoredModule, Error> {
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
    ) -> Result<(StoredModule, Option<Ambiguity>), Error> {
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
    async fn by_git<T: Send + 'static>(
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
fn archive_key(digest: &str) -> String {
    format!("archive examined {digest}")
}

/// A commit that is locked and that no source has any more.
fn vanished(address: &RemoteAddress, commit: &str) -> Error {
    let package = address.package();
    let message = format!("the locked commit {commit} is no longer in the module's repository {package}");
    Error::new(ErrorKind::Unavailable, message)
        .about_url(package)
        .hint(step!("ask its publisher for the commit; `tflock upgrade --modules` locks what the source serves now"))
}

impl Fetcher {
    /// What the source of a call serves now in place of the locked package, each requested once a run.
    pub async fn served(&self, wanted: &Wanted, pin: &ModulePin) -> Result<Served, Error> {
        let version = pin.version.as_ref().map(ModuleVersion::canonical).unwrap_or_default();
        let (package, content) = (wanted.source.package().unwrap_or_default(), &pin.content);
        let key = format!("{} {package} {version} {:?} {}", wanted.dialect.program(), content.commit, content.hash);
        self.inquiries.answer(wanted.shared(&key), Box::pin(self.served_now(wanted, pin))).await
    }

    async fn served_now(&self, wanted: &Wanted, pin: &ModulePin) -> Result<Served, Error> {
        let wanted = Wanted { pin: None, whole: true, ..wanted.clone() };
        let address = match (&wanted.source, &pin.version) {
            (ModuleSource::Registry(module), Some(version)) => {
                let registry = self.registry(module, &wanted, &format!("{module} {}", version.canonical()))?;
                registry.location(module, version, wanted.dialect).await?
            }
            (ModuleSource::Remote(module), _) => address_of(module, &wanted)?,
            _ => return Ok(Served::Locked { is_moving: false }),
        };
        // A checksum in the address fixes the content.
        if address.is_fixed() {
            return Ok(Served::Locked { is_moving: false });
        }
        self.online(&address.package())?;
        let Followed { address, kind, .. } = self.followed(address, &wanted).await?;
        let package = match (address.method, kind) {
            (FetchMethod::Archive, Some(kind)) => self.archive(&address, kind, &wanted).await?,
            (FetchMethod::Oci, _) => self.artifact(&address, &wanted).await?,
            _ => return self.commit_served(address, &wanted, pin).await,
        };
        compared(&package, pin, address.method == FetchMethod::Oci && is_moving(&address))
    }

    async fn commit_served(&self, address: RemoteAddress, wanted: &Wanted, pin: &ModulePin) -> Result<Served, Error> {
        let (access, requested) = (self.git_access(wanted), address.clone());
        let resolved = self.by_git(move || git_package::resolve(&access, &requested)).await?;
        if let Some(ambiguity) = resolved.ambiguity {
            return Ok(Served::Ambiguous(ambiguity));
        }
        let is_moving = resolved.is_moving();
        let locked = pin.content.commit.as_deref();
        if locked == Some(&resolved.commit) {
            return Ok(Served::Locked { is_moving });
        }
        let (package, _) = self.git(&address, Some(&resolved.commit), wanted).await?;
        let PackageRecord { commit, ambiguity, .. } = &package.record;
        if let Some(ambiguity) = ambiguity {
            return Ok(Served::Ambiguous(ambiguity.clone()));
        }
        let hash = package.record.lockable()?;
        // Of another commit with the same hash the files that are in no hash must be the same too.
        if let Some(locked) = locked.filter(|_| hash == pin.content.hash) {
            let (before, _) = self.git(&address, Some(locked), wanted).await?;
            if package.record.control_files() == before.record.control_files() {
                return Ok(Served::Locked { is_moving });
            }
        }
        Ok(Served::Other { commit: commit.clone(), hash, is_moving })
    }
}

/// What an archive is against what is locked.
fn compared(package: &StoredModule, pin: &ModulePin, is_moving: bool) -> Result<Served, Error> {
    if let Some(ambiguity) = &package.record.ambiguity {
        return Ok(Served::Ambiguous(ambiguity.clone()));
    }
    let hash = package.record.lockable()?;
    Ok(if hash == pin.content.hash {
        Served::Locked { is_moving }
    } else {
        Served::Other { commit: None, hash, is_moving }
    })
}

impl Fetcher {
    /// What the source of a call offers now, each requested once a run.
    pub async fn offered(&self, wanted: &Wanted) -> Result<Offered, Error> {
        match &wanted.source {
            ModuleSource::Registry(module) => {
                let package = RegistryModule { subdir: String::new(), ..module.clone() };
                Ok(Offered::Versions(self.listed(&package, wanted, true).await?.to_vec()))
            }
            ModuleSource::Remote(module) => {
                let address = address_of(module, wanted)?;
                if address.method != FetchMethod::Git {
                    return Ok(Offered::Fixed);
                }
                self.online(&address.package())?;
                let (access, key) = (self.git_access(wanted), wanted.shared(address.url.as_str()));
                let work = move || git_package::offered(&access, &address);
                self.offers.answer(key, self.by_git(work)).await
            }
            ModuleSource::Local(_) => Ok(Offered::Fixed),
        }
    }
}

/// What a manifest says that it is of a module.
const ARTIFACT: &str = "application/vnd.opentofu.modulepkg";

/// The tag that is meant where none is named.
const DEFAULT_TAG: &str = "latest";

impl Fetcher {
    /// The package of an artifact, by its tag or its digest.
    pub(super) async fn artifact(&self, address: &RemoteAddress, wanted: &Wanted) -> Result<StoredModule, Error> {
        let wrong = |reason: String| {
            let message = format!("the module cannot be fetched from {}: {reason}", address.package());
            Error::new(ErrorKind::Configuration, message)
        };
        let url = &address.url;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let name = format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path());
        let repository = OciRepository::parse(&name).map_err(wrong)?;
        let registry = self.artifacts(address, wanted)?;
        if let Some((other, _)) = url.query_pairs().find(|(key, _)| key != "tag" && key != "digest") {
            return Err(wrong(format!("its parameter {other:?} is neither tag nor digest")));
        }
        let (manifest, what) = match (address.parameter("tag"), address.parameter("digest")) {
            (Some(_), Some(_)) => return Err(wrong("it has both a tag and a digest".to_owned())),
            (_, Some(digest)) => {
                let descriptor = Descriptor::of_digest(digest.clone());
                descriptor.sha256().map_err(wrong)?;
                (registry.manifest(&repository, &descriptor).await?, format!("@{digest}"))
            }
            (tag, None) => {
                let tag = tag.unwrap_or_else(|| DEFAULT_TAG.to_owned());
                if !is_tag(&tag) {
                    return Err(wrong(format!("{tag:?} is not a tag")));
                }
                (registry.tagged(&repository, &tag).await?, format!(":{tag}"))
            }
        };
        let unusable = |reason: String| oci::unusable(&repository, &what, &reason);
        let digest = manifest.archive(ARTIFACT).map_err(unusable)?;
        if let Some(package) = self.store().package(&archive_key(&digest.to_hex())) {
            return Ok(package);
        }
        let (blob, authorization) = registry.blob(&repository, &digest).await;
        let archive = Box::pin(self.web(wanted).download_as(&blob, authorization)).await?;
        if archive.digest != digest.to_hex() {
            let message = format!("the blob {digest} of {repository} has the digest {}", archive.digest);
            return Err(Error::new(ErrorKind::Trust, message).about_url(address.package()));
        }
        self.unpacked(archive, ArchiveKind::Zip, address.package()).await
    }
}

/// True if the tag of an address is meant to go on.
pub(super) fn is_moving(address: &RemoteAddress) -> bool {
    address.parameter("tag").is_none_or(|tag| tag == DEFAULT_TAG)
}

/// `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`
fn is_tag(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=128).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with(['.', '-'])
}

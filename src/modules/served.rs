//! What the sources of locked packages serve now, whatever was learnt about them before.

use super::address::{Method, RemoteAddress};
use super::archive;
use super::fetch::{Fetcher, address_of};
use super::git_package;
use super::oci;
use super::store::{PackageRecord, StoredPackage};
use super::wanted::Wanted;
use crate::config::{ModuleSource, ModuleVersion};
use crate::error::{Error, ErrorKind};
use crate::modulelock::{Pin, Served};

impl Fetcher {
    /// What the source of a call serves now in place of the locked package, each requested once a run.
    pub async fn served(&self, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        let version = pin.version.as_ref().map(ModuleVersion::canonical).unwrap_or_default();
        let (package, content) = (wanted.source.package().unwrap_or_default(), &pin.content);
        let key = format!("{} {package} {version} {:?} {}", wanted.dialect.program(), content.commit, content.hash);
        self.inquiries.answer(key, Box::pin(self.served_now(wanted, pin))).await
    }

    async fn served_now(&self, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        let wanted = Wanted { pin: None, whole: true, ..wanted.clone() };
        let address = match (&wanted.source, &pin.version) {
            (ModuleSource::Registry(module), Some(version)) => {
                wanted.hosts.allow(module.host.as_ascii())?;
                self.online(&format!("{module} {}", version.canonical()))?;
                self.registry.location(module, version, wanted.dialect).await?
            }
            (ModuleSource::Remote(module), _) => address_of(module, &wanted)?,
            _ => return Ok(Served::Locked { is_moving: false }),
        };
        self.online(&address.package())?;
        match address.method {
            Method::Git => self.commit_served(address, &wanted, pin).await,
            // A checksum in the address fixes the content.
            Method::Archive | Method::Oci if address.is_fixed() => Ok(Served::Locked { is_moving: false }),
            Method::Oci => self.artifact_served(address, &wanted, pin).await,
            Method::Archive => self.archive_served(address, &wanted, pin).await,
        }
    }

    async fn commit_served(&self, address: RemoteAddress, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        wanted.allow_host(&address)?;
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

    async fn archive_served(&self, address: RemoteAddress, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        let (address, kind) = self.followed(address, wanted).await?;
        let package = match kind {
            Some(kind) => self.archive(&address, kind, wanted).await?,
            None => return Box::pin(self.commit_served(address, wanted, pin)).await,
        };
        compared(&package, pin, false)
    }

    async fn artifact_served(&self, address: RemoteAddress, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        wanted.allow_host(&address)?;
        let is_moving = oci::is_moving(&address);
        let package = self.artifact(&address).await?;
        compared(&package, pin, is_moving)
    }

    /// The address that an address without extension leads to in the end.
    async fn followed(
        &self,
        mut address: RemoteAddress,
        wanted: &Wanted,
    ) -> Result<(RemoteAddress, Option<archive::ArchiveKind>), Error> {
        for _ in 0..super::fetch::HOPS {
            wanted.allow_host(&address)?;
            if address.method == Method::Git {
                return Ok((address, None));
            }
            match archive::kind_of(&address)? {
                Some(kind) => return Ok((address, Some(kind))),
                None => address = archive::forwarded(&self.web(), &address).await?,
            }
        }
        let message = format!("too many redirects from {}", address.package());
        Err(Error::new(ErrorKind::Package, message))
    }
}

/// What an archive is against what is locked.
fn compared(package: &StoredPackage, pin: &Pin, is_moving: bool) -> Result<Served, Error> {
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

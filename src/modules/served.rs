//! What the sources of locked packages serve now, whatever was learnt about them before.

use super::address::{Method, RemoteAddress};
use super::fetch::{Fetcher, Followed, address_of};
use super::git_package;
use super::oci;
use super::store::{PackageRecord, StoredPackage};
use super::wanted::Wanted;
use crate::config::{ModuleSource, ModuleVersion};
use crate::error::Error;
use crate::modulelock::{Pin, Served};

impl Fetcher {
    /// What the source of a call serves now in place of the locked package, each requested once a run.
    pub async fn served(&self, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
        let version = pin.version.as_ref().map(ModuleVersion::canonical).unwrap_or_default();
        let (package, content) = (wanted.source.package().unwrap_or_default(), &pin.content);
        let key = format!("{} {package} {version} {:?} {}", wanted.dialect.program(), content.commit, content.hash);
        self.inquiries.answer(wanted.shared(&key), Box::pin(self.served_now(wanted, pin))).await
    }

    async fn served_now(&self, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
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
            (Method::Archive, Some(kind)) => self.archive(&address, kind, &wanted).await?,
            (Method::Oci, _) => self.artifact(&address, &wanted).await?,
            _ => return self.commit_served(address, &wanted, pin).await,
        };
        compared(&package, pin, address.method == Method::Oci && oci::is_moving(&address))
    }

    async fn commit_served(&self, address: RemoteAddress, wanted: &Wanted, pin: &Pin) -> Result<Served, Error> {
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

//! Copies of the packages of a mirror into another one.
//!
//! What a lock file records is copied, and of that only what the mirror's own copies of signed documents list, if it has
//! any.

use std::sync::Arc;

use super::copies::{Copied, CopyAnswer, CopyOrder, SignedDigests, There, recorded};
use super::mirror::{MirrorGatherer, unlisted};
use crate::disk::mirror::LocalPackage;
use crate::disk::mirror_writer::ArchiveCopy;
use crate::error::{Error, ErrorKind};
use crate::hash::{PackageHash, Sha256Digest};
use crate::outcome::Fate;
use crate::query::PackageKey;
use crate::query::answer::{PackageFacts, Refusal};
use crate::release::{mirrors, naming};
use crate::source::MirrorPackage;

impl MirrorGatherer {
    /// Copies a package. One that is there already is not asked for again.
    pub(super) async fn copied(&self, key: PackageKey, order: &CopyOrder) -> CopyAnswer {
        let PackageKey { address, version, platform } = &key;
        let listed = self.listed(address, version).await?;
        let Some(package) = listed.get(platform).cloned() else { return Ok(None) };
        let signed = self.signed(address, version, &order.rules).await?;
        let signed = signed.map(|signed| SignedDigests {
            sums: signed.sums_digest,
            signature: Some(signed.signature_digest),
            keys: Some(signed.keys_digest),
        });
        let release = self.release(address, version, &order.rules).await?;
        let is_listed = |facts: &PackageFacts| {
            let is_signed = !mirrors::is_vouched_by_mirror(&release);
            let unlisted = if is_signed { unlisted(&release, platform, facts) } else { None };
            unlisted.map_or(Ok(()), |finding| Err(Refusal::from(finding)))
        };
        let file_name = naming::conventional(address, version, platform);
        let there = self.downloads.there(&key, &order.directory.join(&file_name), None).await;
        if let There::Package(digest, hashed) = &there {
            let (zh, h1, size) = (PackageHash::zh(*digest), hashed.h1.clone(), hashed.size);
            if recorded(&key, order, [&zh, &h1]).is_ok() && is_listed(&facts(*digest, &h1, size)).is_ok() {
                return Ok(Some(Copied { file_name, zh, h1, size, fate: Fate::Present, signed }));
            }
        }
        let copy = Arc::new(ArchiveCopy::new(order.directory.clone(), file_name.clone()));
        let found = match package {
            MirrorPackage::Local(found) => self.local_copy(&key, found, &copy).await?,
            package => self.facts(&key, package, Some(Arc::clone(&copy))).await?,
        };
        is_listed(&found)?;
        let (Some(digest), Some(h1)) = (found.zh, found.h1) else { return Ok(None) };
        let zh = PackageHash::zh(digest);
        recorded(&key, order, [&zh, &h1]).map_err(|_| self.unrecorded(&key))?;
        copy.keep().map_err(|error| Refusal::Error(error.into()))?;
        let size = found.size.unwrap_or_default();
        Ok(Some(Copied { file_name, zh, h1, size, fate: there.fate(), signed }))
    }

    /// A package of which no lock file records a hash. What it is was never signed.
    fn unrecorded(&self, PackageKey { address, version, platform }: &PackageKey) -> Error {
        let message = format!(
            "the lock file records no hash of the package of {address} {version} for {platform} that {} has: the platform is not \
             locked, or it is not the package of that release",
            self.mirror.shown(),
        );
        Error::new(ErrorKind::NotFound, message)
    }

    /// Copies an archive of this machine, and hashes it.
    async fn local_copy(
        &self,
        key: &PackageKey,
        found: LocalPackage,
        copy: &Arc<ArchiveCopy>,
    ) -> Result<PackageFacts, Refusal> {
        let LocalPackage::Packed(path) = &found else {
            let PackageKey { address, version, platform } = key;
            let message = format!(
                "the package of {address} {version} for {platform} is a directory in {}, and only archives are copied",
                self.mirror.shown()
            );
            let error = Error::new(ErrorKind::Package, message);
            return Err(error.hint("--source origin copies the archives that the registry has").into());
        };
        let facts = self.local(key.clone(), found.clone()).await?;
        let (from, copy) = (path.clone(), Arc::clone(copy));
        let copying = tokio::task::spawn_blocking(move || copy.fill(&from));
        let interrupted = |problem| Error::new(ErrorKind::Interrupted, format!("copying a package stopped: {problem}"));
        let (digest, size) = copying.await.map_err(interrupted)??;
        if facts.zh != Some(digest) {
            let message = format!("{} changed while it was copied", path.display());
            return Err(Error::new(ErrorKind::Disk, message).in_file(path).into());
        }
        Ok(PackageFacts { size: Some(size), ..facts })
    }
}

/// What is known of a package that is there.
fn facts(zh: Sha256Digest, h1: &PackageHash, size: u64) -> PackageFacts {
    let (zh, h1, size) = (Some(zh), Some(h1.clone()), Some(size));
    PackageFacts { zh, h1, computed: true, size, tells_zh: false, file_name: String::new() }
}

//! Copies of packages into a directory, each checked before it takes its name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::archives::{BY_SUMS, Downloads, Hashed, Wanted};
use super::{Gatherer, Miss, binding};
use crate::disk::cache::{IndexEntry, Origin};
use crate::disk::mirror_writer::ArchiveCopy;
use crate::disk::package as packages;
use crate::error::{Error, ErrorKind};
use crate::finding::Level;
use crate::hash::archive::Threads;
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, PackageHashes, Sha256Digest};
use crate::outcome::Fate;
use crate::query::answer::Refusal;
use crate::query::rules::Rules;
use crate::query::{Event, PackageKey};
use crate::release::naming;

/// One package that is wanted.
#[derive(Debug, Clone)]
pub struct CopyOrder {
    /// Where it goes, under its conventional name.
    pub directory: PathBuf,
    /// The rules that its release was judged by.
    pub rules: Rules,
    /// The hashes that lock files record of the release: one of them must be the package's.
    pub recorded: PackageHashes,
}

/// A package that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The name of its file.
    pub file_name: String,
    /// Shutdown its bytes.
    pub zh: PackageHash,
    /// Shutdown its files, as lock files record it.
    pub h1: PackageHash,
    /// Its size in bytes.
    pub size: u64,
    /// What was done.
    pub fate: Fate,
    /// What its source has signed of the release; none of a mirror without copies of that.
    pub signed: Option<SignedDigests>,
}

/// The documents that were signed of a release, by the digests under which the cache of the run has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedDigests {
    /// The checksums.
    pub sums: Sha256Digest,
    /// The signature over them.
    pub signature: Option<Sha256Digest>,
    /// The keys that their source lists.
    pub keys: Option<Sha256Digest>,
}

/// What came of one order; none if the source has no such package.
pub type CopyAnswer = Result<Option<Copied>, Refusal>;

impl Gatherer {
    /// Copies a package. One that is there already, with the signed digest, is not asked for again.
    pub(super) async fn copied(&self, key: PackageKey, order: &CopyOrder) -> CopyAnswer {
        let PackageKey { address, version, platform } = &key;
        let package = match self.package(address, version, platform).await {
            Ok(package) => package,
            Err(Miss::Absent) => return Ok(None),
            Err(Miss::Refused(refusal)) => return Err(refusal),
        };
        // The release was judged in this run, which left its documents there.
        let Some(record) = self.cache.release(address, version) else { return Ok(None) };
        let Some(sums) = self.cache.document(&record.sums) else { return Ok(None) };
        let digest = binding::listed(address, version, &package, &Sums::decode(&sums))?;
        let unbound = naming::finding(address, version, platform, &package.file_name);
        if let Some(finding) = unbound.filter(|finding| finding.level == Level::Deny) {
            return Err(finding.into());
        }
        let (file_name, zh) = (naming::conventional(address, version, platform), PackageHash::zh(digest));
        let signed = Some(SignedDigests { sums: record.sums, signature: record.signature, keys: record.keys });
        let there = self.downloads.there(&key, &order.directory.join(&file_name), Some(digest)).await;
        if let There::Package(_, Hashed { h1, size, .. }) = there {
            recorded(&key, order, [&zh, &h1])?;
            return Ok(Some(Copied { file_name, zh, h1, size, fate: Fate::Present, signed }));
        }
        let copy = Arc::new(ArchiveCopy::new(order.directory.clone(), file_name.clone()));
        let wanted = Wanted {
            url: package.url.clone(),
            file_name: package.file_name.clone(),
            zh: Some((digest, BY_SUMS)),
            authorization: None,
            copy: Some(Arc::clone(&copy)),
        };
        let found = self.downloads.fetch(key.clone(), &wanted).await?;
        recorded(&key, order, [&zh, &found.h1])?;
        copy.keep().map_err(|error| Refusal::Error(error.into()))?;
        Ok(Some(Copied { file_name, zh, h1: found.h1, size: found.size, fate: there.fate(), signed }))
    }
}

impl Downloads {
    /// What stands where a package is to go, of which the digest may be known.
    pub(super) async fn there(&self, key: &PackageKey, path: &Path, wanted: Option<Sha256Digest>) -> There {
        if !path.exists() {
            return There::Nothing;
        }
        self.events.emit(Event::PackageStarted { package: key.clone(), total: None });
        let (path, cache) = (path.to_owned(), Arc::clone(&self.cache));
        let read = move || {
            let zh = packages::digest(&path).ok()?;
            if wanted.is_some_and(|wanted| wanted != zh) {
                return None;
            }
            if let Some((h1, size)) = cache.h1_of(&zh) {
                return Some((zh, Hashed { h1, size, archive_form: None }));
            }
            let hashes = packages::hash_archive(&path, Threads::One).ok()?;
            cache.record(IndexEntry::new(hashes.zh, &hashes.h1, hashes.size, Origin::Computed)?);
            Some((hashes.zh, Hashed { h1: hashes.h1, size: hashes.size, archive_form: None }))
        };
        // A task that panics has read nothing.
        let found = tokio::task::spawn_blocking(read).await.ok().flatten();
        let bytes = found.as_ref().map_or(0, |(_, found)| found.size);
        self.events.emit(Event::PackageBytes { package: key.clone(), bytes });
        self.events.emit(Event::PackageDone { package: key.clone(), ok: found.is_some(), local: true });
        found.map_or(There::Other, |(zh, hashed)| There::Package(zh, hashed))
    }
}

/// What stands in the place of a package.
pub(super) enum There {
    /// A package, of the digest that was wanted, if one was.
    Package(Sha256Digest, Hashed),
    /// Something else.
    Other,
    /// Nothing.
    Nothing,
}

impl There {
    /// What became of it, once the package was fetched.
    pub(super) fn fate(&self) -> Fate {
        if matches!(self, Self::Nothing) { Fate::Fetched } else { Fate::Replaced }
    }
}

/// A package that no lock file records could not be installed by any of them.
pub(super) fn recorded(key: &PackageKey, order: &CopyOrder, hashes: [&PackageHash; 2]) -> Result<(), Refusal> {
    if hashes.iter().any(|hash| order.recorded.contains(hash)) {
        return Ok(());
    }
    Err(unrecorded(key).into())
}

/// A package that is what its registry signed, and of which a lock file records no hash.
pub fn unrecorded(key: &PackageKey) -> Error {
    let PackageKey { address, version, platform } = key;
    let message = format!("the lock file records no hash of the package of {address} {version} for {platform}");
    let hint = format!("`tflock lock --platform {platform} {address}` records them");
    Error::new(ErrorKind::NotFound, message).hint(hint)
}

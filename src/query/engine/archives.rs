//! One archive: downloaded and hashed as it arrives.

use std::sync::{Arc, OnceLock};

use url::Url;

use super::Equipment;
use super::budget::DownloadBudget;
use crate::disk::atomic::StoreError;
use crate::disk::cache::{Cache, ProgramRecord};
use crate::disk::mirror_writer::ArchiveCopy;
use crate::disk::package_store::Unpacking;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::{
    ArchiveHasher, ArchiveHashes, BadArchive, Contents, Limits, PackageFile, Refusal as ArchiveRefusal, Threads,
};
use crate::hash::{PackageHash, Sha256Digest};
use crate::net::{Authorization, Body, Client, NetError, ShownUrl};
use crate::query::answer::{PackageFacts, Refusal};
use crate::query::{Event, Events, PackageKey};
use crate::source::Package;

/// Why one pass over an archive gave no hashes.
enum Pass {
    /// The body broke off; another attempt may help.
    Broken(NetError),
    /// The archive is what it is.
    Refused(Refusal),
}

#[derive(Debug)]
pub(super) struct Downloads {
    pub(super) client: Client,
    pub(super) cache: Arc<Cache>,
    pub(super) events: Events,
    pub(super) threads: Arc<OnceLock<Threads>>,
    pub(super) budget: Arc<DownloadBudget>,
}

/// Who gives a digest: the list of the release, which need not be signed.
const BY_SUMS: &str = "the checksums of the release give";

#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) url: Url,
    pub(super) file_name: String,
    /// Its digest, where that is known, and who gives it.
    pub(super) zh: Option<(Sha256Digest, &'static str)>,
    /// What it takes to download it.
    pub(super) authorization: Option<Authorization>,
    /// Where its bytes go too.
    pub(super) destination: Destination,
}

impl Wanted {
    /// An archive that a registry announces.
    pub(super) fn announced(package: &Package, destination: Destination) -> Self {
        let (url, file_name) = (package.url.clone(), package.file_name.clone());
        Self { url, file_name, zh: Some((package.shasum, BY_SUMS)), authorization: None, destination }
    }
}

/// Where a package goes while it is hashed.
#[derive(Debug, Clone, Default)]
pub enum Destination {
    /// It is only hashed.
    #[default]
    Nowhere,
    /// Into a file, unchanged.
    Archive(Arc<ArchiveCopy>),
    /// Into a directory, unpacked.
    Unpacked(Arc<Unpacking>),
}

impl Destination {
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Archive(copy) => copy.begin(),
            Self::Unpacked(unpacking) => unpacking.begin(),
        }
    }

    pub(super) fn contents(&self) -> Option<Box<dyn Contents>> {
        match self {
            Self::Nowhere | Self::Archive(_) => None,
            Self::Unpacked(unpacking) => Some(unpacking.contents()),
        }
    }

    /// Takes bytes of the archive; files that are unpacked get theirs from the hasher.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), StoreError> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Archive(copy) => copy.write(bytes),
            Self::Unpacked(unpacking) => unpacking.check(),
        }
    }

    pub(super) fn finish(&self, h1: &PackageHash, files: &[PackageFile]) -> Result<(), StoreError> {
        match self {
            Self::Nowhere | Self::Archive(_) => Ok(()),
            Self::Unpacked(unpacking) => {
                unpacking.finish(h1, files);
                unpacking.check()
            }
        }
    }
}

impl Downloads {
    pub(super) fn new(client: Client, equipment: &Equipment) -> Self {
        let Equipment { cache, events, threads, budget, .. } = equipment.clone();
        Self { client, cache, events, threads, budget }
    }

    pub(super) async fn fetch(&self, key: &PackageKey, package: &Wanted) -> Result<PackageFacts, Refusal> {
        self.events.emit(Event::PackageWanted { package: key.clone() });
        let hashes = self.attempts(key, package).await;
        self.events.emit(Event::PackageDone { package: key.clone(), ok: hashes.is_ok(), local: false });
        let hashes = hashes?;
        if !hashes.has_program(key.address.type_name()) {
            let message = format!(
                "the package of {key} has no provider binary: no file in it is named terraform-provider-{}",
                key.address.type_name(),
            );
            let url = ShownUrl::new(&package.url);
            let error = Error::new(ErrorKind::Package, message).about_url(url.as_str());
            return Err(error.into());
        }
        self.cache.record_computed(hashes.zh, &hashes.h1, hashes.size);
        Ok(read(key, &hashes, package.file_name.clone(), &self.cache))
    }

    /// Reads the archive until one pass comes to its end.
    async fn attempts(&self, key: &PackageKey, package: &Wanted) -> Result<ArchiveHashes, Refusal> {
        let failed = |error: NetError| {
            let message = format!("downloading {key} failed: {error}");
            let cause = Error::from(error);
            Refusal::Error(Error { message, ..cause })
        };
        let mut download = self.client.download_as(&package.url, package.authorization.clone());
        loop {
            let mut body = download.open().await.map_err(failed)?;
            if !self.budget.take(body.length().unwrap_or_default()) {
                return Err(self.left_out(key));
            }
            self.events.emit(Event::PackageStarted { package: key.clone(), total: body.length() });
            package.destination.begin().map_err(unwritten)?;
            match self.pass(key, package, &mut body).await {
                Ok(hashes) => return Ok(hashes),
                Err(Pass::Refused(refusal)) => return Err(refusal),
                Err(Pass::Broken(error)) => {
                    // The permit of the host goes back while we wait.
                    drop(body);
                    download.again(error).await.map_err(failed)?;
                }
            }
            self.events.emit(Event::PackageRestarted { package: key.clone() });
        }
    }

    fn left_out(&self, key: &PackageKey) -> Refusal {
        Refusal::Error(self.budget.used_up(key))
    }

    async fn pass(&self, key: &PackageKey, package: &Wanted, body: &mut Body) -> Result<ArchiveHashes, Pass> {
        let threads = self.threads.get().copied().unwrap_or(Threads::One);
        let mut hasher = ArchiveHasher::unpacking(threads, Limits::default(), package.destination.contents());
        let unusable = |bad: &BadArchive| Pass::Refused(unusable(key, package, bad));
        let (mut bytes, mut page) = (Vec::new(), None);
        while body.fill(&mut bytes).await.map_err(Pass::Broken)? {
            page.get_or_insert_with(|| body.is_page(&bytes));
            let arrived = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if body.length().is_none() && !self.budget.take(arrived) {
                return Err(Pass::Refused(self.left_out(key)));
            }
            self.events.emit(Event::PackageBytes { package: key.clone(), bytes: arrived });
            package.destination.write(&bytes).map_err(|error| Pass::Refused(unwritten(error)))?;
            hasher.update(&bytes).map_err(|bad| unusable(&bad))?;
            bytes.clear();
        }
        let page = page.unwrap_or(false);
        match hasher.finish() {
            Ok(found) => {
                checked(key, package, found.zh, page)?;
                let finished = package.destination.finish(&found.h1, &found.files);
                finished.map_err(|error| Pass::Refused(unwritten(error)))?;
                Ok(found)
            }
            Err(ArchiveRefusal { zh, error, .. }) => {
                checked(key, package, zh, page)?;
                Err(unusable(&error))
            }
        }
    }
}

/// The facts about an archive that was read to its end; the cache takes in what its programs were built from.
pub(super) fn read(key: &PackageKey, archive: &ArchiveHashes, file_name: String, cache: &Cache) -> PackageFacts {
    if let Some(record) = ProgramRecord::new(&archive.h1, &key.platform, archive.programs.clone()) {
        cache.record_program(record);
    }
    PackageFacts::computed(archive, file_name)
}

fn unwritten(error: StoreError) -> Refusal {
    Refusal::Error(error.into())
}

/// The bytes must be the announced ones before anything that is wrong with them counts. A page for users in place of
/// them says nothing about the release.
fn checked(key: &PackageKey, package: &Wanted, zh: Sha256Digest, page: bool) -> Result<(), Pass> {
    let Some((wanted, given)) = package.zh.filter(|(wanted, _)| *wanted != zh) else { return Ok(()) };
    let archive = format!("the archive of {key}");
    if page {
        let url = ShownUrl::new(&package.url);
        let message =
            format!("the server answered with a page in place of {archive}: its checksum is not the announced one");
        let error = Error::new(ErrorKind::Unavailable, message).about_url(url.as_str());
        let hint = "a proxy or login page may have answered in place of the server";
        return Err(Pass::Refused(error.hint(hint).into()));
    }
    let message = format!("{archive} has the checksum {zh}, where {given} {wanted}");
    Err(Pass::Refused(Finding::new(Rule::WrongChecksum, message).about(&key.address).into()))
}

fn unusable(key: &PackageKey, package: &Wanted, bad: &BadArchive) -> Refusal {
    let message = format!("the package of {key} cannot be used: {bad}");
    if matches!(bad, BadArchive::Unusual(_)) {
        return Finding::new(Rule::UnusualArchive, message).about(&key.address).into();
    }
    let url = ShownUrl::new(&package.url);
    let error = Error::new(ErrorKind::Package, message).about_url(url.as_str());
    error.hint("report it to the registry; until it is fixed, another version may work").into()
}

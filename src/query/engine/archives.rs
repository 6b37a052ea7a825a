//! One package: an archive is downloaded and hashed as it arrives, one on disk as it lies there. And how many bytes a run may
//! download.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use url::Url;

use super::equipment::Equipment;
use crate::addr::ProviderAddr;
use crate::disk::atomic::StoreError;
use crate::disk::cache::{Cache, ProgramRecord};
use crate::disk::mirror::LocalPackage;
use crate::disk::mirror_writer::ArchiveCopy;
use crate::disk::package as packages;
use crate::disk::package::PackageError;
use crate::disk::package_store::StagedPackage;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::{
    ArchiveHasher, ArchiveHashes, ArchiveRefusal, BadArchive, Contents, Limits, PackageFile, Threads,
};
use crate::hash::{PackageHash, Sha256Digest};
use crate::net::{Authorization, Client, DownloadBody, NetError, ShownUrl};
use crate::parallel::locked;
use crate::platform::Platform;
use crate::query::question::{PackageFacts, Refusal};
use crate::query::{Event, Events, PackageKey};
use crate::release::ReleaseKey;
use crate::source::{RegistryPackage, of_package};

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
pub(super) struct WantedArchive {
    pub(super) url: Url,
    pub(super) file_name: String,
    /// Its digest, where that is known, and who gives it.
    pub(super) zh: Option<(Sha256Digest, &'static str)>,
    /// What it takes to download it.
    pub(super) authorization: Option<Authorization>,
    /// Where its bytes go too.
    pub(super) destination: Destination,
}

impl WantedArchive {
    /// An archive that a registry announces.
    pub(super) fn announced(package: &RegistryPackage, destination: Destination) -> Self {
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
    Unpacked(Arc<StagedPackage>),
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

    pub(super) async fn fetch(&self, key: &PackageKey, package: &WantedArchive) -> Result<PackageFacts, Refusal> {
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
    async fn attempts(&self, key: &PackageKey, package: &WantedArchive) -> Result<ArchiveHashes, Refusal> {
        let failed = |error: NetError| {
            let message = format!("downloading {key} failed: {error}");
            Refusal::Error(of_package(message, error))
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

    async fn pass(
        &self,
        key: &PackageKey,
        package: &WantedArchive,
        body: &mut DownloadBody,
    ) -> Result<ArchiveHashes, Pass> {
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
fn checked(key: &PackageKey, package: &WantedArchive, zh: Sha256Digest, page: bool) -> Result<(), Pass> {
    let Some((wanted, given)) = package.zh.filter(|(wanted, _)| *wanted != zh) else {
        return Ok(());
    };
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

fn unusable(key: &PackageKey, package: &WantedArchive, bad: &BadArchive) -> Refusal {
    let message = format!("the package of {key} cannot be used: {bad}");
    if matches!(bad, BadArchive::Unusual(_)) {
        return Finding::new(Rule::UnusualArchive, message).about(&key.address).into();
    }
    let url = ShownUrl::new(&package.url);
    let error = Error::new(ErrorKind::Package, message).about_url(url.as_str());
    error.hint("report it to the registry; until it is fixed, another version may work").into()
}

pub(super) fn hash_local(
    key: &PackageKey,
    found: &LocalPackage,
    destination: &Destination,
    events: &Events,
    cache: &Cache,
) -> Result<PackageFacts, Refusal> {
    events.emit(Event::PackageStarted { package: key.clone(), total: None });
    let facts = read_local(key, found, destination, cache);
    if let Some(bytes) = facts.as_ref().ok().and_then(|facts| facts.size) {
        events.emit(Event::PackageBytes { package: key.clone(), bytes });
    }
    events.emit(Event::PackageDone { package: key.clone(), ok: facts.is_ok(), local: true });
    facts
}

/// The hashes of a package. What goes to the destination are the bytes that were hashed.
pub(super) fn read_local(
    key: &PackageKey,
    found: &LocalPackage,
    destination: &Destination,
    cache: &Cache,
) -> Result<PackageFacts, Refusal> {
    destination.begin().map_err(Error::from)?;
    match found {
        LocalPackage::Packed(path) => read_archive(key, path, destination, cache),
        LocalPackage::Unpacked(path) => read_directory(key, path, destination, cache),
    }
}

fn read_archive(
    key: &PackageKey,
    path: &Path,
    destination: &Destination,
    cache: &Cache,
) -> Result<PackageFacts, Refusal> {
    let threads = if let Destination::Nowhere = destination { Threads::One } else { Threads::Two };
    let mut written = Ok(());
    let hashes = packages::unpack_archive(path, threads, destination.contents(), |bytes| {
        if written.is_ok() {
            written = destination.write(bytes);
        }
    });
    let hashes = hashes.map_err(|error| match error {
        PackageError::Archive { source: BadArchive::Unusual(_), .. } => {
            Finding::new(Rule::UnusualArchive, error.to_string()).about(&key.address).into()
        }
        error => Refusal::from(Error::from(error)),
    })?;
    if !hashes.has_program(key.address.type_name()) {
        return Err(no_program(&key.address, path).into());
    }
    written.and_then(|()| destination.finish(&hashes.h1, &hashes.files)).map_err(Error::from)?;
    Ok(read(key, &hashes, name(path), cache))
}

fn read_directory(
    key: &PackageKey,
    path: &Path,
    destination: &Destination,
    cache: &Cache,
) -> Result<PackageFacts, Refusal> {
    let addr = &key.address;
    let mut contents = destination.contents();
    let read = packages::read_directory(path, contents.as_deref_mut().map(|contents| contents as _));
    let read = read.map_err(Error::from)?;
    if !read.has_program(addr.type_name()) {
        return Err(no_program(addr, path).into());
    }
    destination.finish(&read.h1, &read.files).map_err(Error::from)?;
    if let Some(record) = ProgramRecord::new(&read.h1, &key.platform, read.programs) {
        cache.record_program(record);
    }
    Ok(PackageFacts { h1: Some(read.h1), computed: true, ..PackageFacts::unread(None, name(path)) })
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn no_program(addr: &ProviderAddr, path: &Path) -> Error {
    let message = format!(
        "the package of {addr} has no provider binary: no file in it is named terraform-provider-{}",
        addr.type_name(),
    );
    Error::new(ErrorKind::Package, message).in_file(path)
}

/// What is left of the bytes that a run may download; without a limit, as much as it likes.
#[derive(Debug)]
pub struct DownloadBudget {
    state: Mutex<Spent>,
}

#[derive(Debug)]
struct Spent {
    most: u64,
    spent: u64,
    left_out: BTreeMap<ReleaseKey, BTreeSet<Platform>>,
}

impl Default for DownloadBudget {
    fn default() -> Self {
        Self { state: Mutex::new(Spent { most: u64::MAX, spent: 0, left_out: BTreeMap::new() }) }
    }
}

impl DownloadBudget {
    fn state(&self) -> MutexGuard<'_, Spent> {
        locked(&self.state)
    }

    /// Says how many bytes the run may download in sum.
    pub(super) fn limit(&self, most: u64) {
        self.state().most = most;
    }

    /// Takes so many bytes; false if fewer are left.
    pub(super) fn take(&self, bytes: u64) -> bool {
        let mut state = self.state();
        let spent = state.spent.checked_add(bytes).filter(|spent| *spent <= state.most);
        state.spent = spent.unwrap_or(state.spent);
        spent.is_some()
    }

    /// What is said of a package for which not enough is left: it stays unknown.
    fn used_up(&self, package: &PackageKey) -> Error {
        let key = (package.address.clone(), package.version.clone());
        self.state().left_out.entry(key.clone()).or_default().insert(package.platform.clone());
        self.left_out(&key).unwrap_or_else(|| Error::new(ErrorKind::Unavailable, "not downloaded"))
    }

    /// The error about a release for whose packages not enough was left, if any.
    pub(super) fn left_out(&self, release: &ReleaseKey) -> Option<Error> {
        let state = self.state();
        let platforms: Vec<String> = state.left_out.get(release)?.iter().map(ToString::to_string).collect();
        let ((address, version), platforms, most) = (release, platforms.join(", "), state.most);
        let message = format!(
            "{address} {version} for {platforms} was not downloaded: that would be more than the {most} bytes of \
             --max-download"
        );
        let hint = "allow more, or pass --no-download to leave unproven what only a download can prove";
        Some(Error::new(ErrorKind::Unavailable, message).hint(hint))
    }
}

#[cfg(test)]
mod budget_tests {
    use super::*;

    #[test]
    fn what_fits_is_taken() {
        let all = DownloadBudget::default();
        assert!(all.take(u64::MAX) && !all.take(1) && all.take(0));
        let some = DownloadBudget::default();
        some.limit(10);
        assert!(some.take(7) && !some.take(4) && some.take(3) && !some.take(1));
    }
}

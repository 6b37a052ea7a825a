//! The package store: which wanted packages it has, and how it gets the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::wanted::{Root, Want};
use crate::commands::Services;
use crate::commands::services::package_store;
use crate::commands::sources::Opened;
use crate::commands::verify::online::Questions;
use crate::disk::cache::Cache;
use crate::disk::mirror::FilesystemMirror;
use crate::disk::package::KnownFiles;
use crate::disk::package_store::{Shelf, StoredPackage, Unpacking};
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::LockFile;
use crate::parallel;
use crate::query::engine::{Destination, FetchOrder, FetchedPackage};
use crate::query::question::{Depth, Refusal};
use crate::query::{PackageKey, Session};
use crate::release::Release;

/// The result for one package.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// The packages in the store, each hashed by this run.
    pub(super) stored: Vec<StoredPackage>,
    pub(super) downloaded: u64,
    /// The hashes of a served package that is not recorded.
    pub(super) unrecorded: Vec<PackageHash>,
    /// The release, if it is needed to explain a failure.
    pub(super) release: Option<Arc<Release>>,
    /// Why there is no package.
    pub(super) refusal: Option<Refusal>,
}

impl Found {
    /// The stored package that matches one of the recorded hashes.
    pub(super) fn of(&self, recorded: &PackageHashes) -> Option<&StoredPackage> {
        self.stored.iter().find(|stored| recorded.contains(&stored.h1))
    }

    /// True if the served package belongs to the recorded release: its archive, or another package of the release, is recorded.
    pub(super) fn is_of_release(&self, recorded: &PackageHashes) -> bool {
        let mut zh = self.unrecorded.iter().filter(|hash| hash.scheme() == HashScheme::Zh);
        let shown = |release: &Arc<Release>| recorded.iter().any(|hash| release.owns(hash));
        zh.any(|zh| recorded.contains(zh)) || self.release.as_ref().is_some_and(shown)
    }

    /// Adds the result of another source.
    pub(super) fn join(&mut self, other: Self) {
        self.stored.extend(other.stored);
        self.downloaded += other.downloaded;
        self.unrecorded.extend(other.unrecorded);
        self.refusal = other.refusal.or(self.refusal.take());
    }
}

pub(super) struct Fetching<'a> {
    store: crate::disk::package_store::PackageStore,
    cache: &'a Cache,
    known: &'a KnownFiles,
    notes: Mutex<BTreeSet<String>>,
    /// The store of a run without a cache.
    _temporary: Option<tempfile::TempDir>,
}

impl<'a> Fetching<'a> {
    pub(super) fn new(
        services: &Services<'_>,
        directories: &[PathBuf],
        (cache, known): (&'a Cache, &'a KnownFiles),
    ) -> Result<Self, Error> {
        let (store, temporary) = package_store(&services.scope, directories)?;
        Ok(Self { store, cache, known, notes: Mutex::default(), _temporary: temporary })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner));
        notes.into_iter().collect()
    }

    fn entries_of(&self, key: &PackageKey) -> Shelf {
        self.store.shelf(&key.address, &key.version, &key.platform)
    }

    /// Hashes the packages in the store.
    pub(super) fn recall(&self, wanted: &BTreeMap<PackageKey, PackageHashes>) -> BTreeMap<PackageKey, Found> {
        let named = wanted.iter().flat_map(|(key, recorded)| {
            self.entries_of(key).named(recorded).into_iter().map(move |stored| (key.clone(), stored))
        });
        let judged =
            parallel::consume(named.collect(), parallel::cores(), |(key, stored): (PackageKey, StoredPackage)| {
                stored.is_intact(self.known).then_some((key, stored))
            });
        let mut found: BTreeMap<PackageKey, Found> = BTreeMap::new();
        for (key, stored) in judged.into_iter().flatten() {
            found.entry(key).or_default().stored.push(stored);
        }
        found
    }

    /// Brings packages into the store: from directories on this machine, else from their sources.
    pub(super) fn fetch(
        &self,
        wanted: &BTreeMap<PackageKey, PackageHashes>,
        places: &[PathBuf],
        opened: Opened,
    ) -> Result<BTreeMap<PackageKey, Found>, Error> {
        let (mut found, mut orders) = (BTreeMap::<PackageKey, Found>::new(), BTreeMap::new());
        // All runs take the locks in this order, so two runs never wait for each other.
        let mut locks = Vec::new();
        for (key, recorded) in wanted {
            let entries = self.entries_of(key);
            match entries.lock().map_err(Error::from).and_then(|lock| {
                locks.push(lock);
                self.on_shelf(key, &entries, recorded)
            }) {
                Ok(stored) if !stored.is_empty() => {
                    found.entry(key.clone()).or_default().stored = stored;
                }
                Ok(_) => {
                    let destination = Destination::Unpacked(Arc::new(Unpacking::new(entries)));
                    orders.insert(key.clone(), FetchOrder { destination, rules: None, recorded: recorded.clone() });
                }
                Err(error) => found.entry(key.clone()).or_default().refusal = Some(error.into()),
            }
        }
        let local = parallel::consume(orders.into_iter().collect(), parallel::cores(), |(key, order)| {
            let stored = self.take_from(&key, &order, places);
            (key, order, stored)
        });
        let mut orders = BTreeMap::new();
        for (key, order, stored) in local {
            match stored {
                Some(stored) => found.entry(key).or_default().stored.push(stored),
                None => drop(orders.insert(key, order)),
            }
        }
        if orders.is_empty() {
            return Ok(found);
        }
        let answers = match opened {
            Ok(Some(session)) => session.block_on(async |sources| sources.fetched(orders).await)?,
            Ok(None) => orders.into_keys().map(|key| (key.clone(), Err(offline(&key).into()))).collect(),
            Err(error) => orders.into_keys().map(|key| (key, Err(error.clone().into()))).collect(),
        };
        found.extend(answers.into_iter().map(|(key, answer)| match answer {
            Ok(Some(FetchedPackage { stored: Some(stored), downloaded, .. })) => {
                (key, Found { stored: vec![stored], downloaded, ..Found::default() })
            }
            Ok(Some(FetchedPackage { facts, .. })) => {
                (key, Found { unrecorded: facts.installed().collect(), ..Found::default() })
            }
            Ok(None) => {
                let refusal = Some(absent(&key).into());
                (key, Found { refusal, ..Found::default() })
            }
            Err(refusal) => (key, Found { refusal: Some(refusal), ..Found::default() }),
        }));
        Ok(found)
    }

    /// Looks for packages that another run stored meanwhile. Discards altered ones.
    fn on_shelf(
        &self,
        key: &PackageKey,
        entries: &Shelf,
        recorded: &PackageHashes,
    ) -> Result<Vec<StoredPackage>, Error> {
        let (intact, altered): (Vec<_>, Vec<_>) =
            entries.named(recorded).into_iter().partition(|stored| stored.is_intact(self.known));
        for stored in altered {
            stored.discard()?;
            let note = format!(
                "the copy of {key} in the package store was altered on disk, or other users may write to it: it is discarded"
            );
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).insert(note);
        }
        Ok(intact)
    }

    /// A package with recorded content from a plugin cache or a filesystem mirror, if there is one.
    fn take_from(&self, key: &PackageKey, order: &FetchOrder, places: &[PathBuf]) -> Option<StoredPackage> {
        places.iter().find_map(|place| {
            let packages = FilesystemMirror::open(place).ok()?.packages(&key.address).ok()?;
            // An unreadable package is downloaded from a source instead.
            order.take(key, packages.package(&key.version, &key.platform)?, self.cache).ok()?
        })
    }
}

/// Looks up the releases of unrecorded packages with only `h1:` hashes. If a recorded `h1:` belongs to another
/// platform, the entry does not cover this one; otherwise the release was altered.
pub(super) fn look_up_releases(
    roots: &[&Root],
    found: &mut BTreeMap<PackageKey, Found>,
    session: &Session,
) -> Result<(), Error> {
    let mut questions = Questions::new(Depth { download: true, ..Depth::DOCUMENTS }, false);
    for root in roots {
        let is_open = |want: &&Want| {
            let has_zh = want.recorded.of(HashScheme::Zh).next().is_some();
            !has_zh && found.get(&want.key).is_some_and(|found| !found.unrecorded.is_empty())
        };
        let mut lock = LockFile::new();
        for want in root.lacking().filter(is_open) {
            if let Some(entry) = root.locked.get(&want.key.address) {
                lock.insert(want.key.address.clone(), entry.clone());
            }
        }
        questions.add(&root.settings, &lock, &[]);
    }
    if questions.queries.is_empty() {
        return Ok(());
    }
    let known = session.block_on(async |sources| sources.lookups(questions.queries).await)?;
    for (key, found) in found {
        let known = known.get(&key.release());
        found.release = known.and_then(|known| known.release()).cloned();
    }
    Ok(())
}

fn offline(key: &PackageKey) -> Error {
    let message = format!("{key} is not on this machine, and --offline forbids downloading it");
    Error::new(ErrorKind::Offline, message).hint("run `tflock install` without --offline")
}

fn absent(PackageKey { address, version, platform }: &PackageKey) -> Error {
    let message = format!("provider {address} {version} has no package for {platform}");
    Error::new(ErrorKind::NotFound, message)
}

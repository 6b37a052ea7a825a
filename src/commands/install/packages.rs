//! The packages that a run installs: which ones lock files want, and where they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::{InstallArgs, installed_differs};
use crate::addr::ProviderAddr;
use crate::commands::Services;
use crate::commands::shared::services::package_store;
use crate::commands::shared::sources::{LocalPlaces, Opened};
use crate::commands::verify::facts::Questions;
use crate::commands::verify::{tracked_or_none, tracked_packages};
use crate::disk::cache::Cache;
use crate::disk::files::refuse_linked_directory;
use crate::disk::mirror::FilesystemMirror;
use crate::disk::mirror_writer::directory_in;
use crate::disk::package::{KnownFiles, hash_directory_once};
use crate::disk::package_store::{PackageStore, Shelf, StagedPackage, StoredPackage};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, is_denied};
use crate::git::TrackedFiles;
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::{Decoded, LockFile};
use crate::outcome::InstallState;
use crate::parallel::{self, locked};
use crate::platform::Platform;
use crate::query::engine::{Destination, FetchOrder, FetchedPackage};
use crate::query::question::{Depth, Refusal};
use crate::query::{PackageKey, Session};
use crate::release::Release;
use crate::settings::LinkChoice;
use crate::verify::{Completion, entry};
use crate::version::Version;
use crate::workspace::{NamedProviders, Reading, Root, RunSettings};

pub(super) struct InstallRoot {
    pub(super) read: Root,
    /// Its lock file.
    locked: Arc<Decoded>,
    /// The directory of installed packages: `.terraform/providers`.
    pub(super) providers: PathBuf,
    /// The plugin cache, and all directories that may have packages.
    pub(super) plugin_cache: Option<PathBuf>,
    pub(super) places: Vec<PathBuf>,
    pub(super) wants: Vec<Want>,
    pub(super) removed: Vec<(ProviderAddr, Version)>,
    /// The packages for which the lock file has no `h1:`.
    pub(super) uncovered: Vec<PackageKey>,
    pub(super) findings: Vec<Finding>,
    pub(super) failed: Vec<Error>,
    pub(super) is_refused: bool,
}

/// One package that a root module needs.
pub(super) struct Want {
    pub(super) key: PackageKey,
    pub(super) recorded: PackageHashes,
    /// Its path, and the path as shown in reports.
    pub(super) place: PathBuf,
    pub(super) shown: PathBuf,
    pub(super) state: InstallState,
    pub(super) h1: Option<PackageHash>,
    pub(super) bytes: u64,
    pub(super) downloaded: u64,
    /// True if this run copied its files instead of linking them.
    pub(super) copied: bool,
    /// True once the run has dealt with it: installed it, or said why not.
    pub(super) is_settled: bool,
}

impl InstallRoot {
    /// Reads the lock file, and checks which packages are installed.
    pub(super) fn open(
        settings: &RunSettings,
        args: &InstallArgs,
        (known, tracked, named): (&KnownFiles, &TrackedFiles, &NamedProviders),
    ) -> Result<Self, Error> {
        // The configuration is read only for the local names, which the lock file does not have.
        let root = if args.providers.is_empty() {
            Root::of_lock_file(settings)?
        } else {
            Root::open(settings, Reading::LENIENT)?
        };
        let locked = Arc::clone(root.locked()?);
        if !args.providers.is_empty() {
            named.see(root.names());
        }
        let data = settings.data_dir();
        let is_installed_to = |folder: &&crate::git::TrackedFolder| folder.path.ends_with(".terraform");
        let folders = tracked_or_none(tracked.packages(&settings.root))?;
        let mut folders: Vec<_> = folders.iter().filter(is_installed_to).cloned().collect();
        refuse_linked_directory(&data, "providers")?;
        if folders.is_empty() {
            folders.extend(tracked_or_none(tracked.first_at(&data))?);
        }
        let mut findings = tracked_packages(settings, &folders);
        let LocalPlaces { plugin_cache, mirrors } = LocalPlaces::of(settings)?;
        let mut root = Self {
            providers: data.join("providers"),
            places: plugin_cache.iter().cloned().chain(mirrors).collect(),
            plugin_cache: plugin_cache.filter(|cache| cache.is_dir()),
            wants: Vec::new(),
            removed: Vec::new(),
            uncovered: Vec::new(),
            findings: Vec::new(),
            failed: Vec::new(),
            is_refused: !findings.is_empty(),
            locked,
            read: root,
        };
        if !root.is_refused {
            let only = args.providers.iter().filter_map(|text| root.read.names().resolve(text).ok());
            let only: Vec<ProviderAddr> = only.collect();
            findings.extend(root.look(args, &only, known));
        }
        root.findings.extend(findings);
        Ok(root)
    }

    /// What its lock file says.
    pub(super) fn lock(&self) -> &LockFile {
        &self.locked.lock
    }

    pub(super) fn settings(&self) -> &RunSettings {
        &self.read.settings
    }

    /// Lists the needed packages, and checks whether they are installed.
    fn look(&mut self, args: &InstallArgs, only: &[ProviderAddr], known: &KnownFiles) -> Vec<Finding> {
        let host = [Platform::host()];
        let platforms = if args.platforms.is_empty() { &host[..] } else { &args.platforms };
        let platforms: BTreeSet<&Platform> = platforms.iter().collect();
        let mut findings = Vec::new();
        for (address, entry) in Arc::clone(&self.locked).lock.iter() {
            if !args.providers.is_empty() && !only.contains(address) {
                continue;
            }
            let completion = Completion::checking(&self.settings().settings, self.settings().now);
            let of_address = entry::of_address(address, &self.settings().settings).into_iter();
            let of_address: Vec<Finding> =
                of_address.map(|finding| completion.complete(finding, Some(&entry.version))).collect();
            let is_forbidden = is_denied(&of_address);
            findings.extend(of_address);
            if is_forbidden {
                continue;
            }
            for &platform in &platforms {
                let (version, platform) = (entry.version.clone(), platform.clone());
                let way = directory_in(Path::new(""), address).join(version.to_string()).join(platform.as_str());
                let shown = self.settings().path.join(self.settings().data_dir_name()).join("providers").join(&way);
                let mut want = Want {
                    key: PackageKey { address: address.clone(), version, platform },
                    recorded: entry.hashes.clone(),
                    place: self.providers.join(way),
                    shown,
                    state: InstallState::Missing,
                    h1: None,
                    bytes: 0,
                    downloaded: 0,
                    copied: false,
                    is_settled: false,
                };
                if want.recorded.of(HashScheme::H1).next().is_none() {
                    self.uncovered.push(want.key);
                    continue;
                }
                (want.state, want.h1) = state_of(&want.place, &want.recorded, known);
                if args.check && want.state == InstallState::Differs {
                    findings.push(installed_differs(&want));
                }
                self.wants.push(want);
            }
        }
        findings
    }

    /// The packages to install.
    pub(super) fn lacking(&self) -> impl Iterator<Item = &Want> {
        let needs_copy =
            |want: &&Want| self.plugin_cache.as_ref().is_some_and(|cache| !cache_place(cache, &want.key).is_dir());
        let open = self.wants.iter().filter(|want| !want.is_settled);
        open.filter(move |want| !want.state.is_installed() || needs_copy(want))
    }
}

/// The path of a package in a plugin cache.
pub(super) fn cache_place(cache: &Path, key: &PackageKey) -> PathBuf {
    directory_in(cache, &key.address).join(key.version.to_string()).join(key.platform.as_str())
}

/// The state of an installed package.
pub(super) fn state_of(
    place: &Path,
    recorded: &PackageHashes,
    known: &KnownFiles,
) -> (InstallState, Option<PackageHash>) {
    if !crate::disk::linking::is_taken(place) {
        return (InstallState::Missing, None);
    }
    match hash_directory_once(place, known) {
        Ok(h1) if recorded.contains(&h1) => (InstallState::Present, Some(h1)),
        _ => (InstallState::Differs, None),
    }
}

/// The result for one package.
#[derive(Debug, Clone, Default)]
pub(super) struct PackageState {
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

impl PackageState {
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
    store: PackageStore,
    pub(super) cache: Arc<Cache>,
    known: &'a KnownFiles,
    notes: Mutex<BTreeSet<String>>,
}

impl<'a> Fetching<'a> {
    pub(super) fn new(
        services: &Services<'_>,
        roots: &[Result<InstallRoot, Error>],
        args: &InstallArgs,
        known: &'a KnownFiles,
    ) -> Result<Self, Error> {
        let opened = || roots.iter().flatten();
        let directories: Vec<PathBuf> = opened().map(|root| root.settings().root.clone()).collect();
        let store = package_store(&services.scope, &directories)?;
        if store.is_temporary() && opened().any(|root| root.link(args) == LinkChoice::Symlink) {
            let message = "symbolic links lead into the package store, which --no-cache removes when the run ends";
            return Err(Error::new(ErrorKind::Usage, message)
                .hint("leave --no-cache out, or install with `--link hard`, `clone` or `copy`"));
        }
        let cache = Arc::new(services.open_cache(&directories));
        Ok(Self { store, cache, known, notes: Mutex::default() })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let notes = std::mem::take(&mut *locked(&self.notes));
        notes.into_iter().collect()
    }

    fn entries_of(&self, key: &PackageKey) -> Shelf {
        self.store.shelf(&key.address, &key.version, &key.platform)
    }

    /// Hashes the packages in the store.
    pub(super) fn recall(&self, wanted: &BTreeMap<PackageKey, PackageHashes>) -> BTreeMap<PackageKey, PackageState> {
        let named = wanted.iter().flat_map(|(key, recorded)| {
            self.entries_of(key).named(recorded).into_iter().map(move |stored| (key.clone(), stored))
        });
        let judged =
            parallel::consume(named.collect(), parallel::cores(), |(key, stored): (PackageKey, StoredPackage)| {
                stored.is_intact(self.known).then_some((key, stored))
            });
        let mut found: BTreeMap<PackageKey, PackageState> = BTreeMap::new();
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
    ) -> Result<BTreeMap<PackageKey, PackageState>, Error> {
        let (mut found, mut orders) = (BTreeMap::<PackageKey, PackageState>::new(), BTreeMap::new());
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
                    let destination = Destination::Unpacked(Arc::new(StagedPackage::new(entries)));
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
                (key, PackageState { stored: vec![stored], downloaded, ..PackageState::default() })
            }
            Ok(Some(FetchedPackage { facts, .. })) => {
                (key, PackageState { unrecorded: facts.installed().collect(), ..PackageState::default() })
            }
            Ok(None) => {
                let refusal = Some(not_offered(&key).into());
                (key, PackageState { refusal, ..PackageState::default() })
            }
            Err(refusal) => (key, PackageState { refusal: Some(refusal), ..PackageState::default() }),
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
            locked(&self.notes).insert(note);
        }
        Ok(intact)
    }

    /// A package with recorded content from a plugin cache or a filesystem mirror, if there is one.
    fn take_from(&self, key: &PackageKey, order: &FetchOrder, places: &[PathBuf]) -> Option<StoredPackage> {
        places.iter().find_map(|place| {
            let packages = FilesystemMirror::open(place).ok()?.packages(&key.address).ok()?;
            // An unreadable package is downloaded from a source instead.
            order.take(key, packages.package(&key.version, &key.platform)?, &self.cache).ok()?
        })
    }
}

/// Looks up the releases of unrecorded packages with only `h1:` hashes. If a recorded `h1:` belongs to another
/// platform, the entry does not cover this one; otherwise the release was altered.
pub(super) fn look_up_releases(
    roots: &[&InstallRoot],
    found: &mut BTreeMap<PackageKey, PackageState>,
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
            if let Some(entry) = root.lock().get(&want.key.address) {
                lock.insert(want.key.address.clone(), entry.clone());
            }
        }
        questions.add(root.settings(), &lock, &[]);
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
    Error::new(ErrorKind::Offline, message).hint(step!("run `tflock install` without --offline"))
}

fn not_offered(PackageKey { address, version, platform }: &PackageKey) -> Error {
    let message = format!("the source has no package of provider {address} {version} for {platform}");
    Error::new(ErrorKind::NotFound, message)
}

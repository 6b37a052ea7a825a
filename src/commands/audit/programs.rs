//! Reads which Go modules the programs of locked providers contain: from records of earlier runs, from installed packages,
//! or while a package is downloaded. For `--fixed-by` also those of newer releases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{AuditArgs, advisories, parts, program};
use crate::advisory::ByModule;
use crate::commands::shared::sources::PackageSources;
use crate::commands::verify::GateRoot;
use crate::commands::verify::facts::Questions;
use crate::disk::cache::{Cache, IndexOrigin, ProgramRecord};
use crate::disk::mirror::{FilesystemMirror, LocalPackage};
use crate::disk::package as packages;
use crate::disk::package_store::PackageStore;
use crate::error::{Error, ErrorKind};
use crate::hash::{PackageHash, PackageHashes};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{AuditedProgram, FixedBy};
use crate::platform::Platform;
use crate::query::engine::{Destination, FetchOrder};
use crate::query::question::{Depth, Query, Refusal};
use crate::query::{PackageKey, Session};
use crate::release::{Lookup, ReleaseKey, Releases};
use crate::source::advisories::IndexedDatabase;
use crate::step::{Step, Value};
use crate::verify::entry;
use crate::version::Constraints;
use crate::workspace::RunSettings;

/// The programs of locked releases, or why they could not be read.
pub(in crate::commands) type Programs = BTreeMap<ReleaseKey, Result<ProgramRecord, Error>>;

/// A lock file, with the settings of its root module.
pub(crate) type Locked<'a> = (&'a RunSettings, &'a LockFile);

#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedPrograms<'a> {
    /// The platform to read: `None` for this machine's if the lock file covers it, else the first covered one.
    pub(crate) platform: Option<&'a Platform>,
    /// The limit of downloaded bytes.
    pub(crate) most: u64,
}

/// Reads the programs that lock files record, each once.
pub(crate) fn read(
    locked: &[Locked<'_>],
    wanted: WantedPrograms<'_>,
    sources: &PackageSources<'_>,
    cache: &Cache,
) -> Result<Programs, Error> {
    let mut recorded: BTreeMap<ReleaseKey, PackageHashes> = BTreeMap::new();
    for (addr, entry) in locked.iter().flat_map(|(_, lock)| lock.iter()) {
        let hashes = recorded.entry((addr.clone(), entry.version.clone())).or_default();
        *hashes = hashes.iter().chain(entry.hashes.iter()).cloned().collect();
    }
    let (mut programs, mut missing) = (Programs::new(), BTreeMap::new());
    let places: Vec<PathBuf> = locked.iter().map(|(root, _)| root.data_dir().join("providers")).collect();
    for (key, hashes) in recorded {
        // What can be read here is better than the word of an import.
        let kept = kept(&hashes, wanted.platform, cache);
        let computed = kept.clone().filter(|record| !is_reported(record));
        let read = || read_installed(&places, &key, &hashes, wanted, cache);
        match computed.or_else(read).or(kept) {
            Some(record) => drop(programs.insert(key, Ok(record))),
            None => drop(missing.insert(key, hashes)),
        }
    }
    if missing.is_empty() {
        return Ok(programs);
    }
    let open = locked.iter().map(|(root, lock)| ((*root, *lock), root.source(), lock.iter().map(|(addr, _)| addr)));
    for group in sources.groups(open.collect::<Vec<_>>()) {
        let mut questions = Questions::new(Depth { most: wanted.most, ..Depth::DOCUMENTS }, false);
        for (root, lock) in group.members {
            questions.add(root, lock, wanted.platform.map(std::slice::from_ref).unwrap_or_default());
        }
        let mut queries = questions.queries;
        queries.retain(|key, _| missing.contains_key(key) && !programs.contains_key(key));
        let found = match group.opened {
            Ok(Some(session)) => downloaded(&queries, &missing, wanted, &session, cache)?,
            Ok(None) => queries.into_keys().map(|key| offline(key, &missing, wanted, cache)).collect(),
            Err(error) => queries.into_keys().map(|key| (key, Err(error.clone()))).collect(),
        };
        programs.extend(found);
    }
    for key in missing.into_keys().filter(|key| !programs.contains_key(key)).collect::<Vec<_>>() {
        let error = not_queried(&key);
        programs.insert(key, Err(error));
    }
    Ok(programs)
}

/// The program of a release that is not locked, whose package must be one of its signed checksums.
fn read_newer(
    key: &ReleaseKey,
    (root, wanted): (&RunSettings, WantedPrograms<'_>),
    session: &Session,
    cache: &Cache,
) -> Result<ProgramRecord, Error> {
    let (version, constraints) = (key.1.clone(), Constraints::default());
    let mut lock = LockFile::new();
    lock.insert(key.0.clone(), LockEntry { version, constraints, hashes: PackageHashes::default() });
    let mut questions = Questions::new(Depth { most: wanted.most, ..Depth::DOCUMENTS }, false);
    questions.add(root, &lock, wanted.platform.map(std::slice::from_ref).unwrap_or_default());
    let queries = questions.queries;
    let known = session.block_on(async |sources| sources.lookups(queries.clone()).await)?;
    let hashes = match known.get(key) {
        Some(Lookup::Known(release)) => {
            let signed = release.archives().map(|zh| PackageHash::zh(*zh));
            signed.chain(release.computed().map(|(h1, _)| h1.clone())).collect()
        }
        _ => PackageHashes::default(),
    };
    let mut read = downloaded(&queries, &BTreeMap::from([(key.clone(), hashes)]), wanted, session, cache)?;
    read.remove(key).unwrap_or_else(|| Err(not_queried(key)))
}

fn not_queried((addr, version): &ReleaseKey) -> Error {
    Error::new(ErrorKind::Offline, format!("the settings forbid downloading the package of {addr} {version}"))
}

/// The record of earlier runs, for the named platform or else this machine's.
fn kept(hashes: &PackageHashes, platform: Option<&Platform>, cache: &Cache) -> Option<ProgramRecord> {
    let platform = platform.cloned().unwrap_or_else(Platform::host);
    let mut records = hashes.iter().filter_map(|hash| cache.program(hash));
    records.find(|record| record.platform == platform && !record.programs.has_old_layout())
}

/// Without network: uses any platform that the lock file covers, unless one was named.
fn offline(
    key: ReleaseKey,
    recorded: &BTreeMap<ReleaseKey, PackageHashes>,
    wanted: WantedPrograms<'_>,
    cache: &Cache,
) -> (ReleaseKey, Result<ProgramRecord, Error>) {
    let mut records: Vec<ProgramRecord> = recorded[&key].iter().filter_map(|hash| cache.program(hash)).collect();
    records.retain(|record| wanted.platform.is_none_or(|platform| record.platform == *platform));
    records.sort_by(|one, other| one.platform.cmp(&other.platform));
    let record = records.into_iter().next().ok_or_else(|| {
        let message =
            format!("no earlier run read the program of {} {}, and --offline forbids downloading it", key.0, key.1);
        Error::new(ErrorKind::Offline, message).hint("run the command without --offline once")
    });
    (key, record)
}

/// Reads a package in the package store or an installed one, if its hash is recorded.
fn read_installed(
    places: &[PathBuf],
    (addr, version): &ReleaseKey,
    hashes: &PackageHashes,
    wanted: WantedPrograms<'_>,
    cache: &Cache,
) -> Option<ProgramRecord> {
    let platform = wanted.platform.cloned().unwrap_or_else(Platform::host);
    let store = cache.dir().and_then(PackageStore::existing_in);
    let stored = store.map(|store| store.shelf(addr, version, &platform).named(hashes));
    let installed = |place: &PathBuf| {
        let packages = FilesystemMirror::open(place).ok()?.packages(addr).ok()?;
        match packages.package(version, &platform)? {
            LocalPackage::Unpacked(path) => Some(path.clone()),
            LocalPackage::Packed(_) => None,
        }
    };
    let read = |path: PathBuf| {
        let read = packages::read_directory(&path, None).ok().filter(|read| hashes.contains(&read.h1))?;
        let record = ProgramRecord::new(&read.h1, &platform, read.programs)?;
        cache.record_program(record.clone());
        Some(record)
    };
    let stored = stored.into_iter().flatten().map(|stored| stored.path);
    stored.chain(places.iter().filter_map(installed)).find_map(read)
}

/// Queries the releases, then downloads the package of each for one platform.
fn downloaded(
    queries: &BTreeMap<ReleaseKey, Query>,
    recorded: &BTreeMap<ReleaseKey, PackageHashes>,
    wanted: WantedPrograms<'_>,
    session: &Session,
    cache: &Cache,
) -> Result<Programs, Error> {
    let mut programs = Programs::new();
    let choose = |known: &Releases, programs: &mut Programs| {
        let mut orders = BTreeMap::new();
        for (key, query) in queries {
            match chosen(key, known.get(key), &recorded[key], wanted.platform) {
                Ok(platform) => {
                    let again = kept(&recorded[key], Some(&platform), cache);
                    if let Some(record) = again {
                        programs.insert(key.clone(), Ok(record));
                    } else {
                        let (rules, recorded) = (Some(query.rules.clone()), recorded[key].clone());
                        let order = FetchOrder { destination: Destination::Nowhere, rules, recorded };
                        orders.insert(PackageKey::of(key, &platform), order);
                    }
                }
                Err(error) => drop(programs.insert(key.clone(), Err(error))),
            }
        }
        orders
    };
    let answers = session.block_on(async |sources| {
        let known = sources.lookups(queries.clone()).await;
        let mut orders = choose(&known, &mut programs);
        for (key, program) in sources.shared_programs(orders.clone()).await {
            let Some(program) = program else { continue };
            orders.remove(&key);
            programs.insert((key.address, key.version), Ok(program));
        }
        sources.fetched(orders).await
    })?;
    for (key, answer) in answers {
        let of = |what: &str| format!("{what} the package of {key}");
        let record = match answer {
            Ok(Some(fetched)) => fetched
                .facts
                .h1
                .and_then(|h1| cache.program(&h1))
                .ok_or_else(|| Error::new(ErrorKind::Package, of("nothing was read of"))),
            Ok(None) => Err(Error::new(ErrorKind::NotFound, of("no source has"))),
            Err(refusal) => Err(refusal.into_error()),
        };
        programs.insert((key.address, key.version), record);
    }
    Ok(programs)
}

/// Selects the platform whose package to read.
fn chosen(
    (addr, version): &ReleaseKey,
    known: Option<&Lookup>,
    hashes: &PackageHashes,
    platform: Option<&Platform>,
) -> Result<Platform, Error> {
    let release = match known {
        Some(Lookup::Known(release)) => release,
        Some(Lookup::Inconclusive(error)) => return Err(error.clone()),
        Some(Lookup::Withdrawn(message)) => {
            return Err(Error::new(ErrorKind::NotFound, message.clone()));
        }
        Some(Lookup::Refused(finding, _)) => {
            return Err(Error::new(ErrorKind::Trust, finding.message().to_owned()));
        }
        Some(Lookup::NotRequested) | None => {
            return Err(Error::new(ErrorKind::Unavailable, format!("nothing is known of {addr} {version}")));
        }
    };
    if let Some(platform) = platform {
        return Ok(platform.clone());
    }
    let host = Platform::host();
    let by_zh = hashes.iter().filter(|hash| hash.zh_digest().is_some());
    let mut covered: Vec<Platform> = release.platforms_with(hashes).map(|(platform, _)| platform.clone()).collect();
    covered.extend(by_zh.flat_map(|hash| release.platforms_of(hash)).cloned());
    covered.sort();
    if covered.contains(&host) || covered.is_empty() {
        return Ok(host);
    }
    Ok(covered.swap_remove(0))
}

/// The commands after which programs of Go 1.17 and older can be read, for each platform.
pub(in crate::commands) fn notes_of_old_layouts(programs: &Programs) -> Vec<Step> {
    let records = programs.values().flatten().filter(|record| record.programs.has_old_layout());
    let platforms: BTreeSet<&Platform> = records.map(|record| &record.platform).collect();
    platforms.into_iter().map(note_of_old_layout).collect()
}

fn note_of_old_layout(platform: &Platform) -> Step {
    let (of, again) = if *platform == Platform::host() {
        (Vec::new(), String::new())
    } else {
        (vec!["--platform".to_owned(), platform.to_string()], format!(" with `--platform {platform}`"))
    };
    step!(
        "programs of Go 1.17 and older can be read once their packages are unpacked: run `tflock install {}`, then \
         this command again{}",
        Value::Words(of),
        again
    )
}

/// True if the record is an import's or an index's, so it was not computed here.
pub(crate) fn is_reported(record: &ProgramRecord) -> bool {
    record.origin == IndexOrigin::Imported
}

/// Who answers questions about newer releases.
#[derive(Clone, Copy)]
pub(super) struct Newer<'a> {
    pub(super) args: &'a AuditArgs,
    pub(super) sources: &'a PackageSources<'a>,
    pub(super) cache: &'a Cache,
}

impl Newer<'_> {
    /// Looks at the releases after that of a program which the constraints allow, the oldest first: a later one may be
    /// affected again, so none can be skipped.
    pub(super) fn first_unaffected(
        &self,
        root: &GateRoot,
        affected: &AuditedProgram,
        database: &IndexedDatabase,
    ) -> Result<FixedBy, Error> {
        let AuditedProgram { address, version: locked, platform, .. } = affected;
        let settings = root.settings();
        let constraints = match (root.requirements(), root.unread()) {
            (Some(requirements), _) => requirements.get(address).map(|it| it.constraints.clone()),
            (None, Some(error)) => return Err(error.clone()),
            (None, None) => None,
        };
        let constraints: Constraints = constraints.unwrap_or_default();
        let mut groups = self.sources.groups([((), settings.source(), std::iter::once(address))]);
        let session = groups.pop().map_or(Ok(None), |group| group.opened)?.ok_or_else(|| {
            let message = format!("--fixed-by requests the list of releases of {address}, which --offline forbids");
            Error::new(ErrorKind::Offline, message).hint("run the command without --offline")
        })?;
        let mut versions = session.block_on(async |sources| sources.versions([address.clone()].into()).await)?;
        let mut offered = versions.remove(address).unwrap_or_else(|| Ok(Vec::new())).map_err(Refusal::into_error)?;
        offered.retain(|version| version > locked && constraints.allows(version));
        offered.retain(|version| entry::of_version(address, version, &settings.settings, settings.now).is_empty());
        offered.sort();
        let wanted = WantedPrograms { platform: Some(platform), most: self.args.max_download };
        for version in offered {
            let key = (address.clone(), version);
            let record = match read_newer(&key, (settings, wanted), &session, self.cache) {
                // It has no package for this platform.
                Err(error) if error.kind == ErrorKind::NotFound => continue,
                record => record?,
            };
            let parts = parts(&key, &record, self.args.toolchain);
            let all: Vec<_> = parts.iter().map(|part| &part.components).collect();
            let (known, failed) = self.sources.online.background.run(async { advisories(database, &all).await })?;
            if let Some(error) = Error::all(failed) {
                return Err(error);
            }
            let mut judged = program(&key, &record, &parts, &ByModule::of(&known));
            judged.vulnerabilities.retain(|it| self.args.reports(it));
            // What is only reported is not clean, and neither is what is unknown, unless it is so today.
            let mut not_checked = judged.not_checked.iter();
            let is_known = judged.unknown.is_none()
                && judged.unread <= affected.unread
                && not_checked.all(|it| affected.not_checked.contains(it));
            if judged.vulnerabilities.is_empty() && is_known && !judged.is_reported {
                return Ok(FixedBy::Release(key.1));
            }
        }
        Ok(FixedBy::Nothing)
    }
}

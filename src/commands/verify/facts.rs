//! Facts beyond the lock file: the queries of `verify` and `diff` about releases, installed packages, and names that other
//! systems read as another name.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::root::{GateRoot, GateRoots};

use crate::addr::ProviderAddr;
use crate::commands::shared::rules::RuleBook;
use crate::commands::shared::sources::LocalPlaces;
use crate::config::is_read;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::package::{PackageError, hash_archive, hash_directory};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::git::TrackedFiles;
use crate::hash::archive::Threads;
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::{LockEntry, LockFile, LockName};
use crate::path::{RepoPath, ambiguous_names, worktree};
use crate::platform::Platform;
use crate::query::Session;
use crate::query::question::{Depth, Explain, Goal, Query};
use crate::query::select::ProvenanceRule;
use crate::release::{ReleaseKey, Releases};
use crate::settings::{H1Rule, Settings};
use crate::verify::{Completion, InstalledCount};
use crate::workspace::RunSettings;

/// The queries about the locked releases of some root modules.
pub fn questions<'r>(roots: impl Iterator<Item = &'r GateRoot>, depth: Depth) -> Questions {
    let mut questions = Questions::new(depth, false);
    for root in roots {
        let platforms = root.settings().settings.platforms.as_deref().unwrap_or_default();
        questions.add(root.settings(), root.lock(), platforms);
        questions.add_gone(root);
        let before = root.base().map(|(_, before)| before);
        questions.ask_witnesses(root, before);
        let Some(pins) = root.pins() else { continue };
        let is_judged = |addr: &ProviderAddr| before.is_none_or(|old| old.get(addr) != root.lock().get(addr));
        questions.demand(root.lock(), |addr| {
            if is_judged(addr) { ProvenanceRule::of(pins, addr) } else { ProvenanceRule::NotAsked }
        });
    }
    questions
}

#[derive(Debug)]
pub struct Questions {
    depth: Depth,
    link: bool,
    pub(crate) queries: BTreeMap<ReleaseKey, Query>,
}

impl Questions {
    /// No queries yet. With `link`, also queries where the publisher describes a release.
    pub fn new(depth: Depth, link: bool) -> Self {
        Self { depth, link, queries: BTreeMap::new() }
    }

    /// Adds the entries of one root module, with platforms that are likely to be recorded. Skips hosts that its settings forbid.
    pub fn add(&mut self, run: &RunSettings, lock: &LockFile, platforms: &[Platform]) {
        let rules = RuleBook::for_root(run);
        for (addr, entry) in lock.iter().filter(|(addr, entry)| !rules.forbids(addr, &entry.version)) {
            let own = run.settings.stated_h1(addr.host());
            let recorded = |scheme| entry.hashes.of(scheme).filter(|hash| hash.is_well_formed()).cloned().collect();
            let explain = Explain {
                trust_reported: own != Some(H1Rule::Verified),
                h1: recorded(HashScheme::H1),
                zh: recorded(HashScheme::Zh),
                depth: self.depth,
                link: self.link,
            };
            let query = Query::locked(entry.version.clone(), platforms, rules.of(addr, platforms), explain);
            match self.queries.entry((addr.clone(), entry.version.clone())) {
                Entry::Vacant(vacant) => drop(vacant.insert(query)),
                Entry::Occupied(mut occupied) => occupied.get_mut().join(query),
            }
        }
    }

    /// Adds the question where the releases of a lock file were built, for some of its providers.
    pub(crate) fn demand(&mut self, lock: &LockFile, built_by: impl Fn(&ProviderAddr) -> ProvenanceRule) {
        for (addr, entry) in lock.iter() {
            if let Some(query) = self.queries.get_mut(&(addr.clone(), entry.version.clone())) {
                let rule = built_by(addr);
                if rule != ProvenanceRule::NotAsked {
                    query.rules.provenance = rule;
                }
            }
        }
    }

    /// Asks other places about the releases that a change brings.
    fn ask_witnesses(&mut self, root: &GateRoot, before: Option<&LockFile>) {
        let Some(before) = before else { return };
        let rules = RuleBook::for_root(root.settings());
        for (addr, entry) in root.lock().iter() {
            let is_new = before.get(addr).is_none_or(|old| old.version != entry.version);
            if let Some(query) = self.queries.get_mut(&(addr.clone(), entry.version.clone())).filter(|_| is_new) {
                query.rules.witnesses = rules.witnesses(addr);
            }
        }
    }

    /// Adds the `h1:` hashes that a change removed from entries of the same version: removing a hash is fine if no
    /// package has it, which only the packages show.
    fn add_gone(&mut self, root: &GateRoot) {
        let Some((_, before)) = root.base() else {
            return;
        };
        for (addr, entry) in root.lock().iter() {
            let old = before.get(addr).filter(|old| old.version == entry.version);
            let query = self.queries.get_mut(&(addr.clone(), entry.version.clone()));
            let Some(Query { goal: Goal::Hashes(explain), .. }) = query else {
                continue;
            };
            let recorded = old.into_iter().flat_map(|old| old.hashes.of(HashScheme::H1));
            explain.h1.extend(recorded.filter(|hash| hash.is_well_formed()).cloned());
        }
    }

    /// The answers; sends no request without queries.
    pub fn send(self, session: &Session) -> Result<Releases, Error> {
        if self.queries.is_empty() {
            return Ok(Releases::new());
        }
        session.block_on(async |sources| sources.lookups(self.queries).await)
    }
}

/// What was found of the installed packages of a root module.
#[derive(Default)]
pub(super) struct InstalledPackages {
    pub(super) findings: Vec<Finding>,
    /// About unreadable packages.
    pub(super) errors: Vec<Error>,
    pub(super) count: InstalledCount,
}

/// Hashes the installed packages of locked releases.
pub(super) fn of_installed(root: &GateRoot) -> InstalledPackages {
    let InstalledPackages { mut findings, mut errors, mut count } = InstalledPackages::default();
    let mut installed = BTreeSet::new();
    let places = places(root).unwrap_or_else(|error| {
        errors.push(error);
        Vec::new()
    });
    for (place, holds) in places {
        let mirror = match FilesystemMirror::open(&place) {
            Ok(mirror) => mirror,
            Err(MirrorError::Missing(_)) => continue,
            Err(error) => {
                errors.push(error.into());
                continue;
            }
        };
        for (addr, entry) in root.lock().iter() {
            match of_entry(root, (&mirror, holds), addr, entry) {
                Ok(found) => {
                    count.hashed += found.hashed;
                    if holds == Holds::Installed && found.hashed > 0 {
                        installed.insert(addr);
                    }
                    findings.extend(found.findings);
                }
                Err(error) => errors.push(error),
            }
        }
    }
    count.not_installed = root.lock().iter().filter(|(addr, _)| !installed.contains(addr)).count();
    InstalledPackages { findings, errors, count }
}

/// What a package directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Installed,
    /// What several root modules share; other versions may be there too.
    Shared,
    /// `init` may install from it; some platforms may not be needed.
    Offered,
}

/// The package directories: the data directory, the plugin cache, and the mirrors of the CLI configuration or else the
/// implied ones.
fn places(root: &GateRoot) -> Result<Vec<(PathBuf, Holds)>, Error> {
    let LocalPlaces { plugin_cache, mirrors } = LocalPlaces::of(root.settings())?;
    let installed = (root.settings().data_dir().join("providers"), Holds::Installed);
    let shared = plugin_cache.into_iter().map(|cache| (cache, Holds::Shared));
    let offered = mirrors.into_iter().map(|mirror| (mirror, Holds::Offered));
    Ok([installed].into_iter().chain(shared).chain(offered).collect())
}

/// True for this machine's platform and those of the settings.
fn wanted(root: &GateRoot, platform: &Platform) -> bool {
    *platform == Platform::host() || root.settings().settings.platforms.iter().flatten().any(|own| own == platform)
}

/// The path relative to the root module, as findings have it; outside of the root module as it is.
fn within<'a>(root: &GateRoot, path: &'a Path) -> &'a Path {
    path.strip_prefix(&root.settings().root).unwrap_or(path)
}

fn of_entry(
    root: &GateRoot,
    (mirror, holds): (&FilesystemMirror, Holds),
    addr: &ProviderAddr,
    entry: &LockEntry,
) -> Result<HashedEntry, Error> {
    let (mut findings, mut hashed) = (Vec::new(), 0);
    let packages = mirror.packages(addr)?;
    let wanted = |platform: &Platform| holds != Holds::Offered || wanted(root, platform);
    if holds == Holds::Installed && packages.of(&entry.version).next().is_none() && !packages.is_empty() {
        let others: Vec<String> = packages.versions().map(ToString::to_string).collect();
        let message =
            format!("{addr} {} is locked, and not installed; installed is {}", entry.version, others.join(", "));
        let directory = root.settings().data_dir().join("providers");
        findings.push(Finding::new(Rule::InstalledDiffers, message).about(addr).in_file(within(root, &directory)));
    }
    for (platform, package) in packages.of(&entry.version).filter(|(platform, _)| wanted(platform)) {
        let (LocalPackage::Packed(path) | LocalPackage::Unpacked(path)) = package;
        let own = hashes(package)?;
        hashed += 1;
        if own.iter().any(|hash| entry.hashes.contains(hash)) {
            continue;
        }
        let own: Vec<&str> = own.iter().map(PackageHash::as_str).collect();
        let message = format!(
            "the installed package of {addr} {} for {platform} has {}, which is not recorded",
            entry.version,
            own.join(" and ")
        );
        findings.push(Finding::new(Rule::InstalledDiffers, message).about(addr).in_file(within(root, path)));
    }
    Ok(HashedEntry { findings, hashed })
}

/// The packages of one entry in one place.
struct HashedEntry {
    findings: Vec<Finding>,
    hashed: usize,
}

fn hashes(package: &LocalPackage) -> Result<Vec<PackageHash>, PackageError> {
    match package {
        LocalPackage::Unpacked(path) => Ok(vec![hash_directory(path)?]),
        LocalPackage::Packed(path) => {
            let hashes = hash_archive(path, Threads::Two)?;
            Ok([PackageHash::zh(hashes.zh), hashes.h1].into_iter().chain(hashes.archive_form).collect())
        }
    }
}

/// The findings about tracked paths of one working tree.
pub(super) fn of_names<'a>(tracked: impl Iterator<Item = &'a str> + Clone) -> Vec<Finding> {
    let is_ours = |name: &str| is_read(name) || LockName::of(name).is_some();
    let found = ambiguous_names(tracked.clone(), is_ours).into_iter();
    let finding = |path: &str, read_as: &str| {
        let message = format!("{path} is one name with {read_as} on macOS or Windows, which tflock reads");
        Finding::new(Rule::AmbiguousName, message).in_file(path)
    };
    let of_instances = tracked.filter(|path| path.rsplit('/').next().is_some_and(LockName::is_elsewhere));
    let of_instances = of_instances.map(|path| finding(path, &path.to_lowercase()));
    let mut all: Vec<Finding> = found.map(|name| finding(name.path, &name.read_as)).collect();
    all.extend(of_instances.filter(|other| !all.iter().any(|known| known.file == other.file)).collect::<Vec<_>>());
    all
}

/// The findings about all working trees of a run, each by the settings of its first root module.
pub(super) fn of_names_in_trees(
    starts: &[PathBuf],
    roots: &GateRoots,
    tracked: &TrackedFiles,
    now: SystemTime,
) -> Vec<Finding> {
    let nothing = Settings::default();
    let opened = roots.iter().filter_map(|(_, root)| root.as_ref().ok()).map(GateRoot::settings);
    let judged = opened.map(|root| (root.boundary.clone(), &root.settings));
    let started = starts.iter().filter_map(|start| Some((worktree::top(start)?, &nothing)));
    let mut seen = BTreeSet::new();
    let trees = judged.chain(started).filter(|(top, _)| seen.insert(top.clone()));
    let of_one = |(top, settings): (PathBuf, &Settings)| {
        let completion = Completion::checking(settings, now);
        let of_paths = |paths: &[RepoPath]| completion.complete_all(of_names(paths.iter().map(|path| &**path)));
        // If git gives no answer in a working tree, its root modules are inconclusive.
        tracked.with_paths(&top, of_paths).unwrap_or_default()
    };
    trees.flat_map(of_one).collect()
}

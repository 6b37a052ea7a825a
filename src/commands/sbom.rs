//! `sbom`: lists the providers and modules of root modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Services;
use super::audit::programs::{self, Locked, Programs, WantedPrograms, is_reported, notes_of_old_layouts};
use super::list::not_read;
use super::shared::options::{Packages, Within, bytes, platform};
use super::shared::rules::RuleBook;
use super::shared::sources::PackageSources;
use super::shared::targets::{Targets, Unlocked};
use super::verify::facts::Questions;
use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ProgramRecord};
use crate::disk::roots::Tree;
use crate::error::{Error, ErrorKind};
use crate::git::Git;
use crate::hash::PackageHash;
use crate::hash::archive::ProgramFile;
use crate::lockfile::LockEntry;
use crate::outcome::{
    Body, Inventory, InventoryContents, InventoryModule, InventoryPart, InventoryProgram, InventoryProvider, Notes,
    Outcome, RootOutcome,
};
use crate::path::{shown, worktree};
use crate::platform::Platform;
use crate::query::cached;
use crate::query::question::Depth;
use crate::release::Release;
use crate::settings::Date;
use crate::trust::pins::Signer;
use crate::version::Version;
use crate::workspace::Root;

/// Print a software bill of materials.
///
/// Lists the providers and modules of a root module, or with -r of a repository as one document: versions, hashes, signers,
/// and which module requires what. CycloneDX 1.6 unless --format spdx selects SPDX 2.3. The same input gives the same
/// bytes. Sends no request, except with --online, and with --deep for packages that no earlier run has read.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock sbom > bom.json\n  tflock sbom -r --deep --format spdx\n  tflock sbom --report cyclonedx=bom.cdx.json"
)]
pub(crate) struct SbomArgs {
    /// List every root module below, as one document.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Also list what is inside each provider program: its Go version and all Go modules.
    #[arg(long)]
    pub(crate) deep: bool,
    /// Request the signed checksums from the registries, to show the signers and the platforms of hashes.
    #[arg(long)]
    pub(crate) online: bool,
    /// With --deep: read the packages of this platform. Default: this machine's if the lock file covers it, else the first.
    #[arg(long, value_name = "OS_ARCH", value_parser = platform, requires = "deep")]
    pub(crate) platform: Option<Platform>,
    /// Give the CycloneDX document a serial number, made from its content.
    #[arg(long)]
    pub(crate) serial: bool,
    /// With --deep: download at most this many bytes, such as 500MiB.
    #[arg(long, value_name = "SIZE", value_parser = bytes, default_value = "2GiB")]
    pub(crate) max_download: u64,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn sbom(args: &SbomArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let targets = Targets::with_instances(&services.scope, args.recursive, Unlocked::Reported)?;
    let roots = targets.all_settings()?;
    services.events_for(targets.dialect());
    let cache = Arc::new(services.open_cache_of(&roots));
    let (mut opened, mut failed) = (Vec::new(), targets.outcomes.clone());
    for settings in &roots {
        match Root::open_locked(settings) {
            Ok(root) => opened.push(root),
            Err(error) => failed.push(RootOutcome::failed(settings.name(), error)),
        }
    }
    // A document of nothing would say that nothing runs here.
    if opened.is_empty()
        && let Some(error) = Error::all(failed.iter().filter_map(reason))
    {
        return Err(error);
    }
    let locked: Vec<Locked<'_>> = opened.iter().map(|root| (&root.settings, root.lock())).collect();
    let mut notes = Notes::default();
    let sources = PackageSources::new(services, &cache);
    if args.online {
        query_releases(&locked, &sources)?;
    }
    let mut programs = Programs::new();
    if args.deep {
        let wanted = WantedPrograms { platform: args.platform.as_ref(), most: args.max_download };
        programs = programs::read(&locked, wanted, &sources, &cache)?;
    }
    notes.extend(sources.notes());
    let mut inventory = Inventory { serial: args.serial, ..Inventory::default() };
    let start = services.scope.directories().into_iter().next().unwrap_or_default();
    let start = worktree::absolute(&start);
    inventory.name = start.file_name().map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned());
    inventory.created = created(services, &start);
    for root in &opened {
        add(&mut inventory, root, &cache);
    }
    let unread: Vec<Error> = programs.values().filter_map(|program| program.as_ref().err().cloned()).collect();
    for provider in inventory.providers.values_mut().filter(|_| args.deep) {
        let read = programs.get(&(provider.address.clone(), provider.version.clone()));
        provider.program = read.map(|read| match read {
            Ok(record) => program(record, &provider.address),
            Err(error) => InventoryProgram {
                platform: None,
                programs: Vec::new(),
                unknown: Some(error.message.clone()),
                unread: 0,
                is_reported: false,
            },
        });
    }
    notes.extend(notes_of_old_layouts(&programs));
    let partly: Vec<(PathBuf, String)> =
        opened.iter().filter_map(|root| Some((root.settings.name(), root.unread_reason()?))).collect();
    notes.extend(not_read("the inventory may lack modules", &partly, args.recursive));
    notes.extend(cache.flush().err().map(|problem| problem.to_string()));
    let mut outcome = Outcome::of_body("sbom", Body::Sbom(Arc::new(inventory)));
    for root in &failed {
        outcome.code = outcome.code.and(root.code());
    }
    outcome.notes = notes;
    outcome.dialect = targets.dialect();
    let failures = failed.iter().filter_map(reason).chain(unread);
    Ok(outcome.with_error(Error::all(failures)))
}

/// Why a root module is not in the inventory.
fn reason(root: &RootOutcome) -> Option<Error> {
    match &root.body {
        Err(error) => Some(error.clone()),
        // The general help is for who is in the root module.
        Ok(_) => Error::of_findings(ErrorKind::LockFile, &root.findings)
            .map(|error| Error { hints: vec![step!("`tflock lock -r --create` writes it")], ..error }),
    }
}

fn program(record: &ProgramRecord, addr: &ProviderAddr) -> InventoryProgram {
    let kind = addr.type_name();
    let contents = |path: Option<&String>, file: &ProgramFile| InventoryContents {
        path: path.cloned(),
        built_from: file.built_from.iter().map(|info| info.clone().map_err(|unknown| unknown.to_string())).collect(),
    };
    let own = record.programs.started(kind).map(|file| contents(None, file));
    let others = record.programs.others(kind).map(|file| contents(Some(&file.path), file));
    InventoryProgram {
        platform: Some(record.platform.clone()),
        programs: own.into_iter().chain(others).collect(),
        unknown: record.programs.unknown(kind).map(|unknown| unknown.to_string()),
        unread: record.programs.unread,
        is_reported: is_reported(record),
    }
}

/// Requests the documents of all releases; the cache keeps them.
fn query_releases(locked: &[Locked<'_>], sources: &PackageSources<'_>) -> Result<(), Error> {
    let queried = locked.iter().map(|(root, lock)| ((*root, *lock), root.source(), lock.iter().map(|(addr, _)| addr)));
    for group in sources.groups(queried.collect::<Vec<_>>()) {
        let mut questions = Questions::new(Depth::DOCUMENTS, false);
        for (root, lock) in group.members {
            questions.add(root, lock, &[]);
        }
        if let Some(session) = group.opened? {
            questions.send(&session)?;
        }
    }
    Ok(())
}

/// `SOURCE_DATE_EPOCH`, else the date of HEAD, else the beginning of 1970.
fn created(services: &Services<'_>, directory: &Path) -> String {
    let stated = services.variables().get("SOURCE_DATE_EPOCH").and_then(|text| text.parse().ok());
    let head = || Git::open(directory).ok()?.head_time().ok().flatten();
    let seconds: u64 = stated.or_else(head).unwrap_or_default();
    let day = Date::of(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.min(253_402_300_799)));
    let time = seconds % 86400;
    format!("{day}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

fn add(inventory: &mut Inventory, root: &Root, cache: &Cache) {
    let path = shown(&root.settings.name());
    let root_part = format!("root:{path}");
    inventory.needs.entry(root_part.clone()).or_default();
    let mut calls: BTreeMap<&str, InventoryPart> = BTreeMap::from([("", root_part.clone())]);
    if let Some(tree) = root.tree.as_deref() {
        for (call, part, module) in modules(tree, &root.settings.path) {
            calls.insert(call, part.clone());
            inventory.modules.entry(part).or_insert(module);
        }
    }
    for (call, part) in calls.iter().filter(|(call, _)| !call.is_empty()) {
        let parent = call.rsplit_once('.').map_or("", |(parent, _)| parent);
        let parent = calls.get(parent).unwrap_or(&root_part).clone();
        inventory.needs.entry(parent).or_default().insert(part.clone());
        inventory.needs.entry(part.clone()).or_default();
    }
    let rules = RuleBook::for_root(&root.settings);
    for (addr, entry) in root.lock().iter() {
        let part = format!("provider:{addr}@{}", entry.version);
        let requirement = root.tree.as_ref().and_then(|tree| tree.requirements.get(addr));
        let askers: BTreeSet<InventoryPart> = requirement
            .into_iter()
            .flat_map(|requirement| &requirement.origins)
            .filter_map(|origin| calls.get(origin.module.as_str()).cloned())
            .collect();
        // An entry that nothing requires belongs to the root module.
        for asker in if askers.is_empty() { BTreeSet::from([root_part.clone()]) } else { askers } {
            inventory.needs.entry(asker).or_default().insert(part.clone());
        }
        inventory.needs.entry(part.clone()).or_default();
        let found = provider(&rules, addr, entry, cache);
        let known = inventory.providers.entry(part).or_insert_with(|| found.clone());
        known.hashes.extend(found.hashes);
    }
}

fn provider(rules: &RuleBook, addr: &ProviderAddr, entry: &LockEntry, cache: &Cache) -> InventoryProvider {
    let version: &Version = &entry.version;
    let release = cached::release(cache, addr, version, rules.check(addr)).release().cloned();
    let platforms = |hash: &PackageHash| {
        let of_contents =
            |release: &Arc<Release>| release.h1.get(hash).map(|it| it.platforms.keys().cloned().collect());
        let of_contents: Option<BTreeSet<Platform>> = release.as_ref().and_then(of_contents);
        let of_archive = release.iter().flat_map(|release| release.platforms_of(hash)).cloned();
        of_contents.into_iter().flatten().chain(of_archive).collect()
    };
    let signer = release.as_ref().and_then(|release| match &release.signer {
        Some(Signer::Key(fingerprint)) => Some(fingerprint.to_string()),
        _ => None,
    });
    InventoryProvider {
        address: addr.clone(),
        version: version.clone(),
        hashes: entry.hashes.iter().map(|hash| (hash.clone(), platforms(hash))).collect(),
        signer,
        download_host: cache.release(addr, version).and_then(|release| release.download_host),
        program: None,
    }
}

/// The modules of a tree, each with its call.
fn modules<'t>(tree: &'t Tree, root: &Path) -> Vec<(&'t str, InventoryPart, InventoryModule)> {
    let lock = tree.module_lock.as_ref().map(|read| &read.file.lock);
    let remote = tree.remote_modules.iter().map(|call| {
        let block = call.address.as_ref().and_then(|source| lock?.block(source, &call.key, call.constraints.as_ref()));
        let block = block.filter(|(_, block)| block.calls.contains(&call.key));
        let version = block.and_then(|(key, _)| key.version.as_ref()).or(call.version.as_ref());
        let module = InventoryModule {
            source: call.source.clone(),
            version: version.map(crate::version::ModuleVersion::canonical),
            commit: block.and_then(|(_, block)| block.content.commit.clone()),
            hash: block.map(|(_, block)| block.content.hash.to_string()),
            is_local: false,
        };
        let which = module.version.as_ref().or(module.commit.as_ref()).map(|it| format!("@{it}")).unwrap_or_default();
        (call.key.as_str(), format!("module:{}{which}", module.source), module)
    });
    let local = tree.local_calls.iter().map(|call| {
        let directory = match &call.of_package {
            Some(package) => format!("{package}/{}", shown(&call.dir)),
            None => shown(&crate::path::lexical(root, &call.dir)),
        };
        let module =
            InventoryModule { source: directory.clone(), version: None, commit: None, hash: None, is_local: true };
        (call.key.as_str(), format!("module:./{directory}"), module)
    });
    remote.chain(local).collect()
}

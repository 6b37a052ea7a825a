//! What a filesystem mirror says about the steps of a run: which packages it has, and what they are.
//!
//! A mirror signs nothing and names no hashes; everything is computed here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::{Answer, PackageFacts, Refusal, Selected};
use super::plan::Step;
use super::select::Shelf;
use super::{Event, Events, PackageKey, parallel};
use crate::addr::ProviderAddr;
use crate::disk::mirror::{FilesystemMirror, LocalPackage};
use crate::disk::package as packages;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::platform::Platform;
use crate::release::Release;
use crate::version::Version;

/// The answers of a mirror for all steps.
///
/// Packages are hashed side by side, at most one for each core.
pub fn gather(
    mirror: &FilesystemMirror,
    steps: &BTreeMap<ProviderAddr, Step>,
    events: &Events,
) -> BTreeMap<ProviderAddr, Answer> {
    let mut jobs = Vec::new();
    let mut releases = BTreeMap::new();
    for (addr, step) in steps {
        let selected = select(mirror, addr, step);
        if let Ok(version) = &selected {
            let others = witnesses(mirror, addr, step, version);
            let packages = step.platforms.iter().chain(&others).filter_map(|platform| {
                let found = mirror.package(addr, version, platform).transpose()?;
                let package =
                    PackageKey { address: addr.clone(), version: version.clone(), platform: platform.clone() };
                Some((package, found.map_err(Error::from)))
            });
            jobs.extend(packages);
        }
        releases.insert(addr, (step, selected));
    }
    let mut hashed = hash_all(&jobs, events);
    let answers = releases.into_iter().map(|(addr, (step, selected))| {
        let answer = selected.map_err(Refusal::Error).and_then(|version| {
            let own = hashed.remove(addr).unwrap_or_default();
            release(mirror, addr, step, version, own)
        });
        (addr.clone(), answer.map(Arc::new))
    });
    answers.collect()
}

/// Platforms that were not asked for, of a recorded release: their packages may show that the mirror has that release.
fn witnesses(mirror: &FilesystemMirror, addr: &ProviderAddr, step: &Step, version: &Version) -> Vec<Platform> {
    if step.recorded.as_ref().is_none_or(|entry| entry.version != *version) {
        return Vec::new();
    }
    let mut platforms = mirror.platforms(addr, version).unwrap_or_default();
    platforms.retain(|platform| !step.platforms.contains(platform));
    platforms
}

type Hashed = BTreeMap<Platform, Result<PackageFacts, Refusal>>;

fn select(mirror: &FilesystemMirror, addr: &ProviderAddr, step: &Step) -> Result<Version, Error> {
    let versions = mirror.versions(addr)?;
    let has = |version: &Version, platform: &Platform| matches!(mirror.package(addr, version, platform), Ok(Some(_)));
    Shelf { addr, versions: &versions }.select(step, &has).map_err(|error| {
        let error = error.in_file(mirror.base());
        let hint = "check the directory: HOST/NAMESPACE/TYPE is looked for below it";
        if versions.is_empty() { error.hint(hint) } else { error }
    })
}

fn release(
    mirror: &FilesystemMirror,
    addr: &ProviderAddr,
    step: &Step,
    version: Version,
    hashed: Hashed,
) -> Result<Selected, Refusal> {
    let mut packages = BTreeMap::new();
    for (platform, facts) in hashed {
        match facts {
            Ok(facts) => drop(packages.insert(platform, facts)),
            Err(refusal) if step.platforms.contains(&platform) => return Err(refusal),
            // It was to be a witness only.
            Err(_) => {}
        }
    }
    let missing = step.platforms.iter().filter(|platform| !packages.contains_key(platform)).map(|platform| {
        let has = |version: &&Version| matches!(mirror.package(addr, version, platform), Ok(Some(_)));
        let versions = mirror.versions(addr).unwrap_or_default();
        (platform.clone(), versions.iter().filter(has).max().cloned())
    });
    let versions = mirror.versions(addr).unwrap_or_default();
    let newest = Shelf { addr, versions: &versions }.newer(&version);
    let missing = missing.collect();
    let mut selected = Selected { missing, newest, ..Selected::new(Release::new(addr.clone(), version)) };
    selected.compute(packages);
    Ok(selected)
}

/// Hashes packages on as many threads as there are cores.
fn hash_all(jobs: &[(PackageKey, Result<LocalPackage, Error>)], events: &Events) -> BTreeMap<ProviderAddr, Hashed> {
    let results = parallel::each(jobs.len(), parallel::cores(), |at| {
        let (package, found) = &jobs[at];
        found.clone().map_err(Refusal::Error).and_then(|found| hash(package, &found, events))
    });
    let mut hashed: BTreeMap<ProviderAddr, Hashed> = BTreeMap::new();
    for ((package, _), facts) in jobs.iter().zip(results) {
        hashed.entry(package.address.clone()).or_default().insert(package.platform.clone(), facts);
    }
    hashed
}

fn hash(package: &PackageKey, found: &LocalPackage, events: &Events) -> Result<PackageFacts, Refusal> {
    events.emit(Event::PackageStarted { package: package.clone(), total: None });
    let facts = hash_quietly(package, found, events);
    events.emit(Event::PackageDone { package: package.clone(), ok: facts.is_ok(), local: true });
    facts
}

fn hash_quietly(package: &PackageKey, found: &LocalPackage, events: &Events) -> Result<PackageFacts, Refusal> {
    let addr = &package.address;
    let (LocalPackage::Packed(path) | LocalPackage::Unpacked(path)) = found;
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match found {
        LocalPackage::Packed(path) => {
            let hashes = packages::hash_archive(path, Threads::One).map_err(Error::from)?;
            events.emit(Event::PackageBytes { package: package.clone(), bytes: hashes.size });
            if !hashes.has_program(addr.type_name()) {
                return Err(no_program(addr, path).into());
            }
            Ok(PackageFacts {
                zh: Some(hashes.zh),
                h1: Some(hashes.h1),
                computed: true,
                size: None,
                tells_zh: false,
                file_name,
            })
        }
        LocalPackage::Unpacked(path) => {
            if !packages::has_program(path, addr.type_name()).map_err(Error::from)? {
                return Err(no_program(addr, path).into());
            }
            let h1 = packages::hash_directory(path).map_err(Error::from)?;
            Ok(PackageFacts { zh: None, h1: Some(h1), computed: true, size: None, tells_zh: false, file_name })
        }
    }
}

fn no_program(addr: &ProviderAddr, path: &std::path::Path) -> Error {
    let message = format!(
        "the package of {addr} has no provider binary: no file in it is named terraform-provider-{}",
        addr.type_name(),
    );
    Error::new(ErrorKind::Package, message).in_file(path)
}

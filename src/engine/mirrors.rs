//! What a filesystem mirror says about the steps of a run: which packages it has, and what they are.
//!
//! A mirror signs nothing and names no hashes; everything is computed here.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::facts::{Answer, PackageFacts, Refusal, Selected};
use super::plan::{Selection, Step};
use super::wish::Bar;
use super::{Event, Events, PackageKey, abreast};
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
            let packages = step.platforms.iter().filter_map(|platform| {
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

type Hashed = BTreeMap<Platform, Result<PackageFacts, Refusal>>;

fn select(mirror: &FilesystemMirror, addr: &ProviderAddr, step: &Step) -> Result<Version, Error> {
    let versions = mirror.versions(addr)?;
    let chosen = match &step.selection {
        Selection::Keep(version) | Selection::Exactly(version) => versions.iter().find(|offered| *offered == version),
        Selection::Newest(wish) => {
            let newest = |allows: &dyn Fn(&Version) -> bool, bar: &Bar| {
                versions.iter().filter(|version| allows(version) && will_do(mirror, addr, bar, version)).max()
            };
            let joint = wish.joint.as_ref().and_then(|joint| newest(&|version| joint.allows(version), &joint.bar()));
            joint.or_else(|| newest(&|version| wish.allows(version), &step.bar(wish.complete)))
        }
    };
    chosen.cloned().ok_or_else(|| {
        let message = match (&step.selection, versions.is_empty()) {
            (_, true) => format!("the mirror has no release of provider {addr}"),
            (Selection::Keep(version), _) => format!("the mirror does not have the locked version {version} of {addr}"),
            (Selection::Exactly(version), _) => format!("the mirror does not have version {version} of {addr}"),
            (Selection::Newest(_), _) if step.rules.barred.asks_for_age() => {
                format!("a mirror does not tell how old the releases of provider {addr} are")
            }
            (Selection::Newest(wish), _) => format!(
                "no release of provider {addr} in the mirror matches the version constraint \"{}\"",
                wish.constraints
            ),
        };
        let error = Error::new(ErrorKind::NotFound, message).in_file(mirror.base());
        match versions.last() {
            Some(newest) => error.hint(format!("the newest version in the mirror is {newest}")),
            None => error.hint("check the directory: HOST/NAMESPACE/TYPE is looked for below it"),
        }
    })
}

/// True if a version may be selected. A mirror signs nothing, so that nobody knows the age of what is not recorded.
fn will_do(mirror: &FilesystemMirror, addr: &ProviderAddr, bar: &Bar, version: &Version) -> bool {
    let has = |platform: &Platform| matches!(mirror.package(addr, version, platform), Ok(Some(_)));
    let suits = || !bar.asks_for_age() && bar.platforms.iter().all(has);
    bar.ban(addr, version).is_none() && (bar.recorded.as_ref() == Some(version) || suits())
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
        packages.insert(platform, facts?);
    }
    let missing = step.platforms.iter().filter(|platform| !packages.contains_key(platform)).map(|platform| {
        let has = |version: &&Version| matches!(mirror.package(addr, version, platform), Ok(Some(_)));
        let versions = mirror.versions(addr).unwrap_or_default();
        (platform.clone(), versions.iter().filter(has).max().cloned())
    });
    let releases = mirror.versions(addr).unwrap_or_default().into_iter().filter(|other| !other.is_prerelease());
    let newest = releases.max().filter(|other| *other > version);
    let missing = missing.collect();
    let mut selected = Selected { missing, newest, ..Selected::new(Release::new(addr.clone(), version)) };
    selected.compute(packages);
    Ok(selected)
}

/// Hashes packages on as many threads as there are cores.
fn hash_all(jobs: &[(PackageKey, Result<LocalPackage, Error>)], events: &Events) -> BTreeMap<ProviderAddr, Hashed> {
    let results = abreast::each(jobs.len(), abreast::cores(), |at| {
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
            if !hashes.has_program(addr.kind()) {
                return Err(no_program(addr, path).into());
            }
            Ok(PackageFacts { zh: Some(hashes.zh), h1: Some(hashes.h1), computed: true, file_name })
        }
        LocalPackage::Unpacked(path) => {
            if !packages::has_program(path, addr.kind()).map_err(Error::from)? {
                return Err(no_program(addr, path).into());
            }
            let h1 = packages::hash_directory(path).map_err(Error::from)?;
            Ok(PackageFacts { zh: None, h1: Some(h1), computed: true, file_name })
        }
    }
}

fn no_program(addr: &ProviderAddr, path: &std::path::Path) -> Error {
    let message = format!(
        "the package of {addr} has no provider binary: no file in it is named terraform-provider-{}",
        addr.kind(),
    );
    Error::new(ErrorKind::Package, message).in_file(path)
}

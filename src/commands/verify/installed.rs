//! What is installed next to a lock file, or would be from a directory: is it what the file records?

use std::path::PathBuf;

use super::Root;
use crate::addr::ProviderAddr;
use crate::commands::local_places::LocalPlaces;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::package::{PackageError, hash_archive, hash_directory};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::hash::archive::Threads;
use crate::lockfile::LockEntry;
use crate::platform::Platform;

/// The findings on installed packages of locked releases, and what could not be read.
pub(super) fn findings(root: &Root) -> (Vec<Finding>, Vec<Error>) {
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
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
            match of_entry(&mirror, addr, entry, &|platform| holds == Holds::Installed || wanted(root, platform)) {
                Ok(found) => findings.extend(found),
                Err(error) => errors.push(error),
            }
        }
    }
    (findings, errors)
}

/// What a directory of packages holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Installed,
    /// What may be installed, for platforms that may not be wanted here.
    Offered,
}

/// Where packages are: below the data directory, in the plugin cache, and in mirrors, those of the CLI configuration or
/// else the implied ones.
fn places(root: &Root) -> Result<Vec<(PathBuf, Holds)>, Error> {
    let LocalPlaces { plugin_cache, mirrors } = LocalPlaces::of(root.settings())?;
    let installed = [root.settings().data_dir().join("providers")].into_iter().chain(plugin_cache);
    let offered = mirrors.into_iter().map(|mirror| (mirror, Holds::Offered));
    Ok(installed.map(|place| (place, Holds::Installed)).chain(offered).collect())
}

/// True for this machine's platform and those of the settings.
fn wanted(root: &Root, platform: &Platform) -> bool {
    *platform == Platform::host() || root.settings().settings.platforms.iter().flatten().any(|own| own == platform)
}

fn of_entry(
    mirror: &FilesystemMirror,
    addr: &ProviderAddr,
    entry: &LockEntry,
    wanted: &dyn Fn(&Platform) -> bool,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let packages = mirror.packages(addr)?;
    for platform in packages.platforms(&entry.version).filter(|platform| wanted(platform)) {
        let Some(package) = packages.package(&entry.version, platform) else { continue };
        let (LocalPackage::Packed(path) | LocalPackage::Unpacked(path)) = package;
        let own = hashes(package)?;
        if own.iter().any(|hash| entry.hashes.contains(hash)) {
            continue;
        }
        let own: Vec<&str> = own.iter().map(PackageHash::as_str).collect();
        let message = format!(
            "the installed package of {addr} {} for {platform} has {}, which is not recorded",
            entry.version,
            own.join(" and ")
        );
        findings.push(Finding::new(Rule::InstalledDiffers, message).about(addr).in_file(path));
    }
    Ok(findings)
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

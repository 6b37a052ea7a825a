//! Compares installed packages, and those that local directories offer, with the lock file.

use std::path::{Path, PathBuf};

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

/// The findings on installed packages of locked releases, and errors about unreadable ones.
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
            match of_entry(root, (&mirror, holds), addr, entry) {
                Ok(found) => findings.extend(found),
                Err(error) => errors.push(error),
            }
        }
    }
    (findings, errors)
}

/// What a package directory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Installed,
    /// `init` may install from it; some platforms may not be needed.
    Offered,
}

/// The package directories: the data directory, the plugin cache, and the mirrors of the CLI configuration or else the
/// implied ones.
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

/// The path relative to the root module, as findings have it; outside of the root module as it is.
fn within<'a>(root: &Root, path: &'a Path) -> &'a Path {
    path.strip_prefix(&root.settings().root).unwrap_or(path)
}

fn of_entry(
    root: &Root,
    (mirror, holds): (&FilesystemMirror, Holds),
    addr: &ProviderAddr,
    entry: &LockEntry,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let packages = mirror.packages(addr)?;
    let wanted = |platform: &Platform| holds == Holds::Installed || wanted(root, platform);
    for (platform, package) in packages.of(&entry.version).filter(|(platform, _)| wanted(platform)) {
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
        findings.push(Finding::new(Rule::InstalledDiffers, message).about(addr).in_file(within(root, path)));
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

//! What is installed beside a lock file: is it what the file records?

use std::path::PathBuf;

use super::Root;
use crate::addr::ProviderAddr;
use crate::disk::mirror::{FilesystemMirror, LocalPackage, MirrorError};
use crate::disk::package::{PackageError, hash_archive, hash_directory};
use crate::error::Error;
use crate::finding::{Finding, Rule};
use crate::hash::PackageHash;
use crate::hash::archive::Threads;
use crate::lockfile::LockEntry;

/// The findings on installed packages of locked releases, and what could not be read.
pub(super) fn findings(root: &Root) -> (Vec<Finding>, Vec<Error>) {
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    for place in places(root) {
        let mirror = match FilesystemMirror::open(&place) {
            Ok(mirror) => mirror,
            Err(MirrorError::Missing(_)) => continue,
            Err(error) => {
                errors.push(error.into());
                continue;
            }
        };
        for (addr, entry) in root.lock().iter() {
            match of_entry(&mirror, addr, entry) {
                Ok(found) => findings.extend(found),
                Err(error) => errors.push(error),
            }
        }
    }
    (findings, errors)
}

/// Where packages are installed: below the data directory, and in the plugin cache.
fn places(root: &Root) -> Vec<PathBuf> {
    let settings = root.settings();
    let data = settings.variables.get("TF_DATA_DIR").unwrap_or(".terraform");
    let cache = settings.variables.get("TF_PLUGIN_CACHE_DIR").map(PathBuf::from);
    [settings.root.join(data).join("providers")].into_iter().chain(cache).collect()
}

fn of_entry(mirror: &FilesystemMirror, addr: &ProviderAddr, entry: &LockEntry) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    let packages = mirror.packages(addr)?;
    for platform in packages.platforms(&entry.version) {
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

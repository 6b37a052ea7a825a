//! `list`: the entries of the lock file, with what is known of them.

use super::Services;
use super::targets::{Targets, Unlocked};
use crate::addr::ProviderAddr;
use crate::disk::cache::Cache;
use crate::error::Error;
use crate::hash::{PackageHash, Sha256Digest};
use crate::lockfile::{LockEntry, LockFile};
use crate::outcome::{Body, Grouping, Listed, Outcome};
use crate::platform::Platform;
use crate::release::Knowledge;
use crate::release::cached::{self, Check};
use crate::release::expiry::ExpiryRules;
use crate::requirements::Requirements;
use crate::trust::pins::Signer;
use crate::workspace::{Reading, RootModule, RunSettings, absent};

/// What `list` is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Every root module below.
    pub recursive: bool,
    /// By what the entries of many lock files stand together.
    pub by: Grouping,
}

/// Lists the entries of lock files, with what is known of them.
///
/// # Errors
///
/// What keeps the run from beginning; what is wrong with one root module stands in its outcome.
pub fn list(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    let targets = Targets::of(&services.scope, request.recursive, Unlocked::Told)?;
    let roots = targets.all_settings()?;
    let cache = services.open_cache_of(&roots);
    let outcome = targets.outcome("list", &roots, |root| entries(root, &cache));
    Ok(Outcome { grouping: request.by, ..outcome })
}

/// What is known of an entry beside the lock file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Attribution {
    /// The platforms of its hashes.
    platforms: Vec<Platform>,
    /// Its signer.
    signer: Option<Signer>,
}

/// The entries in the order of the lock file.
///
/// Without `requirements`, which is without configuration, it is not known which entries are required.
fn listed(
    lock: &LockFile,
    requirements: Option<&Requirements>,
    attribute: &dyn Fn(&ProviderAddr, &LockEntry) -> Attribution,
) -> Vec<Listed> {
    lock.iter()
        .map(|(address, entry)| {
            let Attribution { platforms, signer } = attribute(address, entry);
            Listed {
                address: address.clone(),
                entry: entry.clone(),
                required: requirements.map(|requirements| requirements.get(address).is_some()),
                platforms,
                signer,
            }
        })
        .collect()
}

fn entries(root: &RunSettings, cache: &Cache) -> Result<Body, Error> {
    let mut module = RootModule::open(root)?;
    module.decoded()?;
    // Entries can be listed whether or not the configuration can be read.
    let _ = module.read_configuration(Reading::LENIENT);
    let lock = module.entries().ok_or_else(|| absent(root.lock_file_shown(), &root.root))?;
    let attribute = |addr: &ProviderAddr, entry: &LockEntry| attribution(root, cache, addr, entry);
    let mut entries = listed(lock, module.requirements(), &attribute);
    if module.tree.as_ref().is_some_and(|tree| !tree.complete) {
        // A module that is missing may require it.
        for entry in entries.iter_mut().filter(|entry| entry.required == Some(false)) {
            entry.required = None;
        }
    }
    Ok(Body::Entries(entries))
}

/// What the cache knows of an entry: the platforms of its `h1:`, and who signed it, if a signature that was kept still
/// verifies and is about one of the recorded hashes.
fn attribution(root: &RunSettings, cache: &Cache, addr: &ProviderAddr, entry: &LockEntry) -> Attribution {
    let check = Check { signature: root.signature_for(addr), expiry: ExpiryRules::default(), now: root.now };
    let Knowledge::Known(release) = cached::release(cache, addr, &entry.version, check) else {
        return Attribution::default();
    };
    let recorded = release.h1.iter().filter(|(hash, _)| entry.hashes.contains(hash));
    let mut platforms: Vec<_> = recorded.filter_map(|(_, vouched)| vouched.platform.clone()).collect();
    platforms.sort();
    platforms.dedup();
    let is_signed = |digest: &Sha256Digest| entry.hashes.contains(&PackageHash::zh(*digest));
    let signer = release.signer.clone().filter(|_| release.lines.keys().any(is_signed));
    Attribution { platforms, signer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::version::{Constraints, Version};

    #[test]
    fn entries_are_listed_with_what_is_known() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(1, 2, 3),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr.clone(), entry);
        let attribute =
            |_: &ProviderAddr, _: &LockEntry| Attribution { platforms: Vec::new(), signer: Some(Signer::Unsigned) };
        let listed = super::listed(&lock, Some(&Requirements::new()), &attribute);
        assert_eq!((listed[0].required, listed[0].signer.as_ref()), (Some(false), Some(&Signer::Unsigned)));
        assert_eq!(super::listed(&lock, None, &attribute)[0].required, None);
    }
}

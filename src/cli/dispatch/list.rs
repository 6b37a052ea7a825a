//! `list`.

use super::lock::open_cache;
use super::targets::{Targets, Unlocked};
use super::text::{absent, decoded};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::cli::args::{Below, ListArgs};
use crate::commands::RunSettings;
use crate::commands::list::{Attribution, list as listed};
use crate::disk::cache::Cache;
use crate::disk::roots::{MissingModules, Tree, load_tree};
use crate::engine::recollect::recollect;
use crate::error::Error;
use crate::hash::{PackageHash, Sha256Digest};
use crate::lockfile::LockEntry;
use crate::outcome::Body;
use crate::verify::Knowledge;

pub(super) fn list(session: &Session<'_>, arguments: &ListArgs) -> Result<Done, Error> {
    let (roots, many) = opened(session, arguments.recursive)?;
    let cache = open_cache(&roots);
    Ok(Done::of_roots("list", (&roots, many), |root, _| entries(root, &cache)))
}

/// What the run is told about the root modules that were named, or with `-r` about those below; and whether results
/// stand beside each other.
pub(super) fn opened(session: &Session<'_>, recursive: bool) -> Result<(Vec<RunSettings>, bool), Error> {
    let targets = Targets::of(session, &Below { recursive, fail_fast: false }, Unlocked::Told)?;
    Ok((targets.all_settings()?, targets.many()))
}

fn entries(root: &RunSettings, cache: &Cache) -> Result<Body, Error> {
    let file = decoded(root)?.ok_or_else(|| absent(root.lock_file_shown()))?;
    // Entries can be listed whether or not the configuration can be read.
    let tree = load_tree(&root.root, &root.tree_options(MissingModules::Skip)).ok();
    let attribute = |addr: &ProviderAddr, entry: &LockEntry| attribution(root, cache, addr, entry);
    let mut entries = listed(&file.lock, tree.as_ref().map(|tree| &tree.requirements), &attribute);
    if tree.is_some_and(|Tree { complete, .. }| !complete) {
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
    let Knowledge::Known(release) = recollect(cache, addr, &entry.version, (root.signature_for(addr), root.now)) else {
        return Attribution::default();
    };
    let recorded = release.h1.iter().filter(|(hash, _)| entry.hashes.contains(hash));
    let mut platforms: Vec<_> = recorded.filter_map(|(_, vouched)| vouched.platform.clone()).collect();
    platforms.sort();
    platforms.dedup();
    let is_signed = |digest: &Sha256Digest| entry.hashes.contains(&PackageHash::zh(*digest));
    let signer = release.lines.keys().any(is_signed).then(|| release.signer.to_string());
    Attribution { platforms, signer }
}

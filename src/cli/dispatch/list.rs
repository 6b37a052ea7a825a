//! `list`.

use super::lock::open_cache;
use super::text::{absent, decoded};
use super::{Done, Session};
use crate::addr::ProviderAddr;
use crate::commands::RunSettings;
use crate::commands::list::{Attribution, list as listed};
use crate::disk::cache::Cache;
use crate::disk::roots::{MissingModules, Tree, load_tree};
use crate::error::Error;
use crate::lockfile::LockEntry;
use crate::outcome::Body;

pub(super) fn list(session: &Session<'_>) -> Result<Done, Error> {
    let roots = session.roots()?;
    let cache = open_cache(&roots);
    Ok(Done::of_roots("list", session, &roots, |root, _| entries(root, &cache)))
}

fn entries(root: &RunSettings, cache: &Cache) -> Result<Body, Error> {
    let file = decoded(root)?.ok_or_else(|| absent(root.lock_file_shown()))?;
    // Entries can be listed whether or not the configuration can be read.
    let tree = load_tree(&root.root, &root.tree_options(MissingModules::Skip)).ok();
    let attribute = |addr: &ProviderAddr, entry: &LockEntry| attribution(cache, addr, entry);
    let mut entries = listed(&file.lock, tree.as_ref().map(|tree| &tree.requirements), &attribute);
    if tree.is_some_and(|Tree { complete, .. }| !complete) {
        // A module that is missing may require it.
        for entry in entries.iter_mut().filter(|entry| entry.required == Some(false)) {
            entry.required = None;
        }
    }
    Ok(Body::Entries(entries))
}

/// The platforms whose `h1:` is recorded, as far as the cache knows which archive is for which.
fn attribution(cache: &Cache, addr: &ProviderAddr, entry: &LockEntry) -> Attribution {
    let packages = cache.release(addr, &entry.version).map(|release| release.packages).unwrap_or_default();
    let recorded = packages.into_iter().filter_map(|package| {
        let h1 = cache.h1_of(&package.zh).map(|(h1, _)| h1).or(package.h1)?;
        entry.hashes.contains(&h1).then_some(package.platform)
    });
    let mut platforms: Vec<_> = recorded.collect();
    platforms.sort();
    platforms.dedup();
    Attribution { platforms, signer: None }
}

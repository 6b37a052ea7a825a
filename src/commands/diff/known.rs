//! Facts about the changed releases and archives, from the cache or from registries.

use std::collections::BTreeSet;
use std::time::SystemTime;

use crate::diff::Change;
use crate::diff::Packages;
use crate::disk::cache::Cache;
use crate::hash::{HashScheme, PackageHash};
use crate::lockfile::LockFile;
use crate::query::cached::{self, Check};
use crate::release::signers::ExpiryRules;
use crate::release::{Lookup, ReleaseKey, Releases};
use crate::settings::SignatureRule;

/// Combines the answers of registries in this run with the cache. A kept signature is verified again; its signer is
/// shown, but not trusted, since the run that stored it may have been given any key.
pub(super) fn packages(changes: &[Change], releases: &Releases, cache: &Cache, now: SystemTime) -> Packages {
    let mut known = Packages::default();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(entry) = change.new.as_ref().or(change.old.as_ref()) else { continue };
        let key = (change.address.clone(), entry.version.clone());
        let knowledge = knowledge(&key, releases, cache, now);
        // Without either, the contents of an archive prove nothing about this release.
        let lists_archives = knowledge.release().is_some_and(|release| release.archives().next().is_some());
        let counts = is_same_version(change) || lists_archives;
        let entries = [&change.old, &change.new].into_iter().flatten().filter(|_| counts);
        let archives: BTreeSet<&PackageHash> = entries.flat_map(|entry| entry.hashes.of(HashScheme::Zh)).collect();
        for zh in archives {
            if let Some((h1, _)) = zh.zh_digest().and_then(|digest| cache.h1_of(&digest)) {
                known.archives.computed(zh.clone(), h1);
            }
        }
        known.releases.insert(key, knowledge);
        // Which platforms the old version covered is a question of contents that earlier runs have seen.
        if let Some(old) = change.old.as_ref().filter(|_| !is_same_version(change)) {
            let key = (change.moved_from.as_ref().unwrap_or(&change.address).clone(), old.version.clone());
            let before = self::knowledge(&key, releases, cache, now);
            known.releases.insert(key, before);
        }
    }
    known
}

/// The entries to look up in registries: releases with their added or removed hashes, and for another version also the kept ones.
pub(super) fn questions(changes: &[Change]) -> LockFile {
    let mut questions = LockFile::new();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(new) = &change.new else { continue };
        let mut entry = new.clone();
        if is_same_version(change) {
            let added = change.hashes_added.iter().map(|it| &it.hash);
            entry.hashes = added.chain(&change.hashes_removed).cloned().collect();
        }
        questions.insert(change.address.clone(), entry);
    }
    questions
}

fn is_judged(change: &Change) -> bool {
    let is_any_kept = || change.new.as_ref().is_some_and(|new| new.hashes.len() > change.hashes_added.len());
    let has_others = if is_same_version(change) { !change.hashes_removed.is_empty() } else { is_any_kept() };
    !change.hashes_added.is_empty() || has_others
}

fn is_same_version(change: &Change) -> bool {
    change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version)
}

/// The answer of the registry about a release; without an answer, the facts of earlier runs and the reason.
fn knowledge(key: &ReleaseKey, releases: &Releases, cache: &Cache, now: SystemTime) -> Lookup {
    let check = Check { signature: SignatureRule::IfKeysKnown, expiry: ExpiryRules::default(), now };
    let before = || cached::release(cache, &key.0, &key.1, check);
    match releases.get(key) {
        None => before(),
        Some(Lookup::Inconclusive(error)) => cached::in_place_of(error, before()),
        Some(knowledge) => knowledge.clone(),
    }
}

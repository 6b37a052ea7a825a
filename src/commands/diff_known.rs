//! What `diff` knows without asking: the index, and the signed checksums that earlier runs kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::diff::{ArchiveFacts, Attribution, ReleaseFacts};
use crate::disk::cache::{Cache, ReleaseRecord};
use crate::hash::sums::Sums;
use crate::hash::{HashScheme, PackageHash};
use crate::outcome::Change;
use crate::platform::Platform;
use crate::trust::openpgp;
use crate::version::Version;

/// What the cache knows of the releases and archives that changes are about.
///
/// A kept signature is verified again, and its signer is told, not trusted: whoever made the first run may have been
/// given any key.
pub fn recall(cache: &Cache, changes: &[Change], now: SystemTime) -> Attribution {
    let mut known = Attribution::default();
    for change in changes.iter().filter(|change| is_judged(change)) {
        let Some(entry) = change.new.as_ref().or(change.old.as_ref()) else { continue };
        let mut archives: BTreeSet<PackageHash> = BTreeSet::new();
        if let Some(facts) = release(cache, &change.address, &entry.version, now) {
            archives.extend(facts.packages.iter().map(|package| package.zh.clone()));
            known.releases.insert((change.address.clone(), entry.version.clone()), facts);
        }
        // Without either, what an archive contains tells nothing about this release.
        let counts = is_same_version(change) || !archives.is_empty();
        for entry in [&change.old, &change.new].into_iter().flatten().filter(|_| counts) {
            archives.extend(entry.hashes.of(HashScheme::Zh).cloned());
        }
        for zh in archives {
            if let Some((h1, _)) = zh.zh_digest().and_then(|digest| cache.h1_of(&digest)) {
                known.computed(zh, h1);
            }
        }
    }
    known
}

/// True if some hash of the change gets a verdict.
fn is_judged(change: &Change) -> bool {
    !change.hashes_added.is_empty() || is_same_version(change) && !change.hashes_removed.is_empty()
}

fn is_same_version(change: &Change) -> bool {
    change.old.as_ref().zip(change.new.as_ref()).is_some_and(|(old, new)| old.version == new.version)
}

/// A release as an earlier run saw it, if its documents are still there and say what they said.
fn release(cache: &Cache, addr: &ProviderAddr, version: &Version, now: SystemTime) -> Option<ReleaseFacts> {
    let record = cache.release(addr, version)?;
    let document = cache.document(&record.sums)?;
    let sums = Sums::decode(&document);
    let named: BTreeMap<PackageHash, &Platform> =
        record.packages.iter().map(|package| (PackageHash::zh(package.zh), &package.platform)).collect();
    let mut facts = ReleaseFacts { signer: signer(cache, &record, &document, now), ..ReleaseFacts::default() };
    let by_name: BTreeMap<PackageHash, Platform> =
        sums.archives(addr.kind(), version).map(|(platform, digest)| (PackageHash::zh(digest), platform)).collect();
    for (_, digest) in sums.lines() {
        let zh = PackageHash::zh(digest);
        match by_name.get(&zh).or(named.get(&zh).copied()).cloned() {
            Some(platform) => facts.packages.push(ArchiveFacts { zh, platform: Some(platform) }),
            None => {
                facts.other_lines.insert(zh);
            }
        }
    }
    for package in record.packages {
        facts.reported.extend(package.h1.map(|h1| (h1, Some(package.platform))));
    }
    Some(facts)
}

fn signer(cache: &Cache, record: &ReleaseRecord, document: &[u8], now: SystemTime) -> Option<String> {
    let signature = cache.document(&record.signature?)?;
    let keys = cache.keys(&record.keys?)?;
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let verified = openpgp::verify(document, &signature, &keys, now).ok()?;
    Some(verified.fingerprint.to_string())
}

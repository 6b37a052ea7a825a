//! What earlier runs left about a release, with its signature checked again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ReleaseRecord};
use crate::evidence::Evidence;
use crate::hash::PackageHash;
use crate::hash::sums::Sums;
use crate::settings::SignatureRule;
use crate::trust::openpgp;
use crate::trust::pins::Signer;
use crate::version::Version;

use super::{Knowledge, Release, Vouched};

/// How what earlier runs left is checked.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Which signature the checksums need.
    pub signature: SignatureRule,
    /// The time of the run, at which keys are judged.
    pub now: SystemTime,
}

/// The release as the cache knows it. What lacks a document or a good signature is as if it were not there, and where
/// `signature` wants one always, what nobody signed too.
pub fn release(cache: &Cache, addr: &ProviderAddr, version: &Version, check: Check) -> Knowledge {
    let release = cache.release(addr, version).and_then(|record| known(cache, addr, &record, check.now));
    let release =
        release.filter(|release| check.signature != SignatureRule::Always || release.signer != Some(Signer::Unsigned));
    release.map_or(Knowledge::Unasked, |release| Knowledge::Known(Arc::new(release)))
}

fn known(cache: &Cache, addr: &ProviderAddr, record: &ReleaseRecord, now: SystemTime) -> Option<Release> {
    let document = cache.document(&record.sums)?;
    let keys = cache.keys(&record.keys?)?;
    let (signer, subkey, signed_at) = if keys.is_empty() {
        (Signer::Unsigned, None, None)
    } else {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let verified = openpgp::verify(&document, &cache.document(&record.signature?)?, &keys, now).ok()?;
        (Signer::Key(verified.fingerprint), verified.signing_subkey, Some(verified.made))
    };
    let named = |name: &str| record.packages.iter().find(|package| package.file_name == name);
    let release = Release::new(addr.clone(), record.version.clone())
        .listing(&Sums::decode(&document), |name| named(name).map(|package| package.platform.clone()));
    let mut h1: BTreeMap<PackageHash, Vouched> = BTreeMap::new();
    for package in record.packages.iter().filter(|package| release.lines.contains_key(&package.zh)) {
        let platform = Some(package.platform.clone());
        if let Some((hash, _)) = cache.h1_of(&package.zh) {
            h1.insert(hash, Vouched { platform, evidence: Evidence::Computed });
        } else if let Some(hash) = package.h1.clone() {
            h1.insert(hash, Vouched { platform, evidence: Evidence::ReportedByOrigin });
        }
    }
    Some(Release { signer: Some(signer), subkey, signed_at, h1, current: false, ..release })
}

//! What earlier runs left about a release, with its signature checked again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ReleaseRecord};
use crate::evidence::Evidence;
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, Sha256Digest};
use crate::settings::SignatureRule;
use crate::trust::openpgp;
use crate::trust::pins::Signer;
use crate::verify::{Knowledge, Line, Release, Vouched};
use crate::version::Version;

/// The release as the cache knows it. What lacks a document or a good signature is as if it were not there, and where
/// `signature` wants one always, what nobody signed too.
pub fn recollect(
    cache: &Cache,
    addr: &ProviderAddr,
    version: &Version,
    (signature, now): (SignatureRule, SystemTime),
) -> Knowledge {
    let release = cache.release(addr, version).and_then(|record| known(cache, addr, &record, now));
    let release = release.filter(|release| signature != SignatureRule::Always || release.signer != Signer::Unsigned);
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
    let sums = Sums::decode(&document);
    let lines = lines(addr, &record.version, &sums, |name| {
        record.packages.iter().find(|package| package.file_name == name).map(|package| package.platform.clone())
    });
    let mut h1: BTreeMap<PackageHash, Vouched> = BTreeMap::new();
    for package in record.packages.iter().filter(|package| lines.contains_key(&package.zh)) {
        let platform = Some(package.platform.clone());
        if let Some((hash, _)) = cache.h1_of(&package.zh) {
            h1.insert(hash, Vouched { platform, evidence: Evidence::Computed });
        } else if let Some(hash) = package.h1.clone() {
            h1.insert(hash, Vouched { platform, evidence: Evidence::ReportedByOrigin });
        }
    }
    Some(Release {
        address: addr.clone(),
        version: record.version.clone(),
        signer,
        subkey,
        signed_at,
        lines,
        h1,
        complete: false,
        current: false,
        link: None,
        findings: Vec::new(),
        inconclusive: None,
    })
}

/// The lines of checksums: archives by their conventional names, or by names that their registry gives.
pub fn lines(
    addr: &ProviderAddr,
    version: &Version,
    sums: &Sums,
    given: impl Fn(&str) -> Option<crate::platform::Platform>,
) -> BTreeMap<Sha256Digest, Line> {
    let mut lines: BTreeMap<Sha256Digest, Line> =
        sums.archives(addr.kind(), version).map(|(platform, digest)| (digest, Line::Archive(Some(platform)))).collect();
    for (name, digest) in sums.lines() {
        let line = given(name).map_or(Line::Other, |platform| Line::Archive(Some(platform)));
        lines.entry(digest).or_insert(line);
    }
    lines
}

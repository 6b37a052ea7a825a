//! What earlier runs left about a release, with its signature checked again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ReleaseRecord};
use crate::error::Error;
use crate::evidence::Evidence;
use crate::hash::sums::Sums;
use crate::platform::Platform;
use crate::settings::SignatureRule;
use crate::trust::openpgp;
use crate::trust::pins::Signer;
use crate::version::Version;

use crate::release::signers::ExpiryRules;
use crate::release::{Attestation, Lookup, Release};

/// How what earlier runs left is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    pub signature: SignatureRule,
    /// What the expiry of keys and signatures means.
    pub expiry: ExpiryRules,
    /// The time of the run, at which keys are judged.
    pub now: SystemTime,
}

impl Check {
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let expiry = self.expiry.stricter(other.expiry);
        Self { signature: self.signature.max(other.signature), expiry, now: self.now }
    }
}

/// The release as the cache knows it. What lacks a document or a good signature is as if it were not there, and where
/// `signature` wants one always, and of unsigned releases too.
pub fn release(cache: &Cache, addr: &ProviderAddr, version: &Version, check: Check) -> Lookup {
    let release = cache.release(addr, version).and_then(|record| known(cache, addr, &record, check));
    let release =
        release.filter(|release| check.signature != SignatureRule::Always || release.signer != Some(Signer::Unsigned));
    release.map_or(Lookup::NotRequested, |release| Lookup::Known(Arc::new(release)))
}

/// What the cache answers where a registry gave no answer: the release as an earlier run saw it, with the reason.
pub fn in_place_of(unanswered: &Error, before: Lookup) -> Lookup {
    match before {
        Lookup::Known(release) => {
            let inconclusive = Some(unanswered.clone());
            Lookup::Known(Arc::new(Release { inconclusive, ..Arc::unwrap_or_clone(release) }))
        }
        _ => Lookup::Inconclusive(unanswered.clone()),
    }
}

/// The release as an earlier run saw it, without checking a signature: for hints that nothing is written or proven by.
pub fn unchecked(cache: &Cache, addr: &ProviderAddr, version: &Version) -> Option<Release> {
    let record = cache.release(addr, version)?;
    let document = cache.document(&record.sums)?;
    Some(listed(cache, addr, &record, &document))
}

fn known(cache: &Cache, addr: &ProviderAddr, record: &ReleaseRecord, check: Check) -> Option<Release> {
    let document = cache.document(&record.sums)?;
    let keys = cache.keys(&record.keys?)?;
    let mut findings = Vec::new();
    let (signer, subkey, signed_at) = if keys.is_empty() {
        (Signer::Unsigned, None, None)
    } else {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let verified = openpgp::verify(&document, &cache.document(&record.signature?)?, &keys, check.now).ok()?;
        findings.extend(check.expiry.finding(addr, &record.version, &verified));
        (Signer::Key(verified.fingerprint), verified.signing_subkey, Some(verified.made))
    };
    let mut release = listed(cache, addr, record, &document);
    let computed: BTreeSet<Platform> = release.computed().filter_map(|(_, platform)| platform.cloned()).collect();
    // What was computed here counts more than what was reported.
    release.retract(|_, platform| computed.contains(platform));
    Some(Release { signer: Some(signer), subkey, signed_at, findings, ..release })
}

/// The release by its checksums, with all that was computed here or reported of its packages.
fn listed(cache: &Cache, addr: &ProviderAddr, record: &ReleaseRecord, document: &[u8]) -> Release {
    let named = |name: &str| record.packages.iter().find(|package| package.file_name == name);
    let sums = Sums::decode(document);
    let mut release = Release::new(addr.clone(), record.version.clone())
        .listing(&sums, |name| named(name).map(|package| package.platform.clone()));
    release.current = false;
    for package in &record.packages {
        if !release.lines.contains_key(&package.zh) {
            continue;
        }
        let attested = |evidence| Attestation::new(Some(package.platform.clone()), evidence);
        if let Some(hash) = package.h1.clone() {
            release.attest(hash, attested(Evidence::ReportedByOrigin));
        }
        if let Some((hash, _)) = cache.h1_of(&package.zh) {
            release.attest(hash, attested(Evidence::Computed));
        }
    }
    let known = |platform: &Platform| release.h1.values().any(|attested| attested.platforms.contains_key(platform));
    let mut archives = sums.archives(addr.type_name(), &record.version).map(|(platform, _)| platform).peekable();
    release.complete = archives.peek().is_some() && archives.all(|platform| known(&platform));
    release
}

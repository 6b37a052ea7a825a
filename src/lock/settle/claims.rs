//! The hashes of a release, and the evidence for each.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::AddedHash;
use crate::evidence::Evidence;
use crate::hash::PackageHash;
use crate::platform::Platform;
use crate::query::answer::{PackageFacts, Selected};
use crate::query::question::Query;
use crate::query::rules::ReportedRule;
use crate::trust::pins::Signer;

pub(super) struct Claims {
    pub(super) by_hash: BTreeMap<PackageHash, (BTreeSet<Platform>, BTreeSet<Evidence>)>,
}

impl Claims {
    pub(super) fn of(step: &Query, facts: &Selected) -> Self {
        let mut claims = Self { by_hash: BTreeMap::new() };
        if let Some(signer) = &facts.release.signer {
            claims.add_sums(facts, signer);
        }
        for platform in &step.platforms {
            let Some(package) = facts.packages.get(platform) else { continue };
            let Some(h1) = &package.h1 else { continue };
            let attested = facts.release.h1.get(h1).map(|attested| &attested.evidence);
            let by_index = attested.filter(|evidence| matches!(evidence, Evidence::ReportedByIndex(_)));
            let evidence = match (package.computed, by_index, &facts.release.signer) {
                (true, ..) => Evidence::Computed,
                (false, Some(by_index), _) => by_index.clone(),
                (false, None, Some(_)) => Evidence::ReportedByOrigin,
                (false, None, None) => Evidence::ReportedByMirror,
            };
            claims.add(h1.clone(), Some(platform), evidence);
            if let Some(zh) = package.zh_hash().filter(|_| package.tells_zh) {
                claims.add(zh, Some(platform), Evidence::Computed);
            }
        }
        if step.rules.reported == ReportedRule::Write {
            let trusted = facts.trusted.iter().map(|trusted| (trusted, Evidence::ReportedByMirror));
            let reported = facts.reported.iter().map(|reported| (reported, Evidence::ReportedByOrigin));
            for ((platform, hashes), evidence) in reported.chain(trusted) {
                for hash in hashes {
                    claims.add(hash.clone(), Some(platform), evidence.clone());
                }
            }
        }
        claims
    }

    /// Adds the whole list; if an invalid line spoils it, only the inspected packages, as the tools do.
    fn add_sums(&mut self, facts: &Selected, signer: &Signer) {
        let evidence = match signer {
            Signer::Key(key) => Evidence::Signed(key.clone()),
            Signer::Unsigned => Evidence::ReportedByOrigin,
        };
        let own = |(platform, package): (_, &PackageFacts)| Some((package.zh_hash()?, platform));
        let own: Vec<(PackageHash, &Platform)> = facts.packages.iter().filter_map(own).collect();
        for digest in &facts.release.listed {
            self.add(PackageHash::zh(*digest), None, evidence.clone());
        }
        let is_written = |hash: &PackageHash| facts.release.listed.is_empty() || self.by_hash.contains_key(hash);
        for (hash, platform) in own.into_iter().filter(|(hash, _)| is_written(hash)).collect::<Vec<_>>() {
            self.add(hash, Some(platform), evidence.clone());
        }
    }

    fn add(&mut self, hash: PackageHash, platform: Option<&Platform>, evidence: Evidence) {
        let claim = self.by_hash.entry(hash).or_default();
        claim.0.extend(platform.cloned());
        claim.1.insert(evidence);
    }

    pub(super) fn into_added(self) -> impl Iterator<Item = AddedHash> {
        self.by_hash.into_iter().map(|(hash, (platforms, evidence))| AddedHash {
            hash,
            platforms,
            evidence: evidence.into_iter().collect(),
        })
    }
}

//! Answers that need no request: what earlier runs left about a release, with its signature checked again, and one version for many
//! root modules.
//!
//! If a release suits all of them, each gets the newest such release; else each gets the newest that suits itself, as if
//! the others were not there. There is nothing in between, so users know beforehand what they get.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use super::select::{self, Criteria, ReleaseCriteria, VersionStep};
use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ReleaseRecord};
use crate::error::Error;
use crate::hash::Sums;
use crate::platform::Platform;
use crate::provenance::{self, Attested, TrustedRoot};
use crate::release::continuity::ExpiryRules;
use crate::release::{Attestation, Lookup, Release};
use crate::settings::{SignatureRule, VersionPolicy};
use crate::trust::Evidence;
use crate::trust::openpgp;
use crate::trust::pins::Signer;
use crate::version::{Constraints, Version};

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

/// What earlier runs kept of where a release was built, verified again.
pub fn attested(cache: &Cache, release: &Release) -> Attested {
    let mut attested = Attested::default();
    for (_, digest) in release.named_archives() {
        for bundle in cache.bundles(&digest) {
            attested.asked.insert(digest);
            attested.take_in(provenance::verify(TrustedRoot::in_use(), &bundle, &digest), &digest);
        }
    }
    attested
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

/// How many places with the same requirement are listed.
const PLACES: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SameVersion {
    /// Each once.
    demands: Vec<Demand>,
    prereleases: bool,
    within: Vec<(VersionStep, Version)>,
    platforms: BTreeSet<Platform>,
    /// Each once.
    policies: Vec<VersionPolicy>,
    recorded: BTreeSet<Option<Version>>,
    /// The highest version that a root module has and shall not go below.
    floor: Option<Version>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Demand {
    constraints: Constraints,
    places: Vec<String>,
}

impl SameVersion {
    /// Adds the requirements of one more root module on a version and its release. `places` are those of its constraints,
    /// `FILE:LINE:COLUMN`.
    pub fn add(&mut self, criteria: &Criteria, release: ReleaseCriteria, places: impl IntoIterator<Item = String>) {
        let same = |demand: &&mut Demand| demand.constraints == criteria.constraints;
        match self.demands.iter_mut().find(same) {
            Some(demand) => {
                let new: Vec<String> = places.into_iter().filter(|place| !demand.places.contains(place)).collect();
                demand.places.extend(new);
            }
            None => self
                .demands
                .push(Demand { constraints: criteria.constraints.clone(), places: places.into_iter().collect() }),
        }
        self.within
            .extend(criteria.within.iter().filter(|within| !self.within.contains(within)).cloned().collect::<Vec<_>>());
        self.prereleases |= criteria.prereleases;
        let ReleaseCriteria { recorded, platforms, policies } = release;
        self.platforms.extend(platforms);
        let new: Vec<_> = policies.into_iter().filter(|policy| !self.policies.contains(policy)).collect();
        self.policies.extend(new);
        self.recorded.insert(recorded);
    }

    /// Keeps the version from being lower than a recorded one, if its constraints still allow that.
    pub fn keep_up(&mut self, recorded: Option<&Version>, criteria: &Criteria) {
        let kept = recorded.filter(|version| criteria.allows_by_constraints(version)).cloned();
        self.floor = self.floor.take().max(kept);
    }

    /// The version that all must not go below, if it is higher than each of some versions that the constraints of all
    /// allow.
    pub fn floor_above(&self, versions: &[&Version]) -> Option<&Version> {
        self.floor.as_ref().filter(|floor| versions.iter().all(|version| version < floor))
    }

    pub fn allows(&self, version: &Version) -> bool {
        self.demands.iter().all(|demand| self.is_met(demand, version))
            && self.floor.as_ref().is_none_or(|floor| version >= floor)
            && self.within.iter().all(|(within, from)| within.allows(from, version))
    }

    /// What a release must be next to its number. A recorded one is excused only if all record it.
    pub fn release_criteria(&self) -> ReleaseCriteria {
        let recorded = self.recorded.first().filter(|_| self.recorded.len() == 1).cloned().flatten();
        ReleaseCriteria {
            recorded,
            platforms: self.platforms.iter().cloned().collect(),
            policies: self.policies.clone(),
        }
    }

    /// The constraints that do not allow all of some versions, with their places, in words.
    pub fn opposed(&self, versions: &[&Version]) -> Vec<String> {
        let against = |demand: &&Demand| versions.iter().any(|version| !self.is_met(demand, version));
        self.demands.iter().filter(against).map(Demand::words).collect()
    }

    /// The same for one version, without the constraints of the requesting root module.
    pub fn opposed_beside(&self, own: &Constraints, version: &Version) -> Vec<String> {
        let others = self.demands.iter().filter(|demand| demand.constraints != *own && !self.is_met(demand, version));
        others.map(Demand::words).collect()
    }

    fn is_met(&self, demand: &Demand, version: &Version) -> bool {
        select::allows(&demand.constraints, self.prereleases, version)
    }
}

impl Demand {
    /// `"~> 1.0" (a/main.tf:3:5, b/main.tf:3:5 and 7 more)`
    fn words(&self) -> String {
        let (named, others) = self.places.split_at(self.places.len().min(PLACES));
        let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        format!("\"{}\" ({}{others})", self.constraints, named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    /// What is asked of the release next to its number.
    fn release(recorded: Option<&str>, platforms: &[&str], policy: VersionPolicy) -> ReleaseCriteria {
        let platforms = platforms.iter().map(|platform| platform.parse().unwrap()).collect();
        ReleaseCriteria { recorded: recorded.map(version), platforms, policies: vec![policy] }
    }

    /// What root modules with these constraints ask, which record these versions.
    fn same(roots: &[(&str, Option<&str>)]) -> SameVersion {
        let mut same = SameVersion::default();
        for (at, (constraints, recorded)) in roots.iter().enumerate() {
            let constraints =
                if constraints.is_empty() { Constraints::default() } else { constraints.parse().unwrap() };
            let release = release(*recorded, &[], VersionPolicy::default());
            same.add(&Criteria::of(constraints), release, [format!("r{at}/main.tf:3:5")]);
        }
        same
    }

    fn newest<'a>(same: &SameVersion, offered: &[&'a str]) -> Option<&'a str> {
        offered.iter().copied().filter(|text| same.allows(&version(text))).max_by_key(|text| version(text))
    }

    const OFFERED: [&str; 6] = ["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.1.0", "3.0.0-rc1"];

    #[test]
    fn the_newest_that_suits_all() {
        for (constraints, wanted) in [
            (&["", ""][..], Some("2.1.0")),
            (&[">= 1.0", "~> 1.1"], Some("1.2.0")),
            (&["~> 1.0", "!= 1.2.0", "< 2.1"], Some("1.1.0")),
            (&["~> 1.0", "~> 2.0"], None),
            // A pre-release must be asked for exactly by each.
            (&["3.0.0-rc1", ">= 1.0"], None),
            (&["3.0.0-rc1", "3.0.0-rc1"], Some("3.0.0-rc1")),
        ] {
            let roots: Vec<_> = constraints.iter().map(|constraint| (*constraint, None)).collect();
            assert_eq!(newest(&same(&roots), &OFFERED), wanted, "{constraints:?}");
        }
    }

    #[test]
    fn every_step_counts() {
        let mut same = SameVersion::default();
        for from in ["1.0.0", "1.1.0", "1.1.0"] {
            let criteria = Criteria { within: Some((VersionStep::Minor, version(from))), ..Criteria::default() };
            same.add(&criteria, release(Some(from), &[], VersionPolicy::default()), []);
        }
        assert_eq!((newest(&same, &OFFERED), same.within.len()), (Some("1.2.0"), 2));
        let criteria = Criteria { within: Some((VersionStep::Patch, version("2.0.0"))), ..Criteria::default() };
        same.add(&criteria, release(None, &[], VersionPolicy::default()), []);
        assert_eq!(newest(&same, &OFFERED), None);
    }

    #[test]
    fn the_bar_is_the_highest_of_all() {
        let early = std::time::SystemTime::UNIX_EPOCH;
        let policy = VersionPolicy::default().not_after(Some(early));
        let criteria = Criteria { complete: true, ..Criteria::default() };
        let mut same = SameVersion::default();
        same.add(&criteria, release(Some("1.0.0"), &["linux_amd64"], policy.clone()), []);
        same.add(&criteria, release(Some("1.0.0"), &["darwin_arm64"], VersionPolicy::default()), []);
        let platforms = ["darwin_arm64", "linux_amd64"].map(|platform| platform.parse().unwrap()).to_vec();
        let together = ReleaseCriteria {
            recorded: Some(version("1.0.0")),
            platforms,
            policies: vec![policy, VersionPolicy::default()],
        };
        assert_eq!(same.release_criteria(), together);
        same.add(&criteria, release(None, &[], VersionPolicy::default()), []);
        assert_eq!(same.release_criteria().recorded, None);
    }

    #[test]
    fn conflicting_constraints_are_named_with_some_places() {
        let same = same(&[
            ("~> 1.0", None),
            ("~> 2.0", None),
            ("", None),
            ("~> 2.0", None),
            ("~> 2.0", None),
            ("~> 2.0", None),
        ]);
        let versions = [version("1.2.0"), version("2.1.0")];
        assert_eq!(
            same.opposed(&[&versions[0], &versions[1]]),
            ["\"~> 1.0\" (r0/main.tf:3:5)", "\"~> 2.0\" (r1/main.tf:3:5, r3/main.tf:3:5, r4/main.tf:3:5 and 1 more)"]
        );
        assert_eq!(same.opposed(&[&versions[0]]).len(), 1);
    }
}

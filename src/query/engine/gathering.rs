//! What is known of a release while it is asked about.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::signed::SignedSums;
use super::{Miss, binding};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::query::answer::{Answer, PackageFacts, PassedOver, Refusal, Selected};
use crate::query::question::{Query, Selection};
use crate::query::rules::ReportedRule;
use crate::release::Release;
use crate::release::offer::Offer;
use crate::source::{Package, speaks_supported_protocol};
use crate::version::{Version, newest_allowed};

/// What the registry said about the packages of one release.
pub(super) type Packages = BTreeMap<Platform, Result<Arc<Package>, Miss>>;

/// The line of one archive in the checksums.
pub(super) struct Line {
    pub(super) file_name: String,
    pub(super) zh: Sha256Digest,
    /// What the registry says of this very package, where it was asked.
    pub(super) package: Option<Arc<Package>>,
    /// The `h1:` that the registry reports of it, beside another package or with its own.
    pub(super) reported: Option<PackageHash>,
}

impl Line {
    /// The package, of whose contents nothing is known.
    pub(super) fn unknown(&self) -> PackageFacts {
        PackageFacts {
            zh: Some(self.zh),
            h1: None,
            computed: false,
            size: None,
            tells_zh: false,
            file_name: self.file_name.clone(),
        }
    }

    /// The package as it was computed here.
    pub(super) fn computed(&self, h1: PackageHash, size: u64) -> PackageFacts {
        PackageFacts { h1: Some(h1), computed: true, size: Some(size), ..self.unknown() }
    }
}

pub(super) fn line_of(
    addr: &ProviderAddr,
    version: &Version,
    package: Arc<Package>,
    sums: &Sums,
) -> Result<Line, Refusal> {
    let file_name = package.file_name.clone();
    let zh = binding::listed(addr, version, &package, sums)?;
    let reported = package.reported.get(&package.platform).and_then(|reported| reported.h1().next().cloned());
    Ok(Line { file_name, zh, package: Some(package), reported })
}

/// What is known of a release while it is asked about.
pub(super) struct Gathering<'a> {
    pub(super) addr: &'a ProviderAddr,
    pub(super) step: &'a Query,
    pub(super) version: &'a Version,
    pub(super) offers: &'a [Offer],
    pub(super) supported_protocol: bool,
    pub(super) missing: Vec<Platform>,
    pub(super) passed_over: Vec<(Version, PassedOver)>,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(addr: &'a ProviderAddr, step: &'a Query, version: &'a Version, offers: &'a [Offer]) -> Self {
        let mut findings = Vec::new();
        let ties = offers.iter().filter(|offer| offer.version.precedence(version).is_eq()).count().saturating_sub(1);
        if ties > 0 && matches!(step.selection, Selection::Newest(_)) {
            let others = if ties == 1 { "another version".to_owned() } else { format!("{ties} other versions") };
            let verb = if ties == 1 { "differs" } else { "differ" };
            let message = format!("{others} of {addr} {verb} from {version} in build metadata only");
            findings.push(Finding::new(Rule::AmbiguousVersion, message).about(addr));
        }
        let (supported_protocol, missing, passed_over) = (true, Vec::new(), Vec::new());
        Self { addr, step, version, offers, supported_protocol, missing, passed_over, findings }
    }

    /// The facts before any archive is looked at.
    pub(super) fn facts(&self, lines: &BTreeMap<Platform, Line>, signed: &SignedSums, first: &Package) -> Selected {
        let packages = lines.iter().map(|(platform, line)| (platform.clone(), line.unknown()));
        let reported = if self.step.rules.reported == ReportedRule::Write {
            first
                .reported
                .iter()
                .map(|(platform, reported)| (platform.clone(), reported.h1().cloned().collect()))
                .collect()
        } else {
            BTreeMap::new()
        };
        let missing = self.missing.iter().map(|platform| (platform.clone(), self.newest_with(platform))).collect();
        let given = |name: &str| {
            let line = lines.iter().find(|(_, line)| line.file_name == name);
            line.map(|(platform, _)| platform.clone())
        };
        let release = Release {
            signer: Some(signed.signer.clone()),
            subkey: signed.subkey.clone(),
            signed_at: signed.made,
            findings: self.findings.clone(),
            ..Release::new(self.addr.clone(), self.version.clone()).listing(&signed.sums, given)
        };
        Selected {
            packages: packages.collect(),
            missing,
            supported_protocol: self.supported_protocol,
            newest_supported: self.newest_supported(),
            newest: self.newer(),
            older: self.older(),
            passed_over: self.passed_over.clone(),
            reported,
            ..Selected::new(release)
        }
    }

    /// The newest release of all, if it is newer than this one.
    fn newer(&self) -> Option<Version> {
        let releases = self.offers.iter().map(|offer| &offer.version).filter(|version| !version.is_prerelease());
        releases.max().filter(|newest| *newest > self.version).cloned()
    }

    /// The newest release before this one that the constraints allow.
    fn older(&self) -> Option<Version> {
        let before = self.offers.iter().map(|offer| &offer.version).filter(|version| *version < self.version);
        newest_allowed(before, &self.step.constraints).cloned()
    }

    pub(super) fn package_key(&self) -> (ProviderAddr, Version) {
        (self.addr.clone(), self.version.clone())
    }

    /// The newest other version that the constraints allow and that has a package for the platform, else the newest of
    /// all. The release itself may list a platform that it has no package for.
    fn newest_with(&self, platform: &Platform) -> Option<Version> {
        self.newest(|offer| offer.version != *self.version && offer.platforms.contains(platform))
    }

    fn newest_supported(&self) -> Option<Version> {
        self.newest(|offer| !offer.protocols.is_empty() && speaks_supported_protocol(&offer.protocols))
    }

    fn newest(&self, good: impl Fn(&Offer) -> bool) -> Option<Version> {
        let good = || self.offers.iter().filter(|offer| good(offer)).map(|offer| &offer.version);
        newest_allowed(good(), &self.step.constraints).or_else(|| good().max()).cloned()
    }

    /// All packages are absent, or the first reason why it is not known.
    pub(super) fn without_packages(&self, packages: Packages) -> Answer {
        let mut errors = Vec::new();
        for (platform, answer) in packages {
            match answer {
                Err(Miss::Refused(refusal)) => return Err(refusal),
                _ => errors.push(platform),
            }
        }
        let missing = errors.into_iter().map(|platform| (platform.clone(), self.newest_with(&platform))).collect();
        let release = Release::new(self.addr.clone(), self.version.clone());
        let release = Release { findings: self.findings.clone(), ..release };
        Ok(Arc::new(Selected { missing, ..Selected::new(release) }))
    }
}

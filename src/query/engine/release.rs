//! One release: its version, its packages, what vouches for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::gathering::{Gathering, Line, Packages, line_of};
use super::signed::SignedSums;
use super::{Gatherer, LOOKED_AT, Miss};
use crate::addr::ProviderAddr;
use crate::finding::{Finding, Rule};
use crate::hash::sums::Sums;
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::query::answer::{Answer, PackageFacts, Refusal, Selected};
use crate::query::question::Query;
use crate::query::rules::{ReportedRule, Rules};
use crate::query::select::Choice;
use crate::release::continuity::{self, Verdict};
use crate::release::reported::{KnownArchive, Reported, ReportedPackages, unreported};
use crate::release::{Line as ListedLine, Release, naming};
use crate::source::{Package, speaks_supported_protocol};
use crate::version::Version;

/// A version that was chosen, and what the registry said about its packages.
pub(super) struct Chosen {
    pub(super) choice: Choice,
    pub(super) packages: Packages,
}

impl Gatherer {
    /// Everything that a step needs to know of the version that was chosen for it.
    pub(super) async fn release(self: &Arc<Self>, addr: &ProviderAddr, step: &Query, chosen: Chosen) -> Answer {
        let Chosen { choice: Choice { version, passed_over }, packages } = chosen;
        let offers = self.offers(addr).await.map_err(|none| none.refusal)?;
        let mut facts = Gathering { passed_over, ..Gathering::new(addr, step, &version, &offers) };
        let Some(first) = packages.values().find_map(|package| package.as_ref().ok()).cloned() else {
            return facts.without_packages(packages);
        };
        facts.supported_protocol = speaks_supported_protocol(&first.protocols);
        let signed = self.signed_sums(addr, &version, &first, &step.rules).await?;
        facts.findings.extend(signed.findings.iter().cloned());
        let lines = self.lines(&facts, packages, &signed).await?;
        facts.missing = step.platforms.iter().filter(|platform| !lines.contains_key(platform)).cloned().collect();
        let mut known = facts.facts(&lines, &signed, &first);
        if shown_false(step, &known) {
            return Ok(Arc::new(known));
        }
        let reports = reports(&lines);
        known.packages.clear();
        let archives: Vec<_> = lines.iter().map(|(platform, line)| (platform.clone(), line.zh)).collect();
        known.compute(self.hashed(&facts, lines).await?);
        known.release.findings.extend(self.against_reports(addr, &version, archives.into_iter()));
        self.prove(&facts, &mut known, &signed).await?;
        known.attribute(&self.indexed(addr, &version, &signed.sums));
        self.attribute_to_indexes(&mut known, &step.rules);
        if step.rules.reported != ReportedRule::Ignore {
            let against = self.against(step, &known, &reports);
            known.release.findings.extend(against);
        }
        self.remember(addr, &known, &signed);
        Ok(Arc::new(known))
    }

    /// When a release was signed; none if that cannot be known.
    pub(super) async fn signed_on(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        step: &Query,
    ) -> Result<Option<SystemTime>, Refusal> {
        for platform in &step.platforms {
            match self.package(addr, version, platform).await {
                Ok(package) => return Ok(self.signed_sums(addr, version, &package, &step.rules).await?.made),
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        Ok(None)
    }

    /// What the registry says of the packages that are asked about.
    pub(super) async fn packages_of(
        self: &Arc<Self>,
        addr: &ProviderAddr,
        version: &Version,
        step: &Query,
    ) -> Packages {
        let step = Arc::new(step.clone());
        let item = |platform: &Platform| (platform.clone(), (addr.clone(), version.clone(), Arc::clone(&step)));
        let ask = |gatherer: Arc<Self>, platform: Platform, (addr, version, step): (_, _, Arc<Query>)| async move {
            let package = gatherer.package(&addr, &version, &platform).await;
            if let Ok(package) = &package {
                gatherer.prefetch(&addr, &version, package, &step);
            }
            package
        };
        let mut packages = self.each(self.asked_about(addr, version, &step).iter().map(item), ask).await;
        if !self.knows_archives(addr, version, &step.platforms) {
            // One document may report all packages; it is asked about those that it does not report.
            let told =
                |platform: &&Platform| packages.contains_key(*platform) || reported(&packages, platform).is_some();
            let others: Vec<_> = step.platforms.iter().filter(|platform| !told(platform)).map(item).collect();
            packages.extend(self.each(others, ask).await);
        }
        packages
    }

    /// Asks for the documents of a release, which tell everything about it but the hashes of its archives.
    pub(super) async fn documents_of(self: &Arc<Self>, addr: &ProviderAddr, version: &Version, step: &Query) {
        let asked = self.asked_about(addr, version, step).iter();
        let items = asked.map(|platform| (platform.clone(), (addr.clone(), version.clone(), step.rules.clone())));
        self.each(items, |gatherer, platform, (addr, version, rules)| async move {
            if let Ok(package) = gatherer.package(&addr, &version, &platform).await {
                drop(gatherer.signed_sums(&addr, &version, &package, &rules).await);
            }
        })
        .await;
    }

    /// The platforms whose packages are asked about first; one only where everything else is known from an earlier run, or
    /// where the registry is believed what it reports of all packages with each.
    fn asked_about<'s>(&self, addr: &ProviderAddr, version: &Version, step: &'s Query) -> &'s [Platform] {
        let wanted = &step.platforms;
        let one_tells = step.rules.reported == ReportedRule::Write || self.knows_archives(addr, version, wanted);
        if one_tells { &wanted[..wanted.len().min(1)] } else { wanted }
    }

    /// Starts a download that will be needed if the signature verifies, while that is being asked: the bytes count for
    /// nothing before.
    fn prefetch(self: &Arc<Self>, addr: &ProviderAddr, version: &Version, package: &Arc<Package>, step: &Query) {
        let recorded = step.recorded.as_ref().filter(|entry| entry.version == *version);
        let likely = recorded.is_none_or(|entry| entry.hashes.contains(&PackageHash::zh(package.shasum)));
        let known = self.cache.h1_of(&package.shasum).is_some();
        if likely && !known && step.rules.reported != ReportedRule::Write {
            let (gatherer, package, rules) = (Arc::clone(self), Arc::clone(package), step.rules.clone());
            let (addr, version) = (addr.clone(), version.clone());
            tokio::spawn(async move {
                gatherer.ask_indexes(package.shasum, &rules).await;
                if gatherer.report(&package.shasum, &rules).is_none() {
                    drop(gatherer.archive(&addr, &version, &package).await);
                }
            });
        }
    }

    /// The line of each wanted platform that has a package.
    async fn lines(
        self: &Arc<Self>,
        facts: &Gathering<'_>,
        mut packages: Packages,
        signed: &SignedSums,
    ) -> Result<BTreeMap<Platform, Line>, Refusal> {
        let mut lines = BTreeMap::new();
        let beside: BTreeMap<&Platform, PackageHash> = facts
            .step
            .platforms
            .iter()
            .filter_map(|platform| Some((platform, reported(&packages, platform)?)))
            .collect();
        for platform in &facts.step.platforms {
            let answer = match packages.remove(platform) {
                Some(answer) => answer,
                None => match self.known_line(facts, platform, (&signed.sums, beside.get(platform))) {
                    Some(line) => {
                        lines.insert(platform.clone(), line);
                        continue;
                    }
                    None => self.package(facts.addr, facts.version, platform).await,
                },
            };
            match answer {
                Ok(package) => {
                    self.signed_alike(facts, &package, signed).await?;
                    lines.insert(platform.clone(), line_of(facts.addr, facts.version, package, &signed.sums)?);
                }
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        Ok(lines)
    }

    /// A registry may name other checksums for another platform: then they need a signature of their own, and must
    /// be the same list.
    async fn signed_alike(&self, facts: &Gathering<'_>, package: &Package, signed: &SignedSums) -> Result<(), Refusal> {
        let other = self.signed_sums(facts.addr, facts.version, package, &facts.step.rules).await?;
        if other.sums_digest == signed.sums_digest && other.signer == signed.signer {
            return Ok(());
        }
        let message = format!(
            "the registry names other checksums or another signer of {} {} for {} than for its other packages",
            facts.addr, facts.version, package.platform,
        );
        Err(Finding::new(Rule::PackagesDiffer, message).about(facts.addr).into())
    }

    /// The line of a platform by its conventional name, if the index knows the archive or the registry reports it beside
    /// another package.
    fn known_line(
        &self,
        facts: &Gathering<'_>,
        platform: &Platform,
        (sums, reported): (&Sums, Option<&PackageHash>),
    ) -> Option<Line> {
        let mut archives = sums.archives(facts.addr.type_name(), facts.version);
        let (_, zh) = archives.find(|(archive, _)| archive == platform)?;
        if reported.is_none() {
            self.cache.h1_of(&zh)?;
        }
        let file_name = naming::conventional(facts.addr, facts.version, platform);
        Some(Line { file_name, zh, package: None, reported: reported.cloned() })
    }

    /// The `h1:` of each line: from the index, from the origin where it is believed, from a download.
    async fn hashed(
        self: &Arc<Self>,
        facts: &Gathering<'_>,
        lines: BTreeMap<Platform, Line>,
    ) -> Result<BTreeMap<Platform, PackageFacts>, Refusal> {
        let believe = facts.step.rules.reported == ReportedRule::Write;
        let rules = Arc::new(facts.step.rules.clone());
        let items = lines.into_iter().map(|(platform, line)| {
            let (addr, version) = facts.package_key();
            (platform, (addr, version, line, Arc::clone(&rules)))
        });
        let hash = move |gatherer: Arc<Self>,
                         _: Platform,
                         (addr, version, line, rules): (ProviderAddr, Version, Line, Arc<Rules>)| async move {
            let reported = line.reported.clone().filter(|_| believe);
            if let Some((h1, size)) = gatherer.cache.h1_of(&line.zh) {
                return Ok(line.computed(h1, size));
            }
            if reported.is_none() {
                gatherer.ask_indexes(line.zh, &rules).await;
            }
            let by_others = gatherer.report(&line.zh, &rules);
            if let Some(report) = by_others.as_ref().filter(|report| report.verified) {
                return Ok(line.computed(report.h1.clone(), report.size));
            }
            match (reported.or_else(|| by_others.map(|report| report.h1)), &line.package) {
                (Some(h1), _) => Ok(PackageFacts { h1: Some(h1), ..line.unknown() }),
                (None, Some(package)) => {
                    let hashed = gatherer.hashed_archive(&addr, &version, package).await?;
                    Ok(line.computed(hashed.h1, hashed.size))
                }
                (None, None) => Ok(line.unknown()),
            }
        };
        let hashed: BTreeMap<Platform, Result<PackageFacts, Refusal>> = self.each(items, hash).await;
        hashed.into_iter().map(|(platform, facts)| facts.map(|facts| (platform, facts))).collect()
    }

    /// Where only `h1:` is recorded, one of them has to be reproduced: this downloads archives of the release until one
    /// is, first those that are said to have a recorded hash, then the host's, the wanted ones and the rest.
    async fn prove(
        self: &Arc<Self>,
        facts: &Gathering<'_>,
        known: &mut Selected,
        signed: &SignedSums,
    ) -> Result<(), Refusal> {
        let Some(entry) = only_h1_recorded(facts.step, facts.version) else { return Ok(()) };
        let archives = signed.sums.archives(facts.addr.type_name(), facts.version).map(|(platform, _)| platform);
        let mut candidates: BTreeSet<Platform> = archives.chain(known.packages.keys().cloned()).collect();
        candidates.retain(|platform| !known.packages.get(platform).is_some_and(|package| package.computed));
        let said = |platform: &Platform| {
            let reported = known.reported.get(platform);
            reported.is_some_and(|hashes| hashes.iter().any(|hash| entry.hashes.contains(hash)))
        };
        let mut candidates: Vec<(bool, Platform)> =
            candidates.into_iter().map(|platform| (said(&platform), platform)).collect();
        candidates
            .sort_by_key(|(said, platform)| (!said, *platform != self.host, !facts.step.platforms.contains(platform)));
        for (_, platform) in candidates.into_iter().take(LOOKED_AT) {
            if known.release.computed().any(|(h1, _)| entry.hashes.contains(h1)) {
                return Ok(());
            }
            let Ok(package) = self.package(facts.addr, facts.version, &platform).await else { continue };
            let line = line_of(facts.addr, facts.version, Arc::clone(&package), &signed.sums)?;
            let hashed = self.hashed_archive(facts.addr, facts.version, &package).await?;
            known.compute(BTreeMap::from([(platform, line.computed(hashed.h1, hashed.size))]));
        }
        Ok(())
    }

    /// Where what the origin reports contradicts what is signed or known: of the wanted packages, and where reports are
    /// written, of all others too.
    fn against(
        &self,
        step: &Query,
        known: &Selected,
        reports: &BTreeMap<Platform, Option<ReportedPackages>>,
    ) -> Vec<Finding> {
        let addr = &known.release.address;
        let archive = |platform: &Platform, reported: &Reported| {
            let looked_at = known.packages.get(platform).and_then(|package| package.zh);
            let zh = looked_at.or_else(|| signed_archive(&known.release, platform, reported));
            KnownArchive { computed: zh.and_then(|zh| self.cache.h1_of(&zh)), zh }
        };
        let mut findings = Vec::new();
        for (platform, report) in reports.iter().filter_map(|(platform, report)| Some((platform, report.as_ref()?))) {
            match report.get(platform) {
                Some(reported) => {
                    let looked_at = known.packages.get(platform);
                    let size = looked_at.and_then(|package| Some((package.h1.clone()?, package.size?)));
                    let archive = archive(platform, reported);
                    let archive = KnownArchive { computed: size.or(archive.computed), ..archive };
                    findings.extend(reported.contradiction(addr, platform, &archive));
                }
                None => findings.push(unreported(addr, platform)),
            }
        }
        let first = reports.values().flatten().next().filter(|_| step.rules.reported == ReportedRule::Write);
        let others =
            first.into_iter().flatten().filter(|(platform, _)| !matches!(reports.get(*platform), Some(Some(_))));
        findings.extend(
            others.filter_map(|(platform, reported)| {
                reported.contradiction(addr, platform, &archive(platform, reported))
            }),
        );
        findings
    }
}

/// The `h1:` that a registry reports of a package beside others that it was asked about.
fn reported(packages: &Packages, platform: &Platform) -> Option<PackageHash> {
    let reports = packages.values().flatten().filter_map(|package| package.reported.get(platform));
    reports.flat_map(Reported::h1).next().cloned()
}

/// What the origin reports with each of the wanted packages that it was asked about; none where it reports nothing.
fn reports(lines: &BTreeMap<Platform, Line>) -> BTreeMap<Platform, Option<ReportedPackages>> {
    let report = |line: &Line| {
        let reported = line.package.as_ref().map(|package| package.reported.clone());
        reported.filter(|reported| !reported.is_empty())
    };
    lines.iter().map(|(platform, line)| (platform.clone(), report(line))).collect()
}

/// The archive of a platform by the checksums: by its name, or where no name tells a platform, the reported one if it is
/// listed at all.
fn signed_archive(release: &Release, platform: &Platform, reported: &Reported) -> Option<Sha256Digest> {
    let named = release.lines.iter().find(|(_, line)| line.platforms().any(|of| of == platform));
    let unnamed = || {
        let own_names = release.lines.values().all(|line| *line == ListedLine::Other);
        let digest = reported.hashes.iter().find_map(PackageHash::zh_digest);
        digest.filter(|digest| own_names && release.lines.contains_key(digest))
    };
    named.map(|(digest, _)| *digest).or_else(unnamed)
}

/// True if continuity is refuted already, so that no download could help.
fn shown_false(step: &Query, selected: &Selected) -> bool {
    let Some(entry) = step.recorded.as_ref().filter(|entry| entry.version == *selected.version()) else { return false };
    let refuted = || matches!(continuity::judge(&entry.hashes, &selected.release), Verdict::Republished { .. });
    selected.release.key().is_some() && refuted() && !step.accept_republished
}

fn only_h1_recorded<'a>(step: &'a Query, version: &Version) -> Option<&'a LockEntry> {
    let entry = step.recorded.as_ref().filter(|entry| entry.version == *version)?;
    let has = |scheme| entry.hashes.of(scheme).next().is_some();
    (has(HashScheme::H1) && !has(HashScheme::Zh)).then_some(entry)
}

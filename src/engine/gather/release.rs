//! One release: its version, its packages, what vouches for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::choose::Choice;
use super::signed::SignedSums;
use super::{Gatherer, Miss, binding, not_offered};
use crate::addr::ProviderAddr;
use crate::engine::facts::{Answer, PackageFacts, PassedOver, Refusal, Selected};
use crate::engine::plan::{Moved, Selection, Step};
use crate::engine::rules::ReportedRule;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::sums::Sums;
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::release::continuity::{self, Verdict};
use crate::release::{Release, naming};
use crate::source::{Offer, Package, speaks_supported_protocol};
use crate::version::{Version, newest_allowed};

/// What the registry said about the packages of one release.
type Packages = BTreeMap<Platform, Result<Arc<Package>, Miss>>;

/// The line of one archive in the checksums.
struct Line {
    file_name: String,
    zh: Sha256Digest,
    package: Option<Arc<Package>>,
}

impl Gatherer {
    /// Everything that a step needs to know.
    pub(super) async fn release(self: &Arc<Self>, addr: &ProviderAddr, step: &Step) -> Answer {
        let (Choice { version, passed_over }, offers, packages) = self.select(addr, step).await?;
        let mut facts = Gathering { passed_over, ..Gathering::new(addr, step, &version, &offers) };
        let Some(first) = packages.values().find_map(|package| package.as_ref().ok()).cloned() else {
            return facts.without_packages(packages);
        };
        facts.supported_protocol = speaks_supported_protocol(&first.protocols);
        let signed = self.signed_sums(addr, &version, &first, &step.rules).await?;
        facts.findings.extend(signed.findings.iter().cloned());
        let lines = self.lines(&facts, packages, &signed).await?;
        facts.missing = step.platforms.iter().filter(|platform| !lines.contains_key(platform)).cloned().collect();
        if step.rules.reported != ReportedRule::Ignore {
            facts.findings.extend(reported_findings(addr, &lines));
        }
        let mut known = facts.facts(&lines, &signed, &first);
        if shown_false(step, &known) {
            return Ok(Arc::new(known));
        }
        known.packages.clear();
        known.compute(self.hashed(&facts, lines).await?);
        self.prove(&facts, &mut known, &signed).await?;
        known.known = self.indexed(addr, &version, &signed.sums);
        self.remember(addr, &known, &signed);
        Ok(Arc::new(known))
    }

    /// The version, and what the registry says about its packages; both at once where the version is known.
    async fn select(
        self: &Arc<Self>,
        addr: &ProviderAddr,
        step: &Step,
    ) -> Result<(Choice, Arc<Vec<Offer>>, Packages), Refusal> {
        let known = |version: &Version| Choice { version: version.clone(), passed_over: Vec::new() };
        match &step.selection {
            Selection::Keep(version) | Selection::Exactly(version) => {
                let (offers, packages) = tokio::join!(self.offers(addr), self.packages_of(addr, version, step));
                let offers = offers.map_err(|refusal| no_provider_there(refusal, step))?;
                if !offers.iter().any(|offer| offer.version == *version) {
                    let recorded = step.recorded.as_ref().map(|entry| &entry.version);
                    return Err(match &step.moved {
                        Some(moved) => not_offered_there(addr, moved, &offers).into(),
                        None => not_offered(addr, version, recorded).into(),
                    });
                }
                let is_recorded = step.recorded.as_ref().is_some_and(|entry| entry.version == *version);
                if matches!(step.selection, Selection::Exactly(_)) && !is_recorded {
                    self.old_enough(addr, version, step).await?;
                }
                Ok((known(version), offers, packages))
            }
            Selection::Newest(wish) => {
                let offers = self.offers(addr).await?;
                let choice = self.choose(addr, step, wish, &offers).await?;
                let packages = self.packages_of(addr, &choice.version, step).await;
                Ok((choice, offers, packages))
            }
        }
    }

    /// Asks about all wanted packages; about one only where everything else is known from an earlier run.
    async fn packages_of(self: &Arc<Self>, addr: &ProviderAddr, version: &Version, step: &Step) -> Packages {
        let wanted = &step.platforms;
        let asked = if self.knows_archives(addr, version, wanted) { &wanted[..wanted.len().min(1)] } else { wanted };
        let step = Arc::new(step.clone());
        let items = asked.iter().map(|platform| (platform.clone(), (addr.clone(), version.clone(), Arc::clone(&step))));
        let ask = |gatherer: Arc<Self>, platform: Platform, (addr, version, step): (_, _, Arc<Step>)| async move {
            let package = gatherer.package(&addr, &version, &platform).await;
            if let Ok(package) = &package {
                gatherer.foresee(&addr, &version, package, &step);
            }
            package
        };
        self.each(items, ask).await
    }

    /// Starts a download that will be needed if the signature verifies, while that is being asked: the bytes count for
    /// nothing before.
    fn foresee(self: &Arc<Self>, addr: &ProviderAddr, version: &Version, package: &Arc<Package>, step: &Step) {
        let recorded = step.recorded.as_ref().filter(|entry| entry.version == *version);
        let likely = recorded.is_none_or(|entry| entry.hashes.contains(&PackageHash::zh(package.shasum)));
        let known = self.cache.h1_of(&package.shasum).is_some();
        if likely && !known && step.rules.reported != ReportedRule::Write {
            let (gatherer, package) = (Arc::clone(self), Arc::clone(package));
            let (addr, version) = (addr.clone(), version.clone());
            tokio::spawn(async move { gatherer.archive(&addr, &version, &package).await });
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
        for platform in &facts.step.platforms {
            let answer = match packages.remove(platform) {
                Some(answer) => answer,
                None => match self.known_line(facts, platform, &signed.sums) {
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

    /// The line of a platform by its conventional name, if the index knows the archive.
    fn known_line(&self, facts: &Gathering<'_>, platform: &Platform, sums: &Sums) -> Option<Line> {
        let mut archives = sums.archives(facts.addr.kind(), facts.version);
        let (_, zh) = archives.find(|(archive, _)| archive == platform)?;
        self.cache.h1_of(&zh)?;
        Some(Line { file_name: naming::conventional(facts.addr, facts.version, platform), zh, package: None })
    }

    /// The `h1:` of each line: from the index, from the origin where it is believed, from a download.
    async fn hashed(
        self: &Arc<Self>,
        facts: &Gathering<'_>,
        lines: BTreeMap<Platform, Line>,
    ) -> Result<BTreeMap<Platform, PackageFacts>, Refusal> {
        let believe = facts.step.rules.reported == ReportedRule::Write;
        let items = lines.into_iter().map(|(platform, line)| (platform, (facts.package_key(), line)));
        let hash = move |gatherer: Arc<Self>,
                         platform: Platform,
                         ((addr, version), line): ((ProviderAddr, Version), Line)| async move {
            let reported = line.package.as_ref().and_then(|package| package.reported.get(&platform));
            let reported = reported
                .filter(|_| believe)
                .and_then(|reported| reported.hashes.iter().find(|hash| hash.scheme() == HashScheme::H1).cloned());
            let facts =
                |h1, computed| PackageFacts { zh: Some(line.zh), h1, computed, file_name: line.file_name.clone() };
            if let Some((h1, _)) = gatherer.cache.h1_of(&line.zh) {
                return Ok(facts(Some(h1), true));
            }
            match (reported, &line.package) {
                (Some(h1), _) => Ok(facts(Some(h1), false)),
                (None, Some(package)) => {
                    let h1 = gatherer.archive(&addr, &version, package).await?;
                    Ok(facts(Some(h1), true))
                }
                (None, None) => Ok(facts(None, false)),
            }
        };
        let hashed: BTreeMap<Platform, Result<PackageFacts, Refusal>> = self.each(items, hash).await;
        hashed.into_iter().map(|(platform, facts)| facts.map(|facts| (platform, facts))).collect()
    }

    /// Where only `h1:` is recorded, one of them has to be reproduced: this goes on through the release until one is.
    async fn prove(
        self: &Arc<Self>,
        facts: &Gathering<'_>,
        known: &mut Selected,
        signed: &SignedSums,
    ) -> Result<(), Refusal> {
        let Some(entry) = only_h1_recorded(facts.step, facts.version) else { return Ok(()) };
        let archives = signed.sums.archives(facts.addr.kind(), facts.version);
        let mut others: Vec<Platform> =
            archives.map(|(platform, _)| platform).filter(|platform| !known.packages.contains_key(platform)).collect();
        others.sort_by_key(|platform| *platform != self.host);
        for platform in others {
            let reproduced = known.packages.values().filter(|package| package.computed);
            if reproduced.filter_map(|package| package.h1.as_ref()).any(|h1| entry.hashes.contains(h1)) {
                return Ok(());
            }
            let Ok(package) = self.package(facts.addr, facts.version, &platform).await else { continue };
            let line = line_of(facts.addr, facts.version, package, &signed.sums)?;
            let lines = BTreeMap::from([(platform, line)]);
            known.compute(self.hashed(facts, lines).await?);
        }
        Ok(())
    }
}

/// The locked version of a provider does not exist where the provider is to go.
fn not_offered_there(addr: &ProviderAddr, Moved { from, entry }: &Moved, offers: &[Offer]) -> Error {
    let message = format!("provider {addr} has no release {}, the locked version of {from}", entry.version);
    let newest = offers.iter().map(|offer| &offer.version).filter(|version| !version.is_prerelease()).max();
    let error = Error::new(ErrorKind::NotFound, message);
    let error = newest.into_iter().fold(error, |error, newest| error.hint(format!("the newest there is {newest}")));
    error.hint(format!("first select a version that both have: `tflock upgrade --precise VERSION {from}`"))
}

/// The refusal, with what to do about a provider that does not exist where it is to go.
fn no_provider_there(refusal: Refusal, step: &Step) -> Refusal {
    match (refusal, &step.moved) {
        (Refusal::Error(error), Some(moved)) if error.kind == ErrorKind::UnknownProvider => Refusal::Error(
            error.hint(format!("to leave the provider where it is, name its host in its source: {}", moved.from)),
        ),
        (refusal, _) => refusal,
    }
}

/// What is known of a release while it is asked about.
struct Gathering<'a> {
    addr: &'a ProviderAddr,
    step: &'a Step,
    version: &'a Version,
    offers: &'a [Offer],
    supported_protocol: bool,
    missing: Vec<Platform>,
    passed_over: Vec<(Version, PassedOver)>,
    findings: Vec<Finding>,
}

impl<'a> Gathering<'a> {
    fn new(addr: &'a ProviderAddr, step: &'a Step, version: &'a Version, offers: &'a [Offer]) -> Self {
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
    fn facts(&self, lines: &BTreeMap<Platform, Line>, signed: &SignedSums, first: &Package) -> Selected {
        let packages = lines.iter().map(|(platform, line)| {
            let facts =
                PackageFacts { zh: Some(line.zh), h1: None, computed: false, file_name: line.file_name.clone() };
            (platform.clone(), facts)
        });
        let reported = if self.step.rules.reported == ReportedRule::Write {
            first.reported.iter().map(|(platform, reported)| (platform.clone(), reported.hashes.clone())).collect()
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

    fn package_key(&self) -> (ProviderAddr, Version) {
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

    /// All packages are absent, or the first reason why nobody knows.
    fn without_packages(&self, packages: Packages) -> Answer {
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

fn line_of(addr: &ProviderAddr, version: &Version, package: Arc<Package>, sums: &Sums) -> Result<Line, Refusal> {
    let file_name = package.file_name.clone();
    let zh = binding::listed(addr, version, &package, sums)?;
    Ok(Line { file_name, zh, package: Some(package) })
}

/// True if continuity is refuted already, so that no download could help.
fn shown_false(step: &Step, selected: &Selected) -> bool {
    let Some(entry) = step.recorded.as_ref().filter(|entry| entry.version == *selected.version()) else { return false };
    let refuted = || matches!(continuity::judge(&entry.hashes, &selected.release), Verdict::Republished { .. });
    selected.release.key().is_some() && refuted() && !step.accept_republished
}

fn only_h1_recorded<'a>(step: &'a Step, version: &Version) -> Option<&'a LockEntry> {
    let entry = step.recorded.as_ref().filter(|entry| entry.version == *version)?;
    let has = |scheme| entry.hashes.of(scheme).next().is_some();
    (has(HashScheme::H1) && !has(HashScheme::Zh)).then_some(entry)
}

fn reported_findings(addr: &ProviderAddr, lines: &BTreeMap<Platform, Line>) -> Vec<Finding> {
    let lines = lines.iter().filter_map(|(platform, line)| Some((platform, line, line.package.as_ref()?)));
    lines.filter_map(|(platform, line, package)| binding::contradiction(addr, platform, line.zh, package)).collect()
}

//! One release of a registry: its checksums, its packages, and the reasons to accept each hash.
//!
//! Nothing is judged here beyond what the tools judge before they install: signatures and checksums.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::equipment::{LOOKED_AT, each};
use super::registry::{RegistryLine, RegistryPackages, RegistrySource, SignedSums, reported};
use super::search::{self, Searched};
use crate::disk::cache::{LockedBy, ReleasePackage, ReleaseRecord};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::hash::Sums;
use crate::hash::{HashScheme, PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::provenance::Repository;
use crate::query::question::{Explain, Goal, PackageFacts, Query, Refusal, Selected};
use crate::query::select::{ReportedRule, Rules};
use crate::release::continuity::{self, Continuity};
use crate::release::hashes::{self, KnownArchive, Reported, ReportedPackages, unreported};
use crate::release::{Attestation, ListedLine, Offer, Release, ReleaseKey};
use crate::settings::IndexTrust;
use crate::source::{Miss, RegistryPackage, speaks_supported_protocol};
use crate::trust::Evidence;
use crate::version::{Version, newest_allowed};

type ListedArchives = BTreeMap<Platform, Sha256Digest>;

impl RegistrySource {
    pub(super) async fn release(
        self: &Arc<Self>,
        key: &ReleaseKey,
        query: &Query,
        packages: RegistryPackages,
    ) -> Result<Selected, Refusal> {
        let Some(first) = packages.values().find_map(|package| package.as_ref().ok()).cloned() else {
            return self.without_packages(key, query, packages).await;
        };
        if query.goal == Goal::Packages && !speaks_supported_protocol(&first.protocols) {
            // Nothing of it can be used, so nothing more is requested.
            let newest_supported = newest(&self.offers(&key.0).await?, query, is_supported);
            let release = Release::new(key.0.clone(), key.1.clone());
            return Ok(Selected { supported_protocol: false, newest_supported, ..Selected::new(release) });
        }
        let signed = self.signed_sums(key, &first, &query.rules).await?;
        let lines = self.lines(key, query, packages, &signed).await?;
        let mut known = self.described(key, query, &lines, &signed, &first).await?;
        if query.goal == Goal::Documents || shown_false(query, &known) {
            return Ok(known);
        }
        let listed: ListedArchives = signed.sums.archives(key.0.type_name(), &key.1).collect();
        self.recall(&mut known, query, &listed, &first).await;
        let reports = reports(&lines);
        let mut archives = listed.clone();
        if query.goal == Goal::Packages {
            archives = lines.iter().map(|(platform, line)| (platform.clone(), line.zh)).collect();
            known.packages.clear();
            known.compute(self.hashed(key, query, lines).await?);
        }
        let searched = self.search(key, query, &mut known, &listed, &signed.sums).await;
        if let (Goal::Packages, Some(refusal)) = (&query.goal, searched.refused(&known.release, query)) {
            return Err(refusal);
        }
        let against = self.against_reports(key, archives.into_iter());
        known.release.findings.extend(against);
        known.release.complete = is_complete(&known.release, &listed);
        if let Some(error) = searched.too_many(&known.release, query) {
            known.release.inconclusive = Some(error);
        }
        self.attribute_to_indexes(&mut known, &query.rules);
        let against = self.against(query, &known, &listed, &first, &reports);
        known.release.findings.extend(against);
        self.remember(&known, &signed, &listed, &first);
        if query.explain().is_some_and(|explain| explain.link) {
            known.release.link = self.registry.link(&key.0, &key.1, &first).await;
        }
        Ok(known)
    }

    /// The answer if the registry has no requested package, or why that is unknown.
    async fn without_packages(
        &self,
        (addr, version): &ReleaseKey,
        query: &Query,
        packages: RegistryPackages,
    ) -> Result<Selected, Refusal> {
        if let Some(error) = packages.values().find_map(|answer| match answer {
            Err(Miss::Unknown(error)) => Some(error.clone()),
            _ => None,
        }) {
            return Err(error.into());
        }
        if let Goal::Hashes(_) = query.goal {
            let message =
                format!("the registry has no package of provider {addr} {version} that would name its checksums");
            return Err(Error::new(ErrorKind::NotFound, message).into());
        }
        let offers = self.offers(addr).await?;
        let missing = packages.into_keys().map(|it| (it.clone(), newest_with(&offers, version, query, &it))).collect();
        Ok(Selected { missing, ..Selected::new(Release::new(addr.clone(), version.clone())) })
    }

    /// The line of each wanted platform that has a package.
    async fn lines(
        self: &Arc<Self>,
        key: &ReleaseKey,
        query: &Query,
        mut packages: RegistryPackages,
        signed: &SignedSums,
    ) -> Result<BTreeMap<Platform, RegistryLine>, Refusal> {
        let wanted = match query.goal {
            Goal::Packages => query.platforms.clone(),
            _ => packages.iter().filter(|(_, answer)| answer.is_ok()).map(|(platform, _)| platform.clone()).collect(),
        };
        let attached: BTreeMap<&Platform, PackageHash> =
            wanted.iter().filter_map(|platform| Some((platform, reported(&packages, platform)?))).collect();
        let mut lines = BTreeMap::new();
        for platform in &wanted {
            let answer = match packages.remove(platform) {
                Some(answer) => answer,
                None => match self.known_line(key, platform, &signed.sums, attached.get(platform)) {
                    Some(line) => {
                        lines.insert(platform.clone(), line);
                        continue;
                    }
                    None => self.package(key, platform).await,
                },
            };
            if let Some(package) = Miss::found(answer)? {
                self.signed_alike(key, query, &package, signed).await?;
                let line = match RegistryLine::of(key, package, &signed.sums) {
                    Err(Refusal::Finding(finding, revoked)) => {
                        Err(Refusal::Finding(Box::new(self.with_older(*finding, key, query).await), revoked))
                    }
                    line => line,
                };
                lines.insert(platform.clone(), line?);
            }
        }
        Ok(lines)
    }

    /// A finding on the checksums of a release, with the release before it as the way on.
    async fn with_older(&self, finding: Finding, (addr, version): &ReleaseKey, query: &Query) -> Finding {
        let offers = self.offers(addr).await.unwrap_or_default();
        let before = offers.iter().map(|offer| &offer.version).filter(|offered| *offered < version);
        match newest_allowed(before, &query.constraints) {
            Some(older) => finding.remedied_by(step!(
                "Report it to the publisher. Until that is mended, `tflock upgrade --precise {} {}` selects the release before \
                 it.",
                older,
                addr
            )),
            None => finding.remedied_by("Report it to the publisher: their list of checksums does not fit their packages."),
        }
    }

    /// True if a release has a package for a platform, and what was signed of it lists that package.
    pub(super) async fn covers(&self, key: &ReleaseKey, platform: &Platform, query: &Query) -> Result<bool, Refusal> {
        let Some(package) = Miss::found(self.package(key, platform).await)? else { return Ok(false) };
        match self.signed_sums(key, &package, &query.rules).await {
            Ok(signed) => Ok(RegistryLine::of(key, package, &signed.sums).is_ok()),
            // What is wrong with the whole release is said of the one that is selected.
            Err(Refusal::Finding(..)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// A registry may name other checksums for another platform: then they need a signature of their own, and must
    /// be the same list.
    async fn signed_alike(
        &self,
        key: &ReleaseKey,
        query: &Query,
        package: &RegistryPackage,
        signed: &SignedSums,
    ) -> Result<(), Refusal> {
        let other = self.signed_sums(key, package, &query.rules).await?;
        if other.digests.sums == signed.digests.sums && other.signer == signed.signer {
            return Ok(());
        }
        let message = format!(
            "the registry names other checksums or another signer of {} {} for {} than for its other packages",
            key.0, key.1, package.platform,
        );
        let finding = Finding::new(Rule::PackagesDiffer, message).about(&key.0);
        Err(finding.remedied_by(OTHERS_ALONE).into())
    }

    /// The line of a platform by its conventional name, if the index knows the archive or the registry reports it next to
    /// another package.
    fn known_line(
        &self,
        (addr, version): &ReleaseKey,
        platform: &Platform,
        sums: &Sums,
        reported: Option<&PackageHash>,
    ) -> Option<RegistryLine> {
        let mut archives = sums.archives(addr.type_name(), version);
        let (_, zh) = archives.find(|(archive, _)| archive == platform)?;
        if reported.is_none() {
            self.cache.h1_of(&zh)?;
        }
        let file_name = hashes::conventional_name(addr, version, platform);
        Some(RegistryLine { file_name, zh, package: None, reported: reported.cloned() })
    }

    /// The release by its documents, before any archive is looked at.
    async fn described(
        &self,
        key: &ReleaseKey,
        query: &Query,
        lines: &BTreeMap<Platform, RegistryLine>,
        signed: &SignedSums,
        first: &RegistryPackage,
    ) -> Result<Selected, Refusal> {
        let (addr, version) = key;
        let given = |name: &str| {
            let line = lines.iter().find(|(_, line)| line.file_name == name);
            line.map(|(platform, _)| platform.clone())
        };
        let mut release = signed.release(key, given);
        release.suggested = Repository::of_download(&first.url);
        if let Goal::Hashes(_) = query.goal {
            match hashes::unusual_name(addr, version, &first.platform, &first.file_name) {
                Some(finding) if finding.level() == Level::Deny => return Err(finding.into()),
                finding => release.findings.extend(finding),
            }
        }
        let offers = self.offers(addr).await?;
        let wanted = query.platforms.iter().filter(|_| query.goal == Goal::Packages);
        let missing = wanted.filter(|platform| !lines.contains_key(platform));
        Ok(Selected {
            packages: lines.iter().map(|(platform, line)| (platform.clone(), line.unknown())).collect(),
            missing: missing.map(|it| (it.clone(), newest_with(&offers, version, query, it))).collect(),
            supported_protocol: speaks_supported_protocol(&first.protocols),
            newest_supported: newest(&offers, query, is_supported),
            ..Selected::new(release)
        })
    }

    /// Takes in what is known of contents without a download: what was computed here or counts as if it had been, and what
    /// the registry reports, unless each hash is to be computed in this run.
    async fn recall(
        self: &Arc<Self>,
        known: &mut Selected,
        query: &Query,
        listed: &ListedArchives,
        first: &RegistryPackage,
    ) {
        if query.explain().is_some_and(|explain| explain.depth.recompute) {
            return;
        }
        for (platform, zh) in listed {
            if let Some((h1, _)) = self.cache.h1_of(zh) {
                known.release.attest(h1, Attestation::new(Some(platform.clone()), Evidence::Computed));
            }
        }
        if let Some(explain) = query.explain() {
            self.query_verified_indexes(&mut known.release, query, explain, listed).await;
        }
        let is_sound = |platform: &Platform, reported: &Reported| match query.goal {
            Goal::Hashes(_) => listed.get(platform).is_some_and(|zh| {
                reported.contradiction(&known.release.address, platform, &self.archive_of(*zh)).is_none()
            }),
            _ => true,
        };
        let reported = first.reported.iter().filter(|(platform, it)| query.counts_reports() && is_sound(platform, it));
        known.reported =
            reported.map(|(platform, reported)| (platform.clone(), reported.h1().cloned().collect())).collect();
        for (platform, hashes) in &known.reported {
            for h1 in hashes {
                let by_origin = Attestation::new(Some(platform.clone()), Evidence::ReportedByOrigin);
                known.release.attest(h1.clone(), by_origin);
            }
        }
    }

    /// Requests the indexes that count as if computed here, unless every recorded `h1:` is explained.
    async fn query_verified_indexes(
        self: &Arc<Self>,
        release: &mut Release,
        query: &Query,
        explain: &Explain,
        listed: &ListedArchives,
    ) {
        let mut rules = Rules { imported: false, ..query.rules.clone() };
        rules.indexes.retain(|index| index.trust == IndexTrust::Verified);
        if rules.indexes.is_empty() || explain.h1.iter().all(|hash| release.h1.contains_key(hash)) {
            return;
        }
        let rules = Arc::new(rules);
        let items = listed.iter().map(|(platform, zh)| (platform.clone(), (*zh, Arc::clone(&rules))));
        each(self, items, |source, _, (zh, rules)| async move { source.query_indexes(zh, &rules).await }).await;
        for (platform, zh) in listed {
            if let Some(report) = self.report(zh, &rules).filter(|_| self.cache.h1_of(zh).is_none()) {
                release.attest(report.h1, Attestation::new(Some(platform.clone()), Evidence::Computed));
            }
        }
    }

    /// The `h1:` of each line: from the index, from the origin where that is written, from a download.
    async fn hashed(
        self: &Arc<Self>,
        key: &ReleaseKey,
        query: &Query,
        lines: BTreeMap<Platform, RegistryLine>,
    ) -> Result<BTreeMap<Platform, PackageFacts>, Refusal> {
        let shared = Arc::new((key.clone(), query.rules.clone(), query.counts_reports()));
        let items = lines.into_iter().map(|(platform, line)| (platform, (line, Arc::clone(&shared))));
        let hash = |source: Arc<Self>, _, (line, shared): (RegistryLine, Arc<(ReleaseKey, Rules, bool)>)| async move {
            let (key, rules, is_written) = &*shared;
            let reported = line.reported.clone().filter(|_| *is_written);
            let computed = |h1, size| PackageFacts { h1: Some(h1), computed: true, size: Some(size), ..line.unknown() };
            if let Some((h1, size)) = source.cache.h1_of(&line.zh) {
                return Ok(computed(h1, size));
            }
            if reported.is_none() {
                source.query_indexes(line.zh, rules).await;
            }
            let by_others = source.report(&line.zh, rules);
            if let Some(report) = by_others.as_ref().filter(|report| report.verified) {
                return Ok(computed(report.h1.clone(), report.size));
            }
            match (reported.or_else(|| by_others.map(|report| report.h1)), &line.package) {
                (Some(h1), _) => Ok(PackageFacts { h1: Some(h1), ..line.unknown() }),
                (None, Some(package)) => source.hashed_archive(key, package).await,
                (None, None) => Ok(line.unknown()),
            }
        };
        let hashed: BTreeMap<Platform, Result<PackageFacts, Refusal>> = each(self, items, hash).await;
        hashed.into_iter().map(|(platform, facts)| facts.map(|facts| (platform, facts))).collect()
    }

    /// Downloads archives until the query has what it wants of them: first those that are said to have a recorded hash, then
    /// the likeliest.
    async fn search(
        self: &Arc<Self>,
        key: &ReleaseKey,
        query: &Query,
        known: &mut Selected,
        listed: &ListedArchives,
        sums: &Arc<Sums>,
    ) -> Searched {
        let mut candidates = self.platforms(key, query).await;
        // Where files have names of their own, only the registry knows which is which.
        candidates.retain(|platform| listed.is_empty() || listed.contains_key(platform));
        let others: Vec<_> = listed.keys().filter(|platform| !candidates.contains(platform)).cloned().collect();
        candidates.extend(others);
        if let Some(entry) = query.recorded.as_ref().filter(|_| query.goal == Goal::Packages) {
            candidates.sort_by_key(|platform| {
                let hashes = known.reported.get(platform).into_iter().flatten();
                !hashes.into_iter().any(|hash| entry.hashes.contains(hash))
            });
        }
        let passed_over = candidates.len().saturating_sub(LOOKED_AT);
        candidates.truncate(LOOKED_AT);
        candidates.reverse();
        let look = |platform| Arc::clone(self).look(key.clone(), platform, Arc::clone(sums));
        Searched { passed_over, ..search::search(known, query, candidates, look).await }
    }

    /// Where what the origin reports contradicts what is signed or known: of the wanted packages, and where all are written
    /// or judged, of all others too.
    fn against(
        &self,
        query: &Query,
        known: &Selected,
        listed: &ListedArchives,
        first: &RegistryPackage,
        reports: &BTreeMap<Platform, Option<ReportedPackages>>,
    ) -> Vec<Finding> {
        let addr = &known.release.address;
        if let Some(explain) = query.explain() {
            let judged = first.reported.iter().filter(|_| !explain.depth.recompute);
            let against = |(platform, reported): (&Platform, &Reported)| {
                reported.contradiction(addr, platform, &self.archive_of(*listed.get(platform)?))
            };
            return judged
                .filter_map(against)
                .map(|it| it.remedied_by("Report it to the registry: its list of hashes is wrong."))
                .collect();
        }
        if query.rules.reported == ReportedRule::Ignore {
            return Vec::new();
        }
        let archive = |platform: &Platform, reported: &Reported| {
            let looked_at = known.packages.get(platform).and_then(|package| package.zh);
            let zh = looked_at.or_else(|| signed_archive(&known.release, platform, reported));
            zh.map_or_else(KnownArchive::default, |zh| self.archive_of(zh))
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
        let mut findings: Vec<Finding> = findings.into_iter().map(|it| it.remedied_by(OTHERS_ALONE)).collect();
        let first = reports.values().flatten().next().filter(|_| query.rules.reported == ReportedRule::Write);
        let others =
            first.into_iter().flatten().filter(|(platform, _)| !matches!(reports.get(*platform), Some(Some(_))));
        findings.extend(
            others.filter_map(|(platform, reported)| {
                reported.contradiction(addr, platform, &archive(platform, reported))
            }),
        );
        findings
    }

    fn archive_of(&self, zh: Sha256Digest) -> KnownArchive {
        KnownArchive { zh: Some(zh), computed: self.cache.h1_of(&zh) }
    }

    /// Leaves what was found out about a release, and its signed documents, to later runs.
    fn remember(&self, known: &Selected, signed: &SignedSums, listed: &ListedArchives, first: &RegistryPackage) {
        let Release { address, version, findings, .. } = &known.release;
        let reported = |platform: &Platform| {
            known.reported.get(platform)?.iter().find(|hash| hash.scheme() == HashScheme::H1).cloned()
        };
        let own_names = known.packages.iter().filter(|(platform, _)| !listed.contains_key(platform));
        let own_names = own_names.filter_map(|(platform, it)| Some((platform.clone(), it.file_name.clone(), it.zh?)));
        let named = |(platform, zh): (&Platform, &Sha256Digest)| {
            (platform.clone(), hashes::conventional_name(address, version, platform), *zh)
        };
        let packages = listed.iter().map(named).chain(own_names).map(|(platform, file_name, zh)| ReleasePackage {
            h1: reported(&platform),
            platform,
            file_name,
            zh,
        });
        self.cache.put_release(ReleaseRecord {
            address: address.clone(),
            version: version.clone(),
            disputed: findings.iter().any(|finding| finding.rule == Rule::PackagesDiffer),
            sums: signed.digests.sums,
            signature: Some(signed.digests.signature),
            keys: Some(signed.digests.keys),
            packages: packages.collect(),
            locked: LockedBy::Never,
            download_host: Some(first.url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()),
        });
    }
}

/// What to do where the registry contradicts itself about a wanted package.
const OTHERS_ALONE: &str =
    "Report it to the registry: its list of hashes is wrong. `--platform` can lock the other platforms alone.";

/// What the origin reports with each of the requested packages; empty if it reports nothing.
fn reports(lines: &BTreeMap<Platform, RegistryLine>) -> BTreeMap<Platform, Option<ReportedPackages>> {
    let report = |line: &RegistryLine| {
        let reported = line.package.as_ref().map(|package| package.reported.clone());
        reported.filter(|reported| !reported.is_empty())
    };
    lines.iter().map(|(platform, line)| (platform.clone(), report(line))).collect()
}

/// The archive of a platform by the checksums: by its name, or if no name shows a platform, the reported one if it is
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

/// True if continuity is refuted already, so no download could help.
fn shown_false(query: &Query, selected: &Selected) -> bool {
    let Some(entry) = query.recorded_as(selected.version()) else {
        return false;
    };
    let refuted =
        || matches!(continuity::judge_release(&entry.hashes, &selected.release), Continuity::Republished { .. });
    selected.release.key().is_some() && refuted() && !query.accept_republished
}

/// True if the contents of all archives that the checksums name are attested.
fn is_complete(release: &Release, listed: &ListedArchives) -> bool {
    let attested = |platform: &Platform| release.h1.values().any(|it| it.platforms.contains_key(platform));
    !listed.is_empty() && listed.keys().all(attested)
}

/// The newest other version that the constraints allow and that has a package for the platform, else the newest of
/// all. The release itself may list a platform that it has no package for.
fn newest_with(offers: &[Offer], version: &Version, query: &Query, platform: &Platform) -> Option<Version> {
    newest(offers, query, |offer| offer.version != *version && offer.platforms.contains(platform))
}

fn is_supported(offer: &Offer) -> bool {
    !offer.protocols.is_empty() && speaks_supported_protocol(&offer.protocols)
}

fn newest(offers: &[Offer], query: &Query, good: impl Fn(&Offer) -> bool) -> Option<Version> {
    let good = || offers.iter().filter(|offer| good(offer)).map(|offer| &offer.version);
    newest_allowed(good(), &query.constraints).or_else(|| good().max()).cloned()
}

//! Evidence for a locked release: its signed checksums, and who vouches for each recorded `h1:`.
//!
//! Nothing is judged here beyond what the tools judge before they install: signatures and checksums.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::archives::Hashed;
use super::budget::Reservation;
use super::signed::SignedSums;
use super::{Gatherer, LOOKED_AT, Miss, NoOffers, binding};
use crate::addr::ProviderAddr;
use crate::disk::cache::{Cache, ReleasePackage};
use crate::error::{Error, ErrorKind};
use crate::evidence::Evidence;
use crate::finding::{Finding, Level};
use crate::hash::sums::Sums;
use crate::hash::{PackageHash, Sha256Digest};
use crate::platform::Platform;
use crate::query::answer::Refusal;
use crate::query::inquiry::Inquiry;
use crate::release::offer::Offer;
use crate::release::reported::{KnownArchive, Reported};
use crate::release::{Attestation, Lookup, Release, ReleaseKey, naming};
use crate::settings::IndexTrust;
use crate::source::Package;
use crate::version::Version;

/// Platforms that lock files are most often for; asked first.
const COMMON: [&str; 5] = ["linux_amd64", "darwin_arm64", "darwin_amd64", "linux_arm64", "windows_amd64"];

impl Gatherer {
    /// What is known of a release.
    pub(super) async fn knowledge(
        self: &Arc<Self>,
        (addr, version): &ReleaseKey,
        inquiry: &Inquiry,
        asking: Reservation,
    ) -> Result<Lookup, Refusal> {
        let offers = match self.offers(addr).await {
            Ok(offers) => offers,
            Err(NoOffers { absent: Some(affirmed), .. }) => return Ok(Lookup::Withdrawn(affirmed)),
            Err(NoOffers { refusal, .. }) => return Err(refusal),
        };
        let Some(offer) = offers.iter().find(|offer| offer.version == *version) else {
            return Ok(Lookup::Withdrawn(format!("the registry no longer offers {addr} {version}")));
        };
        let platforms = self.platforms(offer, inquiry);
        let first = self.first(addr, version, &platforms).await?;
        let signed = self.signed_sums(addr, version, &first, &inquiry.rules).await?;
        binding::listed(addr, version, &first, &signed.sums)?;
        let mut findings = signed.findings.clone();
        match naming::finding(addr, version, &first.platform, &first.file_name) {
            Some(finding) if finding.level == Level::Deny => return Err(finding.into()),
            finding => findings.extend(finding),
        }
        let given = |name: &str| (name == first.file_name).then(|| first.platform.clone());
        let release = Release {
            signer: Some(signed.signer.clone()),
            subkey: signed.subkey.clone(),
            signed_at: signed.made,
            findings,
            ..Release::new(addr.clone(), version.clone()).listing(&signed.sums, given)
        };
        let mut search = Search::new(inquiry, platforms, &signed, release);
        if !inquiry.depth.recompute {
            self.recall_index(&mut search);
            self.believe_indexes(&mut search).await;
            search.believe(&first, &self.cache);
        }
        if inquiry.depth.download {
            self.compute(&mut search, asking).await;
        }
        if !inquiry.depth.recompute {
            let against = search.against(&first, &self.cache);
            search.release.findings.extend(against);
        }
        let mut found = self.found(search, &signed);
        if inquiry.link {
            found.link = self.registry.link(addr, version, &first).await;
        }
        Ok(Lookup::Known(Arc::new(found)))
    }

    /// The platforms of a release, the likeliest first.
    fn platforms(&self, offer: &Offer, inquiry: &Inquiry) -> Vec<Platform> {
        let common = COMMON.iter().filter_map(|text| text.parse::<Platform>().ok());
        let likely = [self.host.clone()].into_iter().chain(inquiry.platforms.iter().cloned()).chain(common);
        let offered = |platform: &Platform| offer.platforms.is_empty() || offer.platforms.contains(platform);
        let mut seen = BTreeSet::new();
        let each_once = |platform: &Platform| seen.insert(platform.clone());
        likely.filter(offered).chain(offer.platforms.iter().cloned()).filter(each_once).collect()
    }

    /// Any package of the release: each of them names the checksums.
    async fn first(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Result<Arc<Package>, Refusal> {
        for platform in platforms.iter().take(LOOKED_AT) {
            match self.package(addr, version, platform).await {
                Ok(package) => return Ok(package),
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        let message = format!("the registry has no package of provider {addr} {version} that would name its checksums");
        Err(Error::new(ErrorKind::NotFound, message).into())
    }

    fn recall_index(&self, search: &mut Search<'_>) {
        let listed: Vec<(Platform, Sha256Digest)> =
            search.listed.iter().map(|(platform, zh)| (platform.clone(), *zh)).collect();
        for (platform, zh) in listed {
            if let Some((h1, _)) = self.cache.h1_of(&zh) {
                search.attest(&platform, h1, Evidence::Computed);
            }
        }
    }

    /// Asks the indexes that count as if they had been computed here, unless every recorded `h1:` is explained.
    async fn believe_indexes(self: &Arc<Self>, search: &mut Search<'_>) {
        let mut rules = search.inquiry.rules.clone();
        rules.imported = false;
        rules.indexes.retain(|index| index.trust == IndexTrust::Verified);
        if rules.indexes.is_empty() || search.inquiry.h1.iter().all(|hash| search.release.h1.contains_key(hash)) {
            return;
        }
        let rules = Arc::new(rules);
        let listed: Vec<(Platform, Sha256Digest)> =
            search.listed.iter().map(|(platform, zh)| (platform.clone(), *zh)).collect();
        let items = listed.iter().map(|(platform, zh)| (platform.clone(), (*zh, Arc::clone(&rules))));
        self.each(items, |gatherer, _, (zh, rules)| async move { gatherer.ask_indexes(zh, &rules).await }).await;
        for (platform, zh) in listed {
            if let Some(report) = self.report(&zh, &rules).filter(|_| self.cache.h1_of(&zh).is_none()) {
                search.attest(&platform, report.h1, Evidence::Computed);
            }
        }
    }

    /// Downloads until each recorded `h1:` is explained or nothing is left, the likeliest archives first.
    async fn compute(self: &Arc<Self>, search: &mut Search<'_>, asking: Reservation) {
        let key = (search.release.address.clone(), search.release.version.clone());
        let mut asking = Arc::new(asking);
        loop {
            let batch = search.batch();
            if batch.is_empty() {
                return;
            }
            let items = batch.into_iter().map(|platform| {
                let sums = Arc::clone(&search.sums);
                (platform, Looked { key: key.clone(), sums, asking: Arc::clone(&asking) })
            });
            let items: Vec<_> = items.collect();
            drop(asking);
            let look = |gatherer: Arc<Self>, platform: Platform, looked: Looked| async move {
                gatherer.look(&platform, looked).await
            };
            for (platform, hashed) in self.each(items, look).await {
                search.computed(&platform, hashed);
            }
            asking = Arc::new(self.downloads.budget.reservation());
        }
    }

    /// Looks at one archive of a release.
    async fn look(self: Arc<Self>, platform: &Platform, looked: Looked) -> Result<Hashed, Refusal> {
        let Looked { key: (addr, version), sums, asking } = looked;
        let package = match self.package(&addr, &version, platform).await {
            Ok(package) => package,
            Err(Miss::Refused(refusal)) => return Err(refusal),
            Err(Miss::Absent) => {
                let message = format!("provider {addr} {version} has no package for {platform} to look at");
                return Err(Error::new(ErrorKind::NotFound, message).into());
            }
        };
        binding::listed(&addr, &version, &package, &sums)?;
        self.downloads.budget.reserve(package.shasum);
        drop(asking);
        self.hashed_archive(&addr, &version, &package).await
    }

    /// Ends a search, and leaves what it found to later runs.
    fn found(&self, search: Search<'_>, signed: &SignedSums) -> Release {
        let Search { inquiry, mut release, listed, known, passed_over, .. } = search;
        let archives = listed.iter().map(|(platform, zh)| (platform.clone(), *zh));
        let against = self.against_reports(&release.address, &release.version, archives);
        release.findings.extend(against);
        release.complete = !listed.is_empty() && listed.keys().all(|platform| known.contains(platform));
        if inquiry.depth.download && !release.complete {
            let unattributed = unattributed(inquiry, &release);
            if passed_over > 0 && (unattributed.is_some() || inquiry.depth.all_platforms) {
                release.inconclusive = Some(too_many(&release, passed_over));
            }
            release.inconclusive = release.inconclusive.or(unattributed);
        }
        let left_out = self.downloads.budget.left_out(&(release.address.clone(), release.version.clone()));
        release.inconclusive = left_out.or(release.inconclusive);
        let reported = |platform: &Platform| {
            let by_origin = release
                .h1
                .iter()
                .find(|(_, vouched)| vouched.platforms.get(platform) == Some(&Evidence::ReportedByOrigin));
            by_origin.map(|(hash, _)| hash.clone())
        };
        let packages = listed.iter().map(|(platform, zh)| ReleasePackage {
            platform: platform.clone(),
            file_name: naming::conventional(&release.address, &release.version, platform),
            zh: *zh,
            h1: reported(platform),
        });
        let packages = packages.collect();
        self.keep(&release, signed, packages);
        release
    }
}

/// An archive that is to be looked at.
struct Looked {
    key: ReleaseKey,
    sums: Arc<Sums>,
    asking: Arc<Reservation>,
}

/// What is said of recorded `h1:` that no archive has, where checksums that name archives in their own way leave it open
/// whether all archives were looked at: what is not known must not pass for proven.
fn unattributed(inquiry: &Inquiry, release: &Release) -> Option<Error> {
    let mut open = inquiry.h1.iter().filter(|hash| !release.h1.contains_key(*hash));
    let (first, others) = (open.next()?, open.count());
    let which = if others == 0 { first.to_string() } else { format!("{first} and {others} more recorded h1") };
    let message = format!(
        "{which} of {} {}: no archive that the registry names has it, and the checksums do not tell which archives there are",
        release.address, release.version,
    );
    Some(Error::new(ErrorKind::Unavailable, message).hint(format!("`git log -S {first}` finds who recorded it")))
}

/// What is said where a release has more platforms than are looked at.
pub(super) fn too_many(release: &Release, passed_over: usize) -> Error {
    let message = format!(
        "{} {} has {} platforms, more than any real release; {LOOKED_AT} of them were looked at",
        release.address,
        release.version,
        passed_over + LOOKED_AT
    );
    Error::new(ErrorKind::Unavailable, message)
}

/// The search for the archives that recorded hashes belong to.
struct Search<'a> {
    inquiry: &'a Inquiry,
    sums: Arc<Sums>,
    release: Release,
    /// The archives in the checksums.
    listed: BTreeMap<Platform, Sha256Digest>,
    /// Platforms whose `h1:` is known.
    known: BTreeSet<Platform>,
    /// Those of them where it was computed, not reported.
    computed: BTreeSet<Platform>,
    /// Platforms that can still be looked at, the likeliest last.
    left: Vec<Platform>,
    /// How many platforms are not looked at, since no real release has so many.
    passed_over: usize,
}

impl<'a> Search<'a> {
    fn new(inquiry: &'a Inquiry, platforms: Vec<Platform>, signed: &SignedSums, release: Release) -> Self {
        let listed: BTreeMap<Platform, Sha256Digest> =
            signed.sums.archives(release.address.type_name(), &release.version).collect();
        let mut left = platforms;
        // Where files have names of their own, only the registry knows which is which.
        left.retain(|platform| listed.is_empty() || listed.contains_key(platform));
        let asked: BTreeSet<Platform> = left.iter().cloned().collect();
        left.extend(listed.keys().filter(|platform| !asked.contains(*platform)).cloned());
        let passed_over = left.len().saturating_sub(LOOKED_AT);
        left.truncate(LOOKED_AT);
        left.reverse();
        Self {
            inquiry,
            sums: Arc::clone(&signed.sums),
            release,
            listed,
            known: BTreeSet::new(),
            computed: BTreeSet::new(),
            left,
            passed_over,
        }
    }

    fn attest(&mut self, platform: &Platform, h1: PackageHash, evidence: Evidence) {
        self.known.insert(platform.clone());
        if evidence == Evidence::Computed {
            self.computed.insert(platform.clone());
        }
        self.release.attest(h1, Attestation::new(Some(platform.clone()), evidence));
    }

    /// Takes in what the origin reports, as far as it fits the checksums and what was computed here.
    fn believe(&mut self, package: &Package, cache: &Cache) {
        if !self.inquiry.believe {
            return;
        }
        for (platform, reported) in &package.reported {
            let is_sound =
                self.listed.contains_key(platform) && self.contradiction(platform, reported, cache).is_none();
            for hash in reported.h1().filter(|_| is_sound) {
                self.attest(platform, hash.clone(), Evidence::ReportedByOrigin);
            }
        }
    }

    /// Where what the origin reports contradicts the checksums or what was computed here by now.
    fn against(&self, package: &Package, cache: &Cache) -> Vec<Finding> {
        let reports = package.reported.iter();
        reports.filter_map(|(platform, reported)| self.contradiction(platform, reported, cache)).collect()
    }

    fn contradiction(&self, platform: &Platform, reported: &Reported, cache: &Cache) -> Option<Finding> {
        let zh = *self.listed.get(platform)?;
        let known = KnownArchive { zh: Some(zh), computed: cache.h1_of(&zh) };
        reported.contradiction(&self.release.address, platform, &known)
    }

    /// The next archives to look at: as many as there are hashes that no source vouches for.
    ///
    /// Those of which nothing is known come first; then those of which there is only a report, which must not refute a
    /// recorded hash as long as the archive itself can be asked.
    fn batch(&mut self) -> Vec<Platform> {
        let open = self.inquiry.h1.iter().filter(|hash| !self.release.h1.contains_key(*hash)).count();
        let all = self.inquiry.depth.all_platforms;
        let computed = &self.computed;
        self.left.retain(|platform| all || !computed.contains(platform));
        let known = &self.known;
        self.left.sort_by_key(|platform| !known.contains(platform));
        let count = if all { self.left.len() } else { open.min(self.left.len()) };
        self.left.split_off(self.left.len() - count)
    }

    /// Drops what the origin reported of a package, if that is not what the archive has.
    fn correct(&mut self, platform: &Platform, h1: &PackageHash) {
        self.release.retract(|hash, of| of == platform && hash != h1);
    }

    fn computed(&mut self, platform: &Platform, hashed: Result<Hashed, Refusal>) {
        match hashed {
            Ok(Hashed { h1, archive_form, .. }) => {
                self.correct(platform, &h1);
                for hash in [Some(h1), archive_form].into_iter().flatten() {
                    self.attest(platform, hash, Evidence::Computed);
                }
            }
            Err(Refusal::Finding(finding)) => self.release.findings.push(finding),
            Err(Refusal::Revoked(finding, _)) => self.release.findings.push(*finding),
            Err(Refusal::Error(error)) => {
                self.release.inconclusive.get_or_insert(error);
            }
        }
    }
}

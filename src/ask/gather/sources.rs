//! All sources of a run: who is asked about which provider, and what their answers make together.
//!
//! Source: `internal/getproviders/multi_source.go` of both tools. The versions on offer are those of all sources that take
//! the provider; a package comes from the first of them that has the version for its platform.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::allowance::Allowance;
use super::mirror::MirrorGatherer;
use super::several;
use super::{CopyAnswer, CopyOrder, GatherOptions, Gatherer, Miss, NoOffers, each};
use crate::addr::ProviderAddr;
use crate::ask::PackageKey;
use crate::ask::answer::{Answer, Refusal, Selected};
use crate::ask::inquiry::Inquiry;
use crate::ask::question::{Selection, Step};
use crate::ask::select::Shelf;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::net::Shared;
use crate::platform::Platform;
use crate::release::{Knowledge, ReleaseKey};
use crate::source::{Filter, Mirror, Source};
use crate::version::Version;

/// All sources of a run.
#[derive(Debug)]
pub struct Sources {
    askers: Vec<(Filter, Asker)>,
    answers: Shared<(ProviderAddr, Step), Answer>,
    allowance: Arc<Allowance>,
}

/// One source, with what it was asked already.
#[derive(Debug, Clone)]
enum Asker {
    Registry(Arc<Gatherer>),
    Mirror(Arc<MirrorGatherer>),
}

/// The versions that one source has of a provider.
type OnOffer<'a> = (&'a Asker, Arc<Vec<Version>>);

impl Sources {
    /// Sources that were asked nothing yet. Each archive of a registry is hashed on so many threads.
    pub fn new(options: GatherOptions, threads: Threads) -> Self {
        let GatherOptions { sources, equipment } = options;
        let asker = |source| match source {
            Source::Registry(registry) => Asker::Registry(Arc::new(Gatherer::new(*registry, &equipment, threads))),
            Source::Mirror(mirror) => Asker::Mirror(Arc::new(MirrorGatherer::new(mirror, &equipment))),
        };
        let sources = sources.into_iter().map(|(filter, source)| (filter, asker(source))).collect();
        Self { askers: sources, answers: Shared::new(), allowance: equipment.allowance }
    }

    /// The answers for all steps, asked side by side. Root modules that want the same of a provider share one answer:
    /// it takes 15 KB.
    pub async fn gather(self: &Arc<Self>, steps: &BTreeMap<ProviderAddr, Step>) -> BTreeMap<ProviderAddr, Answer> {
        let steps = steps.iter().map(|(addr, step)| (addr.clone(), step.clone()));
        let release = |sources: Arc<Self>, addr: ProviderAddr, step: Step| async move {
            let key = (addr.clone(), step.clone());
            sources.answers.answer(key, Box::pin(sources.release(&addr, &step))).await
        };
        each(self, steps, release).await
    }

    /// What is known of each release, asked side by side.
    pub async fn inquire(
        self: &Arc<Self>,
        inquiries: BTreeMap<ReleaseKey, Inquiry>,
    ) -> BTreeMap<ReleaseKey, Knowledge> {
        if let Some(most) = inquiries.values().map(|inquiry| inquiry.depth.most).max() {
            self.allowance.limit(most);
        }
        let inquire = |sources: Arc<Self>, key: ReleaseKey, inquiry: Inquiry| async move {
            sources.knowledge(&key, &inquiry).await.unwrap_or_else(|refusal| match refusal {
                Refusal::Error(error) => Knowledge::Inconclusive(error),
                Refusal::Finding(finding) => Knowledge::Refused(finding),
                Refusal::Revoked(finding, key) => Knowledge::Revoked(finding, key),
            })
        };
        each(self, inquiries, inquire).await
    }

    /// Copies of packages, each from the first source that has it.
    pub async fn copies(self: &Arc<Self>, orders: BTreeMap<PackageKey, CopyOrder>) -> BTreeMap<PackageKey, CopyAnswer> {
        each(self, orders, |sources, key, order| async move { sources.copied(&key, &order).await }).await
    }

    async fn copied(&self, key: &PackageKey, order: &CopyOrder) -> CopyAnswer {
        for asker in self.taking(&key.address) {
            let has_version = match asker.versions(&key.address).await {
                Ok(versions) => versions.contains(&key.version),
                Err(Miss::Absent) => false,
                Err(Miss::Refused(refusal)) => return Err(refusal),
            };
            let copied = match asker {
                _ if !has_version => continue,
                Asker::Registry(registry) => Box::pin(registry.copied(key.clone(), order)).await?,
                Asker::Mirror(mirror) => Box::pin(mirror.copied(key.clone(), order)).await?,
            };
            if copied.is_some() {
                return Ok(copied);
            }
        }
        Ok(None)
    }

    /// The versions of some providers, asked side by side.
    pub async fn versions(
        self: &Arc<Self>,
        providers: BTreeSet<ProviderAddr>,
    ) -> BTreeMap<ProviderAddr, Result<Vec<Version>, Refusal>> {
        let items = providers.into_iter().map(|addr| (addr, ()));
        each(self, items, |sources, addr, ()| async move {
            if let [Asker::Registry(registry)] = sources.taking(&addr)[..] {
                let offers = registry.offers(&addr).await?;
                return Ok(offers.iter().map(|offer| offer.version.clone()).collect());
            }
            let on_offer = sources.on_offer(&addr).await?;
            Ok(union(&on_offer))
        })
        .await
    }

    /// The sources that take a provider, in their order.
    fn taking(&self, addr: &ProviderAddr) -> Vec<&Asker> {
        self.askers.iter().filter(|(filter, _)| filter.takes(addr)).map(|(_, asker)| asker).collect()
    }

    async fn release(&self, addr: &ProviderAddr, step: &Step) -> Answer {
        if let [Asker::Registry(registry)] = self.taking(addr)[..] {
            return Box::pin(registry.release(addr, step)).await;
        }
        let on_offer = self.on_offer(addr).await?;
        let version = self.select(addr, step, &on_offer).await?;
        Ok(Arc::new(Box::pin(self.gather_parts(addr, &version, step, &on_offer)).await?))
    }

    /// The sources that have a provider, with its versions. That one does not have it is passed over; any other failure
    /// leaves open what there is.
    async fn on_offer(&self, addr: &ProviderAddr) -> Result<Vec<OnOffer<'_>>, Refusal> {
        let taking = self.taking(addr);
        let mut on_offer = Vec::new();
        for asker in &taking {
            match asker.versions(addr).await {
                Ok(versions) => on_offer.push((*asker, versions)),
                Err(Miss::Absent) if asker.is_insistent() => on_offer.push((*asker, Arc::default())),
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        if on_offer.iter().all(|(_, versions)| versions.is_empty()) {
            Err(not_found(addr, &taking).into())
        } else {
            Ok(on_offer)
        }
    }

    /// The version that a step asks for, of all that the sources have. Which platforms a version has is told only when it is
    /// asked about: until it is, it may have all of them.
    async fn select(&self, addr: &ProviderAddr, step: &Step, on_offer: &[OnOffer<'_>]) -> Result<Version, Refusal> {
        let versions = union(on_offer);
        let place = places(on_offer);
        let on_shelf = Shelf { addr, versions: &versions, place: &place };
        let complete = matches!(&step.selection, Selection::Newest(criteria) if criteria.complete);
        let mut asked: BTreeMap<Version, BTreeSet<Platform>> = BTreeMap::new();
        loop {
            let has = |version: &Version, platform: &Platform| {
                asked.get(version).is_none_or(|platforms| platforms.contains(platform))
            };
            let version = on_shelf.select(step, &has).map_err(|error| placed(error, on_offer))?;
            if !complete || asked.contains_key(&version) {
                return Ok(version);
            }
            let mut platforms = BTreeSet::new();
            for (asker, _) in on_offer.iter().filter(|(_, versions)| versions.contains(&version)) {
                platforms.extend(asker.platforms(addr, &version, step).await?);
            }
            asked.insert(version, platforms);
        }
    }

    /// What the sources have of a release, each platform from the first that has it.
    async fn gather_parts(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        step: &Step,
        on_offer: &[OnOffer<'_>],
    ) -> Result<Selected, Refusal> {
        let mut parts = Vec::new();
        let mut open = step.platforms.clone();
        for (asker, versions) in on_offer {
            if !versions.contains(version) {
                asker.must_have(addr, version)?;
                continue;
            }
            let wanted = Step { platforms: open.clone(), ..step.clone() };
            let part = Box::pin(asker.part(addr, version, wanted)).await?;
            open = part.missing.keys().cloned().collect();
            parts.push(part);
            if open.is_empty() {
                break;
            }
        }
        let versions = union(on_offer);
        let newest = Shelf { addr, versions: &versions, place: "" }.newer(version);
        let joined = several::joined(parts, step);
        let nothing = || Selected::new(crate::release::Release::new(addr.clone(), version.clone()));
        Ok(Selected { newest, ..joined.unwrap_or_else(nothing) })
    }

    async fn knowledge(&self, key: &ReleaseKey, inquiry: &Inquiry) -> Result<Knowledge, Refusal> {
        let (addr, version) = key;
        if let [Asker::Registry(registry)] = self.taking(addr)[..] {
            return registry.knowledge(addr, version, inquiry).await;
        }
        let on_offer = self.on_offer(addr).await?;
        let (mut parts, mut seen) = (Vec::new(), BTreeSet::new());
        for (asker, _) in on_offer.iter().filter(|(_, versions)| versions.contains(version)) {
            match asker {
                Asker::Mirror(mirror) => {
                    let listed = mirror.listed(addr, version).await?;
                    parts.push(mirror.knowledge(key, inquiry, &seen).await?);
                    seen.extend(listed.keys().cloned());
                }
                Asker::Registry(registry) => match registry.knowledge(addr, version, inquiry).await? {
                    Knowledge::Known(release) => parts.push(Arc::unwrap_or_clone(release)),
                    other => return Ok(other),
                },
            }
        }
        if let Some(release) = several::known(parts) {
            return Ok(Knowledge::Known(Arc::new(several::explained(release, inquiry))));
        }
        let all = Shelf { addr, versions: &union(&on_offer), place: &places(&on_offer) };
        Err(placed(all.lacking(version), &on_offer).into())
    }
}

impl Asker {
    fn shown(&self) -> String {
        match self {
            Self::Registry(_) => "the origin registry".to_owned(),
            Self::Mirror(mirror) => mirror.mirror.shown(),
        }
    }

    async fn versions(&self, addr: &ProviderAddr) -> Result<Arc<Vec<Version>>, Miss> {
        match self {
            Self::Registry(registry) => match registry.known_offers(addr).await {
                Ok(offers) => Ok(Arc::new(offers.iter().map(|offer| offer.version.clone()).collect())),
                Err(NoOffers { absent: Some(_), .. }) => Err(Miss::Absent),
                Err(NoOffers { refusal, .. }) => Err(Miss::Refused(refusal)),
            },
            Self::Mirror(mirror) => mirror.versions(addr).await,
        }
    }

    /// Which of the wanted platforms the source has a package for.
    async fn platforms(&self, addr: &ProviderAddr, version: &Version, step: &Step) -> Result<Vec<Platform>, Refusal> {
        match self {
            Self::Mirror(mirror) => Ok(mirror.listed(addr, version).await?.keys().cloned().collect()),
            Self::Registry(registry) => {
                let mut platforms = Vec::new();
                for platform in &step.platforms {
                    match registry.package(addr, version, platform).await {
                        Ok(_) => platforms.push(platform.clone()),
                        Err(Miss::Absent) => {}
                        Err(Miss::Refused(refusal)) => return Err(refusal),
                    }
                }
                Ok(platforms)
            }
        }
    }

    /// What the source has of a release that was selected among those of all sources.
    async fn part(&self, addr: &ProviderAddr, version: &Version, step: Step) -> Result<Selected, Refusal> {
        match self {
            Self::Mirror(mirror) => mirror.part(addr, version, &step).await,
            Self::Registry(registry) => {
                // It was selected by its age and constraints already.
                let step = Step { selection: Selection::Keep(version.clone()), ..step };
                Box::pin(registry.release(addr, &step)).await.map(Arc::unwrap_or_clone)
            }
        }
    }

    /// Refuses where the tool would: it asks an OCI mirror for a version even if only a later source has that.
    ///
    /// Source: as seen with tofu 1.12; "not found" is passed over only where versions are listed.
    fn must_have(&self, addr: &ProviderAddr, version: &Version) -> Result<(), Refusal> {
        let Self::Mirror(mirror) = self else { return Ok(()) };
        if !matches!(mirror.mirror, Mirror::Oci(_)) {
            return Ok(());
        }
        let message = format!(
            "{} does not have {addr} {version}, and `tofu init` asks no source behind an oci_mirror for what that lacks",
            mirror.mirror.shown()
        );
        let hint = "exclude the provider from the oci_mirror, or push that version to it";
        Err(Error::new(ErrorKind::NotFound, message).hint(hint).into())
    }

    /// True if a provider that it does not have is not passed over when a package is wanted.
    fn is_insistent(&self) -> bool {
        matches!(self, Self::Mirror(mirror) if matches!(mirror.mirror, Mirror::Oci(_)))
    }
}

/// All versions of all sources, ascending.
fn union(on_offer: &[OnOffer<'_>]) -> Vec<Version> {
    let mut versions: Vec<Version> = on_offer.iter().flat_map(|(_, versions)| versions.iter().cloned()).collect();
    versions.sort();
    versions.dedup();
    versions
}

fn places(on_offer: &[OnOffer<'_>]) -> String {
    match on_offer {
        [(asker, _)] => asker.shown(),
        _ => "any of the installation methods".to_owned(),
    }
}

/// An error with the place of the only source that was asked.
fn placed(error: Error, on_offer: &[OnOffer<'_>]) -> Error {
    match on_offer {
        [(Asker::Mirror(mirror), _)] => mirror.mirror.placed(error),
        _ => error,
    }
}

/// No source has the provider, or none is asked about it.
fn not_found(addr: &ProviderAddr, taking: &[&Asker]) -> Error {
    match taking {
        [] => {
            let message =
                format!("provider {addr} was not found: no installation method of the CLI configuration takes it");
            Error::new(ErrorKind::NotFound, message)
                .hint("include it in a method of provider_installation, or leave out --source configured")
        }
        [asker] => {
            let error = Error::new(ErrorKind::NotFound, format!("{} has no release of provider {addr}", asker.shown()));
            match asker {
                Asker::Mirror(mirror) => {
                    let error = mirror.mirror.placed(error);
                    let is_directory = matches!(mirror.mirror, Mirror::Directory(_));
                    let hint = "check the directory: HOST/NAMESPACE/TYPE is looked for below it";
                    if is_directory { error.hint(hint) } else { error }
                }
                Asker::Registry(_) => error,
            }
        }
        several => {
            let message = format!("provider {addr} was not found in any of the installation methods that take it");
            several.iter().fold(Error::new(ErrorKind::NotFound, message), |error, asker| {
                error.hint(format!("asked was {}", asker.shown()))
            })
        }
    }
}

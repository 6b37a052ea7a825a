//! All sources of a run: who is asked about which provider, and what their answers make together.
//!
//! Source: `internal/getproviders/multi_source.go` of both tools. The versions on offer are those of all sources that take
//! the provider; a package comes from the first of them that has the version for its platform.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use super::asker::Asker;
use super::budget::{DownloadBudget, Reservation};
use super::release::Chosen;
use super::several;
use super::{CopyAnswer, CopyOrder, Equipment, GatherOptions, Miss, each};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::hash::archive::Threads;
use crate::net::Shared;
use crate::parallel;
use crate::query::answer::{Answer, Refusal, Selected};
use crate::query::inquiry::Inquiry;
use crate::query::question::Query;
use crate::query::select::{Candidates, Capabilities, Choice, Next, Probed, lacking, newer};
use crate::query::{Event, Events, PackageKey};
use crate::release::offer::Offer;
use crate::release::{Lookup, Release, ReleaseKey};
use crate::source::{Filter, Mirror};
use crate::version::Version;

/// Root modules asked about at once: more questions than any host has permits for, and so few that a thousand root
/// modules need hardly more memory than fifty. A question in flight takes about 17 KB.
const ROOTS_AT_ONCE: usize = 32;

/// All sources of a run.
#[derive(Debug)]
pub struct Sources {
    askers: Vec<(Filter, Asker)>,
    answers: Shared<(ProviderAddr, Query), Answer>,
    budget: Arc<DownloadBudget>,
    threads: Arc<OnceLock<Threads>>,
    events: Events,
}

/// The versions that one source has of a provider.
type OnOffer<'a> = (&'a Asker, Arc<Vec<Offer>>);

impl Sources {
    /// Sources that were asked nothing yet.
    pub(in crate::query) fn new(options: GatherOptions) -> Self {
        let GatherOptions { sources, equipment } = options;
        let asker = |source| Asker::new(source, &equipment);
        let askers = sources.into_iter().map(|(filter, source)| (filter, asker(source))).collect();
        let Equipment { budget, threads, events, .. } = equipment;
        Self { askers, answers: Shared::new(), budget, threads, events }
    }

    /// The answers for the steps of each root module, in the order given.
    pub async fn of_roots(
        self: &Arc<Self>,
        roots: &[&BTreeMap<ProviderAddr, Query>],
    ) -> Vec<BTreeMap<ProviderAddr, Answer>> {
        self.threads.get_or_init(|| threads(roots));
        let questions: HashSet<(&ProviderAddr, &Query)> = roots.iter().flat_map(|steps| steps.iter()).collect();
        self.events.emit(Event::Questions { count: questions.len() });
        let permits = Arc::new(Semaphore::new(ROOTS_AT_ONCE));
        let roots = roots.iter().enumerate().map(|(at, steps)| (at, ((*steps).clone(), Arc::clone(&permits))));
        let answers = each(self, roots, |sources, _, (steps, permits)| async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            sources.of_steps(&steps).await
        });
        answers.await.into_values().collect()
    }

    /// Asks what some steps will want to know, but for archives: who foresees it does not know all constraints yet, and the
    /// version may be another one in the end. What comes of it is told when it is asked for.
    pub(in crate::query) async fn prefetch(self: &Arc<Self>, steps: BTreeMap<ProviderAddr, Query>) {
        each(self, steps, |sources, addr, step| async move {
            let [Asker::Registry(registry)] = sources.taking(&addr)[..] else { return };
            let Ok(on_offer) = sources.on_offer(&addr).await else { return };
            if let Ok(choice) = sources.select(&addr, &step, &on_offer).await {
                registry.documents_of(&addr, &choice.version, &step).await;
            }
        })
        .await;
    }

    /// The answers for all steps, asked side by side. Root modules that want the same of a provider share one answer:
    /// it takes 15 KB.
    async fn of_steps(self: &Arc<Self>, steps: &BTreeMap<ProviderAddr, Query>) -> BTreeMap<ProviderAddr, Answer> {
        let steps = steps.iter().map(|(addr, step)| (addr.clone(), step.clone()));
        let release = |sources: Arc<Self>, addr: ProviderAddr, step: Query| async move {
            let key = (addr.clone(), step.clone());
            let answer = sources.answered(Box::pin(sources.release(&addr, &step)));
            sources.answers.answer(key, answer).await
        };
        each(self, steps, release).await
    }

    /// What is known of each release, asked side by side.
    pub async fn inquire(self: &Arc<Self>, inquiries: BTreeMap<ReleaseKey, Inquiry>) -> BTreeMap<ReleaseKey, Lookup> {
        if let Some(most) = inquiries.values().map(|inquiry| inquiry.depth.most).max() {
            self.budget.limit(most);
        }
        let inquiries: Vec<_> =
            inquiries.into_iter().map(|(key, inquiry)| (key, (inquiry, self.budget.reservation()))).collect();
        self.events.emit(Event::Questions { count: inquiries.len() });
        let inquire = |sources: Arc<Self>, key: ReleaseKey, (inquiry, asking): (Inquiry, Reservation)| async move {
            let knowledge = sources.answered(Box::pin(sources.knowledge(&key, &inquiry, asking))).await;
            knowledge.unwrap_or_else(|refusal| match refusal {
                Refusal::Error(error) => Lookup::Inconclusive(error),
                Refusal::Finding(finding) => Lookup::Refused(finding),
                Refusal::Revoked(finding, key) => Lookup::Revoked(finding, key),
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
            let has_version = match asker.offers(&key.address).await {
                Ok(offers) => has(&offers, &key.version),
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
        self.events.emit(Event::Questions { count: providers.len() });
        let items = providers.into_iter().map(|addr| (addr, ()));
        each(self, items, |sources, addr, ()| async move {
            let on_offer = sources.answered(Box::pin(sources.on_offer(&addr))).await?;
            Ok(union(&on_offer).iter().map(|offer| offer.version.clone()).collect())
        })
        .await
    }

    /// Which versions some steps select, without asking for more than that depends on.
    pub async fn choices(
        self: &Arc<Self>,
        steps: BTreeMap<ProviderAddr, Query>,
    ) -> BTreeMap<ProviderAddr, Result<Choice, Refusal>> {
        each(self, steps, |sources, addr, step| async move {
            let on_offer = sources.on_offer(&addr).await?;
            Box::pin(sources.select(&addr, &step, &on_offer)).await
        })
        .await
    }

    /// An answer, told as soon as it is there.
    async fn answered<T>(&self, answer: impl Future<Output = T>) -> T {
        let answer = answer.await;
        self.events.emit(Event::Answered);
        answer
    }

    /// The sources that take a provider, in their order.
    fn taking(&self, addr: &ProviderAddr) -> Vec<&Asker> {
        self.askers.iter().filter(|(filter, _)| filter.takes(addr)).map(|(_, asker)| asker).collect()
    }

    async fn release(&self, addr: &ProviderAddr, step: &Query) -> Answer {
        let (on_offer, packages) = match (&self.taking(addr)[..], step.selection.version()) {
            // The packages of a version that is known are asked about meanwhile.
            ([Asker::Registry(registry)], Some(version)) => {
                let packages = registry.packages_of(addr, version, step);
                let (on_offer, packages) = tokio::join!(self.on_offer(addr), packages);
                (on_offer, Some(packages))
            }
            _ => (self.on_offer(addr).await, None),
        };
        let on_offer = on_offer.map_err(|refusal| not_there(refusal, step))?;
        let choice = self.select(addr, step, &on_offer).await?;
        let [(Asker::Registry(registry), _)] = on_offer[..] else {
            return Ok(Arc::new(Box::pin(self.gather_parts(addr, choice, step, &on_offer)).await?));
        };
        let packages = match packages {
            Some(packages) => packages,
            None => registry.packages_of(addr, &choice.version, step).await,
        };
        Box::pin(registry.release(addr, step, Chosen { choice, packages })).await
    }

    /// The sources that have a provider, with its versions. That one does not have it is passed over; any other failure
    /// leaves open what there is.
    async fn on_offer(&self, addr: &ProviderAddr) -> Result<Vec<OnOffer<'_>>, Refusal> {
        let taking = self.taking(addr);
        if let [asker @ Asker::Registry(registry)] = taking[..] {
            // Its own words say best what it lacks.
            return Ok(vec![(asker, registry.offers(addr).await.map_err(|none| none.refusal)?)]);
        }
        let mut on_offer = Vec::new();
        for asker in &taking {
            match asker.offers(addr).await {
                Ok(offers) => on_offer.push((*asker, offers)),
                Err(Miss::Absent) if asker.is_insistent() => on_offer.push((*asker, Arc::default())),
                Err(Miss::Absent) => {}
                Err(Miss::Refused(refusal)) => return Err(refusal),
            }
        }
        if on_offer.iter().all(|(_, offers)| offers.is_empty()) {
            Err(not_found(addr, &taking).into())
        } else {
            Ok(on_offer)
        }
    }

    /// The version that a step asks for, of all that the sources have. Some of them tell only of single versions what it
    /// depends on: those are asked about, the newest first.
    async fn select(&self, addr: &ProviderAddr, step: &Query, on_offer: &[OnOffer<'_>]) -> Result<Choice, Refusal> {
        let (offers, place) = (union(on_offer), place(on_offer));
        let is_registry = |(asker, _): &OnOffer<'_>| matches!(asker, Asker::Registry(_));
        let tells =
            Capabilities { platforms: !on_offer.iter().all(is_registry), age: on_offer.iter().any(is_registry) };
        let mut seen = BTreeMap::new();
        loop {
            let there = Candidates { addr, offers: &offers, seen: &seen, tells, place: place.as_deref() };
            match there.next(step).map_err(|refusal| placed(refusal, on_offer))? {
                Next::Take(choice) => return Ok(choice),
                Next::Ask(version) => {
                    let mut told = Probed::default();
                    for (asker, _) in on_offer.iter().filter(|(_, offers)| has(offers, &version)) {
                        let Probed { platforms, signed } = asker.look(addr, &version, step).await?;
                        told.platforms.extend(platforms);
                        told.signed = told.signed.or(signed);
                    }
                    seen.insert(version, told);
                }
            }
        }
    }

    /// What the sources have of a release, each platform from the first that has it.
    async fn gather_parts(
        &self,
        addr: &ProviderAddr,
        choice: Choice,
        step: &Query,
        on_offer: &[OnOffer<'_>],
    ) -> Result<Selected, Refusal> {
        let Choice { version, passed_over } = choice;
        let mut parts = Vec::new();
        let mut open = step.platforms.clone();
        for (asker, offers) in on_offer {
            if !has(offers, &version) {
                asker.must_have(addr, &version)?;
                continue;
            }
            let wanted = Query { platforms: open.clone(), ..step.clone() };
            let part = Box::pin(asker.part(addr, &version, wanted)).await?;
            open = part.missing.keys().cloned().collect();
            parts.push(part);
            if open.is_empty() {
                break;
            }
        }
        let newest = newer(&union(on_offer), &version);
        let joined = several::joined(parts, step);
        let nothing = || Selected::new(Release::new(addr.clone(), version));
        Ok(Selected { newest, passed_over, ..joined.unwrap_or_else(nothing) })
    }

    async fn knowledge(&self, key: &ReleaseKey, inquiry: &Inquiry, asking: Reservation) -> Result<Lookup, Refusal> {
        let (addr, version) = key;
        if let [Asker::Registry(registry)] = self.taking(addr)[..] {
            return registry.knowledge(key, inquiry, asking).await;
        }
        // One source after the other is asked and looked at.
        drop(asking);
        let on_offer = self.on_offer(addr).await?;
        let (mut parts, mut seen) = (Vec::new(), BTreeSet::new());
        for (asker, _) in on_offer.iter().filter(|(_, offers)| has(offers, version)) {
            match asker {
                Asker::Mirror(mirror) => {
                    let listed = mirror.listed(addr, version).await?;
                    parts.push(mirror.knowledge(key, inquiry, &seen).await?);
                    seen.extend(listed.keys().cloned());
                }
                Asker::Registry(registry) => match registry.knowledge(key, inquiry, self.budget.reservation()).await? {
                    Lookup::Known(release) => parts.push(Arc::unwrap_or_clone(release)),
                    other => return Ok(other),
                },
            }
        }
        if let Some(release) = several::known(parts) {
            return Ok(Lookup::Known(Arc::new(several::explained(release, inquiry))));
        }
        let place = place(&on_offer).unwrap_or_else(|| "the registry".to_owned());
        let error = lacking(addr, version, &union(&on_offer), &place);
        Err(placed(error.into(), &on_offer))
    }
}

/// With fewer packages than cores one archive gets two threads; else each core has an archive of its own.
fn threads(roots: &[&BTreeMap<ProviderAddr, Query>]) -> Threads {
    let packages: usize = roots.iter().flat_map(|steps| steps.values()).map(|step| step.platforms.len()).sum();
    if packages < parallel::cores() { Threads::Two } else { Threads::One }
}

fn has(offers: &[Offer], version: &Version) -> bool {
    offers.iter().any(|offer| offer.version == *version)
}

/// All versions of all sources, ascending.
fn union<'a>(on_offer: &'a [OnOffer<'_>]) -> Cow<'a, [Offer]> {
    if let [(_, offers)] = on_offer {
        return Cow::Borrowed(offers.as_slice());
    }
    let all = on_offer.iter().flat_map(|(_, offers)| offers.iter());
    let versions: BTreeSet<Version> = all.map(|offer| offer.version.clone()).collect();
    versions.into_iter().map(Offer::from).collect()
}

/// Where the versions are, in words; none for the origin registry.
fn place(on_offer: &[OnOffer<'_>]) -> Option<String> {
    match on_offer {
        [(Asker::Registry(_), _)] => None,
        [(asker, _)] => Some(asker.shown()),
        _ => Some("any of the installation methods".to_owned()),
    }
}

/// A refusal with the place of the only source that was asked.
fn placed(refusal: Refusal, on_offer: &[OnOffer<'_>]) -> Refusal {
    match (refusal, on_offer) {
        (Refusal::Error(error), [(Asker::Mirror(mirror), _)]) => Refusal::Error(mirror.mirror.placed(error)),
        (refusal, _) => refusal,
    }
}

/// The refusal, with what to do about a provider that does not exist where it is to go.
fn not_there(refusal: Refusal, step: &Query) -> Refusal {
    match (refusal, &step.moved) {
        (Refusal::Error(error), Some(moved)) if error.kind == ErrorKind::UnknownProvider => Refusal::Error(
            error.hint(format!("to leave the provider where it is, name its host in its source: {}", moved.from)),
        ),
        (refusal, _) => refusal,
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
                error.hint(format!("{} was asked", asker.shown()))
            })
        }
    }
}

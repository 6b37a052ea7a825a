//! All sources of a run: which source serves which provider, and how their answers combine.
//!
//! Source: `internal/getproviders/multi_source.go` of both tools. The offered versions are those of all sources that take
//! the provider; a package comes from the first of them that has the version for its platform.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use tokio::sync::Semaphore;

use super::archives::DownloadBudget;
use super::equipment::{Equipment, GatherOptions, UnusedMirrors, each};
use super::provenance::Attestations;
use super::witnesses::{Heard, Inquiries};
use super::{SourceState, joined, unexplained};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::hash::archive::Threads;
use crate::net::Shared;
use crate::parallel;
use crate::platform::Platform;
use crate::query::question::{Answer, Goal, Query, Refusal, Selected, Selection};
use crate::query::select::{Candidates, Capabilities, Choice, Next, Probed, newer};
use crate::query::{Event, Events};
use crate::release::{Lookup, Offer, Release, ReleaseKey, Releases};
use crate::settings::{Basis, Candidate};
use crate::source::{Filter, Miss};
use crate::version::{Version, newest_allowed};

/// Root modules looked up at once: more questions than any host has permits for, and so few that a thousand root
/// modules need hardly more memory than fifty. A question in flight takes about 17 KB.
const ROOTS_AT_ONCE: usize = 32;

#[derive(Debug)]
pub struct SourceSet {
    sources: Vec<(Filter, SourceState)>,
    answers: Shared<(ProviderAddr, Query), Answer>,
    budget: Arc<DownloadBudget>,
    threads: Arc<OnceLock<Threads>>,
    events: Events,
    attestations: Attestations,
    witnesses: Arc<Inquiries>,
    unused: UnusedMirrors,
}

type Available<'a> = (&'a SourceState, Arc<Vec<Offer>>);

impl SourceSet {
    pub(in crate::query) fn new(options: GatherOptions) -> Self {
        let GatherOptions { sources, equipment, unused } = options;
        let sources = sources.into_iter().map(|(filter, source)| (filter, SourceState::new(source, &equipment)));
        let sources = sources.collect();
        let Equipment { budget, threads, events, attestations, witnesses, cache, .. } = equipment;
        let attestations = Attestations::new(attestations, Arc::clone(&cache), events.clone());
        let witnesses = Arc::new(Inquiries::new(witnesses, cache, events.clone()));
        Self { sources, answers: Shared::new(), budget, threads, events, attestations, witnesses, unused }
    }

    /// The answers to the queries of each root module, in the order given.
    pub async fn answers(
        self: &Arc<Self>,
        roots: &[&BTreeMap<ProviderAddr, Query>],
    ) -> Vec<BTreeMap<ProviderAddr, Answer>> {
        self.expect(roots.iter().flat_map(|steps| steps.values()).map(|step| step.platforms.len()).sum());
        let questions: HashSet<(&ProviderAddr, &Query)> = roots.iter().flat_map(|queries| queries.iter()).collect();
        self.events.emit(Event::Questions { count: questions.len() });
        let permits = Arc::new(Semaphore::new(ROOTS_AT_ONCE));
        let roots = roots.iter().enumerate().map(|(at, queries)| (at, ((*queries).clone(), Arc::clone(&permits))));
        let answers = each(self, roots, |sources, _, (queries, permits)| async move {
            // The semaphore is never closed.
            let _permit = permits.acquire_owned().await;
            each(&sources, queries, |sources, addr, query| async move { sources.shared(addr, query).await }).await
        });
        answers.await.into_values().collect()
    }

    /// Decides by the number of packages on how many threads one archive is hashed, unless that is decided.
    pub(super) fn expect(&self, packages: usize) {
        self.threads.get_or_init(|| if packages < parallel::cores() { Threads::Two } else { Threads::One });
    }

    /// Root modules that want the same of a provider share one answer: it takes 15 KB.
    async fn shared(self: Arc<Self>, addr: ProviderAddr, query: Query) -> Answer {
        let answer = async {
            let answer = Box::pin(self.answer(&addr, &query)).await;
            self.events.emit(Event::Answered);
            answer.map(Arc::new)
        };
        self.answers.answer((addr.clone(), query.clone()), answer).await
    }

    /// Requests the documents of some queries, and no archives: the constraints are not all known yet, and the
    /// version may still change. Errors are reported when the version is requested again.
    pub(in crate::query) async fn prefetch(self: &Arc<Self>, queries: BTreeMap<ProviderAddr, Query>) {
        each(self, queries, |sources, addr, query| async move {
            if let [SourceState::Registry(_)] = sources.taking(&addr)[..] {
                let query = Query { goal: Goal::Documents, ..query };
                drop(Box::pin(sources.answer(&addr, &query)).await);
            }
        })
        .await;
    }

    /// What is known of each release, requested in parallel.
    pub async fn lookups(self: &Arc<Self>, queries: BTreeMap<ReleaseKey, Query>) -> Releases {
        if let Some(most) = queries.values().filter_map(|query| Some(query.explain()?.depth.most)).max() {
            self.budget.limit(most);
        }
        self.events.emit(Event::Questions { count: queries.len() });
        each(self, queries, |sources, key, query| async move { sources.lookup(&key, &query).await }).await
    }

    async fn lookup(self: &Arc<Self>, key: &ReleaseKey, query: &Query) -> Lookup {
        let lookup = match self.withdrawn(key).await {
            Some(message) => Lookup::Withdrawn(message),
            None => match Box::pin(self.answer(&key.0, query)).await {
                Ok(selected) => Lookup::Known(Arc::new(selected.release)),
                Err(Refusal::Error(error)) => Lookup::Inconclusive(error),
                Err(Refusal::Finding(finding, revoked)) => Lookup::Refused(*finding, revoked),
            },
        };
        self.events.emit(Event::Answered);
        lookup
    }

    /// What the registry affirms where it has no such release, if it is the only source of the provider.
    async fn withdrawn(&self, (addr, version): &ReleaseKey) -> Option<String> {
        let [SourceState::Registry(registry)] = self.taking(addr)[..] else {
            return None;
        };
        match registry.offers(addr).await {
            Ok(offers) if has(&offers, version) => None,
            Ok(_) => Some(format!("the registry no longer offers {addr} {version}")),
            Err(Miss::Absent(error)) if error.kind == ErrorKind::UnknownProvider => {
                Some(format!("the registry of {addr} does not know this provider any more"))
            }
            Err(Miss::Absent(_)) => Some(format!("the registry lists no release of provider {addr} any more")),
            Err(Miss::Unknown(_)) => None,
        }
    }

    /// The versions of some providers, requested in parallel.
    pub async fn versions(
        self: &Arc<Self>,
        providers: BTreeSet<ProviderAddr>,
    ) -> BTreeMap<ProviderAddr, Result<Vec<Version>, Refusal>> {
        self.events.emit(Event::Questions { count: providers.len() });
        let items = providers.into_iter().map(|addr| (addr, ()));
        each(self, items, |sources, addr, ()| async move {
            let available = Box::pin(sources.available(&addr)).await;
            sources.events.emit(Event::Answered);
            let available = available.map_err(|refusal| sources.unused.helped(&addr, refusal))?;
            Ok(union(&available).iter().map(|offer| offer.version.clone()).collect())
        })
        .await
    }

    /// What registries warn of with the versions of some providers.
    pub async fn warnings(
        self: &Arc<Self>,
        providers: BTreeSet<ProviderAddr>,
    ) -> BTreeMap<ProviderAddr, Arc<[String]>> {
        let items = providers.into_iter().map(|addr| (addr, ()));
        each(self, items, |sources, addr, ()| async move {
            let available = Box::pin(sources.available(&addr)).await.unwrap_or_default();
            warnings(&addr, &available).await
        })
        .await
    }

    pub(super) fn taking(&self, addr: &ProviderAddr) -> Vec<&SourceState> {
        self.sources.iter().filter(|(filter, _)| filter.takes(addr)).map(|(_, source)| source).collect()
    }

    async fn answer(&self, addr: &ProviderAddr, query: &Query) -> Result<Selected, Refusal> {
        Box::pin(self.gather(addr, query)).await.map_err(|refusal| self.unused.helped(addr, refusal))
    }

    /// The release that a query selects, and what it wants to know of that: each platform from the first source that has it.
    async fn gather(&self, addr: &ProviderAddr, query: &Query) -> Result<Selected, Refusal> {
        let taking = self.taking(addr);
        let (available, mut packages) = match (&taking[..], query.selection.version(), &query.goal) {
            // The packages of a known version are requested meanwhile.
            ([SourceState::Registry(registry)], Some(version), Goal::Packages) => {
                let key = (addr.clone(), version.clone());
                let (available, packages) = tokio::join!(self.available(addr), registry.packages_of(&key, query));
                (available, Some(packages))
            }
            _ => (self.available(addr).await, None),
        };
        let available = available.map_err(|refusal| not_there(refusal, query))?;
        let Choice { version, passed_over } = self.select(addr, query, &available).await?;
        let (key, offers) = ((addr.clone(), version), union(&available));
        let gathered = async {
            let (mut parts, mut seen, mut wanted) = (Vec::new(), BTreeSet::new(), query.clone());
            for (source, offers) in available.iter().filter(|_| query.goal != Goal::Version) {
                if !has(offers, &key.1) {
                    source.require_version(&key, query)?;
                    continue;
                }
                let part = source.release(&key, &wanted, packages.take(), &mut seen);
                parts.push(Box::pin(part).await?);
                if query.goal == Goal::Packages {
                    let missing = parts.iter().last().into_iter().flat_map(|it: &Selected| it.missing.keys().cloned());
                    wanted.platforms = missing.collect();
                    if wanted.platforms.is_empty() {
                        break;
                    }
                }
            }
            Ok::<_, Refusal>(parts)
        };
        let witnessed = self.witnessed(&key, query, &available);
        let (parts, witnessed) = tokio::join!(Box::pin(gathered), Box::pin(witnessed));
        let parts = parts?;
        let warnings = warnings(addr, &available).await;
        let nothing = || Selected::new(Release::new(key.0.clone(), key.1.clone()));
        let mut selected = joined(parts, query).unwrap_or_else(nothing);
        let unexplained = unexplained(&selected.release, query, place(&available).is_none());
        let release = &mut selected.release;
        if let Some(heard) = witnessed {
            release.witnessed = Some(Box::pin(self.witnesses.settled(heard, release)).await);
        }
        if query.goal != Goal::Version {
            Box::pin(self.attestations.attest(release, &query.rules.provenance)).await;
        }
        let findings =
            ambiguous(&key, query, &offers).into_iter().chain(warnings.iter().map(|text| warned(addr, text)));
        release.findings.splice(0..0, findings);
        release.registry_warnings = Arc::clone(&warnings);
        release.inconclusive = self.budget.left_out(&key).or(release.inconclusive.take()).or(unexplained);
        let before = offers.iter().map(|offer| &offer.version).filter(|version| **version < key.1);
        let older = newest_allowed(before, &query.constraints).cloned();
        let complete = if selected.missing.is_empty() { None } else { newest_complete(&offers, &key, query) };
        let (newest, place) = (newer(&offers, &key.1), place(&available));
        Ok(Selected { place, complete, newest, older, passed_over, ..selected })
    }

    /// What other places say of a release that is new, if its origin serves it: no other place knows what a mirror serves.
    async fn witnessed(&self, key: &ReleaseKey, query: &Query, available: &[Available<'_>]) -> Option<Heard> {
        let places = query.rules.witnesses.as_ref()?;
        let is_asked = matches!(query.goal, Goal::Packages | Goal::Hashes(_)) && query.recorded_as(&key.1).is_none();
        if !is_asked {
            return None;
        }
        let [(SourceState::Registry(_), offers)] = available else { return Some(Heard::default()) };
        let offer = offers.iter().find(|offer| offer.version == key.1);
        let likely = query.platforms.iter().cloned().chain([Platform::host()]);
        let offered: &[Platform] = offer.map_or(&[], |offer| &offer.platforms);
        let platform = likely.clone().find(|platform| offered.contains(platform)).or_else(|| offered.first().cloned());
        let platform = platform.or_else(|| likely.clone().next())?;
        self.witnesses.hear(key, places, platform).await
    }

    /// The sources that have a provider, with its versions. That one does not have it is passed over; any other failure
    /// leaves open what there is.
    async fn available(&self, addr: &ProviderAddr) -> Result<Vec<Available<'_>>, Refusal> {
        let taking = self.taking(addr);
        if let [source @ SourceState::Registry(registry)] = taking[..] {
            // Its own words say best what it lacks.
            return Ok(vec![(source, registry.offers(addr).await?)]);
        }
        let mut available = Vec::new();
        for source in &taking {
            let offers = Miss::found(source.offers(addr).await)?;
            let offers = offers.or_else(|| source.fails_if_absent().then(Arc::default));
            available.extend(offers.map(|offers| (*source, offers)));
        }
        if available.iter().all(|(_, offers)| offers.is_empty()) {
            Err(not_found(addr, &taking).into())
        } else {
            Ok(available)
        }
    }

    /// The version that a query selects, of all that the sources have. Some sources show only for single versions what it
    /// depends on: those are requested, the newest first.
    async fn select(&self, addr: &ProviderAddr, query: &Query, available: &[Available<'_>]) -> Result<Choice, Refusal> {
        let (offers, source) = (union(available), place(available));
        let is_registry = |(source, _): &Available<'_>| matches!(source, SourceState::Registry(_));
        let capabilities = Capabilities {
            platforms: !available.iter().all(is_registry) || query.selection.is_complete(),
            age: available.iter().any(is_registry),
        };
        let mut probed = BTreeMap::new();
        loop {
            let candidates =
                Candidates { addr, offers: &offers, probed: &probed, capabilities, source: source.as_deref() };
            match candidates.next(query).map_err(|refusal| placed(refusal, available))? {
                Next::Take(choice) => return Ok(choice),
                Next::Query(version) => {
                    let mut facts = Probed::default();
                    let key = (addr.clone(), version);
                    for (source, _) in available.iter().filter(|(_, offers)| has(offers, &key.1)) {
                        let Probed { platforms, signed } = source.probe(&key, query).await?;
                        facts.platforms.extend(platforms);
                        facts.signed = facts.signed.or(signed);
                    }
                    probed.insert(key.1, facts);
                }
            }
        }
    }
}

/// The finding where a newly selected version differs from others in build metadata only.
fn ambiguous((addr, version): &ReleaseKey, query: &Query, offers: &[Offer]) -> Option<Finding> {
    let ties = offers.iter().filter(|offer| offer.version.precedence(version).is_eq()).count().saturating_sub(1);
    if ties == 0 || !matches!(query.selection, Selection::Newest(_)) {
        return None;
    }
    let others = if ties == 1 { "another version".to_owned() } else { format!("{ties} other versions") };
    let verb = if ties == 1 { "differs" } else { "differ" };
    let message = format!("{others} of {addr} {verb} from {version} in build metadata only");
    Some(Finding::new(Rule::AmbiguousVersion, message).about(addr))
}

/// The newest other version that constraints and settings allow, with packages for all needed platforms.
fn newest_complete(offers: &[Offer], (addr, version): &ReleaseKey, query: &Query) -> Option<Version> {
    let is_open = |version: &&Version| {
        let objections = query.rules.versions.against(&Candidate::of(addr, version));
        objections.iter().all(|objection| objection.basis != Basis::Number)
    };
    let is_complete =
        |offer: &&Offer| offer.version != *version && query.needed().all(|needed| offer.platforms.contains(needed));
    let complete = offers.iter().filter(is_complete).map(|offer| &offer.version);
    newest_allowed(complete.filter(is_open), &query.constraints).cloned()
}

/// The registry's warnings, if it was contacted.
async fn warnings(addr: &ProviderAddr, available: &[Available<'_>]) -> Arc<[String]> {
    for (source, _) in available {
        if let SourceState::Registry(registry) = source
            && let Ok(listing) = registry.listing(addr).await
        {
            return listing.warnings;
        }
    }
    Arc::default()
}

fn warned(addr: &ProviderAddr, text: &str) -> Finding {
    Finding::new(Rule::RegistryWarning, format!("the registry warns about {addr}: {text}")).about(addr)
}

/// With fewer packages than cores one archive gets two threads; else each core has an archive of its own.
fn has(offers: &[Offer], version: &Version) -> bool {
    offers.iter().any(|offer| offer.version == *version)
}

fn union<'a>(available: &'a [Available<'_>]) -> Cow<'a, [Offer]> {
    if let [(_, offers)] = available {
        return Cow::Borrowed(offers.as_slice());
    }
    let all = available.iter().flat_map(|(_, offers)| offers.iter());
    let versions: BTreeSet<Version> = all.map(|offer| offer.version.clone()).collect();
    versions.into_iter().map(Offer::from).collect()
}

/// Where the versions are, in words; none for the origin registry.
fn place(available: &[Available<'_>]) -> Option<String> {
    match available {
        [(SourceState::Registry(_), _)] => None,
        [(source, _)] => Some(source.shown()),
        _ => Some("any of the installation methods".to_owned()),
    }
}

/// A refusal with the place of the only source.
fn placed(refusal: Refusal, available: &[Available<'_>]) -> Refusal {
    match (refusal, available) {
        (Refusal::Error(error), [(source, _)]) => Refusal::Error(source.placed(error)),
        (refusal, _) => refusal,
    }
}

/// The refusal, with what to do about a provider that does not exist where it is to go.
fn not_there(refusal: Refusal, query: &Query) -> Refusal {
    match (refusal, &query.moved) {
        (Refusal::Error(error), Some(moved)) if error.kind == ErrorKind::UnknownProvider => Refusal::Error(
            error.hint(format!("to leave the provider where it is, name its host in its source: {}", moved.from)),
        ),
        (refusal, _) => refusal,
    }
}

/// No source has the provider, or none is used for it.
fn not_found(addr: &ProviderAddr, taking: &[&SourceState]) -> Error {
    match taking {
        [] => {
            let message =
                format!("provider {addr} was not found: no installation method of the CLI configuration takes it");
            Error::new(ErrorKind::NotFound, message)
                .hint("include it in a method of provider_installation, or leave out --source configured")
        }
        [SourceState::Mirror(mirror)] => mirror.mirror.lacks(addr),
        [SourceState::Registry(_)] => {
            Error::new(ErrorKind::NotFound, format!("the origin registry has no release of provider {addr}"))
        }
        several => {
            let message = format!("provider {addr} was not found in any of the installation methods that take it");
            several.iter().fold(Error::new(ErrorKind::NotFound, message), |error, source| {
                error.hint(format!("{} was searched", source.shown()))
            })
        }
    }
}

#[cfg(test)]
mod tests;

//! `trust init`: looks up the signers of locked releases, once for all root modules; and which recorded releases a signer
//! signed, which is what stays accepted of it when another takes its place.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::SystemTime;

use super::place::Places;
use super::{locks_below, only};

use crate::addr::{AddrPattern, ProviderAddr};
use crate::commands::Services;
use crate::commands::shared::earlier::EarlierRecords;
use crate::commands::shared::rules::RuleBook;
use crate::commands::shared::sources::{Group, PackageSources};
use crate::commands::shared::trust_store::{self, TrustPlace, TrustStore};
use crate::disk::cache::Cache;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Level, Rule};
use crate::git::Git;
use crate::interrupt::Interrupt;
use crate::lockfile::LockFile;
use crate::outcome::{Body, Outcome, RootOutcome, TrustReport};
use crate::path::shown;
use crate::provenance::BuiltBy;
use crate::query::cached;
use crate::query::question::Query;
use crate::query::select::{ProvenanceRule, Rules};
use crate::release::continuity::{self, Continuity};
use crate::release::{Lookup, Release, ReleaseKey};
use crate::settings::Date;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Pins, Signer};
use crate::trust::signer;
use crate::trust::signer::TrustUpdate;
use crate::trust::signer::refused as refused_signer;
use crate::verify::{entry, judge_witnesses};
use crate::version::Version;
use crate::workspace::{Root, RootSource, RunSettings};

/// A release and the number of the group whose sources answer about it.
type LookupKey = (usize, ReleaseKey);

type Recordings<'a> = BTreeMap<LookupKey, Vec<Recording<'a>>>;

/// The records of one working tree, with the findings of settings that forbid queries.
#[derive(Default)]
struct TrustTree<'a> {
    recorded: Recordings<'a>,
    of_addresses: Vec<Finding>,
}

/// A root module with its lock file.
#[derive(Clone)]
pub(super) struct Recording<'a> {
    root: &'a RunSettings,
    lock: Rc<LockFile>,
}

impl<'a> Recording<'a> {
    pub(super) fn read(root: &'a RunSettings) -> Result<Self, Error> {
        let lock = Root::of_lock_file(root)?.locked()?.lock.clone();
        Ok(Self { root, lock: Rc::new(lock) })
    }

    /// For a group of root modules with equal sources.
    pub(super) fn sources(&self) -> (&Self, RootSource, impl Iterator<Item = &ProviderAddr>) {
        (self, self.root.source(), self.lock.iter().map(|(addr, _)| addr))
    }
}

/// What a run learns into.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    pub(super) cache: &'a Cache,
    /// Whether places are pinned, too.
    pub(super) provenance: bool,
    pub(super) now: SystemTime,
    pub(super) interrupt: &'a Interrupt,
}

type Signers = BTreeMap<ProviderAddr, BTreeMap<Version, Signer>>;

/// Looks up the signer of every locked version, and remembers those of providers without a pin. The signer of the
/// newest locked version is accepted for any version, a different signer of an older one for that version only. A
/// release that differs from the locked hashes pins no signer. Releases that the settings forbid to query are skipped.
/// `unread` are the errors of root modules whose lock file cannot be read.
pub(super) fn init(
    groups: Vec<Group<&Recording<'_>>>,
    mut unread: Vec<Error>,
    memory: Memory<'_>,
) -> Result<Outcome, Error> {
    let Memory { cache, provenance, now, interrupt } = memory;
    let mut trees: BTreeMap<TrustPlace, TrustTree<'_>> = BTreeMap::new();
    let mut queried = Vec::new();
    for (number, Group { members, opened }) in groups.into_iter().enumerate() {
        let session = match opened.and_then(|session| session.ok_or_else(offline)) {
            Ok(session) => session,
            // The signers of other root modules are still worth remembering.
            Err(error) => {
                unread.push(error);
                continue;
            }
        };
        let mut questions: BTreeMap<ReleaseKey, Query> = BTreeMap::new();
        for recording in members {
            let tree = trees.entry(recording.root.trust.clone()).or_default();
            tree.take(number, recording, provenance, &mut questions);
        }
        queried.push((number, session, questions));
    }
    if trees.is_empty()
        && let Some(error) = Error::all(unread.clone())
    {
        return Err(error);
    }
    let stores = trees.into_iter().map(|(place, tree)| Ok((TrustStore::load(&place)?, tree)));
    let stores: Vec<(TrustStore, TrustTree<'_>)> = stores.collect::<Result<_, Error>>()?;
    let mut answers = BTreeMap::new();
    for (number, session, questions) in queried.into_iter().filter(|(.., questions)| !questions.is_empty()) {
        let known = session.block_on(async |sources| sources.lookups(questions).await)?;
        answers.extend(known.into_iter().map(|(release, knowledge)| ((number, release), knowledge)));
    }
    let context = Context { answers: &answers, cache, now, interrupt };
    let (mut roots, mut notes) = (Vec::new(), Vec::new());
    for (store, tree) in stores {
        let mut outcomes = one_tree(store, &tree.recorded, &context, &mut notes)?;
        outcomes.iter_mut().take(1).for_each(|first| first.findings.extend(tree.of_addresses.iter().cloned()));
        roots.extend(outcomes);
    }
    let outcome = Outcome::of_roots("trust", roots).with_error(Error::all(unread));
    Ok(Outcome { notes: notes.into(), ..outcome })
}

fn offline() -> Error {
    let message = "only the registries know who signed the locked releases, and --offline forbids contacting them";
    Error::new(ErrorKind::Offline, message).hint("run the command once without --offline")
}

impl<'a> TrustTree<'a> {
    /// Adds the entries of a lock file, and the queries about them for its group.
    fn take(
        &mut self,
        group: usize,
        recording: &Recording<'a>,
        provenance: bool,
        questions: &mut BTreeMap<ReleaseKey, Query>,
    ) {
        let Recording { root, lock } = recording;
        let rules = RuleBook::for_root(root);
        for (addr, entry) in lock.iter() {
            let key = (addr.clone(), entry.version.clone());
            let of_address = rules.of_address(&key.0, &key.1).into_iter();
            self.of_addresses.extend(of_address.map(|it| it.in_file(root.lock_file_shown())));
            if rules.forbids(&key.0, &key.1) {
                continue;
            }
            let provenance = if provenance { ProvenanceRule::Learn } else { ProvenanceRule::NotAsked };
            let witnesses = rules.witnesses(&key.0);
            let of_key = Rules { provenance, witnesses, ..rules.of(&key.0, &[]) };
            let query = Query::of_signer(key.1.clone(), of_key);
            match questions.entry(key.clone()) {
                Entry::Occupied(known) => known.into_mut().join(query),
                Entry::Vacant(new) => drop(new.insert(query)),
            }
            self.recorded.entry((group, key)).or_default().push(recording.clone());
        }
    }
}

struct Context<'a> {
    answers: &'a BTreeMap<LookupKey, Lookup>,
    cache: &'a Cache,
    now: SystemTime,
    interrupt: &'a Interrupt,
}

/// Updates the trust file of one working tree. Returns its outcome, and outcomes with the errors.
fn one_tree(
    mut store: TrustStore,
    recorded: &Recordings<'_>,
    context: &Context<'_>,
    notes: &mut Vec<String>,
) -> Result<Vec<RootOutcome>, Error> {
    let (mut signers, mut revoked, mut findings, mut errors) = (Signers::new(), Vec::new(), Vec::new(), Vec::new());
    let mut places: BTreeMap<ProviderAddr, Places> = BTreeMap::new();
    for (queried, recordings) in recorded {
        let key = &queried.1;
        let release = match context.answers.get(queried) {
            Some(Lookup::Known(release)) => release,
            Some(Lookup::Inconclusive(error)) => {
                errors.push(error.clone());
                continue;
            }
            Some(Lookup::Withdrawn(message)) => {
                let error = Error::new(ErrorKind::NotFound, message.clone());
                errors.push(error.hint(step!("`tflock upgrade {}` selects another release", key.0)));
                continue;
            }
            Some(Lookup::Refused(finding, signer)) => {
                findings.push(completed(recordings, &key.1, finding));
                let today = Date::of(context.now);
                revoked.extend(signer.iter().map(|signer| TrustUpdate::of_revoked(signer.clone(), &key.0, today)));
                continue;
            }
            Some(Lookup::NotRequested) | None => continue,
        };
        let noticed = release.findings.iter().cloned();
        let pins = Some(store.pins());
        let unexpected = release.signer.iter();
        let unexpected = unexpected.filter_map(|signer| entry::unexpected_publisher(pins, &key.0, signer, Level::Deny));
        // One root module that demands a witness demands it for all.
        let settings = recordings.iter().map(|recording| &recording.root.settings);
        let settings = settings.max_by_key(|settings| settings.policy.demands_witness(&key.0));
        let judged = settings.map(|settings| judge_witnesses(settings, release, context.now)).unwrap_or_default();
        errors.extend(judged.unknown);
        let noticed =
            noticed.chain(unexpected).chain(judged.findings).map(|finding| completed(recordings, &key.1, &finding));
        let noticed: Vec<Finding> = noticed.collect();
        let denied = noticed.iter().any(|finding| finding.level() == Level::Deny);
        for finding in noticed {
            // What is said of a signer is said once, whatever the number of versions.
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        let Some(signer) = release.signer.clone() else {
            continue;
        };
        if let Some(verdict) = signer::denied(store.pins(), release.subkey.as_ref()) {
            findings.extend(refused_signer(&key.0, &key.1, &signer, verdict));
            continue;
        }
        let against = recordings.iter().filter_map(|recording| recording.compare(release, context.cache));
        let against: Vec<Finding> = against.map(|finding| completed(recordings, &key.1, &finding)).collect();
        let refused = denied || against.iter().any(|finding| finding.level() == Level::Deny);
        findings.extend(against.into_iter().take(1));
        if !refused {
            places.entry(key.0.clone()).or_default().take(release);
            // Other sources may report a different signer; the registries are queried first, and their answer stays.
            signers.entry(key.0.clone()).or_default().entry(key.1.clone()).or_insert(signer);
        }
    }
    findings.extend(contradictions(store.pins(), &signers, recorded));
    let (today, pins) = (Date::of(context.now), store.pins());
    let built = built_by(pins, (&places, today), &mut findings, notes);
    let is_new = |addr: &&ProviderAddr| store.pins().pin(addr).is_none() || built.contains_key(addr);
    let new: Vec<AddrPattern> = signers.keys().filter(is_new).map(|addr| addr.clone().into()).collect();
    let releases = signers.iter().flat_map(|(addr, versions)| versions.keys().map(move |version| (addr, version)));
    let names: Identities = releases
        .flat_map(|(addr, version)| trust_store::keys_of_release(context.cache, addr, version, context.now))
        .collect();
    let changed = store.change(&names, context.interrupt, |pins| {
        for (addr, versions) in &signers {
            if pins.pin(addr).is_none() {
                pin(pins, addr, versions);
            }
        }
        for (addr, place) in &built {
            // One that only a wider pattern covers gets its own pin, which starts as a copy.
            let own = pins.pin(addr).map(|(_, pin)| pin.clone()).unwrap_or_default();
            *pins.exact(addr) = Pin { built_by: Some(Arc::new(place.clone())), ..own };
        }
        revoked.iter().try_for_each(|update| update.apply(pins).map(|_| ()))
    })?;
    let mut pins = only(store.pins(), &new);
    let denied = revoked.iter().filter_map(|update| match update {
        TrustUpdate::Revoked { key, .. } => store.pins().denied.get_key_value(key),
        _ => None,
    });
    pins.denied.extend(denied.map(|(key, reason)| (key.clone(), reason.clone())));
    let (path, changed) = (store.place().shown.clone(), Some(changed));
    let report = TrustReport { path, changed, forgotten: false, looked_up: true, pins, names };
    let mut outcomes = vec![RootOutcome { path: "".into(), body: Ok(Body::Trust(report)), findings }];
    if let Some(error) = Error::all(errors) {
        outcomes.push(RootOutcome::failed("", error));
    }
    Ok(outcomes)
}

/// The places to be pinned, of providers that none is pinned for; what is to be said of others is added.
fn built_by(
    pins: &Pins,
    (places, today): (&BTreeMap<ProviderAddr, Places>, Date),
    findings: &mut Vec<Finding>,
    notes: &mut Vec<String>,
) -> BTreeMap<ProviderAddr, BuiltBy> {
    let (mut built, mut unattested) = (BTreeMap::new(), Vec::new());
    let is_open = |addr: &ProviderAddr| pins.pin(addr).is_none_or(|(_, pin)| pin.built_by.is_none());
    for (addr, places) in places.iter().filter(|(addr, places)| places.were_asked() && is_open(addr)) {
        let learned = places.learned(addr, today);
        notes.extend(learned.notes);
        findings.extend(places.unknown(addr));
        if places.is_unattested() {
            unattested.push(addr.to_string());
        }
        built.extend(learned.place.map(|place| (addr.clone(), place)));
    }
    if !unattested.is_empty() {
        notes.push(format!("nothing attests where these are built: {}", unattested.join(", ")));
    }
    built
}

impl Recording<'_> {
    /// The finding if a release is not the recorded one.
    fn compare(&self, release: &Release, cache: &Cache) -> Option<Finding> {
        let recorded = &self.lock.get(&release.address)?.hashes;
        match continuity::judge_release(recorded, release) {
            Continuity::Shown { .. } | Continuity::Grew { .. } => None,
            Continuity::FirstUse | Continuity::NotReproduced => {
                let message = format!(
                    "the signer of {} {} is taken on trust: no zh hash is recorded that its checksums could be compared \
                     with",
                    release.address, release.version,
                );
                Some(Finding::new(Rule::FirstUse, message).about(&release.address))
            }
            verdict @ Continuity::Republished { .. } => {
                let (settings, dialect) = (self.root, self.root.dialect);
                let cache = self.root.source().is_origin().then_some(cache);
                let records = EarlierRecords { settings, dialect, lock: &self.lock, cache }.of(release);
                let altered = continuity::altered(recorded, release, &records);
                let finding = altered.or_else(|| continuity::republished(recorded, release, &verdict))?;
                Some(finding.remarked("its signer is not remembered"))
            }
        }
    }
}

/// The finding at the level of the settings, the strictest of those of the root modules that record the release.
fn completed(recordings: &[Recording<'_>], version: &Version, finding: &Finding) -> Finding {
    let of_root =
        |recording: &Recording<'_>| RuleBook::for_root(recording.root).complete(finding.clone(), Some(version));
    recordings.iter().map(of_root).max_by_key(Finding::level).unwrap_or(finding.clone())
}

fn contradictions(pins: &Pins, signers: &Signers, recorded: &Recordings<'_>) -> Vec<Finding> {
    let releases = signers.iter().flat_map(|(addr, versions)| versions.iter().map(move |version| (addr, version)));
    let refused = releases.filter_map(|(addr, (version, signer))| match signer::judge(pins, addr, version, signer) {
        signer::SignerVerdict::FirstUse => None,
        verdict => {
            let of_release = recorded.iter().filter(|((_, key), _)| key.0 == *addr && key.1 == *version);
            let recordings: Vec<Recording<'_>> = of_release.flat_map(|(_, recordings)| recordings.clone()).collect();
            let finding = refused_signer(addr, version, signer, verdict)?;
            Some(completed(&recordings, version, &finding))
        }
    });
    refused.collect()
}

/// Pins the signer of the newest version, and other signers for the versions that they signed.
fn pin(pins: &mut Pins, addr: &ProviderAddr, versions: &BTreeMap<Version, Signer>) {
    let Some((_, current)) = versions.last_key_value() else {
        return;
    };
    let pin = pins.exact(addr);
    pin.signers = BTreeSet::from([current.clone()]);
    for (version, signer) in versions.iter().filter(|(_, signer)| *signer != current) {
        pin.retired.entry(signer.clone()).or_default().versions.insert(version.clone());
    }
}

pub(super) type Signed = BTreeMap<Signer, BTreeSet<Version>>;

/// What is asked about, and who answers.
#[derive(Clone, Copy)]
pub(super) struct SignatureLookup<'a, 's> {
    pub(super) services: &'a Services<'s>,
    pub(super) root: &'a RunSettings,
    pub(super) cache: &'a Arc<Cache>,
}

impl SignatureLookup<'_, '_> {
    /// The versions that the working tree or its history records of the providers that the pin of a pattern applies to, by
    /// who signed them. Their signatures are checked: with what earlier runs kept, else with what the registry serves.
    /// Providers with a pin of their own are left out.
    pub(super) fn of(self, pattern: &AddrPattern, pins: &Pins, notes: &mut Vec<String>) -> Result<Signed, Error> {
        let is_governed = |addr: &ProviderAddr| {
            pattern.matches(addr) && pins.pin(addr).is_none_or(|(counting, _)| counting.covers(pattern))
        };
        let recorded = recorded(&self.root.boundary, notes)?.into_iter().filter(|(addr, _)| is_governed(addr));
        let rules = RuleBook::for_root(self.root);
        let (mut by_signer, mut open, mut unproven) = (Signed::new(), BTreeMap::<ReleaseKey, Query>::new(), Vec::new());
        for (addr, version) in recorded {
            let disputed = self.cache.release(&addr, &version).is_some_and(|record| record.disputed);
            let kept = cached::release(self.cache, &addr, &version, rules.check(&addr));
            match kept.release().and_then(|release| release.signer.clone()).filter(|_| !disputed) {
                Some(signer) => drop(by_signer.entry(signer).or_default().insert(version)),
                None if rules.forbids(&addr, &version) => unproven.push(format!("{addr} {version}")),
                None => {
                    let query = Query::of_signer(version.clone(), rules.of(&addr, &[]));
                    open.insert((addr, version), query);
                }
            }
        }
        for ((addr, version), lookup) in self.look_up(&open)? {
            match lookup {
                Lookup::Inconclusive(error) => {
                    let way = "with --offline, versions whose signer is not known from earlier runs are not kept";
                    return Err(error.hint(way));
                }
                Lookup::Known(release) => match &release.signer {
                    Some(signer) => drop(by_signer.entry(signer.clone()).or_default().insert(version)),
                    None => unproven.push(format!("{addr} {version}")),
                },
                Lookup::NotRequested | Lookup::Withdrawn(_) | Lookup::Refused(..) => {
                    unproven.push(format!("{addr} {version}"));
                }
            }
        }
        if !unproven.is_empty() {
            let names = unproven.join(", ");
            notes.push(format!("the earlier signers are not kept for {names}: no signature shows that one signed it"));
        }
        Ok(by_signer)
    }

    pub(super) fn look_up(self, open: &BTreeMap<ReleaseKey, Query>) -> Result<BTreeMap<ReleaseKey, Lookup>, Error> {
        if open.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.services.events_for(Some(self.root.dialect));
        let sources = PackageSources::new(self.services, self.cache);
        let source = self.root.source();
        let mut answers: BTreeMap<ReleaseKey, Lookup> =
            open.keys().map(|key| (key.clone(), Lookup::NotRequested)).collect();
        let providers: Vec<&ProviderAddr> = answers.keys().map(|(addr, _)| addr).collect();
        let groups = sources.groups([((), source, providers.into_iter())]);
        for group in groups {
            let Some(session) = group.opened?.filter(|_| !self.root.offline) else {
                continue;
            };
            let known = session.block_on(async |sources| sources.lookups(open.clone()).await)?;
            answers.extend(known);
        }
        Ok(answers)
    }
}

/// The releases that the lock files of a working tree record, now or in its history.
fn recorded(top: &Path, notes: &mut Vec<String>) -> Result<BTreeSet<ReleaseKey>, Error> {
    let unread = |path: &Path| {
        notes.push(format!("{} cannot be read; its versions do not count as locked", shown(path)));
    };
    let locks = locks_below(top, unread)?;
    let now = locks.iter().flat_map(|lock| lock.iter().map(|(addr, entry)| (addr.clone(), entry.version.clone())));
    let mut recorded: BTreeSet<ReleaseKey> = now.collect();
    match Git::around(top).and_then(|git| git.map(|git| git.once_locked()).transpose()) {
        Ok(earlier) => recorded.extend(earlier.into_iter().flatten()),
        Err(error) => notes.push(format!("versions that were locked before do not count: {error}")),
    }
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn the_signer_of_the_newest_version_is_pinned_for_all() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let key = |digit: &str| Signer::Key(digit.repeat(40).parse().unwrap());
        let versions = [("1.10.0", key("B")), ("1.9.0", key("A")), ("1.2.0", Signer::Unsigned), ("1.8.0", key("B"))];
        let versions = versions.into_iter().map(|(text, signer)| (text.parse().unwrap(), signer)).collect();
        let mut pins = Pins::default();
        pin(&mut pins, &addr, &versions);
        let pin = pins.exact(&addr);
        assert_eq!(pin.signers, [key("B")].into());
        assert!(versions.iter().all(|(version, signer)| pin.accepts(signer, version)));
        assert!(!pin.accepts(&key("A"), &Version::new(1, 9, 1)));
    }
}

//! `--provenance`: where locked releases were built, learned for the trust file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::init::SignatureLookup;
use super::locks_below;
use crate::addr::{AddrPattern, ProviderAddr};
use crate::commands::shared::rules::RuleBook;
use crate::commands::shared::trust_store::TrustStore;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::path::shown;
use crate::provenance::{Build, BuiltBy, learn};
use crate::query::question::Query;
use crate::query::select::{ProvenanceRule, Rules};
use crate::release::{Lookup, Release, ReleaseKey};
use crate::settings::Date;
use crate::step::Step;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Pins};
use crate::trust::signer::{self, TrustUpdate};
use crate::version::Version;
use crate::words::first_of;

/// What was found out of where the releases of one provider were built.
#[derive(Debug, Default)]
pub(super) struct Places {
    built: BTreeMap<Version, Build>,
    unattested: Vec<Version>,
    /// Why it is not known of some.
    unknown: Vec<Error>,
}

/// What is said of what was learned.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) place: Option<BuiltBy>,
    pub(super) notes: Vec<String>,
}

impl Places {
    /// Takes in a release that was asked about.
    pub(super) fn take(&mut self, release: &Release) {
        let Some(attested) = &release.attested else { return };
        let builds = attested.builds(&release.version, &release.named_archives());
        // A release that was built from a tag and attested again from elsewhere is that of the tag.
        match builds.iter().find(|build| build.tag().is_some()).or(builds.first()) {
            Some(build) => drop(self.built.insert(release.version.clone(), (*build).clone())),
            None => match &attested.unanswered {
                Some(error) => self.unknown.push(error.clone()),
                None => self.unattested.push(release.version.clone()),
            },
        }
    }

    /// The place that all have in common.
    pub(super) fn learned(&self, addr: &ProviderAddr, today: Date) -> Learned {
        match learn(&self.built) {
            Ok(place) => {
                let notes = place.iter().flat_map(|place| weak(addr, place)).collect();
                Learned { place: place.map(|place| BuiltBy { pinned_on: Some(today), ..place }), notes }
            }
            Err(places) => {
                let message = format!(
                    "nothing is pinned of where {addr} is built, since its locked releases were built in different places: {}",
                    places.join("; ")
                );
                Learned { place: None, notes: vec![message] }
            }
        }
    }

    /// What is said of a provider whose place is not known.
    pub(super) fn unknown(&self, addr: &ProviderAddr) -> Option<Finding> {
        let error = self.unknown.first()?;
        Some(Finding::new(Rule::ProvenanceUnknown, error.message.clone()).about(addr))
    }

    /// True if anything was asked.
    pub(super) fn were_asked(&self) -> bool {
        !self.built.is_empty() || !self.unattested.is_empty() || !self.unknown.is_empty()
    }

    /// True if no release is attested, and all is known.
    pub(super) fn is_unattested(&self) -> bool {
        self.built.is_empty() && self.unknown.is_empty()
    }
}

/// Where a pin cannot say as much as one should wish.
fn weak(addr: &ProviderAddr, place: &BuiltBy) -> Vec<String> {
    let mut notes = Vec::new();
    if !place.git_ref.starts_with("refs/tags/") {
        notes.push(format!(
            "{addr} is built from {}, not from tags: all who may push to that branch can build a release",
            place.git_ref
        ));
    }
    if place.triggers.contains("workflow_dispatch") {
        notes.push(format!(
            "releases of {addr} are started by hand (workflow_dispatch): all who may do that can build one"
        ));
    }
    notes
}

/// The place of one provider, from one release or from all that are locked.
pub(super) struct PlaceQuery<'a, 's> {
    pub(super) lookup: SignatureLookup<'a, 's>,
    pub(super) pattern: &'a AddrPattern,
    pub(super) version: Option<&'a Version>,
    /// True if another place is pinned already.
    pub(super) rotates: bool,
}

impl PlaceQuery<'_, '_> {
    /// Looks the place up and pins it; true if the trust file was changed.
    pub(super) fn pin(
        &self,
        store: &mut TrustStore,
        reason: Option<&str>,
        notes: &mut Vec<String>,
    ) -> Result<bool, Error> {
        let (pattern, SignatureLookup { services, cache, .. }) = (self.pattern, self.lookup);
        let earlier = store.pins().counting(pattern).and_then(|pin| pin.built_by.clone());
        checked(self.rotates, pattern, earlier.as_deref(), reason)?;
        let (place, updates) = self.find(store.pins(), notes)?;
        let place = replacing(earlier.as_deref(), place, reason);
        notes.extend(earlier.iter().map(|earlier| format!("before, {pattern} had to be built by {earlier}")));
        let changed = store.change(&Identities::new(), &services.interrupt, |pins| {
            updates.iter().try_for_each(|update| update.apply(pins).map(drop))?;
            let pin = pins.counting(pattern).cloned().unwrap_or_default();
            pins.providers.insert(pattern.clone(), Pin { built_by: Some(Arc::new(place)), ..pin });
            Ok(())
        })?;
        notes.extend(cache.flush().err().map(|problem| problem.to_string()));
        Ok(changed)
    }

    /// The place, and the signer of a provider that none is remembered for.
    fn find(&self, pins: &Pins, notes: &mut Vec<String>) -> Result<(BuiltBy, Vec<TrustUpdate>), Error> {
        let addr = &self.addr()?;
        let releases = self.releases(addr, notes)?;
        let (mut places, mut updates) = (Places::default(), Vec::new());
        for release in &releases {
            let signer = release.signer.clone();
            if let Some(signer) = signer {
                let verdict = signer::judge(pins, addr, &release.version, &signer);
                if verdict == signer::SignerVerdict::FirstUse {
                    let (address, version) = (addr.clone(), release.version.clone());
                    updates.push(TrustUpdate::FirstUse { address, version, signer });
                } else if let Some(refused) = signer::refused(addr, &release.version, &signer, verdict) {
                    return Err(Error::new(ErrorKind::Trust, refused.message()).hint(refused.general_help()));
                }
            }
            places.take(release);
        }
        if let Some(error) = places.unknown.first() {
            return Err(error.clone());
        }
        let Learned { place, notes: learned } = places.learned(addr, Date::of(self.lookup.root.now));
        let Some(place) = place else {
            let why = learned.into_iter().next().unwrap_or_else(|| {
                let versions: Vec<String> = places.unattested.iter().map(ToString::to_string).collect();
                format!("nothing attests where {addr} {} was built", versions.join(", "))
            });
            let error = Error::new(ErrorKind::Usage, why).about(addr.clone());
            return Err(error.hint(self.by_version("name a release that is attested", addr)));
        };
        notes.extend(learned);
        if !places.unattested.is_empty() {
            let versions: Vec<String> = places.unattested.iter().map(ToString::to_string).collect();
            notes.push(format!("not attested are the locked releases {}", versions.join(", ")));
        }
        Ok((place, updates))
    }

    /// The command that looks the place up by a release that its user names.
    fn by_version(&self, what: &'static str, addr: &ProviderAddr) -> Step {
        let addr = addr.to_string();
        if self.rotates {
            step!("{}: `tflock trust rotate {} --provenance=VERSION --reason TEXT`", what, addr)
        } else {
            step!("{}: `tflock trust add {} --provenance=VERSION`", what, addr)
        }
    }

    fn addr(&self) -> Result<ProviderAddr, Error> {
        let text = self.pattern.to_string();
        ProviderAddr::parse(&text, Dialect::Terraform).map_err(|_| {
            let message = format!("{text} covers several providers, which are built in places of their own");
            Error::new(ErrorKind::Usage, message).hint("name one provider")
        })
    }

    fn releases(&self, addr: &ProviderAddr, notes: &mut Vec<String>) -> Result<Vec<Arc<Release>>, Error> {
        let (mut versions, mut unread) = (BTreeSet::from_iter(self.version.cloned()), Vec::new());
        if versions.is_empty() {
            let locks = locks_below(&self.lookup.root.boundary, |path| unread.push(shown(path)))?;
            versions.extend(locks.iter().filter_map(|lock| Some(lock.get(addr)?.version.clone())));
        }
        if versions.is_empty() {
            let message = match &unread[..] {
                [] => format!("no lock file here records a release of {addr}"),
                _ => format!(
                    "no readable lock file here records a release of {addr}; unreadable: {}",
                    first_of(&unread, 3)
                ),
            };
            let error = Error::new(ErrorKind::Usage, message).about(addr.clone());
            return Err(error.hint(self.by_version("name a release", addr)));
        }
        notes.extend(unread.into_iter().map(|path| format!("{path} cannot be read")));
        let rules = RuleBook::for_root(self.lookup.root);
        let mut questions: BTreeMap<ReleaseKey, Query> = BTreeMap::new();
        for version in versions {
            if let Some(refused) = rules.of_address(addr, &version).into_iter().find(|_| rules.forbids(addr, &version))
            {
                return Err(Error::new(ErrorKind::Trust, refused.message()).hint(refused.general_help()));
            }
            let rules = Rules { provenance: ProvenanceRule::Learn, ..rules.of(addr, &[]) };
            questions.insert((addr.clone(), version.clone()), Query::of_signer(version, rules));
        }
        let answers = self.lookup.look_up(&questions)?;
        let release = |((addr, version), lookup): (ReleaseKey, Lookup)| match lookup {
            Lookup::Known(release) => Ok(release),
            Lookup::Inconclusive(error) => Err(error),
            Lookup::Withdrawn(message) => Err(Error::new(ErrorKind::NotFound, message)),
            Lookup::Refused(finding, _) => Err(Error::new(ErrorKind::Trust, finding.message())),
            Lookup::NotRequested => {
                let message = format!("it is unknown where {addr} {version} was built, and --offline forbids requests");
                Err(Error::new(ErrorKind::Offline, message).hint("run the command once without --offline"))
            }
        };
        answers.into_iter().map(release).collect()
    }
}

/// The pin that takes the place of an earlier one: where only names have changed, it applies from as early as that did.
fn replacing(earlier: Option<&BuiltBy>, place: BuiltBy, reason: Option<&str>) -> BuiltBy {
    let reason = reason.map(str::to_owned);
    match earlier {
        Some(old) if old.repository_id == place.repository_id && old.owner_id == place.owner_id => {
            let pinned_on = old.pinned_on.or(place.pinned_on);
            BuiltBy { since: old.since.clone().min(place.since), pinned_on, reason, ..place }
        }
        _ => BuiltBy { reason, ..place },
    }
}

/// Refuses to pin a place over another one, and to change one without a reason.
fn checked(rotates: bool, pattern: &AddrPattern, earlier: Option<&BuiltBy>, reason: Option<&str>) -> Result<(), Error> {
    match (rotates, earlier, reason) {
        (false, Some(earlier), _) => {
            let message = format!("{pattern} is pinned to where it is built already: {earlier}");
            Err(Error::new(ErrorKind::Usage, message).hint(step!(
                "`tflock trust rotate {} --provenance --reason TEXT` replaces the recorded place",
                pattern
            )))
        }
        (true, None, _) => {
            let message = format!("no place is pinned where {pattern} is built, so there is nothing to rotate");
            Err(Error::new(ErrorKind::Usage, message)
                .hint(step!("to pin it for the first time: `tflock trust add {} --provenance`", pattern)))
        }
        (true, Some(_), None) => {
            let message = format!("a reason is needed for another place where {pattern} is built");
            Err(Error::new(ErrorKind::Usage, message).hint("add --reason TEXT; it is kept in the trust file"))
        }
        _ => Ok(()),
    }
}

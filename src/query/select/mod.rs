//! Which version is selected of all that the sources have: a pure function between two questions, for every source; and which versions
//! may be newly selected, next to what the constraints say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::cached::SameVersion;
use super::question::{Exclusion, Query, Refusal, Selection};
use crate::addr::ProviderAddr;
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::platform::Platform;
use crate::provenance::BuiltBy;
use crate::release::Offer;
use crate::release::continuity::ExpiryRules;
use crate::settings::{Basis, Candidate, Index, Objection, SignatureRule, VersionPolicy};
use crate::step::Step;
use crate::trust::pins::Pins;
use crate::version::{Constraints, Version};
use crate::witness::WitnessPlace;

#[derive(Debug, Clone, Copy)]
pub struct Candidates<'a> {
    pub addr: &'a ProviderAddr,
    pub offers: &'a [Offer],
    pub probed: &'a BTreeMap<Version, Probed>,
    /// The answer about a single version.
    pub capabilities: Capabilities,
    /// Where they are, in words; none for the origin registry.
    pub source: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Which platforms it has packages for. Else the offer says that.
    pub platforms: bool,
    /// When it was signed. Else that cannot be known.
    pub age: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Probed {
    pub platforms: BTreeSet<Platform>,
    /// When it was signed, where that is known.
    pub signed: Option<SystemTime>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub version: Version,
    /// Newer versions that the constraints allow, and why they were not taken.
    pub passed_over: Vec<(Version, Exclusion)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Take(Choice),
    /// It depends on the answer about this version.
    Query(Version),
}

enum Looked {
    Found(Choice),
    Open(Version),
    Nothing(Vec<(Version, Exclusion)>),
}

impl Candidates<'_> {
    pub fn next(&self, query: &Query) -> Result<Next, Refusal> {
        let criteria = match &query.selection {
            Selection::Keep(version) | Selection::Exactly(version) => {
                return self.named(version, query);
            }
            Selection::Newest(criteria) => criteria,
        };
        if let Some(same) = &criteria.same {
            match self.newest(&|version| same.allows(version), &same.release_criteria()) {
                Looked::Found(choice) => return Ok(Next::Take(choice)),
                Looked::Open(version) => return Ok(Next::Query(version)),
                Looked::Nothing(_) => {}
            }
        }
        match self.newest(&|version| criteria.allows(version), &query.release_criteria(criteria.complete)) {
            Looked::Found(choice) => Ok(Next::Take(choice)),
            Looked::Open(version) => Ok(Next::Query(version)),
            Looked::Nothing(passed_over) => Err(self
                .all_banned(criteria, query, &passed_over)
                .map_or_else(|| self.nothing_allowed(criteria, &passed_over).into(), Refusal::from)),
        }
    }

    /// A version that is wanted by its number. The recorded one does at any age.
    fn named(&self, version: &Version, query: &Query) -> Result<Next, Refusal> {
        if !self.has(version) {
            return Err(self.not_offered(version, query).into());
        }
        let is_recorded = query.recorded.as_ref().is_some_and(|entry| entry.version == *version);
        if matches!(query.selection, Selection::Exactly(_)) && !is_recorded {
            let objections = self.objections(version, std::slice::from_ref(&query.rules.versions));
            if let Some(objection) = objections.into_iter().next() {
                if self.is_open(version, &objection) {
                    return Ok(Next::Query(version.clone()));
                }
                let message = format!("{} {version} cannot be selected: {}", self.addr, objection.why);
                return Err(Finding::new(objection.rule, message).about(self.addr).into());
            }
        }
        Ok(Next::Take(Choice { version: version.clone(), passed_over: Vec::new() }))
    }

    /// The newest version that will do. The recorded one does at any age and with any platforms, unless it is banned.
    fn newest(&self, allows: &dyn Fn(&Version) -> bool, release: &ReleaseCriteria) -> Looked {
        let mut passed_over = Vec::new();
        for offer in self.offers.iter().rev().filter(|offer| allows(&offer.version)) {
            let version = &offer.version;
            let (by_number, by_date): (Vec<_>, Vec<_>) =
                self.objections(version, &release.policies).into_iter().partition(|it| it.basis == Basis::Number);
            let against = if let Some(objection) = by_number.into_iter().next() {
                Some(Exclusion::Policy(objection))
            } else if release.recorded.as_ref() == Some(version) {
                None
            } else {
                let Some(lacking) = self.lacking_platforms(offer, &release.platforms) else {
                    return Looked::Open(version.clone());
                };
                match by_date.into_iter().next() {
                    _ if !lacking.is_empty() => Some(Exclusion::Lacks(lacking)),
                    Some(objection) if self.is_open(version, &objection) => {
                        return Looked::Open(version.clone());
                    }
                    objection => objection.map(Exclusion::Policy),
                }
            };
            match against {
                None => {
                    return Looked::Found(Choice { version: version.clone(), passed_over });
                }
                Some(why) => passed_over.push((version.clone(), why)),
            }
        }
        Looked::Nothing(passed_over)
    }

    /// The wanted platforms that a version has no package for; `None` if a request must find out. A source that says nothing
    /// of platforms may have them all.
    fn lacking_platforms(&self, offer: &Offer, wanted: &[Platform]) -> Option<Vec<Platform>> {
        let lacking =
            |has: &dyn Fn(&Platform) -> bool| wanted.iter().filter(|platform| !has(platform)).cloned().collect();
        if !self.capabilities.platforms || wanted.is_empty() {
            return Some(lacking(&|platform| offer.platforms.is_empty() || offer.platforms.contains(platform)));
        }
        self.probed.get(&offer.version).map(|seen| lacking(&|platform| seen.platforms.contains(platform)))
    }

    /// What the settings object to a version, by what is known of it.
    fn objections(&self, version: &Version, policies: &[VersionPolicy]) -> Vec<Objection> {
        let signed = self.probed.get(version).and_then(|seen| seen.signed);
        let candidate = Candidate { signed, ..Candidate::of(self.addr, version) };
        policies.iter().flat_map(|policy| policy.against(&candidate)).collect()
    }

    /// True if a request may answer the objection.
    fn is_open(&self, version: &Version, objection: &Objection) -> bool {
        objection.basis == Basis::NoDate && self.capabilities.age && !self.probed.contains_key(version)
    }

    fn has(&self, version: &Version) -> bool {
        self.offers.iter().any(|offer| offer.version == *version)
    }

    /// A version that was removed, or never existed.
    fn not_offered(&self, version: &Version, query: &Query) -> Error {
        let addr = self.addr;
        let error = |message: String| Error::new(ErrorKind::NotFound, message);
        if let Some(moved) = &query.moved {
            let from = &moved.from;
            let message = format!("provider {addr} has no release {version}, the locked version of {from}");
            let newest = newest_release(self.offers).map(|newest| format!("the newest there is {newest}"));
            let error = error(message).hints(newest);
            return error
                .hint(step!("first select a version that both have: `tflock upgrade --precise VERSION {}`", from));
        }
        if let Some(place) = self.source {
            return match &query.selection {
                Selection::Keep(_) => lacking(addr, version, self.offers, place),
                _ => newest_there(self.offers, error(format!("version {version} of {addr} is not in {place}"))),
            };
        }
        if query.recorded.as_ref().is_some_and(|entry| entry.version != *version) {
            return error(format!("provider {addr} has no release {version}"))
                .hint(step!("`tflock outdated` shows the newest of {}", addr));
        }
        error(format!("the locked version {version} of provider {addr} is no longer available"))
            .hint(step!("`tflock upgrade {}` selects another release", addr))
    }

    /// The finding where bans alone leave nothing to select.
    fn all_banned(&self, criteria: &Criteria, query: &Query, passed_over: &[(Version, Exclusion)]) -> Option<Finding> {
        let addr = self.addr;
        let (version, why) = passed_over.first()?;
        if !passed_over.iter().all(|(_, why)| why.is_by(Rule::Banned)) {
            return None;
        }
        let constrained = !criteria.constraints.is_empty();
        let which = if constrained { format!(" that \"{}\" allows", criteria.constraints) } else { String::new() };
        let message = format!("every release of {addr}{which} is banned; of the newest of them, {version}: {why}");
        let is_banned = |version: &Version| {
            self.objections(version, std::slice::from_ref(&query.rules.versions))
                .iter()
                .any(|it| it.rule == Rule::Banned)
        };
        let mut releases = self.offers.iter().rev().map(|offer| &offer.version);
        let free = releases.find(|version| !version.is_prerelease() && !is_banned(version)).filter(|_| constrained);
        let remedy = free.map_or_else(
            || Step::from("No release is left to select: have the ban in `.tflock.hcl` changed."),
            |free| {
                if query.is_rewritable {
                    return step!("{} is not banned: `tflock upgrade {} --bump` changes the constraint too.", free, addr);
                }
                step!(
                    "{} is not banned: change the constraint (`tflock why {}` shows where it is); then run `tflock upgrade {}`.",
                    free,
                    addr,
                    addr
                )
            },
        );
        Some(Finding::new(Rule::Banned, message).about(addr).of_version(version).remedied_by(remedy))
    }

    fn nothing_allowed(&self, criteria: &Criteria, passed_over: &[(Version, Exclusion)]) -> Error {
        let addr = self.addr;
        let there = self.source.map(|place| format!(" in {place}")).unwrap_or_default();
        let constrained = format!("matches the version constraint \"{}\"", criteria.constraints);
        let message = match (&criteria.within, criteria.constraints.is_empty(), passed_over.is_empty()) {
            _ if !self.capabilities.age && passed_over.iter().any(|(_, why)| why.is_by(Rule::TooYoung)) => {
                format!("a mirror does not show how old the releases of provider {addr} are")
            }
            (_, _, false) => format!("every matching release of provider {addr} is excluded"),
            (Some((within, from)), true, _) => {
                format!("no release of provider {addr}{there} is within a {within} step of {from}")
            }
            (Some((within, from)), false, _) => {
                format!("no release of provider {addr}{there} within a {within} step of {from} {constrained}")
            }
            (None, true, _) => {
                format!("provider {addr} has no release{there} that may be selected")
            }
            (None, false, _) => match self.source {
                None => format!("no available release of provider {addr} {constrained}"),
                Some(place) => format!("no release of provider {addr} in {place} {constrained}"),
            },
        };
        let mut error = Error::new(ErrorKind::NotFound, message);
        for (version, why) in passed_over {
            error = error.hint(format!("{version} is excluded: {why}"));
        }
        error = match (passed_over.is_empty(), self.source) {
            (true, Some(_)) => newest_there(self.offers, error),
            (true, None) => newest_release(self.offers)
                .into_iter()
                .fold(error, |it, newest| it.hint(format!("the newest release is {newest}"))),
            (false, _) => error,
        };
        error.hint(step!("`tflock why {}` shows which module requires what", addr))
    }
}

/// The newest release of all, pre-releases left out.
fn newest_release(offers: &[Offer]) -> Option<&Version> {
    offers.iter().map(|offer| &offer.version).filter(|version| !version.is_prerelease()).max()
}

/// The newest release of all, pre-releases left out, if it is newer than a version.
pub fn newer(offers: &[Offer], version: &Version) -> Option<Version> {
    newest_release(offers).filter(|other| *other > version).cloned()
}

pub fn lacking(addr: &ProviderAddr, version: &Version, offers: &[Offer], place: &str) -> Error {
    let message = format!("the locked version {version} of {addr} is not in {place}");
    newest_there(offers, Error::new(ErrorKind::NotFound, message))
}

fn newest_there(offers: &[Offer], error: Error) -> Error {
    let newest = offers.last().map(|newest| format!("the newest version there is {}", newest.version));
    error.hints(newest)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Criteria {
    pub constraints: Constraints,
    /// How far from a version, if there is a limit.
    pub within: Option<(VersionStep, Version)>,
    pub prereleases: bool,
    /// True if releases without a package for a wanted platform are passed over.
    pub complete: bool,
    /// The requirements of all root modules, if one version is wanted for all of them; it goes before, as long as there is one.
    pub same: Option<Arc<SameVersion>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReleaseCriteria {
    /// This version will do at any age and with any platforms.
    pub recorded: Option<Version>,
    pub platforms: Vec<Platform>,
    /// A version that one of these objects to is not selected.
    pub policies: Vec<VersionPolicy>,
}

/// How far from the recorded version: the values of `upgrade --within`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum VersionStep {
    /// The last number.
    Patch,
    /// The last two numbers.
    Minor,
    /// Any number.
    Major,
}

impl VersionStep {
    pub fn allows(self, from: &Version, to: &Version) -> bool {
        match self {
            VersionStep::Patch => (from.major(), from.minor()) == (to.major(), to.minor()),
            VersionStep::Minor => from.major() == to.major(),
            VersionStep::Major => true,
        }
    }
}

impl fmt::Display for VersionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            VersionStep::Patch => "patch",
            VersionStep::Minor => "minor",
            VersionStep::Major => "major",
        })
    }
}

impl Criteria {
    /// What a provider that is new to a lock file must be.
    pub fn of(constraints: Constraints) -> Self {
        Self { constraints, ..Self::default() }
    }

    pub fn allows(&self, version: &Version) -> bool {
        self.allows_by_constraints(version)
            && self.within.as_ref().is_none_or(|(within, from)| within.allows(from, version))
    }

    pub fn allows_by_constraints(&self, version: &Version) -> bool {
        allows(&self.constraints, self.prereleases, version)
    }
}

pub(super) fn allows(constraints: &Constraints, prereleases: bool, version: &Version) -> bool {
    if prereleases {
        return !version.is_unspecified() && constraints.terms().iter().all(|term| term.contains(version));
    }
    constraints.allows(version)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rules {
    pub signature: SignatureRule,
    /// True if the settings themselves say that releases must be signed, whichever source serves them.
    pub signature_stated: bool,
    /// What is made of the hashes that the origin reports next to the signed ones.
    pub reported: ReportedRule,
    pub imported: bool,
    pub indexes: Vec<Index>,
    /// What the expiry of keys and signatures means.
    pub expiry: ExpiryRules,
    /// Platforms that the provider may lack.
    pub optional: BTreeSet<Platform>,
    /// Wanted platforms that were not named and that this provider was not locked for: a package that is not there is only
    /// a warning.
    pub unnamed: BTreeSet<Platform>,
    /// Which versions are not newly selected.
    pub versions: VersionPolicy,
    /// Whether it is asked where the release was built.
    pub provenance: ProvenanceRule,
    /// Which places are asked what the archives of a new release are; `None` if no question is to be asked.
    pub witnesses: Option<Arc<[WitnessPlace]>>,
}

/// Whether it is asked where a release was built, and in which repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum ProvenanceRule {
    #[default]
    NotAsked,
    /// Where the pin says.
    Pinned(Arc<BuiltBy>),
    /// Where its packages are downloaded from, to make a pin.
    Learn,
}

impl ProvenanceRule {
    /// What the pins say.
    pub fn of(pins: &Pins, addr: &ProviderAddr) -> Self {
        let pin = pins.pin(addr).and_then(|(_, pin)| pin.built_by.clone());
        pin.map_or(Self::NotAsked, Self::Pinned)
    }
}

/// What is made of the origin's `packages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReportedRule {
    /// Nothing, as Terraform does.
    Ignore,
    /// They must not contradict the signed checksums.
    Check,
    /// They are checked, spare downloads, and are written for all platforms.
    Write,
}

impl Default for Rules {
    /// Terraform's rules.
    fn default() -> Self {
        Self {
            signature: SignatureRule::Always,
            signature_stated: false,
            reported: ReportedRule::Ignore,
            imported: true,
            indexes: Vec::new(),
            expiry: ExpiryRules::default(),
            optional: BTreeSet::new(),
            unnamed: BTreeSet::new(),
            versions: VersionPolicy::default(),
            provenance: ProvenanceRule::NotAsked,
            witnesses: None,
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod criteria_tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn a_step_has_a_size() {
        let from = version("1.2.3");
        for (within, yes, no) in [
            (VersionStep::Patch, "1.2.0", "1.3.0"),
            (VersionStep::Minor, "1.9.0", "2.0.0"),
            (VersionStep::Major, "9.0.0", "0.0.0"),
        ] {
            let criteria = Criteria { within: Some((within, from.clone())), ..Criteria::default() };
            assert!(criteria.allows(&version(yes)) && !criteria.allows(&version(no)), "{within}");
        }
    }

    #[test]
    fn prereleases_count_only_on_demand() {
        let criteria = Criteria::of("~> 1.0".parse().unwrap());
        let allowing = Criteria { prereleases: true, ..criteria.clone() };
        for (text, plain, with) in [("1.1.0-rc1", false, true), ("2.0.0-rc1", false, true), ("2.0.1-rc1", false, false)]
        {
            assert_eq!((criteria.allows(&version(text)), allowing.allows(&version(text))), (plain, with), "{text}");
        }
    }
}

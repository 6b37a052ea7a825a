//! Plans the queries from requirements, lock file and intent, and decides whether records of earlier runs make them
//! unnecessary. Pure: it sends no query and assumes no answer.
//!
//! The records are only hints. No hash is written because of them; they show that there is nothing to write.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{ProviderAddr, default_host};
use crate::config::edit::suggest;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::hash::{HashScheme, PackageHash, PackageHashes};
use crate::lockfile::{LockEntry, LockFile};
use crate::platform::Platform;
use crate::query::question::{Goal, Moved, Query, Selection};
use crate::query::select::{Criteria, ReportedRule, Rules, VersionStep};
use crate::release::Release;
use crate::requirements::{Origin, Requirement, Requirements, StateProviders};
use crate::step::Step;
use crate::trust::Evidence;
use crate::version::Version;

#[derive(Debug, Clone, Default)]
pub struct Intent {
    pub excluded: BTreeSet<ProviderAddr>,
    pub only: Option<BTreeSet<ProviderAddr>>,
    /// Skip providers of `only` that are not required; otherwise they are an error.
    pub lenient: bool,
    pub platforms: Vec<Platform>,
    pub prune: bool,
    /// The providers that a state needs, if a state was given.
    pub state: Option<StateProviders>,
    /// Entries to remove, whatever requires them.
    pub dropped: BTreeSet<ProviderAddr>,
    /// Select all versions again; `None` to keep them.
    pub upgrade: Option<Upgrade>,
    /// With `upgrade`: the versions to select instead of the newest ones.
    pub precise: BTreeMap<ProviderAddr, Version>,
    pub reselected: BTreeMap<ProviderAddr, Reselect>,
    /// Releases whose new hashes may replace the recorded ones.
    pub republished: BTreeSet<(ProviderAddr, Version)>,
    /// Take out each recorded `h1:` that no archive of its release has.
    pub drop_unattested: bool,
    /// True if the requirements are in places that tflock does not edit.
    pub is_fixed: bool,
    /// Providers that take over the version of an entry at another address: new to old address.
    pub moves: BTreeMap<ProviderAddr, ProviderAddr>,
}

/// When to select the version of a provider again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reselect {
    /// If its constraints exclude the recorded version, which is otherwise an error.
    IfNotAllowed,
    Always,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Upgrade {
    pub within: Option<VersionStep>,
    pub prereleases: bool,
    /// Skip releases without a package for a wanted platform.
    pub complete: bool,
    /// Select one version for all root modules of the run, if one suits them all.
    pub same: Option<OneForAll>,
}

/// Which versions may suit all root modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneForAll {
    /// None lower than a recorded version that a root module may keep.
    NotLower,
    AlsoLower,
}

#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// One step for each provider, in the order of the lock file.
    pub steps: BTreeMap<ProviderAddr, Query>,
    pub pruned: Vec<ProviderAddr>,
    /// Entries that the configuration does not require and that stay.
    pub unrequired: Vec<ProviderAddr>,
}

/// The rules for a provider, its wanted platforms, and its entry in git's history, whose hashes apply if that version is selected.
pub type WantedEntry = (Rules, Vec<Platform>, Option<LockEntry>);

/// Decides which providers need queries, and which version of each is wanted. Source:
/// `internal/providercache/installer.go`, `internal/command/providers_lock.go`.
pub fn plan(
    requirements: &Requirements,
    lock: &LockFile,
    intent: &Intent,
    dialect: Dialect,
    wanted: &dyn Fn(&ProviderAddr) -> WantedEntry,
) -> Result<Plan, Vec<Error>> {
    let planner = Planner { lock, intent, dialect };
    let mut errors = unrequired_arguments(requirements, intent, dialect);
    let mut plan = Plan::default();
    for (addr, requirement) in requirements.iter() {
        let is_left_out = intent.only.as_ref().is_some_and(|only| !only.contains(addr));
        if is_left_out || intent.excluded.contains(addr) {
            continue;
        }
        let keeps = lock.get(addr).is_some_and(|entry| requirement.constraints.allows(&entry.version));
        if !keeps && requirement.constraints.exclude_each_other() {
            errors.push(contradiction(addr, requirement));
            continue;
        }
        match planner.select(addr, requirement) {
            Ok(selection) => {
                let (rules, platforms, earlier) = wanted(addr);
                let step = Query {
                    constraints: requirement.constraints.clone(),
                    accept_republished: accepts(intent, addr, &selection),
                    drop_unattested: intent.drop_unattested,
                    selection,
                    platforms,
                    recorded: lock.get(addr).cloned().or(earlier),
                    moved: planner.moved(addr),
                    is_rewritable: planner.rewrites(requirement.origins.iter().filter(|it| it.constraint.is_some())),
                    rules,
                    goal: Goal::Packages,
                };
                plan.steps.insert(addr.clone(), step);
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    plan.pruned.extend(intent.dropped.iter().filter(|addr| lock.get(addr).is_some()).cloned());
    let replaced = planner.replaced(&plan);
    let unrequired = lock.iter().filter(|(addr, _)| requirements.get(addr).is_none());
    for (addr, _) in unrequired.filter(|(addr, _)| !intent.dropped.contains(addr)) {
        let in_state = intent.state.as_ref().is_some_and(|state| state.need(addr));
        if replaced.contains(addr) || intent.prune && !in_state && intent.only.is_none() {
            plan.pruned.push(addr.clone());
        } else if !in_state {
            plan.unrequired.push(addr.clone());
        }
    }
    Ok(plan)
}

/// The places whose constraints no version satisfies together.
fn contradiction(addr: &ProviderAddr, requirement: &Requirement) -> Error {
    let message = format!(
        "no release of provider {addr} can match the version constraint \"{}\": its parts exclude each other",
        requirement.constraints
    );
    let constrained = requirement.origins.iter().filter_map(|origin| Some((origin, origin.constraint.as_ref()?)));
    let hints = constrained.map(|(origin, constraint)| {
        format!("`{constraint}` at {}:{} ({})", crate::path::shown(&origin.file), origin.position.line, origin.caller())
    });
    Error::new(ErrorKind::NotFound, message).about(addr.clone()).hints(hints)
}

fn accepts(intent: &Intent, addr: &ProviderAddr, selection: &Selection) -> bool {
    match selection {
        Selection::Keep(version) => intent.republished.contains(&(addr.clone(), version.clone())),
        Selection::Exactly(_) | Selection::Newest(_) => false,
    }
}

pub fn unrequired_arguments(requirements: &Requirements, intent: &Intent, dialect: Dialect) -> Vec<Error> {
    let named = intent.only.iter().flatten().filter(|addr| !intent.lenient && requirements.get(addr).is_none());
    named
        .map(|addr| {
            let required: Vec<String> = requirements.iter().map(|(required, _)| required.to_string()).collect();
            // The user may have typed a bare type, which means a provider of the tool's own publisher.
            let is_bare = ProviderAddr::parse(addr.type_name(), dialect).is_ok_and(|bare| bare == *addr);
            let typed = if is_bare { addr.type_name().to_owned() } else { addr.short(dialect) };
            let message = format!("provider {} is not required by the configuration", addr.short(dialect));
            let error = Error::new(ErrorKind::Usage, message).about(addr.clone());
            let near = suggest(&typed, required.iter().map(String::as_str));
            let error = near.into_iter().fold(error, |error, near| error.hint(Step::meant(near)));
            error.hint(step!("`tflock why` lists the providers that are"))
        })
        .collect()
}

struct Planner<'a> {
    lock: &'a LockFile,
    intent: &'a Intent,
    dialect: Dialect,
}

impl<'a> Planner<'a> {
    fn select(&self, addr: &ProviderAddr, requirement: &Requirement) -> Result<Selection, Error> {
        let constraints = &requirement.constraints;
        let Self { lock, intent, .. } = self;
        let moved = self.moved(addr);
        let entry = lock.get(addr).or(moved.as_ref().map(|moved| &moved.entry));
        let entry = entry.or_else(|| self.predecessor(addr).map(|(_, entry)| entry));
        if let Some(upgrade) = &intent.upgrade {
            let recorded = entry.map(|entry| &entry.version);
            return self.anew(addr, requirement, upgrade, recorded);
        }
        let newest = || Selection::Newest(Criteria::of(constraints.clone()));
        let Some(entry) = entry else {
            return Ok(newest());
        };
        let is_allowed = constraints.allows(&entry.version);
        match intent.reselected.get(addr) {
            Some(Reselect::Always) => return Ok(newest()),
            Some(Reselect::IfNotAllowed) if !is_allowed => return Ok(newest()),
            _ => {}
        }
        if !is_allowed {
            let name = addr.short(self.dialect);
            let message = format!(
                "the locked version {} of provider {name} does not match the version constraint {constraints:?} of the \
                 configuration",
                entry.version,
                constraints = constraints.to_string(),
            );
            return Err(Error::new(ErrorKind::NotFound, message)
                .hint(step!("`tflock why {}` shows which module requires what", name))
                .hint(step!("`tflock upgrade {}` selects a version that does", name)));
        }
        let version = entry.version.clone();
        Ok(if moved.is_some() { Selection::Exactly(version) } else { Selection::Keep(version) })
    }

    fn moved(&self, addr: &ProviderAddr) -> Option<Moved> {
        let Self { lock, intent, .. } = self;
        let from = intent.moves.get(addr).filter(|_| lock.get(addr).is_none())?;
        Some(Moved { from: from.clone(), entry: lock.get(from)?.clone() })
    }

    /// Selects again, whatever is recorded.
    fn anew(
        &self,
        addr: &ProviderAddr,
        requirement: &Requirement,
        upgrade: &Upgrade,
        recorded: Option<&Version>,
    ) -> Result<Selection, Error> {
        let constraints = &requirement.constraints;
        let Some(version) = self.intent.precise.get(addr) else {
            return Ok(Selection::Newest(Criteria {
                constraints: constraints.clone(),
                within: upgrade.within.zip(recorded.cloned()),
                prereleases: upgrade.prereleases,
                complete: upgrade.complete,
                same: None,
            }));
        };
        if constraints.allows(version) {
            return Ok(Selection::Exactly(version.clone()));
        }
        let name = addr.short(self.dialect);
        let message = if constraints.is_empty() {
            format!("version {version} of provider {name} must be required by a constraint")
        } else {
            // One message for all root modules, whose constraints differ: the place shows each.
            format!("version {version} of provider {name} does not match the version constraints of the configuration")
        };
        let mut holders = super::holders(requirement, version);
        let is_rewritable = self.rewrites(super::holders(requirement, version));
        // The place of one that is to be changed by hand.
        let holder = holders.find(|origin| {
            !origin.file.as_os_str().is_empty() && (is_rewritable || self.intent.is_fixed || !origin.is_rewritable())
        });
        let error = Error::new(ErrorKind::NotFound, message);
        let error = match holder {
            Some(origin) => error.in_file(&origin.file).at(origin.position),
            None => error,
        };
        let change = if is_rewritable {
            step!("`tflock upgrade --bump --precise {} {}` changes the constraint of the root module", version, name)
        } else {
            step!(
                "tflock rewrites plain text in `required_providers` of the root module alone: change the constraint there, then \
                 run `tflock upgrade --precise {} {}`",
                version,
                name
            )
        };
        Err(error.hint(step!("`tflock why {}` shows which module requires what", name)).hint(change))
    }

    /// True if `--bump` can change what these places say.
    fn rewrites<'o>(&self, mut origins: impl Iterator<Item = &'o Origin>) -> bool {
        !self.intent.is_fixed && origins.all(Origin::is_rewritable)
    }

    /// The entries of Terraform's providers that `OpenTofu`'s replace; empty unless versions are newly selected.
    fn replaced(&self, plan: &Plan) -> BTreeSet<ProviderAddr> {
        let steps = plan.steps.keys().filter(|_| self.intent.upgrade.is_some());
        steps.filter_map(|addr| self.predecessor(addr).map(|(old, _)| old)).collect()
    }

    /// The entry of Terraform's provider that `OpenTofu`'s of the same name replaces: its version stays, its hashes do
    /// not. Source: opentofu `internal/tofumigrate`, `internal/depsfile`.
    fn predecessor(&self, addr: &ProviderAddr) -> Option<(ProviderAddr, &'a LockEntry)> {
        let Self { lock, dialect, .. } = *self;
        let moved = dialect == Dialect::OpenTofu
            && addr.host().as_ascii() == Dialect::OpenTofu.default_registry_host()
            && addr.namespace() == "hashicorp";
        let old = addr.at(default_host(Dialect::Terraform));
        lock.get(&old).filter(|_| moved).map(|entry| (old, entry))
    }
}

/// The platforms whose archive was hashed here, with an `h1:` among the recorded hashes.
pub fn fetched<'a>(release: &'a Release, recorded: &PackageHashes) -> impl Iterator<Item = &'a Platform> {
    release.computed().filter(|(hash, _)| recorded.contains(hash)).filter_map(|(_, platform)| platform)
}

/// True if the platforms of the recorded `h1:` hashes are unknown, so only packages can show them.
pub fn is_unattributed(step: &Query, release: Option<&Release>) -> bool {
    let Some(entry) = step.recorded_release().filter(|_| step.rules.reported != ReportedRule::Write) else {
        return false;
    };
    let mut recorded = entry.hashes.of(HashScheme::H1);
    let is_covered = |platform: &Platform| release.is_some_and(|release| release.covers(platform, &entry.hashes));
    recorded.any(|hash| !release.is_some_and(|release| release.h1.contains_key(hash)))
        && step.platforms.iter().any(|platform| !is_covered(platform))
}

/// True if an entry has fewer `h1:` hashes than platforms that need one.
pub fn has_fewer_than_platforms(step: &Query) -> bool {
    step.recorded.as_ref().is_some_and(|entry| entry.hashes.of(HashScheme::H1).count() < step.needed().count())
}

/// True if the release could add nothing to the recorded entry.
pub fn is_complete(step: &Query, release: &Release) -> bool {
    let (Selection::Keep(version), Some(entry)) = (&step.selection, &step.recorded) else {
        return false;
    };
    let recorded = |hash: &PackageHash| entry.hashes.contains(hash);
    let is_listed = release.listed.iter().all(|digest| recorded(&PackageHash::zh(*digest)));
    let is_questioned = step.accept_republished || step.drop_unattested;
    if entry.version != *version || is_questioned || release.listed.is_empty() || !is_listed {
        return false;
    }
    let accepts = step.rules.reported == ReportedRule::Write;
    let archives = archives(release);
    let covers = |platform: &Platform, evidence: Evidence| {
        let is_archive = archives.get(platform).is_some_and(&recorded);
        is_archive && release.platforms_with(&entry.hashes).any(|covered| covered == (platform, &evidence))
    };
    let covered = |platform: &Platform| {
        covers(platform, Evidence::Computed)
            // Hashes that would be written without a download.
            || accepts && covers(platform, Evidence::ReportedByOrigin)
            || step.rules.optional.contains(platform)
            || step.rules.unnamed.contains(platform) && !archives.contains_key(platform)
    };
    let mut reported = release.h1.iter().filter(|(_, attested)| attested.evidence == Evidence::ReportedByOrigin);
    step.platforms.iter().all(covered) && (!accepts || reported.all(|(h1, _)| recorded(h1)))
}

/// The archive of each platform, by file names.
fn archives(release: &Release) -> BTreeMap<&Platform, PackageHash> {
    let lines = release.lines.iter();
    lines.flat_map(|(digest, line)| line.platforms().map(|platform| (platform, PackageHash::zh(*digest)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(text: &str) -> ProviderAddr {
        ProviderAddr::parse(text, Dialect::OpenTofu).unwrap()
    }

    /// The selection for `acme/widget`, whose entry at another registry has version 1.2.0; with or without its own.
    fn moved(constraints: &str, own: Option<&str>) -> Result<(Selection, bool), Vec<Error>> {
        let (new, old) = (addr("acme/widget"), addr("registry.terraform.io/acme/widget"));
        let entry = |version: &str| LockEntry {
            version: version.parse().unwrap(),
            constraints: constraints.parse().unwrap(),
            hashes: crate::hash::PackageHashes::new(),
        };
        let mut lock = LockFile::new();
        lock.insert(old.clone(), entry("1.2.0"));
        let mut requirements = Requirements::new();
        requirements.add_entry(&new, &entry("1.2.0"));
        own.map(|version| lock.insert(new.clone(), entry(version)));
        let intent = Intent { moves: [(new.clone(), old)].into(), ..Intent::default() };
        let wanted = |_: &ProviderAddr| (Rules::default(), Vec::new(), None);
        let plan = plan(&requirements, &lock, &intent, Dialect::OpenTofu, &wanted)?;
        let step = plan.steps.get(&new).unwrap();
        Ok((step.selection.clone(), step.moved.is_some()))
    }

    #[test]
    fn a_version_is_taken_over_from_another_address() {
        let version = |text: &str| text.parse().unwrap();
        assert_eq!(moved("~> 1.0", None).unwrap(), (Selection::Exactly(version("1.2.0")), true));
        // Who has an entry keeps it.
        assert_eq!(moved("~> 1.0", Some("1.1.0")).unwrap(), (Selection::Keep(version("1.1.0")), false));
        let errors = moved("~> 2.0", None).unwrap_err();
        assert!(errors[0].message.contains("the locked version 1.2.0 of provider acme/widget does not match"));
    }
}

#[cfg(test)]
mod complete_tests;

//! `outdated`: what is selected, what could be, and what holds it back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::available_versions::{Opened, of_roots};
use super::outdated_modules;
use super::targets::{Targets, Unlocked};
use super::{LockOptions, Services};
use crate::addr::ProviderAddr;
use crate::disk::roots::file_from;
use crate::disk::worktree;
use crate::error::Error;
use crate::lock::held_back;
use crate::lockfile::LockFile;
use crate::outcome::{Body, Outcome, Outdated, OutdatedReport, RootOutcome};
use crate::requirements::Requirements;
use crate::version::{Version, newest_allowed};
use crate::workspace::Named;

/// What it does not ask: the age of a release shows in its signature.
const UNAGED: &str = "how old releases are was not asked: the settings have minimum_age, and `tflock upgrade` passes over those that are too young";

/// What `outdated` is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The only providers to look at, as typed; empty for all.
    pub providers: Vec<String>,
    /// Every root module below.
    pub recursive: bool,
    /// A version that could be selected is a difference.
    pub exit_code: bool,
    /// The modules that are not local, in place of the providers.
    pub modules: bool,
}

/// Shows what is selected, what could be, and what holds it back.
///
/// # Errors
///
/// What keeps the run from beginning.
pub fn outdated(request: &Request, services: &Services<'_>) -> Result<Outcome, Error> {
    if request.modules {
        return outdated_modules::outdated(request.recursive, request.exit_code, services);
    }
    let targets = Targets::of(&services.scope, request.recursive, Unlocked::Told)?;
    let options = LockOptions { providers: request.providers.clone(), found: targets.found, ..LockOptions::default() };
    let (roots, mut notes) = of_roots(&targets, &options, services);
    let named = Named::new(&request.providers);
    roots.iter().flatten().for_each(|(root, _)| named.see(root.names()));
    let missing = named.unknown().filter(|_| targets.found && roots.iter().all(Result::is_ok));
    // As all files in reports relative to the work tree, which outside of git is the root module.
    let places: Vec<PathBuf> =
        targets.directories().iter().map(|root| worktree::place(root).unwrap_or_default()).collect();
    let young = roots.iter().flatten().any(|(root, _)| root.asked().iter().any(|addr| root.asks_for_age(addr)));
    let roots = targets.paths.iter().zip(&places).zip(roots);
    let outcomes = roots.flat_map(|((path, place), root)| of_root((path, place), root));
    let mut outcome = Outcome::of_roots("outdated", outcomes.collect());
    if request.recursive && !request.providers.is_empty() {
        // Who does not ask for them is not in the answer.
        outcome.roots.retain(
            |root| !matches!(&root.body, Ok(Body::Outdated(report)) if report.rows.is_empty() && report.complete),
        );
    }
    let is_upgradable = |root: &RootOutcome| match &root.body {
        Ok(Body::Outdated(report)) => report.rows.iter().any(Outdated::is_upgradable),
        _ => false,
    };
    let any_upgradable = outcome.roots.iter().any(is_upgradable);
    notes.extend((young && any_upgradable).then(|| UNAGED.to_owned()));
    let differs = request.exit_code && any_upgradable;
    Ok(Outcome { many: targets.many(), dialect: targets.dialect(), notes, ..outcome }.differing(differs).but(missing))
}

/// The providers that are required, all or only some, with the versions on offer; those whose versions are unknown are
/// left out. In the order of the lock file.
fn rows(
    (requirements, lock): (&Requirements, &LockFile),
    offered: &BTreeMap<ProviderAddr, Vec<Version>>,
    ban: &dyn Fn(&ProviderAddr, &Version) -> Option<String>,
) -> Vec<Outdated> {
    let known = requirements.iter().filter_map(|(addr, requirement)| Some((addr, requirement, offered.get(addr)?)));
    known
        .map(|(addr, requirement, versions)| {
            let selected = lock.get(addr).map(|entry| entry.version.clone());
            let free = versions.iter().filter(|version| ban(addr, version).is_none());
            let allowed = newest_allowed(free, &requirement.constraints).cloned();
            let newest = versions.iter().filter(|version| !version.is_prerelease()).max().cloned();
            let holders = newest.iter().filter(|newest| allowed.as_ref() != Some(newest));
            let holders = holders.flat_map(|newest| held_back::holders(requirement, newest)).cloned().collect();
            let ban = newest.as_ref().and_then(|newest| ban(addr, newest));
            Outdated { address: addr.clone(), selected, allowed, newest, holders, ban }
        })
        .collect()
}

/// The rows of one root module, and beside them the providers whose versions are unknown.
fn of_root((path, place): (&Path, &Path), root: Opened) -> Vec<RootOutcome> {
    let (root, answers) = match root {
        Ok(root) => root,
        Err(error) => return vec![RootOutcome::failed(path, error)],
    };
    let (mut known, mut errors) = (BTreeMap::new(), root.unrequired());
    let asked = root.asked();
    let count = asked.len();
    for addr in asked {
        match answers.get(&addr) {
            Some(Ok(versions)) => drop(known.insert(addr, versions.clone())),
            Some(Err(error)) => errors.push(error.clone()),
            None => {}
        }
    }
    let complete = errors.is_empty() && known.len() == count;
    let mut rows = rows((root.requirements(), root.lock()), &known, &|addr, version| root.ban(addr, version));
    for origin in rows.iter_mut().flat_map(|row| &mut row.holders) {
        origin.file = file_from(place, &origin.file);
    }
    let report = OutdatedReport { rows, complete };
    let body = RootOutcome { path: path.to_owned(), body: Ok(Body::Outdated(report)), findings: root.forbidden() };
    let failure = Error::all(errors).map(|error| RootOutcome::failed(path, error));
    std::iter::once(body).chain(failure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::finding::Position;
    use crate::lockfile::LockEntry;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::Constraints;

    #[test]
    fn the_constraint_that_holds_back_is_named() {
        let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
        let mut requirements = Requirements::new();
        for (module, constraint) in [("", ">= 1.0"), ("net", "~> 1.0")] {
            let origin = Origin {
                module: module.to_owned(),
                file: "main.tf".into(),
                position: Position::default(),
                kind: OriginKind::RequiredProviders,
                local_name: "widget".to_owned(),
                constraint: Some(constraint.to_owned()),
                in_tests: false,
            };
            requirements.add(&addr, &constraint.parse().unwrap(), origin);
        }
        let mut lock = LockFile::new();
        let entry = LockEntry {
            version: Version::new(1, 0, 0),
            constraints: Constraints::default(),
            hashes: std::iter::empty().collect(),
        };
        lock.insert(addr.clone(), entry);
        let offer = |texts: &[&str]| {
            let versions = texts.iter().map(|text| text.parse().unwrap()).collect();
            let ban = |_: &ProviderAddr, version: &Version| (version.to_string() == "1.5.0").then(|| "slow".to_owned());
            rows((&requirements, &lock), &BTreeMap::from([(addr.clone(), versions)]), &ban).remove(0)
        };
        let row = offer(&["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc1"]);
        let text = |version: &Option<Version>| version.as_ref().map(ToString::to_string);
        assert_eq!((text(&row.allowed), text(&row.newest)), (Some("1.4.0".to_owned()), Some("2.0.0".to_owned())));
        assert_eq!(row.holders.iter().map(|origin| origin.module.as_str()).collect::<Vec<_>>(), ["net"]);
        assert!(row.is_upgradable());
        let row = offer(&["1.0.0"]);
        assert!(!row.is_upgradable() && row.holders.is_empty());
        let row = offer(&["1.0.0", "1.5.0"]);
        assert_eq!((text(&row.allowed), row.ban.as_deref()), (Some("1.0.0".to_owned()), Some("slow")));
        assert!(!row.is_upgradable() && row.is_noteworthy());
        assert_eq!(rows((&requirements, &lock), &BTreeMap::new(), &|_, _| None), []);
    }
}

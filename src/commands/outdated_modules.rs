//! `outdated --modules`: shows selected and newer versions of modules, and what excludes the newer ones.

use std::collections::{BTreeMap, BTreeSet};

use super::Services;
use super::targets::{Targets, Unlocked};
use crate::config::{Location, ModuleConstraints, ModuleSource, ModuleVersion, VersionList};
use crate::disk::roots::{ModuleRequest, RemoteModuleCall, file_from};
use crate::error::{Error, ErrorKind};
use crate::modulelock::{ModuleLock, Offered};
use crate::outcome::{Body, ModuleHolder, ModuleVersions, Outcome, OutdatedModule, OutdatedModules, RootOutcome};
use crate::workspace::{Reading, RootModule, RunSettings};

/// The number of shown characters of a commit.
const SHORT: usize = 12;

pub(super) fn outdated(recursive: bool, exit_code: bool, services: &Services<'_>) -> Result<Outcome, Error> {
    let targets = Targets::of(&services.scope, recursive, Unlocked::Opened)?.or_none()?;
    services.events_for(targets.dialect());
    let of = |(at, path): (usize, &std::path::PathBuf)| match targets.settings(at).and_then(|root| report(&root)) {
        Ok((report, errors)) => {
            let body = RootOutcome::of(path, Body::OutdatedModules(report));
            let failure = Error::all(errors).map(|error| RootOutcome::failed(path, error));
            std::iter::once(body).chain(failure).collect()
        }
        Err(error) => vec![RootOutcome::failed(path, error)],
    };
    let roots = targets.paths.iter().enumerate().flat_map(of).chain(targets.failed());
    let outcome = targets.outcome_of("outdated", roots);
    let differs = exit_code && outcome.roots.iter().any(RootOutcome::is_upgradable);
    Ok(outcome.exit_1_if(differs))
}

/// The rows of one root module, and why some are missing.
fn report(settings: &RunSettings) -> Result<(OutdatedModules, Vec<Error>), Error> {
    let mut module = RootModule::open(settings)?;
    module.read_configuration(Reading::LENIENT)?;
    let Some(tree) = &module.tree else { return Ok((OutdatedModules::default(), Vec::new())) };
    let mut errors: Vec<Error> = tree.missing.iter().map(|missing| settings.not_installed(missing)).collect();
    let lock = tree.module_lock.as_ref().map(|read| &read.file.lock);
    let calls: Vec<Called<'_>> = tree.remote_modules.iter().filter_map(|call| Called::of(call, lock)).collect();
    let mut rows = BTreeMap::new();
    if let Some(fetch) = settings.modules.fetch.as_ref().filter(|_| !calls.is_empty()) {
        if settings.offline {
            let message =
                "only their sources know which versions of modules exist, and --offline forbids contacting them";
            return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
        }
        let requests: Vec<ModuleRequest> = calls.iter().map(Called::request).collect();
        let offered = fetch.offered(&settings.module_terms(), &requests);
        for (call, offered) in calls.iter().zip(offered) {
            match offered {
                Ok(offered) => call.row(&offered, settings, &mut rows),
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
    }
    let rows =
        rows.into_iter().map(|(versions, (calls, held_back_by))| OutdatedModule { versions, calls, held_back_by });
    Ok((OutdatedModules { rows: rows.collect(), complete: errors.is_empty() }, errors))
}

type Rows = BTreeMap<ModuleVersions, (BTreeSet<String>, Vec<ModuleHolder>)>;

struct Called<'a> {
    key: &'a str,
    source: &'a ModuleSource,
    constraints: Option<&'a ModuleConstraints>,
    place: &'a Location,
    version: Option<String>,
    commit: Option<String>,
}

impl<'a> Called<'a> {
    fn of(call: &'a RemoteModuleCall, lock: Option<&ModuleLock>) -> Option<Self> {
        let source = call.address.as_ref()?;
        let constraints = call.constraints.as_ref();
        let block = lock.and_then(|lock| lock.block(source, &call.key, constraints));
        let locked = block.and_then(|(key, _)| key.version.as_ref());
        Some(Self {
            key: &call.key,
            source,
            constraints,
            place: &call.place,
            version: locked.or(call.version.as_ref()).map(ModuleVersion::canonical),
            commit: block.and_then(|(_, block)| block.content.commit.clone()),
        })
    }

    fn request(&self) -> ModuleRequest {
        ModuleRequest { source: self.source.clone(), constraints: self.constraints.cloned(), pin: None }
    }

    /// Adds the call to the row of its package and versions; does nothing if the source has only one version.
    fn row(&self, offered: &Offered, settings: &RunSettings, rows: &mut Rows) {
        let Some(package) = self.source.package() else { return };
        let (selected, allowed, newest, constraint) = match offered {
            Offered::Fixed => return,
            Offered::Versions(listed) => {
                let list = VersionList::new(listed, settings.dialect);
                (
                    self.version.clone(),
                    list.selectable(self.constraints).newest().map(ModuleVersion::canonical),
                    list.selectable(None).newest().map(ModuleVersion::canonical),
                    self.constraints.map(|constraints| constraints.as_str().to_owned()),
                )
            }
            Offered::Commit { commit, tagged, newer } => {
                let named = |at: &str| match tagged {
                    Some(tag) if at == commit => tag.clone(),
                    _ => at.chars().take(SHORT).collect(),
                };
                // Without a lock the tools use whatever `ref` resolves to.
                let selected = named(self.commit.as_deref().unwrap_or(commit));
                let newest = newer.clone().unwrap_or_else(|| named(commit));
                (Some(selected), Some(named(commit)), Some(newest), tagged.clone())
            }
        };
        let holder = constraint.filter(|_| newest.is_some() && newest != allowed).map(|constraint| ModuleHolder {
            call: self.key.to_owned(),
            constraint,
            file: file_from(&settings.path, &self.place.file),
            position: self.place.position,
        });
        let versions = ModuleVersions { source: package, selected, allowed, newest };
        let (calls, held_back_by) = rows.entry(versions).or_default();
        calls.insert(self.key.to_owned());
        held_back_by.extend(holder);
    }
}

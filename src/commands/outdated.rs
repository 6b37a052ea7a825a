//! `outdated`: shows selected and newer versions, and the constraints that exclude the newer ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Services;
use super::lock::LockRoot;
use super::lock::request::LockRequest;
use super::shared::options::{Assignments, Below, Packages, Within};
use super::shared::providers::{OutdatedRoot, ReleaseSignatures, of_roots};
use super::shared::targets::{Targets, Unlocked};

use crate::addr::ProviderAddr;
use crate::config::{Location, ModuleSource};
use crate::disk::roots::{ModuleRequest, RemoteModuleCall, file_from};
use crate::error::{Error, ErrorKind};
use crate::finding::Rule;
use crate::lock;
use crate::lockfile::LockFile;
use crate::modulelock::{ModuleLock, Offered};
use crate::outcome::{
    Body, ModuleHolder, ModuleVersions, Outcome, Outdated, OutdatedModule, OutdatedModules, OutdatedReport, PassedOver,
    ReleaseAge, RootOutcome,
};
use crate::query::question::{Answer, Exclusion, Refusal};
use crate::requirements::Requirements;
use crate::settings::{Date, VERSION_RULES};
use crate::step::Value;
use crate::version::{ModuleConstraints, ModuleVersion, Version, VersionList, newest_allowed};
use crate::workspace::{NamedProviders, Reading, Root, RunSettings};

/// Show what `upgrade` would select, and what is newer.
///
/// One line for each provider that has a newer release: the selected version, the newest that the constraints allow, the
/// newest release, and which constraint excludes it; with the age of newer releases, by their signatures. Downloads no
/// package.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock outdated\n  tflock outdated --exit-code hashicorp/aws\n  tflock outdated --modules"
)]
pub(crate) struct OutdatedArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(crate) providers: Vec<String>,
    /// Exit 1 if the constraints allow a newer version than the selected one, or require a different one.
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Show remote modules instead: the locked version, and the versions that their sources have.
    #[arg(long, conflicts_with_all = ["providers", "source", "fs_mirror", "net_mirror", "oci_mirror"])]
    pub(crate) modules: bool,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) variables: Assignments,
    #[command(flatten)]
    pub(crate) below: Below,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn outdated(args: &OutdatedArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if args.modules {
        return modules(args.below.recursive, args.exit_code, services);
    }
    let targets = Targets::of(&services.scope, args.below.recursive, Unlocked::Opened)?.or_none()?;
    let targets = targets.with_ordinary_lock_files()?;
    let request = LockRequest { providers: args.providers.clone(), found: targets.found, ..LockRequest::default() };
    let (roots, notes) = of_roots(&targets, &request, services, true);
    let named = NamedProviders::new(&args.providers);
    roots.iter().flatten().for_each(|opened| named.see(opened.root.names()));
    let missing = named.unknown().filter(|_| targets.found && roots.iter().all(Result::is_ok));
    let outcomes = targets.paths.iter().zip(roots).flat_map(|(path, root)| of_root(path, root));
    let mut outcome = targets.outcome_of("outdated", outcomes.chain(targets.failed()));
    if args.below.recursive && !args.providers.is_empty() {
        // Root modules that do not require the named providers are left out.
        outcome.roots.retain(
            |root| !matches!(&root.body, Ok(Body::Outdated(report)) if report.rows.is_empty() && report.complete),
        );
    }
    let is_upgradable = outcome.roots.iter().any(RootOutcome::is_upgradable);
    let next = is_upgradable.then(|| step!("`tflock upgrade {}`", Value::Words(args.providers.clone())));
    let differs = args.exit_code && is_upgradable;
    Ok(Outcome { notes: notes.into(), next, ..outcome }.exit_1_if(differs).with_error(missing))
}

struct Known {
    offered: Vec<Version>,
    /// The selected version; `None` if the constraints alone decide it.
    choice: Option<Chosen>,
    warnings: Vec<String>,
    ages: Vec<ReleaseAge>,
}

#[derive(Default)]
struct Chosen {
    version: Option<Version>,
    passed_over: Vec<PassedOver>,
}

/// The required providers, or some of them, with their available versions, in the order of the lock file. Providers
/// with unknown versions are left out.
fn rows(requirements: &Requirements, lock: &LockFile, known: BTreeMap<ProviderAddr, Known>) -> Vec<Outdated> {
    let mut known = known;
    let known = requirements.iter().filter_map(|(addr, requirement)| Some((addr, requirement, known.remove(addr)?)));
    known
        .map(|(addr, requirement, Known { offered: versions, choice, warnings, ages })| {
            let selected = lock.get(addr).map(|entry| entry.version.clone());
            let by_number = || Chosen {
                version: newest_allowed(&versions, &requirement.constraints).cloned(),
                passed_over: Vec::new(),
            };
            let Chosen { version: allowed, passed_over } = choice.unwrap_or_else(by_number);
            let newest = versions.iter().filter(|version| !version.is_prerelease()).max().cloned();
            let holders = newest.iter().filter(|newest| allowed.as_ref() != Some(newest));
            let holders = holders.flat_map(|newest| lock::holders(requirement, newest)).cloned().collect();
            let required_by = requirement.origins.iter().map(|origin| origin.module.clone()).collect();
            Outdated {
                address: addr.clone(),
                selected,
                allowed,
                newest,
                holders,
                required_by,
                passed_over,
                ages,
                warnings,
            }
        })
        .collect()
}

/// The rows of one root module, and the providers with unknown versions.
fn of_root(path: &Path, opened: Result<OutdatedRoot, Error>) -> Vec<RootOutcome> {
    let OutdatedRoot { root, offered, mut choices, warnings, signatures } = match opened {
        Ok(opened) => opened,
        Err(error) => return vec![RootOutcome::failed(path, error)],
    };
    let (mut known, mut errors) = (BTreeMap::new(), root.unrequired());
    let requested = root.requested();
    let count = requested.len();
    for addr in requested {
        let choice = choices.remove(&addr).map(chosen).transpose();
        match (offered.get(&addr).cloned(), choice) {
            (Some(Ok(offered)), Ok(choice)) => {
                let warnings = warnings.get(&addr).map(|warnings| warnings.to_vec()).unwrap_or_default();
                let ages = ages(&root, &addr, &signatures);
                known.insert(addr, Known { offered, choice, warnings, ages });
            }
            (Some(Err(error)), _) | (Some(Ok(_)), Err(error)) => errors.push(error),
            (None, _) => {}
        }
    }
    let complete = errors.is_empty() && known.len() == count;
    let mut rows = rows(&root.requirements, &root.lock, known);
    for origin in rows.iter_mut().flat_map(|row| &mut row.holders) {
        origin.file = file_from(path, &origin.file);
    }
    let report = OutdatedReport { rows, complete };
    let body = RootOutcome { path: path.to_owned(), body: Ok(Body::Outdated(report)), findings: root.forbidden() };
    let failure = Error::all(errors).map(|error| RootOutcome::failed(path, error));
    std::iter::once(body).chain(failure).collect()
}

/// The ages of the releases of a provider of which it is known when they were signed.
fn ages(root: &LockRoot, addr: &ProviderAddr, signatures: &ReleaseSignatures) -> Vec<ReleaseAge> {
    let mut ages = Vec::new();
    for ((_, version), signature) in signatures.iter().filter(|((of, _), _)| of == addr) {
        let made = signature.made;
        ages.push(ReleaseAge {
            version: version.clone(),
            signed: Date::of(made),
            days: root.now().duration_since(made).map_or(0, |age| age.as_secs() / 86400),
            too_young: root.is_too_young(addr, version, made),
            allowed_in: root.allowed_in(addr, version, made),
            signer_refused: signature.is_refused,
        });
    }
    ages
}

/// The selected version, and why newer ones are not selected. No version is a valid answer.
fn chosen(choice: Answer) -> Result<Chosen, Error> {
    match choice {
        Ok(selected) => {
            let left = selected.passed_over.iter().map(|(version, why)| PassedOver {
                version: version.clone(),
                reason: why.to_string(),
                too_young: matches!(why, Exclusion::Policy(objection) if objection.rule == Rule::TooYoung),
            });
            Ok(Chosen { version: Some(selected.version().clone()), passed_over: left.collect() })
        }
        Err(Refusal::Finding(finding, _)) if VERSION_RULES.contains(&finding.rule) => {
            let reason = finding.message().to_owned();
            let too_young = finding.rule == Rule::TooYoung;
            let excluded = finding.version.map(|version| PassedOver { version: *version, reason, too_young });
            Ok(Chosen { version: None, passed_over: excluded.into_iter().collect() })
        }
        Err(Refusal::Error(error)) if error.kind == ErrorKind::NotFound => Ok(Chosen::default()),
        Err(refusal) => Err(refusal.into_error()),
    }
}

/// The number of shown characters of a commit.
const SHORT: usize = 12;

fn modules(recursive: bool, exit_code: bool, services: &Services<'_>) -> Result<Outcome, Error> {
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
    let root = Root::open(settings, Reading::LENIENT)?.whole()?;
    let Some(tree) = &root.tree else { return Ok((OutdatedModules::default(), Vec::new())) };
    let mut errors = settings.not_installed_in(tree, |_| true);
    let lock = tree.module_lock.as_ref().map(|read| &read.file.lock);
    let calls: Vec<CalledModule<'_>> =
        tree.remote_modules.iter().filter_map(|call| CalledModule::of(call, lock)).collect();
    let mut rows = BTreeMap::new();
    if let Some(fetch) = settings.modules.fetch.as_ref().filter(|_| !calls.is_empty()) {
        if settings.offline {
            let message =
                "only their sources know which versions of modules exist, and --offline forbids contacting them";
            return Err(Error::new(ErrorKind::Offline, message).hint("run the command without --offline"));
        }
        let requests: Vec<ModuleRequest> = calls.iter().map(CalledModule::request).collect();
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

struct CalledModule<'a> {
    key: &'a str,
    source: &'a ModuleSource,
    constraints: Option<&'a ModuleConstraints>,
    place: &'a Location,
    version: Option<String>,
    commit: Option<String>,
}

impl<'a> CalledModule<'a> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::finding::Position;
    use crate::lockfile::LockEntry;
    use crate::requirements::{Origin, OriginKind};
    use crate::version::Constraints;

    #[test]
    fn the_excluding_constraint_is_named() {
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
                is_evaluated: false,
                block: None,
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
            let offered = texts.iter().map(|text| text.parse().unwrap()).collect();
            rows(
                &requirements,
                &lock,
                BTreeMap::from([(
                    addr.clone(),
                    Known { offered, choice: None, warnings: Vec::new(), ages: Vec::new() },
                )]),
            )
            .remove(0)
        };
        let row = offer(&["1.0.0", "1.4.0", "2.0.0", "3.0.0-rc1"]);
        let text = |version: &Option<Version>| version.as_ref().map(ToString::to_string);
        assert_eq!((text(&row.allowed), text(&row.newest)), (Some("1.4.0".to_owned()), Some("2.0.0".to_owned())));
        assert_eq!(row.holders.iter().map(|origin| origin.module.as_str()).collect::<Vec<_>>(), ["net"]);
        assert!(row.is_upgradable());
        let row = offer(&["1.0.0"]);
        assert!(!row.is_upgradable() && row.holders.is_empty());
        assert_eq!(rows(&requirements, &lock, BTreeMap::new()), []);
    }
}

//! `get`: installs the locked modules, verified, where the tools look for them.

use std::collections::BTreeMap;
use std::path::Path;

use super::Services;
use super::shared::options::{Assignments, Within};
use super::shared::targets::{Targets, Unlocked};
use super::verify::{tracked_or_none, tracked_packages};

use crate::config::{Installed, Location, ModuleSource};
use crate::disk::files::refuse_linked_directory;
use crate::disk::modules_dir::ModulesDir;
use crate::disk::root_files::DirectoryLock;
use crate::disk::roots::{MissingModules, ModuleLookup, RemoteModuleCall, Tree, file_from};
use crate::error::{Error, ErrorKind};
use crate::git::TrackedFiles;
use crate::interrupt::Interrupt;
use crate::modulelock::FILE_NAME;
use crate::modules::{copy_package, is_laid_out};
use crate::outcome::{Body, InstallState, InstalledModule, InstalledModules, Outcome};
use crate::parallel;
use crate::path::shown;
use crate::version::ModuleConstraints;
use crate::workspace::RunSettings;

const COPIERS: usize = 8;

/// Install the locked modules.
///
/// Puts the modules that .tflock.modules.hcl locks into .terraform/modules, each verified, with a modules.json that init
/// leaves unchanged. A Git package is fetched by its locked commit, wherever its tag or branch leads now. `tflock install`
/// does the same, and installs the locked providers too.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock get && terraform init -lockfile=readonly")]
pub(crate) struct GetArgs {
    /// Install in every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) variables: Assignments,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn get(args: &GetArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let mut targets = Targets::of(&services.scope, args.recursive, Unlocked::Reported)?;
    let skipped = targets.leave_out_kinds("get", |traits| traits.no_install)?;
    let roots = targets.all_settings()?;
    services.events_for(targets.dialect());
    let tracked = TrackedFiles::default();
    let mut outcome = targets.outcome("get", &roots, |settings| {
        refuse_tracked(settings, &tracked)?;
        install(settings, &services.interrupt).map(Body::Installed)
    });
    outcome.notes.extend(skipped);
    Ok(outcome)
}

/// Installs modules as a part of `install`: the locked ones, or, if all are local, only the list of modules. Other
/// modules are left to `init`, and none is downloaded to find out.
pub(super) fn install_for(settings: &RunSettings, interrupt: &Interrupt) -> Result<ModulesOfRoot, Error> {
    if settings.root.join(FILE_NAME).exists() {
        return install(settings, interrupt).map(ModulesOfRoot::Installed);
    }
    // What is not locked is not installed, so it is not read either.
    let mut alone = settings.clone();
    alone.modules.lookup = ModuleLookup::None;
    match alone.load_tree(&settings.tree_options(MissingModules::Skip)) {
        Ok(tree) if tree.complete && tree.remote_modules.is_empty() => {
            install(settings, interrupt).map(ModulesOfRoot::Installed)
        }
        Ok(_) => Ok(ModulesOfRoot::Unlocked),
        // `init` reports problems of the configuration.
        Err(_) => Ok(ModulesOfRoot::Unknown),
    }
}

/// What `install` does with the modules of a root module.
pub(super) enum ModulesOfRoot {
    Installed(InstalledModules),
    /// It calls modules that are not locked.
    Unlocked,
    Unknown,
}

/// What git tracks below the data directory would be replaced, and comes back with the next checkout.
fn refuse_tracked(settings: &RunSettings, tracked: &TrackedFiles) -> Result<(), Error> {
    refuse_linked_directory(&settings.data_dir(), "modules")?;
    let found = tracked_or_none(tracked.first_at(&settings.data_dir()))?;
    let findings = tracked_packages(settings, &found.into_iter().collect::<Vec<_>>());
    Error::of_findings(ErrorKind::Trust, &findings).map_or(Ok(()), Err)
}

fn install(settings: &RunSettings, interrupt: &Interrupt) -> Result<InstalledModules, Error> {
    let mut settings = settings.clone();
    // Ignore the modules that are installed already.
    settings.modules.lookup = ModuleLookup::Auto;
    let data_dir = settings.data_dir_name();
    refuse_linked_directory(&settings.root.join(&data_dir), "modules")?;
    let tree = settings.load_tree(&settings.tree_options(MissingModules::Refuse)).map_err(|errors| {
        let errors = errors.into_iter().map(|error| settings.tree_error(error));
        Error::all(errors).unwrap_or_else(|| Error::new(ErrorKind::Configuration, "the configuration cannot be read"))
    })?;
    let path = settings.path.join(&data_dir).join("modules");
    if tree.complete && tree.remote_modules.is_empty() && tree.local_calls.is_empty() {
        // `init` writes no empty list either.
        return Ok(InstalledModules { path, modules: Vec::new() });
    }
    all_locked(&tree, &settings)?;
    let _lock = DirectoryLock::acquire(&settings.root)?;
    let directory = ModulesDir::open(&settings.root.join(&data_dir))?;
    let staging = directory.staging()?;
    let calls = &tree.remote_modules;
    let copied = parallel::each(calls.len(), COPIERS, |at| -> Result<bool, Error> {
        let call = &calls[at];
        let package = package_of(call, &settings)?;
        if is_laid_out(package, &directory.of(&call.key))? {
            return Ok(false);
        }
        copy_package(package, &staging.path().join(&call.key))?;
        Ok(true)
    });
    let copied: Vec<bool> = copied.into_iter().collect::<Result<_, _>>()?;
    let is_new: Vec<&RemoteModuleCall> =
        calls.iter().zip(&copied).filter(|(_, new)| **new).map(|(call, _)| call).collect();
    let keys: Vec<String> = is_new.iter().map(|call| call.key.clone()).collect();
    let (records, listed) = (records(&tree, &data_dir), directory.manifest());
    let is_listed = |key: &str| records.iter().any(|(known, record)| known == key && listed.get(key) == Some(record));
    // Equal files of another version are another entry of the list.
    let changed: Vec<bool> = calls.iter().zip(copied).map(|(call, copied)| copied || !is_listed(&call.key)).collect();
    directory.replace(&staging, &keys, records, interrupt)?;
    let modules = calls.iter().zip(changed).map(|(call, changed)| InstalledModule {
        call: call.key.clone(),
        source: call.source.clone(),
        version: call.version.as_ref().map(crate::version::ModuleVersion::canonical),
        state: if changed { InstallState::Installed } else { InstallState::Present },
        changed,
    });
    Ok(InstalledModules { path, modules: modules.collect() })
}

/// Fails unless all module calls are locked, also those that are not installed.
pub(super) fn all_locked(tree: &Tree, settings: &RunSettings) -> Result<(), Error> {
    if let Some(part) = tree.unread_parts.first() {
        return Err(settings.placed(part.modules_unknown()));
    }
    if tree.remote_modules.is_empty() && tree.missing.is_empty() {
        return Ok(());
    }
    let Some(read) = &tree.module_lock else {
        let message = "there is no module lock file to check modules against";
        let hint = step!("`tflock lock --lock-modules` writes one");
        return Err(Error::new(ErrorKind::LockFile, message).in_file(settings.path.join(FILE_NAME)).hint(hint));
    };
    let is_locked = |source: &ModuleSource, call: &str, constraints: Option<&ModuleConstraints>| {
        read.file.lock.block(source, call, constraints).is_some_and(|(_, block)| block.calls.contains(call))
    };
    let error = |call: &str, source: &str, place: &Location| {
        let message = format!("nothing is locked for module {call} from {source:?}");
        Error::new(ErrorKind::LockFile, message)
            .in_file(file_from(&settings.path, &place.file))
            .at(place.position)
            .hint(step!("run `tflock lock` and review what it adds"))
    };
    let found = tree.remote_modules.iter().filter(|call| {
        !call.address.as_ref().is_some_and(|source| is_locked(source, &call.key, call.constraints.as_ref()))
    });
    let missing = tree.missing.iter().filter(|module| {
        let request = module.request.as_ref();
        !request.is_some_and(|request| is_locked(&request.source, &module.key, request.constraints.as_ref()))
    });
    let errors = found.map(|call| error(&call.key, &call.source, &call.place));
    let errors = errors.chain(missing.map(|module| error(&module.key, &module.source, &module.place)));
    // The tools unpack such a package differently from how it is hashed.
    let ambiguous = tree.remote_modules.iter().filter_map(|call| {
        let ambiguity = call.fetched.as_ref()?.ambiguity.as_ref()?;
        Some(crate::modulelock::ambiguous(&call.address.as_ref()?.package()?, ambiguity))
    });
    let refused = Error::of_findings(ErrorKind::Trust, &ambiguous.collect::<Vec<_>>());
    Error::all(errors.chain(refused)).map_or(Ok(()), Err)
}

/// The cached package of a call.
fn package_of<'a>(call: &'a RemoteModuleCall, settings: &RunSettings) -> Result<&'a Path, Error> {
    let is_name = !call.key.contains(['/', '\\']) && !call.key.starts_with('.');
    let fetched = call.fetched.as_ref().filter(|_| is_name);
    fetched.map(|fetched| fetched.package.as_path()).ok_or_else(|| {
        let message = format!("module {} was not fetched before, and --offline forbids fetching it", call.key);
        let file = file_from(&settings.path, &call.place.file);
        Error::new(ErrorKind::Offline, message).in_file(file).hint("run once without --offline")
    })
}

/// The records for the list of installed modules.
pub(super) fn records(tree: &Tree, data_dir: &Path) -> Vec<(String, Installed)> {
    let home = |key: &str| data_dir.join("modules").join(key);
    let packages: BTreeMap<&str, &Path> = tree
        .remote_modules
        .iter()
        .filter_map(|call| Some((call.key.as_str(), call.fetched.as_ref()?.package.as_path())))
        .collect();
    let within = |key: &str, dir: &Path| {
        let inner = packages.get(key).and_then(|package| dir.strip_prefix(package).ok());
        without_slash(&home(key).join(inner.unwrap_or(Path::new(""))))
    };
    let root = Installed { source: String::new(), version: None, dir: ".".to_owned() };
    let remote = tree.remote_modules.iter().map(|call| {
        let source = call.address.as_ref().map(ModuleSource::address).unwrap_or_default();
        let version = call.version.as_ref().and_then(|version| version.canonical().parse().ok());
        (call.key.clone(), Installed { source, version, dir: within(&call.key, &call.dir) })
    });
    let local = tree.local_calls.iter().map(|call| {
        let dir =
            call.of_package.as_ref().map_or_else(|| without_slash(&call.dir), |package| within(package, &call.dir));
        let dir = if dir.is_empty() { ".".to_owned() } else { dir };
        (call.key.clone(), Installed { source: call.source.clone(), version: None, dir })
    });
    std::iter::once((String::new(), root)).chain(remote).chain(local).collect()
}

fn without_slash(path: &Path) -> String {
    shown(path).trim_end_matches('/').to_owned()
}

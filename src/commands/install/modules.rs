//! Modules of `install`: installed as `get` does, or, with `--check`, compared with what is locked. No request is sent
//! for that: the list of calls is read from what is installed.

use std::path::Path;

use crate::commands::get;
use crate::config::{Installed, Manifest, ModuleSource, ModuleVersion};
use crate::disk::installed_modules::hashes;
use crate::disk::roots::{MissingModules, ModuleLookup, Tree, TreeOptions, installed_modules};
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::modulelock::{LockedModule, ModuleKey, ModuleLock};
use crate::outcome::{InstallState, InstalledModule, InstalledModules};
use crate::workspace::RunSettings;

/// Compares the installed modules with those that `install` would install; `None` if it would leave them to `init`.
pub(super) fn check(settings: &RunSettings) -> Result<Option<InstalledModules>, Error> {
    let mut settings = settings.clone();
    settings.modules.lookup = ModuleLookup::Auto;
    settings.modules.fetch = None;
    let data_dir = settings.data_dir_name();
    let path = settings.path.join(&data_dir).join("modules");
    // `install` writes a list anew that cannot be read.
    let manifest = installed_modules(&settings.root, &data_dir).unwrap_or_default();
    let check = Check { settings: &settings, data_dir: &data_dir, manifest };
    let tree = settings.load_tree(&TreeOptions { ..settings.tree_options(MissingModules::Skip) });
    let modules = match tree {
        Ok(tree) => match &tree.module_lock {
            None if !tree.missing.is_empty() || !tree.remote_modules.is_empty() => return Ok(None),
            read => {
                get::all_locked(&tree, &settings)?;
                let mut modules = check.local(&tree);
                modules.extend(read.iter().flat_map(|read| check.locked(&read.file.lock, Some(&tree))));
                modules
            }
        },
        Err(errors) => {
            // What is installed may be the reason: then that is the result.
            let alone = Tree::of_modules_alone(&settings.root);
            let modules: Vec<InstalledModule> =
                alone.module_lock.iter().flat_map(|read| check.locked(&read.file.lock, None)).collect();
            if modules.iter().all(|module| module.state.is_installed()) {
                let errors = errors.into_iter().map(|error| settings.tree_error(error));
                return Error::all(errors).map_or(Ok(None), Err);
            }
            modules
        }
    };
    Ok(Some(InstalledModules { path, modules }))
}

/// The warnings about modules that are not what is locked.
pub(super) fn differing(installed: &InstalledModules) -> impl Iterator<Item = Finding> {
    let differing = installed.modules.iter().filter(|module| module.state == InstallState::Differs);
    differing.map(|module| {
        let message = format!("the installed module {} is not what is locked", module.call);
        let finding = Finding::new(Rule::InstalledDiffers, message).in_file(installed.path.join(&module.call));
        Finding { level: Level::Warn, ..finding.remedied_by("`tflock install` replaces it.") }
    })
}

struct Check<'a> {
    settings: &'a RunSettings,
    data_dir: &'a Path,
    /// The list of installed modules.
    manifest: Manifest,
}

impl Check<'_> {
    /// The local modules, which `install` only lists.
    fn local(&self, tree: &Tree) -> Vec<InstalledModule> {
        let is_local = |call: &str| tree.local_calls.iter().any(|local| local.key == call);
        let records = get::records(tree, self.data_dir).into_iter().filter(|(call, _)| is_local(call));
        let module = |(call, record): (String, Installed)| {
            let state = match self.manifest.get(&call) {
                None => InstallState::Missing,
                Some(listed) if *listed == record => InstallState::Present,
                Some(_) => InstallState::Differs,
            };
            InstalledModule { call, source: record.source, version: None, state, changed: false }
        };
        records.map(module).filter(|module| !module.state.is_installed()).collect()
    }

    /// The calls of locked packages; with a tree, only those that it still has.
    fn locked(&self, lock: &ModuleLock, tree: Option<&Tree>) -> Vec<InstalledModule> {
        let is_called = |call: &str| {
            tree.is_none_or(|tree| {
                let is_below = |key: &str| call.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
                tree.remote_modules.iter().any(|it| it.key == call)
                    || tree.missing.iter().any(|it| it.key == call || is_below(&it.key))
            })
        };
        let mut modules = Vec::new();
        for (key, block) in lock.iter() {
            for call in block.calls.iter().filter(|call| is_called(call)) {
                let version = key.version.as_ref().map(ModuleVersion::canonical);
                let state = self.state(call, key, block);
                modules.push(InstalledModule {
                    call: call.clone(),
                    source: key.source.clone(),
                    version,
                    state,
                    changed: false,
                });
            }
        }
        modules
    }

    fn state(&self, call: &str, key: &ModuleKey, block: &LockedModule) -> InstallState {
        let within = self.data_dir.join("modules").join(call);
        let place = self.settings.root.join(&within);
        let Some(record) = self.manifest.get(call).filter(|_| place.is_dir()) else { return InstallState::Missing };
        let source = ModuleSource::parse(&record.source, record.version.is_some(), self.settings.dialect);
        let version = |version: &Option<ModuleVersion>| version.as_ref().map(ModuleVersion::canonical);
        let is_recorded = source.is_ok_and(|source| source.package().as_ref() == Some(&key.source))
            && version(&record.version) == version(&key.version)
            && Path::new(&record.dir).starts_with(&within);
        let is_locked = is_recorded && hashes(&place).is_ok_and(|found| found.contains(&block.content.hash));
        if is_locked { InstallState::Present } else { InstallState::Differs }
    }
}

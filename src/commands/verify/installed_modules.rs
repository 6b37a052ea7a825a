//! Compares installed modules with the module lock file.

use std::collections::BTreeSet;
use std::path::Path;

use super::Root;
use super::modules::LockedModules;
use crate::config::{Installed, Manifest, ModuleVersion};
use crate::disk::modules_dir::installed_hashes;
use crate::disk::roots::{RemoteModuleCall, file_from, installed_modules};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::modulelock::{LockedModule, ModuleKey};
use crate::workspace::RunSettings;

/// How many files of a module a finding names.
const MOST_NAMES: usize = 3;

/// The findings on installed modules, either all of them or only those that were read instead of the locked package, and errors.
pub(super) fn findings(root: &Root, all: bool) -> (Vec<Finding>, Vec<Error>) {
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    let Some(modules) = root.locked_modules() else { return (findings, errors) };
    let judged = copies(&modules, all, &mut errors);
    for (_, judgment) in judged {
        match judgment {
            Some(Ok(finding)) => findings.extend(finding),
            Some(Err(error)) => errors.push(error),
            None => {}
        }
    }
    (findings, errors)
}

/// The locked packages whose installed copies all match the lock.
pub(super) fn proven(modules: &LockedModules<'_>) -> BTreeSet<ModuleKey> {
    let judged = copies(modules, true, &mut Vec::new());
    let (proven, open): (Vec<_>, Vec<_>) = judged.into_iter().partition(|(_, it)| matches!(it, Some(Ok(None))));
    let open: BTreeSet<&ModuleKey> = open.into_iter().map(|(key, _)| key).collect();
    // A call that could not be read has no installed copy.
    let missing = modules.tree.missing.iter().filter_map(|module| module.request.as_ref()?.source.package());
    let missing: BTreeSet<String> = missing.collect();
    let is_proven = |key: &&ModuleKey| !open.contains(key) && !missing.contains(&key.source);
    proven.into_iter().map(|(key, _)| key).filter(is_proven).cloned().collect()
}

/// The finding on an installed copy, or why it could not be judged.
type Judgment = Result<Option<Finding>, Error>;

/// The locked package of each call, with the judgement of its installed copy; `None` if it is not installed.
fn copies<'a>(
    modules: &LockedModules<'a>,
    all: bool,
    errors: &mut Vec<Error>,
) -> Vec<(&'a ModuleKey, Option<Judgment>)> {
    let LockedModules { settings, tree, .. } = modules;
    let calls: Vec<&RemoteModuleCall> =
        tree.remote_modules.iter().filter(|call| all || call.fetched.is_none()).collect();
    let Some(read) = tree.module_lock.as_ref().filter(|_| !calls.is_empty()) else { return Vec::new() };
    let data_dir = settings.data_dir_name();
    let manifest = installed_modules(&settings.root, &data_dir).unwrap_or_else(|error| {
        errors.push(settings.tree_error(error));
        Manifest::default()
    });
    let copy = |call: &'a RemoteModuleCall| {
        let source = call.address.as_ref()?;
        let (key, block) = read.file.lock.block(source, &call.key, call.constraints.as_ref())?;
        let judgment = manifest.get(&call.key).map(|record| {
            let place = data_dir.join("modules").join(&call.key);
            let copy = Copy { call, locked: (key, block), record, at: &settings.root.join(&place), shown: &place };
            copy.judge(settings)
        });
        Some((key, judgment))
    };
    calls.into_iter().filter_map(copy).collect()
}

struct Copy<'a> {
    call: &'a RemoteModuleCall,
    locked: (&'a ModuleKey, &'a LockedModule),
    /// Its record in the list of installed modules.
    record: &'a Installed,
    /// The path to open.
    at: &'a Path,
    /// The path relative to the root module.
    shown: &'a Path,
}

impl Copy<'_> {
    fn judge(&self, settings: &RunSettings) -> Result<Option<Finding>, Error> {
        let (key, block) = self.locked;
        let source = self.call.address.as_ref();
        if source.is_some_and(|source| !source.matches_record(&self.record.source, settings.dialect)) {
            let from = crate::redact::module_source(&self.record.source);
            return Ok(Some(self.finding(&format!("is installed from {from:?}, locked is {key}"))));
        }
        let version = self.record.version.as_ref().map(ModuleVersion::canonical);
        if version != key.version.as_ref().map(ModuleVersion::canonical) {
            let version = version.unwrap_or_else(|| "no version".to_owned());
            return Ok(Some(self.finding(&format!("is installed in {version}, locked is {key}"))));
        }
        // Unchanged, or with line ends converted by a checkout.
        let found = installed_hashes(self.at).map_err(|reason| {
            let message = format!("cannot read the installed module {}: {reason}", self.call.key);
            Error::new(ErrorKind::Disk, message).in_file(file_from(&settings.path, self.shown))
        })?;
        if found.contains(&block.content.hash) {
            return Ok(None);
        }
        self.compare(settings)
    }

    /// Compares file by file, if the locked package is in the cache.
    fn compare(&self, settings: &RunSettings) -> Result<Option<Finding>, Error> {
        let Some(fetched) = &self.call.fetched else {
            let unknown = self.unknown("its package was not fetched before");
            return Err(unknown.in_file(file_from(&settings.path, self.shown)));
        };
        let differ = crate::modules::differences(&fetched.package, self.at)?;
        if differ.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = differ.iter().take(MOST_NAMES).map(String::as_str).collect();
        let more = differ.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
        let verb = if differ.len() == 1 { "differs" } else { "differ" };
        Ok(Some(self.finding(&format!("is not what is locked: {}{more} {verb}", names.join(", ")))))
    }

    fn finding(&self, what: &str) -> Finding {
        let message = format!("the installed module {} {what}", self.call.key);
        Finding::new(Rule::InstalledDiffers, message)
            .about_module(&self.locked.0.source)
            .remedied_by("Run `tflock get`, which installs what is locked.")
            .in_file(self.shown)
    }

    fn unknown(&self, why: &str) -> Error {
        let message = format!(
            "the files of the installed module {} do not have the locked hash; whether they differ in more than what a tool \
             makes of them is not known: {why}",
            self.call.key
        );
        Error::new(ErrorKind::Offline, message).hint("`tflock get` installs what is locked, as its source gives it")
    }
}

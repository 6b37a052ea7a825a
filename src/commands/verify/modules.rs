//! Judges locked modules: calls and blocks, their changes, what their sources serve now, and what is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::root::GateRoot;

use crate::config::{Installed, Manifest, ModuleSource};
use crate::disk::modules_dir::{installed_hashes, is_read_from_hidden};
use crate::disk::roots::{MissingModule, ReadModuleLock, RemoteModuleCall, Tree, file_from, installed_modules};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Rule};
use crate::modulelock::{self, Ambiguity, Call, FILE_NAME, LockedModule, ModuleKey, ModuleLock, Offered, Served};
use crate::verify::Unanswered;
use crate::version::{ModuleConstraints, ModuleVersion, VersionList};
use crate::workspace::RunSettings;

/// What the sources of locked packages serve now, or the error; packages that were not queried are missing.
type ServedModules = BTreeMap<ModuleKey, Result<Served, Error>>;

/// What registries list of locked packages now, by package, or the error.
type ListedVersions = BTreeMap<String, Result<VersionList, Error>>;

/// What the sources of locked modules say.
#[derive(Debug, Clone, Default)]
pub(super) struct ModuleAnswers {
    served: ServedModules,
    listed: ListedVersions,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LockedModules<'a> {
    pub(super) settings: &'a RunSettings,
    pub(super) tree: &'a Tree,
    /// The text of the module lock file before the change.
    pub(super) before: Option<&'a [u8]>,
    pub(super) answers: &'a ModuleAnswers,
}

impl LockedModules<'_> {
    /// The findings, with file names relative to the root module.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let file = PathBuf::from(FILE_NAME);
        let before = self.lock_before();
        let Some(read) = &self.tree.module_lock else {
            let was_there = before.is_some_and(|before| !before.is_empty());
            let message = "the module lock file that was here at the base was removed";
            let finding = Finding::new(Rule::LockFileRemoved, message).in_file(file);
            return was_there.then_some(finding).into_iter().collect();
        };
        let mut findings = Vec::new();
        if read.file.encode() != read.text {
            findings.push(Finding::new(Rule::NotCanonical, "the module lock file is not written as tflock writes it"));
        }
        let calls = self.calls();
        findings.extend(modulelock::of_calls(&read.file, &calls, self.tree.complete));
        let lists = self.answers.listed.iter();
        let lists = lists.filter_map(|(package, list)| Some((package.clone(), list.as_ref().ok()?.clone()))).collect();
        findings.extend(modulelock::of_listed(&read.file, &calls, &lists));
        for (key, served) in &self.answers.served {
            let block = read.file.lock.get(key).zip(served.as_ref().ok());
            let finding = block.and_then(|(block, served)| modulelock::of_served(key, block, served));
            // The call may have reported it already.
            let finding = finding.filter(|it| findings.iter().all(|other| other.message() != it.message()));
            findings.extend(finding.map(|it| it.at(read.file.spans.get(key).copied())));
        }
        if let Some(before) = before {
            let is_moving = |key: &ModuleKey| match self.answers.served.get(key) {
                Some(Ok(served)) => served.is_moving(),
                // The default branch advances; the kind of any other `ref` is unknown.
                _ => key.version.is_none() && key.source.starts_with("git::") && key.repository() == key.source,
            };
            findings.extend(modulelock::after(&before, &read.file, &is_moving));
        }
        let refuted = self.tree.missing.iter().filter(|module| module.is_refuted() && !self.is_judged(module));
        let refuted = refuted.map(|module| {
            let reason = module.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
            let package = module.request.as_ref().and_then(|request| request.source.package()).unwrap_or_default();
            Finding::new(Rule::ModuleChanged, format!("module {}: {reason}", module.key)).about_module(&package)
        });
        findings.extend(refuted);
        findings.into_iter().map(|it| if it.file.is_none() { it.in_file(&file) } else { it }).collect()
    }

    /// True if there is a finding on what the source of a missing module serves in its place.
    fn is_judged(&self, module: &MissingModule) -> bool {
        let request = module.request.as_ref();
        let pin = request.and_then(|request| Some((request.source.package()?, request.pin.as_ref()?)));
        pin.is_some_and(|(source, pin)| {
            let key = ModuleKey { source, version: pin.version.clone() };
            matches!(self.answers.served.get(&key), Some(Ok(Served::Other { .. } | Served::Ambiguous(_))))
        })
    }

    /// The queries without an answer.
    pub(super) fn unanswered(&self) -> Vec<Unanswered> {
        let changed = self.changed();
        let failed = self.answers.served.iter().filter_map(|(key, served)| {
            let error = served.as_ref().err()?;
            let message = format!("it is unknown whether {key} still matches the lock: {}", error.message);
            let error = Error { message, ..error.clone() }.in_file(self.settings.path.join(FILE_NAME));
            Some(Unanswered { error, changed: changed.contains(key) })
        });
        // A source that did not answer one question is named once.
        let is_named =
            |package: &str| self.answers.served.iter().any(|(key, it)| key.source == *package && it.is_err());
        let unlisted =
            self.answers.listed.iter().filter(|(package, _)| !is_named(package)).filter_map(|(package, list)| {
                let error = list.as_ref().err()?;
                let init = format!("{} init", self.settings.dialect.program());
                let message =
                    format!("which version of {package} `{init}` will install is not known: {}", error.message);
                let error = Error { message, ..error.clone() }.in_file(self.settings.path.join(FILE_NAME));
                Some(Unanswered { error, changed: changed.iter().any(|key| key.source == *package) })
            });
        failed.chain(unlisted).collect()
    }

    /// The blocks that the change added or changed.
    fn changed(&self) -> BTreeSet<&ModuleKey> {
        let Some((before, read)) = self.lock_before().zip(self.tree.module_lock.as_ref()) else {
            return BTreeSet::new();
        };
        let changed = read.file.lock.iter().filter(|(key, block)| before.get(key) != Some(block));
        changed.map(|(key, _)| key).collect()
    }

    /// Looks up what the sources of packages that calls use serve now, and what registries list of them, each once. If installed
    /// modules are judged, sources of packages that match the lock are not queried, unless the change locked them.
    pub(super) fn ask(&self, installed: bool) -> ModuleAnswers {
        use crate::disk::roots::ModuleRequest;
        use crate::modulelock::ModulePin;

        let Some((read, fetch)) = self.tree.module_lock.as_ref().zip(self.settings.modules.fetch.as_ref()) else {
            return ModuleAnswers::default();
        };
        let (mut keys, mut requests) = (Vec::new(), Vec::new());
        let mut of_registries: BTreeMap<String, ModuleRequest> = BTreeMap::new();
        let mut queried = if installed { proven(self) } else { BTreeSet::new() };
        let changed = self.changed();
        queried.retain(|key| !changed.contains(key));
        for (name, source, constraints) in self.remote() {
            let Some((key, block)) = read.file.lock.block(source, name, constraints) else {
                continue;
            };
            if queried.insert(key.clone()) {
                let pin = ModulePin { version: key.version.clone(), content: block.content.clone() };
                let request = ModuleRequest { source: source.clone(), constraints: constraints.cloned(), pin: None };
                if key.version.is_some() {
                    of_registries.insert(key.source.clone(), request.clone());
                }
                keys.push(key.clone());
                requests.push((request, pin));
            }
        }
        if requests.is_empty() {
            return ModuleAnswers::default();
        }
        let terms = self.settings.module_terms();
        let served = keys.into_iter().zip(fetch.served(&terms, &requests)).collect();
        let (packages, requests): (Vec<_>, Vec<_>) = of_registries.into_iter().unzip();
        let listed = packages.into_iter().zip(fetch.offered(&terms, &requests)).filter_map(|(package, offered)| {
            let list = match offered {
                Ok(Offered::Versions(listed)) => Ok(VersionList::new(&listed, terms.dialect)),
                Ok(_) => return None,
                Err(error) => Err(error),
            };
            Some((package, list))
        });
        ModuleAnswers { served, listed: listed.collect() }
    }

    /// The module lock before the change; an unreadable one is empty.
    fn lock_before(&self) -> Option<ModuleLock> {
        let text = self.before?.to_vec();
        Some(ReadModuleLock::decode(text, FILE_NAME.as_ref()).map(|read| read.file.lock).unwrap_or_default())
    }

    /// All calls of modules that are not local, including missing ones.
    fn remote(&self) -> impl Iterator<Item = (&str, &ModuleSource, Option<&ModuleConstraints>)> {
        let found = self.tree.remote_modules.iter();
        let found =
            found.filter_map(|call| Some((call.key.as_str(), call.address.as_ref()?, call.constraints.as_ref())));
        let missing = self.tree.missing.iter().filter_map(|module| {
            let request = module.request.as_ref()?;
            Some((module.key.as_str(), &request.source, request.constraints.as_ref()))
        });
        found.chain(missing)
    }

    fn calls(&self) -> Vec<Call> {
        let places: BTreeMap<&str, &crate::config::Location> = self
            .tree
            .remote_modules
            .iter()
            .map(|call| (call.key.as_str(), &call.place))
            .chain(self.tree.missing.iter().map(|module| (module.key.as_str(), &module.place)))
            .collect();
        let hidden = self.hidden();
        let fetched = self.tree.remote_modules.iter().filter_map(|call| Some((call, call.fetched.as_ref()?)));
        let ambiguities: BTreeMap<&str, &Ambiguity> =
            fetched.filter_map(|(call, fetched)| Some((call.key.as_str(), fetched.ambiguity.as_ref()?))).collect();
        let call = |(name, source, constraints): (&str, &ModuleSource, Option<&ModuleConstraints>)| Call {
            name: name.to_owned(),
            source: source.clone(),
            constraints: constraints.cloned(),
            file: places.get(name).map(|place| file_from(&PathBuf::new(), &place.file)).unwrap_or_default(),
            position: places.get(name).map(|place| place.position).unwrap_or_default(),
            hidden: hidden.contains(name),
            ambiguity: ambiguities
                .get(name)
                .map(|it| (*it).clone())
                .or_else(|| modulelock::ambiguous_reference(source)),
        };
        self.remote().map(call).collect()
    }

    /// The calls that read a module which the hash of their package does not cover.
    fn hidden(&self) -> BTreeSet<&str> {
        let packages: BTreeMap<&str, &PathBuf> = self
            .tree
            .remote_modules
            .iter()
            .filter_map(|call| Some((call.key.as_str(), &call.fetched.as_ref()?.package)))
            .collect();
        let own = self.tree.remote_modules.iter().map(|call| (call.key.as_str(), &call.dir));
        let local = self.tree.local_calls.iter().filter_map(|call| Some((call.of_package.as_deref()?, &call.way)));
        let is_hidden = |(name, dir): &(&str, &PathBuf)| {
            packages.get(name).is_some_and(|package| is_read_from_hidden(package, dir))
        };
        own.chain(local).filter(is_hidden).map(|(name, _)| name).collect()
    }
}

/// How many files of a module a finding names.
const MOST_NAMES: usize = 3;

/// The findings on installed modules, either all of them or only those that were read instead of the locked package, and errors.
pub(super) fn of_installed(root: &GateRoot, all: bool) -> (Vec<Finding>, Vec<Error>) {
    let (mut findings, mut errors) = (Vec::new(), Vec::new());
    let Some(modules) = root.locked_modules() else {
        return (findings, errors);
    };
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
type ModuleJudgment = Result<Option<Finding>, Error>;

/// The locked package of each call, with the judgement of its installed copy; `None` if it is not installed.
fn copies<'a>(
    modules: &LockedModules<'a>,
    all: bool,
    errors: &mut Vec<Error>,
) -> Vec<(&'a ModuleKey, Option<ModuleJudgment>)> {
    let LockedModules { settings, tree, .. } = modules;
    let calls: Vec<&RemoteModuleCall> =
        tree.remote_modules.iter().filter(|call| all || call.fetched.is_none()).collect();
    let Some(read) = tree.module_lock.as_ref().filter(|_| !calls.is_empty()) else {
        return Vec::new();
    };
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
            .remedied_by(step!("Run `tflock get`, which installs what is locked."))
            .in_file(self.shown)
    }

    fn unknown(&self, why: &str) -> Error {
        let message = format!(
            "the files of the installed module {} do not have the locked hash; whether they differ in more than what a tool \
             makes of them is not known: {why}",
            self.call.key
        );
        Error::new(ErrorKind::Offline, message)
            .hint(step!("`tflock get` installs what is locked, as its source gives it"))
    }
}

//! The settings of a run for one root module: flags, environment and settings files as plain values, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::discover::below;
use crate::addr::Hostname;
use crate::config::is_stand_in;
use crate::dialect::Dialect;
use crate::disk::files::TextMemo;
use crate::disk::roots::{
    MissingModule, MissingModules, ModuleAccess, ModuleTerms, StandInTerms, Tree, TreeError, TreeMemo, TreeOptions,
    UnitMemo, UnitOptions, file_from, placed, test_directory,
};
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;
use crate::git::Git;
use crate::lockfile::{Decoded, LockName, decode};
use crate::path::RepoPath;
use crate::requirements::{is_in_stack, module_name};
use crate::settings::{Settings, SourceChoice, Variables, allow_module_host};

#[derive(Debug, Clone, Default)]
pub struct Readings {
    locks: Arc<[TextMemo<Arc<Decoded>>; 2]>,
    pub(super) trees: Arc<TreeMemo>,
    pub(super) units: Arc<UnitMemo>,
    /// How many root modules there are in the run; zero for one.
    pub roots: usize,
    /// True if a change is judged.
    pub compares: bool,
}

impl Readings {
    /// The same for another number of root modules.
    #[must_use]
    pub fn for_roots(mut self, roots: usize) -> Self {
        self.roots = roots;
        self
    }

    /// Parses a lock file, or returns the earlier result for the same bytes.
    pub fn lock_file(&self, bytes: &[u8], dialect: Dialect) -> Result<Arc<Decoded>, Vec<Finding>> {
        self.locks[dialect as usize].get_or_make(bytes, || Ok((Arc::new(decode(bytes, dialect)?), true)))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrustPlace {
    /// The path to open.
    pub path: PathBuf,
    /// The path as shown in reports.
    pub shown: PathBuf,
}

/// One root module, with the combination of flags, environment and settings files for it.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// The directory to open; relative to the directory of the process, never empty.
    pub root: PathBuf,
    /// The same, absolute and without symbolic links.
    pub place: PathBuf,
    /// The path as shown in reports: relative to the top of the working tree, empty at the top. Outside of git as the
    /// user named it, empty for the directory of the process.
    pub path: PathBuf,
    /// The lock file, of which a directory may have several.
    pub lock_name: LockName,
    /// The limit for reading settings and for writing: the top of the working tree, or the root module.
    pub boundary: PathBuf,
    pub dialect: Dialect,
    /// True if nothing in the working tree says which tool it is.
    pub is_tool_guessed: bool,
    /// All `.tflock.hcl` files together.
    pub settings: Settings,
    pub trust: TrustPlace,
    /// The source of packages, if the command line names it.
    pub source: Option<SourceChoice>,
    pub offline: bool,
    /// False if the index of known hashes is neither read nor written.
    pub cache: bool,
    /// Access to modules that are not local.
    pub modules: ModuleAccess,
    pub variables: Variables,
    pub now: SystemTime,
    /// The parsed files of the run.
    pub readings: Readings,
}

/// What units need to know, wherever they are read: the command line goes before the settings.
pub fn unit_options(settings: &Settings, modules: &ModuleAccess, readings: &Readings) -> UnitOptions {
    UnitOptions {
        environment: modules.over(&settings.unit_environment),
        vouched: settings.vouched.clone(),
        hosts: hosts_to_choose(settings, modules),
        memo: Arc::clone(&readings.units),
        roots: readings.roots,
        compares: readings.compares,
        ..UnitOptions::default()
    }
}

/// The hosts among which a change may choose; `None` for any.
fn hosts_to_choose(settings: &Settings, modules: &ModuleAccess) -> Option<BTreeSet<Hostname>> {
    let hosts = settings.policy.module_hosts.iter().flatten().chain(&*modules.known_hosts);
    modules.is_guarded.then(|| hosts.cloned().collect())
}

/// The source of packages for one root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSource {
    pub dialect: Dialect,
    pub choice: SourceChoice,
    /// True if neither the command line nor the settings name a source.
    pub is_default: bool,
    /// The directory that the tool would run in.
    pub root: PathBuf,
    pub stand_ins: StandInTerms,
}

impl RootSource {
    /// True if the origin registries are asked: what earlier runs saw of releases is theirs, and says nothing of what another
    /// source has.
    pub fn is_origin(&self) -> bool {
        self.choice == SourceChoice::Origin
    }
}

impl RunSettings {
    /// The path to open.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join(self.lock_name.as_str())
    }

    /// The path as shown in reports.
    pub fn lock_file_shown(&self) -> PathBuf {
        self.path.join(self.lock_name.as_str())
    }

    /// From the top of its working tree.
    pub fn lock_file_of(&self, git: &Git) -> RepoPath {
        git.directory().join(self.lock_name.as_str())
    }

    /// What reports call it: its path; of an Atmos instance that of the lock file.
    pub fn name(&self) -> PathBuf {
        if self.lock_name.is_instance() { self.lock_file_shown() } else { self.path.clone() }
    }

    /// True if the tool takes addresses of Terraform's registry in a state for those of `OpenTofu`'s.
    pub fn translates_state(&self) -> bool {
        let switch = self.variables.get("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION");
        self.dialect == Dialect::OpenTofu && switch != Some("0")
    }

    /// The source of packages: the command line, else the settings, else the origin registries.
    pub fn source(&self) -> RootSource {
        let stated = self.source.clone().or_else(|| self.settings.source.clone());
        RootSource {
            dialect: self.dialect,
            is_default: stated.is_none(),
            choice: stated.unwrap_or_default(),
            root: self.root.clone(),
            stand_ins: self.stand_ins(),
        }
    }

    fn stand_ins(&self) -> StandInTerms {
        StandInTerms {
            cloud_hostname: self.variables.get("TF_CLOUD_HOSTNAME").filter(|host| !host.is_empty()).map(str::to_owned),
            hosts: hosts_to_choose(&self.settings, &self.modules),
        }
    }

    /// The host that a source means where it names this one, for the policy on modules.
    pub fn meant_host(&self, written: String) -> String {
        let name = Hostname::parse(&written).ok().filter(is_stand_in);
        let any = StandInTerms { hosts: None, ..self.stand_ins() };
        let meant = name.and_then(|name| any.of_root(&self.root, self.dialect).filter(|it| it.is_for(&name)));
        meant.map_or(written, |it| it.host.as_ascii().to_owned())
    }

    /// `TF_DATA_DIR`, relative to the root module; else `.terraform`.
    pub fn data_dir_name(&self) -> PathBuf {
        PathBuf::from(self.variables.get("TF_DATA_DIR").unwrap_or(".terraform"))
    }

    /// The directory in which the tools install.
    pub fn data_dir(&self) -> PathBuf {
        self.root.join(self.data_dir_name())
    }

    pub fn tree_options(&self, missing: MissingModules) -> TreeOptions {
        // A change could print the secrets of the run, or send them away.
        let mut variables = BTreeMap::new();
        if !self.modules.is_guarded {
            let of_process = self.variables.with_prefix("TF_VAR_");
            variables.extend(of_process.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        TreeOptions {
            data_dir: self.variables.get("TF_DATA_DIR").map(PathBuf::from),
            missing,
            modules: self.modules.lookup,
            test_directory: self.modules.test_directory.clone(),
            variables,
            workspace: self.variables.get("TF_WORKSPACE").map(str::to_owned),
            units: self.unit_options(),
            trees: Arc::clone(&self.readings.trees),
            roots: self.readings.roots,
            ..TreeOptions::new(self.dialect)
        }
    }

    /// Its directory, and the one of its test files.
    pub fn places(&self) -> [PathBuf; 2] {
        let tests = self.place.join(test_directory(self.modules.test_directory.as_deref()));
        [self.place.clone(), tests]
    }

    /// What units need to know.
    pub fn unit_options(&self) -> UnitOptions {
        unit_options(&self.settings, &self.modules, &self.readings)
    }

    /// Reads the module tree, and fetches missing modules.
    pub fn load_tree(&self, options: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
        self.modules.clone().load_tree(&self.root, options, &self.module_terms(), &|_| {})
    }

    /// Fetches missing modules, and turns off later fetching. Errors are reported when the tree is read. `show`
    /// receives the known part of the tree before each fetch.
    #[must_use]
    pub fn with_modules_fetched(mut self, show: &dyn Fn(&Self, &Arc<Tree>)) -> Self {
        let (terms, options) = (self.module_terms(), self.tree_options(MissingModules::Skip));
        let mut modules = self.modules.clone();
        drop(modules.load_tree(&self.root, &options, &terms, &|tree| show(&self, tree)));
        self.modules = ModuleAccess { fetch: None, ..modules };
        self
    }

    /// Fails if the command line names a source that root modules of this kind do not have.
    pub(super) fn refuse_source(&self, tree: &Tree) -> Result<(), Error> {
        let traits = tree.kind.traits();
        let named = self.source.as_ref().filter(|source| traits.only_origin && **source != SourceChoice::Origin);
        let Some(named) = named else { return Ok(()) };
        let message = format!("in {}, packages come from the origin registry alone, not from {named}", traits.phrase);
        Err(Error::new(ErrorKind::Usage, message)
            .in_file(&self.path)
            .hint(format!("leave out the option that names {named}")))
    }

    pub fn module_terms(&self) -> ModuleTerms {
        ModuleTerms {
            dialect: self.dialect,
            hosts: self.settings.policy.module_hosts.clone(),
            whole: false,
            fresh: false,
            work_tree: self.boundary.clone(),
            root: self.root.clone(),
            stand_ins: self.stand_ins(),
        }
    }

    /// An error of the module tree, with its file relative to the directory of the process.
    pub fn tree_error(&self, error: TreeError) -> Error {
        let below = matches!(error, TreeError::NoConfiguration(_)).then(|| below(&self.root)).flatten();
        error.shown_below(&self.root, &self.path).hints(below)
    }

    /// Changes the files of an error from relative to the root module to those shown in reports.
    pub fn placed(&self, error: Error) -> Error {
        placed(error, &self.path)
    }

    /// The errors for the modules that are not installed and that count, so a question stays open: one for each call.
    pub fn not_installed_in(&self, tree: &Tree, counts: impl Fn(&MissingModule) -> bool) -> Vec<Error> {
        let missing = tree.missing_calls().into_iter().filter(|(module, _)| counts(module));
        let errors = missing.map(|(module, paths)| {
            let mut error = self.not_installed(module);
            if let Some(paths) = paths {
                error.message = format!("{}; {paths}", error.message);
            }
            error
        });
        errors.collect()
    }

    /// The error for one of them.
    pub fn not_installed(&self, module: &MissingModule) -> Error {
        let host = module.request.as_ref().and_then(|request| request.source.host()).map(|host| self.meant_host(host));
        // Installing it would fetch it from there.
        let forbidden =
            host.and_then(|host| allow_module_host(self.settings.policy.module_hosts.as_ref(), &host).err());
        let error = if let Some(reason) = forbidden.as_ref().or(module.reason.as_ref()) {
            // By its source, so a module that cannot be fetched is reported once for all calls.
            let what = match (&module.request, module.source.is_empty()) {
                (Some(_), false) => format!("fetch module {}", module.source),
                _ => format!("read {}", module_name(&module.key)),
            };
            let message = format!("cannot {what} ({}): its requirements are unknown", reason.message);
            Error { message, ..reason.clone() }
        } else {
            // Some sources depend on unknown values.
            let from = if module.source.is_empty() { String::new() } else { format!(" from {:?}", module.source) };
            let message =
                format!("{}{from} is not installed, so its requirements are unknown", module_name(&module.key));
            // No tool installs the components of a stack here.
            let get = || step!("run `{} get`", self.dialect.program());
            let hint = if is_in_stack(&module.key) {
                "pass --modules auto, which downloads it into the cache".into()
            } else {
                get()
            };
            Error::new(ErrorKind::NotInstalled, message).hint(hint)
        };
        error.in_file(file_from(&self.path, &module.place.file)).at(module.place.position)
    }
}

//! One root module: its settings as plain values, its lock file, then its configuration. Reading is in steps, so users can be
//! prompted in between; no step takes a lock.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::ProviderNames;
use super::discover::below;
use crate::config::RootKind;
use crate::dialect::Dialect;
use crate::disk::files::TextMemo;
use crate::disk::root_files;
use crate::disk::roots::{
    MissingModule, MissingModules, ModuleAccess, ModuleTerms, Tree, TreeError, TreeMemo, TreeOptions, UnitMemo,
    UnitOptions, UnreadReason, file_from, placed, test_directory,
};
use crate::error::{Error, ErrorKind};
use crate::finding::{Finding, Position, Rule};
use crate::git::Git;
use crate::lockfile::{self, Decoded, FILE_NAME, LockFile, decode, likely_dialect};
use crate::requirements::{Requirements, is_in_stack, module_name};
use crate::settings::{Settings, SourceChoice, Variables, allow_module_host};
use crate::step::{Step, Value};

#[derive(Debug, Clone)]
pub struct RootModule {
    pub settings: RunSettings,
    pub bytes: Option<Vec<u8>>,
    /// The parsed lock file or its problems; `None` if there is no lock file.
    pub lock: Option<Result<Arc<Decoded>, Vec<Finding>>>,
    /// `None` without configuration, or until it is read.
    pub tree: Option<Arc<Tree>>,
}

/// A root module with a lock file, and as much of its configuration as can be read.
#[derive(Debug, Clone)]
pub struct LockedRoot {
    pub lock: Arc<Decoded>,
    pub tree: Option<Arc<Tree>>,
    /// What was not read and may require more providers.
    pub unread: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// How to treat modules that are not installed.
    pub missing: MissingModules,
    /// Whether modules count as installed if the other tool installed them.
    pub of_either_tool: bool,
    /// Whether a root module without lock file needs configuration. With a lock file it needs none, as with Terragrunt.
    pub required: bool,
}

impl Reading {
    /// Skips modules that are not installed; requires configuration or a lock file.
    pub const LENIENT: Self = Self { missing: MissingModules::Skip, of_either_tool: false, required: true };
}

impl RootModule {
    pub fn open(settings: &RunSettings) -> Result<Self, Error> {
        let bytes = root_files::read_lock_file(&settings.lock_file())?;
        let lock = bytes.as_ref().map(|bytes| settings.readings.lock_file(bytes, settings.dialect));
        Ok(Self { settings: settings.clone(), bytes, lock, tree: None })
    }

    /// The lock file and, if readable, the configuration.
    pub fn open_locked(settings: &RunSettings) -> Result<LockedRoot, Error> {
        let mut module = Self::open(settings)?;
        module.decoded()?;
        // Entries are listed even if the configuration cannot be read.
        let unread = match module.read_configuration(Reading::LENIENT) {
            Ok(()) => module.tree.as_ref().and_then(|tree| tree.unread()),
            Err(error) => Some(error.located()),
        };
        match module.lock {
            Some(Ok(lock)) => Ok(LockedRoot { lock, tree: module.tree, unread }),
            _ => Err(absent(settings.lock_file_shown(), &settings.root)),
        }
    }

    pub fn read_configuration(&mut self, how: Reading) -> Result<(), Error> {
        let Reading { missing, of_either_tool, required } = how;
        let options = TreeOptions { of_either_tool, ..self.settings.tree_options(missing) };
        let may_lack = !required || self.bytes.is_some();
        match self.load_tree(options) {
            Ok(tree) => self.take_tree(tree)?,
            Err(errors) if may_lack && matches!(errors[..], [TreeError::NoConfiguration(_)]) => {}
            Err(errors) => {
                let errors = errors.into_iter().map(|error| self.settings.tree_error(error));
                let unknown = || Error::new(ErrorKind::Configuration, "the configuration cannot be read");
                return Err(Error::all(errors).unwrap_or_else(unknown));
            }
        }
        Ok(())
    }

    /// Reads the configuration. That of a unit is read once more where a change alters the environment, and all of both counts.
    fn load_tree(&self, mut options: TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
        let tree = self.settings.load_tree(&options)?;
        let Some(other) = self.settings.modules.other_environment.as_ref().filter(|_| tree.kind == RootKind::Unit)
        else {
            return Ok(tree);
        };
        options.units.environment = self.settings.modules.over(other);
        let other = self.settings.load_tree(&options)?;
        Ok(Arc::new(Arc::unwrap_or_clone(tree).and(&other)))
    }

    /// Takes the configuration in, with what its kind decides: packages of stacks come from their origin registries alone.
    pub fn take_tree(&mut self, tree: Arc<Tree>) -> Result<(), Error> {
        let traits = tree.kind.traits();
        if traits.only_origin {
            if let Some(named) = self.settings.source.as_ref().filter(|source| **source != SourceChoice::Origin) {
                let message =
                    format!("in {}, packages come from the origin registry alone, not from {named}", traits.phrase);
                return Err(Error::new(ErrorKind::Usage, message)
                    .in_file(&self.settings.path)
                    .hint(format!("leave out the option that names {named}")));
            }
            self.settings.settings.source = None;
        }
        self.tree = Some(tree);
        Ok(())
    }

    /// The parsed lock file; `None` if there is no file.
    pub fn decoded(&self) -> Result<Option<&Decoded>, Error> {
        match &self.lock {
            None => Ok(None),
            Some(Ok(decoded)) => Ok(Some(decoded)),
            Some(Err(findings)) => {
                let (path, shown) = (self.settings.lock_file(), self.settings.lock_file_shown());
                Err(refused(findings.clone(), &path, &shown))
            }
        }
    }

    /// The requirements, as far as they are known; `None` if nothing was read.
    pub fn requirements(&self) -> Option<&Requirements> {
        self.tree.as_ref().and_then(|tree| tree.known_requirements())
    }

    /// The findings about configuration that is not evaluated, or that a lock file lacks; files are relative to the root
    /// module.
    pub fn unread_requirements(&self) -> Vec<Finding> {
        let finding = |what: &str, reason: &str| {
            Finding::new(
                Rule::RequirementsUnread,
                format!("{what} not read, so not compared with the lock file: {reason}"),
            )
        };
        let Some(tree) = &self.tree else {
            let none = finding("the requirements are", &UnreadReason::NoConfiguration.to_string())
                .in_file(FILE_NAME)
                .at(Position::default());
            return self.lock.iter().map(|_| none.clone()).collect();
        };
        let what = if tree.requirements.is_empty() { "the requirements are" } else { "a part of the requirements is" };
        let parts = tree.unread_parts.iter();
        parts.map(|part| finding(what, &part.reason).in_file(&*part.place.file).at(part.place.position)).collect()
    }

    /// The first value of a generated file that is not known. Without it, what a new lock file must have is not certain.
    pub fn hole(&self) -> Option<Finding> {
        let hole = self.tree.as_ref()?.holes.first()?;
        let message = format!("a value in a generated file is not known: {}", hole.reason);
        let finding = Finding::new(Rule::RequirementsUnread, message);
        Some(finding.in_file(&*hole.place.file).at(hole.place.position))
    }

    pub fn entries(&self) -> Option<&LockFile> {
        self.lock.as_ref()?.as_ref().ok().map(|decoded| &decoded.lock)
    }

    pub fn names(&self) -> ProviderNames<'_> {
        ProviderNames { requirements: self.requirements(), lock: self.entries(), dialect: self.settings.dialect }
    }
}

/// The error for a missing lock file: its shown path, and its directory to look for root modules below.
pub fn absent(shown: PathBuf, directory: &Path) -> Error {
    let error = Error::new(ErrorKind::LockFile, "there is no such dependency lock file").in_file(shown);
    match below(directory) {
        Some(hint) => error.hint(hint),
        None => error.hint(step!("run `tflock lock`, or name the root module with `-C DIR`")),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Readings {
    locks: Arc<[TextMemo<Arc<Decoded>>; 2]>,
    pub(super) trees: Arc<TreeMemo>,
    pub(super) units: Arc<UnitMemo>,
    /// How many root modules there are in the run; zero for one.
    pub roots: usize,
}

impl Readings {
    /// Parses a lock file, or returns the earlier result for the same bytes.
    pub fn lock_file(&self, bytes: &[u8], dialect: Dialect) -> Result<Arc<Decoded>, Vec<Finding>> {
        self.locks[dialect as usize].get_or_make(bytes, || Ok((Arc::new(decode(bytes, dialect)?), true)))
    }
}

/// The error for a refused lock file; `path` opens it. If it has values that no tool writes, the hint is the command
/// that restores this file.
pub fn refused(findings: Vec<Finding>, path: &Path, shown: &Path) -> Error {
    let not_literal = findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    let mut error = Error::of_lock_file(findings, shown);
    if not_literal {
        let hint = advice(path);
        let advise = |error: &mut Error| {
            if error.kind == ErrorKind::Trust {
                error.message = format!("{} ({})", error.message, Rule::LockNotLiteral.id());
                error.hints = vec![hint.clone()];
            }
        };
        advise(&mut error);
        error.others.iter_mut().for_each(advise);
    }
    error
}

/// The next step for a lock file with values that no tool writes.
fn advice(path: &Path) -> Step {
    let name = path.file_name().map_or(FILE_NAME.into(), |name| name.to_string_lossy());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let git = Value::Words(git_in(directory));
    match recorded(directory, path) {
        Some(text) if is_plain(&text) => {
            step!("`{} checkout HEAD -- {}` restores the committed file", git, name)
        }
        Some(_) => step!(
            "HEAD has such values too: `{} log --oneline -- {}` lists the revisions of the file, and \
             `{} checkout REV -- {}` restores it from one without them",
            git,
            name,
            git,
            name
        ),
        None => "no tool writes such values: restore the file from a copy that you trust".into(),
    }
}

/// The beginning of a git command for a directory, given relative to the directory of the run.
pub fn git_in(directory: &Path) -> Vec<String> {
    match crate::path::shown(directory).trim_end_matches('/') {
        "" | "." => vec!["git".to_owned()],
        directory => ["git", "-C", directory].map(str::to_owned).to_vec(),
    }
}

/// The file in HEAD; `None` outside of git, or if git does not track it.
fn recorded(directory: &Path, path: &Path) -> Option<Vec<u8>> {
    let git = Git::open(directory).ok()?;
    let head = git.commit("HEAD").ok()??;
    let name = path.file_name()?.to_str()?;
    git.files(&head, &[git.directory().join(name).to_string()]).ok()?.pop()?
}

fn is_plain(text: &[u8]) -> bool {
    let has = |findings: Vec<Finding>| findings.iter().any(|finding| finding.rule == Rule::LockNotLiteral);
    decode(text, likely_dialect(text)).map_or_else(|findings| !has(findings), |_| true)
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

/// The source of packages for one root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSource {
    pub dialect: Dialect,
    pub choice: SourceChoice,
    /// True if neither the command line nor the settings name a source.
    pub is_default: bool,
    /// The directory that the tool would run in.
    pub root: PathBuf,
}

impl RunSettings {
    /// The path to open.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join(lockfile::FILE_NAME)
    }

    /// The path as shown in reports.
    pub fn lock_file_shown(&self) -> PathBuf {
        self.path.join(lockfile::FILE_NAME)
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
        }
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
        // What a change makes of the secrets of a run is for nobody to read.
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

    /// What units need to know: the command line goes before the settings.
    pub fn unit_options(&self) -> UnitOptions {
        let environment = self.modules.over(&self.settings.unit_environment);
        let listed = self.settings.policy.module_hosts.iter().flatten();
        let hosts = listed.chain(&*self.modules.known_hosts).cloned();
        let hosts = self.modules.is_guarded.then(|| hosts.collect());
        UnitOptions {
            environment,
            vouched: self.settings.vouched.clone(),
            hosts,
            memo: Arc::clone(&self.readings.units),
            roots: self.readings.roots,
        }
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

    pub fn module_terms(&self) -> ModuleTerms {
        ModuleTerms {
            dialect: self.dialect,
            hosts: self.settings.policy.module_hosts.clone(),
            whole: false,
            fresh: false,
            work_tree: self.boundary.clone(),
        }
    }

    /// An error of the module tree, with its file relative to the directory of the process.
    pub fn tree_error(&self, error: TreeError) -> Error {
        let within = match &error {
            TreeError::Config(_) | TreeError::ModuleLock(_) | TreeError::Module { .. } => true,
            TreeError::Variables { named, .. } => !named,
            _ => false,
        };
        let below = matches!(error, TreeError::NoConfiguration(_)).then(|| below(&self.root)).flatten();
        let mut error = Error::from(error).hints(below);
        if within {
            error = self.placed(error);
        }
        error
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
        let host = module.request.as_ref().and_then(|request| request.source.host());
        // Installing it would fetch it from there.
        let forbidden =
            host.and_then(|host| allow_module_host(self.settings.policy.module_hosts.as_ref(), &host).err());
        let error = if let Some(reason) = forbidden.as_ref().or(module.reason.as_ref()) {
            // Without the name of the call, so a module that cannot be fetched is reported once for all calls.
            let of_call =
                if module.request.is_some() { String::new() } else { format!("{}: ", module_name(&module.key)) };
            let message = format!("{of_call}{}, so its requirements are unknown", reason.message);
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

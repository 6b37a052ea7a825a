//! Root modules: the tree of modules below one, what it needs, and the module lock file.
//!
//! Local modules are read in place, others where `modules.json` says they are installed. Each directory is read
//! once. What the texts mean is the business of `config/`.
//!
//! Source: `internal/configs/configload`, `internal/configs/config_build.go`; for test files `internal/configs/config.go`.

mod backend;
mod error;
mod fetched;
mod paths;
mod reported;
mod unit;
mod unread;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

use super::files::{self, TextMemo};
use crate::config::{ConfigFiles, Location, Manifest, ModuleSource, RootKind, SourceFile};
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::modulelock::{self, FILE_NAME, ModuleLock, ModuleLockFile};
use crate::path::links::{self, FileRefusal, is_absence};
use crate::path::{lexical, shown, worktree};
use crate::requirements::{Requirements, module_name};
use crate::value::Unevaluated;
use crate::version::{ModuleConstraints, ModuleVersion};
use crate::words::counted;

pub use backend::StandInTerms;
pub use error::{Assignment, ModuleProblem, TreeError};
pub use fetched::{
    AssignedVariable, FetchModules, FetchedModule, FetchedModules, Handler, ModuleAccess, ModuleFetch, ModuleLocking,
    ModuleRequest, ModuleTerms, Reselected,
};

pub use paths::UnlistedPaths;
pub use reported::{file_from, placed};
pub use unit::{KeptUnit, UnitFacts, UnitMemo, UnitOptions, UnitReferences};
pub use unit::{facts_of_unit, identity_of_unit, place_of, program_of_unit, references_of_unit};
pub use unread::UnreadReason;
pub use walk::unit::unlisted_host;

const TEST_DIRECTORY: &str = "tests";

#[derive(Debug, Clone)]
pub struct TreeOptions {
    /// Decides which files count and what short addresses mean.
    pub dialect: Dialect,
    /// `TF_DATA_DIR`, relative to the root module; else `.terraform`.
    pub data_dir: Option<PathBuf>,
    pub missing: MissingModules,
    /// Where modules are looked for that are not local.
    pub modules: ModuleLookup,
    pub fetched: Arc<FetchedModules>,
    /// What calls are checked against, if modules are locked: then what is fetched counts before what is installed.
    pub pins: Option<Arc<ModuleLock>>,
    /// True if what is missing will be fetched, and the tree read again.
    pub fetching: bool,
    /// Whether a module counts as installed where the other tool installed it, from its own default registry.
    pub of_either_tool: bool,
    /// The values of `TF_VAR_*`, for sources of modules that depend on them. Files of variables go before them.
    pub variables: BTreeMap<String, String>,
    /// What the inputs of a unit set in their place.
    pub inputs: BTreeMap<String, String>,
    /// The values that the command line gives, which go before all others, and the last one before those before it.
    pub assigned: Vec<Assignment>,
    /// Where test files are, relative to the root module; else in `tests`.
    pub test_directory: Option<PathBuf>,
    /// `TF_WORKSPACE`; else the workspace is the one that was selected last.
    pub workspace: Option<String>,
    /// What units need to know besides their files.
    pub units: UnitOptions,
    /// Trees of other root modules that the texts of their directory alone decided.
    pub trees: Arc<TreeMemo>,
    /// How much is listed path by path: module calls, and their requirements.
    pub listed: usize,
    /// How many root modules share what may be computed in a run.
    pub roots: usize,
}

/// More than any project has.
const LISTED: usize = 100_000;

/// Trees by the configuration of a directory, for each tool.
pub type TreeMemo = [TextMemo<Arc<Tree>>; 2];

/// Which modules are read that are not local; the values of `--modules`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ModuleLookup {
    /// Installed ones if they are up to date; others are downloaded into the cache.
    Auto,
    /// Those that `init` or `get` installed.
    #[default]
    Installed,
    /// None: their requirements stay unknown.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingModules {
    Refuse,
    Skip,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    pub kind: RootKind,
    /// The providers, and which files require them. Files are relative to the root module.
    pub requirements: Requirements,
    /// False if a module is missing: then providers may be needed that are not in the requirements.
    pub complete: bool,
    pub missing: Vec<MissingModule>,
    /// What is not evaluated and may require more providers.
    pub unread_parts: Vec<UnreadPart>,
    /// Values in generated files that are not known and require nothing: what they belong to is not compared any further.
    pub holes: Vec<UnreadPart>,
    /// The lock file next to the module of a unit that has none itself, by its path relative to the root module.
    pub lock_of_module: Option<(PathBuf, Vec<u8>)>,
    /// What was assumed of a unit.
    pub notes: Vec<UnreadPart>,
    /// The providers that components of a stack need and the stack does not declare.
    pub undeclared: Requirements,
    pub built_in: BTreeSet<String>,
    /// The directories of local modules, relative to the root module.
    pub local_modules: BTreeSet<PathBuf>,
    /// The modules that are not local, in the order of the walk.
    pub remote_modules: Vec<RemoteModuleCall>,
    /// The host of the source of a unit, if that is computed: the gate asks only hosts that the settings of the base name.
    pub computed_host: Option<String>,
    /// The calls of local modules, in the order of the walk.
    pub local_calls: Vec<LocalModuleCall>,
    pub module_lock: Option<Arc<ReadModuleLock>>,
    pub warnings: Vec<TreeWarning>,
    /// Every file that was read, relative to the root module: configuration, and values of variables where they count.
    pub files_read: Vec<PathBuf>,
    /// The files among them of which each byte counts, since nothing in them is a comment.
    pub texts_read: Vec<PathBuf>,
    /// Other paths that were looked at, whatever was there; relative to the root module, perhaps above it.
    pub looked_for: Vec<PathBuf>,
    /// Directories whose lists of names decided what was read, besides those of the modules; relative to the root module.
    pub listed: Vec<PathBuf>,
    /// Directories where files of configuration count or would count, besides those of local modules; relative to the root module.
    pub searched: BTreeSet<PathBuf>,
    /// What a unit itself says, as far as that can be known.
    pub unit: Option<UnitFacts>,
    /// True for a unit whose module is known and needs no variable for a source.
    pub needs_no_variables: bool,
    /// True if there are files that only one of the tools reads.
    pub differs_by_tool: bool,
}

/// A part of the configuration that is not evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadPart {
    /// What is not evaluated and why, equal for equal causes.
    pub reason: String,
    pub place: Location,
}

impl UnreadPart {
    /// The error where all modules have to be known.
    pub fn modules_unknown(&self) -> Error {
        let message = format!("not all modules are known: {}", self.reason);
        Error::new(ErrorKind::Configuration, message).in_file(self.place.file.to_path_buf()).at(self.place.position)
    }
}

impl Tree {
    /// The requirements, as far as they are known; `None` if nothing was read.
    pub fn known_requirements(&self) -> Option<&Requirements> {
        (self.unread_parts.is_empty() || !self.requirements.is_empty()).then_some(&self.requirements)
    }

    /// What was not read and may require more providers; `None` if the requirements are all that there are.
    pub fn unread(&self) -> Option<String> {
        if let Some(first) = self.unread_parts.first() {
            return Some(first.reason.clone());
        }
        if let Some(first) = self.missing.first() {
            let more = match self.missing.len() - 1 {
                0 => " was".to_owned(),
                others => format!(" and {} were", counted(others, "other module")),
            };
            let named =
                if first.key == unit::CALL { "the module of the unit".to_owned() } else { module_name(&first.key) };
            return Some(format!("{named}{more} not read"));
        }
        let submodule = self.warnings.iter().find_map(|warning| match warning {
            TreeWarning::EmptyModule { key, submodule, only_for_tofu: false, .. } => Some((key, submodule.as_ref()?)),
            _ => None,
        });
        match submodule {
            Some((key, path)) => {
                Some(format!("{} is in the git submodule {path}, which is not checked out", module_name(key)))
            }
            None => (!self.complete && self.holes.is_empty()).then(|| "the configuration was not read".to_owned()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteModuleCall {
    pub key: String,
    /// Its source, as it may be shown.
    pub source: String,
    /// The same; `None` if only the list of installed modules has it.
    pub address: Option<ModuleSource>,
    pub constraints: Option<ModuleConstraints>,
    pub version: Option<ModuleVersion>,
    /// Its directory: of installed ones relative to the root module.
    pub dir: PathBuf,
    pub fetched: Option<FetchedModule>,
    pub place: Location,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalModuleCall {
    pub key: String,
    pub source: String,
    /// Its directory: outside of fetched packages relative to the root module.
    pub dir: PathBuf,
    /// The same by the path that the call names, which may lead over links.
    pub way: PathBuf,
    /// The call that fetched the package that it is in, if it is in one.
    pub of_package: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingModule {
    pub key: String,
    pub source: String,
    /// Which versions will do, as written.
    pub version: Option<String>,
    pub place: Location,
    /// What would have to be fetched; `None` if the source is not known, or nothing is to be fetched.
    pub request: Option<ModuleRequest>,
    /// Why it could not be fetched, if that was tried.
    pub reason: Option<Error>,
}

impl MissingModule {
    /// True if it is missing since its package is not what is locked.
    pub fn is_refuted(&self) -> bool {
        let is_locked = self.request.as_ref().is_some_and(|request| request.pin.is_some());
        is_locked && self.reason.as_ref().is_some_and(|reason| reason.kind == ErrorKind::Trust)
    }
}

/// Something odd that does not keep a tree from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeWarning {
    /// A version constraint on a provider that is part of the program, which `init` refuses.
    ConstrainedBuiltIn { place: Location, address: String },
    /// More ways lead to the same modules than anyone wants to read about.
    ManyPaths(UnlistedPaths),
    /// A module that is taken from where it was installed, without a look at its source.
    UncheckedRecord { place: Location, key: String, reason: ModuleProblem },
    /// The command line names a directory of test files, and there is none.
    NoTestDirectory(PathBuf),
    /// A file of a module next to those of a stack.
    NotOfStack(PathBuf),
    /// A local module without a single configuration file.
    EmptyModule { place: Location, key: String, submodule: Option<String>, only_for_tofu: bool },
}

impl fmt::Display for TreeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConstrainedBuiltIn { place, address } => {
                write!(f, "{place}: built-in provider {address} does not support a version constraint")
            }
            Self::ManyPaths(paths) => paths.fmt(f),
            Self::UncheckedRecord { place, key, reason } => {
                write!(f, "{place}: module {key:?} is used as installed, not checked against its source: {reason}")?;
                match reason {
                    ModuleProblem::NotStatic(Unevaluated::Unset(name))
                    | ModuleProblem::VersionNotStatic(Unevaluated::Unset(name)) => write!(f, "; {}", error::set(name)),
                    _ => Ok(()),
                }
            }
            Self::NoTestDirectory(directory) => write!(f, "there is no directory of tests {:?}", shown(directory)),
            Self::NotOfStack(name) => write!(f, "{}: Terraform Stacks do not read this file", shown(name)),
            Self::EmptyModule { place, key, only_for_tofu: true, .. } => {
                write!(f, "{place}: only OpenTofu reads the configuration in the directory of module {key:?}")
            }
            Self::EmptyModule { place, key, submodule, only_for_tofu: false } => {
                write!(f, "{place}: the directory of module {key:?} has no configuration")?;
                submodule.iter().try_for_each(|path| {
                    write!(f, ": check out the git submodule {path} with `git submodule update --init`")
                })
            }
        }
    }
}

impl TreeOptions {
    /// As `init` reads a tree, test files included.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            data_dir: None,
            missing: MissingModules::Refuse,
            modules: ModuleLookup::default(),
            fetched: Arc::default(),
            pins: None,
            fetching: false,
            of_either_tool: false,
            variables: BTreeMap::new(),
            inputs: BTreeMap::new(),
            assigned: Vec::new(),
            test_directory: None,
            workspace: None,
            units: UnitOptions::default(),
            trees: Arc::default(),
            listed: LISTED,
            roots: 1,
        }
    }

    fn test_directory(&self) -> &Path {
        test_directory(self.test_directory.as_deref())
    }
}

/// The directory of test files below a root module: the one that is named, or `tests`.
pub fn test_directory(named: Option<&Path>) -> &Path {
    named.unwrap_or(Path::new(TEST_DIRECTORY))
}

/// The configuration files of a directory, with their texts; empty if the directory does not exist.
pub fn sources(root: &Path, dialect: Dialect) -> Result<Vec<SourceFile>, TreeError> {
    let failed = |error: std::io::Error| unreadable(root.to_owned(), &error);
    let files = list(root, dialect).map_err(failed)?;
    let names = match files.kind {
        Some(RootKind::Stack) => files.of_kind,
        _ => files.primary.into_iter().chain(files.overrides).collect(),
    };
    texts(root, Path::new(""), &names).map_err(|error| *error)
}

/// The list of installed modules of a root module; empty if there is none.
pub fn installed_modules(root: &Path, data_dir: &Path) -> Result<Manifest, TreeError> {
    manifest(root, Some(data_dir)).map_err(|error| *error)
}

/// Reads the configuration of a root module of any kind, and all modules below it. Equal root modules without further
/// modules have one tree.
pub fn load_tree(root: &Path, options: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
    let files = list(root, options.dialect).map_err(|error| vec![unreadable(root.to_owned(), &error)])?;
    match files.kind {
        Some(RootKind::Unit) => unit::load(root, &files, options),
        Some(RootKind::Stack) => walk::stack::load(root, files, options),
        _ => walk::load(root, files, options),
    }
}

/// The kind of the root module in a directory, by the names of its files; `None` without configuration.
pub fn kind_of(root: &Path, dialect: Dialect) -> Option<RootKind> {
    list(root, dialect).ok()?.kind
}

/// True if a directory has configuration of either tool.
pub fn has_configuration(root: &Path) -> bool {
    [Dialect::Terraform, Dialect::OpenTofu].into_iter().any(|dialect| kind_of(root, dialect).is_some())
}

fn list(dir: &Path, dialect: Dialect) -> io::Result<ConfigFiles> {
    let counts = |shown: String| ConfigFiles::select([shown], dialect) != ConfigFiles::default();
    Ok(ConfigFiles::select(file_names(dir, counts)?, dialect))
}

/// The test files of a root module: next to its configuration, then those in the directory of tests.
fn test_files(root: &Path, own: &[String], options: &TreeOptions) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = own.iter().map(PathBuf::from).collect();
    let directory = lexical(Path::new(""), options.test_directory());
    if directory == Path::new("") {
        return Ok(files);
    }
    let select = |names: Vec<String>| ConfigFiles::select_tests(names, options.dialect);
    match file_names(&root.join(&directory), |shown| !select(vec![shown]).is_empty()) {
        Ok(names) => files.extend(select(names).into_iter().map(|name| directory.join(name))),
        Err(error) if is_absence(error.kind()) => {}
        Err(error) => return Err(error),
    }
    Ok(files)
}

/// The names of the files in a directory. One that is not Unicode is an error if it `counts` as it can be shown.
fn file_names(dir: &Path, counts: impl Fn(String) -> bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(links::resolve(dir)?)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        // A broken link stays in, to fail when it is read.
        let is_dir = kind.is_dir() || (kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|meta| meta.is_dir()));
        if is_dir {
            continue;
        }
        match entry.file_name().into_string() {
            Ok(name) => names.push(name),
            // By its name as it can be shown, another file would be read.
            Err(name) if counts(name.to_string_lossy().into_owned()) => {
                return Err(io::Error::other(FileRefusal::Name));
            }
            Err(_) => {}
        }
    }
    Ok(names)
}

/// True if a directory has configuration, and only `OpenTofu` reads it: to Terraform the directory is empty.
pub fn is_only_for_tofu(dir: &Path) -> bool {
    // Few directories have such files; to list each one for both tools takes three times as long.
    let is_of_tofu = |entry: io::Result<fs::DirEntry>| {
        let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
        [&b".tofu"[..], b".tofu.json"].iter().any(|end| name.as_encoded_bytes().ends_with(end))
    };
    if !fs::read_dir(dir).is_ok_and(|mut entries| entries.any(is_of_tofu)) {
        return false;
    }
    let of_tofu = list(dir, Dialect::OpenTofu).unwrap_or_default();
    of_tofu.differs_by_tool
        && of_tofu.kind.is_some()
        && list(dir, Dialect::Terraform).is_ok_and(|of_terraform| of_terraform.kind.is_none())
}

fn texts(root: &Path, dir: &Path, names: &[String]) -> Result<Vec<SourceFile>, Box<TreeError>> {
    names.iter().map(|name| text(root, dir.join(name))).collect()
}

fn text(root: &Path, path: PathBuf) -> Result<SourceFile, Box<TreeError>> {
    match files::read(&root.join(&path)) {
        Ok(Some(bytes)) => {
            let text =
                String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            Ok(SourceFile { path, text })
        }
        Ok(None) => Err(Box::new(TreeError::Read { path, kind: io::ErrorKind::NotFound })),
        Err(error) => Err(Box::new(unreadable(path, &error))),
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> TreeError {
    match FileRefusal::of(error) {
        Some(reason) => TreeError::Refused { path, reason },
        None => TreeError::Read { path, kind: error.kind() },
    }
}

fn manifest(root: &Path, data_dir: Option<&Path>) -> Result<Manifest, Box<TreeError>> {
    let path = data_dir.unwrap_or(Path::new(".terraform")).join("modules/modules.json");
    match text(root, path) {
        Ok(file) => {
            Manifest::decode(&file.text).map_err(|reason| Box::new(TreeError::Manifest { path: file.path, reason }))
        }
        Err(error) if error.is_absence() => Ok(Manifest::default()),
        Err(error) => Err(error),
    }
}

/// The submodule of git in which a directory from a root module would be, by the list at the top of the working tree.
fn submodule_of(root: &Path, dir: &Path) -> Option<String> {
    let top = worktree::absolute(&worktree::boundary(root));
    let list = files::read(&top.join(".gitmodules")).ok().flatten()?;
    let place = lexical(&worktree::absolute(root), dir);
    let within = place.strip_prefix(&top).ok()?;
    let list = String::from_utf8_lossy(&list);
    let mut paths = list.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
    paths.find(|path| within.starts_with(path.trim())).map(|path| path.trim().to_owned())
}

/// A path relative to another, by their text: without `.` and inner `..`.
pub fn join(base: &Path, path: &str) -> PathBuf {
    lexical(base, Path::new(path))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadModuleLock {
    pub text: String,
    pub file: ModuleLockFile,
}

impl ReadModuleLock {
    /// Reads a text; `shown` is its file as reports name it.
    pub fn decode(bytes: Vec<u8>, shown: &Path) -> Result<Self, Error> {
        let wrong = |message: &str| Error::new(ErrorKind::LockFile, message).in_file(shown);
        let text = String::from_utf8(bytes).map_err(|_| wrong("the module lock file is not UTF-8 text"))?;
        match modulelock::decode(&text, shown).map_err(Error::all) {
            Ok(file) => Ok(Self { text, file }),
            Err(error) => Err(error.unwrap_or_else(|| wrong("the module lock file cannot be read"))),
        }
    }
}

impl Tree {
    /// What both trees of a unit require, and what is not known of either.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        let Self {
            // Files decide these, whatever the environment is.
            kind: _,
            module_lock: _,
            // Only `lock` uses it, which knows one environment.
            lock_of_module: _,
            requirements,
            complete,
            missing,
            unread_parts,
            holes,
            notes,
            undeclared,
            built_in,
            local_modules,
            remote_modules,
            computed_host,
            local_calls,
            warnings,
            files_read,
            texts_read,
            looked_for,
            listed,
            searched,
            unit,
            needs_no_variables,
            differs_by_tool,
        } = other;
        self.requirements.add_all(requirements);
        self.undeclared.add_all(undeclared);
        self.complete &= complete;
        self.needs_no_variables &= needs_no_variables;
        self.differs_by_tool |= differs_by_tool;
        add_new(&mut self.missing, missing);
        add_new(&mut self.unread_parts, unread_parts);
        add_new(&mut self.holes, holes);
        add_new(&mut self.notes, notes);
        add_new(&mut self.remote_modules, remote_modules);
        add_new(&mut self.local_calls, local_calls);
        add_new(&mut self.files_read, files_read);
        add_new(&mut self.texts_read, texts_read);
        add_new(&mut self.looked_for, looked_for);
        add_new(&mut self.listed, listed);
        add_new(&mut self.warnings, warnings);
        self.local_modules.extend(local_modules.iter().cloned());
        self.searched.extend(searched.iter().cloned());
        self.built_in.extend(built_in.iter().cloned());
        self.computed_host = self.computed_host.or_else(|| computed_host.clone());
        if let (Some(own), Some(other)) = (&mut self.unit, unit) {
            own.add(other);
        }
        self
    }

    /// What is known of a root module whose configuration cannot be read: its kind, and which modules are locked.
    pub fn of_modules_alone(root: &Path, dialect: Dialect) -> Self {
        let kind = kind_of(root, dialect).unwrap_or_default();
        Self { kind, complete: false, module_lock: read(root).ok().flatten().map(Arc::new), ..Self::default() }
    }
}

/// What is known of a root module whose configuration cannot be read. Of a unit: its files, and where its module is.
pub fn tree_of_unread(root: &Path, dialect: Dialect, units: &UnitOptions) -> Tree {
    let mut tree = Tree::of_modules_alone(root, dialect);
    if tree.kind == RootKind::Unit {
        unit::add_paths(&mut tree, root, units);
    }
    tree
}

fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, others: &[T]) {
    let new: Vec<T> = others.iter().filter(|other| !all.contains(other)).cloned().collect();
    all.extend(new);
}

fn read(root: &Path) -> Result<Option<ReadModuleLock>, Box<TreeError>> {
    let path = PathBuf::from(FILE_NAME);
    match files::read(&root.join(&path)) {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => {
            let read = ReadModuleLock::decode(bytes, &path);
            read.map(Some).map_err(|error| Box::new(TreeError::ModuleLock(Box::new(error))))
        }
        Err(error) => Err(Box::new(unreadable(path, &error))),
    }
}

#[cfg(test)]
mod peer_tests;

#[cfg(test)]
mod tests;

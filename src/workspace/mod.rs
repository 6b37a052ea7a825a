//! Root modules: their paths, and flags, environment, settings files and clues, combined into one value for each of them.

pub mod discover;
pub mod ignored;
pub mod requiring;
mod root;
mod run_settings;
pub mod tools;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::Hostname;
use crate::config::is_of_tofu;
use crate::dialect::Dialect;
use crate::disk::cache::exchange;
use crate::disk::files;
use crate::disk::root_files::{self, settings_texts};
use crate::disk::roots::{self, ModuleAccess, UnitOptions};
use crate::error::{Error, ErrorKind};
use crate::git::Git;
use crate::lockfile::{self, LockName};
use crate::path::worktree::{self, Top, WorkTree};
use crate::path::{canonical, links, shown};
use crate::redact;
use crate::settings::{self, Settings, SourceChoice, Variables};

pub use discover::{Exclusions, NamedProviders, ProviderNames, directory};
pub use root::{Reading, Root, absent, git_in, refused};
pub use run_settings::{Readings, RootSource, RunSettings, TrustPlace, unit_options};

/// The settings of each named root module.
pub fn named_roots(scope: &Scope) -> Result<Vec<RunSettings>, Error> {
    let (mut roots, mut errors, mut places) = (Vec::new(), Vec::new(), BTreeSet::new());
    for directory in scope.directories() {
        match of_root(&directory, LockName::default(), scope) {
            // A root module that is named twice is processed once.
            Ok(root) => roots.extend(places.insert(worktree::absolute(&root.root)).then_some(root)),
            Err(error) => errors.push(error),
        }
    }
    Error::all(errors).map_or(Ok(roots), Err)
}

/// The tool that all root modules share, if any.
pub fn one_dialect(roots: &[RunSettings]) -> Option<Dialect> {
    let first = roots.first()?.dialect;
    roots.iter().all(|root| root.dialect == first).then_some(first)
}

/// The settings of a root module from a search: the path to open, and the path for reports.
pub fn root_settings(root: &Path, shown: &Path, scope: &Scope) -> Result<RunSettings, Error> {
    settings_of_lock(root, LockName::default(), shown, scope)
}

/// The same for a lock file of a directory.
pub fn settings_of_lock(root: &Path, lock: LockName, shown: &Path, scope: &Scope) -> Result<RunSettings, Error> {
    let settings = of_root(root, lock, scope)?;
    Ok(RunSettings { path: shown.to_owned(), ..settings })
}

/// The names of the lock files of Atmos instances in a directory, in order.
pub fn instance_names(directory: &Path) -> Vec<LockName> {
    let names = files::names_in(directory);
    let mut names: Vec<LockName> = names.iter().filter_map(|name| LockName::of_instance(name)).collect();
    names.sort_unstable();
    names
}

/// The lock files of Atmos instances in the directory of a root module.
pub fn instances_beside(root: &RunSettings, scope: &Scope) -> Result<Vec<RunSettings>, Error> {
    let names = instance_names(&root.root).into_iter();
    names.map(|name| settings_of_lock(&root.root, name, &root.path, scope)).collect()
}

/// Replaces the settings of a root module by settings from outside the working tree. If they name no tool, it is the
/// only tool that reads the configuration, else the tool of the earlier lock file, if there was one.
pub fn with_base_settings(
    root: RunSettings,
    settings: Settings,
    before: Option<Dialect>,
    scope: &Scope,
    known_hosts: Arc<BTreeSet<Hostname>>,
) -> RunSettings {
    let units = unit_options(&settings, &root.modules, &root.readings);
    let clues = || dialect_by_clues(&root.root, &lock_text(&root.lock_file()), &units, &root.variables);
    let by_files = || only_dialect(&root.root);
    let dialect = stated(&settings, scope).or_else(by_files).or(before).unwrap_or_else(clues);
    let own = root.settings.unit_environment;
    let other_environment = Some(own).filter(|own| *own != settings.unit_environment);
    let modules = ModuleAccess { is_guarded: true, other_environment, known_hosts, ..root.modules };
    RunSettings { dialect, settings: settings.stated_in(&root.boundary), modules, ..root }
}

/// The existing directory that a misspelt one probably means.
fn near(directory: &Path) -> Option<String> {
    let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = directory.file_name()?.to_str()?;
    let around = parent.unwrap_or(Path::new("."));
    let names = files::names_in(around).into_iter().filter(|other| around.join(other).is_dir());
    let distance = |other: &String| strsim::osa_distance(other, name);
    let near = names.filter(|other| distance(other) <= name.len().div_ceil(3)).min_by_key(distance)?;
    let near = parent.map_or_else(|| PathBuf::from(&near), |parent| parent.join(&near));
    Some(format!("did you mean {}?", shown(&near)))
}

/// A directory to work in, never empty.
pub fn existing_directory(path: &Path) -> Result<PathBuf, Error> {
    let root = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    if root.is_dir() {
        links::resolve(&root).map_err(|reason| {
            let message = format!("cannot work in {}: {reason}", shown(&root));
            Error::new(ErrorKind::Disk, message).hint("name the directory that it is in")
        })?;
        return Ok(root);
    }
    let message = format!("cannot work in {}: it is not a directory", shown(&root));
    Err(Error::new(ErrorKind::Disk, message).hints(near(&root)))
}

fn of_root(directory: &Path, lock_name: LockName, scope: &Scope) -> Result<RunSettings, Error> {
    // `./a/` and `a` are one root module.
    let path: PathBuf = directory.components().filter(|part| *part != Component::CurDir).collect();
    let root = existing_directory(&path)?;
    // Relative to the top, since annotations name files of the repository.
    let place = WorkTree::of(&root);
    let path = place.way().map_or(path, Path::to_owned);
    let environment = &scope.environment;
    let settings = settings_files(&place, &environment.directory)?;
    let mut indexes = settings.indexes.values();
    if let Some(index) = indexes.find(|it| exchange::is_index_within(&it.place, &worktree::trees(&place.directory))) {
        let message = format!("the index {:?} is inside the working tree, so a change could forge it", index.name);
        return Err(Error::new(ErrorKind::Settings, message).hint("move it out of the working tree"));
    }
    let units = unit_options(&settings, &scope.modules, &scope.readings);
    let by_files = || dialect_by_files(&root, &lock_text(&root.join(lock_name.as_str())), &units);
    let known = stated(&settings, scope).or_else(by_files);
    let by_configuration = || of_cli_config(&environment.variables);
    let dialect = known.or_else(by_configuration).unwrap_or(Dialect::Terraform);
    Ok(RunSettings {
        boundary: place.boundary().to_owned(),
        trust: trust_place(&place, scope.trust_file.as_deref(), environment)?,
        root,
        place: place.directory,
        path,
        lock_name,
        dialect,
        is_tool_guessed: known.is_none(),
        settings,
        source: scope.source.clone(),
        offline: scope.offline,
        cache: !scope.no_cache,
        modules: scope.modules.clone(),
        variables: environment.variables.clone(),
        now: environment.now,
        readings: scope.readings.clone(),
    })
}

/// The named trust file, else the one at the top of the working tree.
fn trust_place(root: &WorkTree, named: Option<&Path>, environment: &Environment) -> Result<TrustPlace, Error> {
    if let Some(named) = named {
        return Ok(TrustPlace { path: named.to_owned(), shown: named.to_owned() });
    }
    let path = root_files::locate_trust_file(root)?;
    Ok(TrustPlace { shown: from_top(root, &path, &environment.directory), path })
}

/// A file as reports name it: from the top of the working tree, outside of git from the directory of the process.
fn from_top(root: &WorkTree, path: &Path, directory: &Path) -> PathBuf {
    let within = root.top.as_ref().and_then(|top| path.strip_prefix(top).ok().map(Path::to_owned));
    within.unwrap_or_else(|| shown_from(directory, path))
}

/// A file relative to a directory, if it is below it or in a directory above it; otherwise unchanged.
pub fn shown_from(directory: &Path, path: &Path) -> PathBuf {
    let directory = canonical(directory).unwrap_or_else(|_| directory.to_owned());
    let shown = path.strip_prefix(&directory).map(Path::to_owned).ok().or_else(|| {
        let up = directory.strip_prefix(path.parent()?).ok()?.components().count();
        Some(std::iter::repeat_n(Path::new(".."), up).collect::<PathBuf>().join(path.file_name()?))
    });
    shown.unwrap_or_else(|| path.to_owned())
}

/// The tool for a text that replaces the lock file of a directory.
pub fn dialect_of_text(directory: &Path, text: &[u8], scope: &Scope) -> Result<Dialect, Error> {
    let settings = settings_files(&WorkTree::of(directory), &scope.environment.directory)?;
    let units = unit_options(&settings, &scope.modules, &scope.readings);
    let clues = || dialect_by_clues(directory, text, &units, &scope.environment.variables);
    Ok(stated(&settings, scope).unwrap_or_else(clues))
}

/// The tool of the flag, else of the settings.
fn stated(settings: &Settings, scope: &Scope) -> Option<Dialect> {
    scope.tool.map_or_else(|| settings.dialect(), ToolSelection::dialect)
}

/// The settings of a directory in the working tree. Unreadable ones say nothing here, and are an error where a root module is
/// opened.
pub fn settings_at(directory: &Path) -> Settings {
    own_settings(directory).unwrap_or_default()
}

/// The settings of a directory in the working tree.
pub fn own_settings(directory: &Path) -> Result<Settings, Error> {
    settings_files(&WorkTree::of(directory), directory)
}

/// All `.tflock.hcl` of a root module, inner ones over outer ones; `from` is the directory of the process.
fn settings_files(root: &WorkTree, from: &Path) -> Result<Settings, Error> {
    let (mut settings, mut errors) = (Settings::default(), Vec::new());
    for file in settings_texts(root)?.into_iter().rev() {
        let shown = from_top(root, &file.path, from);
        match settings::decode(&file.text, &shown) {
            Ok(nested) => {
                let folder = file.path.parent().unwrap_or(Path::new(""));
                settings = nested.stated_in(folder).over(settings).bounded(&shown)?;
            }
            Err(wrong) => errors.extend(wrong),
        }
    }
    Error::all(errors).map_or(Ok(settings), Err)
}

/// The global options and the environment.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The named directories, in order; empty for the directory of the process.
    pub named: Vec<PathBuf>,
    /// The named tool, which overrides settings files.
    pub tool: Option<ToolSelection>,
    /// The named trust file, instead of the one at the top of the working tree.
    pub trust_file: Option<PathBuf>,
    /// The named source of packages, which overrides settings files.
    pub source: Option<SourceChoice>,
    pub offline: bool,
    /// True if the index of known hashes is neither read nor written.
    pub no_cache: bool,
    /// Access to modules that are not local.
    pub modules: ModuleAccess,
    pub environment: Environment,
    /// The parsed files of the run.
    pub readings: Readings,
}

/// The values of `--tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSelection {
    /// Detect the tool from files, ignoring settings files.
    Auto,
    Named(Dialect),
}

impl ToolSelection {
    /// The tool; `None` if it is to be detected.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Auto => None,
            Self::Named(dialect) => Some(dialect),
        }
    }
}

impl Scope {
    /// A scope without network and cache, for quick answers.
    pub fn offline(environment: Environment, named: Vec<PathBuf>) -> Self {
        Self {
            named,
            tool: None,
            trust_file: None,
            source: None,
            offline: true,
            no_cache: true,
            modules: ModuleAccess::default(),
            environment,
            readings: Readings::default(),
        }
    }

    /// The named directories, else the directory of the process, which is empty.
    pub fn directories(&self) -> Vec<PathBuf> {
        if self.named.is_empty() { vec![PathBuf::new()] } else { self.named.clone() }
    }

    pub fn many(&self) -> bool {
        self.named.len() > 1
    }

    /// The base of paths for root modules in a search: the top of the working tree, or outside of git the directory
    /// itself. The flag is true inside a working tree.
    pub fn top(&self) -> (Top, bool) {
        let start = self.directories().into_iter().next().unwrap_or_default();
        let (from, to) = (WorkTree::of(&self.environment.directory), WorkTree::of(&start));
        let in_work_tree = to.top.is_some();
        let to = to.top.unwrap_or(to.directory);
        let common = from.directory.ancestors().find(|above| to.starts_with(above)).unwrap_or(Path::new("/"));
        let here = from.directory.strip_prefix(common).unwrap_or(Path::new(""));
        let below = to.strip_prefix(common).unwrap_or(&to);
        let up = std::iter::repeat_n(Path::new(".."), here.components().count()).chain([below]).collect();
        // At the top there is no way down.
        let down = if below.as_os_str().is_empty() { here.to_owned() } else { PathBuf::new() };
        (Top { up, down }, in_work_tree)
    }

    /// The repository of the first directory, for a page that is looked at later: by the address of its origin without secrets, else
    /// by the name of its directory.
    pub fn repository(&self) -> Repository {
        let start = worktree::absolute(&self.directories().into_iter().next().unwrap_or_default());
        let git = Git::open(&start).ok();
        let origin = git.as_ref().and_then(|git| git.config("remote.origin.url").ok().flatten());
        let top = git.as_ref().map_or(&*start, Git::top);
        let directory = || top.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let commit = git.as_ref().and_then(|git| git.commit("HEAD").ok().flatten()).map(|commit| commit.id);
        Repository { name: origin.map_or_else(directory, |url| redact::module_source(&url)), commit }
    }

    pub fn dialect(&self) -> Option<Dialect> {
        self.tool.and_then(ToolSelection::dialect)
    }
}

/// What a page says about where its facts are from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    pub name: String,
    /// The object name of the commit that is checked out.
    pub commit: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Environment {
    pub variables: Variables,
    pub directory: PathBuf,
    /// The time of the run, for all checks that depend on time.
    pub now: SystemTime,
}

/// The tool by the first clear clue: configuration that only one tool reads; header of the lock file, else its hosts;
/// `.tofu` files; CLI configuration of only one tool. Without a clue, Terraform.
fn dialect_by_clues(root: &Path, lock: &[u8], units: &UnitOptions, variables: &Variables) -> Dialect {
    dialect_by_files(root, lock, units).or_else(|| of_cli_config(variables)).unwrap_or(Dialect::Terraform)
}

/// The tool that settings or files name for a lock file that is not there yet.
pub fn tool_of_new(directory: &Path, modules: &ModuleAccess) -> Option<Dialect> {
    let settings = settings_at(directory);
    let by_files = || dialect_by_files(directory, &[], &unit_options(&settings, modules, &Readings::default()));
    settings.dialect().or_else(by_files)
}

/// The tool by the first clear clue in the working tree.
fn dialect_by_files(root: &Path, lock: &[u8], units: &UnitOptions) -> Option<Dialect> {
    let by_files = || has_tofu_files(root).then_some(Dialect::OpenTofu);
    let by_lock = || lockfile::detect_dialect(lock);
    only_dialect(root).or_else(by_lock).or_else(by_files).or_else(|| tools::of_unit(root, units))
}

/// The only tool that reads the configuration of a directory: to the other one, it is empty.
fn only_dialect(root: &Path) -> Option<Dialect> {
    roots::is_only_for_tofu(root).then_some(Dialect::OpenTofu)
}

/// The tool with CLI configuration, if only one has it.
fn of_cli_config(variables: &Variables) -> Option<Dialect> {
    let (terraform, tofu) = cli_configs(variables);
    let [terraform, tofu] = [terraform, tofu].map(|files| files.iter().any(|file| file.exists()));
    match (terraform, tofu) {
        (true, false) => Some(Dialect::Terraform),
        (false, true) => Some(Dialect::OpenTofu),
        _ => None,
    }
}

fn has_tofu_files(root: &Path) -> bool {
    files::names_in(root).iter().any(|name| is_of_tofu(name))
}

/// The paths of the main CLI configuration files: Terraform's, and those that only OpenTofu reads. Source:
/// `internal/command/cliconfig/config_unix.go` and `config_windows.go` of both tools.
fn cli_configs(variables: &Variables) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if cfg!(windows) {
        let Some(data) = variables.get("APPDATA").map(PathBuf::from) else { return Default::default() };
        return (vec![data.join("terraform.rc")], vec![data.join("tofu.rc")]);
    }
    let home = variables.get("HOME").map(PathBuf::from).or_else(std::env::home_dir);
    let in_home = |name: &str| home.iter().map(|home| home.join(name)).collect::<Vec<_>>();
    let xdg = variables.get("XDG_CONFIG_HOME").map(|dir| Path::new(dir).join("opentofu/tofurc"));
    (in_home(".terraformrc"), in_home(".tofurc").into_iter().chain(xdg).collect())
}

/// The text of a lock file. An unreadable one is no clue; the error is reported when the file is used.
fn lock_text(file: &Path) -> Vec<u8> {
    root_files::read_lock_file(file).ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod clues_tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes files")]
    fn clues_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home"));
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let xdg = folder.path().join("xdg");
        let set = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", xdg.to_str().unwrap())];
        let lock = || lock_text(&root.join(lockfile::FILE_NAME));
        let dialect = || dialect_by_clues(&root, &lock(), &UnitOptions::default(), &Variables::from_iter(set));
        write(root.join("main.tofu"), "");
        write(root.join(lockfile::FILE_NAME), "provider \"registry.terraform.io/a/b\" {\n}\n");
        assert_eq!(dialect(), Dialect::OpenTofu);
        for name in ["main.tofu", lockfile::FILE_NAME] {
            std::fs::remove_file(root.join(name)).unwrap();
        }
        write(root.join("main.tf"), "");
        assert_eq!(dialect(), Dialect::Terraform);
        if cfg!(unix) {
            write(xdg.join("opentofu/tofurc"), "");
            assert_eq!(dialect(), Dialect::OpenTofu);
            write(home.join(".terraformrc"), "");
        }
        assert_eq!(dialect(), Dialect::Terraform);
        write(root.join("more.tofu.json"), "{}");
        assert_eq!(dialect(), Dialect::OpenTofu);
        write(root.join(lockfile::FILE_NAME), "provider \"registry.terraform.io/a/b\" {\n}\n");
        assert_eq!(dialect(), Dialect::Terraform);
    }
}

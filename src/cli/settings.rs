//! Flags, settings files and clues become one value for each root module.

use std::path::{Component, Path, PathBuf};

use super::Environment;
use super::args::{Arguments, Tool};
use crate::commands::RunSettings;
use crate::commands::memory::TrustPlace;
use crate::dialect::Dialect;
use crate::disk::{trust_file, worktree};
use crate::error::{Error, ErrorKind};
use crate::lockfile;
use crate::settings::{self, Settings, Variables};

/// Settings for each of some root modules.
///
/// # Errors
///
/// All that is wrong with directories and settings files, as one error.
pub(super) fn of_directories(
    directories: &[PathBuf],
    arguments: &Arguments,
    environment: &Environment,
) -> Result<Vec<RunSettings>, Error> {
    let (mut roots, mut errors) = (Vec::new(), Vec::new());
    for directory in directories {
        match of_root(directory, arguments, environment) {
            Ok(root) => roots.push(root),
            Err(error) => errors.push(error),
        }
    }
    Error::all(errors).map_or(Ok(roots), Err)
}

/// The tool of all root modules, if there is one.
pub(super) fn one_dialect(roots: &[RunSettings]) -> Option<Dialect> {
    let first = roots.first()?.dialect;
    roots.iter().all(|root| root.dialect == first).then_some(first)
}

/// Settings for a root module that was found: where to open it, and how reports name it.
///
/// # Errors
///
/// All that is wrong with its settings files.
pub(super) fn of_found(
    root: &Path,
    shown: &Path,
    arguments: &Arguments,
    environment: &Environment,
) -> Result<RunSettings, Error> {
    let settings = of_root(root, arguments, environment)?;
    Ok(RunSettings { path: shown.to_owned(), ..settings })
}

/// The same root module under settings that do not stand in the work tree.
pub(super) fn under(root: RunSettings, settings: Settings, arguments: &Arguments) -> RunSettings {
    let clues = || Clues::gather(&root.root, &lock_text(&root.root), &root.variables).dialect();
    let dialect = stated(&settings, arguments).unwrap_or_else(clues);
    RunSettings { dialect, settings, ..root }
}

fn of_root(directory: &Path, arguments: &Arguments, environment: &Environment) -> Result<RunSettings, Error> {
    // `./a/` and `a` are one root module.
    let path: PathBuf = directory.components().filter(|part| *part != Component::CurDir).collect();
    let root = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.clone() };
    if !root.is_dir() {
        let message = format!("cannot work in {}: it is not a directory", root.display());
        return Err(Error::new(ErrorKind::Disk, message));
    }
    // Reports are read far from where the command ran, as annotations of files in a repository.
    let path = worktree::place(&root).unwrap_or(path);
    let settings = settings_files(&root, environment)?;
    let global = &arguments.global;
    let dialect = stated(&settings, arguments)
        .unwrap_or_else(|| Clues::gather(&root, &lock_text(&root), &environment.variables).dialect());
    Ok(RunSettings {
        boundary: worktree::boundary(&root),
        trust: trust_place(&root, global.trust_file.as_deref(), environment)?,
        root,
        path,
        dialect,
        settings,
        offline: global.offline,
        cache: !global.no_cache,
        variables: environment.variables.clone(),
        now: environment.now,
    })
}

/// The trust file: the one that was named, else the one at the top of the work tree.
fn trust_place(root: &Path, named: Option<&Path>, environment: &Environment) -> Result<TrustPlace, Error> {
    if let Some(named) = named {
        return Ok(TrustPlace { path: named.to_owned(), shown: named.to_owned() });
    }
    let path = trust_file::locate(root)?;
    Ok(TrustPlace { shown: shown(root, &path, environment), path })
}

/// A file as reports name it: from the top of the work tree, outside of git from the directory of the process.
fn shown(root: &Path, path: &Path, environment: &Environment) -> PathBuf {
    let within =
        worktree::place(root).and_then(|_| path.strip_prefix(worktree::boundary(root)).ok().map(Path::to_owned));
    within.unwrap_or_else(|| shown_from(&environment.directory, path))
}

/// A file as it is named from a directory: below it, or on the way up from it; else as it is.
pub(super) fn shown_from(directory: &Path, path: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let shown = path.strip_prefix(&directory).map(Path::to_owned).ok().or_else(|| {
        let up = directory.strip_prefix(path.parent()?).ok()?.components().count();
        Some(std::iter::repeat_n(Path::new(".."), up).collect::<PathBuf>().join(path.file_name()?))
    });
    shown.unwrap_or_else(|| path.to_owned())
}

/// The tool for a text that is to be taken for the lock file of a directory.
///
/// # Errors
///
/// All that is wrong with the settings files of the directory.
pub(super) fn dialect_of_text(
    directory: &Path,
    text: &[u8],
    arguments: &Arguments,
    environment: &Environment,
) -> Result<Dialect, Error> {
    let settings = settings_files(directory, environment)?;
    Ok(stated(&settings, arguments).unwrap_or_else(|| Clues::gather(directory, text, &environment.variables).dialect()))
}

/// The tool that somebody named: flag, else settings.
fn stated(settings: &Settings, arguments: &Arguments) -> Option<Dialect> {
    arguments.global.tool.map_or_else(|| settings.dialect(), Tool::dialect)
}

/// The text of the lock file. If it cannot be read, it is no clue; whoever needs it will tell.
fn lock_text(root: &Path) -> Vec<u8> {
    std::fs::read(root.join(lockfile::FILE_NAME)).unwrap_or_default()
}

/// All `.tflock.hcl` of a root module, nested ones over those around them.
fn settings_files(root: &Path, environment: &Environment) -> Result<Settings, Error> {
    let (mut settings, mut errors) = (Settings::default(), Vec::new());
    for file in worktree::settings_texts(root)?.into_iter().rev() {
        match settings::decode(&file.text, &shown(root, &file.path, environment)) {
            Ok(nested) => settings = nested.over(settings),
            Err(wrong) => errors.extend(wrong.into_iter().map(Error::from)),
        }
    }
    Error::all(errors).map_or(Ok(settings), Err)
}

/// What tells which tool a root module is for.
#[derive(Debug, Clone, Copy, Default)]
struct Clues {
    /// The tool whose lock file it is, by header, else by hosts.
    lock_file: Option<Dialect>,
    /// True if there are `.tofu` files.
    tofu_files: bool,
    /// True if there is CLI configuration of Terraform.
    terraform_config: bool,
    /// True if there is CLI configuration that only OpenTofu reads.
    tofu_config: bool,
}

impl Clues {
    /// Looks around.
    fn gather(root: &Path, lock: &[u8], variables: &Variables) -> Self {
        let (terraform, tofu) = cli_configs(variables);
        Self {
            lock_file: lockfile::detect_dialect(lock),
            tofu_files: has_tofu_files(root),
            terraform_config: terraform.iter().any(|file| file.exists()),
            tofu_config: tofu.iter().any(|file| file.exists()),
        }
    }

    /// The tool, by the first clue that is clear; Terraform if none is.
    fn dialect(self) -> Dialect {
        let config = match (self.tofu_config, self.terraform_config) {
            (true, false) => Some(Dialect::OpenTofu),
            (false, true) => Some(Dialect::Terraform),
            _ => None,
        };
        let files = self.tofu_files.then_some(Dialect::OpenTofu);
        self.lock_file.or(files).or(config).unwrap_or(Dialect::Terraform)
    }
}

fn has_tofu_files(root: &Path) -> bool {
    #[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the tool compares so")]
    let is_tofu = |name: &str| name.ends_with(".tofu") || name.ends_with(".tofu.json");
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(is_tofu))
}

/// Where the main files of CLI configuration lie: Terraform's, and those that only OpenTofu reads.
///
/// Source: `internal/command/cliconfig/config_unix.go` and `config_windows.go` of both tools.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clear_clue_counts() {
        use Dialect::{OpenTofu, Terraform};
        let none = Clues::default();
        assert_eq!(none.dialect(), Terraform);
        let config = Clues { tofu_config: true, ..none };
        assert_eq!(config.dialect(), OpenTofu);
        assert_eq!(Clues { terraform_config: true, ..config }.dialect(), Terraform);
        let files = Clues { tofu_files: true, terraform_config: true, ..none };
        assert_eq!(files.dialect(), OpenTofu);
        assert_eq!(Clues { lock_file: Some(Terraform), ..files }.dialect(), Terraform);
    }

    #[test]
    fn clues_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home"));
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let xdg = folder.path().join("xdg");
        let set = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", xdg.to_str().unwrap())];
        let dialect = || Clues::gather(&root, &lock_text(&root), &Variables::from_iter(set)).dialect();
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

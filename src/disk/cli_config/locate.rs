//! Which files are the CLI configuration.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::settings::Variables;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locations {
    /// The main file, which need not exist.
    pub main: Option<PathBuf>,
    pub overridden: bool,
    pub config_dir: Option<PathBuf>,
    pub data_dirs: Vec<PathBuf>,
    /// The system's directories of plugins, which are mirrors where nothing else is configured.
    pub system_plugins: Vec<PathBuf>,
}

/// What the rules depend on.
pub(super) struct System<'a> {
    pub(super) windows: bool,
    pub(super) macos: bool,
    /// The home directory in the account database, for when `HOME` is not set.
    pub(super) account_home: Option<PathBuf>,
    pub(super) exists: &'a dyn Fn(&Path) -> bool,
}

impl<'a> System<'a> {
    pub(super) fn current(exists: &'a dyn Fn(&Path) -> bool) -> Self {
        Self { windows: cfg!(windows), macos: cfg!(target_os = "macos"), account_home: std::env::home_dir(), exists }
    }
}

impl Locations {
    /// Applies the rules of a tool.
    ///
    /// Source: `config_unix.go`, `config_windows.go` of both tools.
    pub(super) fn find(variables: &Variables, dialect: Dialect, system: &System) -> Self {
        let mut found =
            if system.windows { on_windows(variables, dialect, system) } else { on_unix(variables, dialect, system) };
        found.system_plugins = system_plugins(variables, system);
        let named = variables.get("TF_CLI_CONFIG_FILE").or_else(|| variables.get("TERRAFORM_CONFIG"));
        if let Some(file) = named {
            found.main = Some(PathBuf::from(file));
            found.overridden = true;
        }
        found
    }

    /// The files to read, in the order of merging. The main one may not exist.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, (PathBuf, std::io::Error)> {
        let mut files: Vec<PathBuf> = self.main.iter().cloned().collect();
        if let (false, Some(dir)) = (self.overridden, &self.config_dir) {
            files.extend(scan(dir).map_err(|error| (dir.clone(), error))?);
        }
        Ok(files)
    }
}

/// The `*.tfrc` and `*.tfrc.json` of a directory, sorted by name; empty if it does not exist.
fn scan(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A directory of such a name is skipped by the tools too.
        if (name.ends_with(".tfrc") || name.ends_with(".tfrc.json")) && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn on_windows(variables: &Variables, dialect: Dialect, system: &System) -> Locations {
    let Some(data) = variables.get("APPDATA").map(PathBuf::from) else { return Locations::default() };
    let (tofu, terraform) = (data.join("tofu.rc"), data.join("terraform.rc"));
    let main = match dialect {
        Dialect::OpenTofu if (system.exists)(&tofu) || !(system.exists)(&terraform) => tofu,
        Dialect::OpenTofu | Dialect::Terraform => terraform,
    };
    let dir = data.join("terraform.d");
    let data_dirs = vec![dir.clone()];
    Locations { main: Some(main), config_dir: Some(dir), data_dirs, ..Locations::default() }
}

fn on_unix(variables: &Variables, dialect: Dialect, system: &System) -> Locations {
    let home = variables.get("HOME").map(PathBuf::from).or_else(|| system.account_home.clone());
    let Some(home) = home else { return Locations::default() };
    let dotted = home.join(".terraform.d");
    let terraformrc = home.join(".terraformrc");
    if dialect == Dialect::Terraform {
        let data_dirs = vec![dotted.clone()];
        return Locations { main: Some(terraformrc), config_dir: Some(dotted), data_dirs, ..Locations::default() };
    }
    let xdg = |name| variables.get(name).map(|dir| Path::new(dir).join("opentofu"));
    let config_home = xdg("XDG_CONFIG_HOME");
    let tofurc = home.join(".tofurc");
    let main = match ((system.exists)(&tofurc), (system.exists)(&terraformrc)) {
        (true, _) => tofurc,
        (false, true) => terraformrc,
        (false, false) => config_home.as_ref().map_or(tofurc, |dir| dir.join("tofurc")),
    };
    let config_dir = config_home.filter(|_| !(system.exists)(&dotted)).unwrap_or_else(|| dotted.clone());
    let data_dirs = std::iter::once(dotted).chain(xdg("XDG_DATA_HOME")).collect();
    Locations { main: Some(main), config_dir: Some(config_dir), data_dirs, ..Locations::default() }
}

/// The directories that the system has for data of programs, and in each the one that the tools search.
///
/// Source: `implicitProviderSource` of both tools, `github.com/apparentlymart/go-userdirs`.
fn system_plugins(variables: &Variables, system: &System) -> Vec<PathBuf> {
    let home = || variables.get("HOME").map(PathBuf::from).or_else(|| system.account_home.clone());
    if system.windows {
        let folders = ["APPDATA", "LOCALAPPDATA", "PROGRAMDATA"].into_iter().filter_map(|name| variables.get(name));
        return folders.map(|folder| Path::new(folder).join("HashiCorp/Terraform/plugins")).collect();
    }
    if system.macos {
        let folders = home().into_iter().chain([PathBuf::from("/")]);
        return folders.map(|folder| folder.join("Library/Application Support/io.terraform/plugins")).collect();
    }
    let own = variables.get("XDG_DATA_HOME").map(PathBuf::from).or_else(|| Some(home()?.join(".local/share")));
    let shared = variables.get("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share").split(':').map(PathBuf::from);
    let folders = own.into_iter().chain(shared).filter(|folder| folder.has_root());
    folders.map(|folder| folder.join("terraform/plugins")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(dialect: Dialect, windows: bool, variables: &[(&str, &str)], existing: &[&str]) -> Locations {
        let exists = |path: &Path| existing.iter().any(|there| Path::new(there) == path);
        let system = System { windows, macos: false, account_home: Some("/account".into()), exists: &exists };
        Locations::find(&variables.iter().copied().collect::<Variables>(), dialect, &system)
    }

    fn main_and_dir(locations: &Locations) -> (&'static str, &'static str) {
        let text = |path: &Option<PathBuf>| &*crate::path::shown(path.as_ref().unwrap()).leak();
        (text(&locations.main), text(&locations.config_dir))
    }

    #[test]
    fn terraform_on_unix() {
        let found = find(Dialect::Terraform, false, &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x")], &[]);
        assert_eq!(main_and_dir(&found), ("/h/.terraformrc", "/h/.terraform.d"));
        let found = find(Dialect::Terraform, false, &[("HOME", "")], &[]);
        assert_eq!(main_and_dir(&found).0, "/account/.terraformrc");
    }

    #[test]
    fn tofu_on_unix() {
        let tofu = |variables: &[_], existing: &[&str]| find(Dialect::OpenTofu, false, variables, existing);
        let plain = [("HOME", "/h")];
        assert_eq!(main_and_dir(&tofu(&plain, &[])), ("/h/.tofurc", "/h/.terraform.d"));
        assert_eq!(main_and_dir(&tofu(&plain, &["/h/.terraformrc"])).0, "/h/.terraformrc");
        assert_eq!(main_and_dir(&tofu(&plain, &["/h/.terraformrc", "/h/.tofurc"])).0, "/h/.tofurc");
        let xdg = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("XDG_DATA_HOME", "/d")];
        assert_eq!(main_and_dir(&tofu(&xdg, &[])), ("/x/opentofu/tofurc", "/x/opentofu"));
        assert_eq!(main_and_dir(&tofu(&xdg, &["/h/.terraform.d"])), ("/x/opentofu/tofurc", "/h/.terraform.d"));
        assert_eq!(main_and_dir(&tofu(&xdg, &["/h/.terraformrc"])), ("/h/.terraformrc", "/x/opentofu"));
        assert_eq!(tofu(&xdg, &[]).data_dirs, [Path::new("/h/.terraform.d"), Path::new("/d/opentofu")]);
    }

    #[test]
    fn windows() {
        let data = [("APPDATA", "/a")];
        assert_eq!(main_and_dir(&find(Dialect::Terraform, true, &data, &[])), ("/a/terraform.rc", "/a/terraform.d"));
        assert_eq!(main_and_dir(&find(Dialect::OpenTofu, true, &data, &[])).0, "/a/tofu.rc");
        assert_eq!(main_and_dir(&find(Dialect::OpenTofu, true, &data, &["/a/terraform.rc"])).0, "/a/terraform.rc");
        assert_eq!(find(Dialect::OpenTofu, true, &[], &[]), Locations::default());
    }

    #[test]
    fn directories_of_the_system() {
        let plugins = |variables: &[(&str, &str)]| find(Dialect::Terraform, false, variables, &[]).system_plugins;
        let places = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let shared = ["/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins"];
        let own = "/h/.local/share/terraform/plugins";
        assert_eq!(plugins(&[("HOME", "/h")]), places(&[own, shared[0], shared[1]]));
        let set = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("XDG_DATA_DIRS", "/x:relative:/y")];
        let wanted = ["/d/terraform/plugins", "/x/terraform/plugins", "/y/terraform/plugins"];
        assert_eq!(plugins(&set), places(&wanted));
    }

    #[test]
    fn the_environment_names_the_only_file() {
        let both = [("HOME", "/h"), ("TERRAFORM_CONFIG", "/old"), ("TF_CLI_CONFIG_FILE", "/new")];
        let found = find(Dialect::Terraform, false, &both, &[]);
        assert_eq!(found.files().unwrap(), [Path::new("/new")]);
        let found = find(Dialect::Terraform, false, &both[..2], &[]);
        assert_eq!(found.files().unwrap(), [Path::new("/old")]);
    }
}

//! The CLI configuration: `.terraformrc`, `.tofurc`, `*.tfrc`, `credentials.tfrc.json`.
//!
//! [`CliConfig::load`] finds the files as the tools do, reads them as HCL 1 and merges them. Blocks become data, the methods of
//! `provider_installation` in their order; what an installation method means, and what its patterns match, is decided by those who use it.
//!
//! Source: `internal/command/cliconfig` of both tools.

mod decode;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use crate::addr::Hostname;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::hcl::hcl1::{Hcl1Value, Item, Object};
use crate::path::shown;
use crate::settings::{Secret, Variables};
use decode::{DecodeResult, number, text_of, texts_of, truth_of};

pub use decode::{OciBlock, OciDefaults};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// The plugin cache: `TF_PLUGIN_CACHE_DIR`, else the first file that names one.
    pub plugin_cache_dir: Option<PathBuf>,
    /// `plugin_cache_may_break_dependency_lock_file`, or its environment variable.
    pub plugin_cache_may_break_lock: bool,
    /// `host` blocks: service id to URL text. Each replaces discovery for its host.
    pub hosts: BTreeMap<Hostname, BTreeMap<String, String>>,
    /// `credentials` blocks. A block without a usable token means: no token, and no helper is called.
    pub credentials: BTreeMap<Hostname, Option<Secret>>,
    pub credentials_helper: Option<CredentialsHelper>,
    /// `provider_installation`; none means the implicit one.
    pub installation: Option<Installation>,
    /// `registry_protocols` (`tofu` only).
    pub registry_protocols: RegistryProtocols,
    /// `oci_credentials` (`tofu` only).
    pub oci_credentials: Vec<OciBlock>,
    /// `oci_default_credentials` (`tofu` only).
    pub oci_defaults: Option<OciDefaults>,
    pub files: Vec<PathBuf>,
    /// The directories with `plugins/`: of providers (implicit mirrors) and of credentials helpers.
    pub data_dirs: Vec<PathBuf>,
    pub system_plugins: Vec<PathBuf>,
    pub warnings: Vec<String>,
}

/// `credentials_helper "NAME" { args = […] }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialsHelper {
    pub name: String,
    pub args: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// Further attempts of a metadata request; may be zero.
    pub retry_count: Option<u32>,
    /// Seconds for one attempt, above zero.
    pub request_timeout_seconds: Option<u32>,
}

/// An error at a position; the caller adds the file.
fn wrong(position: Position, problem: impl Display) -> Error {
    Error::new(ErrorKind::Settings, format!("invalid CLI configuration: {problem}"))
        .at(position)
        .hint("correct the file, or set TF_CLI_CONFIG_FILE to another file")
}

fn unreadable(file: &Path, reason: &dyn Display) -> Error {
    Error::new(ErrorKind::Settings, format!("cannot read the CLI configuration: {reason}"))
        .in_file(file)
        .hint("set TF_CLI_CONFIG_FILE to a file that can be read")
}

fn repeated(position: Position, block: &str) -> Error {
    wrong(position, format_args!("no more than one {block} block may be specified"))
}

fn missing(position: Position, block: &str, name: &str) -> Error {
    wrong(position, format_args!("{block} needs an argument {name:?}"))
}

impl CliConfig {
    pub fn load(variables: &Variables, dialect: Dialect) -> Result<Self, Error> {
        let exists = |path: &Path| path.exists();
        let locations = Locations::find(variables, dialect, &System::current(&exists));
        Self::read(&locations, variables, dialect)
    }

    pub fn read(locations: &Locations, variables: &Variables, dialect: Dialect) -> Result<Self, Error> {
        let (data_dirs, system_plugins) = (locations.data_dirs.clone(), locations.system_plugins.clone());
        let mut config = Self { data_dirs, system_plugins, ..Self::default() };
        config.take_environment(variables);
        for file in locations.files().map_err(|(file, reason)| unreadable(&file, &reason))? {
            match std::fs::read_to_string(&file) {
                Ok(text) => {
                    decode::merge(&mut config, &text, dialect, variables).map_err(|error| error.in_file(&file))?;
                    config.files.push(file);
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    if locations.overridden {
                        config.warnings.push(format!("the CLI configuration file {} does not exist", shown(&file)));
                    }
                }
                Err(error) => return Err(unreadable(&file, &error)),
            }
        }
        config.check_cache_dir();
        Ok(config)
    }

    pub fn decode(text: &str, dialect: Dialect, variables: &Variables) -> Result<Self, Error> {
        let mut config = Self::default();
        config.take_environment(variables);
        decode::merge(&mut config, text, dialect, variables)?;
        Ok(config)
    }

    /// The directories that are mirrors where no `provider_installation` is configured, in their order, there or not. `root`
    /// is the directory that the tools run in.
    pub fn plugin_dirs(&self, root: &Path) -> Vec<PathBuf> {
        let of_tool = self.data_dirs.iter().map(|folder| folder.join("plugins"));
        let system = self.system_plugins.iter().cloned();
        [root.join("terraform.d/plugins")].into_iter().chain(of_tool).chain(system).collect()
    }

    fn take_environment(&mut self, variables: &Variables) {
        self.plugin_cache_dir = variables.get("TF_PLUGIN_CACHE_DIR").map(PathBuf::from);
        let may_break = variables.get("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
        self.plugin_cache_may_break_lock = may_break.is_some_and(|value| value != "0");
    }

    /// The tools say it and go on; so do we.
    fn check_cache_dir(&mut self) {
        if let Some(dir) = self.plugin_cache_dir.take_if(|dir| !dir.is_dir()) {
            self.warnings.push(format!("the plugin cache directory {} does not exist", shown(&dir)));
        }
    }
}

/// An explicit `provider_installation`. Without methods nothing can be installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installation {
    /// In the order of the file.
    pub methods: Vec<MethodBlock>,
    /// `dev_overrides`, in the order of the file.
    pub dev_overrides: Vec<DevOverride>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodBlock {
    pub kind: MethodKind,
    /// Patterns as written; empty means all.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodKind {
    Direct {
        download_retry_count: Option<u32>,
    },
    FilesystemMirror {
        /// As written.
        path: PathBuf,
    },
    NetworkMirror {
        url: String,
        download_retry_count: Option<u32>,
        /// Whether hashes of all platforms are trusted (`tofu` only).
        trust_all_hashes: bool,
    },
    /// An OCI registry (`tofu` only).
    OciMirror {
        /// The template over `hostname`, `namespace` and `type`, as written.
        repository_template: String,
    },
}

/// `"ADDRESS" = "DIRECTORY"` of `dev_overrides`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevOverride {
    pub address: String,
    pub path: PathBuf,
}

/// Takes the block of a further file; a second one in all files together is refused.
fn merge(config: &mut CliConfig, document: &Object, dialect: Dialect) -> DecodeResult<()> {
    // Unlike other settings these names are compared with their case, as in the tools.
    for item in document.items.iter().filter(|item| item.keys[0] == "provider_installation") {
        if config.installation.is_some() {
            return Err(repeated(item.position, "provider_installation"));
        }
        let mut installation = Installation { position: item.position, ..Installation::default() };
        for body in bodies(item)? {
            for method in &body.items {
                for arguments in bodies(method)? {
                    add(&mut installation, method, arguments, dialect)?;
                }
            }
        }
        config.installation = Some(installation);
    }
    Ok(())
}

fn bodies(item: &Item) -> DecodeResult<Vec<&Object>> {
    match &item.value {
        Hcl1Value::Object(_) | Hcl1Value::List(_) if item.keys.len() == 1 && !item.assigned => Ok(item.value.objects()),
        _ => Err(wrong(item.position, format_args!("{} must be a block without label and equals sign", item.keys[0]))),
    }
}

fn add(installation: &mut Installation, method: &Item, body: &Object, dialect: Dialect) -> DecodeResult<()> {
    let name = method.keys[0].as_str();
    let tofu = dialect == Dialect::OpenTofu;
    let retries = || if tofu { number(body, "download_retry_count") } else { Ok(None) };
    let kind = match name {
        "direct" => MethodKind::Direct { download_retry_count: retries()? },
        "filesystem_mirror" => MethodKind::FilesystemMirror { path: required(method, body, "path")?.into() },
        "network_mirror" => MethodKind::NetworkMirror {
            url: required(method, body, "url")?,
            download_retry_count: retries()?,
            trust_all_hashes: match body.fields("trust_all_hashes").last() {
                Some(item) if tofu => truth_of(item)?,
                _ => false,
            },
        },
        "oci_mirror" if tofu => {
            MethodKind::OciMirror { repository_template: required(method, body, "repository_template")? }
        }
        "dev_overrides" if installation.methods.is_empty() => {
            for item in &body.items {
                let path = PathBuf::from(text_of(item)?);
                installation.dev_overrides.push(DevOverride { address: item.keys[0].clone(), path });
            }
            return Ok(());
        }
        "dev_overrides" => {
            let late = "the dev_overrides block must come before all other installation methods";
            return Err(wrong(method.position, late));
        }
        _ => {
            let mut error = wrong(method.position, format_args!("unknown provider installation method {name:?}"));
            if name == "oci_mirror" {
                error.hints = vec!["oci_mirror is a method of OpenTofu: use --tool tofu".into()];
            }
            return Err(error);
        }
    };
    let (include, exclude) = (texts_of(body, "include")?, texts_of(body, "exclude")?);
    installation.methods.push(MethodBlock { kind, include, exclude, position: method.position });
    Ok(())
}

fn required(method: &Item, body: &Object, name: &'static str) -> DecodeResult<String> {
    let text = body.fields(name).last().map(text_of).transpose()?.unwrap_or_default();
    if text.is_empty() {
        return Err(missing(method.position, &method.keys[0], name));
    }
    Ok(text.to_owned())
}

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
struct System<'a> {
    windows: bool,
    macos: bool,
    /// The home directory in the account database, for when `HOME` is not set.
    account_home: Option<PathBuf>,
    exists: &'a dyn Fn(&Path) -> bool,
}

impl<'a> System<'a> {
    fn current(exists: &'a dyn Fn(&Path) -> bool) -> Self {
        Self { windows: cfg!(windows), macos: cfg!(target_os = "macos"), account_home: std::env::home_dir(), exists }
    }
}

impl Locations {
    /// Applies the rules of a tool.
    ///
    /// Source: `config_unix.go`, `config_windows.go` of both tools.
    fn find(variables: &Variables, dialect: Dialect, system: &System) -> Self {
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
    fn files(&self) -> Result<Vec<PathBuf>, (PathBuf, std::io::Error)> {
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
mod tests;

#[cfg(test)]
mod locate_tests;

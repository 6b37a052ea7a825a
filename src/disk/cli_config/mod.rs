//! The CLI configuration: `.terraformrc`, `.tofurc`, `*.tfrc`, `credentials.tfrc.json`.
//!
//! [`CliConfig::load`] finds the files as the tools do, reads them as HCL 1 and merges them. Blocks become data; what an
//! installation method means, and what its patterns match, is decided by those who use it.
//!
//! Source: `internal/command/cliconfig` of both tools.

mod decode;
mod installation;
mod locate;
mod oci;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

pub use installation::{Installation, Method, MethodKind};
pub use locate::Locations;
pub use oci::{OciBlock, OciDefaults};

use crate::addr::Hostname;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::finding::Position;
use crate::path::shown;
use crate::settings::{Secret, Variables};

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
    Error::new(ErrorKind::Settings, format!("invalid CLI configuration: cannot read it: {reason}"))
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
        let locations = Locations::find(variables, dialect, &locate::System::current(&exists));
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

#[cfg(test)]
mod tests;

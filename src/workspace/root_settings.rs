//! The settings of one root module, as plain values.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::Readings;
use super::discover::below;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::disk::roots::{
    MissingModule, MissingModules, ModuleAccess, ModuleTerms, Tree, TreeError, TreeOptions, file_from, placed,
};
use crate::error::{Error, ErrorKind};
use crate::lockfile;
use crate::settings::{Settings, SignatureRule, SourceChoice, Variables, allow_module_host};

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

    /// Whether releases of a provider must be signed, by settings and tool. Terraform refuses unsigned releases of any
    /// registry, so its lock files must not contain one.
    pub fn signature_for(&self, addr: &ProviderAddr) -> SignatureRule {
        match (self.settings.signature_for(addr.host()), self.dialect) {
            (SignatureRule::IfKeysKnown, Dialect::Terraform) => SignatureRule::Always,
            (rule, _) => rule,
        }
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
        let of_process = self.variables.with_prefix("TF_VAR_");
        TreeOptions {
            data_dir: self.variables.get("TF_DATA_DIR").map(PathBuf::from),
            missing,
            modules: self.modules.lookup,
            variables: of_process.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            workspace: self.variables.get("TF_WORKSPACE").map(str::to_owned),
            trees: Arc::clone(&self.readings.trees),
            ..TreeOptions::new(self.dialect)
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
        let mut error = below.into_iter().fold(Error::from(error), Error::hint);
        if within {
            error = self.placed(error);
        }
        error
    }

    /// Changes the files of an error from relative to the root module to those shown in reports.
    pub fn placed(&self, error: Error) -> Error {
        placed(error, &self.path)
    }

    /// The error for a module that is not installed, so a question stays open.
    pub fn not_installed(&self, module: &MissingModule) -> Error {
        let host = module.request.as_ref().and_then(|request| request.source.host());
        // Installing it would fetch it from there.
        let forbidden =
            host.and_then(|host| allow_module_host(self.settings.policy.module_hosts.as_ref(), &host).err());
        let error = if let Some(reason) = forbidden.as_ref().or(module.reason.as_ref()) {
            // Without the name of the call, so a module that cannot be fetched is reported once for all calls.
            let of_call = if module.request.is_some() { String::new() } else { format!("module {}: ", module.key) };
            let message = format!("{of_call}{}, so its requirements are unknown", reason.message);
            Error { message, ..reason.clone() }
        } else {
            // Some sources depend on unknown values.
            let from = if module.source.is_empty() { String::new() } else { format!(" from {:?}", module.source) };
            let message = format!("module {}{from} is not installed, so its requirements are unknown", module.key);
            Error::new(ErrorKind::NotInstalled, message).hint(format!("run `{} get`", self.dialect.program()))
        };
        error.in_file(file_from(&self.path, &module.place.file)).at(module.place.position)
    }
}

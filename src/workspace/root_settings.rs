//! What every command is told about a root module, as plain values.

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
    /// To be opened.
    pub path: PathBuf,
    /// As reports name it.
    pub shown: PathBuf,
}

/// One root module, and what flags, environment and settings files together say for it.
#[derive(Debug, Clone)]
pub struct RunSettings {
    /// The directory of the root module, to be opened; relative to the directory of the process, never empty.
    pub root: PathBuf,
    /// The same, absolute and without symbolic links.
    pub place: PathBuf,
    /// The same as reports name it: from the top of the working tree, empty at the top; outside of git as it was named, empty
    /// for the directory of the process.
    pub path: PathBuf,
    /// The directory that reading of settings and writing are confined to: the top of the working tree, or the root module.
    pub boundary: PathBuf,
    pub dialect: Dialect,
    /// `.tflock.hcl`, all files of it together.
    pub settings: Settings,
    /// The trust file of the working tree.
    pub trust: TrustPlace,
    /// Where packages come from, if the command line names it.
    pub source: Option<SourceChoice>,
    /// True if no server may be asked.
    pub offline: bool,
    /// False if the index of known hashes is neither read nor written.
    pub cache: bool,
    /// Where modules come from that are not local.
    pub modules: ModuleAccess,
    pub variables: Variables,
    pub now: SystemTime,
    /// What the run has read so far.
    pub readings: Readings,
}

/// Where the packages of one root module come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSource {
    pub dialect: Dialect,
    pub choice: SourceChoice,
    /// True if it was not chosen.
    pub is_default: bool,
    /// The directory that the tool would run in.
    pub root: PathBuf,
}

impl RunSettings {
    /// The lock file, to be opened.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join(lockfile::FILE_NAME)
    }

    /// The lock file, as reports name it.
    pub fn lock_file_shown(&self) -> PathBuf {
        self.path.join(lockfile::FILE_NAME)
    }

    /// Whether releases of a provider must be signed, by settings and tool: Terraform accepts no unsigned release of any
    /// registry, so that a lock file of its must not hold one.
    pub fn signature_for(&self, addr: &ProviderAddr) -> SignatureRule {
        match (self.settings.signature_for(addr.host()), self.dialect) {
            (SignatureRule::IfKeysKnown, Dialect::Terraform) => SignatureRule::Always,
            (rule, _) => rule,
        }
    }

    /// Where packages come from: the command line, else the settings, else the origin registries.
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

    /// The directory in which the tools install, to be opened.
    pub fn data_dir(&self) -> PathBuf {
        self.root.join(self.data_dir_name())
    }

    /// How the module tree is read.
    pub fn tree_options(&self, missing: MissingModules) -> TreeOptions {
        let of_process = self.variables.with_prefix("TF_VAR_");
        TreeOptions {
            data_dir: self.variables.get("TF_DATA_DIR").map(PathBuf::from),
            missing,
            modules: self.modules.lookup,
            variables: of_process.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            alike: Arc::clone(&self.readings.trees),
            ..TreeOptions::new(self.dialect)
        }
    }

    /// Reads the module tree, and has fetched what is missing in it.
    pub fn load_tree(&self, options: &TreeOptions) -> Result<Arc<Tree>, Vec<TreeError>> {
        self.modules.clone().load_tree(&self.root, options, &self.module_terms(), &|_| {})
    }

    /// The same root module, with the modules fetched that its tree lacks; then no request is sent any more. What is wrong
    /// with the tree is told when it is read. What is known of it is shown each time before more is fetched.
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

    /// An error of the module tree, whose file is named from the directory of the process.
    pub fn tree_error(&self, error: TreeError) -> Error {
        let within = matches!(error, TreeError::Config(_) | TreeError::ModuleLock(_) | TreeError::Module { .. });
        let below = matches!(error, TreeError::NoConfiguration(_)).then(|| below(&self.root)).flatten();
        let mut error = below.into_iter().fold(Error::from(error), Error::hint);
        if within {
            error = self.placed(error);
        }
        error
    }

    /// An error about configuration whose files are named from the root module, with its files as reports name them.
    pub fn placed(&self, error: Error) -> Error {
        placed(error, &self.path)
    }

    /// A module that is not installed, where that leaves a question open.
    pub fn not_installed(&self, module: &MissingModule) -> Error {
        let host = module.request.as_ref().and_then(|request| request.source.host());
        // Who installs it would fetch it from there.
        let forbidden =
            host.and_then(|host| allow_module_host(self.settings.policy.module_hosts.as_ref(), &host).err());
        let error = if let Some(reason) = forbidden.as_ref().or(module.reason.as_ref()) {
            // Without the name of the call: what cannot be fetched is reported once, wherever it is called.
            let of_call = if module.request.is_some() { String::new() } else { format!("module {}: ", module.key) };
            let message = format!("{of_call}{}, so its requirements are unknown", reason.message);
            Error { message, ..reason.clone() }
        } else {
            // The source of some depends on what is not known.
            let from = if module.source.is_empty() { String::new() } else { format!(" from {:?}", module.source) };
            let message = format!("module {}{from} is not installed, so its requirements are unknown", module.key);
            Error::new(ErrorKind::NotInstalled, message).hint(format!("run `{} get`", self.dialect.program()))
        };
        error.in_file(file_from(&self.path, &module.place.file)).at(module.place.position)
    }
}

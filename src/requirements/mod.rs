//! What a configuration needs: providers, their merged constraints, and who asks.
//!
//! Source: `internal/configs/config.go`, `ProviderRequirements`.

mod state;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use state::{StateError, providers as providers_in_state};

use crate::addr::ProviderAddr;
use crate::finding::Position;
use crate::lockfile::{LockEntry, LockFile};
use crate::version::Constraints;

/// The requirements of a whole module tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    providers: BTreeMap<ProviderAddr, Requirement>,
}

/// What is asked of one provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The terms of all modules together.
    pub constraints: Constraints,
    /// Who asks, in the order of the module tree; nobody where only a lock file was read.
    pub origins: Vec<Origin>,
}

impl Requirement {
    fn add(&mut self, constraints: &Constraints, origin: Origin) {
        if !constraints.is_empty() {
            self.constraints = self.constraints.and(constraints);
        }
        self.origins.push(origin);
    }
}

/// One place in configuration that asks for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The module's path of call names joined by dots; empty for the root module.
    pub module: String,
    /// The file, relative to the directory that the command was pointed at.
    pub file: PathBuf,
    /// Where in the file.
    pub position: Position,
    /// What asks.
    pub kind: OriginKind,
    /// The name that the module uses for the provider.
    pub local_name: String,
    /// The constraint as written, if there is one.
    pub constraint: Option<String>,
}

/// The construct that asks for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OriginKind {
    /// An entry of `required_providers`.
    RequiredProviders,
    /// A `provider` block.
    ProviderBlock,
    /// A `resource` block.
    Resource,
    /// A `data` block, also one inside `check`.
    Data,
    /// An `ephemeral` block.
    Ephemeral,
    /// An `action` block.
    Action,
    /// An `import` block.
    Import,
}

impl OriginKind {
    /// The word for machines: `required_providers`, `provider`, `resource`, …
    pub fn as_str(self) -> &'static str {
        match self {
            OriginKind::RequiredProviders => "required_providers",
            OriginKind::ProviderBlock => "provider",
            OriginKind::Resource => "resource",
            OriginKind::Data => "data",
            OriginKind::Ephemeral => "ephemeral",
            OriginKind::Action => "action",
            OriginKind::Import => "import",
        }
    }
}

impl Requirements {
    /// No requirements.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the entries of a lock file say that was required when it was written.
    pub fn of_entries(lock: &LockFile) -> Self {
        let requirement =
            |entry: &LockEntry| Requirement { constraints: entry.constraints.clone(), origins: Vec::new() };
        Self { providers: lock.iter().map(|(addr, entry)| (addr.clone(), requirement(entry))).collect() }
    }

    /// Adds one place that asks, with its constraint in parsed form.
    pub fn add(&mut self, addr: &ProviderAddr, constraints: &Constraints, origin: Origin) {
        // There are many origins and few providers.
        if let Some(requirement) = self.providers.get_mut(addr) {
            return requirement.add(constraints, origin);
        }
        self.providers.entry(addr.clone()).or_default().add(constraints, origin);
    }

    /// Takes out places that ask for a provider; the constraints are those of the others. Nobody left means that the
    /// provider is not needed.
    pub fn remove_origins(&mut self, addr: &ProviderAddr, gone: impl Fn(&Origin) -> bool) {
        let Some(requirement) = self.providers.remove(addr) else { return };
        for origin in requirement.origins.into_iter().filter(|origin| !gone(origin)) {
            let constraints = origin.constraint.as_deref().and_then(|text| Constraints::parse_config(text).ok());
            self.add(addr, &constraints.unwrap_or_default(), origin);
        }
    }

    /// What is asked of a provider.
    pub fn get(&self, addr: &ProviderAddr) -> Option<&Requirement> {
        self.providers.get(addr)
    }

    /// All of them, in the order of the lock file.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ProviderAddr, &Requirement)> {
        self.providers.iter()
    }

    /// How many providers there are.
    pub fn len(&self) -> usize {
        self.providers.len()
    }

    /// True if nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }
}

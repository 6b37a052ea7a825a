//! What a configuration needs: providers, their merged constraints, and which modules require them.
//!
//! Source: `internal/configs/config.go`, `ProviderRequirements`.

mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use state::{StateProviders, providers as providers_in_state, translation as state_translation};

use crate::addr::ProviderAddr;
use crate::finding::Position;
use crate::lockfile::{LockEntry, LockFile};
use crate::version::Constraints;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    providers: BTreeMap<ProviderAddr, Requirement>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirement {
    /// The terms of all modules together.
    pub constraints: Constraints,
    /// Who requires it, in the order of the module tree; empty if only a lock file was read.
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

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The module's path of call names joined by dots; empty for the root module.
    pub module: String,
    /// The file, relative to the directory that the command was pointed at.
    #[serde(serialize_with = "crate::documents::path")]
    pub file: PathBuf,
    #[serde(flatten)]
    pub position: Position,
    pub kind: OriginKind,
    /// The name that the module uses for the provider.
    pub local_name: String,
    pub constraint: Option<String>,
    /// True if a test file requires it, or a module that only runs of test files use.
    #[serde(skip)]
    pub in_tests: bool,
    /// The type and name of a block that implies the provider: `"aws_vpc" "this"`.
    #[serde(skip)]
    pub block: Option<String>,
}

impl Origin {
    /// Who requires it, for users: `the root module`, `module.NAME`, `tests`.
    pub fn caller(&self) -> String {
        match self.module.as_str() {
            _ if self.in_tests => "tests".to_owned(),
            "" => "the root module".to_owned(),
            module => format!("module.{module}"),
        }
    }

    /// What the constraint means; no terms if there is none.
    pub fn constraints(&self) -> Constraints {
        self.constraint.as_deref().and_then(|text| Constraints::parse_config(text).ok()).unwrap_or_default()
    }
}

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
    pub fn new() -> Self {
        Self::default()
    }

    /// What the entries of a lock file say that was required when it was written.
    pub fn of_entries(lock: &LockFile) -> Self {
        let mut requirements = Self::new();
        lock.iter().for_each(|(addr, entry)| requirements.add_entry(addr, entry));
        requirements
    }

    /// Adds one place that requires a provider, with its parsed constraint.
    pub fn add(&mut self, addr: &ProviderAddr, constraints: &Constraints, origin: Origin) {
        // There are many origins and few providers.
        if let Some(requirement) = self.providers.get_mut(addr) {
            return requirement.add(constraints, origin);
        }
        self.providers.entry(addr.clone()).or_default().add(constraints, origin);
    }

    /// Adds what the entry of a lock file says, for a provider that is not known to be required.
    pub fn add_entry(&mut self, addr: &ProviderAddr, entry: &LockEntry) {
        let requirement = self.providers.entry(addr.clone()).or_default();
        requirement.constraints = requirement.constraints.and(&entry.constraints);
    }

    /// Removes places that require a provider; the constraints are those of the others. Without any left, the
    /// provider is not needed.
    pub fn remove_origins(&mut self, addr: &ProviderAddr, lost: impl Fn(&Origin) -> bool) {
        let Some(requirement) = self.providers.remove(addr) else { return };
        for origin in requirement.origins.into_iter().filter(|origin| !lost(origin)) {
            self.add(addr, &origin.constraints(), origin);
        }
    }

    /// Makes places require a different provider.
    pub fn move_origins(&mut self, from: &ProviderAddr, to: &ProviderAddr, moved: impl Fn(&Origin) -> bool) {
        let origins = self.get(from).map(|requirement| requirement.origins.clone()).unwrap_or_default();
        self.remove_origins(from, &moved);
        for origin in origins.into_iter().filter(moved) {
            self.add(to, &origin.constraints(), origin);
        }
    }

    pub fn get(&self, addr: &ProviderAddr) -> Option<&Requirement> {
        self.providers.get(addr)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&ProviderAddr, &Requirement)> {
        self.providers.iter()
    }

    /// Each provider with each module that requires it, by dotted path.
    pub fn modules(&self) -> BTreeSet<(ProviderAddr, String)> {
        let of = |(addr, it): (&ProviderAddr, &Requirement)| {
            let modules: BTreeSet<&String> = it.origins.iter().map(|origin| &origin.module).collect();
            modules.into_iter().map(|module| (addr.clone(), module.clone())).collect::<Vec<_>>()
        };
        self.providers.iter().flat_map(of).collect()
    }

    pub fn len(&self) -> usize {
        self.providers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn places_move_to_another_provider_with_their_constraints() {
        let [old, new] = ["example.com/a/b", "a/b"].map(|text| ProviderAddr::parse(text, Dialect::Terraform).unwrap());
        let origin = |module: &str, constraint: &str| Origin {
            module: module.to_owned(),
            file: "main.tf".into(),
            position: Position::default(),
            kind: OriginKind::RequiredProviders,
            local_name: "b".to_owned(),
            constraint: Some(constraint.to_owned()),
            in_tests: false,
            block: None,
        };
        let mut requirements = Requirements::new();
        for origin in [origin("", "~> 1.0"), origin("net", ">= 1.2")] {
            requirements.add(&old, &origin.constraints(), origin.clone());
        }
        requirements.move_origins(&old, &new, |origin| origin.module == "net");
        let text = |addr| requirements.get(addr).map(|requirement| requirement.constraints.to_string());
        assert_eq!((text(&old).as_deref(), text(&new).as_deref()), (Some("~> 1.0"), Some(">= 1.2.0")));
        requirements.move_origins(&old, &new, |_| true);
        let moved = requirements.get(&new).unwrap();
        assert_eq!((requirements.get(&old), moved.origins.len()), (None, 2));
        assert_eq!(moved.constraints.to_string(), "~> 1.0, >= 1.2.0");
    }
}

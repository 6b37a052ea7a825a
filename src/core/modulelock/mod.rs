//! Locks for modules: what `.tflock.modules.hcl` says.
//!
//! ```hcl
//! module "registry.terraform.io/terraform-aws-modules/vpc/aws" {
//!   version     = "5.1.2"
//!   constraints = "~> 5.0"
//!   calls       = ["net.vpc", "vpc"]
//!   location    = "git::https://git.example.com/vpc.git"
//!   commit      = "7c1f791efd61f326ed6102d564d1a65d1eceedf0"
//!   hash        = "h1:…"
//! }
//! ```
//!
//! There is one block for each package and version. A package is known by its source without directory, user and secret;
//! `calls` are the paths of the module calls that use it, and a call keeps the version of its own block for as long as its
//! constraint allows it. The hash is over what the source gives, never over a checkout.
//!
//! [`ModuleLock`] is what the file says; [`ModuleLockFile`] adds its comments and places. Nothing here reads files or sends requests.

mod judge;
mod reference;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use judge::{Call, Offered, Served, after, ambiguous, of_calls, of_served};
pub use judge::{ModuleChange, ModuleChangeKind, changes};
pub use judge::{ambiguous_version, of_listed};
pub use reference::decode;
pub use reference::{Reference, Target, ambiguous_reference, is_full_commit};

use serde::{Deserialize, Serialize};

use crate::config::ModuleSource;
use crate::dialect::Dialect;
use crate::finding::Position;
use crate::hash::PackageHash;
use crate::hcl::Comments;
use crate::version::{ModuleConstraints, ModuleVersion};

/// The name of the file, next to the dependency lock file.
pub const FILE_NAME: &str = ".tflock.modules.hcl";

/// The locked modules, by package and version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleLock(BTreeMap<ModuleKey, LockedModule>);

/// A package, and the version of it where it is of a registry. Ordered by package, then by version.
#[derive(Debug, Clone)]
pub struct ModuleKey {
    /// The source of the package, as [`ModuleSource::package`] writes it.
    pub source: String,
    /// The version; only modules of registries have one.
    pub version: Option<ModuleVersion>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedModule {
    /// The constraints of all calls together; `None` if they have none.
    pub constraints: Option<String>,
    /// The calls that use it, by their path of names joined by dots.
    pub calls: BTreeSet<String>,
    /// Where the package is and which one it is.
    pub content: ModuleContent,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleContent {
    /// Where the registry says that it is, without secrets.
    pub location: Option<String>,
    /// The commit, where it is in a git repository; in full.
    pub commit: Option<String>,
    /// The `h1:` over what the source gives.
    pub hash: PackageHash,
}

/// Why a package cannot be locked: the tools could install something else for the same hash, `ref` or version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ambiguity {
    /// What could be read in another way, and how.
    pub reason: String,
    /// What to write in its place.
    pub help: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulePin {
    /// The version, where it is of a registry.
    pub version: Option<ModuleVersion>,
    pub content: ModuleContent,
}

/// The file: what it says, its comments, and the places of its blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleLockFile {
    pub lock: ModuleLock,
    pub comments: Comments<ModuleKey>,
    /// The places of the blocks in the decoded text; empty for new blocks.
    pub spans: BTreeMap<ModuleKey, Position>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Its path of call names joined by dots.
    pub call: String,
    pub key: ModuleKey,
    pub constraints: Option<ModuleConstraints>,
    pub content: ModuleContent,
}

/// Two calls whose sources differ only in what a key leaves out, a user or a secret, and that get two packages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "module {} and module {} get two packages from {package}: their sources differ only in a user or a secret, which no module \
     lock records",
    calls[0], calls[1]
)]
pub struct SharedKey {
    pub calls: [String; 2],
    pub package: String,
}

impl ModuleLock {
    /// The lock that calls and their packages make.
    pub fn of(resolved: impl IntoIterator<Item = Resolved>) -> Result<Self, SharedKey> {
        let mut lock = Self::default();
        let mut terms: BTreeMap<ModuleKey, BTreeSet<String>> = BTreeMap::new();
        for Resolved { call, key, constraints, content } in resolved {
            let required = constraints.iter().flat_map(ModuleConstraints::terms);
            terms.entry(key.clone()).or_default().extend(required);
            let block = lock.0.entry(key.clone()).or_insert_with(|| LockedModule {
                constraints: None,
                calls: BTreeSet::new(),
                content: content.clone(),
            });
            if block.content.hash != content.hash {
                let other = block.calls.first().cloned().unwrap_or_default();
                return Err(SharedKey { calls: [other, call], package: key.source });
            }
            block.calls.insert(call);
        }
        for (key, block) in &mut lock.0 {
            let terms: Vec<String> = terms.remove(key).unwrap_or_default().into_iter().collect();
            block.constraints = (!terms.is_empty()).then(|| terms.join(", "));
        }
        Ok(lock)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&ModuleKey, &LockedModule)> {
        self.0.iter()
    }

    pub fn get(&self, key: &ModuleKey) -> Option<&LockedModule> {
        self.0.get(key)
    }

    pub fn insert(&mut self, key: ModuleKey, block: LockedModule) -> Option<LockedModule> {
        self.0.insert(key, block)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same without some blocks, whose packages are newly selected.
    #[must_use]
    pub fn without(&self, dropped: impl Fn(&ModuleKey) -> bool) -> Self {
        let kept = self.0.iter().filter(|(key, _)| !dropped(key));
        Self(kept.map(|(key, block)| (key.clone(), block.clone())).collect())
    }

    /// The same, and what is locked of modules of the other tool's default registry for the same ones of this tool's: the
    /// version and the content, wherever it is.
    #[must_use]
    pub fn with_those_of_other_tool(&self, dialect: Dialect) -> Self {
        let of_own = |(key, block): (&ModuleKey, &LockedModule)| {
            let source = ModuleSource::parse(&key.source, false, dialect).ok()?.of_other_tool(dialect.other())?;
            let content = ModuleContent { location: None, ..block.content.clone() };
            let key = ModuleKey { source: source.package()?, version: key.version.clone() };
            Some((key, LockedModule { content, ..block.clone() }))
        };
        let moved = self.0.iter().filter_map(of_own).filter(|(key, _)| self.get(key).is_none());
        Self(self.0.clone().into_iter().chain(moved.collect::<Vec<_>>()).collect())
    }

    /// The block of a call: its own, if its constraint still allows that version. A package without versions is the same
    /// one for every call.
    pub fn block(
        &self,
        source: &ModuleSource,
        call: &str,
        constraints: Option<&ModuleConstraints>,
    ) -> Option<(&ModuleKey, &LockedModule)> {
        let package = source.package()?;
        let allows = |key: &ModuleKey| match (&key.version, constraints) {
            (Some(version), Some(constraints)) => constraints.allows(version),
            _ => true,
        };
        let first = ModuleKey { source: package.clone(), version: None };
        let mut blocks = self.0.range(first..).take_while(|(key, _)| key.source == package);
        blocks.find(|(key, block)| (key.version.is_none() || block.calls.contains(call)) && allows(key))
    }

    /// The locked content of a call; `None` if nothing is locked for it.
    pub fn pin(&self, source: &ModuleSource, call: &str, constraints: Option<&ModuleConstraints>) -> Option<ModulePin> {
        let (key, block) = self.block(source, call, constraints)?;
        Some(ModulePin { version: key.version.clone(), content: block.content.clone() })
    }

    /// The packages that a text names: a source as written in configuration, or as this file has it.
    pub fn named(&self, text: &str, dialect: Dialect) -> BTreeSet<&str> {
        let package = ModuleSource::parse(text, false, dialect).ok().and_then(|source| source.package());
        let is_meant = |source: &str| source == text || package.as_deref() == Some(source);
        self.0.keys().map(|key| key.source.as_str()).filter(|source| is_meant(source)).collect()
    }
}

impl ModuleKey {
    /// The package without its `ref` and other parameters: what stays when someone moves on to another tag.
    pub fn repository(&self) -> &str {
        self.source.split_once('?').map_or(self.source.as_str(), |(repository, _)| repository)
    }
}

/// The package, and its version behind a space.
impl fmt::Display for ModuleKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        self.version.as_ref().map_or(Ok(()), |version| write!(f, " {}", version.canonical()))
    }
}

impl Ord for ModuleKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let versions = match (&self.version, &other.version) {
            (Some(one), Some(other)) => one.precedence(other).then_with(|| one.canonical().cmp(&other.canonical())),
            (one, other) => one.is_some().cmp(&other.is_some()),
        };
        self.source.cmp(&other.source).then(versions)
    }
}

impl PartialOrd for ModuleKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ModuleKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ModuleKey {}

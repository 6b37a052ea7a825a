//! What is requested of a command that writes lock files. It is complete before the run begins, and nothing changes it: what a run
//! learns is in its session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use super::addition::Addition;
use crate::addr::ProviderAddr;
use crate::commands::shared::trust_store::TrustPlace;
use crate::dialect::Dialect;
use crate::disk::roots::Reselected;
use crate::error::Error;
use crate::lock::plan::Upgrade;
use crate::lockfile::LockEntry;
use crate::platform::Platform;
use crate::settings::H1Rule;
use crate::trust::pins::Pins;
use crate::version::Version;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteMode {
    #[default]
    Write,
    /// Write nothing; exit 1 if a file would change.
    Check,
    /// Write nothing; return the diff.
    DryRun,
}

/// Options that other commands share are in the settings of the run.
#[derive(Debug, Clone, Default)]
pub struct LockRequest {
    /// As typed.
    pub command: &'static str,
    /// Stop at the first root module that fails.
    pub fail_fast: bool,
    /// What is done to each opened root module before it is planned.
    pub preparation: Preparation,
    /// The requested platforms, each once, in the order given.
    pub platforms: Vec<Platform>,
    pub mode: WriteMode,
    /// With `WriteMode::Check`: download no package; entries are checked as far as signed checksums allow.
    pub no_download: bool,
    /// Read no configuration; complete the hashes of the existing entries.
    pub from_lock: bool,
    pub prune: bool,
    /// A state file; providers in it are kept.
    pub state: Option<PathBuf>,
    /// Source addresses of the only providers to lock, as typed; empty for all.
    pub providers: Vec<String>,
    /// Source addresses of providers that stay unchanged, as typed.
    pub excluded: Vec<String>,
    /// Which `h1:` hashes to record; `None` for the choice of the settings.
    pub h1: Option<H1Rule>,
    /// Releases whose recorded hashes may be replaced: source addresses as typed, with versions.
    pub accept_republished: Vec<(String, Version)>,
    /// Take out each recorded `h1:` that no archive of its release has.
    pub drop_unattested: bool,
    pub upgrade: Option<Upgrade>,
    /// The versions to select instead of the newest ones: source addresses as typed.
    pub precise: Vec<(String, Version)>,
    /// Do not newly select releases that were signed later.
    pub not_after: Option<SystemTime>,
    pub accept_no_configuration: bool,
    /// Write the configuration alone.
    pub no_lock: bool,
    /// Modules may be those that the other tool installed, or be missing; what missing modules require is unknown.
    pub accept_missing_modules: bool,
    /// True for root modules that tflock found and the user did not name: without configuration, `from_lock` applies;
    /// providers that it does not require are skipped.
    pub found: bool,
    /// Why the recorded hashes may be replaced; kept in the trust file.
    pub reason: Option<String>,
    /// Refuse releases of providers without a remembered signer, and packages of modules that are not locked yet.
    pub no_first_use: bool,
    /// Lock modules even if there is no module lock file yet.
    pub lock_modules: bool,
    /// Locked packages of modules to select again.
    pub reselected_modules: Reselected,
}

/// What is done to an opened root module before it is planned.
#[derive(Debug, Clone, Default)]
pub enum Preparation {
    #[default]
    None,
    /// The entries of the named providers are put back as this revision has them; nothing is learned.
    Restore {
        revision: String,
    },
    /// The constraints of the configuration that exclude the wanted versions are rewritten.
    Bump(Bump),
    Add(Vec<Addition>),
    Remove(Removal),
    /// The entries move to the registry of another tool. All root modules are written, or none.
    Migrate(Migration),
    Repair(Repair),
}

/// The versions that the sources of a root module have, by provider.
pub type OfferedVersions = BTreeMap<ProviderAddr, Result<Vec<Version>, Error>>;

#[derive(Debug, Clone)]
pub struct Bump {
    pub prereleases: bool,
    /// By the path of the root module.
    pub offered: BTreeMap<PathBuf, Result<Arc<OfferedVersions>, Error>>,
}

/// What to remove: providers as typed, used or not, from the configuration too or from the lock file alone.
#[derive(Debug, Clone)]
pub struct Removal {
    pub providers: Vec<String>,
    pub force: bool,
    pub lock_only: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub to: Dialect,
    /// Also write the new host where source addresses name the old one.
    pub edit_config: bool,
}

#[derive(Debug, Clone)]
pub struct Repair {
    /// What to repair in each root module, by its path.
    pub roots: BTreeMap<PathBuf, RootRepair>,
    /// The signers to accept, in place of the trust files, which then stay as they are.
    pub pins: BTreeMap<TrustPlace, Pins>,
}

#[derive(Debug, Clone, Default)]
pub struct RootRepair {
    /// The providers whose entries are repaired; none for its text alone.
    pub providers: BTreeSet<ProviderAddr>,
    /// Those entries of them that come back as the base of a change has them, and the name of that commit.
    pub lost: BTreeMap<ProviderAddr, LockEntry>,
    pub base: String,
}

impl LockRequest {
    /// The new tool of all root modules.
    pub(super) fn new_tool(&self) -> Option<Dialect> {
        match self.preparation {
            Preparation::Migrate(migration) => Some(migration.to),
            _ => None,
        }
    }

    /// True if nothing may be written unless every root module can be written.
    pub(super) fn is_all_or_none(&self) -> bool {
        matches!(self.preparation, Preparation::Migrate(_))
    }

    /// True if nothing that is recorded may go.
    pub(super) fn adds_only(&self) -> bool {
        matches!(self.preparation, Preparation::Repair(_))
    }

    /// True if entries are only put back.
    pub(super) fn restores(&self) -> bool {
        matches!(self.preparation, Preparation::Restore { .. })
    }
}

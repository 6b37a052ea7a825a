//! What is asked of a command that writes lock files.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::disk::roots::Reselected;
use crate::lock::plan::Upgrade;
use crate::platform::Platform;
use crate::settings::H1Rule;
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

/// The options that only `lock` has. Options that other commands share are in the settings of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockOptions {
    /// The requested platforms, each once, in the order given.
    pub platforms: Vec<Platform>,
    pub mode: WriteMode,
    /// With `WriteMode::Check`: download no package.
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

//! What `lock` was asked to do, as plain values.

use std::path::PathBuf;
use std::time::SystemTime;

use crate::disk::roots::Reselected;
use crate::lock::plan::Upgrade;
use crate::platform::Platform;
use crate::settings::H1Rule;
use crate::version::Version;

/// Everything that only `lock` can be told. What other commands can be told too is in the settings of the run.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockOptions {
    /// The platforms asked for, each once, in the order given; empty if none were.
    pub platforms: Vec<Platform>,
    /// Write nothing; a difference is exit code 1.
    pub check: bool,
    /// Write nothing; the outcome holds the diff.
    pub dry_run: bool,
    /// Read no configuration; complete the hashes of the entries that are there.
    pub from_lock: bool,
    /// Remove entries that are not required.
    pub prune: bool,
    /// A state file that tells which other providers are in use.
    pub state: Option<PathBuf>,
    /// The source addresses of the only providers to work on, as typed; empty for all.
    pub providers: Vec<String>,
    /// The source addresses of providers that stay as they are, as typed.
    pub excluded: Vec<String>,
    /// Whose `h1:` hashes are written; the settings decide if none.
    pub h1: Option<H1Rule>,
    /// Releases whose recorded hashes may be replaced: source addresses as typed, and versions.
    pub accept_republished: Vec<(String, Version)>,
    pub upgrade: Option<Upgrade>,
    /// Releases that were signed later are not newly selected.
    pub not_after: Option<SystemTime>,
    /// True if a root module need not have configuration yet.
    pub accept_no_configuration: bool,
    /// True if modules may be those that the other tool installed, or not be installed at all: what they ask for is then
    /// not known.
    pub accept_missing_modules: bool,
    /// True for root modules that were found, not named: one without configuration counts as `from_lock`, and providers
    /// that it does not require are passed over.
    pub found: bool,
    /// Why the recorded hashes may be replaced; kept in the trust file.
    pub reason: Option<String>,
    /// Refuse releases of providers for which no signer is remembered, and packages of modules that are not locked yet.
    pub no_first_use: bool,
    /// Lock modules too, where no module lock file is there yet.
    pub lock_modules: bool,
    /// Packages of modules that are newly selected though they are locked.
    pub reselected_modules: Reselected,
}

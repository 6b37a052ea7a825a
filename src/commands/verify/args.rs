//! The options of `verify`.

use clap::ValueEnum;

use super::VerifyOptions;
use super::base::BaseOptions;
use crate::commands::options::{Modules, Packages, Within, bytes};
use crate::query::question::Depth;

/// Check the lock file: the gate for CI.
///
/// Checks that the lock file fits the configuration and the settings, that each recorded hash belongs to the locked
/// release, and that a remembered signer signed the release. Changes nothing and learns nothing. Each hash is proven,
/// refuted or unknown: if a registry does not respond, the result is inconclusive (exit code 4), neither good nor bad.
/// With --offline it does not use the network.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock verify\n  tflock verify -r --base origin/main\n  tflock verify -r --format json\n  tflock verify --deep --all-platforms"
)]
pub(crate) struct VerifyArgs {
    /// Check every root module below: every directory with a lock file, or with a backend and no caller.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// Also hash what is installed, and what would be installed from disk: .terraform/providers and modules, plugin cache, filesystem
    /// mirrors.
    #[arg(long)]
    installed: bool,
    /// Download no package; an h1 that neither index nor registry has stays unknown.
    #[arg(long, conflicts_with_all = ["deep", "all_platforms"])]
    no_download: bool,
    /// Download at most this many bytes, such as 500MiB; what is left then stays unknown, exit code 4. Default 2GiB, with --deep
    /// as much as there is.
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "no_download")]
    max_download: Option<u64>,
    /// Use neither the index nor the registry's reports: compute each recorded h1 from its archive.
    #[arg(long)]
    deep: bool,
    /// With --deep: check every archive in the checksums.
    #[arg(long, requires = "deep")]
    all_platforms: bool,
    /// Check a change, as in a pull request: use the settings and trust file of this revision instead of the working tree's,
    /// compare lock files with its merge base with HEAD, and check only the root modules that changed.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// With --base: the owner approved the changes to settings and trust file, so use those of the working tree.
    #[arg(long, requires = "base")]
    allow_trust_change: bool,
    /// What to do if a registry does not respond; with --base, changed entries always fail.
    #[arg(long, value_name = "MEANING", value_enum, default_value_t = Inconclusive::Fail)]
    inconclusive: Inconclusive,
    #[command(flatten)]
    pub(crate) packages: Packages,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

const MOST: u64 = 2 << 30;

/// The values of `--inconclusive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Inconclusive {
    /// Exit code 4.
    Fail,
    /// A note.
    Warn,
}

impl VerifyArgs {
    pub(super) fn options(&self) -> VerifyOptions {
        let tolerate_inconclusive = self.inconclusive == Inconclusive::Warn;
        VerifyOptions { installed: self.installed, tolerate_inconclusive }
    }

    pub(super) fn depth(&self) -> Depth {
        Depth {
            download: !self.no_download,
            most: self.max_download.unwrap_or(if self.deep { u64::MAX } else { MOST }),
            recompute: self.deep,
            all_platforms: self.all_platforms,
        }
    }

    /// The base of the change; without it the working tree is judged by its own settings.
    pub(super) fn base(&self) -> Option<BaseOptions> {
        let trust_change_allowed = self.allow_trust_change;
        self.base.clone().map(|revision| BaseOptions { revision, trust_change_allowed })
    }
}

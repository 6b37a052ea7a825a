//! The options of every command that writes lock files.

use clap::ValueEnum;

use super::Packages;
use super::global::platform;
use crate::commands::LockOptions;
use crate::platform::Platform;
use crate::settings::H1Rule;

/// What is recorded, and where it comes from.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Locking {
    /// Record hashes for this platform; may be repeated.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    platforms: Vec<Platform>,
    /// Write nothing; print the diff.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) packages: Packages,
    /// Which h1: hashes to record: also those that the registry reports, or only computed ones.
    #[arg(long, value_name = "RULE", value_enum)]
    h1: Option<H1Name>,
    /// Refuse providers whose signer is not in the trust file yet, instead of remembering it; for bots.
    #[arg(long)]
    no_first_use: bool,
}

/// The values of `--h1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum H1Name {
    /// Also those that the origin registry reports.
    Registry,
    /// Only those computed from archives with a signed checksum.
    Verified,
}

impl Locking {
    /// What was asked for.
    pub(in crate::cli) fn options(&self) -> LockOptions {
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in &self.platforms {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        LockOptions {
            platforms,
            dry_run: self.dry_run,
            h1: self.h1.map(|name| match name {
                H1Name::Registry => H1Rule::Registry,
                H1Name::Verified => H1Rule::Verified,
            }),
            no_first_use: self.no_first_use,
            ..LockOptions::default()
        }
    }
}

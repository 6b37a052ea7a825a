//! The options of every command that writes lock files.

use std::path::PathBuf;

use clap::ValueEnum;

use crate::commands::LockOptions;
use crate::error::{Error, ErrorKind};
use crate::platform::Platform;
use crate::settings::H1Rule;

/// What is recorded, and where it comes from.
#[derive(Debug, Clone, Default, clap::Args)]
pub(in crate::cli) struct Locking {
    /// Record hashes for this platform; may be repeated.
    #[arg(long = "platform", value_name = "OS_ARCH")]
    platforms: Vec<Platform>,
    /// Write nothing; print the diff.
    #[arg(long)]
    dry_run: bool,
    /// Take packages from this filesystem mirror only, packed or unpacked.
    #[arg(long, value_name = "DIR", conflicts_with = "net_mirror")]
    fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror only; not supported yet.
    #[arg(long, value_name = "URL", hide = true)]
    net_mirror: Option<String>,
    /// Whose h1: hashes are written: also the registry's, or only those computed here.
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
    /// Only those computed here from archives with a signed checksum.
    Verified,
}

impl Locking {
    /// What was asked for.
    ///
    /// # Errors
    ///
    /// An option that does not work yet.
    pub(in crate::cli) fn options(&self) -> Result<LockOptions, Error> {
        if self.net_mirror.is_some() {
            return Err(Error::new(ErrorKind::Usage, "--net-mirror is not supported yet")
                .hint("download the packages and use `--fs-mirror DIR`"));
        }
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in &self.platforms {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        Ok(LockOptions {
            platforms,
            dry_run: self.dry_run,
            fs_mirror: self.fs_mirror.clone(),
            h1: self.h1.map(|name| match name {
                H1Name::Registry => H1Rule::Registry,
                H1Name::Verified => H1Rule::Verified,
            }),
            no_first_use: self.no_first_use,
            ..LockOptions::default()
        })
    }
}

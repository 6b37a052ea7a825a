//! The options of `mirror`.

use std::path::PathBuf;

use super::Within;
use super::global::platform;
use super::source::Packages;
use crate::commands::mirror::Request;
use crate::platform::Platform;

/// Copy the locked packages into a directory that serves as a mirror.
///
/// Writes the packages of the lock file, checked as `verify` checks them, as a filesystem mirror. Served over https, the
/// same directory is a network mirror. Next to the packages it writes SHA256SUMS, its signature and the registry's keys, if
/// the source of the packages has them. Existing packages are not downloaded again, and other versions stay.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock mirror /srv/mirror --platform linux_amd64 --platform darwin_arm64\n  tflock mirror -r /srv/mirror\n  tflock mirror --check -r /srv/mirror"
)]
pub(in crate::cli) struct MirrorArgs {
    /// The mirror.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Copy the packages of this platform; may be repeated. Default: the platforms of .tflock.hcl, else the locked ones.
    #[arg(long = "platform", value_name = "OS_ARCH", value_parser = platform)]
    platforms: Vec<Platform>,
    /// Write nothing and do not use the network; exit 1 if the mirror lacks a file, 3 if a file was altered.
    #[arg(long)]
    check: bool,
    /// Copy for every root module below: each directory with a lock file.
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    pub(super) packages: Packages,
    #[command(flatten)]
    pub(super) within: Within,
}

impl MirrorArgs {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> Request {
        let mut platforms: Vec<Platform> = Vec::new();
        for platform in &self.platforms {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        Request { directory: self.directory.clone(), platforms, recursive: self.recursive, check: self.check }
    }
}

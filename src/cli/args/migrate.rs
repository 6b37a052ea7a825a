//! The options of `migrate`.

use super::global::Target;
use super::{Locking, Modules, Within};
use crate::commands::LockOptions;
use crate::commands::migrate::Request;

/// Move the lock file to the other tool, at the same versions.
///
/// Moves entries of registry.terraform.io to registry.opentofu.org, or the other way round, and verifies each release
/// afresh. If its signed checksums list the recorded archives, the archives are identical: it keeps the hashes, and the pin
/// of the old address applies to the new one. All others are first uses. Providers of other registries stay unchanged. If
/// a version does not exist there, it writes nothing, in no root module.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock migrate --to tofu --dry-run\n  tflock migrate -r --to tofu --edit-config\n  tflock migrate --to terraform"
)]
pub(in crate::cli) struct MigrateArgs {
    /// The tool to move to.
    #[arg(long, value_name = "TOOL", value_enum)]
    to: Target,
    /// Also write the new host where source addresses in the configuration name the old one.
    #[arg(long)]
    edit_config: bool,
    #[command(flatten)]
    pub(super) locking: Locking,
    /// Write nothing; exit 1 if a file would change.
    #[arg(long)]
    check: bool,
    /// Work in every root module below: each directory with a lock file.
    #[arg(short, long)]
    recursive: bool,
    #[command(flatten)]
    pub(super) modules: Modules,
    #[command(flatten)]
    pub(super) within: Within,
}

impl MigrateArgs {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> Request {
        let options = LockOptions {
            check: self.check,
            accept_no_configuration: true,
            accept_missing_modules: true,
            ..self.locking.options()
        };
        Request { to: self.to.dialect(), recursive: self.recursive, edit_config: self.edit_config, options }
    }
}

//! `migrate`: moves lock files to the other tool.

use super::Services;
use super::lock::command::run;
use super::lock::request::{LockRequest, Migration, Preparation, WriteMode};
use super::shared::options::{LockFlags, Modules, Within};
use super::shared::targets::{Targets, Unlocked};
use crate::dialect::Dialect;
use crate::error::Error;
use crate::outcome::{Body, Outcome, RootOutcome};

/// Move the lock file to the other tool, at the same versions.
///
/// Moves entries of registry.terraform.io to registry.opentofu.org, or the other way round, and verifies each release
/// afresh. If its signed checksums list the recorded archives, the archives are identical: it keeps the hashes, and the pin
/// of the old address applies to the new one. All others are first uses. Providers of other registries stay unchanged. If
/// a version does not exist there, it writes nothing, in no root module.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock migrate --to tofu --dry-run\n  tflock migrate -r --to tofu --edit-config\n  tflock migrate --to terraform"
)]
pub(crate) struct MigrateArgs {
    /// The tool to move to.
    #[arg(long, value_name = "TOOL", value_enum)]
    pub(crate) to: MigrateTarget,
    /// Also write the new host where source addresses in the configuration name the old one.
    #[arg(long)]
    pub(crate) edit_config: bool,
    #[command(flatten)]
    pub(crate) locking: LockFlags,
    /// Write nothing; exit 1 if a file would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// Work in every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// The values of `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MigrateTarget {
    /// OpenTofu, with registry.opentofu.org.
    Tofu,
    /// Terraform, with registry.terraform.io.
    Terraform,
}

impl MigrateTarget {
    fn dialect(self) -> Dialect {
        match self {
            MigrateTarget::Tofu => Dialect::OpenTofu,
            MigrateTarget::Terraform => Dialect::Terraform,
        }
    }
}

/// Moves lock files to the other tool, all of them or none.
pub fn migrate(args: &MigrateArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let migration = Migration { to: args.to.dialect(), edit_config: args.edit_config };
    let request = LockRequest {
        command: "migrate",
        preparation: Preparation::Migrate(migration),
        accept_no_configuration: true,
        accept_missing_modules: true,
        found: args.recursive,
        ..args.locking.request(args.check)
    };
    let mut targets = Targets::of(&services.scope, args.recursive, Unlocked::Reported)?.with_ordinary_lock_files()?;
    let skipped = targets.leave_out_kinds("migrate", |traits| traits.no_migration)?;
    let mut outcome = run(&request, &targets, services);
    let held_up = |root: &RootOutcome| matches!(&root.body, Ok(Body::Changes(it)) if it.changed && !it.written);
    if request.mode == WriteMode::Write && outcome.roots.iter().any(held_up) {
        outcome.notes.push("nothing was written, since not every root module can be migrated");
    }
    outcome.notes.extend(skipped);
    Ok(outcome)
}

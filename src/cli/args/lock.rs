//! The options of `lock`.

use std::path::PathBuf;

use super::{Below, Locking, Modules, Within};
use crate::commands::LockOptions;
use crate::commands::locking::{Publish, Request};
use crate::version::Version;

/// Complete the lock file.
///
/// Adds the providers that the configuration needs, keeps selected versions, adds the hashes of missing platforms and
/// updates constraints. Removes nothing without --prune. Platforms come from --platform, else from .tflock.hcl, else from
/// the lock file plus the current machine. Also known as `tflock providers lock`.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock lock --platform linux_amd64 --platform darwin_arm64\n  tflock lock --check\n  tflock lock --dry-run hashicorp/aws"
)]
pub(in crate::cli) struct LockArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR")]
    pub(super) providers: Vec<String>,
    #[command(flatten)]
    pub(super) locking: Locking,
    /// Write nothing; exit 1 if the file would change.
    #[arg(long)]
    check: bool,
    /// Read no configuration; complete the hashes of the existing entries.
    #[arg(long, conflicts_with = "prune")]
    from_lock: bool,
    /// Remove entries that the configuration does not require.
    #[arg(long)]
    prune: bool,
    /// A state file, or the output of `state pull`: providers in it are kept.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Replace the hashes of a release that was published again; may be repeated.
    #[arg(long, value_name = "ADDR@VERSION", value_parser = release, requires = "reason")]
    accept_republished: Vec<(String, Version)>,
    /// The reason; it is kept in the trust file.
    #[arg(long, value_name = "TEXT", requires = "accept_republished", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: Option<String>,
    /// Lock modules too: writes .tflock.modules.hcl, which later runs keep complete.
    #[arg(long, conflicts_with = "from_lock")]
    lock_modules: bool,
    /// With -r: also in directories with configuration that no module calls and that have no lock file.
    #[arg(long, requires = "recursive")]
    create: bool,
    /// Then write the hashes that this machine computed for the locked packages to a shared index: --index or `TFLOCK_INDEX`.
    #[arg(long, conflicts_with_all = ["check", "dry_run"])]
    publish: bool,
    /// The URL of the shared index to write to. Settings in the working tree cannot name it.
    #[arg(long, value_name = "URL", requires = "publish")]
    index: Option<String>,
    #[command(flatten)]
    below: Below,
    #[command(flatten)]
    pub(super) modules: Modules,
    #[command(flatten)]
    pub(super) within: Within,
}

impl LockArgs {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> Request {
        let options = LockOptions {
            check: self.check,
            from_lock: self.from_lock,
            prune: self.prune,
            state: self.state.clone(),
            providers: self.providers.clone(),
            accept_republished: self.accept_republished.clone(),
            reason: self.reason.clone(),
            lock_modules: self.lock_modules,
            ..self.locking.options()
        };
        let publish = self.publish.then(|| Publish { index: self.index.clone() });
        Request { options, below: self.below.targets(), create: self.create, publish }
    }
}

fn release(text: &str) -> Result<(String, Version), String> {
    let (addr, version) = text.split_once('@').filter(|(addr, _)| !addr.is_empty()).ok_or("expected ADDR@VERSION")?;
    let version = version.parse().map_err(|problem| format!("{problem}"))?;
    Ok((addr.to_owned(), version))
}

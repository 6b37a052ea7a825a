//! `remove`: removes a requirement and its lock file entry.

use std::collections::BTreeSet;

use super::lock::LockRoot;
use super::lock::requirements;
use super::locking::{Locking, run};
use super::options::{Modules, Within};
use super::targets::{Targets, Unlocked};
use super::{LockOptions, Services};
use crate::diff::{Change, ChangeKind};
use crate::disk::roots::file_from;
use crate::error::Error;
use crate::outcome::{Body, Outcome};
use crate::path::shown;
use crate::workspace::RunSettings;

/// Remove a requirement and its lock file entry.
///
/// Refuses while something still uses the provider, unless forced. The signer stays trusted. If you re-add the provider,
/// versions in git history keep their recorded hashes; other versions are a first use. An entry that another module
/// requires stays.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example:\n  tflock remove hashicorp/random")]
pub(crate) struct RemoveArgs {
    /// Source addresses.
    #[arg(value_name = "ADDR", required = true)]
    pub(crate) providers: Vec<String>,
    /// Remove the provider even if something uses it.
    #[arg(long)]
    pub(crate) force: bool,
    /// Leave the configuration unchanged.
    #[arg(long)]
    pub(crate) lock_only: bool,
    /// Write nothing; print the diff.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

pub fn remove(args: &RemoveArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let options = LockOptions { dry_run: args.dry_run, accept_no_configuration: true, ..LockOptions::default() };
    let targets = Targets::of(&services.scope, false, Unlocked::Reported)?;
    let prepare = |root: LockRoot, settings: &RunSettings, notes: &mut BTreeSet<String>| {
        let root = requirements::remove(root, settings, args)?;
        notes.extend(still_required(&root, settings).filter(|_| !args.lock_only));
        Ok(root)
    };
    let locking = Locking { command: "remove", fail_fast: false, options, prepare: Some(&prepare), to: None };
    let mut outcome = run(locking, &targets, services);
    if outcome.roots.iter().any(|root| is_unused(&root.body)) {
        outcome.notes.push(
            "the signer stays trusted; if you re-add the provider, versions in git history keep their recorded hashes, and \
             other versions are a first use"
                .to_owned(),
        );
    }
    Ok(outcome)
}

fn is_unused(body: &Result<Body, Error>) -> bool {
    let is_removed = |change: &Change| change.kind == ChangeKind::Removed;
    matches!(body, Ok(Body::Changes(changes)) if changes.written && changes.changes.iter().any(is_removed))
}

/// Notes about providers that are still required, each with its first requirement.
fn still_required<'a>(root: &'a LockRoot, settings: &'a RunSettings) -> impl Iterator<Item = String> + 'a {
    root.requested().into_iter().filter_map(|addr| {
        let origin = root.requirements.get(&addr)?.origins.first()?;
        let caller = origin.caller();
        let (name, file) = (addr.short(settings.dialect), file_from(&settings.path, &origin.file));
        Some(format!("{name} stays locked: {caller} requires it ({}:{})", shown(&file), origin.position))
    })
}

//! `add` and `remove`: requirements of the configuration, with their entries in the lock file.

use super::Services;
use super::lock::addition::{AddFlags, Addition};
use super::lock::command::run;
use super::lock::request::{LockRequest, Preparation, Removal, WriteMode};
use super::shared::options::{LockFlags, Modules, Within};
use super::shared::targets::{Targets, Unlocked};
use crate::diff::{Change, ChangeKind};
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Outcome};

/// Require a provider and lock it.
///
/// Writes the requirement into the `required_providers` block, or into versions.tf if there is none, keeps every other
/// byte, and locks the provider. The default constraint is `~> MAJOR.MINOR` of the newest release that may be selected. A provider that
/// was locked before, according to Git history, is not a first use: that version is checked against the hashes recorded then. On
/// any error neither file changes.
#[derive(Debug, Clone, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock add hashicorp/random\n  tflock add 'hashicorp/aws@~> 5.31'\n  tflock add hashicorp/tls --pin"
)]
pub(crate) struct AddArgs {
    /// Source addresses, each with an optional version constraint.
    #[arg(value_name = "ADDR[@CONSTRAINT]", required = true)]
    pub(crate) providers: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: AddFlags,
    #[command(flatten)]
    pub(crate) locking: LockFlags,
    #[command(flatten)]
    pub(crate) modules: Modules,
    #[command(flatten)]
    pub(crate) within: Within,
}

impl AddArgs {
    fn additions(&self) -> Vec<Addition> {
        self.providers.iter().map(|text| self.addition(text)).collect()
    }

    fn addition(&self, text: &str) -> Addition {
        let (source, constraint) = match text.split_once('@') {
            Some((source, constraint)) => (source.to_owned(), Some(constraint.to_owned())),
            None => (text.to_owned(), None),
        };
        Addition { source, constraint, flags: self.flags.clone() }
    }
}

pub fn add(args: &AddArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    let additions = args.additions();
    if additions.len() != 1 && args.flags.name.is_some() {
        return Err(Error::new(ErrorKind::Usage, "--name is the local name of one provider, but several are named"));
    }
    if services.is_above_root_modules() {
        let message = "there is neither configuration nor a lock file here, and there are root modules below";
        let hint = "name the root module with -C; for a new one here, write its versions.tf first";
        return Err(Error::new(ErrorKind::Usage, message).hint(hint));
    }
    let targets = Targets::of(&services.scope, false, Unlocked::Reported)?;
    let request = LockRequest {
        command: "add",
        preparation: Preparation::Add(additions),
        accept_no_configuration: true,
        no_lock: args.flags.no_lock,
        ..args.locking.request(false)
    };
    Ok(run(&request, &targets, services))
}

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
    let RemoveArgs { force, lock_only, .. } = *args;
    let request = LockRequest {
        command: "remove",
        preparation: Preparation::Remove(Removal { providers: args.providers.clone(), force, lock_only }),
        mode: if args.dry_run { WriteMode::DryRun } else { WriteMode::Write },
        accept_no_configuration: true,
        ..LockRequest::default()
    };
    let targets = Targets::of(&services.scope, false, Unlocked::Reported)?;
    let mut outcome = run(&request, &targets, services);
    if outcome.roots.iter().any(|root| is_unused(&root.body)) {
        outcome.notes.push(
            "the signer stays trusted; if you re-add the provider, versions in git history keep their recorded hashes, and \
             other versions are a first use",
        );
    }
    Ok(outcome)
}

fn is_unused(body: &Result<Body, Error>) -> bool {
    let is_removed = |change: &Change| change.kind == ChangeKind::Removed;
    matches!(body, Ok(Body::Changes(changes)) if changes.written && changes.changes.iter().any(is_removed))
}

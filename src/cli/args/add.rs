//! The options of `add` and `remove`.

use super::{Locking, Modules, Within};
use crate::commands::edit_requirements::Removal;
use crate::commands::lock::Addition;
use crate::commands::{LockOptions, add, remove};

/// Require a provider and lock it.
///
/// Writes the requirement into the `required_providers` block, or into versions.tf if there is none, keeps every other
/// byte, and locks the provider. The default constraint is `~> MAJOR.MINOR` of the newest release that may be selected. A provider that
/// was locked before, by git's history, is no first use: that version is held to the hashes recorded then. On any error
/// neither file changes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock add hashicorp/random\n  tflock add 'hashicorp/aws@~> 5.31'\n  tflock add hashicorp/tls --pin"
)]
pub(in crate::cli) struct AddArgs {
    /// Source addresses, each with an optional version constraint.
    #[arg(value_name = "ADDR[@CONSTRAINT]", required = true)]
    pub(super) providers: Vec<String>,
    /// The local name, for one provider; by default its type.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Require exactly the version that is selected.
    #[arg(long)]
    pin: bool,
    /// Change an existing requirement.
    #[arg(long)]
    replace: bool,
    /// Leave the configuration unchanged.
    #[arg(long, conflicts_with_all = ["name", "replace"])]
    lock_only: bool,
    #[command(flatten)]
    pub(super) locking: Locking,
    #[command(flatten)]
    pub(super) modules: Modules,
    #[command(flatten)]
    pub(super) within: Within,
}

impl AddArgs {
    fn additions(&self) -> Vec<Addition> {
        let addition = |text: &String| {
            let (source, constraint) = match text.split_once('@') {
                Some((source, constraint)) => (source.to_owned(), Some(constraint.to_owned())),
                None => (text.clone(), None),
            };
            let name = self.name.clone();
            Addition { source, constraint, name, pin: self.pin, replace: self.replace, lock_only: self.lock_only }
        };
        self.providers.iter().map(addition).collect()
    }

    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> add::Request {
        let options = LockOptions { accept_no_configuration: true, ..self.locking.options() };
        add::Request { additions: self.additions(), options }
    }
}

/// Remove a requirement and its lock file entry.
///
/// Refuses while something still uses the provider, unless forced. The signer stays trusted. If you re-add the provider,
/// versions in git history keep their recorded hashes; other versions are a first use. An entry that another module
/// requires stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock remove hashicorp/random")]
pub(in crate::cli) struct RemoveArgs {
    /// Source addresses.
    #[arg(value_name = "ADDR", required = true)]
    pub(super) providers: Vec<String>,
    /// Remove the provider even if something uses it.
    #[arg(long)]
    force: bool,
    /// Leave the configuration unchanged.
    #[arg(long)]
    lock_only: bool,
    /// Write nothing; print the diff.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub(super) modules: Modules,
    #[command(flatten)]
    pub(super) within: Within,
}

impl RemoveArgs {
    /// What was asked for.
    pub(in crate::cli) fn request(&self) -> remove::Request {
        let removal = Removal { providers: self.providers.clone(), force: self.force, lock_only: self.lock_only };
        remove::Request { removal, dry_run: self.dry_run }
    }
}

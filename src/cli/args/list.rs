//! Arguments of `list` and `why`.

use clap::ValueEnum;

use super::global::Within;
use super::modules::{Assignments, Modules};
use crate::commands::{list, why};
use crate::outcome::Grouping;

/// The values of `--by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum By {
    /// Which versions of each provider, and where.
    Provider,
    /// What each root module locks.
    Root,
}

impl By {
    fn grouping(self) -> Grouping {
        match self {
            By::Provider => Grouping::Provider,
            By::Root => Grouping::Root,
        }
    }
}

/// List the entries of the lock file.
///
/// Lists each provider with its version, its hashes and their known platforms, and the signer if an earlier run kept the
/// signature; with -v also its constraints. With several root modules: which versions of it are locked, and where.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tflock list\n  tflock list -r hashicorp/aws")]
pub(in crate::cli) struct ListArgs {
    /// Only these providers, by source address.
    #[arg(value_name = "ADDR", conflicts_with = "modules")]
    pub(in crate::cli) providers: Vec<String>,
    /// List the calls of remote modules instead, with the locked versions.
    #[arg(long, conflicts_with = "by")]
    modules: bool,
    /// Look at every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(in crate::cli) recursive: bool,
    /// With several root modules: which versions of each provider, or what each root module locks.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = By::Provider)]
    pub(in crate::cli) by: By,
    #[command(flatten)]
    pub(in crate::cli) variables: Assignments,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

/// Show who requires a provider.
///
/// Shows which module, file and line requires a provider and with which constraint, through the whole module tree, and
/// the locked version. Without ADDR: every provider.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock why hashicorp/random")]
pub(in crate::cli) struct WhyArgs {
    /// Provider source addresses, such as hashicorp/aws.
    #[arg(value_name = "ADDR")]
    pub(in crate::cli) providers: Vec<String>,
    /// Look at every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(in crate::cli) recursive: bool,
    #[command(flatten)]
    pub(in crate::cli) modules: Modules,
    #[command(flatten)]
    pub(in crate::cli) within: Within,
}

impl ListArgs {
    pub(in crate::cli) fn request(&self) -> list::Request {
        list::Request {
            providers: self.providers.clone(),
            recursive: self.recursive,
            by: self.by.grouping(),
            modules: self.modules,
        }
    }
}

impl WhyArgs {
    pub(in crate::cli) fn request(&self) -> why::Request {
        why::Request { providers: self.providers.clone(), recursive: self.recursive }
    }
}

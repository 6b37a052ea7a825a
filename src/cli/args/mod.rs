//! The arguments of the command line. The doc comments are the help texts.

mod parsing;
#[cfg(test)]
mod tests;

use clap::Subcommand;
use clap_complete::Shell;

use crate::commands::audit::AuditArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::fmt::FmtArgs;
use crate::commands::get::GetArgs;
use crate::commands::hashes::{CacheArgs, HashArgs};
use crate::commands::install::InstallArgs;
use crate::commands::list::{ListArgs, WhyArgs};
use crate::commands::lock::command::LockArgs;
use crate::commands::merge::git::GitArgs;
use crate::commands::merge::{MergeArgs, TextconvArgs};
use crate::commands::migrate::MigrateArgs;
use crate::commands::mirror::MirrorArgs;
use crate::commands::outdated::OutdatedArgs;
use crate::commands::requirements::{AddArgs, RemoveArgs};
use crate::commands::sbom::SbomArgs;
use crate::commands::setup::SetupArgs;
use crate::commands::status::StatusArgs;
use crate::commands::trust::TrustArgs;
use crate::commands::upgrade::UpgradeArgs;
use crate::commands::verify::VerifyArgs;
use crate::error::{Error, ErrorKind};

pub(super) use parsing::{Arguments, Global, Tool, command, normalize, wants_json};

// The commands; a doc comment would be the help of the program. Describing all of them takes longer than most commands
// run, so each is described on use.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    Lock(LockArgs),
    Verify(VerifyArgs),
    Explain(ExplainArgs),
    #[command(hide = true, subcommand_required = true, arg_required_else_help = true)]
    Providers {
        #[command(subcommand)]
        command: ProvidersCommand,
    },
    #[command(hide = true, subcommand_required = true, arg_required_else_help = true)]
    Stacks {
        #[command(subcommand)]
        command: StacksCommand,
    },
    Add(AddArgs),
    Remove(RemoveArgs),
    Upgrade(UpgradeArgs),
    Outdated(OutdatedArgs),
    Migrate(MigrateArgs),
    Mirror(MirrorArgs),
    Install(InstallArgs),
    Sbom(SbomArgs),
    Audit(AuditArgs),
    Get(GetArgs),
    Fmt(FmtArgs),
    Hash(HashArgs),
    Status(StatusArgs),
    Setup(SetupArgs),
    List(ListArgs),
    Why(WhyArgs),
    Diff(DiffArgs),
    Trust(TrustArgs),
    Merge(MergeArgs),
    Textconv(TextconvArgs),
    Git(GitArgs),
    Cache(CacheArgs),
    Completions(CompletionsArgs),
    /// Print the JSON schema of the documents of --format json.
    Schema,
    /// Print the version.
    Version,
    Help(HelpArgs),
    Man(ManArgs),
}

impl Command {
    /// True if it sends no request, whatever the working tree contains, and shows what earlier runs learned.
    pub(super) fn sends_nothing(&self) -> bool {
        match self {
            // Modules only show whether a provider is required.
            Self::List(list) => !list.modules,
            Self::Diff(diff) => !diff.online,
            Self::Mirror(mirror) => mirror.check,
            Self::Explain(explain) => !explain.online,
            Self::Status(_) | Self::Setup(_) => true,
            _ => false,
        }
    }
}

/// The commands in groups, as `tflock` without arguments and `tflock help` print them. Usage, groups and footer must fit a terminal of
/// 80 by 24.
pub(super) const GROUPS: [(&str, &[(&str, &str)]); 4] = [
    (
        "Everyday",
        &[
            ("status, setup", "Show the state of a repository, or set it up"),
            ("lock", "Complete the lock file with the hashes of every platform"),
            ("add, remove", "Change what the configuration requires, and lock it"),
            ("upgrade, outdated", "Select the newest allowed versions, or show them"),
            ("list, why", "Show what is locked, and who requires it"),
            ("install", "Install the locked providers and modules"),
        ],
    ),
    (
        "Review and CI",
        &[
            ("verify", "Check the lock file: the gate for CI"),
            ("diff, explain", "Explain a change, a rule, a hash or a provider"),
        ],
    ),
    ("Trust", &[("trust", "Manage the remembered signers")]),
    ("Also", &[("audit, sbom, mirror, migrate, merge, git, fmt, cache, help", "")]),
];

/// Terraform's name for lock.
#[derive(Debug, Subcommand)]
pub(super) enum ProvidersCommand {
    Lock(LockArgs),
}

/// Terraform's name for lock where it runs Stacks.
#[derive(Debug, Subcommand)]
pub(super) enum StacksCommand {
    ProvidersLock(LockArgs),
}

/// Print the help of a command, a topic or a rule.
///
/// Prints what `tflock COMMAND --help` prints; without COMMAND the commands in groups. For a topic such as settings, or the id
/// of a rule, prints what `tflock explain` prints.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tflock help trust rotate\n  tflock help settings\n  tflock help signer-changed")]
pub(super) struct HelpArgs {
    /// A command with its subcommand, a topic or a rule.
    #[arg(value_name = "COMMAND|TOPIC|RULE")]
    pub(super) command: Vec<String>,
    /// List all commands.
    #[arg(long, conflicts_with = "command")]
    pub(super) all: bool,
}

/// Print a manual page.
///
/// Prints a manual page in roff: that of a command, for instance into ~/.local/share/man/man1/tflock-lock.1, or without
/// COMMAND that of the program.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock man lock > ~/.local/share/man/man1/tflock-lock.1")]
pub(super) struct ManArgs {
    /// The command; its subcommands are on the same page.
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Print a completion script for a shell.
///
/// The script calls tflock, which suggests the providers and root modules found there, platforms, rules and topics.
/// Save it as ~/.local/share/bash-completion/completions/tflock for bash, as ~/.config/fish/completions/tflock.fish for
/// fish, and for zsh as _tflock in a directory of $fpath.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock completions bash > ~/.local/share/bash-completion/completions/tflock")]
pub(super) struct CompletionsArgs {
    /// The shell. Default: the one in the variable SHELL.
    #[arg(value_name = "SHELL")]
    shell: Option<Shell>,
}

impl CompletionsArgs {
    /// The named shell, else the one of the variable `SHELL`.
    pub(super) fn shell(&self, variable: Option<&str>) -> Result<Shell, Error> {
        let unknown = || {
            let error =
                Error::new(ErrorKind::Usage, "there is no completion script for the shell in the variable SHELL");
            error.hint(step!("name the shell: `tflock completions bash`"))
        };
        self.shell.or_else(|| Shell::from_shell_path(variable?)).ok_or_else(unknown)
    }
}

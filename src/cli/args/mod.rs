//! The arguments of the command line. The doc comments are the help texts.

mod global;
mod parsing;
mod single_dash;

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

use crate::commands::add::AddArgs;
use crate::commands::audit::AuditArgs;
use crate::commands::cache::CacheArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::explain::ExplainArgs;
use crate::commands::fmt::FmtArgs;
use crate::commands::get::GetArgs;
use crate::commands::git::GitArgs;
use crate::commands::hash::HashArgs;
use crate::commands::install::InstallArgs;
use crate::commands::list::ListArgs;
use crate::commands::locking::LockArgs;
use crate::commands::merge::{MergeArgs, TextconvArgs};
use crate::commands::migrate::MigrateArgs;
use crate::commands::mirror::MirrorArgs;
use crate::commands::options::{Assignments, Modules, Packages, Within};
use crate::commands::outdated::OutdatedArgs;
use crate::commands::remove::RemoveArgs;
use crate::commands::sbom::SbomArgs;
use crate::commands::trust::TrustArgs;
use crate::commands::upgrade::UpgradeArgs;
use crate::commands::verify::VerifyArgs;
use crate::commands::why::WhyArgs;
use crate::disk::roots::{ModuleAccess, ModuleLookup};
use crate::error::{Error, ErrorKind};
use crate::workspace::{Environment, Readings, Scope};

pub(super) use global::{Global, Tool};
pub(super) use parsing::{Arguments, command};
pub(super) use single_dash::{double_dashes, wants_json};

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

/// Terraform's name for lock.
#[derive(Debug, Subcommand)]
pub(super) enum ProvidersCommand {
    Lock(LockArgs),
}

/// Print the help of a command.
///
/// Prints what `tflock COMMAND --help` prints; without COMMAND the list of commands. `tflock explain` has the rules and
/// topics such as settings and trust.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock help trust rotate")]
pub(super) struct HelpArgs {
    /// The command, and the one below it.
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Print a manual page.
///
/// Prints a manual page in roff: that of a command, for instance into ~/.local/share/man/man1/tflock-lock.1, or without
/// COMMAND that of the program.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock man lock > ~/.local/share/man/man1/tflock-lock.1")]
pub(super) struct ManArgs {
    /// The command; what is below it is on the same page.
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
    /// The shell; that of the variable SHELL by default.
    #[arg(value_name = "SHELL")]
    shell: Option<Shell>,
}

impl CompletionsArgs {
    /// The named shell, else the one of the variable `SHELL`.
    pub(super) fn shell(&self, variable: Option<&str>) -> Result<Shell, Error> {
        let unknown = || {
            let error =
                Error::new(ErrorKind::Usage, "there is no completion script for the shell in the variable SHELL");
            error.hint("name the shell: `tflock completions bash`")
        };
        self.shell.or_else(|| Shell::from_shell_path(variable?)).ok_or_else(unknown)
    }
}

/// The arguments that all commands share.
#[derive(Debug, Default)]
pub(super) struct Common<'a> {
    /// The command as shown in reports.
    pub(super) name: &'static str,
    within: Option<&'a Within>,
    /// Only commands that request packages have these options.
    packages: Option<&'a Packages>,
    /// Only commands that read modules have these options.
    modules: Option<ModuleAccess>,
    /// As typed.
    pub(super) providers: Vec<&'a str>,
}

impl Command {
    pub(super) fn common(&self) -> Common<'_> {
        fn of<'a>(name: &'static str, within: &'a Within, providers: &'a [String]) -> Common<'a> {
            // The arguments of `add` may end in a constraint.
            let typed = providers.iter().map(|text| text.split_once('@').map_or(text.as_str(), |(name, _)| name));
            Common { name, within: Some(within), providers: typed.collect(), ..Common::default() }
        }
        let with_modules = |modules: &Modules, common| Common { modules: Some(modules.access()), ..common };
        let with_variables = |variables: &Assignments, common| Common { modules: Some(variables.access()), ..common };
        let alone = |name| Common { name, ..Common::default() };
        match self {
            Command::Lock(args) | Command::Providers { command: ProvidersCommand::Lock(args) } => {
                let common = with_modules(&args.modules, of("lock", &args.within, &args.providers));
                Common { packages: Some(&args.locking.packages), ..common }
            }
            Command::Add(args) => {
                let common = with_modules(&args.modules, of("add", &args.within, &args.providers));
                Common { packages: Some(&args.locking.packages), ..common }
            }
            Command::Remove(args) => with_modules(&args.modules, of("remove", &args.within, &args.providers)),
            Command::Upgrade(args) => {
                let common = with_variables(&args.variables, of("upgrade", &args.within, &args.providers));
                Common { packages: Some(&args.locking.packages), ..common }
            }
            Command::Outdated(args) => {
                let common = with_variables(&args.variables, of("outdated", &args.within, &args.providers));
                Common { packages: Some(&args.packages), ..common }
            }
            Command::Migrate(args) => {
                let common = with_modules(&args.modules, of("migrate", &args.within, &[]));
                Common { packages: Some(&args.locking.packages), ..common }
            }
            Command::Sbom(args) => Common { packages: Some(&args.packages), ..of("sbom", &args.within, &[]) },
            Command::Audit(args) => Common { packages: Some(&args.packages), ..of("audit", &args.within, &[]) },
            Command::Mirror(args) => Common { packages: Some(&args.packages), ..of("mirror", &args.within, &[]) },
            Command::Verify(args) => {
                let common = with_modules(&args.modules, of("verify", &args.within, &[]));
                Common { packages: Some(&args.packages), ..common }
            }
            Command::Explain(args) => {
                Common { providers: args.topic.as_deref().into_iter().collect(), ..of("explain", &args.within, &[]) }
            }
            Command::Install(args) => {
                let common = with_variables(&args.variables, of("install", &args.within, &args.providers));
                Common { packages: Some(&args.packages), ..common }
            }
            Command::Get(args) => with_variables(&args.variables, of("get", &args.within, &[])),
            Command::Fmt(args) => of("fmt", &args.within, &[]),
            Command::Hash(args) => of("hash", &args.within, &[]),
            Command::List(args) => with_variables(&args.variables, of("list", &args.within, &args.providers)),
            Command::Why(args) => with_modules(&args.modules, of("why", &args.within, &args.providers)),
            Command::Diff(args) => Common { packages: Some(&args.packages), ..of("diff", &args.within, &[]) },
            Command::Trust(args) => {
                let (within, providers) = (args.command.within(), args.command.providers());
                Common { packages: args.command.packages(), providers, ..of("trust", within, &[]) }
            }
            Command::Merge(args) => of("merge", &args.within, &[]),
            Command::Textconv(args) => of("textconv", &args.within, &[]),
            Command::Git(args) => of("git", &args.within, &[]),
            Command::Cache(_) => alone("cache"),
            Command::Completions(_) => alone("completions"),
            Command::Man(_) => alone("man"),
            Command::Schema => alone("schema"),
            Command::Version => alone("version"),
            Command::Help(_) => alone("help"),
        }
    }
}

impl Arguments {
    /// The directories of `-C`, before and after the command.
    fn directories(&self) -> Vec<PathBuf> {
        let behind = self.command.common().within.into_iter().flat_map(|within| &within.chdir);
        self.within.chdir.iter().chain(behind).cloned().collect()
    }

    /// The directories and options for all root modules.
    pub(super) fn scope(&self, environment: &Environment) -> Scope {
        let Common { packages, modules, .. } = self.command.common();
        let modules = modules.unwrap_or_else(|| ModuleAccess { lookup: ModuleLookup::Auto, ..ModuleAccess::default() });
        Scope {
            named: self.directories(),
            tool: self.global.tool.map(Tool::choice),
            trust_file: self.global.trust_file.clone(),
            source: packages.and_then(Packages::choice),
            offline: self.global.offline,
            no_cache: self.global.no_cache,
            modules,
            environment: environment.clone(),
            readings: Readings::default(),
        }
    }
}

#[cfg(test)]
mod tests;

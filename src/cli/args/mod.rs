//! The command line: what can be typed. The doc comments are the help.

mod add;
mod cache;
mod diff;
mod git;
mod global;
mod list;
mod lock;
mod locking;
mod migrate;
mod mirror;
mod modules;
mod parsing;
mod single_dash;
mod source;
mod trust;
mod upgrade;
mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

use crate::commands::{fmt, get, hash};
use crate::disk::roots::{ModuleAccess, ModuleLookup};
use crate::error::{Error, ErrorKind};
use crate::settings::SourceChoice;
use crate::workspace::{Environment, Readings, Scope};

pub(super) use add::{AddArgs, RemoveArgs};
pub(super) use cache::CacheArgs;
pub(super) use diff::DiffArgs;
pub(super) use git::{GitArgs, MergeArgs, TextconvArgs};
use global::Below;
pub(super) use global::{Global, Tool, Within};
pub(super) use list::{ListArgs, WhyArgs};
pub(super) use lock::LockArgs;
use locking::Locking;
pub(super) use migrate::MigrateArgs;
pub(super) use mirror::MirrorArgs;
use modules::{Assignments, Modules};
pub(super) use parsing::{Arguments, command};
pub(super) use single_dash::{double_dashes, wants_json};
use source::Packages;
pub(super) use trust::TrustArgs;
pub(super) use upgrade::{OutdatedArgs, UpgradeArgs};
pub(super) use verify::{ExplainArgs, VerifyArgs};

// The commands; a doc comment would be the help of the program. Each is described when it is asked for: to describe them all takes longer than most of them run.
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

/// Write the lock file as the tools write it.
///
/// Rewrites dependency lock files in their canonical text: order, spacing, each hash once. Refuses what the tools refuse.
/// Without FILE the lock file of the root module; `-` reads standard input and writes standard output.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tflock fmt\n  tflock fmt --check -r\n  git show HEAD:./.terraform.lock.hcl | tflock fmt -"
)]
pub(super) struct FmtArgs {
    /// Write nothing; exit 1 if a file would change.
    #[arg(long)]
    pub(super) check: bool,
    /// The lock files, or - for standard input.
    #[arg(value_name = "FILE|-")]
    pub(super) files: Vec<PathBuf>,
    /// Format every lock file below.
    #[arg(short, long, conflicts_with = "files")]
    pub(super) recursive: bool,
    #[command(flatten)]
    pub(super) within: Within,
}

/// Install the locked modules.
///
/// Puts the modules that .tflock.modules.hcl locks into .terraform/modules, each verified, with a modules.json that init
/// leaves as it is. What a tag or branch is now does not matter: a git package is fetched by its locked commit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock get && terraform init -lockfile=readonly")]
pub(super) struct GetArgs {
    /// In every root module below: each directory with a lock file.
    #[arg(short, long)]
    pub(super) recursive: bool,
    #[command(flatten)]
    variables: Assignments,
    #[command(flatten)]
    pub(super) within: Within,
}

/// Print the hashes of provider packages.
///
/// Prints the zh: and h1: of archives and the h1: of unpacked directories, one line `HASH  PATH` each, as a lock file
/// records them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock hash terraform-provider-null_3.2.4_linux_amd64.zip")]
pub(super) struct HashArgs {
    /// Archives and directories.
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) within: Within,
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
    /// The command; what stands below it is on the same page.
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
}

/// Print a completion script for a shell.
///
/// The script asks tflock itself, which offers the providers and root modules of the place, platforms, rules and topics.
/// Save it as ~/.local/share/bash-completion/completions/tflock for bash, as ~/.config/fish/completions/tflock.fish for
/// fish, and for zsh as _tflock in a directory of $fpath.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  tflock completions bash > ~/.local/share/bash-completion/completions/tflock")]
pub(super) struct CompletionsArgs {
    /// The shell; that of the variable SHELL unless told otherwise.
    #[arg(value_name = "SHELL")]
    shell: Option<Shell>,
}

impl CompletionsArgs {
    /// The shell that was named, else that of the variable `SHELL`.
    pub(super) fn shell(&self, variable: Option<&str>) -> Result<Shell, Error> {
        let unknown = || {
            let error = Error::new(ErrorKind::Usage, "the variable SHELL names no shell that there is a script for");
            error.hint("name the shell: `tflock completions bash`")
        };
        self.shell.or_else(|| Shell::from_shell_path(variable?)).ok_or_else(unknown)
    }
}

impl FmtArgs {
    pub(super) fn request(&self) -> fmt::Request {
        fmt::Request { check: self.check, files: self.files.clone(), recursive: self.recursive }
    }
}

impl GetArgs {
    pub(super) fn request(&self) -> get::Request {
        get::Request { recursive: self.recursive }
    }
}

impl HashArgs {
    pub(super) fn request(&self) -> hash::Request {
        hash::Request { paths: self.paths.clone() }
    }
}

impl Command {
    /// The command as reports name it.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Command::Lock(_) | Command::Providers { .. } => "lock",
            Command::Add(_) => "add",
            Command::Remove(_) => "remove",
            Command::Upgrade(_) => "upgrade",
            Command::Outdated(_) => "outdated",
            Command::Migrate(_) => "migrate",
            Command::Mirror(_) => "mirror",
            Command::Verify(_) => "verify",
            Command::Explain(_) => "explain",
            Command::Get(_) => "get",
            Command::Fmt(_) => "fmt",
            Command::Hash(_) => "hash",
            Command::List(_) => "list",
            Command::Why(_) => "why",
            Command::Diff(_) => "diff",
            Command::Trust(_) => "trust",
            Command::Merge(_) => "merge",
            Command::Textconv(_) => "textconv",
            Command::Git(_) => "git",
            Command::Cache(_) => "cache",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Schema => "schema",
            Command::Version => "version",
            Command::Help(_) => "help",
        }
    }

    /// The names of providers as they were typed.
    pub(super) fn providers(&self) -> Vec<&str> {
        let typed = match self {
            Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => &lock.providers,
            Command::Add(add) => &add.providers,
            Command::Remove(remove) => &remove.providers,
            Command::Upgrade(upgrade) => &upgrade.providers,
            Command::Outdated(outdated) => &outdated.providers,
            Command::List(list) => &list.providers,
            Command::Why(why) => &why.providers,
            Command::Explain(explain) => return explain.topic.as_deref().into_iter().collect(),
            Command::Trust(trust) => return trust.command.providers(),
            _ => return Vec::new(),
        };
        // What `add` takes may end in a constraint.
        typed.iter().map(|text| text.split_once('@').map_or(text.as_str(), |(name, _)| name)).collect()
    }

    /// Where modules are looked for: that can be said where it matters most.
    fn modules(&self) -> ModuleAccess {
        let modules = match self {
            Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => &lock.modules,
            Command::Add(add) => &add.modules,
            Command::Remove(remove) => &remove.modules,
            Command::Migrate(migrate) => &migrate.modules,
            Command::Verify(verify) => &verify.modules,
            Command::Why(why) => &why.modules,
            Command::Get(get) => return get.variables.access(),
            Command::Upgrade(upgrade) => return upgrade.variables.access(),
            Command::Outdated(outdated) => return outdated.variables.access(),
            Command::List(list) => return list.variables.access(),
            _ => return ModuleAccess { lookup: ModuleLookup::Auto, ..ModuleAccess::default() },
        };
        modules.access()
    }

    /// Where packages are asked for: that can be said where they are asked for.
    fn source(&self) -> Option<SourceChoice> {
        let packages = match self {
            Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => {
                &lock.locking.packages
            }
            Command::Add(add) => &add.locking.packages,
            Command::Upgrade(upgrade) => &upgrade.locking.packages,
            Command::Migrate(migrate) => &migrate.locking.packages,
            Command::Verify(verify) => &verify.packages,
            Command::Outdated(outdated) => &outdated.packages,
            Command::Diff(diff) => &diff.packages,
            Command::Mirror(mirror) => &mirror.packages,
            Command::Trust(trust) => trust.command.source()?,
            _ => return None,
        };
        packages.choice()
    }

    fn within(&self) -> Option<&Within> {
        match self {
            Command::Lock(lock) | Command::Providers { command: ProvidersCommand::Lock(lock) } => Some(&lock.within),
            Command::Add(add) => Some(&add.within),
            Command::Remove(remove) => Some(&remove.within),
            Command::Upgrade(upgrade) => Some(&upgrade.within),
            Command::Outdated(outdated) => Some(&outdated.within),
            Command::Migrate(migrate) => Some(&migrate.within),
            Command::Mirror(mirror) => Some(&mirror.within),
            Command::Verify(verify) => Some(&verify.within),
            Command::Explain(explain) => Some(&explain.within),
            Command::Get(get) => Some(&get.within),
            Command::Fmt(fmt) => Some(&fmt.within),
            Command::Hash(hash) => Some(&hash.within),
            Command::List(list) => Some(&list.within),
            Command::Why(why) => Some(&why.within),
            Command::Diff(diff) => Some(&diff.within),
            Command::Trust(trust) => Some(trust.command.within()),
            Command::Merge(merge) => Some(&merge.within),
            Command::Textconv(textconv) => Some(&textconv.within),
            Command::Git(git) => Some(&git.within),
            Command::Cache(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Schema
            | Command::Version
            | Command::Help(_) => None,
        }
    }
}

impl Arguments {
    /// The directories of `-C`, before and behind the command.
    fn directories(&self) -> Vec<PathBuf> {
        let behind = self.command.within().into_iter().flat_map(|within| &within.chdir);
        self.within.chdir.iter().chain(behind).cloned().collect()
    }

    /// Where to work, and what holds for all root modules.
    pub(super) fn scope(&self, environment: &Environment) -> Scope {
        Scope {
            named: self.directories(),
            tool: self.global.tool.map(Tool::choice),
            trust_file: self.global.trust_file.clone(),
            source: self.command.source(),
            offline: self.global.offline,
            no_cache: self.global.no_cache,
            modules: self.command.modules(),
            environment: environment.clone(),
            readings: Readings::default(),
        }
    }
}

#[cfg(test)]
mod tests;

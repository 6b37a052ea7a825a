//! The arguments of the command line. The doc comments are the help texts.

mod parsing;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Subcommand;
use clap_complete::Shell;

use super::generated::{self, Length};
use super::{completing, manual};
use crate::commands::Services;
use crate::commands::audit::{self, AuditArgs};
use crate::commands::diff::{self, DiffArgs};
use crate::commands::explain::{self, ExplainArgs};
use crate::commands::fmt::{self, FmtArgs};
use crate::commands::get::{self, GetArgs};
use crate::commands::hashes::{self, CacheArgs, HashArgs};
use crate::commands::install::{self, InstallArgs};
use crate::commands::list::{self, ListArgs, WhyArgs};
use crate::commands::lock::command::{self, LockArgs};
use crate::commands::merge::git::{self, GitArgs};
use crate::commands::merge::{self, MergeArgs, TextconvArgs};
use crate::commands::migrate::{self, MigrateArgs};
use crate::commands::mirror::{self, MirrorArgs};
use crate::commands::outdated::{self, OutdatedArgs};
use crate::commands::requirements::{self, AddArgs, RemoveArgs};
use crate::commands::sbom::{self, SbomArgs};
use crate::commands::shared::options::{Packages, Within};
use crate::commands::status::{self, SetupArgs, StatusArgs};
use crate::commands::trust::{self, TrustArgs};
use crate::commands::upgrade::{self, UpgradeArgs};
use crate::commands::verify::{self, VerifyArgs};
use crate::disk::roots::{ModuleAccess, ModuleLookup};
use crate::error::{Error, ErrorKind};
use crate::outcome::{Body, Generated, Outcome};
use crate::workspace::{Environment, Readings, Scope};

pub(super) use parsing::{Arguments, Global, Tool, command, normalize, wants_json};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/schemas/outcome-1.0.json"));

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

/// The commands in groups, as `tflock` without arguments prints them. Usage, groups and footer must fit a terminal of 80 by 24.
pub(super) const GROUPS: [(&str, &[(&str, &str)]); 5] = [
    (
        "Everyday",
        &[
            ("lock", "Complete the lock file with the hashes of every platform"),
            ("add, remove", "Change what the configuration requires, and lock it"),
            ("upgrade, outdated", "Select the newest allowed versions, or show them"),
            ("status, list, why", "Show the state, what is locked, and who requires it"),
            ("install", "Install the locked providers and modules"),
        ],
    ),
    (
        "Review and CI",
        &[
            ("verify", "Check the lock file: the gate for CI"),
            ("diff, explain", "Explain a change, a rule, a hash or a provider"),
            ("audit, sbom", "Check or list what is inside providers"),
            ("merge, git, textconv", "Merge and compare lock files, also through Git"),
        ],
    ),
    ("Trust", &[("setup, trust", "Set up a repository; manage the remembered signers")]),
    ("Modules", &[("get", "Install the locked modules")]),
    ("Maintenance", &[("fmt, hash, migrate, mirror, cache, completions, man, schema, version, help", "")]),
];

/// Terraform's name for lock.
#[derive(Debug, Subcommand)]
pub(super) enum ProvidersCommand {
    Lock(LockArgs),
}

/// Print the help of a command, a topic or a rule.
///
/// Prints what `tflock COMMAND --help` prints; without COMMAND the list of commands. For a topic such as settings, or the id
/// of a rule, prints what `tflock explain` prints.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tflock help trust rotate\n  tflock help settings\n  tflock help signer-changed")]
pub(super) struct HelpArgs {
    /// The command, and the one below it; or a topic or rule.
    #[arg(value_name = "COMMAND|TOPIC|RULE")]
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
            error.hint(step!("name the shell: `tflock completions bash`"))
        };
        self.shell.or_else(|| Shell::from_shell_path(variable?)).ok_or_else(unknown)
    }
}

type Function<'a> = Box<dyn Fn(&Services<'_>) -> Result<Outcome, Error> + 'a>;

/// A command with its arguments: what all commands have, and the function that runs it.
pub(super) struct Invocation<'a> {
    /// The command as shown in reports.
    pub(super) name: &'static str,
    within: Option<&'a Within>,
    /// Only commands that request packages have these options.
    packages: Option<&'a Packages>,
    /// Only commands that read modules have these options.
    modules: Option<ModuleAccess>,
    /// As typed.
    pub(super) providers: Vec<&'a str>,
    pub(super) run: Function<'a>,
}

impl<'a> Invocation<'a> {
    fn of<A>(
        name: &'static str,
        args: &'a A,
        within: impl Into<Option<&'a Within>>,
        run: impl Fn(&'a A, &Services<'_>) -> Result<Outcome, Error> + 'a,
    ) -> Self {
        let run = Box::new(move |services: &Services<'_>| run(args, services));
        Self { name, within: within.into(), packages: None, modules: None, providers: Vec::new(), run }
    }

    /// A command that prints a text.
    fn printing<A>(
        name: &'static str,
        args: &'a A,
        text: impl Fn(&A, &Services<'_>) -> Result<Generated, Error> + 'a,
    ) -> Self {
        Self::of(name, args, None, move |args, services| {
            Ok(Outcome::of_body(name, Body::Generated(text(args, services)?)))
        })
    }

    /// True if it may wait for servers.
    pub(super) fn may_wait(&self) -> bool {
        self.packages.is_some() || self.modules.is_some()
    }

    fn packages(self, packages: impl Into<Option<&'a Packages>>) -> Self {
        Self { packages: packages.into(), ..self }
    }

    fn modules(self, modules: ModuleAccess) -> Self {
        Self { modules: Some(modules), ..self }
    }

    fn about(self, providers: impl IntoIterator<Item = &'a String>) -> Self {
        // The arguments of `add` may end in a constraint.
        let typed = providers.into_iter().map(|text| text.split_once('@').map_or(text.as_str(), |(name, _)| name));
        Self { providers: typed.collect(), ..self }
    }
}

/// A command that is recursive if the directory is no root module but has some below; its outcome says so.
fn spread<A: Clone>(
    recursive: fn(&mut A) -> &mut bool,
    run: fn(&A, &Services<'_>) -> Result<Outcome, Error>,
) -> impl Fn(&A, &Services<'_>) -> Result<Outcome, Error> {
    move |args, services| {
        let mut args = args.clone();
        if *recursive(&mut args) || !services.is_above_root_modules() {
            return run(&args, services);
        }
        *recursive(&mut args) = true;
        let mut outcome = run(&args, services)?;
        let note = "this directory is not a root module: working in the root modules below it, as with -r";
        outcome.notes.push(note);
        Ok(outcome)
    }
}

impl Command {
    pub(super) fn invocation(&self) -> Invocation<'_> {
        use Invocation as Run;
        match self {
            Command::Lock(args) | Command::Providers { command: ProvidersCommand::Lock(args) } => {
                let run = Run::of("lock", args, &args.within, command::lock).about(&args.providers);
                run.packages(&args.locking.packages).modules(args.modules.access())
            }
            Command::Add(args) => {
                let run = Run::of("add", args, &args.within, requirements::add).about(&args.providers);
                run.packages(&args.locking.packages).modules(args.modules.access())
            }
            Command::Remove(args) => {
                let run = Run::of("remove", args, &args.within, requirements::remove).about(&args.providers);
                run.modules(args.modules.access())
            }
            Command::Upgrade(args) => {
                let run = Run::of("upgrade", args, &args.within, upgrade::upgrade).about(&args.providers);
                run.packages(&args.locking.packages).modules(args.variables.access())
            }
            Command::Outdated(args) => {
                let run = spread(|it: &mut OutdatedArgs| &mut it.below.recursive, outdated::outdated);
                let run = Run::of("outdated", args, &args.within, run).about(&args.providers);
                run.packages(&args.packages).modules(args.variables.access())
            }
            Command::Migrate(args) => {
                let run = Run::of("migrate", args, &args.within, migrate::migrate);
                run.packages(&args.locking.packages).modules(args.modules.access())
            }
            Command::Sbom(args) => {
                Run::of("sbom", args, &args.within, spread(|it| &mut it.recursive, sbom::sbom)).packages(&args.packages)
            }
            Command::Audit(args) => Run::of("audit", args, &args.within, spread(|it| &mut it.recursive, audit::audit))
                .packages(&args.packages),
            Command::Mirror(args) => Run::of("mirror", args, &args.within, mirror::mirror).packages(&args.packages),
            Command::Verify(args) => {
                let run = Run::of("verify", args, &args.within, |args, services| {
                    if args.fix {
                        return verify::verify(args, services);
                    }
                    spread(|it: &mut VerifyArgs| &mut it.recursive, verify::verify)(args, services)
                });
                run.packages(&args.packages).modules(args.modules.access())
            }
            Command::Explain(args) => Run::of("explain", args, &args.within, explain::explain).about(&args.topic),
            Command::Install(args) => {
                let run = Run::of("install", args, &args.within, install::install).about(&args.providers);
                run.packages(&args.packages).modules(args.variables.access())
            }
            Command::Get(args) => Run::of("get", args, &args.within, get::get).modules(args.variables.access()),
            Command::Fmt(args) => Run::of("fmt", args, &args.within, fmt::fmt),
            Command::Hash(args) => Run::of("hash", args, &args.within, hashes::hash),
            Command::List(args) => {
                let run = Run::of("list", args, &args.within, spread(|it| &mut it.recursive, list::list));
                run.about(&args.providers).modules(args.variables.access())
            }
            Command::Setup(args) => Run::of("setup", args, &args.within, status::setup),
            Command::Status(args) => Run::of("status", args, &args.within, |_, services| status::status(services)),
            Command::Why(args) => {
                let run = Run::of("why", args, &args.within, spread(|it| &mut it.recursive, list::why));
                run.about(&args.providers).modules(args.modules.access())
            }
            Command::Diff(args) => {
                let run = Run::of("diff", args, &args.within, |args, services| {
                    if args.names_files() {
                        return diff::diff(args, services);
                    }
                    spread(|it: &mut DiffArgs| &mut it.recursive, diff::diff)(args, services)
                });
                run.packages(&args.packages)
            }
            Command::Trust(args) => {
                let run = Run::of("trust", args, args.command.within(), trust::trust);
                Run { providers: args.command.providers(), ..run.packages(args.command.packages()) }
            }
            Command::Merge(args) => Run::of("merge", args, &args.within, merge::merge),
            Command::Textconv(args) => Run::of("textconv", args, &args.within, merge::textconv),
            Command::Git(args) => Run::of("git", args, &args.within, git::git),
            Command::Cache(args) => Run::of("cache", args, None, hashes::cache),
            Command::Completions(args) => Run::printing("completions", args, |args, services| {
                args.shell(services.variables().get("SHELL")).map(|shell| Generated::Script(completing::script(shell)))
            }),
            Command::Man(args) => {
                Run::printing("man", args, |args, _| manual::page(&args.command).map(Generated::Page))
            }
            Command::Schema => Run::printing("schema", &(), |(), _| Ok(Generated::Schema(SCHEMA))),
            Command::Version => {
                Run::printing("version", &(), |(), _| Ok(Generated::Version(env!("CARGO_PKG_VERSION"))))
            }
            Command::Help(args) => Run::of("help", args, None, |args, _| {
                if let [name] = &args.command[..]
                    && !Command::has_subcommand(name)
                    && let Some(page) = explain::page(name)
                {
                    return Ok(Outcome::of_body("help", Body::Explained(page)));
                }
                let page = generated::help(&args.command, Length::Long)?;
                Ok(Outcome::of_body("help", Body::Generated(Generated::Page(page.to_string()))))
            }),
        }
    }
}

impl Arguments {
    /// The directories of `-C`, before and after the command.
    fn directories(&self) -> Vec<PathBuf> {
        let behind = self.command.invocation().within.into_iter().flat_map(|within| &within.chdir);
        self.within.chdir.iter().chain(behind).cloned().collect()
    }

    /// The directories and options for all root modules.
    pub(super) fn scope(&self, environment: &Environment) -> Scope {
        let Invocation { packages, modules, .. } = self.command.invocation();
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

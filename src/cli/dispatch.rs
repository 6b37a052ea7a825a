//! Which function runs a command, and with which options.

use std::path::PathBuf;

use clap::Subcommand;

use super::args::{Arguments, Command, ProvidersCommand, StacksCommand, Tool};
use super::generated::{self, Length};
use super::{completing, manual};
use crate::commands::Services;
use crate::commands::audit;
use crate::commands::diff::{self, DiffArgs};
use crate::commands::explain::{self, ExplainArgs};
use crate::commands::fmt;
use crate::commands::get;
use crate::commands::hashes;
use crate::commands::install;
use crate::commands::list;
use crate::commands::lock::command;
use crate::commands::merge::{self, git};
use crate::commands::migrate;
use crate::commands::mirror;
use crate::commands::outdated::{self, OutdatedArgs};
use crate::commands::requirements;
use crate::commands::sbom;
use crate::commands::setup;
use crate::commands::shared::options::{Packages, Within};
use crate::commands::status;
use crate::commands::trust;
use crate::commands::upgrade;
use crate::commands::verify::{self, VerifyArgs};
use crate::disk::roots::{ModuleAccess, ModuleLookup};
use crate::error::Error;
use crate::outcome::{Body, Generated, Outcome};
use crate::workspace::{Environment, Readings, Scope};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/schemas/outcome-1.0.json"));

type CommandFunction<'a> = Box<dyn Fn(&Services<'_>) -> Result<Outcome, Error> + 'a>;

/// A command with its arguments: what all commands have, and the function that runs it.
pub(super) struct Invocation<'a> {
    /// The command as shown in reports.
    pub(super) name: &'static str,
    within: Option<&'a Within>,
    /// Only commands that request packages have these options.
    pub(super) packages: Option<&'a Packages>,
    /// Only commands that read modules have these options.
    modules: Option<ModuleAccess>,
    /// As typed.
    pub(super) providers: Vec<&'a str>,
    pub(super) run: CommandFunction<'a>,
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

/// `--fix` writes only where the user named the place.
fn spread_verify(args: &VerifyArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if args.fix {
        return verify::verify(args, services);
    }
    spread(|it: &mut VerifyArgs| &mut it.recursive, verify::verify)(args, services)
}

/// Topics and rules are the same everywhere.
fn spread_explain(args: &ExplainArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if !args.reads_lock_files() {
        return explain::explain(args, services);
    }
    spread(|it: &mut ExplainArgs| &mut it.recursive, explain::explain)(args, services)
}

/// Files that are named are where they are.
fn spread_diff(args: &DiffArgs, services: &Services<'_>) -> Result<Outcome, Error> {
    if args.names_files() {
        return diff::diff(args, services);
    }
    spread(|it: &mut DiffArgs| &mut it.recursive, diff::diff)(args, services)
}

impl Command {
    pub(super) fn invocation(&self) -> Invocation<'_> {
        use Invocation as Run;
        match self {
            Command::Lock(args)
            | Command::Providers { command: ProvidersCommand::Lock(args) }
            | Command::Stacks { command: StacksCommand::ProvidersLock(args) } => {
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
                let run = Run::of("verify", args, &args.within, spread_verify);
                run.packages(&args.packages).modules(args.modules.access())
            }
            Command::Explain(args) => Run::of("explain", args, &args.within, spread_explain).about(&args.topic),
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
            Command::Setup(args) => Run::of("setup", args, &args.within, setup::setup),
            Command::Status(args) => Run::of("status", args, &args.within, |_, services| status::status(services)),
            Command::Why(args) => {
                let run = Run::of("why", args, &args.within, spread(|it| &mut it.recursive, list::why));
                run.about(&args.providers).modules(args.modules.access())
            }
            Command::Diff(args) => Run::of("diff", args, &args.within, spread_diff).packages(&args.packages),
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
                let page = generated::help(&args.command, if args.all { Length::All } else { Length::Long })?;
                Ok(Outcome::of_body("help", Body::Generated(Generated::Page(page.to_string()))))
            }),
        }
    }
}

impl Invocation<'_> {
    /// The directories and options for all root modules.
    pub(super) fn scope(&self, arguments: &Arguments, environment: &Environment) -> Scope {
        let of_remote = || ModuleAccess { lookup: ModuleLookup::Auto, ..ModuleAccess::default() };
        Scope {
            named: self.directories(arguments),
            tool: arguments.global.tool.map(Tool::choice),
            trust_file: arguments.global.trust_file.clone(),
            source: self.packages.and_then(Packages::choice),
            offline: arguments.global.offline,
            no_cache: arguments.global.no_cache,
            modules: self.modules.clone().unwrap_or_else(of_remote),
            environment: environment.clone(),
            readings: Readings::default(),
        }
    }

    /// The option that chose the source of packages.
    pub(super) fn source(&self) -> Vec<String> {
        self.packages.map(Packages::option).unwrap_or_default()
    }

    /// The directories of `-C`, before and after the command.
    pub(super) fn directories(&self, arguments: &Arguments) -> Vec<PathBuf> {
        let behind = self.within.into_iter().flat_map(|within| &within.chdir);
        arguments.within.chdir.iter().chain(behind).cloned().collect()
    }
}

//! Parses the command line.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::{Command, Global};
use crate::commands::shared::options::Within;

/// Completes, explains and checks dependency lock files of OpenTofu and Terraform.
///
/// tflock manages .terraform.lock.hcl: it writes the same bytes as the tools, adds the hashes of every platform in one
/// pass, and explains changes to the file. It needs neither tool installed, no backend credentials and no init. (This is
/// not about state locking.)
#[derive(Debug, Parser)]
#[command(
    name = "tflock",
    version,
    propagate_version = false,
    args_override_self = true,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_long_help = "Exit codes:\n  \
        0  done; no finding at level deny\n  \
        1  findings at deny; --check, --exit-code or git status found a difference; merge left a conflict\n  \
        2  could not do the work: usage, unreadable input, a provider or version that does not exist, disk\n  \
        3  trust refused; a retry will not help\n  \
        4  inconclusive: a source was unreachable, sent an invalid response or requires credentials; a retry may help\n  \
        130  interrupted by Ctrl-C\n  \
        143  ended by SIGTERM, which counts as Ctrl-C\n\n\
        `tflock explain` lists rules and topics: settings, trust, environment and others."
)]
struct Program {
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    global: Global,
}

/// The parsed command line.
#[derive(Debug)]
pub(in crate::cli) struct Arguments {
    pub(in crate::cli) within: Within,
    pub(in crate::cli) global: Global,
    pub(in crate::cli) command: Command,
}

impl Arguments {
    /// Parses arguments, the program's name first, with single dashes already doubled. Describes only the named command
    /// at first; on an error, parses again with all commands described, which gives the right message. Without the
    /// other commands fewer words are taken for a command; nothing else changes.
    pub(in crate::cli) fn parse(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let first = parsed(Program::command().subcommands(meant(arguments)), arguments);
        first.or_else(|refused| match refused.kind() {
            clap::error::ErrorKind::DisplayVersion => Err(refused),
            _ => parsed(command(), arguments),
        })
    }
}

fn parsed(mut description: clap::Command, arguments: &[OsString]) -> Result<Arguments, clap::Error> {
    let mut matches = description.try_get_matches_from_mut(arguments)?;
    let program = Program::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut description))?;
    let mut command = Command::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut description))?;
    if let Command::Diff(args) = &mut command {
        args.dashes = arguments.iter().any(|argument| argument == "--");
    }
    Ok(Arguments { within: program.within, global: program.global, command })
}

/// The first argument after the program's name that is the name of a command.
pub(super) fn named<'a>(arguments: impl IntoIterator<Item = &'a OsString>) -> Option<&'a str> {
    let words = arguments.into_iter().skip(1).filter_map(|argument| argument.to_str());
    words.into_iter().find(|word| Command::has_subcommand(word))
}

/// The command that the arguments name, not described yet.
fn meant(arguments: &[OsString]) -> Option<clap::Command> {
    let name = named(arguments)?;
    Command::augment_subcommands(clap::Command::new("tflock")).find_subcommand(name).cloned()
}

/// The whole command line, for help, completions and manual pages.
pub(in crate::cli) fn command() -> clap::Command {
    let mut all = description();
    all.build();
    all
}

/// The command line before its parts are described.
pub(super) fn description() -> clap::Command {
    Command::augment_subcommands(Program::command())
}

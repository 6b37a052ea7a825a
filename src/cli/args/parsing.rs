//! Parses the command line. The options of every command are here, those of one command next to it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::Command;
use crate::commands::shared::options::Within;
use crate::dialect::Dialect;
use crate::report::{Detail, Format};
use crate::workspace::ToolSelection;

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

/// The options of every command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(in crate::cli) struct Global {
    /// Follow the rules of this tool: header, default registry, file names.
    #[arg(long, global = true, value_name = "TOOL", value_enum)]
    pub(in crate::cli) tool: Option<Tool>,
    /// Do not use the network; exit 4 if it is needed.
    #[arg(long, global = true)]
    pub(in crate::cli) offline: bool,
    /// Neither read nor write the index of known hashes.
    #[arg(long, global = true)]
    pub(in crate::cli) no_cache: bool,
    /// The trust file, instead of .tflock.trust.hcl at the top of the working tree.
    #[arg(long, global = true, value_name = "FILE")]
    pub(in crate::cli) trust_file: Option<PathBuf>,
    /// The format of the result on standard output.
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    pub(in crate::cli) format: Format,
    /// Also write the result to a file in another format; may be repeated. Invalid arguments write no file.
    #[arg(long, global = true, value_name = "FORMAT=FILE", value_parser = report)]
    pub(in crate::cli) report: Vec<(Format, PathBuf)>,
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    pub(in crate::cli) color: Colour,
    /// Print only results and errors.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(in crate::cli) quiet: bool,
    /// Print more: each request, each hash.
    #[arg(short, long, global = true)]
    pub(in crate::cli) verbose: bool,
}

/// The values of `--tool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Tool {
    /// Lock file's header, then its hosts, then .tofu files, then CLI configuration, then terraform.
    Auto,
    /// Terraform.
    Terraform,
    /// OpenTofu.
    Tofu,
}

/// The values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Tool {
    pub(in crate::cli) fn choice(self) -> ToolSelection {
        match self {
            Tool::Auto => ToolSelection::Auto,
            Tool::Terraform => ToolSelection::Named(Dialect::Terraform),
            Tool::Tofu => ToolSelection::Named(Dialect::OpenTofu),
        }
    }

    /// The dialect; `None` if it is to be detected.
    pub(in crate::cli) fn dialect(self) -> Option<Dialect> {
        self.choice().dialect()
    }
}

impl Colour {
    /// True if output uses colour even outside of a terminal.
    pub(in crate::cli) fn is_forced(self) -> bool {
        self == Colour::Always
    }

    /// Whether to use colour, on a terminal or elsewhere.
    pub(in crate::cli) fn shown(self, terminal: bool, no_color: bool) -> bool {
        match self {
            Colour::Auto => terminal && !no_color,
            Colour::Always => true,
            Colour::Never => false,
        }
    }
}

/// Parses `FORMAT=FILE`.
fn report(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or("expected FORMAT=FILE")?;
    let name = Format::from_str(format, false).map_err(|_| {
        let names = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        format!("there is no format {format:?}: {}", names.join(", "))
    })?;
    if file == "-" {
        return Err(format!("expected a file; --format {format} writes that format to standard output"));
    }
    Ok((name, PathBuf::from(file)))
}

impl Global {
    /// True if the result is written in a format.
    pub(in crate::cli) fn has(&self, format: Format) -> bool {
        self.format == format || self.report.iter().any(|(other, _)| *other == format)
    }

    pub(in crate::cli) fn detail(&self) -> Detail {
        match (self.quiet, self.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::Verbose,
            (false, false) => Detail::Normal,
        }
    }
}

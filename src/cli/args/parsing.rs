//! Parses the command line, after it has doubled the single dash of long options and put `-r` behind the command. The options of every
//! command are here, those of one command next to it.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::Command;
use crate::commands::shared::options::Within;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind};
use crate::report::{Detail, Format};
use crate::topics::Topic;
use crate::workspace::ToolSelection;

/// Completes, explains and checks dependency lock files of OpenTofu and Terraform.
///
/// tflock manages .terraform.lock.hcl: it writes the same bytes as the tools, adds the hashes of every platform in one
/// pass, and explains changes to the file. It needs no Terraform or OpenTofu, no backend credentials and no init. (This is
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
    after_long_help = exit_codes()
)]
struct Program {
    #[command(flatten)]
    within: Within,
    #[command(flatten)]
    global: Global,
}

/// The table of the topic, and where more is.
fn exit_codes() -> String {
    let rows = Topic::named("exit-codes").into_iter().flat_map(Topic::rows);
    let rows: Vec<String> = rows.map(|(code, meaning)| format!("  {code}  {meaning}")).collect();
    let rows = rows.join("\n");
    format!("Exit codes:\n{rows}\n\n`tflock explain` lists rules and topics: settings, trust, environment and others.")
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

    /// Refuses formats that a command does not support: their empty result would look like success.
    pub(in crate::cli) fn check_formats(&self, name: &str) -> Result<(), Error> {
        let reports = self.global.report.iter().map(|(format, _)| *format);
        for requested in std::iter::once(self.global.format).chain(reports) {
            let having = requested.commands();
            if !having.is_empty() && !having.contains(&name) {
                let format = requested.name();
                let error = Error::new(ErrorKind::Usage, format!("{name} has no result in the format {format}"));
                let having = having.join(", ");
                return Err(error.hint(format!("these have: {having}; human, json and markdown are for every command")));
            }
        }
        Ok(())
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
    // Without an order of their own, they are listed by name.
    Command::augment_subcommands(Program::command().next_display_order(None))
}

/// The options of every command.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(in crate::cli) struct Global {
    /// Follow the rules of this tool: header, default registry, file names. Default: `tool` in .tflock.hcl, else auto.
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
    /// Its value on the command line.
    pub(in crate::cli) fn name(self) -> &'static str {
        match self {
            Tool::Auto => "auto",
            Tool::Terraform => "terraform",
            Tool::Tofu => "tofu",
        }
    }

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

/// The letters of all short options.
pub(super) const SHORT: &[u8] = b"CVhiqrv";

/// The short option that takes a value: what follows it in the same word is no option.
const WITH_VALUE: u8 = b'C';

/// Doubles single dashes, replaces `-json` and `-no-color` by tflock's options, and puts a `-r` that precedes the command
/// behind it. Leaves arguments after `--` unchanged.
pub(in crate::cli) fn normalize(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut ended = false;
    let mut arguments = arguments.into_iter();
    let program = arguments.next();
    let others = arguments.map(|argument| {
        ended = ended || argument == "--";
        if ended { argument } else { doubled(argument) }
    });
    recursive_last(program.into_iter().chain(others).collect())
}

fn doubled(argument: OsString) -> OsString {
    match argument.to_str() {
        Some("-json" | "--json") => return "--format=json".into(),
        Some("-no-color" | "--no-color") => return "--color=never".into(),
        _ => {}
    }
    if !is_long(&argument) {
        return argument;
    }
    let mut doubled = OsString::from("-");
    doubled.push(&argument);
    doubled
}

/// True for a long option with one dash: more than a letter, and not a group of short options.
fn is_long(argument: &OsStr) -> bool {
    let Some(option) = argument.as_encoded_bytes().strip_prefix(b"-") else { return false };
    let name = option.split(|byte| *byte == b'=').next().unwrap_or_default();
    name.len() > 1 && name[0].is_ascii_alphabetic() && !is_group(name)
}

/// True if the letters are short options, up to a value.
pub(super) fn is_group(name: &[u8]) -> bool {
    let flags = name.iter().take_while(|letter| **letter != WITH_VALUE);
    flags.into_iter().all(|letter| SHORT.contains(letter))
}

/// Moves `-r` from before the command to the end of its arguments.
fn recursive_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_recursive = |argument: &OsString| argument == "-r" || argument == "--recursive";
    let Some(at) = arguments.iter().position(is_recursive) else { return arguments };
    let command = named(&arguments).and_then(|name| arguments.iter().position(|argument| argument == name));
    if command.is_some_and(|command| at < command) {
        let option = arguments.remove(at);
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        arguments.insert(end, option);
    }
    arguments
}

/// Whether the user requested JSON, as far as arguments that do not parse show it.
pub(in crate::cli) fn wants_json(arguments: &[OsString]) -> bool {
    let options = || arguments.iter().take_while(|argument| *argument != "--");
    let pairs = options().zip(options().skip(1));
    options().any(|argument| argument == "--format=json")
        || pairs.into_iter().any(|(option, value)| option == "--format" && value == "json")
}

#[cfg(test)]
mod tests {
    use super::super::parsing::command;
    use super::*;

    fn normalized(arguments: &[&str]) -> Vec<String> {
        let given = std::iter::once("tflock").chain(arguments.iter().copied()).map(OsString::from);
        normalize(given).into_iter().skip(1).map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn terraform_style_becomes_ours() {
        assert_eq!(
            normalized(&["-chdir=a", "providers", "lock", "-platform=x_y", "-platform", "a_b", "-fs-mirror=d"]),
            ["--chdir=a", "providers", "lock", "--platform=x_y", "--platform", "a_b", "--fs-mirror=d"]
        );
        assert_eq!(normalized(&["-json", "-no-color", "--json"]), ["--format=json", "--color=never", "--format=json"]);
        assert_eq!(normalized(&["fmt", "-check", "-recursive"]), ["fmt", "--check", "--recursive"]);
        // The message is then about the whole word.
        assert_eq!(normalized(&["lock", "-upgrade", "-platforms=x"]), ["lock", "--upgrade", "--platforms=x"]);
    }

    #[test]
    fn everything_else_stays() {
        let same = [
            "-C",
            "platform",
            "-Cplatform",
            "-rCplatform",
            "-q",
            "-rv",
            "-",
            "-1",
            "-12",
            "-é",
            "--platform=x",
            "--",
            "-platform=x",
            "-json",
            "-r",
        ];
        assert_eq!(normalized(&same), same);
        assert_eq!(normalize(["-json".into()]), ["-json"]);
    }

    #[test]
    fn short_options_and_long_names_do_not_meet() {
        let all = command();
        let mut commands: Vec<&clap::Command> = vec![&all];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for option in command.get_arguments() {
                let short = option.get_short().map(|letter| u8::try_from(letter).unwrap());
                assert!(short.is_none_or(|letter| SHORT.contains(&letter)), "{short:?}");
                let is_with_value = short == Some(WITH_VALUE);
                assert!(short.is_none() || option.get_action().takes_values() == is_with_value, "{short:?}");
                let long = option.get_long_and_visible_aliases().unwrap_or_default();
                assert!(long.iter().all(|name| name.len() > 1 && !is_group(name.as_bytes())), "{long:?}");
            }
        }
    }

    #[test]
    fn recursion_may_precede_the_command() {
        assert_eq!(normalized(&["-r", "verify", "--offline"]), ["verify", "--offline", "-r"]);
        assert_eq!(normalized(&["-recursive", "trust", "init"]), ["trust", "init", "--recursive"]);
        assert_eq!(normalized(&["-q", "-r", "diff", "--", "x"]), ["-q", "diff", "-r", "--", "x"]);
        for same in [&["lock", "-r"][..], &["-r"], &["lock", "--", "-r"]] {
            assert_eq!(normalized(same), same);
        }
    }

    #[cfg(unix)]
    #[test]
    fn values_need_not_be_unicode() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = |text: &[u8]| OsString::from_vec(text.to_vec());
        assert_eq!(normalize(["tflock".into(), bytes(b"-chdir=\xff")]), ["tflock".into(), bytes(b"--chdir=\xff")]);
    }

    #[test]
    fn json_is_seen_without_parsing() {
        let json = |arguments: &[&str]| wants_json(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(json(&["lock", "--format", "json"]) && json(&["--format=json", "x"]));
        assert!(
            !json(&["lock", "--format", "human", "json"]) && !json(&["--", "--format=json"]) && !json(&["--format"])
        );
    }
}

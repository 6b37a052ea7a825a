//! Handles arguments that do not parse, and requests for help.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::args::{command, wants_json};
use super::generated::{self, Length};
use super::{Environment, ExitCode, Streams, other_tools, result, write};
use crate::error::{Error, ErrorKind};
use crate::redact;
use crate::report::{self, Format};
use crate::step::{Step, Value};
use crate::workspace::directory;

/// The facts that arguments show even if they do not parse.
struct Given {
    json: bool,
    command: Option<String>,
    /// The command and the named subcommand.
    names: Vec<String>,
    /// The requested length of help.
    length: Length,
}

impl Given {
    /// Reads the arguments, the program's name first, without parsing them.
    fn of(arguments: &[OsString]) -> Self {
        let known = command();
        let words =
            arguments.iter().skip(1).take_while(|argument| *argument != "--").filter_map(|argument| argument.to_str());
        let (mut at, mut names, mut length) = (&known, Vec::new(), Length::Long);
        for word in words {
            if let Some(below) = at.find_subcommand(word) {
                at = below;
                names.push(below.get_name().to_owned());
            } else if ["-h", "--help", "-help"].contains(&word) {
                length = if word == "-h" { Length::Short } else { Length::Long };
                break;
            }
        }
        Self { json: wants_json(arguments), command: names.first().cloned(), names, length }
    }
}

/// Prints the message of clap about arguments, the program's name first: help and version as the result, everything
/// else as a usage error. Options are shown as they were typed.
pub(super) fn report(
    refused: &clap::Error,
    (arguments, typed): (&[OsString], &[OsString]),
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> ExitCode {
    if refused.kind() == ClapKind::DisplayVersion {
        return result(streams, &refused.render().to_string());
    }
    let given = &Given::of(arguments);
    // With options but no command, clap reports the missing command.
    let is_bare =
        matches!(refused.kind(), ClapKind::DisplayHelpOnMissingArgumentOrSubcommand | ClapKind::MissingSubcommand);
    let help = is_bare.then(|| generated::help(&given.names, Length::Short).ok()).flatten();
    let rendered = help.unwrap_or_else(|| refused.render());
    let coloured = |terminal: bool| terminal && !environment.no_color();
    let text = |terminal: bool| if coloured(terminal) { rendered.ansi().to_string() } else { rendered.to_string() };
    // A URL among the arguments may contain a secret.
    let shown = |terminal: bool| {
        let text = plainly(&redact::words(&as_typed(&text(terminal), typed)));
        // The log of a job escapes control characters, since an argument may be a branch name that an outsider chose.
        let line = |line: &str| [report::printable(line).into_owned(), "\n".to_owned()];
        if coloured(terminal) { text } else { text.lines().flat_map(line).collect() }
    };
    if refused.kind() == ClapKind::DisplayHelp {
        let page = generated::help(&given.names, given.length).unwrap_or(rendered);
        let is_coloured = coloured(streams.stdout_is_terminal);
        return result(streams, &if is_coloured { page.ansi().to_string() } else { page.to_string() });
    }
    if let Some(error) = unknown_command(refused, arguments) {
        return unknown(&error, given, environment, streams);
    }
    if let Some(hint) = other_tools::hint(refused, given.command.as_deref(), arguments) {
        let error = Error::new(
            ErrorKind::Usage,
            first_paragraph(&redact::words(&as_typed(&refused.render().to_string(), typed))),
        );
        return unknown(&error.hint(hint), given, environment, streams);
    }
    if given.json {
        let error = error(refused, typed);
        return result(streams, &report::failure(given.command.as_deref(), &error, Format::Json)).and(ExitCode::Failed);
    }
    write(&mut streams.stderr, &shown(streams.stderr_is_terminal));
    ExitCode::Failed
}

/// Takes one dash off the options that were typed with one, where the message names them first.
fn as_typed(text: &str, typed: &[OsString]) -> String {
    let words = typed.iter().filter_map(|argument| argument.to_str());
    let options = words.filter(|word| word.starts_with('-') && !word.starts_with("--") && word.len() > 2);
    options.fold(text.to_owned(), |text, option| {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        text.replacen(&format!("-{name}"), name, 1)
    })
}

/// The suggestion in messages about invalid values.
const MEANT: &str = "; did you mean ";

/// Removes the line that only points to the help, and puts a suggestion on a line of its own.
fn plainly(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("For more information"));
    let kept: Vec<String> = kept.map(|line| line.replacen(MEANT, "\n  help: did you mean ", 1)).collect();
    kept.join("\n").trim_end().to_owned() + "\n"
}

/// A suggestion for a mistyped command.
pub(super) fn meant(parent: &clap::Command, name: &str) -> Option<Step> {
    let own = parent.get_subcommands().filter(|command| !command.is_hide_set());
    let own = own.map(|command| (command.get_name(), None));
    let others = other_tools::commands(parent.get_name()).map(|(other, words)| (other, Some(words)));
    let (distance, known, words) = own
        .chain(others)
        .map(|(known, words)| (strsim::osa_distance(known, name), known, words))
        .min_by_key(|it| (it.0, it.1))?;
    // One wrong letter in a short name, two in a longer one.
    if distance > 2.min(name.len() / 3) {
        return None;
    }
    Some(words.map_or_else(|| Step::meant(format!("`{known}`")), Step::from))
}

/// The error for an unknown command name, where the suggestion of clap would be unlikely.
fn unknown_command(refused: &clap::Error, arguments: &[OsString]) -> Option<Error> {
    let is_unknown = refused.kind() == ClapKind::InvalidSubcommand;
    let Some(ContextValue::String(name)) = refused.get(ContextKind::InvalidSubcommand).filter(|_| is_unknown) else {
        return None;
    };
    let usage = refused.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let words: Vec<&str> = usage.split_whitespace().skip_while(|word| *word != "tflock").skip(1).collect();
    let all = command();
    let parent = words.iter().find_map(|word| all.find_subcommand(word)).unwrap_or(&all);
    let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
    if let Some(hint) = directory(name) {
        return Some(error.hint(hint));
    }
    let below = (parent.get_name() != "tflock").then(|| parent.get_name().to_owned());
    let help = step!("`tflock help {}` lists the commands", Value::Words(below.into_iter().collect()));
    let options = arguments.iter().filter_map(|argument| argument.to_str()).filter_map(other_tools::option);
    let hints = meant(parent, name).into_iter().chain(options);
    Some(error.hints(hints).hint(help))
}

fn unknown(error: &Error, given: &Given, environment: &Environment, streams: &mut Streams<'_>) -> ExitCode {
    if given.json {
        return result(streams, &report::failure(given.command.as_deref(), error, Format::Json)).and(ExitCode::Failed);
    }
    let style =
        report::Style { colour: streams.stderr_is_terminal && !environment.no_color(), ..report::Style::default() };
    write(&mut streams.stderr, &report::failure_remark(error, Format::Human, style));
    ExitCode::Failed
}

fn error(refused: &clap::Error, typed: &[OsString]) -> Error {
    let text = redact::words(&as_typed(&refused.render().to_string(), typed));
    let message = match refused.kind() {
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand | ClapKind::MissingSubcommand => {
            "a command is missing".to_owned()
        }
        _ => first_paragraph(&text),
    };
    let suggestions = refused.context().filter_map(|(kind, value)| match (kind, value) {
        (ContextKind::SuggestedArg | ContextKind::SuggestedSubcommand | ContextKind::SuggestedValue, value) => {
            Some(Step::meant(listed(value)?))
        }
        _ => None,
    });
    let (message, meant) = match message.split_once(MEANT) {
        Some((message, meant)) => (message.to_owned(), Some(Step::from(format!("did you mean {meant}")))),
        None => (message, None),
    };
    let mut error = Error::new(ErrorKind::Usage, message);
    error.hints.extend(meant.into_iter().chain(suggestions));
    error.hint(step!("run `tflock --help`"))
}

fn first_paragraph(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    line.strip_prefix("error: ").map(str::to_owned).unwrap_or(line)
}

fn listed(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(format!("`{text}`")),
        ContextValue::Strings(texts) if !texts.is_empty() => {
            Some(texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

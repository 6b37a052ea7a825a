//! Arguments that do not parse, and those that ask for help.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::args::{Arguments, command, wants_json};
use super::{Environment, ExitCode, Streams, result, write};
use crate::error::{Error, ErrorKind};
use crate::redact;
use crate::report::{self, Format};

/// Refuses forms of the result that a command does not have.
///
/// # Errors
///
/// A usage error.
pub(super) fn formats(arguments: &Arguments) -> Result<(), Error> {
    let name = arguments.command.name();
    let reports = arguments.global.report.iter().map(|(format, _)| format.format());
    if name != "diff"
        && std::iter::once(arguments.global.format()).chain(reports).any(|format| format == Format::Commit)
    {
        return Err(Error::new(ErrorKind::Usage, format!("{name} has no result in the form of a commit message"))
            .hint("commit is a form of `tflock diff` only"));
    }
    Ok(())
}

/// What arguments that do not parse still tell.
pub(super) struct Asked {
    json: bool,
    command: Option<String>,
}

impl Asked {
    /// Reads the arguments, the program's name first, without parsing them.
    pub(super) fn of(arguments: &[OsString]) -> Self {
        let known = command();
        let words =
            arguments.iter().skip(1).take_while(|argument| *argument != "--").filter_map(|argument| argument.to_str());
        let command = words.into_iter().find_map(|word| known.find_subcommand(word));
        Self { json: wants_json(arguments), command: command.map(|command| command.get_name().to_owned()) }
    }
}

/// Tells what clap has to say: help and version as the result, everything else as a usage error.
pub(super) fn tell(
    refused: &clap::Error,
    asked: &Asked,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> ExitCode {
    let rendered = refused.render();
    let coloured = |terminal: bool| terminal && !environment.no_color();
    let text = |terminal: bool| if coloured(terminal) { rendered.ansi().to_string() } else { rendered.to_string() };
    // An address among the arguments may hold a secret.
    let shown = |terminal: bool| redact::words(&text(terminal));
    if matches!(refused.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) {
        return result(streams, &text(streams.stdout_is_terminal));
    }
    let hint = only_named(refused, asked);
    if asked.json {
        let error = hint.into_iter().fold(error(refused), Error::hint);
        return result(streams, &report::failure(asked.command.as_deref(), &error, Format::Json)).and(ExitCode::Failed);
    }
    write(&mut streams.stderr, &shown(streams.stderr_is_terminal));
    if let Some(hint) = hint {
        write(&mut streams.stderr, &format!("  help: {hint}\n"));
    }
    ExitCode::Failed
}

/// What to do in place of `-r` with a command that edits configuration only where it was named.
fn only_named(refused: &clap::Error, asked: &Asked) -> Option<String> {
    let command = asked.command.as_deref().filter(|command| ["add", "remove"].contains(command))?;
    match refused.get(ContextKind::InvalidArg)? {
        ContextValue::String(argument) if argument == "-r" || argument == "--recursive" => Some(format!(
            "`{command}` edits root modules that are named: `tflock -C DIR -C DIR {command} ADDR`; \
             `tflock upgrade -r` works in all of them"
        )),
        _ => None,
    }
}

/// The same as an error of ours.
fn error(refused: &clap::Error) -> Error {
    let text = redact::words(&refused.render().to_string());
    let message = match refused.kind() {
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand | ClapKind::MissingSubcommand => {
            "a command is missing".to_owned()
        }
        _ => first_paragraph(&text),
    };
    let suggestions = refused.context().filter_map(|(kind, value)| match (kind, value) {
        (ContextKind::SuggestedArg | ContextKind::SuggestedSubcommand | ContextKind::SuggestedValue, value) => {
            Some(format!("did you mean {}?", listed(value)?))
        }
        _ => None,
    });
    let mut error = Error::new(ErrorKind::Usage, message);
    error.hints.extend(suggestions);
    error.hint("run `tflock --help`")
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

//! Arguments that do not parse, and those that ask for help.

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::{Environment, ExitCode, Streams, result, write};
use crate::error::{Error, ErrorKind};
use crate::report::{self, Format};

/// Tells what clap has to say: help and version as the result, everything else as a usage error.
pub(super) fn tell(
    refused: &clap::Error,
    json: bool,
    environment: &Environment,
    streams: &mut Streams<'_>,
) -> ExitCode {
    let rendered = refused.render();
    let text = |terminal: bool| match terminal && !environment.no_color() {
        true => rendered.ansi().to_string(),
        false => rendered.to_string(),
    };
    if matches!(refused.kind(), ClapKind::DisplayHelp | ClapKind::DisplayVersion) {
        return result(streams, &text(streams.stdout_is_terminal));
    }
    if json {
        return result(streams, &report::failure("", &error(refused), Format::Json)).and(ExitCode::Failed);
    }
    write(&mut streams.stderr, &text(streams.stderr_is_terminal));
    ExitCode::Failed
}

/// The same as an error of ours.
fn error(refused: &clap::Error) -> Error {
    let text = refused.render().to_string();
    let message = match refused.kind() {
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is missing".to_owned(),
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

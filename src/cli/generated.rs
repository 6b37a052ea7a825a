//! What is made from the command line's own description: completion scripts and help.

use clap::builder::{PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ValueHint};
use clap_complete::Shell;

use super::args::command;
use super::usage;
use crate::error::{Error, ErrorKind};
use crate::finding::Rule;
use crate::platform::Platform;
use crate::topics::TOPICS;

/// The completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut offering(command()), "tflock", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The same command line, with what shells are to offer for each value: files only where one is wanted.
fn offering(command: clap::Command) -> clap::Command {
    let command = command.mut_args(offered);
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, offering))
}

fn offered(argument: Arg) -> Arg {
    let is_settled = !argument.get_action().takes_values() || !argument.get_possible_values().is_empty();
    if is_settled || matches!(argument.get_action(), ArgAction::Help | ArgAction::Version) {
        return argument;
    }
    let name = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
    match name.as_str() {
        "OS_ARCH" => argument.value_parser(PossibleValuesParser::new(Platform::built())),
        "RULE|TOPIC|HASH|ADDR" => {
            let topics = TOPICS.iter().map(|topic| topic.name);
            argument.value_parser(PossibleValuesParser::new(topics.chain(Rule::ALL.iter().map(|rule| rule.id()))))
        }
        "COMMAND" => {
            let all = command();
            let names: Vec<String> = all.get_subcommands().map(|below| below.get_name().to_owned()).collect();
            argument.value_parser(PossibleValuesParser::new(names))
        }
        "DIR" => argument.value_hint(ValueHint::DirPath),
        "FILE" | "FILE|-" | "PATH" | "BASE" | "OURS" | "THEIRS" | "REV | OLD NEW" => {
            argument.value_hint(ValueHint::AnyPath)
        }
        _ => argument.value_hint(ValueHint::Other),
    }
}

/// The help of a command, by its name and that of the one below it; without a name that of the program.
///
/// # Errors
///
/// A usage error, if there is no such command.
pub(super) fn help(names: &[String], length: Length) -> Result<StyledStr, Error> {
    let mut command = command();
    let mut found = &mut command;
    for name in names {
        let near = usage::meant(found, name);
        found = found.find_subcommand_mut(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
            error.hint(near.unwrap_or_else(|| "`tflock help` lists the commands".to_owned()))
        })?;
    }
    if !names.is_empty() {
        *found = without_globals(found.clone());
    }
    Ok(match length {
        Length::Long => found.render_long_help(),
        Length::Short => found.render_help(),
    })
}

/// How much help is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// As of `-h`.
    Short,
    /// As of `--help`.
    Long,
}

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// The same command without the options that all have: they are only named.
fn without_globals(command: clap::Command) -> clap::Command {
    let is_global = |argument: &Arg| argument.get_help_heading() == Some(GLOBAL);
    let name = |argument: &Arg| {
        let short = argument.get_short().map(|short| format!("-{short}"));
        short.or_else(|| Some(format!("--{}", argument.get_long()?)))
    };
    let names: Vec<String> = command.get_arguments().filter(|it| is_global(it)).filter_map(name).collect();
    let after = command.get_after_help().map(|after| format!("{after}\n\n")).unwrap_or_default();
    let after = format!("{after}{GLOBAL}, which `tflock --help` explains: {}", names.join(", "));
    command.mut_args(|argument| if is_global(&argument) { argument.hide(true) } else { argument }).after_help(after)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Generator;

    use super::*;

    /// The name that a shell's script has in `completions/`, and the script.
    fn completion_files() -> impl Iterator<Item = (String, String)> {
        Shell::value_variants().iter().map(|shell| (shell.file_name("tflock"), completions(*shell)))
    }

    #[test]
    fn help_of_a_command_below_another() {
        let help = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            super::help(&names, Length::Long).map(|text| text.to_string())
        };
        let rotate = help(&["trust", "rotate"]).unwrap();
        assert!(
            rotate.contains("Usage: tflock trust rotate") && !rotate.contains("Neither read nor write"),
            "{rotate}"
        );
        assert!(rotate.contains("explains: -C, --tool, --offline, "), "{rotate}");
        assert!(help(&[]).unwrap().contains("Neither read nor write the index"));
        assert!(help(&[]).unwrap().contains("Usage: tflock"));
        assert_eq!(help(&["lokc"]).unwrap_err().hints, ["did you mean `lock`?"]);
        assert_eq!(help(&["x"]).unwrap_err().hints, ["`tflock help` lists the commands"]);
    }

    /// `UPDATE=1 cargo test completions` rewrites the folder.
    #[test]
    fn completions_folder_is_as_generated() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
        for (name, script) in completion_files() {
            let file = folder.join(&name);
            if update {
                std::fs::write(&file, &script).unwrap();
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == script, "completions/{name} is not what the program prints; set UPDATE=1 and run again");
        }
    }
}

//! Help, made from the command line's own description.

use clap::Arg;
use clap::builder::StyledStr;

use super::args::command;
use super::usage;
use crate::error::{Error, ErrorKind};

/// The help of a command, by its name and that of the one below it; without a name that of the program.
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
    use super::*;

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
}

//! Prints help, generated from the description of the command line.

use std::fmt::Write;

use clap::Arg;
use clap::builder::StyledStr;

use super::args::{GROUPS, command};
use super::usage;
use crate::commands::explain;
use crate::error::{Error, ErrorKind};
use crate::step::Template;

const LISTS: Template = template!("`tflock help` lists the commands, `tflock explain` the topics and rules");

/// The help of a command or subcommand; without names, of the program.
pub(super) fn help(names: &[String], length: Length) -> Result<StyledStr, Error> {
    let mut command = command();
    let mut found = &mut command;
    for name in names {
        let near = usage::meant(found, name);
        found = found.find_subcommand_mut(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
            let near = near.or_else(|| names.len().eq(&1).then(|| explain::near(name))?);
            error.hints(near).hint(LISTS)
        })?;
    }
    if !names.is_empty() {
        *found = without_globals(found.clone());
    }
    Ok(match length {
        Length::Long if names.is_empty() => overview(command, "\n\n{all-args}{after-help}").render_long_help(),
        Length::Long | Length::All => found.render_long_help(),
        Length::Short if names.is_empty() => overview(command, "").render_help(),
        Length::Short => found.render_help(),
    })
}

/// Shows the commands in groups, and below them what else is wanted.
fn overview(all: clap::Command, below: &str) -> clap::Command {
    let header = *all.get_styles().get_header();
    let mut template = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (group, rows) in GROUPS {
        let _ = writeln!(template, "{header}{group}:{header:#}");
        for (names, about) in rows {
            let _ = writeln!(template, "{}", format!("  {names:<20}  {about}").trim_end());
        }
    }
    let footer = "\n`tflock help COMMAND` explains a command, `tflock --help` the options that all\ncommands share, `tflock help --all` lists every command";
    let hidden = all.mut_subcommands(|command| command.hide(true));
    hidden.help_template(template + footer + below)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// For `-h`.
    Short,
    /// For `--help`.
    Long,
    /// With every command.
    All,
}

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// Replaces the global options by a line that only names them.
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

    /// The commands that only `tflock help --all` lists.
    const SELDOM: [&str; 7] = ["completions", "get", "hash", "man", "schema", "textconv", "version"];

    #[test]
    fn the_overview_names_every_command_and_fits_a_small_terminal() {
        let text = help(&[], Length::Short).unwrap().to_string();
        assert!(text.lines().count() <= 23 && text.lines().all(|line| line.len() <= 80), "{text}");
        let mut named: Vec<&str> =
            GROUPS.iter().flat_map(|(_, rows)| *rows).flat_map(|(names, _)| names.split(", ")).collect();
        let all = command();
        named.extend(SELDOM);
        let visible = all.get_subcommands().filter(|command| !command.is_hide_set());
        let mut known: Vec<&str> = visible.map(clap::Command::get_name).collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
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
        assert_eq!(help(&["lokc"]).unwrap_err().hints, ["did you mean `lock`?", LISTS.text]);
        assert_eq!(help(&["setings"]).unwrap_err().hints, ["did you mean `tflock explain settings`?", LISTS.text]);
        assert_eq!(help(&["x"]).unwrap_err().hints, [LISTS.text]);
    }
}

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
    let mut found = named(names)?;
    Ok(match length {
        Length::Long if names.is_empty() => overview(found, "\n\n{all-args}{after-help}").render_long_help(),
        Length::Long | Length::All => found.render_long_help(),
        Length::Short if names.is_empty() => overview(found, "").render_help(),
        Length::Short => found.render_help(),
    })
}

/// The command of these names, which only names the global options; without names, the program.
fn named(names: &[String]) -> Result<clap::Command, Error> {
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
    let found = found.clone();
    Ok(if names.is_empty() { found } else { without_globals(found) })
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
    let footer = "\nEvery command takes -C DIR, --tool, --offline, --format, --report, -q and -v.\n`tflock help COMMAND` explains a command, `tflock --help` the options that all\ncommands share, `tflock help --all` lists every command";
    let hidden = all.mut_subcommands(|command| command.hide(true)).override_usage("tflock [OPTIONS] <COMMAND>");
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

    /// `UPDATE=1 cargo test --lib generated` rewrites the lists of the page.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test looks at the page")]
    fn the_page_of_commands_is_what_help_says() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once("<!-- begin commands -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end commands -->").unwrap();
        let all = command();
        let mut lists = String::new();
        for (group, rows) in GROUPS {
            let seldom: &[&str] = if group == "Also" { &SELDOM } else { &[] };
            let names = rows.iter().flat_map(|(names, _)| names.split(", ")).chain(seldom.iter().copied());
            let rows: String = names.map(|name| row(all.find_subcommand(name).unwrap())).collect();
            let _ = write!(lists, "## {group}\n\n{rows}\n");
        }
        let wanted = format!("{before}<!-- begin commands -->\n{lists}<!-- end commands -->{after}");
        if page != wanted && std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(&path, &wanted).unwrap();
        } else {
            assert!(page == wanted, "UPDATE=1 rewrites docs/commands.md");
        }
    }

    /// A command with its arguments, or the commands below it, and what it does.
    fn row(command: &clap::Command) -> String {
        let below: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let arguments: Vec<String> = command.get_positionals().map(|argument| format!(" {argument}")).collect();
        let shown = if below.is_empty() { arguments.concat() } else { format!(" {}", below.join("|")) };
        format!("- `{}{shown}`: {}\n", command.get_name(), command.get_about().unwrap())
    }

    /// What is asked for with `-h` fits two screens; `--help` has the rest.
    #[test]
    fn short_help_is_short() {
        let mut long = String::new();
        let mut left: Vec<Vec<String>> = vec![Vec::new()];
        while let Some(names) = left.pop() {
            let mut found = named(&names).unwrap();
            for below in found.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
                left.push(names.iter().cloned().chain([below.get_name().to_owned()]).collect());
            }
            found = found.term_width(80);
            let lines = found.render_help().to_string().lines().count();
            if !names.is_empty() && lines > 45 {
                let _ = writeln!(long, "{}: {lines} lines", names.join(" "));
            }
        }
        assert_eq!(long, "");
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

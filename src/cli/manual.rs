//! Manual pages in roff, for the program and for each command, generated from the description of the command line and
//! the pages of `explain`.

use std::fmt::Write;

use clap::Command;
use clap_mangen::Man;

use super::args::command;
use super::usage;
use crate::error::{Error, ErrorKind};
use crate::topics::Topic;

const FILES: [(&str, &str); 4] = [
    (".terraform.lock.hcl", "the dependency lock file, next to the configuration of a root module"),
    (".tflock.hcl", "settings: in the root module and above it, up to the top of the working tree"),
    (".tflock.trust.hcl", "the remembered signers, kept by tflock at the top of the working tree"),
    ("~/.terraformrc, ~/.tofurc", "the CLI configuration of the tools, for credentials and host blocks"),
];

/// The page of a command or subcommand; without names, of the program.
pub(super) fn page(names: &[String]) -> Result<String, Error> {
    let all = command();
    let mut found = Vec::new();
    for name in names {
        let above = found.last().copied().unwrap_or(&all);
        let below = above.find_subcommand(name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
            usage::meant(above, name).into_iter().fold(error, Error::hint)
        })?;
        found.push(below);
    }
    let page = found.first().map_or_else(|| of_program(&all), |command| of_command(command));
    page.map_err(|problem| Error::new(ErrorKind::Disk, format!("no manual page: {problem}")))
}

fn of_program(all: &Command) -> std::io::Result<String> {
    let man = Man::new(all.clone());
    let mut text = title("tflock");
    text += &rendered(|page| {
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)
    })?;
    text.push_str(".SH COMMANDS\n");
    for below in visible(all) {
        let about = below.get_about().map(ToString::to_string).unwrap_or_default();
        entry(&mut text, &format!("tflock-{}(1)", below.get_name()), &about);
    }
    Ok(text + &ends())
}

fn of_command(own: &Command) -> std::io::Result<String> {
    let name = format!("tflock-{}", own.get_name());
    let renamed = without_globals(own).name(name.clone()).display_name(name.clone());
    let mut text = title(&name.to_uppercase());
    text += &rendered(|page| Man::new(renamed.clone()).render_name_section(page))?;
    text.push_str(&parts(own, &format!("tflock {}", own.get_name()))?);
    for below in visible(own) {
        let _ = writeln!(text, ".SH \"TFLOCK {} {}\"", own.get_name().to_uppercase(), below.get_name().to_uppercase());
        let called = format!("tflock {} {}", own.get_name(), below.get_name());
        text.push_str(&parts(below, &called)?.replace("\n.SH ", "\n.SS ").replacen(".SH ", ".SS ", 1));
    }
    text.push_str(&ends());
    text.push_str(".SH \"SEE ALSO\"\n\\fBtflock\\fR(1), which has the options of every command\n");
    Ok(text)
}

/// The head of a page. It has no date, so the same program gives the same page.
fn title(name: &str) -> String {
    format!(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH {name} 1 \"\" \"tflock {}\"\n", env!("CARGO_PKG_VERSION"))
}

/// Synopsis, description, options and examples of one command.
fn parts(own: &Command, called: &str) -> std::io::Result<String> {
    let man = Man::new(without_globals(own).bin_name(called));
    let mut text = rendered(|page| {
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)
    })?;
    if let Some(examples) = own.get_after_help() {
        text.push_str(".SH EXAMPLES\n.nf\n");
        for line in examples.to_string().lines().filter(|line| line.starts_with(' ')) {
            let _ = writeln!(text, "{}", roff(line.trim_start()));
        }
        text.push_str(".fi\n");
    }
    Ok(text)
}

fn ends() -> String {
    let mut text = String::new();
    for (heading, topic) in [("EXIT STATUS", "exit-codes"), ("ENVIRONMENT", "environment")] {
        let _ = writeln!(text, ".SH \"{heading}\"");
        for (what, means) in Topic::named(topic).into_iter().flat_map(rows) {
            entry(&mut text, &what, &means);
        }
    }
    text.push_str(".SH FILES\n");
    for (file, what) in FILES {
        entry(&mut text, file, what);
    }
    text
}

/// The rows of the table in a page, without Markdown marks.
fn rows(topic: &Topic) -> impl Iterator<Item = (String, String)> {
    let lines = topic.text.lines().filter(|line| line.starts_with("| ")).skip(1);
    lines.filter_map(|line| {
        let (what, means) = line.trim_matches('|').split_once('|')?;
        Some((what.trim().replace('`', ""), means.trim().replace('`', "")))
    })
}

fn entry(text: &mut String, what: &str, means: &str) {
    // Writing to a string cannot fail, here and above.
    let _ = writeln!(text, ".TP\n\\fB{}\\fR\n{}", roff(what), roff(means));
}

/// Escapes plain text for roff.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('…', "...").replace('→', "->");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

fn without_globals(own: &Command) -> Command {
    let command = own.clone().mut_args(|argument| {
        let hidden = argument.is_global_set() || argument.get_id() == "help";
        argument.hide(hidden)
    });
    // Examples have a section of their own.
    command.after_help("").after_long_help("")
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set())
}

fn rendered(render: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> std::io::Result<String> {
    let mut page = Vec::new();
    render(&mut page)?;
    let text = String::from_utf8_lossy(&page).replace('…', "...").replace('→', "->");
    // Line breaks around an empty line are redundant.
    Ok(text.replace(".br\n\n.br\n", ".sp\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_the_sections_of_one() {
        let page = |names: &[&str]| page(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let program = page(&[]).unwrap();
        for below in visible(&command()) {
            let name = below.get_name();
            assert!(program.contains(&format!("\\fBtflock\\-{name}(1)\\fR")), "{name}");
            let page = page(&[name]).unwrap();
            for section in
                ["NAME", "SYNOPSIS", "DESCRIPTION", "\"EXIT STATUS\"", "\"ENVIRONMENT\"", "FILES", "\"SEE ALSO\""]
            {
                assert!(page.contains(&format!(".SH {section}\n")), "{name}: {section}\n{page}");
            }
            assert!(page.is_ascii() && !page.contains("EXTRA"), "{name}");
        }
        let lock = page(&["lock"]).unwrap();
        assert!(lock.contains(".SH SYNOPSIS\n\\fBtflock lock\\fR"), "{lock}");
        assert!(lock.contains(".SH EXAMPLES\n.nf\ntflock lock"), "{lock}");
        let cache = page(&["cache"]).unwrap();
        let (_, prune) = cache.split_once("\n.SH \"TFLOCK CACHE PRUNE\"\n").unwrap();
        assert!(prune.find("\n.SS OPTIONS\n") < prune.find("\n.SH "), "{cache}");
        assert_eq!(page(&["lokc"]).unwrap_err().hints, ["did you mean `lock`?"]);
        assert_eq!(page(&["cache", "prune"]).unwrap(), cache);
        assert_eq!(page(&["cache", "prnue"]).unwrap_err().hints, ["did you mean `prune`?"]);
    }
}

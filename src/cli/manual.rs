//! Manual pages: what clap makes of the description of the command line, and the tables of the pages of `explain`.

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

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

/// The page of a command or subcommand; without names, of the program. It has no date, so the same program gives the same page.
pub(super) fn page(names: &[String]) -> Result<String, Error> {
    let mut own = command();
    own.build();
    for name in names {
        let below = own.find_subcommand(name).cloned();
        own = below.ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, format!("there is no command {name:?}"));
            error.hints(usage::meant(&own, name))
        })?;
    }
    rendered(own, names).map_err(|problem| Error::new(ErrorKind::Disk, format!("no manual page: {problem}")))
}

fn rendered(mut own: Command, names: &[String]) -> std::io::Result<String> {
    let name = std::iter::once("tflock").chain(names.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    let usage = own.render_usage().to_string();
    let own = own.override_usage(usage.trim_start_matches("Usage: ").to_owned()).name(name.clone()).display_name(name);
    // The page of the program has the options of every command.
    let own = own.mut_args(|argument| {
        let hidden = argument.is_hide_set() || (argument.is_global_set() && !names.is_empty());
        argument.hide(hidden)
    });
    let examples = own.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Vec::new();
    let own = own.after_help(Resettable::Reset).after_long_help(Resettable::Reset);
    Man::new(own).render(&mut page)?;
    let mut ends = Roff::new();
    if !examples.is_empty() {
        ends.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines().filter(|line| line.starts_with(' ')) {
            ends.text([roman(line.trim_start())]);
        }
        ends.control("fi", []);
    }
    for (heading, topic) in [("EXIT STATUS", "exit-codes"), ("ENVIRONMENT", "environment")] {
        ends.control("SH", [heading]);
        for (what, means) in Topic::named(topic).into_iter().flat_map(Topic::rows) {
            ends.control("TP", []).text([bold(what)]).text([roman(means)]);
        }
    }
    ends.control("SH", ["FILES"]);
    for (file, what) in FILES {
        ends.control("TP", []).text([bold(file)]).text([roman(what)]);
    }
    page.extend_from_slice(ends.to_roff().as_bytes());
    // Line breaks around an empty line are redundant, and a page is ASCII.
    Ok(String::from_utf8_lossy(&page).replace(".br\n\n.br\n", ".sp\n").replace('…', "...").replace('→', "->"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_the_sections_of_one() {
        let page = |names: &[&str]| page(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let program = page(&[]).unwrap();
        for below in command().get_subcommands().filter(|below| !below.is_hide_set()) {
            let name = below.get_name();
            assert!(program.contains(&format!("tflock\\-{name}(1)")), "{name}\n{program}");
            let page = page(&[name]).unwrap();
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES"] {
                assert!(page.contains(&format!(".SH {section}\n")), "{name}: {section}\n{page}");
            }
            assert!(page.is_ascii(), "{name}");
        }
        let lock = page(&["lock"]).unwrap();
        assert!(lock.contains(".SH SYNOPSIS\n\\fBtflock lock\\fR [OPTIONS] [ADDR]..."), "{lock}");
        assert!(lock.contains(".SH EXAMPLES\n.nf\ntflock lock"), "{lock}");
        assert!(!lock.contains("\\-\\-offline"), "{lock}");
        assert!(page(&["cache", "prune"]).unwrap().contains("tflock\\-cache\\-prune"));
        assert_eq!(page(&["lokc"]).unwrap_err().hints, ["did you mean `lock`?"]);
        assert_eq!(page(&["cache", "prnue"]).unwrap_err().hints, ["did you mean `prune`?"]);
    }
}

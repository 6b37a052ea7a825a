//! What tflock has in place of commands and options of other tools, of Terraform and OpenTofu above all.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::args::command;
use crate::step::{Step, Template};
use crate::workspace::directory;

/// Command names of other tools, and the tflock command for the purpose.
const COMMANDS: [(&str, Template); 13] = [
    (
        "init",
        template!(
            "tflock needs no init: `tflock lock` writes the lock file, `tflock install` installs what it records"
        ),
    ),
    ("validate", template!("`tflock verify` checks the lock file, `tflock fmt --check` its form")),
    ("check", template!("`tflock verify` checks the lock file, `tflock lock --check` whether it is complete")),
    ("tree", template!("`tflock why` shows who requires each provider")),
    ("update", template!("`tflock upgrade` selects newer versions, `tflock lock` completes hashes")),
    ("sync", template!("`tflock install` installs what the lock files record")),
    ("doctor", template!("`tflock verify` checks the lock file")),
    (
        "query",
        template!(
            "`terraform query` runs with the locked providers: `tflock install` installs them, `tflock list` shows them"
        ),
    ),
    ("trust show", template!("`tflock trust list` shows which signers are remembered")),
    ("tflock show", template!("`tflock list` shows what is locked, `tflock trust list` which signers are remembered")),
    ("cache clear", CACHE),
    ("cache clean", CACHE),
    ("uninstall", template!("`tflock remove` removes a provider, `tflock git uninstall` the merge driver")),
];

const CACHE: Template = template!("`tflock cache prune` removes packages and old documents, with --all everything");

/// The commands of other tools that are like the commands below one of ours, and what to use.
pub(super) fn commands(parent: &str) -> impl Iterator<Item = (&'static str, Template)> {
    COMMANDS.iter().filter_map(move |(other, words)| match other.split_once(' ') {
        Some((of, below)) => (of == parent).then_some((below, *words)),
        None => Some((*other, *words)),
    })
}

/// Options of other tools, by command (`-r` for every recursive one), and what tflock has for the purpose.
const OF_COMMANDS: [(&str, &str, Template); 8] = [
    ("upgrade", "--to", template!("`tflock upgrade ADDR@VERSION` selects one version")),
    ("diff", "--staged", STAGED),
    ("diff", "--cached", STAGED),
    ("fmt", "--diff", template!("`tflock fmt --check` names the files that would change")),
    ("fmt", "--write", template!("`tflock fmt --check` writes nothing")),
    ("fmt", "--list", template!("leave it out: `tflock fmt` always names the files that it changes")),
    ("-r", "--all", template!("-r includes all root modules below")),
    ("-r", "--all-dirs", template!("-r includes all root modules below")),
];

const STAGED: Template = template!("`tflock diff` compares HEAD with the working tree, staged or not");

/// Options of other tools for any command, and what tflock has for the purpose.
const OF_ALL: [(&str, Template); 23] = [
    ("--upgrade", template!("`tflock upgrade` selects the newest versions that the constraints allow")),
    (
        "--lockfile",
        template!("`tflock verify` checks the lock file and leaves it unchanged, as -lockfile=readonly does"),
    ),
    ("--backend", NO_BACKEND),
    ("--backend-config", NO_BACKEND),
    ("--reconfigure", NO_BACKEND),
    ("--migrate-state", NO_BACKEND),
    ("--force-copy", NO_BACKEND),
    ("--lock", NO_STATE),
    ("--lock-timeout", NO_STATE),
    ("--input", template!("leave it out: tflock never asks for input")),
    (
        "--get",
        template!(
            "`--modules installed` downloads no module, where the command has it; `tflock get` installs the locked ones"
        ),
    ),
    ("--get-plugins", template!("leave it out: only `tflock install` installs providers")),
    ("--verify-plugins", template!("leave it out: `tflock verify --installed` checks installed providers")),
    ("--plugin-dir", template!("`--fs-mirror DIR` takes packages from a directory only")),
    ("--enable-plugin-cache", CACHED),
    ("--plugin-cache", CACHED),
    ("--from-module", template!("leave it out: tflock copies no configuration")),
    ("--compact-warnings", template!("`-q` prints only results and errors")),
    ("--parallelism", template!("leave it out: tflock sends requests in parallel and bounds them")),
    ("--locked", CHECKED),
    ("--frozen", CHECKED),
    ("--frozen-lockfile", CHECKED),
    ("--immutable", CHECKED),
];

const NO_BACKEND: Template = template!("leave it out: tflock reads and changes no backend");
const NO_STATE: Template = template!("leave it out: tflock locks no state");
const CACHED: Template =
    template!("leave it out: tflock downloads each package once, and keeps what it found in its own cache");
const CHECKED: Template = template!("`tflock lock --check` fails if the lock file would change");

/// What tflock has in place of an option of another tool, as typed: with one dash or two, with or without a value.
pub(super) fn option(typed: &str) -> Option<Step> {
    let name = typed.split_once('=').map_or(typed, |(name, _)| name);
    let name = name.strip_prefix('-').map(|name| name.trim_start_matches('-'))?;
    let (_, words) = OF_ALL.iter().find(|(other, _)| other.trim_start_matches('-') == name)?;
    Some((*words).into())
}

/// The next step for an argument that the command does not have.
pub(super) fn hint(refused: &clap::Error, name: Option<&str>, arguments: &[OsString]) -> Option<Step> {
    let Some(ContextValue::String(argument)) = refused.get(ContextKind::InvalidArg) else { return None };
    if refused.kind() != ClapKind::UnknownArgument {
        return None;
    }
    let Some(name) = name else { return option(argument) };
    if !argument.starts_with('-') {
        return positional(name, argument);
    }
    let is_recursive = command().find_subcommand(name)?.get_arguments().any(|option| option.get_short() == Some('r'));
    let is_of = |of: &str| of == name || (of == "-r" && is_recursive);
    let is_meant = |(of, option, _): &&(&str, &str, Template)| is_of(of) && option == argument;
    let of_command = || OF_COMMANDS.iter().find(is_meant).map(|(.., words)| (*words).into());
    only_named(name, argument)
        .or_else(|| version(name, argument, arguments))
        .or_else(of_command)
        .or_else(|| option(argument))
}

/// The next step for a directory, or a provider, that a command does not take.
fn positional(name: &str, argument: &str) -> Option<Step> {
    if let Some(hint) = directory(argument) {
        return Some(match name {
            "verify" => step!(
                "`tflock -C {} verify` checks that root module, `tflock -C {} verify -r` every root module below it",
                argument,
                argument
            ),
            _ => hint,
        });
    }
    (name == "verify").then(|| {
        step!(
            "`verify` checks whole lock files: that of the directory of -C, with -r those of every root module below; \
         `tflock explain ADDR` shows what is known about a provider"
        )
    })
}

/// The next step instead of `-r` for a command that edits the configuration of named root modules only.
fn only_named(name: &str, argument: &str) -> Option<Step> {
    (["add", "remove"].contains(&name) && ["-r", "--recursive"].contains(&argument)).then(|| {
        step!(
            "`{}` edits root modules that are named: `tflock -C DIR -C DIR {} ADDR`; `tflock upgrade -r` works in all of \
             them",
            name,
            name
        )
    })
}

/// The argument in place of `--version VERSION`.
fn version(name: &str, argument: &str, arguments: &[OsString]) -> Option<Step> {
    if argument != "--version" || !["add", "lock", "upgrade"].contains(&name) {
        return None;
    }
    let words: Vec<&str> = arguments.iter().skip(1).filter_map(|argument| argument.to_str()).collect();
    let next = |at: usize| words.get(at + 1).copied();
    let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--version")? {
        "" => next(at),
        value => value.strip_prefix('='),
    });
    let value = value.unwrap_or("VERSION");
    let addr = words.iter().find(|word| !word.starts_with('-') && ![name, value].contains(*word)).unwrap_or(&"ADDR");
    let named = format!("{addr}@{value}");
    Some(if name == "add" {
        step!("`tflock add {}` requires that version", named)
    } else {
        step!("`tflock upgrade {}` selects that version", named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_of_another_tool_is_one_of_ours_everywhere() {
        let has = |command: &clap::Command, name: &str| command.get_arguments().any(|it| it.get_long() == Some(name));
        for (name, _) in OF_ALL {
            let own: Vec<_> = command()
                .get_subcommands()
                .filter(|it| has(it, &name[2..]))
                .map(|it| it.get_name().to_owned())
                .collect();
            assert!(own.is_empty(), "{name}: {own:?}");
        }
        for (name, option, _) in OF_COMMANDS.iter().filter(|(name, ..)| *name != "-r") {
            assert!(!has(command().find_subcommand(name).unwrap(), &option[2..]), "{name} {option}");
        }
    }

    #[test]
    fn options_are_known_in_every_form() {
        for typed in ["-upgrade", "--upgrade", "-upgrade=true"] {
            assert!(option(typed).unwrap().to_string().contains("`tflock upgrade`"), "{typed}");
        }
        assert!(option("-lockfile=readonly").unwrap().to_string().contains("`tflock verify`"));
        assert_eq!((option("upgrade"), option("-upgrad"), option("-")), (None, None, None));
    }
}

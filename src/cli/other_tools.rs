//! What tflock has in place of commands and options of other tools, of Terraform and OpenTofu above all.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::args::command;
use crate::finding::shell_word;
use crate::workspace::directory;

/// Command names of other tools, and the tflock command for the purpose.
const COMMANDS: [(&str, &str); 12] = [
    ("init", "tflock needs no init: `tflock lock` writes the lock file, `tflock install` installs what it records"),
    ("validate", "`tflock verify` checks the lock file, `tflock fmt --check` its form"),
    ("check", "`tflock verify` checks the lock file, `tflock lock --check` whether it is complete"),
    ("tree", "`tflock why` shows who requires each provider"),
    ("update", "`tflock upgrade` selects newer versions, `tflock lock` completes hashes"),
    ("sync", "`tflock install` installs what the lock files record"),
    ("doctor", "`tflock verify` checks the lock file"),
    ("trust show", "`tflock trust list` shows which signers are remembered"),
    ("tflock show", "`tflock list` shows what is locked, `tflock trust list` which signers are remembered"),
    ("cache clear", CACHE),
    ("cache clean", CACHE),
    ("uninstall", "`tflock remove` removes a provider, `tflock git uninstall` the merge driver"),
];

const CACHE: &str = "`tflock cache prune` removes packages and old documents, with --all everything";

/// The commands of other tools that are like the commands below one of ours, and what to use.
pub(super) fn commands(parent: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS.iter().filter_map(move |(other, words)| match other.split_once(' ') {
        Some((of, below)) => (of == parent).then_some((below, *words)),
        None => Some((*other, *words)),
    })
}

/// Options of other tools, by command (`-r` for every recursive one), and what tflock has for the purpose.
const OF_COMMANDS: [(&str, &str, &str); 8] = [
    ("upgrade", "--to", "`tflock upgrade ADDR@VERSION` selects one version"),
    ("diff", "--staged", STAGED),
    ("diff", "--cached", STAGED),
    ("fmt", "--diff", "`tflock fmt --check` names the files that would change"),
    ("fmt", "--write", "`tflock fmt --check` writes nothing"),
    ("fmt", "--list", "leave it out: `tflock fmt` always names the files that it changes"),
    ("-r", "--all", "-r includes all root modules below"),
    ("-r", "--all-dirs", "-r includes all root modules below"),
];

const STAGED: &str = "`tflock diff` compares HEAD with the working tree, staged or not";

/// Options of other tools for any command, and what tflock has for the purpose.
const OF_ALL: [(&str, &str); 23] = [
    ("--upgrade", "`tflock upgrade` selects the newest versions that the constraints allow"),
    ("--lockfile", "`tflock verify` checks the lock file and leaves it unchanged, as -lockfile=readonly does"),
    ("--backend", NO_BACKEND),
    ("--backend-config", NO_BACKEND),
    ("--reconfigure", NO_BACKEND),
    ("--migrate-state", NO_BACKEND),
    ("--force-copy", NO_BACKEND),
    ("--lock", NO_STATE),
    ("--lock-timeout", NO_STATE),
    ("--input", "leave it out: tflock never asks for input"),
    (
        "--get",
        "`--modules installed` downloads no module, where the command has it; `tflock get` installs the locked ones",
    ),
    ("--get-plugins", "leave it out: only `tflock install` installs providers"),
    ("--verify-plugins", "leave it out: `tflock verify --installed` checks installed providers"),
    ("--plugin-dir", "`--fs-mirror DIR` takes packages from a directory only"),
    ("--enable-plugin-cache", CACHED),
    ("--plugin-cache", CACHED),
    ("--from-module", "leave it out: tflock copies no configuration"),
    ("--compact-warnings", "`-q` prints only results and errors"),
    ("--parallelism", "leave it out: tflock sends requests in parallel and bounds them"),
    ("--locked", CHECKED),
    ("--frozen", CHECKED),
    ("--frozen-lockfile", CHECKED),
    ("--immutable", CHECKED),
];

const NO_BACKEND: &str = "leave it out: tflock reads and changes no backend";
const NO_STATE: &str = "leave it out: tflock locks no state";
const CACHED: &str = "leave it out: tflock downloads each package once, and keeps what it found in its own cache";
const CHECKED: &str = "`tflock lock --check` fails if the lock file would change";

/// What tflock has in place of an option of another tool, as typed: with one dash or two, with or without a value.
pub(super) fn option(typed: &str) -> Option<String> {
    let name = typed.split_once('=').map_or(typed, |(name, _)| name);
    let name = name.strip_prefix('-').map(|name| name.trim_start_matches('-'))?;
    let (_, words) = OF_ALL.iter().find(|(other, _)| other.trim_start_matches('-') == name)?;
    Some((*words).to_owned())
}

/// The next step for an argument that the command does not have.
pub(super) fn hint(refused: &clap::Error, name: Option<&str>, arguments: &[OsString]) -> Option<String> {
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
    let is_meant = |(of, option, _): &&(&str, &str, &str)| is_of(of) && option == argument;
    let of_command = || OF_COMMANDS.iter().find(is_meant).map(|(.., words)| (*words).to_owned());
    only_named(name, argument)
        .or_else(|| version(name, argument, arguments))
        .or_else(of_command)
        .or_else(|| option(argument))
}

/// The next step for a directory, or a provider, that a command does not take.
fn positional(name: &str, argument: &str) -> Option<String> {
    if let Some(hint) = directory(argument) {
        let word = shell_word(argument);
        return Some(match name {
            "verify" => format!(
                "`tflock -C {word} verify` checks that root module, `tflock -C {word} verify -r` every root module below it"
            ),
            _ => hint,
        });
    }
    (name == "verify").then(|| {
        "`verify` checks whole lock files: that of the directory of -C, with -r those of every root module below; \
         `tflock explain ADDR` shows what is known about a provider"
            .to_owned()
    })
}

/// The next step instead of `-r` for a command that edits the configuration of named root modules only.
fn only_named(name: &str, argument: &str) -> Option<String> {
    (["add", "remove"].contains(&name) && ["-r", "--recursive"].contains(&argument)).then(|| {
        format!(
            "`{name}` edits root modules that are named: `tflock -C DIR -C DIR {name} ADDR`; `tflock upgrade -r` works in \
             all of them"
        )
    })
}

/// The argument in place of `--version VERSION`.
fn version(name: &str, argument: &str, arguments: &[OsString]) -> Option<String> {
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
    let named = shell_word(&format!("{addr}@{value}"));
    Some(match name {
        "add" => format!("`tflock add {named}` requires that version"),
        _ => format!("`tflock upgrade {named}` selects that version"),
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
            assert!(option(typed).unwrap().contains("`tflock upgrade`"), "{typed}");
        }
        assert!(option("-lockfile=readonly").unwrap().contains("`tflock verify`"));
        assert_eq!((option("upgrade"), option("-upgrad"), option("-")), (None, None, None));
    }
}

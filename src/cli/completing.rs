//! Completes arguments in shells: the scripts run tflock, which knows the providers and root modules of the directory.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;

use super::args::command;
use super::{Environment, ExitCode, Streams, result};
use crate::commands::shared::providers::{OfferedNames, offered};
use crate::finding::Rule;
use crate::git::Git;
use crate::platform::Platform;
use crate::topics::TOPICS;
use crate::workspace::discover;

/// The variable in which a script passes the name of its shell.
const VARIABLE: &str = "TFLOCK_COMPLETE";

pub(super) fn script(shell: Shell) -> String {
    let shells = Shells::builtins();
    let mut script = Vec::new();
    if let Some(completer) = shells.completer(&shell.to_string()) {
        // Writing to memory cannot fail.
        let _ = completer.write_registration(VARIABLE, "tflock", "tflock", "tflock", &mut script);
    }
    let mut script = String::from_utf8_lossy(&script).trim_start().to_owned();
    if shell == Shell::Zsh {
        // zsh reads a file of fpath at the first completion, which it must then answer.
        script.push_str("if [[ ${funcstack[1]} == _tflock ]]; then _clap_dynamic_completer_tflock \"$@\"; fi\n");
    }
    script
}

/// Answers a completion script, if one started the program; the typed words are after `--`.
pub(super) fn answer(arguments: &[OsString], environment: &Environment, streams: &mut Streams<'_>) -> Option<ExitCode> {
    let shells = Shells::builtins();
    let shell = shells.completer(environment.variables.get(VARIABLE)?)?;
    let [_, dashes, words @ ..] = arguments else { return None };
    if dashes != "--" || words.is_empty() {
        return None;
    }
    let typed = Arc::new(Typed { words: words.to_vec(), environment: environment.clone() });
    let mut described = offering(command(), &typed);
    let mut text = Vec::new();
    // No message on failure: it would appear in the line that the user is typing.
    let _ = shell.write_complete(&mut described, words.to_vec(), Some(&environment.directory), &mut text);
    Some(result(streams, &String::from_utf8_lossy(&text)))
}

struct Typed {
    words: Vec<OsString>,
    environment: Environment,
}

/// The command line with completions for each value; files only where the argument is a file.
fn offering(command: clap::Command, typed: &Arc<Typed>) -> clap::Command {
    let command = command.mut_args(|argument| with_offers(argument, typed));
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    below.into_iter().fold(command, |command, name| command.mut_subcommand(name, |below| offering(below, typed)))
}

fn with_offers(argument: Arg, typed: &Arc<Typed>) -> Arg {
    let is_settled = !argument.get_action().takes_values() || !argument.get_possible_values().is_empty();
    if is_settled || matches!(argument.get_action(), ArgAction::Help | ArgAction::Version) {
        return argument;
    }
    let name = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default();
    let typed = Arc::clone(typed);
    match name.as_str() {
        "OS_ARCH" => argument.value_parser(PossibleValuesParser::new(Platform::built())),
        "ADDR" | "ADDR[@CONSTRAINT]" | "ADDR[@VERSION]" | "ADDR|FINGERPRINT" => {
            argument.add(ArgValueCompleter::new(move |current: &OsStr| typed.providers(current)))
        }
        "RULE|TOPIC|HASH|ADDR" => argument.add(ArgValueCompleter::new(move |current: &OsStr| {
            let topics = TOPICS.iter().map(|topic| topic.name).chain(Rule::ALL.iter().map(|rule| rule.id()));
            let near = topics.filter(|name| current.to_str().is_some_and(|current| name.starts_with(current)));
            typed.providers(current).into_iter().chain(near.map(CompletionCandidate::new)).collect()
        })),
        "COMMAND|TOPIC|RULE" => argument.add(ArgValueCompleter::new(move |current: &OsStr| {
            let commands = command();
            let commands = commands.get_subcommands().filter(|below| !below.is_hide_set()).map(clap::Command::get_name);
            let topics = TOPICS.iter().map(|topic| topic.name).chain(Rule::ALL.iter().map(|rule| rule.id()));
            let begun = commands.chain(topics).filter(|name| current.to_str().is_some_and(|it| name.starts_with(it)));
            begun.map(|name| CompletionCandidate::new(name.to_owned())).collect()
        })),
        "COMMAND" => {
            let all = command();
            let names: Vec<String> = all.get_subcommands().map(|below| below.get_name().to_owned()).collect();
            argument.value_parser(PossibleValuesParser::new(names))
        }
        "DIR" if argument.get_id() == "chdir" => {
            argument.add(ArgValueCompleter::new(move |current: &OsStr| typed.root_modules(current)))
        }
        "DIR" => argument.value_hint(ValueHint::DirPath),
        "REV" => argument.add(ArgValueCompleter::new(move |current: &OsStr| typed.revisions(current))),
        "REV | OLD NEW" => argument.add(ArgValueCompleter::new(move |current: &OsStr| {
            typed.revisions(current).into_iter().chain(PathCompleter::any().complete(current)).collect()
        })),
        "FILE" | "FILE|-" | "PATH" | "BASE" | "OURS" | "THEIRS" => argument.value_hint(ValueHint::AnyPath),
        _ => argument.value_hint(ValueHint::Other),
    }
}

impl Typed {
    /// The providers of the root module, or of all root modules if the command works on these.
    fn providers(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(current) = current.to_str() else { return Vec::new() };
        let has = |word: &str| self.words.iter().any(|typed| typed == word);
        let everywhere = ["-r", "--recursive", "add", "trust"].into_iter().any(has);
        let known = offered(self.environment.clone(), self.directories(), everywhere);
        let is_begun = |name: &String| name.starts_with(current);
        let OfferedNames { types, addresses } = known;
        // Without typed text show names only, so each provider appears once.
        let addresses = addresses.into_iter().filter(|_| !current.is_empty());
        types.into_iter().chain(addresses).filter(is_begun).map(CompletionCandidate::new).collect()
    }

    /// The branches and tags of the repository.
    fn revisions(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let directory = self.directories().into_iter().next().unwrap_or_else(|| self.environment.directory.clone());
        let found = Git::open(&directory).and_then(|git| git.references(&["refs/heads", "refs/tags", "refs/remotes"]));
        // Outside of a repository there is nothing to offer.
        let names = std::iter::once("HEAD".to_owned()).chain(found.unwrap_or_default());
        let begun = names.filter(|name| current.to_str().is_some_and(|current| name.starts_with(current)));
        begun.map(CompletionCandidate::new).collect()
    }

    /// The root modules below, else directories.
    fn root_modules(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let found = discover::root_modules(&self.environment.directory);
        let begun = found.iter().filter(|path| current.to_str().is_some_and(|current| path.starts_with(current)));
        let begun: Vec<CompletionCandidate> = begun.map(CompletionCandidate::new).collect();
        if begun.is_empty() { PathCompleter::dir().complete(current) } else { begun }
    }

    fn directories(&self) -> Vec<PathBuf> {
        let next = |at: usize| self.words.get(at + 1).map(PathBuf::from);
        let of = |(at, word): (usize, &OsString)| match word.to_str()? {
            "-C" | "--chdir" | "-chdir" => next(at),
            word => word.strip_prefix("--chdir=").or_else(|| word.strip_prefix("-C")).map(PathBuf::from),
        };
        let named = self.words.iter().enumerate().filter_map(of);
        named.filter(|directory| Path::new(directory).is_dir()).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Generator;

    use super::*;

    /// `UPDATE=1 cargo test completions` rewrites the folder.
    #[test]
    fn completions_folder_is_as_generated() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
        let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
        for shell in Shell::value_variants() {
            let (name, script) = (shell.file_name("tflock"), script(*shell));
            assert!(script.contains(VARIABLE), "{name}");
            let file = folder.join(&name);
            if update {
                std::fs::write(&file, &script).unwrap();
            }
            let kept = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(kept == script, "completions/{name} is not what the program prints; set UPDATE=1 and run again");
        }
    }
}

//! Doubles the single dash of long options before the arguments are parsed, and puts `-r` behind the command.

use std::ffi::{OsStr, OsString};

use super::parsing::named;

/// The letters of all short options.
pub(super) const SHORT: &[u8] = b"CVhiqrv";

/// The short option that takes a value: what follows it in the same word is no option.
const WITH_VALUE: u8 = b'C';

/// Doubles single dashes, replaces `-json` and `-no-color` by tflock's options, and puts a `-r` that precedes the command
/// behind it. Leaves arguments after `--` unchanged.
pub(in crate::cli) fn normalize(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut ended = false;
    let mut arguments = arguments.into_iter();
    let program = arguments.next();
    let others = arguments.map(|argument| {
        ended = ended || argument == "--";
        if ended { argument } else { doubled(argument) }
    });
    recursive_last(program.into_iter().chain(others).collect())
}

fn doubled(argument: OsString) -> OsString {
    match argument.to_str() {
        Some("-json" | "--json") => return "--format=json".into(),
        Some("-no-color" | "--no-color") => return "--color=never".into(),
        _ => {}
    }
    if !is_long(&argument) {
        return argument;
    }
    let mut doubled = OsString::from("-");
    doubled.push(&argument);
    doubled
}

/// True for a long option with one dash: more than a letter, and not a group of short options.
fn is_long(argument: &OsStr) -> bool {
    let Some(option) = argument.as_encoded_bytes().strip_prefix(b"-") else { return false };
    let name = option.split(|byte| *byte == b'=').next().unwrap_or_default();
    name.len() > 1 && name[0].is_ascii_alphabetic() && !is_group(name)
}

/// True if the letters are short options, up to a value.
pub(super) fn is_group(name: &[u8]) -> bool {
    let flags = name.iter().take_while(|letter| **letter != WITH_VALUE);
    flags.into_iter().all(|letter| SHORT.contains(letter))
}

/// Moves `-r` from before the command to the end of its arguments.
fn recursive_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_recursive = |argument: &OsString| argument == "-r" || argument == "--recursive";
    let Some(at) = arguments.iter().position(is_recursive) else { return arguments };
    let command = named(&arguments).and_then(|name| arguments.iter().position(|argument| argument == name));
    if command.is_some_and(|command| at < command) {
        let option = arguments.remove(at);
        let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        arguments.insert(end, option);
    }
    arguments
}

/// Whether the user requested JSON, as far as arguments that do not parse show it.
pub(in crate::cli) fn wants_json(arguments: &[OsString]) -> bool {
    let options = || arguments.iter().take_while(|argument| *argument != "--");
    let pairs = options().zip(options().skip(1));
    options().any(|argument| argument == "--format=json")
        || pairs.into_iter().any(|(option, value)| option == "--format" && value == "json")
}

#[cfg(test)]
mod tests {
    use super::super::parsing::command;
    use super::*;

    fn normalized(arguments: &[&str]) -> Vec<String> {
        let given = std::iter::once("tflock").chain(arguments.iter().copied()).map(OsString::from);
        normalize(given).into_iter().skip(1).map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn terraform_style_becomes_ours() {
        assert_eq!(
            normalized(&["-chdir=a", "providers", "lock", "-platform=x_y", "-platform", "a_b", "-fs-mirror=d"]),
            ["--chdir=a", "providers", "lock", "--platform=x_y", "--platform", "a_b", "--fs-mirror=d"]
        );
        assert_eq!(normalized(&["-json", "-no-color", "--json"]), ["--format=json", "--color=never", "--format=json"]);
        assert_eq!(normalized(&["fmt", "-check", "-recursive"]), ["fmt", "--check", "--recursive"]);
        // The message is then about the whole word.
        assert_eq!(normalized(&["lock", "-upgrade", "-platforms=x"]), ["lock", "--upgrade", "--platforms=x"]);
    }

    #[test]
    fn everything_else_stays() {
        let same = [
            "-C",
            "platform",
            "-Cplatform",
            "-rCplatform",
            "-q",
            "-rv",
            "-",
            "-1",
            "-12",
            "-é",
            "--platform=x",
            "--",
            "-platform=x",
            "-json",
            "-r",
        ];
        assert_eq!(normalized(&same), same);
        assert_eq!(normalize(["-json".into()]), ["-json"]);
    }

    #[test]
    fn short_options_and_long_names_do_not_meet() {
        let all = command();
        let mut commands: Vec<&clap::Command> = vec![&all];
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands());
            for option in command.get_arguments() {
                let short = option.get_short().map(|letter| u8::try_from(letter).unwrap());
                assert!(short.is_none_or(|letter| SHORT.contains(&letter)), "{short:?}");
                let is_with_value = short == Some(WITH_VALUE);
                assert!(short.is_none() || option.get_action().takes_values() == is_with_value, "{short:?}");
                let long = option.get_long_and_visible_aliases().unwrap_or_default();
                assert!(long.iter().all(|name| name.len() > 1 && !is_group(name.as_bytes())), "{long:?}");
            }
        }
    }

    #[test]
    fn recursion_may_precede_the_command() {
        assert_eq!(normalized(&["-r", "verify", "--offline"]), ["verify", "--offline", "-r"]);
        assert_eq!(normalized(&["-recursive", "trust", "init"]), ["trust", "init", "--recursive"]);
        assert_eq!(normalized(&["-q", "-r", "diff", "--", "x"]), ["-q", "diff", "-r", "--", "x"]);
        for same in [&["lock", "-r"][..], &["-r"], &["lock", "--", "-r"]] {
            assert_eq!(normalized(same), same);
        }
    }

    #[cfg(unix)]
    #[test]
    fn values_need_not_be_unicode() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = |text: &[u8]| OsString::from_vec(text.to_vec());
        assert_eq!(normalize(["tflock".into(), bytes(b"-chdir=\xff")]), ["tflock".into(), bytes(b"--chdir=\xff")]);
    }

    #[test]
    fn json_is_seen_without_parsing() {
        let json = |arguments: &[&str]| wants_json(&arguments.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(json(&["lock", "--format", "json"]) && json(&["--format=json", "x"]));
        assert!(
            !json(&["lock", "--format", "human", "json"]) && !json(&["--", "--format=json"]) && !json(&["--format"])
        );
    }
}

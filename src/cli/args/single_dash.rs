//! Doubles the single dash of Terraform's long options before the arguments are parsed.

use std::ffi::{OsStr, OsString};

/// The long options that may have one dash. None begins with the letter of a short option that takes a value.
const NAMES: [&[u8]; 10] = [
    b"platform",
    b"chdir",
    b"fs-mirror",
    b"net-mirror",
    b"json",
    b"no-color",
    b"help",
    b"version",
    b"var",
    b"var-file",
];

/// Doubles single dashes, and replaces `-json` and `-no-color` by tflock's options. Leaves arguments after `--`
/// unchanged, and all that are not options of Terraform, with or without `=VALUE`.
pub(in crate::cli) fn double_dashes(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut ended = false;
    let mut arguments = arguments.into_iter();
    let program = arguments.next();
    let others = arguments.map(|argument| {
        ended = ended || argument == "--";
        if ended { argument } else { doubled(argument) }
    });
    program.into_iter().chain(others).collect()
}

fn doubled(argument: OsString) -> OsString {
    match argument.to_str() {
        Some("-json" | "--json") => return "--format=json".into(),
        Some("-no-color" | "--no-color") => return "--color=never".into(),
        _ => {}
    }
    if !is_single_dash(&argument) {
        return argument;
    }
    let mut doubled = OsString::from("-");
    doubled.push(&argument);
    doubled
}

fn is_single_dash(argument: &OsStr) -> bool {
    let Some(option) = argument.as_encoded_bytes().strip_prefix(b"-") else { return false };
    let name = option.split(|byte| *byte == b'=').next().unwrap_or_default();
    NAMES.contains(&name)
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
    use super::*;

    fn doubled(arguments: &[&str]) -> Vec<String> {
        let given = std::iter::once("tflock").chain(arguments.iter().copied()).map(OsString::from);
        double_dashes(given).into_iter().skip(1).map(|argument| argument.into_string().unwrap()).collect()
    }

    #[test]
    fn terraform_style_becomes_ours() {
        assert_eq!(
            doubled(&["-chdir=a", "providers", "lock", "-platform=x_y", "-platform", "a_b", "-fs-mirror=d"]),
            ["--chdir=a", "providers", "lock", "--platform=x_y", "--platform", "a_b", "--fs-mirror=d"]
        );
        assert_eq!(doubled(&["-json", "-no-color", "--json"]), ["--format=json", "--color=never", "--format=json"]);
    }

    #[test]
    fn everything_else_stays() {
        let same =
            ["-C", "platform", "-Cplatform", "-q", "-", "--platform=x", "-platforms=x", "--", "-platform=x", "-json"];
        assert_eq!(doubled(&same), same);
        assert_eq!(double_dashes(["-json".into()]), ["-json"]);
    }

    #[cfg(unix)]
    #[test]
    fn values_need_not_be_unicode() {
        use std::os::unix::ffi::OsStringExt;
        let bytes = |text: &[u8]| OsString::from_vec(text.to_vec());
        assert_eq!(double_dashes(["tflock".into(), bytes(b"-chdir=\xff")]), ["tflock".into(), bytes(b"--chdir=\xff")]);
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

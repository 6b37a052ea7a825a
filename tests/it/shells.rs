//! Completion scripts, each driven in its shell.
#![cfg(unix)]

use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::{TFLOCK, Workspace};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");

/// A place with a file and a directory, neither of which is to be offered for anything else.
fn place() -> Workspace {
    let bin = std::path::Path::new(TFLOCK).parent().unwrap().display().to_string();
    let files = [("live/main.tf", ""), ("notes.txt", "")];
    Workspace::with_files(&files).env("PATH", &format!("{bin}:/usr/bin:/bin")).env("TERM", "dumb")
}

/// What was typed, and words that must be offered and must not.
const ROWS: [(&str, &[&str], &[&str]); 5] = [
    ("", &["lock", "verify", "trust"], &["notes.txt", "live"]),
    ("ver", &["verify", "version"], &["lock"]),
    ("trust ro", &["rotate"], &["add"]),
    ("lock --platform darwin_a", &["darwin_amd64", "darwin_arm64"], &["linux_amd64", "notes.txt"]),
    ("verify --format gi", &["github", "gitlab"], &["human"]),
];

fn offers(shell: &str, typed: &str, run: &Run) -> Vec<String> {
    assert!(run.stderr.is_empty(), "{shell} {typed}: {run}");
    run.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

fn judge(shell: &str, complete: impl Fn(&str) -> Run) {
    for (typed, wanted, unwanted) in ROWS {
        let run = complete(typed);
        let offered = offers(shell, typed, &run);
        for word in wanted {
            assert!(offered.iter().any(|it| it == word), "{shell} `tflock {typed}`: no {word} in {offered:?}");
        }
        for word in unwanted {
            assert!(!offered.iter().any(|it| it == word), "{shell} `tflock {typed}`: {word} in {offered:?}");
        }
    }
}

#[test]
fn bash_offers_what_fits() {
    let Some(bash) = found("bash") else { return };
    let workspace = place();
    judge("bash", |typed| {
        let words: Vec<&str> = typed.split(' ').collect();
        let script = format!(
            "source '{FOLDER}/tflock.bash'; COMP_WORDS=(tflock {typed}{}); COMP_CWORD={}; COMP_LINE='tflock {typed}'; \
             COMP_POINT=${{#COMP_LINE}}; compopt() {{ :; }}; _tflock tflock '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            if typed.is_empty() || typed.ends_with(' ') { " ''" } else { "" },
            words.len(),
            words.last().unwrap(),
            words.iter().rev().nth(1).unwrap_or(&"tflock"),
        );
        workspace.program(&bash, None, ["--norc", "-c", &script]).ended_with(0)
    });
}

#[test]
fn fish_offers_what_fits() {
    let Some(fish) = found("fish") else { return };
    let workspace = place();
    judge("fish", |typed| {
        let script = format!("source '{FOLDER}/tflock.fish'; complete --do-complete 'tflock {typed}'");
        workspace.program(&fish, None, ["--no-config", "-c", &script]).ended_with(0)
    });
}

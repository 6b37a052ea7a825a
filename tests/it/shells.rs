//! Completion scripts, each driven in its shell.
#![cfg(unix)]

use crate::support::run::Run;
use crate::support::tools::found;
use crate::support::workspace::{TFLOCK, Workspace};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");

const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source = "acme/widget"
    }
    twin = {
      source = "example.com/acme/twin"
    }
  }
}
"#;

/// Two root modules, the providers of one of them above both, and files that are to be offered for nothing else.
fn place() -> Workspace {
    let bin = std::path::Path::new(TFLOCK).parent().unwrap().display().to_string();
    let gadget = MAIN.replace("widget", "gadget");
    let files = [
        ("main.tf", MAIN),
        ("live/one/main.tf", &gadget),
        ("live/two/main.tf", MAIN),
        ("notes.txt", ""),
        ("docs/a", ""),
    ];
    let workspace = Workspace::with_files(&files).env("PATH", &format!("{bin}:/usr/bin:/bin")).env("TERM", "dumb");
    workspace.git(["init", "--quiet"]);
    crate::support::proposal::commit(&workspace, "first");
    workspace.git(["branch", "feature"]);
    workspace.git(["tag", "v1.0"]);
    workspace
}

/// What was typed, and words that must be offered and must not.
const ROWS: [(&str, &[&str], &[&str]); 17] = [
    ("", &["lock", "verify", "trust"], &["notes.txt", "live"]),
    ("ver", &["verify", "version"], &["lock"]),
    ("trust ro", &["rotate"], &["add"]),
    ("lock --platform darwin_a", &["darwin_amd64", "darwin_arm64"], &["linux_amd64", "notes.txt"]),
    ("verify --format gi", &["github", "gitlab"], &["human"]),
    ("explain signer-", &["signer-changed", "signer-denied"], &["lock-syntax", "notes.txt"]),
    ("explain env", &["environment"], &["notes.txt"]),
    ("help up", &["upgrade"], &["lock", "notes.txt"]),
    ("help sett", &["settings"], &["lock", "notes.txt"]),
    ("why w", &["widget"], &["twin", "notes.txt"]),
    ("upgrade acme/", &["acme/widget"], &["acme/gadget"]),
    ("upgrade exa", &["example.com/acme/twin"], &["widget"]),
    ("-C live/one why ga", &["gadget"], &["widget"]),
    ("-C live/t", &["live/two"], &["live/one", "notes.txt"]),
    ("fmt no", &["notes.txt"], &["docs"]),
    ("verify --base fea", &["feature"], &["notes.txt", "v1.0"]),
    ("diff v", &["v1.0"], &["feature", "notes.txt"]),
];

fn judge(shell: &str, complete: impl Fn(&str) -> Run) {
    for (typed, wanted, unwanted) in ROWS {
        let run = complete(typed);
        assert!(run.stderr.is_empty(), "{shell} {typed}: {run}");
        let first = |line: &str| line.split('\t').next().unwrap_or_default().trim().to_owned();
        let offered: Vec<String> = run.stdout.lines().map(first).collect();
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
            "source '{FOLDER}/tflock.bash'; COMP_WORDS=(tflock {typed}{}); COMP_CWORD={}; COMP_TYPE=9; compopt() {{ :; }}; \
             _clap_complete_tflock tflock '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            if typed.is_empty() || typed.ends_with(' ') { " ''" } else { "" },
            words.len(),
            words.last().unwrap(),
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

/// Zsh completes in its line editor only; here what the script would hand to it is printed, and the autoloaded file is
/// the one that a user has.
#[test]
fn zsh_offers_what_fits() {
    let Some(zsh) = found("zsh") else { return };
    let workspace = place();
    judge("zsh", |typed| {
        let words: Vec<&str> = typed.split(' ').collect();
        let script = format!(
            "fpath=({FOLDER} $fpath); compdef() {{ :; }}; \
             _describe() {{ shift 2; local -a offers; offers=(\"${{(@P)1}}\"); print -rl -- ${{offers%%:*}} }}; \
             autoload -Uz _tflock; words=(tflock {typed}{}); CURRENT={}; _tflock",
            if typed.is_empty() || typed.ends_with(' ') { " ''" } else { "" },
            words.len() + 1,
        );
        workspace.program(&zsh, None, ["-f", "-c", &script]).ended_with(0)
    });
}

//! Text of a registry may try to steer a terminal; what is said of it must not.

use super::widget;
use crate::support::locked::{honest, locked};
use crate::support::registry::{Flaw, Registry};
use crate::support::run::Run;

const EVIL: &str = "{type}\u{1b}]0;owned\u{7}\u{1b}[2J_{version}_{platform}\u{202e}.zip";

/// Worlds in which each text that a registry gives is evil once.
fn worlds() -> Vec<Registry> {
    let named = widget(honest()).named(EVIL);
    let short = widget(honest()).named(EVIL).flawed(Flaw::ShortSums("linux_amd64"));
    let target = widget(honest()).flawed(Flaw::WrongTarget("linux_\u{1b}[31mred"));
    let warned = widget(honest()).warning("\u{1b}[31mbuy\u{9b}31m me").speaking(&["\u{1b}[1m"]);
    vec![named, short, target, warned]
}

#[track_caller]
fn clean(run: &Run, what: &str) {
    for text in [&run.stdout, &run.stderr] {
        let raw = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200f}".contains(c);
        assert!(!text.contains(raw), "{what}: {text:?}");
    }
}

#[test]
fn no_control_character_is_printed_raw() {
    for registry in worlds() {
        for format in ["human", "json", "markdown", "github", "gitlab", "sarif"] {
            for command in [&["verify"][..], &["lock", "--platform=linux_amd64"]] {
                let workspace = locked(&registry);
                let args: Vec<&str> = [command, &["-v", "--format", format]].concat();
                clean(&workspace.tflock(&registry, args), &format!("{command:?} {format}"));
            }
        }
    }
}

#[test]
fn nor_those_of_files_of_the_tree() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
    let text = workspace.lock_file();
    let evil = ["h1:\\u001b[2J\\u0007", "zh:\\u202eabc"].map(|hash| crate::support::locked::planted(&text, hash));
    let reason = "ban \"{{registry}}/acme/widget\" {\n  reason = \"\\u001b[31mworms\\u009b\"\n}\n";
    for lock_file in &evil {
        for format in ["human", "json", "markdown", "github", "gitlab", "sarif"] {
            workspace.write(".terraform.lock.hcl", lock_file);
            workspace.write(".tflock.hcl", reason);
            for command in [&["verify"][..], &["lock", "--platform=linux_amd64"]] {
                let args: Vec<&str> = [command, &["--format", format]].concat();
                clean(&workspace.tflock(&registry, args).ended_with(3), &format!("{command:?} {format}"));
            }
        }
    }
}

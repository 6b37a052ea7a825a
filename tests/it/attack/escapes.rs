//! Text of a registry may try to steer a terminal; what is said of it must not.

use super::widget;
use crate::support::locked::{honest, locked};
use crate::support::registry::{Answer, Endpoint, Flaw, Registry};
use crate::support::run::{Run, formats};

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
#[ignore = "long"]
fn no_control_character_is_printed_raw() {
    for registry in worlds() {
        for format in formats("verify") {
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
        for format in formats("verify") {
            workspace.write(".terraform.lock.hcl", lock_file);
            workspace.write(".tflock.hcl", reason);
            for command in [&["verify"][..], &["lock", "--platform=linux_amd64"]] {
                if !formats(command[0]).contains(&format) {
                    continue;
                }
                let args: Vec<&str> = [command, &["--format", format]].concat();
                clean(&workspace.tflock(&registry, args).ended_with(3), &format!("{command:?} {format}"));
            }
        }
    }
}

/// A dry run shows the changed lines with their context.
#[test]
fn nor_those_of_comments_in_a_dry_run() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
    let text: String = workspace.lock_file().split_inclusive('\n').filter(|line| !line.contains("\"h1:")).collect();
    let comment = "  # \u{1b}[2J\u{1b}[Hpassed\u{9b}31m\u{202e} ##[set-output name=x]y\n  # ::error::z\n  hashes = [\n";
    workspace.write(".terraform.lock.hcl", &text.replace("  hashes = [\n", comment));
    let run = workspace.tflock(&registry, ["lock", "--dry-run", "--platform=linux_amd64"]).ended_with(0);
    clean(&run, "--dry-run");
    assert!(run.stdout.contains("\\u{1b}[2J") && command_of(&run.stdout, false).is_none(), "{run}");
}

#[test]
#[ignore = "long"]
fn what_a_registry_says_is_no_command() {
    let evil = "\\n ::set-output name=a::true\\n##[set-output name=x]y ##vso[task.x]z \\u001b[31m";
    let package = format!(
        r#"{{"protocols":["5.0"],"os":"linux","arch":"amd64","filename":"{evil}","download_url":"https://localhost:1/{evil}",
        "shasums_url":"{evil}","shasums_signature_url":"{evil}","shasum":"{evil}","signing_keys":{{"gpg_public_keys":[{{
        "key_id":"{evil}","ascii_armor":"{evil}"}}]}}}}"#
    );
    let version = |version: &str, more: &str| format!(r#"{{"versions":[{{"version":"{version}"{more}}}]}}"#);
    let protocols = format!(r#","protocols":["{evil}"],"platforms":[{{"os":"{evil}","arch":"{evil}"}}]"#);
    let plain = "\n ::set-output name=a::true\n##[set-output name=x]y ##vso[task.x]z \u{1b}[31m";
    for (endpoint, answer) in [
        (Endpoint::Versions, version(evil, "")),
        (Endpoint::Versions, version("1.4.0", &protocols)),
        (Endpoint::Versions, format!(r#"{{"versions":[],"warnings":["{evil}"]}}"#)),
        (Endpoint::Versions, format!(r#"{{"errors":["{evil}"]}}"#)),
        (Endpoint::Discovery, format!(r#"{{"providers.v1":"{evil}"}}"#)),
        (Endpoint::Download, package),
        (Endpoint::Sums, plain.to_owned()),
        (Endpoint::Signature, plain.to_owned()),
    ] {
        let registry = honest();
        let workspace = super::impatient(&registry);
        let registry = registry.answers(endpoint, Answer::json(answer));
        for format in formats("verify") {
            for command in [&["verify"][..], &["lock", "--platform=linux_amd64"], &["outdated"]] {
                if command[0] != "verify" && format != "human" {
                    continue;
                }
                let args: Vec<&str> = [command, &["-v", "--no-cache", "--format", format]].concat();
                let run = workspace.tflock(&registry, args);
                clean(&run, &format!("{endpoint:?} {command:?} {format}"));
                for text in [&run.stdout, &run.stderr] {
                    let found = command_of(text, format == "github");
                    assert!(found.is_none(), "{endpoint:?} {command:?} {format}: {found:?}");
                }
            }
        }
    }
}

/// A file of a world: path and text.
type File = (&'static str, &'static str);

const CONFIGURATION: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"example.com/acme/widget\"\n    }\n  }\n}\n";

const LOCKED: &str = "provider \"example.com/acme/widget\" {\n  version = \"1.4.0\"\n  hashes = [\n    \"zh:##[set-output name=x]y ::error::z\",\n    \
                      \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n";

const RULES: &[File] = &[
    (
        "banned/.tflock.hcl",
        "ban \"example.com/acme/widget\" {\n  versions = \"= 1.4.0\"\n  reason = \"##[x] ::error::y ##vso[z] \\u001b[31m\"\n}\n",
    ),
    ("banned/main.tf", CONFIGURATION),
    ("banned/.terraform.lock.hcl", LOCKED),
    (
        ".tflock.trust.hcl",
        "denied_signer \"1234567890123456789012345678901234567890\" {\n  reason = \"##[x] ::error::y ##vso[z]\"\n}\n",
    ),
    (
        "modules/main.tf",
        "module \"m\" {\n  source = \"git::https://bob:PASSWORD@example.com/##[x]?token=SECRET\"\n}\nmodule \"n\" {\n  source = \"./##vso[x]\"\n}\n",
    ),
    ("modules/.terraform.lock.hcl", LOCKED),
    ("broken/##[x].tf", "resource \"widget_x\" \"##[x]\" {\n  provider = ##vso[x]\n}\n"),
    ("broken/.terraform.lock.hcl", "provider \"##[x]\" {\n  version = \"##vso[x]\"\n}\n"),
];

/// Where a command to a CI system would begin; `None` if nowhere.
fn command_of(text: &str, is_github: bool) -> Option<String> {
    let own = |line: &str| is_github && ["::error ", "::warning ", "::notice "].iter().any(|it| line.starts_with(it));
    let commands = |line: &&str| {
        let begins = line.trim_start().starts_with("::") && !own(line);
        begins || line.contains("##[") || line.to_ascii_lowercase().contains("##vso[")
    };
    text.lines().find(commands).map(str::to_owned)
}

#[cfg(unix)]
#[test]
#[ignore = "long"]
fn nothing_is_a_command_to_ci_or_shows_a_secret() {
    let workspace = crate::support::workspace::Workspace::with_files(RULES);
    for directory in [
        "::set-output name=a::true",
        " ::warning::x",
        "x##[set-output name=x]y",
        "##vso[task.x]y",
        "\u{1b}[31m\u{202e}x",
        "a\n::error::b",
    ] {
        workspace.write(&format!("{directory}/main.tf"), CONFIGURATION);
        workspace.write(&format!("{directory}/.terraform.lock.hcl"), LOCKED);
    }
    workspace.git(["init", "--quiet"]);
    crate::support::proposal::commit(&workspace, "##[set-output name=x]y");
    workspace.git(["branch", "base"]);
    for path in ["banned", "::set-output name=a::true", "##vso[task.x]y"] {
        workspace.write(&format!("{path}/.terraform.lock.hcl"), &LOCKED.replace("1.4.0", "1.4.1"));
    }
    let commands: [&[&str]; 14] = [
        &["verify", "-r", "--offline", "--base", "base"],
        &["verify", "-r", "--offline"],
        &["diff", "-r"],
        &["list", "-r"],
        &["why", "-r"],
        &["lock", "-r", "--offline", "--dry-run"],
        &["explain", "-r", "example.com/acme/widget"],
        &["trust", "list"],
        &["fmt", "-r", "--check"],
        &["git", "status"],
        &["verify", "##[x] ::y ##vso[z]"],
        &["-C", "##[x]", "verify"],
        &["explain", "##[x]"],
        &["verify", "--base", "##vso[x]", "-r"],
    ];
    for (at, command) in commands.iter().enumerate() {
        for format in formats("verify") {
            // All formats of the commands of a gate; only the human format of the others.
            if at > 1 && format != "human" {
                continue;
            }
            let run = workspace.tflock(None, ["-v", "--format", format].iter().chain(*command));
            clean(&run, &format!("{command:?} {format}"));
            for text in [&run.stdout, &run.stderr] {
                let found = command_of(text, format == "github");
                assert!(found.is_none(), "{command:?} {format}: {found:?}");
                assert!(!text.contains("PASSWORD") && !text.contains("SECRET"), "{command:?} {format}: {run}");
            }
        }
    }
}

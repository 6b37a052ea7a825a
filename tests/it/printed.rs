//! Runs every `tflock` command of the README and docs as printed.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::keys;
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::workspace::{TFLOCK, Workspace};
use crate::support::worlds::{LOCK_BOTH, PLATFORMS};

const TOP: &str = env!("CARGO_MANIFEST_DIR");

/// The values of words in capitals in the world of this test; longer ones first.
const WORDS: [(&str, &str); 20] = [
    ("HOST/NAMESPACE/TYPE/VERSION/OS_ARCH", "registry.terraform.io/hashicorp/aws/6.2.0/OS_ARCH"),
    ("OS_ARCH", "linux_amd64"),
    ("ADDR@VERSION", "hashicorp/aws@6.2.0"),
    ("ADDR…", "hashicorp/aws"),
    ("ADDR", "hashicorp/aws"),
    ("FINGERPRINT", "{{key}}"),
    ("HASH", "{{hash}}"),
    ("PACKAGE.zip", "package.zip"),
    ("SOURCE", "{{other-host}}/acme/net/lab"),
    ("DIR", "mirror"),
    ("--state FILE", "--state state.json"),
    ("FILE", "index.json"),
    ("--resolve PATH", "--resolve .terraform.lock.hcl"),
    ("REV", "HEAD"),
    ("RULE", "hash-replaced"),
    ("TEXT", "checked"),
    ("COMMAND", "lock"),
    ("TOOL", "tofu"),
    ("OWNER", "owner"),
    ("cdktf.out/stacks/NAME", "."),
];

/// What is not run here, and why.
const ELSEWHERE: &[(&str, &str)] = &[
    ("cargo ", "builds, or is the test run itself; `.ci/run` runs those of the README"),
    ("tflock upgrade -r -i", "asks; tests/it/upgrade_choice.rs answers"),
    ("tflock trust add ADDR --provenance", "asks GitHub; tests/it/provenance.rs runs it without"),
    ("tflock trust rotate ADDR --provenance", "the same"),
    ("tflock audit", "reads vuln.go.dev; tests/it/audit.rs has a database of its own"),
    ("tflock lock --publish --index https://index.example.com/", "tests/it/publish.rs has a server that takes files"),
    ("tflock cache export --publish --index …", "an abbreviation; tests/it/publish.rs runs it"),
];

/// How a command ends that does not end with 0 where all is well.
const ENDS: &[(&str, i32, &str)] = &[
    ("tflock trust forget FINGERPRINT", 2, "the key is not denied in this world"),
    (
        "tflock lock --accept-republished ADDR@VERSION --reason TEXT",
        2,
        "the release was not published again in this world",
    ),
    ("tflock add ADDR", 2, "the provider is required already in this world"),
];

/// The commands of the README and of docs, and the first page that prints each.
fn printed() -> BTreeMap<String, String> {
    let mut pages = vec![Path::new(TOP).join("README.md")];
    for folder in ["docs", "docs/topics", "docs/ci", "docs/dev"] {
        let entries = std::fs::read_dir(Path::new(TOP).join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    let mut found = BTreeMap::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for (at, part) in text.split("```").enumerate() {
            let lines: Vec<String> = if at % 2 == 1 {
                part.lines().skip(1).map(|line| line.trim_start().trim_start_matches("$ ").to_owned()).collect()
            } else {
                let spans = part.split('`').skip(1).step_by(2);
                spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
            };
            let is_command = |line: &String| line.starts_with("tflock ") || line.starts_with("cargo ");
            for line in lines.into_iter().filter(is_command) {
                found.entry(line).or_insert_with(|| page.strip_prefix(TOP).unwrap().display().to_string());
            }
        }
    }
    found
}

/// A repository of one locked root module with a module, its signers remembered and everything installed; a mirror, a state
/// and a package lie next to it.
fn world() -> (Registry, Workspace) {
    let registry = Registry::start()
        .standing_for("registry.terraform.io")
        .standing_for("registry.opentofu.org")
        .release("hashicorp/aws", "6.2.0", PLATFORMS)
        .release("hashicorp/tls", "4.1.0", PLATFORMS)
        .with_packages()
        .module("acme/net/lab", "1.1.0", &[("main.tf", "output \"x\" {\n  value = 1\n}\n")]);
    let main = "terraform {\n  required_providers {\n    aws = {\n      source  = \"hashicorp/aws\"\n      version = \"~> 6.0\"\n    \
                }\n  }\n}\n\nmodule \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"~> 1.0\"\n}\n";
    let state =
        r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {}, "resources": []}"#;
    let ignored = ".terraform/\nmirror/\nindex.json\nstate.json\npackage.zip\n";
    let workspace = Workspace::with_files(&[("main.tf", main), ("state.json", state), (".gitignore", ignored)]);
    workspace.git(["init", "--quiet"]);
    for args in [
        &[&LOCK_BOTH[..], &["--lock-modules"]].concat()[..],
        &["trust", "add", "hashicorp/aws", &crate::support::keys::GOOD.fingerprint(), "--reason", "announced"],
        &["trust", "init"],
        &["mirror", "mirror"],
        &["install"],
        &["cache", "export", "index.json"],
    ] {
        workspace.tflock(&registry, args).ended_with(0);
    }
    workspace.write_bytes("package.zip", &registry.package("hashicorp/aws", "6.2.0", "linux_amd64").zip);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    (registry, workspace)
}

fn printed_commands_run(extent: Extent) {
    let (registry, world) = world();
    let package = registry.package("hashicorp/aws", "6.2.0", "linux_amd64");
    // What reads the output of a command need not be installed here.
    let prelude =
        format!("tflock() {{ '{TFLOCK}' \"$@\"; }}; jq() {{ cat > /dev/null; }}; dot() {{ cat > /dev/null; }}\n");
    let is_elsewhere = |command: &str| ELSEWHERE.iter().any(|(start, _)| command.starts_with(start));
    let commands: Vec<_> = printed().into_iter().filter(|(command, _)| !is_elsewhere(command)).collect();
    assert!(commands.len() > 90, "{}", commands.len());
    each_is_right(&extent.of(&commands, 12), |(command, page)| {
        let filled = WORDS.iter().fold(command.clone(), |text, (word, value)| text.replace(word, value));
        let filled = filled.replace("{{key}}", &keys::GOOD.fingerprint()).replace("{{hash}}", &package.h1);
        let filled = filled.replace("{{other-host}}", &registry.other_host());
        let run = world.copied().program(
            Path::new("/bin/bash"),
            &registry,
            ["-o", "pipefail", "-c", &format!("{prelude}{filled}")],
        );
        let wanted = ENDS.iter().find(|(known, ..)| known == command).map_or(0, |(_, code, _)| *code);
        if run.code == Some(wanted) { Ok(()) } else { Err(format!("{page}: {command}\n{run}")) }
    });
}

#[test]
fn some_printed_commands_run() {
    printed_commands_run(Extent::Short);
}

#[test]
#[ignore = "long"]
fn every_printed_command_runs() {
    printed_commands_run(Extent::Long);
}

//! Each setting does something: a run with it ends otherwise, or says or writes something else, than a run without.

use std::collections::BTreeSet;

use crate::support::keys;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const PAGE: &str = include_str!("../../docs/topics/settings.md");
const LINUX: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// A setting, and what shows that it is heard.
struct Setting {
    /// As the page has it: `policy.h1`.
    name: &'static str,
    /// The settings without it and with it; `HOST` is the provider's, `INDEX` a directory that is not there.
    settings: [&'static str; 2],
    /// What the registry has.
    world: fn() -> Registry,
    /// The command of both runs, each in a work tree of its own.
    run: &'static [&'static str],
    /// The exit codes of both.
    codes: [i32; 2],
    /// What only the second run says, or has in its lock file; `H1` is that of the other platform.
    shows: &'static str,
}

const PLAIN: Setting =
    Setting { name: "", settings: ["", ""], world: expired, run: &LINUX, codes: [0, 3], shows: "expired-key" };

/// Its key has expired when it signs, which is a warning.
fn expired() -> Registry {
    widget().signed_by(keys::EXPIRED).signed_on(keys::AFTER_EXPIRY)
}

fn unsigned() -> Registry {
    widget().unsigned()
}

/// The registry of `OpenTofu`, which reports about packages.
fn reporting() -> Registry {
    widget().with_packages().standing_for("registry.opentofu.org")
}

const ROWS: &[Setting] = &[
    Setting {
        name: "platforms",
        settings: ["", "platforms = [\"darwin_arm64\"]\n"],
        run: &["lock"],
        codes: [0, 0],
        shows: "h1 for darwin_arm64",
        ..PLAIN
    },
    Setting { name: "tool", settings: ["", "tool = \"tofu\"\n"], codes: [0, 0], shows: "\"tofu init\"", ..PLAIN },
    Setting { name: "source", settings: ["", "source = \"fs:/nowhere\"\n"], codes: [0, 2], shows: "/nowhere", ..PLAIN },
    Setting {
        name: "optional_platforms",
        settings: ["", "optional_platforms = {\n  \"HOST/acme/widget\" = [\"plan9_arm\"]\n}\n"],
        run: &["lock", "--platform", "linux_amd64", "--platform", "plan9_arm"],
        codes: [2, 0],
        shows: "platform-missing",
        ..PLAIN
    },
    Setting {
        name: "policy.hosts",
        settings: ["", "policy {\n  hosts = [\"x.example\"]\n}\n"],
        shows: "host-not-allowed",
        ..PLAIN
    },
    Setting {
        name: "provenance.required",
        settings: ["", "provenance {\n  required = [\"HOST/acme/widget\"]\n}\n"],
        shows: "provenance-missing",
        ..PLAIN
    },
    Setting {
        name: "policy.signature",
        settings: ["", "policy {\n  signature = \"never\"\n}\n"],
        world: unsigned,
        codes: [3, 0],
        shows: "not signed",
        ..PLAIN
    },
    Setting {
        name: "policy.expired_key",
        settings: ["", "policy {\n  expired_key = \"deny\"\n}\n"],
        shows: "denied[expired-key]",
        ..PLAIN
    },
    Setting {
        name: "policy.h1",
        settings: [H1_VERIFIED, "tool = \"tofu\"\npolicy {\n  h1 = \"registry\"\n}\n"],
        world: reporting,
        codes: [0, 0],
        shows: "H1",
        ..PLAIN
    },
    Setting {
        name: "policy.minimum_age",
        settings: ["", "policy {\n  minimum_age = \"5000w\"\n}\n"],
        codes: [0, 2],
        shows: "is too recent",
        ..PLAIN
    },
    Setting {
        name: "policy.witnessed",
        settings: [
            "host \"HOST\" {\n  witnesses = [\"localhost:1\"]\n}\n",
            "host \"HOST\" {\n  witnesses = [\"localhost:1\"]\n}\npolicy {\n  witnessed = [\"HOST/acme/*\"]\n}\n",
        ],
        codes: [0, 4],
        shows: "the settings demand one",
        ..PLAIN
    },
    Setting {
        name: "host.h1",
        settings: ["tool = \"tofu\"\n", "tool = \"tofu\"\nhost \"HOST\" {\n  h1 = \"registry\"\n}\n"],
        world: || widget().with_packages(),
        codes: [0, 0],
        shows: "H1",
        ..PLAIN
    },
    Setting {
        name: "host.signature",
        settings: ["", "host \"HOST\" {\n  signature = \"never\"\n}\n"],
        world: unsigned,
        codes: [3, 0],
        shows: "not signed",
        ..PLAIN
    },
    Setting { name: "ban.versions", settings: [NOT_BANNED, BANNED], codes: [0, 3], shows: "banned", ..PLAIN },
    Setting { name: "ban.reason", settings: [BANNED, BANNED_FOR], codes: [3, 3], shows: "it deletes things", ..PLAIN },
    Setting { name: "exempt.provider", settings: [EXEMPT_OTHER, EXEMPT], codes: [3, 0], shows: "(exempt)", ..PLAIN },
    Setting { name: "exempt.version", settings: [EXEMPT, EXEMPT_VERSION], shows: "denied[expired-key]", ..PLAIN },
    Setting { name: "exempt.reason", settings: [EXEMPT, EXEMPT_FOR], codes: [0, 0], shows: "a new key comes", ..PLAIN },
    Setting { name: "exempt.until", settings: [EXEMPT, EXEMPT_OVER], shows: "denied[expired-key]", ..PLAIN },
    Setting {
        name: "level.is",
        settings: ["", "level \"expired-key\" {\n  is = \"deny\"\n}\n"],
        shows: "denied[expired-key]",
        ..PLAIN
    },
];

const H1_VERIFIED: &str = "tool = \"tofu\"\npolicy {\n  h1 = \"verified\"\n}\n";
const NOT_BANNED: &str = "ban \"HOST/acme/widget\" {\n  versions = \"< 1.0.0\"\n}\n";
const BANNED: &str = "ban \"HOST/acme/widget\" {\n  versions = \"< 2.0.0\"\n}\n";
const BANNED_FOR: &str = "ban \"HOST/acme/widget\" {\n  versions = \"< 2.0.0\"\n  reason = \"it deletes things\"\n}\n";
const EXEMPT_OTHER: &str =
    "policy {\n  expired_key = \"deny\"\n}\nexempt \"expired-key\" {\n  provider = \"HOST/acme/gadget\"\n}\n";
const EXEMPT: &str =
    "policy {\n  expired_key = \"deny\"\n}\nexempt \"expired-key\" {\n  provider = \"HOST/acme/widget\"\n}\n";
const EXEMPT_VERSION: &str =
    "policy {\n  expired_key = \"deny\"\n}\nexempt \"expired-key\" {\n  version = \"1.3.0\"\n}\n";
const EXEMPT_FOR: &str =
    "policy {\n  expired_key = \"deny\"\n}\nexempt \"expired-key\" {\n  reason = \"a new key comes\"\n}\n";
const EXEMPT_OVER: &str =
    "policy {\n  expired_key = \"deny\"\n}\nexempt \"expired-key\" {\n  until = \"2025-01-01\"\n}\n";

/// Settings whose effect other tests show.
const ELSEWHERE: [(&str, &str); 10] = [
    ("witnesses", "witnesses: both public registries and GitHub"),
    ("host.witnesses", "witnesses: another registry"),
    ("link", "install::places: each way to link gives the files that it says"),
    ("exclude", "attack::unread: excluded directories are not searched"),
    ("policy.module_hosts", "modules: hosts that are not allowed are not asked for modules"),
    ("index.url", "index: a directory spares downloads"),
    ("index.trust", "index: what counts as if computed here"),
    ("terragrunt.env", "kinds::cases: unit-env-settings"),
    ("terragrunt.plain", "terragrunt::facts_tests: a hole is harmless because the settings say so"),
    ("terragrunt.harmless", "kinds::world: one line of settings has a repository read"),
];

fn fill(text: &str, registry: &Registry) -> String {
    let stood_for = registry.hosts_stood_for().first().cloned();
    let h1 = registry.package("acme/widget", "1.4.0", "darwin_arm64").h1;
    text.replace("HOST", &stood_for.unwrap_or_else(|| registry.host())).replace("H1", &h1)
}

#[test]
#[ignore = "long"]
fn each_setting_does_something() {
    let main =
        "terraform {\n  required_providers {\n    widget = {\n      source = \"HOST/acme/widget\"\n    }\n  }\n}\n";
    let mut failed = Vec::new();
    for Setting { name, settings, world, run, codes, shows } in ROWS {
        let registry = world();
        let runs = settings.map(|text| {
            let workspace = Workspace::with_files(&[("main.tf", &fill(main, &registry))]);
            workspace.write(".tflock.hcl", &fill(text, &registry));
            let run = workspace.tflock(&registry, *run);
            let lock = if workspace.has(".terraform.lock.hcl") { workspace.lock_file() } else { String::new() };
            let shown = format!("{}{}{lock}", run.stdout, run.stderr).contains(&fill(shows, &registry));
            (run.code, shown, run)
        });
        let [(without, _, _), (with, _, _)] = &runs;
        // If the exit codes are equal, only the second run may say it.
        let is_shown = runs[1].1 && (codes[0] != codes[1] || !runs[0].1);
        if (*without, *with) != (Some(codes[0]), Some(codes[1])) || !is_shown {
            failed.push(format!("{name}:\n{}\n{}", runs[0].2, runs[1].2));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n----------\n"));
}

/// The page of settings names what the tests above know, and nothing else.
#[test]
fn each_setting_of_the_page_is_tried() {
    let (_, example) = PAGE.split_once("```hcl\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let (mut block, mut named) = (String::new(), BTreeSet::new());
    for line in example.lines() {
        let word = line.split_whitespace().next().unwrap_or_default().trim_matches('"');
        if line.starts_with('}') {
            block.clear();
        } else if !line.starts_with(' ') && line.contains('{') {
            block = word.to_owned();
            if line.contains("= {") {
                named.insert(block.clone());
            }
        } else if line.contains(" = ") && block != "optional_platforms" {
            named.insert(if block.is_empty() { word.to_owned() } else { format!("{block}.{word}") });
        }
    }
    // The page says of this one that a host may have it too.
    named.insert("host.h1".to_owned());
    let tried: BTreeSet<String> =
        ROWS.iter().map(|row| row.name).chain(ELSEWHERE.iter().map(|(name, _)| *name)).map(str::to_owned).collect();
    assert_eq!(named, tried);
}

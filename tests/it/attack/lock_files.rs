//! Lock files that were tampered with, in an honest world.

use super::{HONEST, PASSES, Row, check, finds, refuses};
use crate::support::locked::{LOCK, hashes, honest, line_of, locked, planted, rules, verify};
use crate::support::registry::Registry;

const ZH: &str = "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/// `lock` keeps unexplained hashes with the others, and says so; the gate denies them.
const DOCTORED_LOCK_FILES: &[Row] = &[
    Row {
        name: "a planted zh",
        lock_file: |text, _| planted(text, ZH),
        verify: refuses(&["unattested-hash"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "a planted h1",
        lock_file: |text, _| planted(text, H1),
        verify: refuses(&["unattested-hash"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "an h1 that is none",
        lock_file: |text, _| planted(text, "h1:nonsense"),
        verify: refuses(&["malformed-hash"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "a zh of another provider",
        lock_file: |text, registry| planted(text, &registry.package("acme/gadget", "2.0.0", "linux_amd64").zh()),
        verify: refuses(&["contradicted-hash"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "the hashes of two providers swapped",
        lock_file: |text, registry| {
            let [one, two] = [("acme/gadget", "2.0.0"), ("acme/widget", "1.4.0")]
                .map(|(provider, version)| hashes(registry, provider, version).join("\",\n    \""));
            text.replace(&one, "ONE").replace(&two, &one).replace("ONE", &two)
        },
        verify: refuses(&["contradicted-hash"]),
        lock: refuses(&["republished"]),
        ..HONEST
    },
    Row {
        name: "all hashes replaced by others",
        lock_file: |text, registry| {
            let own = hashes(registry, "acme/widget", "1.4.0").join("\",\n    \"");
            text.replace(&own, &[H1, ZH].join("\",\n    \""))
        },
        verify: refuses(&["republished"]),
        lock: refuses(&["republished"]),
        ..HONEST
    },
    Row {
        name: "no hashes",
        lock_file: |text, _| {
            let start = text.rfind("  hashes = [").unwrap();
            format!("{}}}\n", &text[..start])
        },
        verify: refuses(&["pins-nothing"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "unknown schemes only",
        lock_file: |text, _| {
            let start = text.rfind("  hashes = [").unwrap();
            format!("{}  hashes = [\n    \"h9:abc\",\n  ]\n}}\n", &text[..start])
        },
        verify: refuses(&["pins-nothing"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "no h1: the archives are known, so that lock completes what is missing",
        lock_file: |text, _| text.split_inclusive('\n').filter(|line| !line.contains("\"h1:")).collect(),
        verify: PASSES,
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "an entry removed",
        lock_file: |text, _| text[..text.rfind("\nprovider").unwrap()].to_owned(),
        verify: finds(&["entry-missing"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "a version that is not allowed, nor on offer",
        lock_file: |text, _| text.replace("1.4.0", "1.3.0"),
        verify: refuses(&["version-not-allowed", "version-withdrawn"]),
        lock: super::CANNOT,
        ..HONEST
    },
    Row {
        name: "a look-alike host",
        lock_file: |text, _| text.replace("localhost:", "lоcalhost:"),
        verify: refuses(&["entry-missing", "look-alike"]),
        lock: PASSES,
        ..HONEST
    },
    Row {
        name: "conflict markers",
        lock_file: |text, _| format!("<<<<<<< HEAD\n{text}"),
        verify: finds(&["lock-syntax"]),
        lock: super::CANNOT,
        ..HONEST
    },
];

#[test]
#[ignore = "long"]
fn doctored_lock_files_are_judged() {
    check(DOCTORED_LOCK_FILES);
}

#[test]
fn planted_hashes_are_found_on_their_lines() {
    let registry = honest();
    for hash in [ZH, H1] {
        let workspace = locked(&registry);
        workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
        let doctored = planted(&workspace.lock_file(), hash);
        workspace.write(LOCK, &doctored);
        let run = verify(&workspace, &registry, &[]).ended_with(3);
        let findings = run.json()["findings"].as_array().unwrap().clone();
        let finding = findings.iter().find(|finding| finding["level"] == "deny").unwrap();
        assert_eq!(
            (&finding["line"], &finding["column"], &finding["file"]),
            (&line_of(&doctored, hash).into(), &5.into(), &LOCK.into())
        );
    }
}

/// Only the hosts show the tool, and they change: no entry is left for the tool of the base.
#[test]
fn entries_of_the_other_default_registry() {
    use crate::support::proposal::{commit, edit};
    use crate::support::workspace::Workspace;
    let entry = format!(
        "provider \"registry.terraform.io/acme/widget\" {{\n  version = \"1.4.0\"\n  hashes = [\n    {H1:?},\n  ]\n}}\n"
    );
    let main = "terraform {\n  required_providers {\n    widget = {\n      source = \"acme/widget\"\n    }\n  }\n}\n";
    let header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n";
    for header in ["", header] {
        let workspace = Workspace::with_files(&[("main.tf", main), (LOCK, &format!("{header}{entry}"))]);
        workspace.git(["init", "--quiet"]);
        commit(&workspace, "main");
        workspace.git(["branch", "base"]);
        let gate = || workspace.tflock(None, ["verify", "--offline", "--base", "base", "--format", "json"]);
        gate().ended_with(0);
        edit(&workspace, LOCK, |text| {
            text.replace("registry.terraform.io", "registry.opentofu.org").replace("terraform init", "tofu init")
        });
        let run = gate().ended_with(3);
        assert!(rules(&run, "deny").contains("dialect-changed"), "{run}");
    }
}

/// Without an `h1:` the tools accept any unpacked package, and look for one in the tree first.
#[test]
fn no_h1_and_an_implied_mirror_in_the_tree() {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
    let text = workspace.lock_file();
    let without: String = text.split_inclusive('\n').filter(|line| !line.contains("\"h1:")).collect();
    workspace.write(LOCK, &without);
    let place = format!("terraform.d/plugins/{}/acme/widget/1.4.0/linux_amd64", registry.host());
    workspace.write(&format!("{place}/terraform-provider-widget"), "worm");
    workspace.git(["add", "--force", "terraform.d"]);
    let run = verify(&workspace, &registry, &[]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["tracked-packages".to_owned()].into(), "{run}");
    assert_eq!(rules(&run, "warn"), ["h1-missing".to_owned()].into(), "{run}");
    // Without requests the result is the same.
    let run = verify(&workspace, &registry, &["--offline", "--no-cache"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["tracked-packages".to_owned()].into(), "{run}");
    assert_eq!(rules(&run, "warn"), ["h1-missing".to_owned()].into(), "{run}");
}

/// An address that looks like a known one is never requested.
#[test]
fn a_look_alike_in_the_configuration() {
    let registry: Registry = honest();
    let workspace = locked(&registry);
    workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
    workspace.write("main.tf", &workspace.read("main.tf").replacen("localhost", "lоcalhost", 1));
    let run = workspace.tflock(&registry, ["lock", "--format", "json"]).ended_with(3);
    assert_eq!(rules(&run, "deny"), ["look-alike".to_owned()].into(), "{run}");
    assert!(run.touched().is_empty() && !run.stderr.contains("xn--"), "{run}");
    let finding = run.json()["findings"][0].clone();
    assert_eq!((&finding["file"], &finding["line"]), (&"main.tf".into(), &3.into()), "{run}");
}

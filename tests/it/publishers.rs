//! Well-known providers that are signed by a key that their publisher is not known by.

use crate::support::keys;
use crate::support::locked::{LOCK, line_of, rules};
use crate::support::proposal::{SETTINGS, TRUST, commit};
use crate::support::registry::Registry;
use crate::support::run::{Run, formats};
use crate::support::workspace::Workspace;

const MAIN: &str =
    "terraform {\n  required_providers {\n    null = {\n      source = \"hashicorp/null\"\n    }\n  }\n}\n";
const RULE: &str = "unexpected-publisher";
const TERRAFORM: &str = "registry.terraform.io";

fn registry() -> Registry {
    Registry::start().standing_for(TERRAFORM).release("hashicorp/null", "3.1.0", &["linux_amd64"])
}

/// A repository that has it locked, without a trust file.
fn repository(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    run(&workspace, registry, &["lock", "--platform", "linux_amd64"]).ended_with(0);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    workspace
}

fn run(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Run {
    workspace.tflock(registry, args.iter().chain(&["--format", "json"]))
}

fn level(level: &str) -> String {
    format!("level \"{RULE}\" {{\n  is = \"{level}\"\n}}\n")
}

#[test]
#[ignore = "long"]
fn every_command_that_meets_one_says_so_at_the_level_of_the_settings() {
    let registry = registry();
    let workspace = repository(&registry);
    let lock = workspace.lock_file();
    for (stated, code) in [("deny", 3), ("warn", 0), ("note", 0)] {
        workspace.write(SETTINGS, &level(stated));
        let says = |args: &[&str]| {
            let run = run(&workspace, &registry, args).ended_with(code);
            assert!(rules(&run, stated).contains(RULE), "{run}");
            let refused = code != 0;
            assert!(!refused || run.touched().is_empty(), "{run}");
        };
        let forget = || drop(std::fs::remove_file(workspace.path(TRUST)));
        says(&["verify"]);
        says(&["verify", "--offline"]);
        says(&["trust", "init"]);
        forget();
        says(&["trust", "init", "-r"]);
        forget();
        std::fs::remove_file(workspace.path(LOCK)).unwrap();
        says(&["lock", "--platform", "linux_amd64"]);
        forget();
        workspace.write(LOCK, &lock);
    }
}

#[test]
fn a_reason_in_the_trust_file_settles_it() {
    let registry = registry();
    let workspace = repository(&registry);
    let good = keys::GOOD.fingerprint();
    workspace.write(SETTINGS, &level("deny"));
    let pattern = format!("{TERRAFORM}/hashicorp/*");
    for what in ["hashicorp/null", &pattern] {
        drop(std::fs::remove_file(workspace.path(TRUST)));
        workspace.tflock(&registry, ["trust", "add", what, &good]).ended_with(0);
        run(&workspace, &registry, &["verify"]).ended_with(3);
        workspace.tflock(&registry, ["trust", "add", what, &good, "--reason", "announced"]).ended_with(0);
        let verified = run(&workspace, &registry, &["verify"]).ended_with(0);
        assert!(!verified.stdout.contains(RULE), "{verified}");
        run(&workspace, &registry, &["trust", "init"]).ended_with(0);
    }
}

#[test]
fn the_base_decides_and_only_changed_entries_are_judged() {
    let registry = registry();
    let workspace = repository(&registry);
    let good = keys::GOOD.fingerprint();
    workspace.tflock(&registry, ["trust", "add", "hashicorp/null", &good]).ended_with(0);
    workspace.write(SETTINGS, &level("deny"));
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let gate = ["verify", "--base", "origin/main"];
    run(&workspace, &registry, &gate).ended_with(0);
    let registry = registry.release("hashicorp/null", "3.2.0", &["linux_amd64"]);
    let upgrade = ["upgrade", "--platform", "linux_amd64"];
    let refused = run(&workspace, &registry, &upgrade).ended_with(3);
    assert!(rules(&refused, "deny").contains(RULE) && refused.touched().is_empty(), "{refused}");
    // The change that another tool makes, with a reason that its author gives.
    workspace.write(SETTINGS, "");
    run(&workspace, &registry, &upgrade).ended_with(0);
    workspace.write(SETTINGS, &level("deny"));
    workspace.tflock(&registry, ["trust", "add", "hashicorp/null", &good, "--reason", "trust me"]).ended_with(0);
    commit(&workspace, "change");
    let refused = run(&workspace, &registry, &gate).ended_with(3);
    assert!(rules(&refused, "deny").contains(RULE), "{refused}");
    run(&workspace, &registry, &["verify", "--base", "origin/main", "--allow-trust-change"]).ended_with(0);
}

/// `HashiCorp` announces all its keys: without settings, what writes a lock file warns, and the gate and what remembers keys refuse.
#[test]
#[ignore = "long"]
fn another_key_of_a_publisher_that_announces_its_keys_is_refused() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "base");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let locked = run(&workspace, &registry, &["lock", "--platform", "linux_amd64"]).ended_with(0);
    assert!(rules(&locked, "warn").contains(RULE), "{locked}");
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    let remembered = run(&workspace, &registry, &["trust", "init"]).ended_with(3);
    assert!(rules(&remembered, "deny").contains(RULE) && !workspace.has(TRUST), "{remembered}");
    commit(&workspace, "change");
    let gate = ["verify", "--base", "origin/main"];
    let refused = run(&workspace, &registry, &gate).ended_with(3);
    assert!(rules(&refused, "deny").contains(RULE), "{refused}");
    let good = keys::GOOD.fingerprint();
    workspace.tflock(&registry, ["trust", "add", "hashicorp/null", &good, "--reason", "announced"]).ended_with(0);
    commit(&workspace, "its own reason");
    run(&workspace, &registry, &gate).ended_with(3);
    run(&workspace, &registry, &[&gate[..], &["--allow-trust-change"]].concat()).ended_with(0);
    // A newer key than this program knows, once somebody compared it.
    workspace.git(["checkout", "--quiet", "origin/main"]);
    workspace.tflock(&registry, ["trust", "add", "hashicorp/null", &good, "--reason", "announced"]).ended_with(0);
    commit(&workspace, "trust");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    run(&workspace, &registry, &["lock", "--platform", "linux_amd64"]).ended_with(0);
    commit(&workspace, "change");
    let passed = run(&workspace, &registry, &gate).ended_with(0);
    assert!(!passed.stdout.contains(RULE), "{passed}");
}

/// A reason that a change adds would settle the later changes by that key.
#[test]
#[ignore = "long"]
fn a_change_that_adds_a_reason_is_judged_itself() {
    let registry = registry();
    let good = keys::GOOD.fingerprint();
    let hashicorp = "C874011F0AB405110D02105534365D9472D7468F";
    let gate = ["verify", "--base", "origin/main"];
    let (own, all) = (format!("{TERRAFORM}/hashicorp/null"), format!("{TERRAFORM}/hashicorp/*"));
    let (registries, acme) = (format!("{TERRAFORM}/*/*"), format!("{TERRAFORM}/acme/*"));
    for (stated, code) in [("deny", 3), ("warn", 0)] {
        let workspace = repository(&registry);
        workspace.write(SETTINGS, &level(stated));
        let pins = [&own, &all, &registries, &acme].map(|pattern| {
            format!("provider \"{pattern}\" {{\n  signers = [\"{good}\", \"{hashicorp}\"]\n  unsigned = true\n}}\n")
        });
        workspace.write(TRUST, &pins.join("\n"));
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let base = workspace.read(TRUST);
        for (pattern, signer, is_theirs) in [
            (&own, good.as_str(), false),
            (&all, &good, false),
            (&registries, &good, false),
            (&own, "unsigned", false),
            (&own, hashicorp, true),
            (&acme, &good, true),
        ] {
            workspace.write(TRUST, &base);
            workspace.tflock(&registry, ["trust", "add", pattern, signer, "--reason", "trust me"]).ended_with(0);
            let line = line_of(&workspace.read(TRUST), &format!("  signer \"{signer}\""));
            for more in [&[][..], &["--offline"]] {
                let judged = run(&workspace, &registry, &[&gate[..], more].concat());
                let findings = judged.json()["findings"].as_array().unwrap().clone();
                let is_it = |finding: &&serde_json::Value| finding["rule"] == RULE && finding["level"] == stated;
                let found: Vec<&serde_json::Value> = findings.iter().filter(is_it).collect();
                assert_eq!(found.len(), usize::from(!is_theirs), "{pattern} {signer} {judged}");
                assert_eq!(judged.code, Some(if is_theirs { 0 } else { code }), "{judged}");
                for finding in found {
                    assert_eq!(
                        (finding["file"].as_str(), finding["line"].as_u64()),
                        (Some(TRUST), Some(line)),
                        "{judged}"
                    );
                }
            }
            let allowed = run(&workspace, &registry, &[&gate[..], &["--allow-trust-change"]].concat()).ended_with(0);
            assert!(!rules(&allowed, stated).contains(RULE), "{allowed}");
        }
    }
}

#[test]
fn a_downgrade_is_a_note_of_the_gate_that_a_level_denies() {
    let registry = registry();
    let workspace = repository(&registry);
    let old = workspace.lock_file();
    let registry = registry.release("hashicorp/null", "3.2.0", &["linux_amd64"]);
    run(&workspace, &registry, &["upgrade", "--platform", "linux_amd64"]).ended_with(0);
    for (settings, stated, code) in [(String::new(), "note", 0), (level("deny").replace(RULE, "downgraded"), "deny", 3)]
    {
        workspace.write(SETTINGS, &(settings + &level("warn")));
        commit(&workspace, "base");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let new = workspace.lock_file();
        workspace.write(LOCK, &old);
        for more in [&[][..], &["--offline"]] {
            let gate = ["verify", "--base", "origin/main"];
            let judged = run(&workspace, &registry, &[&gate[..], more].concat()).ended_with(code);
            assert!(rules(&judged, stated).contains("downgraded"), "{judged}");
        }
        workspace.write(LOCK, &new);
        let upgraded = run(&workspace, &registry, &["verify", "--base", "origin/main"]).ended_with(0);
        assert!(!upgraded.stdout.contains("downgraded"), "{upgraded}");
    }
}

/// `diff` explains: it neither calls a change passed nor names the command that accepts a key, whatever it found.
#[test]
#[ignore = "long"]
fn diff_leaves_the_judgment_to_the_gate() {
    let registry = registry().release("hashicorp/null", "3.0.0", &["linux_amd64"]);
    let workspace = repository(&registry);
    let locked = workspace.lock_file();
    commit(&workspace, "base");
    let package = registry.package("hashicorp/null", "3.1.0", "linux_amd64");
    let other = registry.package("hashicorp/null", "3.0.0", "linux_amd64");
    let forged = locked.replace(&package.h1, &other.h1).replace(&package.zh(), &other.zh());
    assert_ne!(forged, locked);
    workspace.write(LOCK, &forged);
    for format in formats("diff") {
        let run = workspace.tflock(&registry, ["diff", "--online", "--exit-code", "--format", format]).ended_with(3);
        let shown = run.stdout.to_lowercase();
        assert!(!shown.contains("passed") && !shown.contains("next: `tflock trust"), "{run}");
        if ["human", "markdown", "html", "github"].contains(&format) {
            assert!(run.stdout.contains("tflock verify -r --base HEAD"), "{run}");
        }
        if ["human", "markdown"].contains(&format) {
            let first = run.stdout.lines().next().unwrap_or_default().to_lowercase();
            let first = first.replace('#', "").trim().to_owned();
            assert!(first.starts_with("dangerous: hashicorp/null 3.1.0 (checksums replaced"), "{run}");
        }
    }
    let named = workspace.tflock(&registry, ["diff", "old", "new"]);
    assert!(!named.stdout.contains("next:"), "{named}");
    // The gate looks for what to compare before anything is accepted.
    workspace.write(LOCK, &locked);
    let run = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(run.stdout.ends_with("next: `tflock explain registry.terraform.io/hashicorp/null`\n"), "{run}");
    let explained = workspace.tflock(&registry, ["explain", "hashicorp/null"]).ended_with(0);
    assert!(explained.stdout.contains(&format!("  signed by {}\n", keys::GOOD.fingerprint())), "{explained}");
    assert!(
        explained.stdout.contains("  key of HashiCorp: C874011F0AB405110D02105534365D9472D7468F, see https://"),
        "{explained}"
    );
}

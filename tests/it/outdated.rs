//! What could be upgraded.

use crate::support::keys;
use crate::support::registry::{Endpoint, Registry};
use crate::support::workspace::Workspace;

const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.0"
    }
  }
}

module "net" {
  source = "./net"
}
"#;
const NET: &str = r#"terraform {
  required_providers {
    widget = {
      source  = "{{registry}}/acme/widget"
      version = ">= 1.0, != 1.2.0"
    }
  }
}
"#;

fn registry() -> Registry {
    let registry = Registry::start().release("acme/widget", "1.0.0", &["linux_amd64"]);
    registry.release("acme/widget", "1.1.0", &["linux_amd64"])
}

#[test]
fn what_is_newer_and_what_holds_it_back() {
    let workspace = Workspace::with_files(&[("main.tf", MAIN), ("net/main.tf", NET)]);
    let registry = registry();
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let run = workspace.tflock(&registry, ["outdated", "--exit-code"]).ended_with(0);
    assert_eq!(run.stdout, "all providers are up to date\n");

    let registry = registry.release("acme/widget", "2.0.0", &["linux_amd64"]);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["outdated", "--exit-code"]).ended_with(0);
    insta::assert_snapshot!(run.filtered(&run.stdout));
    assert_eq!((registry.count(Endpoint::Versions), registry.downloads("acme/widget")), (1, 0));
    assert!(run.touched().is_empty());

    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64"]);
    let run = workspace.tflock(&registry, ["outdated", "--exit-code", "--format", "json"]).ended_with(1);
    let row = &run.json()["outdated"][0];
    assert_eq!([&row["selected"], &row["allowed"], &row["newest"]], ["1.1.0", "1.3.0", "2.0.0"]);
    assert_eq!(row["held_back_by"][0]["constraint"], "~> 1.0");
    let ages: Vec<_> = row["ages"].as_array().unwrap().iter().map(|age| (&age["version"], &age["signed"])).collect();
    assert_eq!(ages, [(&"1.3.0".into(), &"2024-06-01".into()), (&"2.0.0".into(), &"2024-06-01".into())]);
    workspace.tflock(&registry, ["outdated"]).ended_with(0);
    workspace.tflock(&registry, ["outdated", "--offline"]).ended_with(4);
    // A trust file that cannot be read may refuse the signer.
    workspace.write(".tflock.trust.hcl", "not a trust file");
    workspace.tflock(&registry, ["outdated"]).ended_with(2);
}

#[test]
fn a_release_whose_signer_would_be_refused_is_marked() {
    let workspace = Workspace::with_files(&[("main.tf", MAIN), ("net/main.tf", NET)]);
    let registry = registry();
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64"]).signed_by(keys::OTHER);
    let run = workspace.tflock(&registry, ["outdated", "--format", "json"]).ended_with(0);
    assert_eq!(run.json()["outdated"][0]["ages"][0]["signer_refused"], true);
    assert!(run.json()["next"].is_null(), "{run}");
    let run = workspace.tflock(&registry, ["outdated", "--exit-code"]).ended_with(0);
    assert!(run.stdout.contains("signer refused"), "{run}");
    let run = workspace.tflock(&registry, ["outdated", "-r"]).ended_with(0);
    assert!(run.stdout.contains("1 with a newer release") && !run.stdout.contains("can be upgraded"), "{run}");
    workspace.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]).ended_with(3);
}

/// What `upgrade` passes over cannot be selected, and is printed with the reason.
#[test]
fn a_release_that_is_too_young_is_no_upgrade() {
    const SETTINGS: &str = ".tflock.hcl";
    let workspace = Workspace::with_files(&[("main.tf", MAIN), ("net/main.tf", NET)]);
    let registry = registry();
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64"]);
    let registry = registry.release("acme/widget", "1.4.0", &["linux_amd64"]);
    let policy = "policy {\n  minimum_age = \"5200w\"\n}\n";
    let outdated = |settings: &str, more: &[&str], code| {
        workspace.write(SETTINGS, settings);
        let run = workspace.tflock(&registry, ["outdated", "--exit-code"].iter().chain(more)).ended_with(code);
        assert_eq!(registry.downloads("acme/widget"), 1, "{run}");
        run
    };
    let run = outdated(policy, &[], 0);
    assert!(run.stdout.contains(" minimum_age: 1.4.0, 1.3.0 are too young\n"), "{run}");
    assert!(run.stdout.contains(" days old, allowed in "), "{run}");
    assert!(outdated(policy, &["-r"], 0).stdout.contains(" minimum_age: 1.4.0, 1.3.0 are too young"), "{run}");
    let row = outdated(policy, &["--format", "json"], 0).json()["outdated"][0].clone();
    assert_eq!([&row["allowed"], &row["newest"], &row["skipped"][1]["version"]], ["1.1.0", "1.4.0", "1.3.0"]);
    // As `upgrade` has it.
    let run = workspace.tflock(&registry, ["upgrade", "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains("stays at 1.1.0") && run.touched().is_empty(), "{run}");
    let exempt = format!("{policy}exempt \"too-young\" {{\n  version = \"1.3.0\"\n}}\n");
    let row = outdated(&exempt, &["--format", "json"], 1).json()["outdated"][0].clone();
    assert_eq!([&row["allowed"], &row["newest"], &row["skipped"][0]["version"]], ["1.3.0", "1.4.0", "1.4.0"]);
    // An age that all of them have costs nothing.
    outdated("policy {\n  minimum_age = \"1d\"\n}\n", &[], 1);
}

#[test]
fn an_unknown_provider_does_not_hide_the_others() {
    let other = MAIN
        .replace("    widget = {", "    gone = {\n      source = \"{{registry}}/acme/gone\"\n    }\n    widget = {");
    let workspace = Workspace::with_files(&[("main.tf", &other), ("net/main.tf", NET)]);
    let run = workspace.tflock(&registry(), ["outdated", "--format", "json"]).ended_with(2);
    let json = run.json();
    assert_eq!(json["outdated"].as_array().unwrap().len(), 1);
    assert_eq!(json["error"]["kind"], "not-found");
    let run = workspace.tflock(&registry(), ["outdated", "acme/misspelt", "--format", "json"]).ended_with(2);
    run.failed_as("usage", &["acme/misspelt"]);
}

/// Every command that reads the list of versions prints the registry's warnings, and none of its control characters.
#[test]
#[ignore = "long"]
fn what_the_registry_warns_of() {
    let workspace = Workspace::with_files(&[("main.tf", MAIN), ("net/main.tf", NET)]);
    let registry = registry().warning("moved to\nother/widget\u{1b}[2J");
    let shown = "warning[registry-warning]: the registry warns about ";
    let text = "acme/widget: moved to other/widget\\u{1b}[2J";
    let lock = ["lock", "--platform", "linux_amd64"];
    let run = workspace.tflock(&registry, lock).ended_with(0);
    assert!(run.stdout.contains(shown) && run.stdout.contains(text), "{run}");
    workspace.git(["init", "--quiet"]);
    crate::support::proposal::commit(&workspace, "locked");
    for args in [&["outdated"][..], &["outdated", "-r"], &["outdated", "--format", "markdown"]] {
        let run = workspace.tflock(&registry, args).ended_with(0);
        assert!(run.stdout.contains("REGISTRY WARNING") && run.stdout.contains("moved to other/widget"), "{run}");
        assert!(!run.stdout.contains('\u{1b}') && !run.stdout.contains("all providers are up to date"), "{run}");
    }
    let run = workspace.tflock(&registry, ["outdated", "--exit-code", "--format", "json"]).ended_with(0);
    assert_eq!(run.json()["outdated"][0]["warnings"][0], "moved to other/widget\u{1b}[2J");
    let registry = registry.release("acme/widget", "1.3.0", &["linux_amd64"]);
    for args in [&["verify"][..], &["upgrade"], &["diff", "--online", "HEAD"]] {
        let run = workspace.tflock(&registry, args).ended_with(0);
        assert!(run.stdout.contains(shown) && run.stdout.contains(text), "{run}");
    }
    // The row of a provider names it next to the signer and the age.
    let run = workspace.tflock(&registry, ["diff", "--online", "HEAD", "--format", "markdown"]).ended_with(0);
    let row = run.stdout.lines().find(|line| line.contains("1.3.0")).unwrap_or_default();
    assert!(row.contains("old (signed on ") && row.contains("; the registry warns: moved to other/widget"), "{run}");
    workspace.write(".tflock.hcl", "level \"registry-warning\" {\n  is = \"deny\"\n}\n");
    assert!(workspace.tflock(&registry, ["verify"]).ended_with(1).stdout.contains("[registry-warning]"));
    let empty = Workspace::with_files(&[("main.tf", "")]);
    let source = format!("{}/acme/widget", registry.host());
    let run = empty.tflock(&registry, ["add", &source, "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains(shown), "{run}");
}

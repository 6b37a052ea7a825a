//! Lock files that Terragrunt's provider cache server wrote, and what `upgrade` does where requirements are not read.

use crate::support::locked::{LOCK, MAIN, block, hashes, honest, rules};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const SOURCE: &str = "terraform {\n  source = \"../modules/net\"\n}\n";

/// A unit whose lock file has no header, but the exact version for a constraint.
fn written_by_the_server(registry: &Registry, unit: &str) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[("modules/net/main.tf", &main), ("live/terragrunt.hcl", unit)]);
    let entry = |name: &str, version: &str| {
        let head = format!("  version     = \"{version}\"\n  constraints = \"{version}\"\n");
        block(registry, name, &head, &hashes(registry, name, version))
    };
    let text = entry("acme/gadget", "2.0.0") + &entry("acme/widget", "1.4.0");
    workspace.write(&format!("live/{LOCK}"), &text);
    workspace.git(["init", "--quiet"]);
    workspace
}

#[test]
fn its_form_is_canonical_next_to_a_unit() {
    let registry = honest();
    let workspace = written_by_the_server(&registry, SOURCE);
    let before = workspace.read(&format!("live/{LOCK}"));
    let verified = workspace.tflock_in("live", &registry, ["verify", "--offline", "--format", "json"]).ended_with(0);
    for rule in ["not-canonical", "constraints-stale"] {
        assert!(!verified.stdout.contains(rule), "{verified}");
    }
    let notes = rules(&verified, "note");
    assert!(notes.contains("init-changes") && verified.stdout.contains("records exactly the version"), "{verified}");
    workspace.tflock_in("live", &registry, ["fmt", "--check"]).ended_with(0);
    // What is written has the header of the tool.
    let lock = ["lock", "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
    workspace.tflock_in("live", &registry, lock).ended_with(0);
    let after = workspace.read(&format!("live/{LOCK}"));
    assert!(after.starts_with("# This file is maintained automatically by \"terraform init\"."), "{after}");
    assert!(after.contains("constraints = \"~> 1.4\""), "{after}");
    // Elsewhere it is not canonical, nor with one more line.
    workspace.write(&format!("live/{LOCK}"), &format!("\n{before}"));
    workspace.tflock_in("live", &registry, ["fmt", "--check"]).ended_with(1);
    workspace.write(&format!("modules/net/{LOCK}"), &before);
    workspace.tflock_in("modules/net", &registry, ["fmt", "--check"]).ended_with(1);
}

#[test]
fn upgrade_stays_within_recorded_constraints_where_requirements_are_not_read() {
    let platforms = [PLATFORMS[0], PLATFORMS[1]];
    let registry = honest().release("acme/widget", "1.5.0", &platforms).release("acme/widget", "2.1.0", &platforms);
    let widget = format!("{}/acme/widget", registry.host());
    let upgraded = |constraint: &str, more: &[&str]| {
        let workspace = written_by_the_server(&registry, "terraform {\n  source = get_env(\"X\")\n}\n");
        let path = format!("live/{LOCK}");
        let text = workspace.read(&path).replace("constraints = \"1.4.0\"", &format!("constraints = \"{constraint}\""));
        workspace.write(&path, &text);
        let command = ["upgrade", &widget, "--platform", PLATFORMS[0], "--platform", PLATFORMS[1]];
        workspace.tflock_in("live", &registry, command.iter().chain(more));
        let text = workspace.read(&path);
        let entry = text.split(&format!("provider \"{widget}\"")).nth(1).unwrap().to_owned();
        entry
            .lines()
            .find_map(|line| Some(line.strip_prefix("  version")?.trim_matches([' ', '=', '"']).to_owned()))
            .unwrap()
    };
    assert_eq!(upgraded("~> 1.4", &[]), "1.5.0");
    assert_eq!(upgraded("~> 1.4.0", &[]), "1.4.0");
    assert_eq!(upgraded("1.4.0", &[]), "1.4.0");
    assert_eq!(upgraded("1.4.0", &["--within", "minor"]), "1.5.0");
    assert_eq!(upgraded("1.4.0", &["--precise", "2.1.0"]), "2.1.0");
}

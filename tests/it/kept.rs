//! What earlier runs left in the cache is judged by the rules of this run.

use crate::support::keys;
use crate::support::locked::{honest, rules, verify};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MAIN: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";

/// A root module for `OpenTofu` that is locked, with all answers in the cache; the key of its provider has expired.
fn locked() -> (Registry, Workspace) {
    let registry = honest().of("acme/widget", "1.4.0").signed_by(keys::EXPIRED);
    let workspace = Workspace::with_files(&[("main.tf", MAIN), (".tflock.hcl", "tool = \"tofu\"\n")]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    registry.forget_requests();
    (registry, workspace)
}

fn lock(registry: &Registry, workspace: &Workspace, args: &[&str]) -> Run {
    let run = workspace.tflock(registry, ["lock", "--platform", "linux_amd64"].iter().chain(args));
    assert!(run.touched().is_empty(), "{run}");
    run
}

#[test]
fn the_expiry_of_a_key_is_reported_for_cached_answers_too() {
    let (registry, workspace) = locked();
    let shown = "has expired since it signed";
    let run = lock(&registry, &workspace, &["--offline"]).ended_with(0);
    assert!(run.stdout.contains(shown), "{run}");
    lock(&registry, &workspace, &["--check"]).ended_with(0);
    assert!(registry.requests().is_empty());
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(rules(&run, "warn").contains("expired-key"), "{run}");
    // Terraform says nothing of it.
    workspace.write(".tflock.hcl", "tool = \"terraform\"\n");
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(0);
    assert!(!run.stdout.contains(shown), "{run}");
}

#[test]
fn enforced_expiry_applies_to_cached_answers_too() {
    let (registry, workspace) = locked();
    let workspace = workspace.env("OPENTOFU_ENFORCE_GPG_EXPIRATION", "true");
    let run = verify(&workspace, &registry, &["--offline"]).ended_with(3);
    assert!(rules(&run, "deny").contains("expired-key"), "{run}");
    // The registry may list a renewed copy of the key, so it is queried.
    lock(&registry, &workspace, &["--offline"]).ended_with(4);
    let run = lock(&registry, &workspace, &[]).ended_with(3);
    assert!(run.stdout.contains("denied[expired-key]"), "{run}");
    let renewed = registry.listing(&[keys::RENEWED]);
    lock(&renewed, &workspace, &[]).ended_with(0);
    lock(&renewed, &workspace, &["--offline"]).ended_with(0);
}

/// `list`, `sbom` and `explain` know of an unsigned release what `verify` knows: nothing, if OpenTofu would refuse it.
#[test]
fn enforced_signatures_apply_to_what_is_shown_too() {
    let registry = honest().standing_for("registry.opentofu.org").of("acme/widget", "1.4.0").unsigned();
    let main = MAIN.replace("{{registry}}", "registry.opentofu.org");
    let workspace = Workspace::with_files(&[("main.tf", &main), (".tflock.hcl", "tool = \"tofu\"\n")]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let platforms = |workspace: &Workspace| {
        let run = workspace.tflock(&registry, ["list", "--format", "json"]).ended_with(0);
        run.json()["entries"][0]["platforms"].clone()
    };
    assert_eq!(platforms(&workspace), serde_json::json!(["linux_amd64"]));
    let enforcing = workspace.env("OPENTOFU_ENFORCE_GPG_VALIDATION", "true");
    assert_eq!(platforms(&enforcing), serde_json::json!([]));
    let run = enforcing.tflock(&registry, ["sbom"]).ended_with(0);
    assert!(run.stdout.contains("platform unknown"), "{run}");
}

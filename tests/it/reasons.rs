//! The registry's own words in an error, and what to do about providers that are known by another name.

use crate::support::locked::{MAIN, honest, locked};
use crate::support::registry::{Answer, Endpoint};
use crate::support::workspace::Workspace;
use crate::support::worlds::LOCK;

/// As Artifactory answers: the reason is in the body, and no other version helps.
#[test]
#[ignore = "long"]
fn a_refusal_is_reported_in_the_words_of_the_registry() {
    let reason = "signing key 6B21 not found for globex\u{1b}[31m";
    let shown = "signing key 6B21 not found for globex\\u{1b}[31m";
    for (code, exit) in [(404, 2), (400, 2), (409, 4)] {
        for body in
            [serde_json::json!({ "errors": [reason] }), serde_json::json!({ "errors": [{ "message": reason }] })]
        {
            let registry = honest().release("acme/widget", "1.3.0", &["linux_amd64"]);
            let answer = Answer::refusal(code, body.to_string()).only_for("acme/widget");
            let registry = registry.answers(Endpoint::Download, answer);
            let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
            let run = workspace.tflock(&registry, LOCK).ended_with(exit);
            assert!(run.stderr.contains(shown), "{code}: {run}");
            assert!(!run.stderr.contains("newest version with a package"), "{run}");
            let json = workspace.tflock(&registry, LOCK.iter().chain(&["--format", "json"])).ended_with(exit);
            assert!(json.stdout.contains("signing key 6B21 not found for globex"), "{json}");
        }
    }
    // The list of versions is refused alike.
    let answer = Answer::refusal(400, r#"{"message": "Repository tf-local is missing a signing key"}"#);
    let registry = honest().answers(Endpoint::Versions, answer);
    let run = Workspace::with_files(&[("main.tf", MAIN)]).tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("400 Bad Request: Repository tf-local is missing a signing key"), "{run}");
    assert!(run.stderr.contains("a retry does not help"), "{run}");
}

/// A status without a reason of its own is what it was.
#[test]
fn words_of_the_status_are_no_reason() {
    for (code, body, exit) in
        [(404, r#"{"errors":["Not Found"]}"#, 2), (400, "Bad Request", 4), (400, "<html>no</html>", 4)]
    {
        let registry = honest().release("acme/widget", "1.3.0", &["linux_amd64"]);
        let answer = Answer::refusal(code, body).only_for("acme/widget");
        let registry = registry.answers(Endpoint::Download, answer);
        let run = Workspace::with_files(&[("main.tf", MAIN)]).tflock(&registry, LOCK).ended_with(exit);
        assert!(!run.stderr.contains("operator of the server") && !run.stderr.contains("<html>"), "{run}");
    }
}

/// The commonest mistake: a module names no source, so its resources mean a provider of `hashicorp`.
#[test]
fn a_child_module_gets_an_entry_of_its_own() {
    let registry = honest().standing_for("registry.terraform.io");
    let child = "resource \"widget_x\" \"y\" {\n}\n";
    let call = "module \"m\" {\n  source = \"../mod\"\n}\n";
    let workspace = Workspace::with_files(&[
        ("root/main.tf", &format!("{}{call}", MAIN.replace("{{registry}}/", ""))),
        ("mod/main.tf", child),
    ]);
    let refused = workspace.tflock(&registry, ["-C", "root"].iter().chain(&LOCK)).ended_with(2);
    assert!(refused.stderr.contains("--> mod/main.tf:1:1"), "{refused}");
    let add = "`tflock -C mod add acme/widget --no-lock` writes it";
    assert!(refused.stderr.contains(add) && !refused.stderr.contains("write `provider ="), "{refused}");
    let both = workspace.tflock(&registry, ["-C", "root", "why", "widget"]).ended_with(0).stdout;
    assert!(both.contains("hashicorp/widget") && both.contains("acme/widget"), "{both}");
    assert!(both.contains("mod/main.tf:1:1"), "{both}");
    workspace.tflock(None, ["-C", "mod", "add", "acme/widget", "--no-lock"]).ended_with(0);
    assert!(
        workspace.read("mod/versions.tf").contains("source = \"acme/widget\"")
            && !workspace.has("mod/.terraform.lock.hcl")
    );
    assert_eq!(workspace.read("mod/main.tf"), child);
    workspace.tflock(&registry, ["-C", "root"].iter().chain(&LOCK)).ended_with(0);
}

/// Terraform 0.13 left such entries of 0.12.
#[test]
fn a_leftover_without_namespace_is_to_be_deleted() {
    let registry = honest();
    let workspace = locked(&registry);
    for host in ["registry.terraform.io", "registry.opentofu.org"] {
        for tool in ["terraform", "tofu"] {
            let lock = format!("{}\nprovider \"{host}/-/aws\" {{\n  version = \"2.0.0\"\n}}\n", workspace.lock_file());
            let other = workspace.copied();
            other.write(".terraform.lock.hcl", &lock);
            let run = other.tflock(&registry, ["verify", "--offline", "--tool", tool]).ended_with(1);
            assert!(run.stdout.contains("a leftover of Terraform 0.12"), "{run}");
            assert!(run.stdout.contains("Delete the entry. If the state still has the provider"), "{run}");
        }
    }
}

/// The mirror has everything, and the registry is behind a firewall.
#[test]
fn behind_a_mirror_the_help_is_the_option_that_uses_it() {
    let registry = honest();
    let main = MAIN.replace("{{registry}}", "localhost:1");
    let files: [(&str, &str); 2] = [("a/main.tf", &main), ("b/main.tf", &main)];
    let mirror =
        format!("provider_installation {{\n  network_mirror {{\n    url = \"{}\"\n  }}\n}}\n", registry.mirror_url());
    let workspace = Workspace::with_files(&files).cli_config(&mirror).env("TF_REGISTRY_DISCOVERY_RETRY", "0");
    let run = workspace.tflock(&registry, ["-C", "a", "-C", "b"].iter().chain(&LOCK)).ended_with(4);
    assert_eq!(run.stderr.matches("--source configured").count(), 1, "{run}");
    assert!(run.stderr.contains("help: your CLI configuration uses a mirror instead of this registry"), "{run}");
    assert!(!run.stderr.contains("HTTPS_PROXY") && !run.stderr.contains("note: your CLI"), "{run}");
}

/// A provider in development is in no registry yet: the others are locked, and the override is named.
#[test]
fn a_provider_in_development_keeps_no_other_from_being_locked() {
    let registry = honest();
    let main = MAIN.replace("{{registry}}/acme/gadget", "{{registry}}/acme/mine");
    let over = "provider_installation {\n  dev_overrides {\n    \"{{registry}}/acme/mine\" = \"/src/mine\"\n  }\n  direct {}\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", &main)]).cli_config(over);
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("acme/mine from /src/mine; the other providers are locked without it"), "{run}");
    assert!(run.stderr.contains("--> main.tf:"), "{run}");
    assert!(workspace.lock_file().contains("acme/widget") && !workspace.lock_file().contains("acme/mine"), "{run}");
    // Without the override nothing is written.
    let other = Workspace::with_files(&[("main.tf", &main)]);
    other.tflock(&registry, LOCK).ended_with(2);
    assert!(!other.has(".terraform.lock.hcl"));
}

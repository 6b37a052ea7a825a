//! Where releases are built, as far as it shows without a service of attestations: it is asked, and what it does not answer is no pass.

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, widget};

/// A locked root module whose trust file pins where its provider is built, on a machine that reaches no GitHub.
fn pinned(registry: &Registry) -> Workspace {
    let workspace = Workspace::from("modules/one-root").env("HTTPS_PROXY", "http://127.0.0.1:1");
    let workspace = workspace.env("NO_PROXY", "localhost,127.0.0.1");
    workspace.tflock(registry, LOCK).ended_with(0);
    let place = "\n  built_by {\n    repository = \"github.com/acme/terraform-provider-widget\"\n    repository_id = \"123\"\n    \
                 owner_id = \"7\"\n    workflow = \".github/workflows/release.yml\"\n    ref = \"refs/tags/*\"\n    \
                 triggers = [\"push\"]\n    since = \"1.0.0\"\n  }\n}\n";
    let trust = workspace.read(".tflock.trust.hcl");
    workspace.write(".tflock.trust.hcl", &format!("{}{place}", trust.trim_end().trim_end_matches('}')));
    workspace
}

#[test]
fn what_github_does_not_answer_is_no_pass() {
    let registry = widget();
    let workspace = pinned(&registry);
    let verified = workspace.tflock(&registry, ["verify"]).ended_with(4);
    assert!(verified.stderr.contains("where ") && verified.stderr.contains("was built is unknown"), "{verified}");
    assert!(verified.stdout.contains("provenance-unknown"), "{verified}");
    let before = workspace.lock_file();
    let locked = workspace.tflock(&registry, LOCK_BOTH).ended_with(4);
    assert!(locked.stderr.contains("was built is unknown"), "{locked}");
    assert_eq!(workspace.lock_file(), before);
    // Nothing to write needs no question, and offline nothing is asked.
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
}

#[test]
fn a_release_of_a_demanded_provider_needs_a_pinned_place() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root");
    workspace.write(".tflock.hcl", "provenance {\n  required = [\"*/*/*\"]\n}\n");
    let refused = workspace.tflock(&registry, LOCK).ended_with(3);
    assert!(
        refused.stdout.contains("provenance-missing") && refused.stdout.contains("--provenance=1.4.0"),
        "{refused}"
    );
    assert!(!workspace.has(".terraform.lock.hcl"), "{refused}");
    workspace.write(".tflock.hcl", "");
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.write(".tflock.hcl", "provenance {\n  required = [\"*/*/*\"]\n}\n");
    assert!(workspace.tflock(&registry, ["verify"]).ended_with(3).stdout.contains("provenance-missing"));
}

#[test]
fn the_trust_command_shows_the_place_and_changes_it_only_with_a_reason() {
    let registry = widget();
    let workspace = pinned(&registry);
    let listed = workspace.tflock(&registry, ["trust", "list"]).ended_with(0);
    assert!(listed.stdout.contains("built by .github/workflows/release.yml of github.com/acme/"), "{listed}");
    let json = workspace.tflock(&registry, ["trust", "list", "--format=json"]).ended_with(0).json();
    assert_eq!(json["providers"][0]["built_by"]["repository_id"], "123");
    let address = json["providers"][0]["address"].as_str().unwrap().to_owned();
    let twice = workspace.tflock(&registry, ["trust", "add", &address, "--provenance"]).ended_with(2);
    assert!(twice.stderr.contains("is pinned to where it is built already"), "{twice}");
    let reasonless = workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance"]).ended_with(2);
    assert!(reasonless.stderr.contains("a reason is needed"), "{reasonless}");
    // The test registry's packages are on no GitHub, so nothing says where to look.
    let unattested = workspace.tflock(&registry, ["trust", "rotate", &address, "--provenance", "--reason", "moved"]);
    assert!(unattested.code != Some(0) && unattested.stderr.contains("nothing attests where"), "{unattested}");
    let fresh = Workspace::from("modules/one-root");
    fresh.tflock(&registry, LOCK).ended_with(0);
    let init = fresh.tflock(&registry, ["trust", "init", "--provenance"]).ended_with(0);
    assert!(init.stderr.contains("nothing attests where these are built"), "{init}");
}

#[test]
fn the_base_decides_where_releases_are_built() {
    let registry = widget();
    let workspace = pinned(&registry);
    workspace.git(["init", "-q", "-b", "main"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "-qm", "base"]);
    let pinned = workspace.read(".tflock.trust.hcl");
    let gate = || workspace.tflock(&registry, ["verify", "--base", "HEAD"]);
    workspace.write(".tflock.trust.hcl", &pinned.replace("\"123\"", "\"124\""));
    let moved = gate().ended_with(3);
    assert!(moved.stdout.contains("pin-changed") && moved.stdout.contains("(number 124"), "{moved}");
    let (start, _) = pinned.split_once("\n  built_by").unwrap();
    workspace.write(".tflock.trust.hcl", &format!("{start}}}\n"));
    let lost = gate().ended_with(3);
    assert!(lost.stdout.contains("pin-removed") && lost.stdout.contains("may be built anywhere now"), "{lost}");
}

//! `lock`, `verify` and `why` of a tree with modules that are not installed.

use super::{CALL, NEEDS_WIDGET, world};
use crate::support::registry::Endpoint;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

#[test]
fn what_a_fetched_module_requires_is_locked() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""), "{}", workspace.lock_file());
    for endpoint in [Endpoint::ModuleVersions, Endpoint::ModuleDownload, Endpoint::ModuleArchive] {
        assert_eq!(registry.count(endpoint), 1, "{endpoint:?}");
    }
    assert!(!workspace.has(".terraform"));
    workspace.tflock(&registry, ["lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(registry.count(Endpoint::ModuleVersions), 1);
}

#[test]
fn why_names_the_file_in_the_package() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let why = workspace.tflock(&registry, ["why"]).ended_with(0);
    let place = format!("{}/acme/net/lab 1.1.0//main.tf:3:5", registry.other_host());
    assert!(why.stdout.contains("module.net (1.1.0)") && why.stdout.contains(&place), "{why}");
    let json = workspace.tflock(&registry, ["why", "--format", "json"]).json();
    let path = &json["requirements"][0]["origins"][0]["path"];
    assert_eq!((path[0]["name"].as_str(), path[0]["version"].as_str()), (Some("net"), Some("1.1.0")), "{json}");
}

/// Each call on the way with its own version; of local modules there is none.
#[test]
fn why_shows_the_versions_on_the_way() {
    let registry = world();
    let inner = CALL.replace("{{other-host}}", &registry.other_host()).replace("~> 1.0", "1.0.0");
    let registry = registry.module("acme/outer/lab", "3.0.0", &[("main.tf", &inner)]);
    let outer = CALL.replace("acme/net", "acme/outer").replace("~> 1.0", "3.0.0").replace("\"net\"", "\"outer\"");
    let here = "module \"here\" {\n  source = \"./here\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", here), ("here/main.tf", &outer)]);
    let why = workspace.tflock(&registry, ["why"]).ended_with(0);
    assert!(why.stdout.contains("module.here > outer (3.0.0) > net (1.0.0)"), "{why}");
}

/// Each call selects for itself; what they share is fetched once.
#[test]
fn each_call_has_its_own_version() {
    let exact = |name: &str, version: &str| CALL.replace("\"net\"", &format!("{name:?}")).replace("~> 1.0", version);
    let calls = [exact("a", "1.0.0"), exact("b", "1.1.0"), exact("c", "1.0.0")].concat();
    let (registry, workspace) = (world(), Workspace::with_files(&[("a/main.tf", &calls), ("b/main.tf", CALL)]));
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    assert_eq!((registry.count(Endpoint::ModuleVersions), registry.count(Endpoint::ModuleDownload)), (1, 2));
}

#[test]
fn only_installed_modules_on_request() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let refused = workspace.tflock(&registry, LOCK.iter().chain(&["--modules", "installed"]));
    assert!(refused.code != Some(0) && refused.stderr.contains("is not installed"), "{refused}");
    assert_eq!(registry.count(Endpoint::ModuleVersions), 0);
    let installed = "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},{\"Key\":\"net\",\"Source\":\"{{other-host}}/acme/net/lab\",\"Version\":\"1.0.0\",\"Dir\":\".terraform/modules/net\"}]}";
    workspace.write(".terraform/modules/modules.json", installed);
    workspace.write(".terraform/modules/net/main.tf", NEEDS_WIDGET);
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(registry.count(Endpoint::ModuleVersions), 0);
    // What is installed is not up to date any more: it is fetched.
    workspace.write("main.tf", &CALL.replace("~> 1.0", "1.1.0"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
}

#[test]
fn paths_in_a_package_stay_in_it() {
    let inside = "module \"x\" {\n  source = \"../x\"\n}\n";
    let outside = inside.replace("../x", "../../../x");
    let tree = |call: &str| {
        widget().module("acme/net/lab", "1.0.0", &[("modules/a/main.tf", call), ("modules/x/main.tf", NEEDS_WIDGET)])
    };
    let call = CALL.replace("acme/net/lab", "acme/net/lab//modules/a");
    let (registry, workspace) = (tree(inside), Workspace::with_files(&[("main.tf", &call)]));
    workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""));
    let (registry, workspace) = (tree(&outside), Workspace::with_files(&[("main.tf", &call)]));
    let refused = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(refused.stderr.contains("leads out of the module's package"), "{refused}");
    assert!(!workspace.has(".terraform.lock.hcl"));
}

#[test]
fn a_module_that_calls_itself_ends() {
    let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", CALL)]);
    let other = registry.other_host();
    let registry = registry.module("acme/net/lab", "1.0.1", &[("main.tf", &CALL.replace("{{other-host}}", &other))]);
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("calls itself"), "{run}");
    assert_eq!(registry.count(Endpoint::ModuleArchive), 1);
}

#[test]
fn policy_names_the_hosts_of_modules() {
    let policy = "policy {\n  module_hosts = [\"example.com\"]\n}\n";
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL), (".tflock.hcl", policy)]));
    let refused = workspace.tflock(&registry, LOCK).ended_with(3);
    assert!(refused.stderr.contains("module_hosts"), "{refused}");
    assert!(registry.requests().is_empty());
    workspace.write(".tflock.hcl", &policy.replace("example.com", "{{other-host}}"));
    workspace.tflock(&registry, LOCK).ended_with(0);
}

#[test]
fn offline_only_what_was_fetched_before() {
    let (registry, workspace) = (world(), Workspace::with_files(&[("main.tf", CALL)]));
    let why = workspace.tflock(&registry, ["why", "--offline"]);
    assert!(registry.requests().is_empty(), "{why}");
    workspace.tflock(&registry, ["why"]).ended_with(0);
    registry.forget_requests();
    let why = workspace.tflock(&registry, ["why", "--offline"]).ended_with(0);
    assert!(why.stdout.contains("acme/widget") && registry.requests().is_empty(), "{why}");
}

//! A registry's list of versions decides what `init` installs: checked when a module is locked and in the gate.

use super::{CALL, NEEDS_WIDGET, world};
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

const LOCKS: &str = ".tflock.modules.hcl";
const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];

/// The registry lists these versions of a module, in this order, and has each of them, with content of its own.
fn listing(registry: Registry, module: &str, versions: &[&str]) -> Registry {
    let items: Vec<_> = versions.iter().map(|version| serde_json::json!({ "version": version })).collect();
    let list = serde_json::json!({ "modules": [{ "versions": items }] }).to_string();
    let registry = versions.iter().fold(registry.recovered(), |registry, version| {
        // As the tools write it in requests.
        let version = version.trim_start_matches('v').trim_start_matches('0');
        let version = if version.starts_with('.') { format!("0{version}") } else { version.to_owned() };
        let own = format!("{NEEDS_WIDGET}# {version}\n");
        registry.module(module, &version, &[("main.tf", &own)])
    });
    registry.answers(Endpoint::ModuleVersions, Answer::json(list).only_for(module))
}

const NET: &str = "acme/net/lab";

/// A root module with a locked call of a module in one version.
fn locked(constraint: &str, versions: &[&str]) -> (Registry, Workspace) {
    let (registry, workspace) = (listing(widget(), NET, versions), calling(constraint));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    (registry, workspace)
}

fn calling(constraint: &str) -> Workspace {
    Workspace::with_files(&[("main.tf", &CALL.replace("~> 1.0", constraint))])
}

/// Another version string of equal precedence, wherever it is in the list: `init` installs the one listed first.
#[test]
#[ignore = "long"]
fn an_exact_constraint_does_not_name_one_version() {
    let (mut registry, workspace) = locked("1.0.0", &["1.0.0"]);
    for list in [["1.0.0+b", "1.0.0"], ["1.0.0", "1.0.0+b"], ["1.0.0.0", "1.0.0"], ["1.0.0", "1.0.0.0.0"]] {
        registry = listing(registry, NET, &list);
        let refused = workspace.tflock(&registry, ["verify"]).ended_with(3);
        assert!(refused.stdout.contains("[module-ambiguous]"), "{list:?}: {refused}");
        let says = format!("the registry lists {}, {}", list[0], list[1]);
        assert!(refused.stdout.contains(&says) && refused.stdout.contains(LOCKS), "{list:?}: {refused}");
        let Some(init) = workspace.terraform(&registry, ["init", "-input=false", "-backend=false"]) else { continue };
        let installed = init.ended_with(0).stdout;
        assert!(installed.contains(&format!("{} for net", list[0])), "{list:?}: {installed}");
        std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    }
    // The same version in another spelling, or twice, is the same request.
    for list in [["v1.0.0", "1.0.0"], ["1.0.0", "01.0.0"], ["1.0.0", "1.0.0"], ["1.0.0", "bogus"]] {
        registry = listing(registry, NET, &list);
        let passed = workspace.tflock(&registry, ["verify"]).ended_with(0);
        assert!(!passed.stdout.contains("[module-"), "{list:?}: {passed}");
    }
}

/// Nothing that writes module locks writes such a version.
#[test]
fn a_version_with_an_equal_one_is_not_locked() {
    let list = ["1.0.0", "1.1.0+b", "1.1.0"];
    let (registry, workspace) = (listing(widget(), NET, &list), calling("~> 1.0"));
    let refused = workspace.tflock(&registry, LOCK_MODULES).ended_with(3);
    assert!(refused.stdout.contains("[module-ambiguous]") && !workspace.has(LOCKS), "{refused}");
    assert!(refused.stdout.contains("1.1.0+b, 1.1.0") && refused.stdout.contains("such as 1.0.0"), "{refused}");
    // Without module locks it is what `init` selects.
    workspace.tflock(&registry, LOCK).ended_with(0);
    let registry = listing(registry, NET, &["1.0.0"]);
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let registry = listing(registry, NET, &list);
    let locks = workspace.read(LOCKS);
    for command in [&["upgrade", "--modules"][..], &["upgrade", "--modules", "--check"]] {
        let refused = workspace.tflock(&registry, command).ended_with(3);
        assert!(refused.stdout.contains("[module-ambiguous]"), "{refused}");
        assert_eq!(workspace.read(LOCKS), locks);
    }
    // A call that is new has no block of its own.
    let text = workspace.read("main.tf");
    workspace.write("more.tf", &text.replace("\"net\"", "\"more\""));
    workspace.tflock(&registry, LOCK).ended_with(3);
    assert_eq!(workspace.read(LOCKS), locks);
}

/// A newer version in the range is ordinary, and `init` will install it.
#[test]
fn a_newer_version_is_named() {
    let (registry, workspace) = locked("~> 1.0", &["1.0.0"]);
    let registry = listing(registry, NET, &["1.0.0", "1.2.0+x", "1.2.0", "1.1.0", "2.0.0", "1.3.0-rc1"]);
    let moved = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(moved.stdout.contains("warning[module-moved]"), "{moved}");
    assert!(moved.stdout.contains("`terraform init` will install version 1.2.0+x of "), "{moved}");
    assert!(moved.stdout.contains("`tflock get` before `terraform init`"), "{moved}");
    assert!(moved.stdout.contains("`version = \"1.0.0\"`"), "{moved}");
    let tofu = workspace.tflock(&registry, ["--tool", "tofu", "verify"]);
    assert!(tofu.stdout.contains("`tofu init` will install version 1.2.0+x of "), "{tofu}");
    let json = workspace.tflock(&registry, ["verify", "--format", "json"]).ended_with(0).json();
    let finding = json["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "module-moved");
    assert_eq!(finding.unwrap()["level"], "warn", "{json}");
    // Both ways out work.
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let quiet = workspace.tflock(&registry, ["verify", "--installed"]).ended_with(0);
    assert!(!quiet.stdout.contains("[module-moved]"), "{quiet}");
    if let Some(init) = workspace.terraform(&registry, ["init", "-input=false", "-backend=false"]) {
        init.ended_with(0);
        assert!(workspace.read(".terraform/modules/modules.json").contains("\"Version\":\"1.0.0\""));
    }
    std::fs::remove_dir_all(workspace.path(".terraform")).unwrap();
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.0", "1.0.0"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let exact = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(!exact.stdout.contains("[module-"), "{exact}");
}

#[test]
fn a_withdrawn_version_is_named() {
    let (registry, workspace) = locked("~> 1.0", &["1.0.0", "1.1.0"]);
    let registry = listing(registry, NET, &["1.0.0"]);
    let moved = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(moved.stdout.contains("will install version 1.0.0 of "), "{moved}");
    assert!(moved.stdout.contains("the registry no longer lists the locked 1.1.0"), "{moved}");
    // Nothing is left to install.
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.0", "> 1.0.0"));
    let none = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert!(none.stdout.contains("[module-moved]") && none.stdout.contains("will find no version of"), "{none}");
}

/// Each call selects by its own constraint; calls of packages are judged like those of the configuration.
#[test]
fn each_call_is_judged_by_its_own_constraint() {
    let registry = listing(widget(), NET, &["1.0.0"]);
    let outer = CALL.replace("\"net\"", "\"inner\"").replace("{{other-host}}", &registry.other_host());
    let registry = registry.module("acme/outer/lab", "1.0.0", &[("main.tf", &outer)]);
    let exact = CALL.replace("\"net\"", "\"exact\"").replace("~> 1.0", "= 1.0.0");
    let nested = CALL.replace("\"net\"", "\"outer\"").replace("acme/net", "acme/outer");
    let workspace = Workspace::with_files(&[("main.tf", &[CALL, &exact, &nested].concat())]);
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    let registry = listing(registry, NET, &["1.0.0", "1.5.0"]);
    registry.forget_requests();
    let moved = workspace.tflock(&registry, ["verify"]).ended_with(0);
    assert_eq!(moved.stdout.matches("[module-moved]").count(), 1, "{moved}");
    assert!(moved.stdout.contains("for module net, module outer.inner: "), "{moved}");
    // One list for all calls of a module.
    assert_eq!(registry.count(Endpoint::ModuleVersions), 2);
}

/// Root modules share requests; unchanged module locks are judged where the root module is.
#[test]
fn a_change_of_the_list_is_seen_with_base_and_in_many_root_modules() {
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet", "-b", "main"]);
    for root in ["a", "b", "c"] {
        workspace.write(&format!("{root}/main.tf"), &CALL.replace("~> 1.0", "1.0.0"));
    }
    let registry = listing(widget(), NET, &["1.0.0"]);
    let create = ["lock", "-r", "--create", "--platform", "linux_amd64", "--lock-modules"];
    workspace.tflock(&registry, create).ended_with(0);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "--quiet", "-m", "base"]);
    let registry = listing(registry, NET, &["1.0.0+b", "1.0.0"]);
    registry.forget_requests();
    let all = workspace.tflock(&registry, ["verify", "-r"]).ended_with(3);
    assert!(all.stdout.contains("[module-ambiguous]"), "{all}");
    assert_eq!(registry.count(Endpoint::ModuleVersions), 1);
    // The change is elsewhere in the root module.
    workspace.write("b/more.tf", "locals {}\n");
    let gate = workspace.tflock(&registry, ["verify", "-r", "--base", "HEAD"]).ended_with(3);
    assert!(gate.stdout.contains("[module-ambiguous]") && gate.stdout.contains("b/.tflock.modules.hcl"), "{gate}");
    let gate = workspace.tflock(&registry, ["-C", "b", "verify", "--base", "HEAD", "--modules", "installed"]);
    assert!(gate.stdout.contains("[module-ambiguous]"), "{gate}");
}

/// A pre-release that a constraint names exactly, for which a longer version counts as equal.
#[test]
fn a_pre_release_is_selected_as_init_selects_it() {
    let (mut registry, workspace) = locked("1.0.0-rc1", &["1.0.0-rc1"]);
    for list in [&["1.0.0-rc1", "1.0.0-rc1+b"][..], &["1.0.0-rc1", "1.0.0"], &["1.0.0.0-rc1", "1.0.0-rc1"]] {
        registry = listing(registry, NET, list);
        let passed = workspace.tflock(&registry, ["verify"]).ended_with(0);
        assert!(!passed.stdout.contains("[module-"), "{list:?}: {passed}");
    }
    registry = listing(registry, NET, &["1.0.0.0", "1.0.0-rc1"]);
    let refused = workspace.tflock(&registry, ["verify"]).ended_with(3);
    assert!(refused.stdout.contains("[module-ambiguous]"), "{refused}");
}

#[test]
fn what_is_not_known_is_said() {
    let workspace = calling("~> 1.0");
    let registry = world();
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let offline = workspace.tflock(&registry, ["verify", "--offline"]).ended_with(0);
    assert!(offline.stderr.contains("1 locked module not checked against their sources"), "{offline}");
    // Only the list is missing.
    let registry = registry.answers(Endpoint::ModuleVersions, Answer::status(503));
    let unknown = workspace.tflock(&registry, ["verify"]).ended_with(4);
    assert!(unknown.stderr.contains("which version of") && unknown.stderr.contains("is not known"), "{unknown}");
    workspace.tflock(&registry, ["verify", "--inconclusive", "warn"]).ended_with(0);
    // A registry that does not answer at all is one error for one package.
    let registry = registry.answers(Endpoint::ModuleDownload, Answer::status(503));
    let down = workspace.tflock(&registry, ["verify"]).ended_with(4);
    assert_eq!(down.stderr.matches("it is unknown whether").count(), 1, "{down}");
}

/// What was locked with the other tool's registry is compared with the list of the new one.
#[test]
fn migrate_looks_at_the_new_registry() {
    let call = "module \"net\" {\n  source  = \"acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", call)]);
    let registry =
        listing(widget(), NET, &["1.0.0"]).standing_for("registry.terraform.io").standing_for("registry.opentofu.org");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let registry = listing(registry, NET, &["1.0.0+b", "1.0.0"]);
    let refused = workspace.tflock(&registry, ["migrate", "--to", "tofu", "--platform", "linux_amd64"]).ended_with(3);
    assert!(refused.stdout.contains("[module-ambiguous]"), "{refused}");
}

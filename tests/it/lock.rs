//! `tflock lock`: what it makes of one root module, and what a second run makes of that.

use crate::support::registry::Endpoint;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, LOCK_BOTH, PLATFORMS, hashes, widget, widget_and_gadget};

#[test]
fn a_first_lock_names_the_signer() {
    let registry = widget().release("acme/widget", "1.3.9", PLATFORMS).release("acme/widget", "2.0.0", PLATFORMS);
    let run = Workspace::from("modules/one-root").tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("first_lock", run);
    let mut json = LOCK_BOTH.to_vec();
    json.extend(["--format", "json"]);
    let run = Workspace::from("modules/one-root").tflock(&registry, json).ended_with(0);
    assert_eq!(run.json()["changes"][0]["kind"], "added");
    insta::assert_snapshot!("first_lock_json", run);
}

#[test]
fn a_verbose_run_prints_each_hash_and_a_quiet_one_no_notes() {
    let registry = widget();
    let quiet = Workspace::from("modules/one-root").tflock(&registry, LOCK.iter().chain(&["-q"])).ended_with(0);
    assert_eq!(quiet.stderr, "");
    let verbose = Workspace::from("modules/one-root").tflock(&registry, LOCK.iter().chain(&["-v"])).ended_with(0);
    insta::assert_snapshot!("verbose_stdout", verbose.filtered(&verbose.stdout));
    assert!(verbose.stderr.contains("/.well-known/terraform.json"), "{verbose}");
}

#[test]
fn a_second_run_sends_no_request() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    registry.forget_requests();
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    assert_eq!(registry.requests(), []);
    insta::assert_snapshot!("second_run", run);
    let run = workspace.tflock(&registry, LOCK_BOTH.iter().chain(&["--format=json"])).ended_with(0);
    insta::assert_snapshot!("second_run_json", run);
    let run = workspace.tflock(None, LOCK_BOTH.iter().chain(&["--offline"])).ended_with(0);
    assert!(run.touched().is_empty());
}

#[test]
fn without_the_index_a_second_run_downloads_again() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    let lock = LOCK_BOTH.iter().chain(&["--no-cache"]);
    workspace.tflock(&registry, lock.clone()).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 2);
    registry.forget_requests();
    let run = workspace.tflock(&registry, lock).ended_with(0);
    assert!(run.touched().is_empty());
    assert_eq!(registry.downloads("acme/widget"), 2);
}

#[test]
fn sums_and_signature_are_fetched_once_for_a_release() {
    let registry = widget();
    Workspace::from("modules/one-root").tflock(&registry, LOCK_BOTH).ended_with(0);
    let counts = [Endpoint::Discovery, Endpoint::Versions, Endpoint::Download, Endpoint::Sums, Endpoint::Signature];
    assert_eq!(counts.map(|endpoint| registry.count(endpoint)), [1, 1, 2, 1, 1]);
    assert_eq!(registry.downloads("acme/widget"), 2);
}

#[test]
fn the_index_spares_another_root_module_its_downloads() {
    let (registry, workspace) = (widget(), Workspace::from("modules/two-roots"));
    workspace.tflock(&registry, ["-C", "a"].iter().chain(&LOCK)).ended_with(0);
    registry.forget_requests();
    workspace.write("b/main.tf", &workspace.read("a/main.tf"));
    workspace.tflock(&registry, ["-C", "b"].iter().chain(&LOCK)).ended_with(0);
    assert_eq!(registry.downloads("acme/widget"), 0);
    assert_eq!(workspace.read("a/.terraform.lock.hcl"), workspace.read("b/.terraform.lock.hcl"));
}

#[test]
fn what_was_locked_is_listed_with_its_platforms() {
    let (registry, workspace) = (widget_and_gadget(), Workspace::from("modules/module-tree"));
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("list_with_platforms", workspace.tflock(&registry, ["list"]).ended_with(0));
}

#[test]
fn another_platform_keeps_all_hashes() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let before = workspace.lock_file();
    registry.forget_requests();
    let run = workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    insta::assert_snapshot!("another_platform", run);
    let after = workspace.lock_file();
    assert!(hashes(&before).iter().all(|hash| hashes(&after).contains(hash)));
    assert!(after.contains(&registry.package("acme/widget", "1.4.0", "darwin_arm64").h1));
    assert_eq!(registry.downloads("acme/widget"), 1);
}

#[test]
fn platforms_once_locked_stay_wanted_without_settings() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK_BOTH).ended_with(0);
    let all = &["linux_amd64", "darwin_arm64", "linux_arm64", "darwin_amd64"];
    let released = registry.release("acme/widget", "1.4.0", all).release("acme/gadget", "2.0.0", all);
    let gadget = "    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n    widget =";
    workspace.write("main.tf", &workspace.read("main.tf").replace("    widget =", gadget));
    workspace.tflock(&released, ["lock", "acme/gadget"]).ended_with(2);
    let address = format!("{}/acme/gadget", released.host());
    workspace.tflock(&released, ["lock", &address]).ended_with(0);
    for platform in PLATFORMS {
        assert!(workspace.lock_file().contains(&released.package("acme/gadget", "2.0.0", platform).h1), "{platform}");
    }
}

#[test]
fn changed_constraints_are_recorded_and_keep_the_version() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let registry = registry.release("acme/widget", "1.5.0", PLATFORMS);
    registry.forget_requests();
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.4", ">= 1.0.0, < 3.0.0"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    insta::assert_snapshot!("constraints_changed", run);
    assert_eq!(registry.requests(), []);
}

#[test]
fn a_locked_version_that_is_no_longer_allowed_is_an_error() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    let registry = registry.release("acme/widget", "1.5.0", PLATFORMS);
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.4", "~> 1.5"));
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    insta::assert_snapshot!("locked_version_not_allowed", run);
}

#[test]
fn constraints_that_exclude_each_other_are_named_with_their_places() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.4", "~> 6.0, < 6.0.0"));
    for args in [&["lock"][..], &["upgrade"]] {
        let run = workspace.tflock(&registry, args).ended_with(2);
        assert!(run.stderr.contains("its parts exclude each other"), "{run}");
        assert!(run.stderr.contains("`~> 6.0, < 6.0.0` at main.tf:"), "{run}");
        assert!(!run.stderr.contains("tflock upgrade"), "{run}");
    }
}

#[test]
fn a_new_root_module_is_named() {
    let (registry, workspace) = (widget(), Workspace::from("modules/one-root"));
    workspace.tflock(&registry, LOCK).ended_with(0);
    workspace.write("new/main.tf", &format!("{}\nprovider \"widget\" {{\n}}\n", workspace.read("main.tf")));
    let run = workspace.tflock(&registry, ["lock", "-r"]).ended_with(0);
    assert!(run.stderr.contains("new looks like a new root module and has no lock file"), "{run}");
}

#[test]
fn no_version_is_allowed() {
    let workspace = Workspace::from("modules/one-root");
    workspace.write("main.tf", &workspace.read("main.tf").replace("~> 1.4", "~> 3.1"));
    insta::assert_snapshot!("no_version_allowed", workspace.tflock(&widget(), LOCK).ended_with(2));
}

#[test]
fn the_whole_module_tree_is_locked() {
    let (registry, workspace) = (widget_and_gadget(), Workspace::from("modules/module-tree"));
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    insta::assert_snapshot!("module_tree", run);
}

#[test]
fn named_providers_only() {
    let (registry, workspace) = (widget_and_gadget(), Workspace::from("modules/module-tree"));
    let address = format!("{}/acme/gadget", registry.host());
    workspace.tflock(&registry, LOCK.iter().copied().chain([address.as_str()])).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/gadget\"") && !workspace.lock_file().contains("/acme/widget\""));
    assert_eq!(registry.downloads("acme/widget"), 0);
    let stranger = workspace.tflock(&registry, LOCK.iter().chain(&["acme/stranger"])).ended_with(2);
    insta::assert_snapshot!("provider_not_required", stranger);
    let nonsense = workspace.tflock(&registry, LOCK.iter().chain(&["not an address"])).ended_with(2);
    insta::assert_snapshot!("provider_argument_invalid", nonsense);
}

#[test]
fn two_root_modules_share_one_download() {
    let (registry, workspace) = (widget_and_gadget(), Workspace::from("modules/two-roots"));
    let run = workspace.tflock(&registry, ["-C", "a", "-C", "b"].iter().chain(&LOCK)).ended_with(0);
    insta::assert_snapshot!("two_roots", run);
    assert_eq!(registry.downloads("acme/widget"), 1);
    assert_eq!(registry.count(Endpoint::Discovery), 1);
    assert_eq!(registry.requests().iter().filter(|it| it.provider == "acme/widget").count(), 5);
    let run = workspace.tflock(&registry, ["-C", "a", "-C", "b", "--format=json"].iter().chain(&LOCK)).ended_with(0);
    insta::assert_snapshot!("two_roots_json", run);
}

#[test]
fn a_failure_of_one_root_module_leaves_the_other_its_lock() {
    let (registry, workspace) = (widget(), Workspace::from("modules/two-roots"));
    let run = workspace.tflock(&registry, ["-C", "a", "-C", "b"].iter().chain(&LOCK)).ended_with(2);
    insta::assert_snapshot!("one_of_two_roots", run);
}

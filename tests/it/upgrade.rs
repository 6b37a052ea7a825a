//! Versions are newly selected.

use crate::support::keys::Day;
use crate::support::registry::{Flaw, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const LINUX: [&str; 1] = ["linux_amd64"];

/// A registry with two providers, three releases each.
fn registry() -> Registry {
    let mut registry = Registry::start();
    for provider in ["acme/widget", "acme/gadget"] {
        for version in ["1.0.0", "1.0.4", "1.2.0", "2.0.0"] {
            registry = registry.release(provider, version, &LINUX);
        }
    }
    registry.release("acme/widget", "3.0.0-rc1", &LINUX)
}

fn main(constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    gadget = {{\n      source = \"{{{{registry}}}}/acme/gadget\"\n    }}\n    \
         widget = {{\n      source  = \"{{{{registry}}}}/acme/widget\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n"
    )
}

/// A workspace in which both providers are locked at one version, whatever is required later.
fn locked(registry: &Registry, version: &str, constraint: &str) -> Workspace {
    let text = main(version).replace("acme/gadget\"\n", &format!("acme/gadget\"\n      version = \"{version}\"\n"));
    let workspace = Workspace::with_files(&[("main.tf", &text)]);
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace.write("main.tf", &main(constraint));
    workspace
}

fn upgrade(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, ["upgrade", "--platform", "linux_amd64"].iter().chain(more))
}

/// The locked versions of gadget and widget.
fn versions(workspace: &Workspace) -> Vec<String> {
    let text = workspace.lock_file();
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("version"));
    lines.map(|line| line.trim_matches([' ', '=', '"']).to_owned()).collect()
}

#[test]
fn the_newest_that_constraints_allow() {
    let registry = registry();
    let workspace = locked(&registry, "1.0.0", "~> 1.0");
    let run = upgrade(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(versions(&workspace), ["2.0.0", "1.2.0"]);
    insta::assert_snapshot!(run.filtered(&run.stdout));
    // Old hashes are removed, and a second run has nothing to do.
    assert!(!workspace.lock_file().contains(&registry.package("acme/widget", "1.0.0", "linux_amd64").h1));
    let before = workspace.lock_file();
    upgrade(&workspace, &registry, &["--check"]).ended_with(0);
    assert_eq!(workspace.lock_file(), before);
}

#[test]
fn only_what_is_named_within_a_step() {
    let registry = registry();
    let workspace = locked(&registry, "1.0.0", ">= 1.0");
    let widget = format!("{}/acme/widget", registry.host());
    upgrade(&workspace, &registry, &[&widget, "--within", "patch"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "1.0.4"]);
    let run = upgrade(&workspace, &registry, &[&widget, "--within", "minor", "--format", "json"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "1.2.0"]);
    let json = run.json();
    assert_eq!((&json["changes"][0]["old"], &json["changes"][0]["new"]), (&"1.0.4".into(), &"1.2.0".into()));
    assert_eq!(json["findings"][0]["rule"], "held-back");
    let unknown = format!("{}/acme/other", registry.host());
    let run = upgrade(&workspace, &registry, &[&unknown, "--format", "json"]).ended_with(2);
    run.failed_as("usage", &[&unknown]);
    let run = upgrade(&workspace, &registry, &["acme/widget"]).ended_with(2);
    assert!(run.stderr.contains(&format!("did you mean {widget}?")), "{run}");
}

#[test]
fn one_version_up_or_down() {
    let registry = registry();
    let workspace = locked(&registry, "1.2.0", ">= 1.0, < 2.0");
    let widget = format!("{}/acme/widget", registry.host());
    upgrade(&workspace, &registry, &[&widget, "--precise", "1.0.0"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0", "1.0.0"]);
    let before = workspace.lock_file();
    let run = upgrade(&workspace, &registry, &[&widget, "--precise", "2.0.0"]).ended_with(2);
    assert!(run.stderr.contains("version 2.0.0") && run.stderr.contains("--bump --precise 2.0.0"), "{run}");
    let run = upgrade(&workspace, &registry, &[&widget, "--precise", "1.7.0"]).ended_with(2);
    assert!(run.stderr.contains("has no release 1.7.0"), "{run}");
    upgrade(&workspace, &registry, &["--precise", "1.0.0"]).ended_with(2);
    assert_eq!(workspace.lock_file(), before);
}

#[test]
fn a_version_behind_the_address_is_that_of_precise() {
    let registry = registry();
    let workspace = locked(&registry, "1.2.0", ">= 1.0, < 2.0");
    let widget = format!("{}/acme/widget", registry.host());
    upgrade(&workspace, &registry, &[&format!("{widget}@1.0.0")]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0", "1.0.0"]);
    let run = upgrade(&workspace, &registry, &[&format!("{widget}@2.0.0")]).ended_with(2);
    assert!(run.stderr.contains("version 2.0.0") && run.stderr.contains("--bump --precise 2.0.0"), "{run}");
    let run = upgrade(&workspace, &registry, &[&format!("{widget}@~> 1.0")]).ended_with(2);
    assert!(run.stderr.contains("expected ADDR@VERSION"), "{run}");
    upgrade(&workspace, &registry, &[&format!("{widget}@1.0.0"), "--precise", "1.2.0"]).ended_with(2);
    upgrade(&workspace, &registry, &[&format!("{widget}@2.0.0"), "--bump"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0", "2.0.0"]);
}

/// `--bump` rewrites plain text in the root module, and nothing else.
#[test]
fn bump_is_advised_where_it_can_rewrite_the_constraint() {
    let registry = registry();
    let widget = format!("{}/acme/widget@2.0.0", registry.host());
    let workspace = locked(&registry, "1.2.0", "~> 1.0");
    let is_advised = || upgrade(&workspace, &registry, &[&widget]).ended_with(2).stderr.contains("--bump");
    assert!(is_advised());
    let providers = serde_json::json!({
        "gadget": { "source": "{{registry}}/acme/gadget" },
        "widget": { "source": "{{registry}}/acme/widget", "version": "~> 1.0" },
    });
    std::fs::remove_file(workspace.path("main.tf")).unwrap();
    workspace
        .write("main.tf.json", &serde_json::json!({ "terraform": { "required_providers": providers } }).to_string());
    assert!(!is_advised());
    std::fs::remove_file(workspace.path("main.tf.json")).unwrap();
    workspace.write("net/main.tf", &main("~> 1.0"));
    workspace.write("main.tf", &format!("{}module \"net\" {{\n  source = \"./net\"\n}}\n", main(">= 1.0")));
    assert!(!is_advised());
}

/// A publisher forgot a package in the list that they signed.
#[test]
fn a_release_whose_list_lacks_a_package_is_stepped_over() {
    let registry = registry().release("acme/widget", "2.1.0", &LINUX).flawed(Flaw::ShortSums("linux_amd64"));
    let workspace = locked(&registry, "1.2.0", ">= 1.0");
    let widget = format!("{}/acme/widget", registry.host());
    let run = upgrade(&workspace, &registry, &[&widget]).ended_with(3);
    let way_on = format!("tflock upgrade --precise 2.0.0 {widget}");
    assert!(run.stdout.contains("denied[wrong-checksum]") && run.stdout.contains(&way_on), "{run}");
    upgrade(&workspace, &registry, &["--precise", "2.0.0", &widget]).ended_with(0);
    let workspace = locked(&registry, "1.2.0", ">= 1.0");
    upgrade(&workspace, &registry, &[&widget, "--newest-with-platforms"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.2.0", "2.0.0"]);
}

#[test]
fn releases_that_are_too_new_are_passed_over() {
    let registry = registry().of("acme/widget", "2.0.0").signed_on(Day(20_000));
    let workspace = locked(&registry, "1.0.0", ">= 1.0");
    let widget = format!("{}/acme/widget", registry.host());
    let run = upgrade(&workspace, &registry, &[&widget, "--exclude-newer", "2024-10-03"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "1.2.0"]);
    assert!(run.stdout.contains("its signature of 2024-10-04 is too recent"), "{run}");
    // The last day counts whole.
    upgrade(&workspace, &registry, &[&widget, "--exclude-newer", "2024-10-04"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "2.0.0"]);
    // The policy refuses a version that is requested by number, but keeps the recorded one.
    workspace.write(".tflock.hcl", "policy {\n  minimum_age = \"5000w\"\n}\n");
    upgrade(&workspace, &registry, &[]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "2.0.0"]);
    let run = upgrade(&workspace, &registry, &[&widget, "--precise", "1.2.0"]).ended_with(3);
    assert!(run.stdout.contains("denied[too-young]"), "{run}");
}

#[test]
fn releases_without_a_wanted_platform() {
    let registry = registry().release("acme/widget", "2.1.0", &["darwin_arm64"]);
    let workspace = locked(&registry, "1.0.0", ">= 1.0");
    let widget = format!("{}/acme/widget", registry.host());
    let run = upgrade(&workspace, &registry, &[&widget, "--format", "json"]).ended_with(2);
    run.failed_as("not-found", &[&widget, "2.1.0", "linux_amd64"]);
    let run = upgrade(&workspace, &registry, &[&widget, "--newest-with-platforms"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "2.0.0"]);
    let is_named = |line: &str| ["[held-back]", "2.1.0", "linux_amd64"].iter().all(|part| line.contains(part));
    assert!(run.stdout.lines().any(is_named), "{run}");
}

#[test]
fn the_excluding_constraint_is_rewritten() {
    let registry = registry();
    let workspace = locked(&registry, "1.0.0", "~> 1.0");
    let widget = format!("{}/acme/widget", registry.host());
    let run = upgrade(&workspace, &registry, &[&widget, "--bump", "--dry-run"]).ended_with(0);
    assert!(run.touched().is_empty() && run.stdout.contains("+      version = \"~> 2.0\""), "{run}");
    let run = upgrade(&workspace, &registry, &[&widget, "-r", "--bump", "--dry-run"]).ended_with(0);
    assert!(
        ["main.tf", ".terraform.lock.hcl"].iter().all(|file| run.stdout.contains(&format!("--- a/{file}\n"))),
        "{run}"
    );
    let run = upgrade(&workspace, &registry, &[&widget, "--bump"]).ended_with(0);
    assert_eq!(run.touched(), [".terraform.lock.hcl", "main.tf"]);
    assert_eq!(versions(&workspace), ["1.0.0", "2.0.0"]);
    assert!(workspace.lock_file().contains("constraints = \"~> 2.0\""));
    assert_eq!(workspace.read("main.tf"), main("~> 2.0").replace("{{registry}}", &registry.host()));
    upgrade(&workspace, &registry, &[&widget, "--bump", "--pre"]).ended_with(0);
    assert_eq!(versions(&workspace), ["1.0.0", "3.0.0-rc1"]);
    assert!(workspace.read("main.tf").contains("version = \"3.0.0-rc1\""));
}

#[test]
fn the_same_version_must_be_the_recorded_release() {
    let registry = registry();
    let workspace = locked(&registry, "2.0.0", ">= 1.0");
    registry.republish("acme/widget", "2.0.0");
    let before = workspace.lock_file();
    let run = upgrade(&workspace, &registry, &["--no-cache"]).ended_with(3);
    assert!(run.stdout.contains("denied[republished]"), "{run}");
    assert_eq!(workspace.lock_file(), before);
}

/// What cannot be rewritten bounds what is.
#[test]
fn constraints_of_other_modules_are_not_rewritten() {
    let registry = registry();
    let widget = format!("{}/acme/widget", registry.host());
    let net = main("< 2.0").replace("    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n", "");
    let call = format!("{}\nmodule \"net\" {{\n  source = \"./net\"\n}}\n", main("~> 1.0.0"));
    let workspace = Workspace::with_files(&[("main.tf", &call), ("net/main.tf", &net)]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let run = upgrade(&workspace, &registry, &["--bump"]).ended_with(0);
    assert_eq!(versions(&workspace), ["2.0.0", "1.2.0"]);
    assert!(workspace.read("main.tf").contains("version = \"~> 1.2.0\""), "{run}");
    assert!(run.stdout.contains("\"< 2.0\" of module.net does not allow it"), "{run}");
    assert!(run.stdout.contains("--> net/main.tf:3:5\n"), "{run}");
    let run = upgrade(&workspace, &registry, &[&widget, "--bump", "--precise", "2.0.0"]).ended_with(2);
    assert!(run.stderr.contains("is not in the required_providers") && run.touched().is_empty(), "{run}");
}

/// A new release for fewer platforms than the old one is not a thing to pass over in silence.
#[test]
fn lost_platforms_are_reported() {
    let mut registry = Registry::start();
    for version in ["1.0.0", "1.2.0"] {
        registry = registry.release("acme/widget", version, &["linux_amd64", "darwin_arm64"]);
    }
    let one = main("1.0.0").replace("    gadget = {\n      source = \"{{registry}}/acme/gadget\"\n    }\n", "");
    let workspace = Workspace::with_files(&[("main.tf", &one)]);
    let both = ["lock", "--platform", "linux_amd64", "--platform", "darwin_arm64"];
    workspace.tflock(&registry, both).ended_with(0);
    let before = workspace.lock_file();
    workspace.write("main.tf", &one.replace("\"1.0.0\"", "\"~> 1.0\""));
    let run = workspace.tflock(&registry, ["upgrade", "--no-cache", "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains("warning[platforms-dropped]") && run.stdout.contains("records 2 h1"), "{run}");
    // Platforms that the index attributes are required, if none is named.
    workspace.write(".terraform.lock.hcl", &before);
    let run = workspace.tflock(&registry, ["upgrade"]).ended_with(0);
    assert!(!run.stdout.contains("platforms-dropped"), "{run}");
    for platform in ["linux_amd64", "darwin_arm64"] {
        assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.2.0", platform).h1));
    }
}

#[test]
fn each_excluding_constraint_is_named_with_its_place() {
    let registry = registry();
    let workspace = locked(&registry, "1.0.0", "~> 1.0");
    workspace.write("net/main.tf", &main("< 2.0"));
    workspace.write("main.tf", &format!("{}module \"net\" {{\n  source = \"./net\"\n}}\n", main("~> 1.0")));
    let run = upgrade(&workspace, &registry, &[]).ended_with(0);
    let reasons =
        "\"~> 1.0\" of the root module does not allow it; \"< 2.0\" of module.net (net/main.tf:6:5) does not allow it";
    assert!(run.stdout.contains(reasons), "{run}");
    assert!(run.stdout.contains("--> main.tf:6:5"), "{run}");
}

#[test]
fn providers_can_be_left_as_they_are() {
    let registry = crate::support::locked::honest();
    let platforms = crate::support::worlds::PLATFORMS;
    let registry = registry.release("acme/widget", "1.5.0", platforms).release("acme/gadget", "2.1.0", platforms);
    let workspace = crate::support::locked::locked(&registry);
    let gadget = format!("{}/acme/gadget", registry.host());
    workspace.tflock(&registry, ["upgrade", "--exclude", &gadget]).ended_with(0);
    let lock = workspace.lock_file();
    assert!(lock.contains("= \"1.5.0\"") && lock.contains("= \"2.0.0\""), "{lock}");
}

/// Root modules whose constraints differ, in folders `a`, `b`, …
fn roots(constraints: &[&str]) -> Workspace {
    let texts: Vec<(String, String)> =
        constraints.iter().zip('a'..).map(|(it, name)| (format!("{name}/main.tf"), main(it))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Workspace::with_files(&files)
}

#[test]
fn constraints_that_exclude_a_version_are_one_error_in_many_root_modules() {
    let registry = registry();
    let workspace = roots(&["~> 1.0", ">= 1.0, ~> 1.0", "< 2.0.0", ">= 1.0"]);
    workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", "linux_amd64"]).ended_with(0);
    let widget = format!("{}/acme/widget@2.0.0", registry.host());
    let run = upgrade(&workspace, &registry, &["-r", &widget]).ended_with(2);
    assert_eq!(run.stderr.matches("error:").count(), 1, "{run}");
    assert!(run.stderr.contains("  in a, b, c\n") && run.stderr.contains("--> a/main.tf:"), "{run}");
}

#[test]
fn what_is_too_young_is_said_before_what_constraints_hold_back() {
    let now =
        std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let registry = registry().release("acme/widget", "1.3.0", &LINUX).signed_on(Day(now));
    let workspace = roots(&["~> 1.0.0", "~> 1.0.1", "~> 1.0.2", "~> 1.0.3", "~> 1.0.4", "~> 1.0"]);
    workspace.git(["init", "--quiet"]);
    workspace.write(".tflock.hcl", "policy {\n  minimum_age = \"7d\"\n}\n");
    let before = ["lock", "-r", "--create", "--platform", "linux_amd64"];
    workspace.tflock(&registry, before).ended_with(0);
    let widget = format!("{}/acme/widget", registry.host());
    let run = upgrade(&workspace, &registry, &["-r", "-v", &widget]).ended_with(0);
    let first = run.stdout.lines().find(|line| line.contains("[held-back]"));
    assert!(first.is_some_and(|first| first.contains("1.3.0 is excluded: ")), "{run}");
}

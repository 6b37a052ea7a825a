//! Every root module below a directory in one run.

use crate::support::registry::{Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MAIN: &str = r#"terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}
"#;
const CALL: &str = "\nmodule \"net\" {\n  source = \"../../modules/net\"\n}\n";
const LOCK: &str = ".terraform.lock.hcl";

fn registry() -> Registry {
    Registry::start().release("acme/widget", "1.0.0", &["linux_amd64", "darwin_arm64"])
}

fn lock(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    let platforms = ["lock", "-r", "--platform", "linux_amd64", "--platform", "darwin_arm64"];
    workspace.tflock(registry, platforms.iter().chain(more))
}

#[test]
fn each_query_is_sent_once() {
    let workspace = Workspace::with_files(&[("modules/net/main.tf", MAIN)]);
    for number in 0..12 {
        workspace.write(&format!("env/root-{number:02}/main.tf"), &format!("{MAIN}{CALL}"));
    }
    let registry = registry();
    let run = lock(&workspace, &registry, &["--create"]).ended_with(0);
    assert!(run.stdout.ends_with("\n12 root modules: 12 changed\n"), "{run}");
    assert!(!workspace.has(&format!("modules/net/{LOCK}")));
    let counts = [Endpoint::Versions, Endpoint::Download, Endpoint::Sums, Endpoint::Signature];
    assert_eq!(counts.map(|endpoint| registry.count(endpoint)), [1, 2, 1, 1]);
    assert_eq!(registry.downloads("acme/widget"), 2);
    let texts: Vec<String> = (0..12).map(|number| workspace.read(&format!("env/root-{number:02}/{LOCK}"))).collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));

    // A complete lock file needs no request.
    registry.forget_requests();
    let run = lock(&workspace, &registry, &["--check"]).ended_with(0);
    assert!(run.stdout == "12 root modules: 12 up to date\n", "{run}");
    lock(&workspace, &registry, &["--check", "--offline"]).ended_with(0);
    assert!(registry.requests().is_empty());
}

#[test]
fn one_that_fails_does_not_stop_the_others() {
    let workspace = Workspace::with_files(&[
        ("a/main.tf", MAIN),
        ("b/main.tf", "terraform {"),
        ("c/main.tf", &MAIN.replace("acme/widget", "acme/gone")),
        ("d/main.tf", MAIN),
    ]);
    let registry = registry();
    let run = lock(&workspace, &registry, &["--create", "--format", "json"]).ended_with(2);
    let json = run.json();
    let roots = json["roots"].as_array().unwrap();
    let paths: Vec<&str> = roots.iter().map(|root| root["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["a", "b", "c", "d"]);
    assert_eq!((&roots[0]["file"], &roots[1]["file"]), (&"a/.terraform.lock.hcl".into(), &serde_json::Value::Null));
    let failed: Vec<bool> = roots.iter().map(|root| root["error"].is_object()).collect();
    assert_eq!(failed, [false, true, true, false]);
    assert!(workspace.has(&format!("d/{LOCK}")) && !workspace.has(&format!("b/{LOCK}")));
    let run = lock(&workspace, &registry, &["--create", "--fail-fast"]).ended_with(2);
    assert!(run.stderr.contains("after the failure above") || run.stdout.contains("up to date"), "{run}");
}

#[test]
fn what_counts_as_a_root_module() {
    let workspace = Workspace::with_files(&[("app/main.tf", MAIN), ("modules/net/main.tf", MAIN)]);
    let registry = registry();
    lock(&workspace, &registry, &[]).ended_with(2);
    workspace.tflock(&registry, ["-C", "app", "lock", "--platform", "linux_amd64"]).ended_with(0);
    // Terragrunt leaves lock files without configuration: they are completed, and never pruned.
    workspace.write(&format!("live/{LOCK}"), &workspace.read(&format!("app/{LOCK}")));
    workspace.write("state/main.tf", &format!("{MAIN}terraform {{\n  backend \"local\" {{}}\n}}\n"));
    workspace.write("unneeding/main.tf", "terraform {\n  backend \"local\" {}\n}\n");
    let run = lock(&workspace, &registry, &["--prune", "--format", "json"]).ended_with(1);
    let json = run.json();
    let roots: Vec<(&str, bool, usize)> = json["roots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|root| {
            let findings = root["findings"].as_array().unwrap().len();
            (root["path"].as_str().unwrap(), root["changed"].as_bool().unwrap(), findings)
        })
        .collect();
    assert_eq!(roots, [("app", true, 0), ("live", true, 1), ("state", false, 1)]);
    assert_eq!(json["roots"][1]["findings"][0]["rule"], "requirements-unread");
    assert_eq!(json["roots"][2]["findings"][0]["rule"], "lock-file-missing");
    assert_eq!(workspace.read(&format!("live/{LOCK}")), workspace.read(&format!("app/{LOCK}")));
}

#[test]
fn paths_are_those_of_the_work_tree_and_gitignore_counts() {
    let workspace = Workspace::with_files(&[("env/a/main.tf", MAIN), ("env/b/main.tf", MAIN), ("env/c/main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    let registry = registry();
    lock(&workspace, &registry, &["--create"]).ended_with(0);
    workspace.write(".gitignore", "/env/b\n/env/c\n");
    workspace.git(["add", "--force", "env/c"]);
    let run = workspace.tflock(&registry, ["-C", "env", "lock", "-r", "--check", "--offline", "--format", "json"]);
    let json = run.json();
    let paths: Vec<&str> = json["roots"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["env/a", "env/c"]);
}

/// Neither does `init` write one there. Who names the root module gets what `providers lock` writes.
#[test]
fn a_root_module_has_one_name_from_wherever_it_is_found() {
    let workspace = Workspace::with_files(&[("prod/main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    let registry = registry();
    lock(&workspace, &registry, &["--create"]).ended_with(0);
    for command in ["list", "verify", "why", "outdated", "lock"] {
        for place in [&[][..], &["-C", "prod"], &["-C", "prod/"]] {
            let words = [place, &[command, "-r", "--format=json"]].concat();
            let run = workspace.tflock(&registry, words).ended_with(0);
            assert_eq!(run.json()["roots"][0]["path"], "prod", "{run}");
            if command == "list" {
                let version = &run.json()["by_provider"][0]["versions"][0];
                assert_eq!(*version, serde_json::json!({ "version": "1.0.0", "roots": ["prod"] }), "{run}");
            }
        }
    }
}

#[test]
fn where_nothing_is_required_no_lock_file_is_created() {
    let workspace = Workspace::with_files(&[("a/main.tf", MAIN), ("b/main.tf", "locals {}\n")]);
    let registry = registry();
    let dry = lock(&workspace, &registry, &["--create", "--dry-run"]).ended_with(0);
    assert!(dry.stdout.contains("2 root modules: 1 would change, 1 up to date"), "{dry}");
    assert!(dry.touched().is_empty(), "{dry}");
    let run = lock(&workspace, &registry, &["--create"]).ended_with(0);
    assert!(run.stdout.ends_with("2 root modules: 1 changed, 1 up to date\n"), "{run}");
    assert!(!workspace.has(&format!("b/{LOCK}")));
    workspace.tflock(&registry, ["-C", "b", "lock"]).ended_with(0);
    assert!(workspace.has(&format!("b/{LOCK}")));
}

#[test]
fn one_provider_is_upgraded_everywhere() {
    let workspace = Workspace::with_files(&[("a/main.tf", MAIN), ("b/main.tf", MAIN), ("c/main.tf", "")]);
    let registry = registry();
    lock(&workspace, &registry, &["--create"]).ended_with(0);
    let header =
        workspace.read(&format!("a/{LOCK}")).lines().take(2).fold(String::new(), |text, line| text + line + "\n");
    workspace.write(&format!("c/{LOCK}"), &header);
    let registry = registry.release("acme/widget", "1.1.0", &["linux_amd64"]);
    let widget = format!("{}/acme/widget", registry.host());
    let run = workspace.tflock(&registry, ["upgrade", "-r", &widget, "--platform", "linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains("3 root modules: 2 changed, 1 up to date"), "{run}");
    for root in ["a", "b"] {
        assert!(workspace.read(&format!("{root}/{LOCK}")).contains("\"1.1.0\""));
    }
    assert_eq!(registry.downloads("acme/widget"), 3);
}

#[test]
fn runs_at_once_lose_nothing() {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    let registry = registry();
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--offline"]).ended_with(4);
    std::thread::scope(|scope| {
        for platform in ["linux_amd64", "darwin_arm64"] {
            let (workspace, registry) = (&workspace, &registry);
            scope.spawn(move || workspace.tflock(registry, ["lock", "--platform", platform]).ended_with(0));
        }
    });
    for platform in ["linux_amd64", "darwin_arm64"] {
        assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.0.0", platform).h1));
    }
}

/// A root module with a backend and no lock file is a root module too.
#[test]
fn root_modules_without_a_lock_file_are_not_invisible() {
    let backend = "terraform {\n  backend \"s3\" {}\n}\n";
    let workspace = Workspace::with_files(&[("live/a/main.tf", &format!("{MAIN}{backend}"))]);
    let registry = registry();
    let list = workspace.tflock(&registry, ["list", "-r"]).ended_with(0);
    let note = "the root module live/a has a backend and no lock file: `tflock lock -r --create` writes it";
    assert!(list.stderr.contains(note), "{list}");
    let why = workspace.tflock(&registry, ["why", "-r", "widget"]).ended_with(0);
    assert!(why.stdout.contains("not locked in live/a"), "{why}");
    let outdated = workspace.tflock(&registry, ["outdated", "-r"]).ended_with(0);
    assert!(outdated.stdout.contains("1.0.0"), "{outdated}");
    // Signers are remembered of what is locked alone.
    workspace.write("live/b/main.tf", MAIN);
    workspace.tflock(&registry, ["-C", "live/b", "lock"]).ended_with(0);
    let init = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(0);
    assert!(init.stderr.contains(note), "{init}");
    let empty = Workspace::with_files(&[("a/main.tf", MAIN)]);
    for command in ["why", "outdated", "list"] {
        let run = empty.tflock(&registry, [command, "-r"]).ended_with(2);
        assert!(run.stderr.contains("no lock file here or below (files that Git ignores do not count)"), "{run}");
    }
}

/// A directory of modules has configuration.
#[test]
fn modules_that_others_call_are_not_called_absent() {
    let call = "module \"child\" {\n  source = \"../mods/child\"\n}\n";
    let workspace = Workspace::with_files(&[("mods/child/main.tf", MAIN), ("env/main.tf", call)]);
    workspace.git(["init", "--quiet"]);
    let registry = registry();
    for args in [&["verify", "-r"][..], &["status"], &["why", "-r"]] {
        let run = workspace.tflock_in("mods", &registry, args).ended_with(2);
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains("only modules that other root modules call, such as mods/child"), "{run}");
        assert!(!text.contains("or configuration"), "{run}");
    }
}

/// What cannot be searched may have root modules, so no command passes it over.
#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_read_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;

    let workspace = Workspace::with_files(&[("a/.terraform.lock.hcl", ""), ("a/main.tf", ""), ("b/main.tf", "")]);
    let Some(workspace) = workspace.by_normal_user() else { return };
    let permit = |mode| std::fs::set_permissions(workspace.path("b"), std::fs::Permissions::from_mode(mode)).unwrap();
    permit(0o000);
    for args in [&["list"][..], &["list", "--modules"], &["why"], &["get"], &["outdated"], &["outdated", "--modules"]] {
        let run = workspace.tflock(None, args.iter().chain(&["-r"])).ended_with(2);
        assert!(run.stderr.contains("cannot look for root modules in b: permission denied"), "{args:?}: {run}");
    }
    permit(0o755);
}

/// A list shows what lock files have; no module is fetched for it.
#[test]
fn a_list_sends_no_request() {
    let call = "module \"far\" {\n  source = \"https://{{registry}}/far.tar.gz\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", &format!("{MAIN}{call}")), (LOCK, "")]);
    let registry = registry();
    workspace.tflock(&registry, ["list"]).ended_with(0);
    assert_eq!(registry.requests().len(), 0);
}

#[test]
fn the_tools_of_new_lock_files_are_named() {
    let workspace = Workspace::with_files(&[("a/main.tf", MAIN), ("b/main.tf", MAIN), ("c/main.tofu", MAIN)]);
    let registry = registry();
    let run = lock(&workspace, &registry, &["--create"]).ended_with(0);
    assert!(run.stderr.contains("new lock files are for both tools: 1 for OpenTofu and 2 for Terraform"), "{run}");
    let run = lock(&workspace, &registry, &["--create"]).ended_with(0);
    assert!(!run.stderr.contains("new lock files"), "{run}");
}

/// What the settings leave out is not missed in silence.
#[test]
fn excluded_root_modules_are_counted() {
    let registry = registry();
    let files = [("a/main.tf", MAIN), ("old/b/main.tf", MAIN), ("old/c/main.tf", MAIN)];
    let workspace = Workspace::with_files(&files);
    lock(&workspace, &registry, &["--create"]).ended_with(0);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\nexclude = [\"old/**\"]\n");
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
    assert!(run.stdout.contains("1 root module (2 excluded by .tflock.hcl): 1 passed"), "{run}");
    let run = workspace.tflock(&registry, ["status"]).ended_with(0);
    assert!(run.stdout.contains("root modules  1 (2 excluded by .tflock.hcl)\n"), "{run}");
    let json = |command: &[&str]| workspace.tflock(&registry, command.iter().chain(&["--format", "json"])).json();
    assert_eq!(json(&["verify", "-r"])["excluded"], 2);
    assert_eq!(json(&["status"])["status"]["excluded"], 2);
    assert_eq!(json(&["verify", "-C", "a"])["excluded"], serde_json::Value::Null);
}

/// To select another version for one of them is no way forward.
#[cfg(unix)]
#[test]
fn root_modules_with_one_lock_file_are_named_where_their_constraints_disagree() {
    let with = |constraint: &str| MAIN.replace("widget\"\n", &format!("widget\"\n      version = \"{constraint}\"\n"));
    let registry = registry().release("acme/widget", "1.1.0", &["linux_amd64", "darwin_arm64"]);
    let workspace = Workspace::with_files(&[("a/main.tf", &with("1.0.0")), ("b/main.tf", &with("1.1.0"))]);
    workspace.git(["init", "--quiet"]);
    lock(&workspace, &registry, &["--create"]).ended_with(0);
    std::fs::remove_file(workspace.path("b/.terraform.lock.hcl")).unwrap();
    std::os::unix::fs::symlink("../a/.terraform.lock.hcl", workspace.path("b/.terraform.lock.hcl")).unwrap();
    for (run, text) in [
        (lock(&workspace, &registry, &[]).ended_with(2), "help: a, b share this lock file, so one version must suit"),
        (workspace.tflock(&registry, ["verify", "-r"]).ended_with(1), "help: a, b share this lock file, so one"),
    ] {
        let shown = format!("{}{}", run.stdout, run.stderr);
        assert!(shown.contains(text) && !shown.contains("upgrade "), "{run}");
    }
}

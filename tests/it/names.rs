//! What the name of a provider means, and what is said where it means nothing.

use crate::support::registry::Registry;
use crate::support::run::formats;
use crate::support::workspace::Workspace;

const MAIN: &str = r#"terraform {
  required_providers {
    gadget = {
      source  = "{{registry}}/acme/widget"
      version = "~> 1.0"
    }
  }
}
"#;
const LOCK: &str = ".terraform.lock.hcl";
const PLATFORM: [&str; 2] = ["--platform", "linux_amd64"];

fn registry() -> Registry {
    let versions = ["1.0.0", "1.1.0"];
    versions
        .iter()
        .fold(Registry::start(), |registry, version| registry.release("acme/widget", version, &["linux_amd64"]))
}

/// Two root modules, locked.
fn roots(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("env/a/main.tf", MAIN), ("env/b/main.tf", MAIN)]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(registry, ["lock", "-r", "--create"].iter().chain(&PLATFORM)).ended_with(0);
    workspace
}

#[test]
fn a_local_name_or_a_type_is_enough() {
    let registry = registry();
    let workspace = roots(&registry);
    for name in ["gadget", "widget"] {
        for command in [&["why"][..], &["explain"], &["outdated"], &["upgrade", "--check"], &["lock", "--check"]] {
            let args = ["-C", "env/a"].into_iter().chain(command.iter().copied()).chain([name]);
            let run = workspace.tflock(&registry, args).ended_with(0);
            assert!(!run.stderr.contains("error"), "{run}");
        }
        let run = workspace.tflock(&registry, ["why", "-r", name]).ended_with(0);
        assert!(run.stdout.contains("acme/widget") && run.stdout.contains("in env/a, env/b"), "{run}");
    }
    workspace.tflock(&registry, ["-C", "env/b", "remove", "gadget", "--force"]).ended_with(0);
    assert!(!workspace.read("env/b/main.tf").contains("acme/widget"));
}

#[test]
#[ignore = "long"]
fn a_name_that_no_root_module_knows_is_an_error() {
    let registry = registry();
    let workspace = roots(&registry);
    let typo = format!("{}/acme/wigdet", registry.host());
    for command in [&["upgrade"][..], &["lock"], &["outdated"], &["upgrade", "--check"], &["why"]] {
        for format in [&[][..], &["--format", "markdown"], &["--format", "json"]] {
            let args = command.iter().copied().chain(["-r", typo.as_str()]).chain(format.iter().copied());
            let run = workspace.tflock(&registry, args).ended_with(2);
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(all.contains("acme/wigdet"), "{run}");
            assert!(all.contains("did you mean") && all.contains("acme/widget"), "{run}");
            assert!(!all.contains("up to date"), "{run}");
        }
    }
    // What is known is done all the same.
    let widget = format!("{}/acme/widget", registry.host());
    let run = workspace.tflock(&registry, ["outdated", "-r", widget.as_str(), typo.as_str()]).ended_with(2);
    assert!(run.stderr.contains("a provider") && run.stderr.contains("wigdet"), "{run}");
}

#[test]
fn a_directory_is_no_provider() {
    let registry = registry();
    let workspace = roots(&registry);
    for args in [
        &["lock", "env/a"][..],
        &["upgrade", "-r", "env/a"],
        &["why", "-r", "env/a"],
        &["outdated", "-C", "env/b", "env"],
    ] {
        let run = workspace.tflock(&registry, args).ended_with(2);
        let shown = run.stderr.contains("-C env/a") || run.stderr.contains("-C env") || run.stderr.contains("pass -r");
        assert!(shown, "{run}");
    }
}

#[test]
fn above_root_modules_the_option_is_named() {
    let registry = registry();
    let workspace = roots(&registry);
    for command in ["lock", "upgrade", "fmt"] {
        let run = workspace.tflock(&registry, [command]).ended_with(2);
        assert!(run.stderr.contains("2 root modules are below this directory: pass -r"), "{run}");
    }
    // What changes nothing works in them.
    for command in ["verify", "list", "why", "outdated"] {
        let run = workspace.tflock(&registry, [command]).ended_with(0);
        assert!(run.stderr.contains("working in the root modules below it, as with -r"), "{run}");
    }
}

/// `why` and `explain` look below as `list` does, also into what has no lock file yet.
#[test]
fn what_requires_a_provider_is_found_below() {
    let registry = registry();
    let workspace = roots(&registry);
    let gadget = MAIN.replace("acme/widget", "acme/gadget");
    workspace.write("env/new/main.tf", &gadget.replacen("terraform {", "terraform {\n  backend \"local\" {}", 1));
    let addr = format!("{}/acme/gadget", registry.host());
    let run = workspace.tflock(&registry, ["why", "-r", &addr]).ended_with(0);
    assert!(run.stdout.contains("env/new/main.tf:4"), "{run}");
    let widget = format!("{}/acme/widget", registry.host());
    let run = workspace.tflock(&registry, ["explain", &widget]).ended_with(0);
    assert!(run.stderr.contains("as with -r") && run.stdout.contains("1.1.0"), "{run}");
    let hash = workspace.read(&format!("env/a/{LOCK}"));
    let hash = hash.split('"').find(|part| part.starts_with("h1:")).unwrap();
    let run = workspace.tflock(&registry, ["explain", hash]).ended_with(0);
    assert!(run.stdout.contains("acme/widget"), "{run}");
}

/// Files are named from the top of the repository, also those of constraints that hold a release back.
#[test]
fn places_are_those_of_the_repository() {
    let registry = registry();
    let workspace = roots(&registry);
    let registry = registry.release("acme/widget", "2.0.0", &["linux_amd64"]);
    let run = workspace.tflock(&registry, ["upgrade", "-r", "--dry-run", "--format", "json"].iter().chain(&PLATFORM));
    let document = run.json();
    let held: Vec<&serde_json::Value> = document["roots"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|root| root["findings"].as_array().unwrap())
        .filter(|finding| finding["rule"] == "held-back")
        .map(|finding| &finding["file"])
        .collect();
    assert_eq!(held, ["env/a/main.tf", "env/b/main.tf"], "{run}");
}

#[test]
fn a_failed_query_is_never_up_to_date() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", &MAIN.replace("acme/widget", "acme/gone"))]);
    for format in formats("outdated") {
        let run = workspace.tflock(&registry, ["outdated", "--format", format]).ended_with(2);
        assert!(!run.stdout.contains("up to date"), "{run}");
    }
    let json = workspace.tflock(&registry, ["outdated", "--format", "json"]).json();
    assert_eq!((&json["complete"], &json["error"]["kind"]), (&false.into(), &"not-found".into()), "{json}");
}

#[test]
fn a_lock_file_alone_is_a_root_module() {
    let registry = registry();
    let workspace = roots(&registry);
    workspace.write(&format!("live/{LOCK}"), &workspace.read(&format!("env/a/{LOCK}")));
    let before = workspace.read(&format!("live/{LOCK}"));
    for args in [&["lock", "--prune"][..], &["upgrade", "--check"], &["why"], &["lock", "--from-lock"]] {
        let platform = if args[0] == "why" { &[][..] } else { &PLATFORM };
        let args = ["-C", "live"].iter().chain(args).chain(platform);
        workspace.tflock(&registry, args).ended_with(0);
    }
    assert_eq!(workspace.read(&format!("live/{LOCK}")), before);
    workspace.write("empty/notes.txt", "");
    workspace.tflock(&registry, ["-C", "empty", "lock", "--from-lock"]).ended_with(2);
    assert!(!workspace.has(&format!("empty/{LOCK}")));
}

#[test]
fn missing_configuration_of_an_added_provider_is_reported() {
    let registry = registry().release("acme/other", "1.0.0", &["linux_amd64"]);
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    let other = format!("{}/acme/other", registry.host());
    let run = workspace.tflock(&registry, ["add", other.as_str()].into_iter().chain(PLATFORM)).ended_with(0);
    assert!(run.stderr.contains("acme/widget is required too and not in"), "{run}");
    let run = workspace.tflock(&registry, ["lock"].iter().chain(&PLATFORM)).ended_with(0);
    assert!(!run.stderr.contains("required too"), "{run}");
}

#[test]
fn the_trust_file_is_spoken_of_by_the_same_names() {
    let registry = registry();
    let workspace = roots(&registry);
    let key = "A".repeat(40);
    let shown = |args: &[&str], code| workspace.tflock(&registry, ["trust"].iter().chain(args)).ended_with(code);
    // Of another host, the provider that is remembered is named, and trusting this one is not advised.
    let run = shown(&["rotate", "acme/widget", &key, "--reason", "x"], 2);
    assert!(run.stderr.contains("did you mean") && !run.stderr.contains("trust add"), "{run}");
    let run = shown(&["rotate", "acme/unheard-of", &key], 2);
    assert!(run.stderr.contains("trust add registry.terraform.io/acme/unheard-of"), "{run}");
    shown(&["rotate", "widget", &key, "--reason", "x"], 0);
    // A denial can be taken back.
    shown(&["deny", &key, "--reason", "lost"], 0);
    assert!(workspace.read(".tflock.trust.hcl").contains("denied_signer"));
    shown(&["forget", &key], 0);
    assert!(!workspace.read(".tflock.trust.hcl").contains("denied_signer"));
    let run = shown(&["forget", &key], 2);
    assert!(run.stderr.contains("is not denied"), "{run}");
}

/// The local name is one of the configuration: where that cannot be read, no other provider is taken for it.
#[test]
fn a_bare_name_needs_configuration_that_can_be_read() {
    let registry = registry();
    let source = format!("{}/acme/widget", registry.host());
    let main = format!("terraform {{\n  required_providers {{\n    null = {{ source = \"{source}\" }}\n  }}\n}}\n");
    let workspace = Workspace::with_files(&[("main.tf", &main), ("wrong.tf", "module {\n")]);
    let key = "A".repeat(40);
    let add = |name: &str, code| workspace.tflock(&registry, ["trust", "add", name, &key]).ended_with(code);
    let run = add("null", 2);
    assert!(run.stderr.contains("wrong.tf") && !workspace.path(".tflock.trust.hcl").exists(), "{run}");
    add(&source, 0);
    std::fs::remove_file(workspace.path("wrong.tf")).unwrap();
    let other = workspace.tflock(&registry, ["trust", "list", "null"]).ended_with(0);
    assert!(other.stdout.contains("acme/widget"), "{other}");
}

#[test]
fn one_lock_file_that_cannot_be_read_does_not_stop_the_others() {
    let registry = registry();
    let workspace = roots(&registry);
    std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
    workspace.write(&format!("env/b/{LOCK}"), "provider {");
    let run = workspace.tflock(&registry, ["trust", "init", "-r"]).ended_with(2);
    assert!(run.stderr.contains("env/b/.terraform.lock.hcl"), "{run}");
    assert!(workspace.read(".tflock.trust.hcl").contains("acme/widget"));
}

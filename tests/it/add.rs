//! Requirements come and go, in configuration and lock file together.

use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MAIN: &str = r#"# first of all
terraform {
  required_providers {
    widget = {
      source = "{{registry}}/acme/widget"
    }
  }
}

resource "widget_thing" "a" {}
"#;
const LOCK: &str = ".terraform.lock.hcl";

fn registry() -> Registry {
    let registry = Registry::start().release("acme/widget", "1.0.0", &["linux_amd64"]);
    let registry = registry.release("acme/gadget", "2.3.1", &["linux_amd64"]);
    registry.release("acme/gadget", "2.0.0", &["linux_amd64"])
}

fn workspace(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]);
    workspace.tflock(registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    workspace
}

fn run(workspace: &Workspace, registry: &Registry, command: &str, what: &str, more: &[&str]) -> Run {
    let address = format!("{}/acme/{what}", registry.host());
    let platform: &[&str] = if command == "add" { &["--platform", "linux_amd64"] } else { &[] };
    let args = [&[command, &address], platform, more].concat();
    workspace.tflock(registry, args)
}

#[test]
fn a_requirement_and_its_entry() {
    let registry = registry();
    let workspace = workspace(&registry);
    let (main, lock) = (workspace.read("main.tf"), workspace.lock_file());
    let dry = run(&workspace, &registry, "add", "gadget", &["--dry-run"]).ended_with(0);
    assert!(dry.touched().is_empty() && dry.stdout.contains("+    gadget = {"), "{dry}");
    let added = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    let entry = format!(
        "    gadget = {{\n      source  = \"{}/acme/gadget\"\n      version = \"~> 2.3\"\n    }}\n",
        registry.host()
    );
    assert_eq!(workspace.read("main.tf"), main.replace("    widget = {", &format!("{entry}    widget = {{")));
    assert!(workspace.lock_file().contains("constraints = \"~> 2.3\""));
    assert!(added.stdout.contains("review and commit main.tf"), "{added}");
    let again = run(&workspace, &registry, "add", "gadget", &[]).ended_with(2);
    assert!(again.stderr.contains("is already required"), "{again}");

    let removed = run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    assert_eq!((workspace.read("main.tf"), workspace.lock_file()), (main, lock));
    assert!(removed.stderr.contains("a new first use"), "{removed}");
}

#[test]
fn constraints_names_and_pins() {
    let registry = registry();
    let workspace = workspace(&registry);
    run(&workspace, &registry, "add", "gadget@< 2.3", &["--name", "gizmo"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("gizmo = {") && workspace.lock_file().contains("\"2.0.0\""));
    let run_ = run(&workspace, &registry, "add", "gadget@>= 2.3", &["--replace"]).ended_with(2);
    assert!(run_.stderr.contains("does not match the version constraint"), "{run_}");
    run(&workspace, &registry, "remove", "gadget", &[]).ended_with(0);
    run(&workspace, &registry, "add", "gadget", &["--pin"]).ended_with(0);
    assert!(workspace.read("main.tf").contains("version = \"2.3.1\""));
    assert!(workspace.lock_file().contains("constraints = \"2.3.1\""));
}

#[test]
fn on_any_error_neither_file_changes() {
    let registry = registry();
    let workspace = workspace(&registry);
    for (what, code) in [("gadgat", 2), ("gadget@~> 9.0", 2), ("gadget@nonsense", 2)] {
        let run = run(&workspace, &registry, "add", what, &[]).ended_with(code);
        assert!(run.touched().is_empty(), "{run}");
    }
    let near = run(&workspace, &registry, "add", "widgets", &[]).ended_with(2);
    assert!(near.stderr.contains("did you mean") && near.stderr.contains("acme/widget?"), "{near}");
    registry.republish("acme/widget", "1.0.0");
    let used = run(&workspace, &registry, "remove", "widget", &[]).ended_with(2);
    assert!(used.stderr.contains("still used by resource \"widget_thing\" \"a\""), "{used}");
    assert!(used.touched().is_empty() && used.stderr.contains("main.tf:10:1"), "{used}");
}

#[test]
fn a_directory_without_configuration() {
    let (registry, workspace) = (registry(), Workspace::with_files(&[]));
    let added = run(&workspace, &registry, "add", "gadget", &[]).ended_with(0);
    assert!(workspace.has("versions.tf") && workspace.has(LOCK), "{added}");
    if let Some(run) = workspace.terraform(&registry, ["fmt", "-check"]) {
        run.ended_with(0);
    }
}

#[test]
fn the_lock_file_alone() {
    let registry = registry();
    let workspace = workspace(&registry);
    let before = workspace.read("main.tf");
    run(&workspace, &registry, "add", "gadget", &["--lock-only"]).ended_with(0);
    assert!(workspace.lock_file().contains("\"2.3.1\""));
    run(&workspace, &registry, "remove", "gadget", &["--lock-only"]).ended_with(0);
    assert!(!workspace.lock_file().contains("gadget"));
    assert_eq!(workspace.read("main.tf"), before);
}

#[test]
fn what_another_module_requires_stays_locked() {
    let registry = registry();
    let net = MAIN.replace(
        "source = \"{{registry}}/acme/widget\"",
        "source  = \"{{registry}}/acme/widget\"\n      version = \"~> 1.0\"",
    );
    let main = MAIN.replace("resource \"widget_thing\" \"a\" {}", "module \"net\" {\n  source = \"./net\"\n}");
    let workspace = Workspace::with_files(&[("main.tf", &main), ("net/main.tf", &net)]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    run(&workspace, &registry, "remove", "widget", &[]).ended_with(0);
    assert!(!workspace.read("main.tf").contains("widget") && workspace.lock_file().contains("acme/widget"));
}

//! Terraform stacks: the lock file that `terraform stacks providers-lock` writes, written and guarded.

use crate::support::locked::{LOCK, block, hashes, honest, rules, verify};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

pub(super) const HEADER: &str = "# This file is maintained automatically by \"terraform stacks providers-lock\".\n# Manual edits may be lost in future updates.\n";

/// A stack with a component that uses both of its providers, and a nested stack that requires one more.
pub(super) fn stack() -> Workspace {
    let entry = |name: &str, version: &str| {
        format!("  {name} = {{\n    source  = \"{{{{registry}}}}/acme/{name}\"\n    version = \"{version}\"\n  }}\n")
    };
    Workspace::with_files(&[
        (
            "providers.tfcomponent.hcl",
            &format!("required_providers {{\n{}}}\n\nprovider \"widget\" \"this\" {{}}\n", entry("widget", "~> 1.4")),
        ),
        (
            "main.tfcomponent.hcl",
            "component \"net\" {\n  source = \"./net\"\n}\n\nstack \"deep\" {\n  source = \"./deep\"\n}\n",
        ),
        (
            "net/main.tf",
            "terraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      version = \"< 1.0.0\"\n    }\n  }\n}\n",
        ),
        ("deep/main.tfcomponent.hcl", &format!("required_providers {{\n{}}}\n", entry("gadget", "2.0.0"))),
    ])
}

pub(super) fn lock(workspace: &Workspace, registry: &Registry, more: &[&str]) -> Run {
    workspace.tflock(registry, ["lock", "--platform", "darwin_arm64"].iter().chain(more))
}

#[test]
fn lock_writes_what_stacks_write() {
    let (registry, workspace) = (honest(), stack());
    // The platform of HCP Terraform is always wanted.
    lock(&workspace, &registry, &[]).ended_with(0);
    let entry = |name: &str, version: &str| {
        block(&registry, name, &format!("  version = \"{version}\"\n"), &hashes(&registry, name, version))
    };
    let wanted = format!("{HEADER}{}{}", entry("acme/gadget", "2.0.0"), entry("acme/widget", "1.4.0"));
    assert_eq!(workspace.lock_file(), wanted);
    let run = lock(&workspace, &registry, &["--check"]).ended_with(0);
    assert!(run.touched().is_empty(), "{run}");
    let run = verify(&workspace, &registry, &[]).ended_with(0);
    assert_eq!((&run.json()["kind"], &run.json()["findings"]), (&"stack".into(), &serde_json::json!([])), "{run}");
    // One of the earlier headers stays.
    for early in ["tfstacks providers lock", "terraform stacks providers lock"] {
        let text = wanted.replace("terraform stacks providers-lock", early);
        workspace.write(LOCK, &text);
        workspace.tflock(&registry, ["fmt", "--check"]).ended_with(0);
        lock(&workspace, &registry, &[]).ended_with(0);
        assert_eq!(workspace.lock_file(), text);
    }
    // What `terraform init` wrote is replaced.
    let of_init = wanted.replace("stacks providers-lock", "init").replacen("  version = ", "  version     = ", 1);
    workspace.write(LOCK, &of_init.replacen("\"2.0.0\"\n", "\"2.0.0\"\n  constraints = \"2.0.0\"\n", 1));
    let run = verify(&workspace, &registry, &[]);
    assert!(
        run.stdout.contains("this is a stack") && run.stdout.contains("records constraints, which stacks do not"),
        "{run}"
    );
    workspace.tflock(&registry, ["fmt"]).ended_with(0);
    assert_eq!(workspace.lock_file(), wanted);
    // In a module the header of stacks is not canonical.
    let module = Workspace::with_files(&[("main.tf", ""), (LOCK, HEADER)]);
    let run = verify(&module, &registry, &[]).ended_with(0);
    assert!(run.stdout.contains("this is no stack"), "{run}");
    module.tflock(&registry, ["fmt"]).ended_with(0);
    assert!(module.lock_file().contains("\"terraform init\""));
}

#[test]
fn verify_judges_a_stack_by_what_stacks_require() {
    let (registry, workspace) = (honest(), stack());
    lock(&workspace, &registry, &[]).ended_with(0);
    let text = workspace.lock_file();
    let denied = |run: &Run| rules(run, "deny").into_iter().collect::<Vec<_>>();
    // An entry is missing; then a version is excluded.
    workspace.write(LOCK, text.split("\nprovider").next().unwrap());
    assert_eq!(denied(&verify(&workspace, &registry, &[])), ["entry-missing"]);
    workspace.write(LOCK, &text);
    let deep = workspace.read("deep/main.tfcomponent.hcl");
    workspace.write("deep/main.tfcomponent.hcl", &deep.replace("2.0.0", "~> 3.0"));
    assert_eq!(denied(&verify(&workspace, &registry, &[])), ["version-not-allowed"]);
    workspace.write("deep/main.tfcomponent.hcl", &deep);
    // Without linux_amd64 HCP Terraform refuses the file.
    let linux = registry.package("acme/widget", "1.4.0", "linux_amd64").h1;
    workspace.write(LOCK, &text.replace(&format!("    \"{linux}\",\n"), ""));
    assert_eq!(denied(&verify(&workspace, &registry, &[])), ["platform-uncovered"]);
    workspace.write(LOCK, &text);
    // A provider of a component must be declared by its own stack.
    workspace.write("net/more.tf", "resource \"gadget_thing\" \"x\" {}\nterraform {}\n");
    let net = workspace.read("net/main.tf");
    workspace.write("net/main.tf", &net.replace("widget", "gadget"));
    let run = verify(&workspace, &registry, &[]);
    assert_eq!(denied(&run), ["provider-undeclared"], "{run}");
    // What the finding advises.
    let providers = workspace.read("providers.tfcomponent.hcl");
    workspace.tflock(&registry, ["add", &format!("{}/acme/gadget", registry.host())]).ended_with(0);
    verify(&workspace, &registry, &[]).ended_with(0);
    workspace.write("providers.tfcomponent.hcl", &providers);
    workspace.write("net/main.tf", &net);
    std::fs::remove_file(workspace.path("net/more.tf")).unwrap();
    // Files of modules next to those of a stack are ignored.
    workspace.write("versions.tf", "nonsense {{{\n");
    verify(&workspace, &registry, &[]).ended_with(0);
    let run = lock(&workspace, &registry, &[]).ended_with(0);
    assert!(run.stderr.contains("versions.tf: Terraform Stacks do not read this file"), "{run}");
}

#[test]
fn commands_edit_the_requirements_of_a_stack() {
    let registry = honest().release("acme/extra", "1.0.0", &["linux_amd64", "darwin_arm64"]);
    let workspace = stack();
    lock(&workspace, &registry, &[]).ended_with(0);
    let (before, providers) = (workspace.lock_file(), workspace.read("providers.tfcomponent.hcl"));
    let extra = format!("{}/acme/extra", registry.host());
    workspace.tflock(&registry, ["add", &extra]).ended_with(0);
    let entry =
        format!("required_providers {{\n  extra = {{\n    source  = \"{extra}\"\n    version = \"~> 1.0\"\n  }}\n");
    assert_eq!(workspace.read("providers.tfcomponent.hcl"), providers.replace("required_providers {\n", &entry));
    assert!(workspace.lock_file().contains("acme/extra\" {\n  version = \"1.0.0\"\n"));
    workspace.tflock(&registry, ["remove", &extra]).ended_with(0);
    assert_eq!((workspace.read("providers.tfcomponent.hcl"), workspace.lock_file()), (providers, before));
    let run = workspace.tflock(&registry, ["remove", &extra.replace("extra", "widget")]).ended_with(2);
    assert!(run.stderr.contains("provider \"widget\" \"this\""), "{run}");
    for args in [&["migrate", "--to", "tofu"][..], &["install"], &["get"]] {
        let run = workspace.tflock(&registry, args).ended_with(2);
        assert!(run.stderr.contains("does not work in a Terraform stack"), "{run}");
    }
    let run = lock(&workspace, &registry, &["--source", "configured"]).ended_with(2);
    assert!(run.stderr.contains("packages come from the origin registry alone"), "{run}");
}

#[test]
fn a_constraint_of_a_stack_is_not_one_of_a_root_module() {
    let registry = honest().release("acme/widget", "2.0.0", &["linux_amd64", "darwin_arm64"]);
    let workspace = stack();
    lock(&workspace, &registry, &[]).ended_with(0);
    let run = workspace.tflock(&registry, ["upgrade", "--format", "json"]).ended_with(0);
    let findings = run.json()["findings"].as_array().cloned().unwrap();
    let held = findings.iter().find(|it| it["rule"] == "held-back").unwrap_or_else(|| panic!("{run}"));
    assert!(held["message"].as_str().unwrap().contains("of the stack "), "{run}");
}

#[test]
fn components_and_nested_stacks_are_no_root_modules() {
    let (registry, workspace) = (honest(), stack());
    lock(&workspace, &registry, &["-r", "--create"]).ended_with(0);
    assert!(workspace.has(LOCK) && !workspace.has(&format!("net/{LOCK}")) && !workspace.has(&format!("deep/{LOCK}")));
}

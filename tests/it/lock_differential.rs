//! `tflock lock` against the real `terraform`: after it, `init` has nothing to add and `-lockfile=readonly` passes.

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::{hashes, widget};

/// Platforms of developers' machines, so `init` finds its own.
const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];

const INIT: [&str; 4] = ["init", "-backend=false", "-input=false", "-no-color"];

fn registry() -> Registry {
    Registry::start().release("acme/widget", "1.4.0", &HERE).release("acme/gadget", "2.0.0", &HERE)
}

fn lock(workspace: &Workspace, registry: &Registry, platforms: &[&str]) {
    let platforms = platforms.iter().map(|platform| format!("--platform={platform}"));
    workspace.tflock(registry, ["lock".to_owned()].into_iter().chain(platforms)).ended_with(0);
}

/// `None` if terraform is not installed.
fn init(workspace: &Workspace, registry: &Registry) -> Option<()> {
    let before = workspace.lock_file();
    for readonly in [true, false] {
        let args = INIT.iter().chain(if readonly { &["-lockfile=readonly"][..] } else { &[] });
        let run = workspace.terraform(registry, args)?.ended_with(0);
        assert!(run.touched().is_empty(), "{run}");
        assert_eq!(workspace.lock_file(), before);
    }
    Some(())
}

fn with_source(rest: &str) -> Workspace {
    let needs = format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source = \"{{{{registry}}}}/acme/widget\"\n      \
         {rest}\n    }}\n  }}\n}}\n"
    );
    Workspace::with_files(&[("main.tf", &needs)])
}

#[test]
fn one_root() {
    let (registry, workspace) = (registry(), Workspace::from("modules/one-root"));
    lock(&workspace, &registry, &HERE);
    init(&workspace, &registry);
}

#[test]
fn a_module_tree() {
    let (registry, workspace) = (registry(), Workspace::from("modules/module-tree"));
    // What terraform installed may be there or not.
    lock(&workspace, &registry, &HERE);
    let text = workspace.lock_file();
    let Some(run) = workspace.terraform(&registry, ["get"]) else { return };
    run.ended_with(0);
    lock(&workspace, &registry, &HERE);
    assert_eq!(workspace.lock_file(), text);
    init(&workspace, &registry);
}

#[test]
fn a_module_of_a_registry() {
    let needs = "terraform {\n  required_providers {\n    widget = {\n      source  = \"{{registry}}/acme/widget\"\n      \
                 version = \">= 1.0, != 1.3.0\"\n    }\n  }\n}\n";
    let registry = registry().module("acme/net/lab", "1.1.0", &[("main.tf", needs)]);
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \">= 1.0.0\"\n}\n";
    let workspace = Workspace::with_files(&[("main.tf", call)]);
    let Some(run) = workspace.terraform(&registry, ["get"]) else { return };
    run.ended_with(0);
    lock(&workspace, &registry, &HERE);
    assert!(workspace.lock_file().contains("constraints = \">= 1.0.0, != 1.3.0\""));
    init(&workspace, &registry);
}

#[test]
#[ignore = "long"]
fn constraints_are_merged_as_terraform_merges_them() {
    let registry = registry();
    for version in ["version = \"~>1.4,>=1.2 , != 1.3\"", "version = \"=1.4.0\"", "version = \"1.4\"", ""] {
        let workspace = with_source(version);
        workspace.write("more.tf", "provider \"widget\" {\n  version = \"> 1, < 2\"\n}\n");
        lock(&workspace, &registry, &HERE);
        if init(&workspace, &registry).is_none() {
            return;
        }
    }
}

#[test]
fn a_pre_release_with_an_exact_constraint() {
    let registry = registry().release("acme/widget", "1.5.0-beta.2", &HERE).release("acme/widget", "1.5.0-rc1", &HERE);
    let workspace = with_source("version = \"1.5.0-beta.2\"");
    lock(&workspace, &registry, &HERE);
    assert!(workspace.lock_file().contains("version     = \"1.5.0-beta.2\""));
    init(&workspace, &registry);
    let workspace = with_source("version = \">= 1.4.0\"");
    lock(&workspace, &registry, &HERE);
    assert!(workspace.lock_file().contains("version     = \"1.4.0\""));
    init(&workspace, &registry);
}

#[test]
fn build_metadata() {
    let registry = Registry::start().release("acme/widget", "1.4.0+build.7", &HERE);
    let workspace = with_source("version = \"1.4.0+build.7\"");
    lock(&workspace, &registry, &HERE);
    assert!(workspace.lock_file().contains("version     = \"1.4.0+build.7\""));
    init(&workspace, &registry);
}

#[test]
fn the_default_registry() {
    let registry = registry().standing_for("registry.terraform.io");
    let workspace = Workspace::from("modules/default-host");
    lock(&workspace, &registry, &HERE);
    init(&workspace, &registry);
}

/// Both tools write the same file, whichever adds which platform.
#[test]
fn an_added_platform() {
    let (registry, ours, theirs) =
        (registry(), Workspace::from("modules/one-root"), Workspace::from("modules/one-root"));
    lock(&ours, &registry, &HERE[..3]);
    lock(&ours, &registry, &HERE);
    let args = |platforms: &[&str]| -> Vec<String> {
        let platforms = platforms.iter().map(|platform| format!("-platform={platform}"));
        ["providers", "lock"].map(str::to_owned).into_iter().chain(platforms).collect()
    };
    let Some(run) = theirs.terraform(&registry, args(&HERE)) else { return };
    run.ended_with(0);
    assert_eq!(ours.lock_file(), theirs.lock_file());
    assert_eq!(hashes(&ours.lock_file()).len(), 8);
    init(&ours, &registry);

    let begun_by_terraform = Workspace::from("modules/one-root");
    begun_by_terraform.terraform(&registry, args(&HERE[..1])).unwrap().ended_with(0);
    lock(&begun_by_terraform, &registry, &HERE);
    assert_eq!(begun_by_terraform.lock_file(), theirs.lock_file());
}

#[test]
fn one_file_for_both_tools_in_odd_worlds() {
    let manifest = format!("{}  terraform-provider-widget_1.4.0_manifest.json", "0".repeat(64));
    for registry in [
        widget().sums_line(&manifest),
        widget().sums_line("no line at all"),
        widget().named("{type}-{version}.{platform}.zip"),
        widget().with_packages().with_relative_urls(),
    ] {
        let (ours, theirs) = (Workspace::from("modules/one-root"), Workspace::from("modules/one-root"));
        let Some(run) = theirs.terraform(&registry, ["providers", "lock", "-platform=linux_amd64"]) else { return };
        run.ended_with(0);
        lock(&ours, &registry, &["linux_amd64"]);
        assert_eq!(ours.lock_file(), theirs.lock_file());
    }
}

/// `init` removes entries that nothing needs; `lock` says so.
#[test]
fn what_init_will_change_is_named() {
    let (registry, workspace) = (registry(), Workspace::from("modules/module-tree"));
    lock(&workspace, &registry, &HERE);
    workspace.write("main.tf", workspace.read("main.tf").split("module").next().unwrap());
    let run = workspace.tflock(&registry, ["lock", "--platform=linux_amd64"]).ended_with(0);
    assert!(run.stdout.contains("terraform init"), "{run}");
    let Some(init) = workspace.terraform(&registry, INIT) else { return };
    assert_eq!(init.ended_with(0).touched(), [".terraform.lock.hcl"]);
    assert!(!workspace.lock_file().contains("/acme/gadget\""));
}

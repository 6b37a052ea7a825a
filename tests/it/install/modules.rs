//! Modules with providers.

use super::{INSTALL, locked};
use crate::support::worlds::widget;

const LIST: &str = ".terraform/modules/modules.json";

#[test]
fn local_modules_are_listed_without_a_module_lock() {
    let registry = widget();
    let workspace = locked(&registry);
    workspace.write("here/main.tf", "locals {}\n");
    let main = format!("{}module \"here\" {{\n  source = \"./here\"\n}}\n", workspace.read("main.tf"));
    workspace.write("main.tf", &main);
    workspace.tflock(&registry, [&INSTALL[..], &["--no-modules"]].concat()).ended_with(0);
    assert!(!workspace.has(LIST));
    workspace.tflock(&registry, INSTALL).ended_with(0);
    let list = workspace.read(LIST);
    std::fs::remove_file(workspace.path(LIST)).unwrap();
    let Some(init) = workspace.terraform(&registry, ["init", "-backend=false", "-input=false"]) else { return };
    init.ended_with(0);
    assert_eq!(workspace.read(LIST), list);
}

#[test]
fn remote_modules_need_a_lock() {
    let registry = widget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
    let workspace = locked(&registry);
    let call = "module \"net\" {\n  source  = \"{{other-host}}/acme/net/lab\"\n  version = \"1.0.0\"\n}\n";
    workspace.write("main.tf", &format!("{}{call}", workspace.read("main.tf")));
    workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(!workspace.has(LIST));
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "--lock-modules"]).ended_with(0);
    let run = workspace.tflock(&registry, INSTALL).ended_with(0);
    assert!(run.stdout.contains("installed 1 module\n"), "{run}");
    assert!(workspace.has(".terraform/modules/net/main.tf"));
}

//! The real `terraform` finds what was installed, and downloads nothing.

use super::{locked, place};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const INIT: [&str; 5] = ["init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly"];

/// `init` finds the package that was installed; none without `terraform`.
fn finds_it(workspace: &Workspace, registry: &Registry) -> Option<Run> {
    registry.forget_requests();
    let run = workspace.terraform(registry, INIT)?.ended_with(0);
    assert!(run.stdout.contains("Using previously-installed"), "{run}");
    assert_eq!(registry.downloads("acme/widget"), 0, "{run}");
    Some(run)
}

#[test]
fn init_uses_what_was_installed_however_it_was_linked() {
    for link in ["auto", "hard", "copy", "symlink"] {
        let registry = widget();
        let workspace = locked(&registry);
        workspace.tflock(&registry, ["install", "--link", link]).ended_with(0);
        if finds_it(&workspace, &registry).is_none() {
            return;
        }
        let run = workspace.tflock(None, ["verify", "--offline", "--installed"]);
        assert!(!run.stdout.contains("installed-differs"), "{run}");
    }
}

#[test]
fn init_uses_it_in_another_data_directory() {
    let registry = widget();
    let workspace = Workspace::from("modules/one-root").env("TF_DATA_DIR", "data/here");
    workspace.tflock(&registry, ["lock", "--platform=linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, ["install"]).ended_with(0);
    assert!(workspace.has("data/here/providers") && !workspace.has(".terraform"));
    finds_it(&workspace, &registry);
}

#[test]
fn what_init_would_download_again_is_not_installed() {
    let registry = widget();
    let foreign = Workspace::from("modules/one-root");
    foreign.tflock(&registry, ["lock", "--platform=darwin_arm64"]).ended_with(0);
    let lines = |text: &str, keep: fn(&str) -> bool| {
        text.lines().filter(|line| keep(line)).collect::<Vec<_>>().join("\n") + "\n"
    };
    let zh_only = Workspace::from("modules/one-root");
    zh_only.write(".terraform.lock.hcl", &lines(&foreign.lock_file(), |line| !line.contains("h1:")));
    let h1_only = Workspace::from("modules/one-root");
    h1_only.write(".terraform.lock.hcl", &lines(&foreign.lock_file(), |line| !line.contains("zh:")));
    for workspace in [zh_only, foreign, h1_only] {
        let run = workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(1);
        assert!(run.stderr.contains("platform-uncovered"), "{run}");
        assert!(
            run.stderr.contains(&format!("`tflock lock --platform linux_amd64 {}/acme/widget`", registry.host())),
            "{run}"
        );
        assert!(!place(&workspace, &registry, "").exists());
        let address = format!("{}/acme/widget", registry.host());
        workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", &address]).ended_with(0);
        workspace.tflock(&registry, ["install", "--platform=linux_amd64"]).ended_with(0);
        finds_it(&workspace, &registry);
    }
}

#[test]
fn an_earlier_init_is_left_alone() {
    let registry = widget();
    let workspace = locked(&registry);
    let Some(run) = workspace.terraform(&registry, INIT) else { return };
    run.ended_with(0);
    registry.forget_requests();
    let run = workspace.tflock(&registry, ["install"]).ended_with(0);
    assert_eq!(run.stdout, "1 provider is installed as locked; nothing to do\n");
    assert_eq!(registry.requests().len(), 0, "{run}");
}

//! `git::file`: a repository of this machine, inside of the work tree only.

use super::git::{Repository, needs_widget};
use super::{CALL, NEEDS_WIDGET};
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK, widget};

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];

fn calling(workspace: &Workspace, place: &str, rest: &str) {
    let call = format!("module \"net\" {{\n  source = \"git::file://{place}{rest}\"\n}}\n");
    workspace.write("live/main.tf", &call);
}

/// A monorepo whose root modules call its own modules at a tag.
#[test]
fn the_repository_itself_at_a_tag() {
    let (registry, workspace) = (widget(), Workspace::with_files(&[("mods/net/main.tf", NEEDS_WIDGET)]));
    workspace.write("mods/net/main.tf", &needs_widget(&registry));
    workspace.git(["init", "--quiet", "-b", "main"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "--quiet", "-m", "one"]);
    workspace.git(["tag", "v1"]);
    let top = workspace.path("").canonicalize().unwrap().display().to_string();
    calling(&workspace, &top, "//mods/net?ref=v1");
    workspace.write("mods/net/main.tf", "# what is there now does not matter\n");
    let run = workspace.tflock(&registry, ["-C", "live"].iter().chain(&LOCK_MODULES)).ended_with(0);
    assert!(workspace.read("live/.terraform.lock.hcl").contains("/acme/widget\""), "{run}");
    workspace.tflock(&registry, ["-C", "live", "verify"]).ended_with(0);
    workspace.tflock(&registry, ["-C", "live", "get"]).ended_with(0);
    assert!(workspace.read("live/.terraform/modules/net/mods/net/main.tf").contains("widget"));
    // A policy about hosts is not about it.
    workspace.write(".tflock.hcl", "policy {\n  module_hosts = [\"example.com\"]\n}\n");
    workspace.tflock(&registry, ["-C", "live", "lock", "--check", "--platform", "linux_amd64"]).ended_with(0);
}

#[cfg(unix)]
#[test]
fn nothing_outside_of_the_work_tree() {
    let (registry, outside) = (widget(), Repository::new());
    outside.commit("main.tf", &needs_widget(&registry));
    let place = outside.0.path("").canonicalize().unwrap().display().to_string();
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    std::os::unix::fs::symlink(&place, workspace.path("link")).unwrap();
    let top = workspace.path("").canonicalize().unwrap().display().to_string();
    for place in [&place, &format!("{top}/link"), &format!("{top}/../work/link"), &format!("{top}/none")] {
        calling(&workspace, place, "");
        let refused = workspace.tflock(&registry, ["-C", "live"].iter().chain(&LOCK)).ended_with(2);
        assert!(refused.stderr.contains("outside of the working tree"), "{place}: {refused}");
        assert!(refused.stderr.contains("`terraform get`"), "{place}: {refused}");
    }
    assert!(!workspace.has("live/.terraform.lock.hcl"));
}

/// A registry names no place of this machine, even inside of the work tree.
#[test]
fn a_registry_does_not_point_there() {
    let workspace = Workspace::with_files(&[("main.tf", &CALL.replace("acme/net", "acme/here"))]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "-A"]);
    workspace.git(["commit", "--quiet", "-m", "one"]);
    let top = workspace.path("").canonicalize().unwrap().display().to_string();
    let versions = "{\"modules\":[{\"versions\":[{\"version\":\"1.0.0\"}]}]}";
    let registry = widget().document("/v1/modules/acme/here/lab/versions", "application/json", versions).document(
        "/v1/modules/acme/here/lab/1.0.0/download",
        "application/json",
        format!("{{\"location\":\"git::file://{top}\"}}"),
    );
    let refused = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(refused.stderr.contains("names a file or directory of this machine"), "{refused}");
}

//! Honest repositories are never accused: what is hashed is what the source gives, never a checkout.

use super::git::{Repository, needs_widget, workspace};
use super::{CALL, NEEDS_WIDGET};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::widget;

const LOCK_MODULES: [&str; 4] = ["lock", "--platform", "linux_amd64", "--lock-modules"];
const LOCKS: &str = ".tflock.modules.hcl";

/// The hash that is locked of the only module.
fn hash(workspace: &Workspace) -> String {
    let locks = workspace.read(LOCKS);
    let hash = locks.split("hash   = \"").nth(1).unwrap();
    hash.split('"').next().unwrap().to_owned()
}

/// Locks the module of a repository, checks it again without what was kept, and gives its hash.
fn locked(registry: &Registry) -> String {
    let workspace = workspace(registry, "");
    workspace.tflock(registry, LOCK_MODULES).ended_with(0);
    workspace.tflock(registry, ["verify", "--no-cache"]).ended_with(0);
    workspace.tflock(registry, ["get", "--no-cache"]).ended_with(0);
    workspace.tflock(registry, ["lock", "--check", "--platform", "linux_amd64", "--no-cache"]).ended_with(0);
    hash(&workspace)
}

#[test]
#[ignore = "long"]
fn attributes_and_line_ends_change_nothing() {
    let (mut registry, repository) = (widget(), Repository::new());
    repository.commit("main.tf", &needs_widget(&registry));
    repository.0.write_bytes("windows.txt", b"one\r\ntwo\r\n");
    repository.0.write_bytes("unix.txt", b"one\ntwo\n$Id$\n");
    repository.commit("other.txt", "x\n");
    registry = repository.served_by(registry);
    let plain = locked(&registry);
    // What a checkout would do with the files does not matter; and files whose names begin with a dot do not count.
    repository.commit(".gitattributes", "unix.txt text eol=crlf\nlarge.bin filter=lfs\nwindows.txt export-ignore\n");
    repository.commit(".github/workflows/ci.yml", "on: push\n");
    registry = repository.served_by(registry);
    assert_eq!(locked(&registry), plain);
    repository.commit("unix.txt", "one\n");
    registry = repository.served_by(registry);
    assert_ne!(locked(&registry), plain);
}

#[cfg(unix)]
#[test]
#[ignore = "long"]
fn links_count_as_their_targets() {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit("real/main.tf", &needs_widget(&registry));
    repository.0.git(["rm", "--quiet", "main.tf"]);
    std::os::unix::fs::symlink("real/main.tf", repository.0.path("main.tf")).unwrap();
    std::os::unix::fs::symlink("nowhere", repository.0.path("broken")).unwrap();
    repository.commit("run.sh", "#!/bin/sh\n");
    repository.0.git(["update-index", "--chmod=+x", "run.sh"]);
    repository.0.git(["commit", "--quiet", "-m", "runs"]);
    let registry = repository.served_by(registry);
    let first = locked(&registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""));
    workspace.tflock(&registry, ["get"]).ended_with(0);
    let installed = workspace.path(".terraform/modules/net");
    assert_eq!(std::fs::read_link(installed.join("main.tf")).unwrap().to_string_lossy(), "real/main.tf");
    assert_eq!(std::fs::read_link(installed.join("broken")).unwrap().to_string_lossy(), "nowhere");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(installed.join("run.sh")).unwrap().permissions());
    assert_eq!(mode & 0o111, 0o111);
    assert_eq!(hash(&workspace), first);
}

/// As the tools fetch them: always, and at the commit that the repository names.
#[test]
#[ignore = "long"]
fn submodules_belong_to_the_package() {
    let (mut registry, repository, inner) = (widget(), Repository::new(), Repository::new());
    let commit = inner.commit("main.tf", &needs_widget(&registry));
    registry = inner.served_as(registry, "inner.git");
    repository.0.write(".gitmodules", "[submodule \"m\"]\n\tpath = mods/m\n\turl = ../inner.git\n");
    repository.0.write("main.tf", "module \"m\" {\n  source = \"./mods/m\"\n}\n");
    repository.0.git(["add", "-A"]);
    repository.0.git(["update-index", "--add", "--cacheinfo", &format!("160000,{commit},mods/m")]);
    repository.0.git(["commit", "--quiet", "-m", "with a submodule"]);
    registry = repository.served_by(registry);
    let first = locked(&registry);
    let workspace = workspace(&registry, "");
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    assert!(workspace.lock_file().contains("/acme/widget\""), "{}", workspace.lock_file());
    workspace.tflock(&registry, ["get"]).ended_with(0);
    assert!(workspace.has(".terraform/modules/net/mods/m/main.tf"));
    // What is new in the submodule is no matter until the repository names it.
    let newer = inner.commit("more.tf", "# more\n");
    registry = inner.served_as(registry, "inner.git");
    assert_eq!(locked(&registry), first);
    repository.0.git(["update-index", "--cacheinfo", &format!("160000,{newer},mods/m")]);
    repository.0.git(["commit", "--quiet", "-m", "newer"]);
    registry = repository.served_by(registry);
    assert_ne!(locked(&registry), first);
}

/// Two calls of one package: the tools copy the second from the first, and leave out what begins with a dot.
#[test]
#[ignore = "long"]
fn second_copies_of_a_package_are_not_accused() {
    let (registry, repository) = (widget(), Repository::new());
    repository.commit(".hidden/x", "x\n");
    repository.commit("main.tf", &needs_widget(&registry));
    let registry = repository.served_by(registry);
    let workspace = workspace(&registry, "");
    let call = workspace.read("main.tf");
    workspace.write("main.tf", &format!("{call}{}", call.replace("\"net\"", "\"twin\"")));
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    assert_eq!(workspace.read(LOCKS).matches("module \"").count(), 1);
    let Some(init) = workspace.terraform(&registry, ["init", "-input=false", "-backend=false"]) else { return };
    init.ended_with(0);
    workspace.tflock(&registry, ["verify"]).ended_with(0);
    workspace.tflock(&registry, ["get"]).ended_with(0);
}

#[test]
fn what_no_hash_covers_is_not_locked() {
    let files = [("main.tf", "module \"h\" {\n  source = \"./.inner\"\n}\n"), (".inner/main.tf", NEEDS_WIDGET)];
    let registry = widget().module("acme/net/lab", "1.0.0", &files);
    let workspace = Workspace::with_files(&[("main.tf", CALL)]);
    workspace.tflock(&registry, LOCK_MODULES).ended_with(0);
    let refused = workspace.tflock(&registry, ["verify"]).ended_with(1);
    assert!(refused.stdout.contains("begins with a dot, which no hash covers"), "{refused}");
    // Locking again would change nothing.
    assert!(
        refused.stdout.contains("keep a copy of it in the repository") && !refused.stdout.contains("tflock lock"),
        "{refused}"
    );
}

#[test]
fn variables_on_which_sources_depend() {
    let registry = super::world();
    let call = CALL.replace("\"~> 1.0\"", "var.wanted").replace("acme/net/lab", "acme/${local.name}/lab");
    let text = format!("variable \"wanted\" {{}}\nlocals {{\n  name = \"net\"\n}}\n{call}");
    let workspace = Workspace::with_files(&[("main.tofu", &text)]);
    let unknown = workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(4);
    assert!(unknown.stderr.contains("because it depends on var.wanted"), "{unknown}");
    assert!(unknown.stderr.contains("`--var wanted=VALUE`"), "{unknown}");
    let unknown = workspace.tflock(&registry, ["why"]).ended_with(4);
    assert!(unknown.stderr.contains("module.net") && unknown.stderr.contains("`--var wanted=VALUE`"), "{unknown}");
    let set = ["lock", "--platform", "linux_amd64", "-var", "wanted=1.0.0", "--lock-modules"];
    workspace.tflock(&registry, set).ended_with(0);
    assert!(workspace.read(LOCKS).contains("version     = \"1.0.0\""));
    workspace.write("set.tfvars", "wanted = \"1.1.0\"\n");
    let file = workspace.path("set.tfvars").display().to_string();
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64", "-var-file", &file]).ended_with(0);
    assert!(workspace.read(LOCKS).contains("version     = \"1.1.0\""));
    let absent = workspace.tflock(&registry, ["lock", "--var-file", "none.tfvars"]).ended_with(2);
    assert!(absent.stderr.contains("cannot read \"none.tfvars\": no such file or directory"), "{absent}");
}

#[test]
fn without_modules_nothing_is_pruned_or_dropped() {
    let (registry, workspace) = (super::world(), Workspace::with_files(&[("main.tf", CALL)]));
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let lock = workspace.lock_file();
    registry.forget_requests();
    let none = ["lock", "--platform", "linux_amd64", "--modules", "none", "--prune"];
    workspace.tflock(&registry, none).ended_with(0);
    assert_eq!(workspace.lock_file(), lock);
    assert!(registry.requests().is_empty());
}

//! Another user of the machine, who can write where many may write, decides nothing: neither which directory is the top of a
//! working tree, nor what is in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::Path;

use crate::support::registry::Registry;
use crate::support::tools::has_second_user;
use crate::support::workspace::{NOBODY, Workspace};
use crate::support::worlds::{LOCK, widget};

const MAIN: &str =
    "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";
const NOTE: &str = "safe.directory";

fn give(path: &Path, user: u32) {
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
    lchown(path, Some(user), Some(user)).unwrap();
}

/// A directory where all may write, and in it a root module without git.
fn shared() -> Workspace {
    let workspace = Workspace::with_files(&[("project/main.tf", MAIN)]);
    fs::set_permissions(workspace.path(""), Permissions::from_mode(0o1777)).unwrap();
    workspace
}

/// Files that the other user puts there.
fn planted(workspace: &Workspace, files: &[(&str, &str)]) {
    for (path, text) in files {
        workspace.write(path, text);
        give(&workspace.path(path), NOBODY);
    }
}

fn lock(workspace: &Workspace, registry: &Registry) -> crate::support::run::Run {
    workspace.tflock(registry, ["-C", "project"].iter().chain(&LOCK))
}

type Plant = fn(&Workspace);

#[test]
fn the_repository_of_another_user_decides_nothing() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let plants: [(&str, Plant); 4] = [
        ("an empty directory", |workspace| fs::create_dir(workspace.path(".git")).unwrap()),
        ("a file", |workspace| workspace.write(".git", "gitdir: elsewhere\n")),
        ("a link to a directory", |workspace| std::os::unix::fs::symlink("project", workspace.path(".git")).unwrap()),
        ("a repository", |workspace| drop(workspace.git(["init", "--quiet"]))),
    ];
    let texts = [
        (".tflock.hcl", "source = \"fs:/evil\"\n"),
        (".tflock.hcl", "not a setting"),
        (".tflock.trust.hcl", "not a trust file"),
        ("project/.tflock.trust.hcl", ""),
    ];
    for (what, plant) in plants {
        for text in texts {
            let workspace = shared();
            plant(&workspace);
            give(&workspace.path(".git"), NOBODY);
            planted(&workspace, &[text]);
            let run = lock(&workspace, &registry).ended_with(0);
            assert!(run.stderr.contains(NOTE) && run.stderr.contains("65534"), "{what} {text:?}: {run}");
            assert_eq!(run.stderr.matches(NOTE).count(), 1, "{what}: {run}");
            assert!(!run.stderr.contains("mirror"), "{what}: {run}");
            assert!(workspace.has("project/.tflock.trust.hcl"), "{what}: {run}");
            for command in [&["install", "--platform=linux_amd64"][..], &["verify"], &["list"], &["status"]] {
                let run = workspace.tflock(&registry, [&["-C", "project"], command].concat()).ended_with(0);
                assert!(run.stderr.contains(NOTE), "{what} {command:?}: {run}");
            }
            // Git would refuse as well.
            let base = workspace.tflock(&registry, ["-C", "project", "verify", "--base", "HEAD"]).ended_with(2);
            assert!(base.stderr.contains(NOTE), "{what}: {base}");
        }
    }
}

/// What is ours above it decides, as ever: the search does not go on beyond the other user's.
#[test]
fn nor_does_it_open_the_way_to_one_above() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let workspace = shared();
    workspace.git(["init", "--quiet"]);
    workspace.write(".tflock.hcl", "platforms = [\"darwin_arm64\"]\n");
    let run = workspace.tflock(&registry, ["-C", "project", "lock"]).ended_with(0);
    assert!(!run.stderr.contains(NOTE), "{run}");
    assert!(workspace.has(".tflock.trust.hcl"));
    fs::create_dir(workspace.path("project/.git")).unwrap();
    give(&workspace.path("project/.git"), NOBODY);
    let run = lock(&workspace, &registry).ended_with(0);
    assert!(run.stderr.contains(NOTE) && workspace.has("project/.tflock.trust.hcl"), "{run}");
}

/// A checkout of another user, as containers have it: with `safe.directory` all is as in one's own, without it the root module is
/// on its own.
#[test]
fn a_checkout_of_another_user_is_used_where_git_uses_it() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let checkout = |owner: u32| {
        let workspace = Workspace::with_files(&[
            ("live/a/main.tf", MAIN),
            (".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n"),
        ]);
        workspace.git(["init", "--quiet"]);
        workspace.tflock(&registry, ["-C", "live/a", "lock", "--platform", "linux_amd64"]).ended_with(0);
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--message", "all"]);
        give(&workspace.path(""), owner);
        if owner == NOBODY { workspace } else { workspace.by_another_user() }
    };
    for owner in [0, NOBODY] {
        let top = |workspace: &Workspace| fs::canonicalize(workspace.path("")).unwrap().display().to_string();
        let verify = |workspace: &Workspace, more: &[&str]| {
            workspace.tflock(&registry, [&["-C", "live/a", "verify"], more].concat())
        };
        let workspace = checkout(owner);
        // Without the settings at the top no other platform is wanted.
        let run = verify(&workspace, &[]).ended_with(0);
        assert_eq!(run.stderr.matches(NOTE).count(), 1, "{owner}: {run}");
        let run = verify(&workspace, &["--base", "HEAD"]).ended_with(2);
        assert!(run.stderr.contains("safe.directory") && run.stderr.contains(&top(&workspace)), "{owner}: {run}");
        let safe = top(&workspace);
        let home = format!("[safe]\n\tdirectory = {safe}\n");
        for text in [&*home, "[safe]\n\tdirectory = *\n"] {
            let workspace_home = workspace.path("").with_file_name("home");
            fs::write(workspace_home.join(".gitconfig"), text).unwrap();
            let run = verify(&workspace, &[]).ended_with(1);
            assert!(run.stdout.contains("darwin_arm64") && !run.stderr.contains(NOTE), "{owner}: {run}");
            verify(&workspace, &["--base", "HEAD"]).ended_with(0);
            fs::remove_file(workspace_home.join(".gitconfig")).unwrap();
        }
        // As actions and images pass it on.
        let workspace = workspace
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", &safe);
        let run = verify(&workspace, &[]).ended_with(1);
        assert!(!run.stderr.contains(NOTE), "{owner}: {run}");
        // No configuration of the tree itself.
        let workspace = checkout(owner);
        let text = workspace.read(".git/config");
        workspace.write(".git/config", &format!("{text}{home}"));
        let run = verify(&workspace, &[]).ended_with(0);
        assert!(run.stderr.contains(NOTE), "{owner}: {run}");
    }
    // `sudo` keeps the working tree of the user who called it.
    let workspace = checkout(NOBODY).env("SUDO_UID", "65534");
    let run = workspace.tflock(&registry, ["-C", "live/a", "verify"]).ended_with(1);
    assert!(run.stdout.contains("darwin_arm64") && !run.stderr.contains(NOTE), "{run}");
}

/// A link or a cache in a tree of another user is no better than one in our own.
#[test]
fn what_is_refused_in_a_working_tree_is_refused_in_that_of_another_user() {
    if !has_second_user() {
        return;
    }
    let registry = widget();
    let workspace = Workspace::with_files(&[("main.tf", MAIN)]).env("TFLOCK_CACHE_DIR", ".cache");
    workspace.git(["init", "--quiet"]);
    fs::create_dir(workspace.path("real")).unwrap();
    fs::write(workspace.path("").with_file_name("outside.tf"), "locals {}\n").unwrap();
    std::os::unix::fs::symlink("../outside.tf", workspace.path("more.tf")).unwrap();
    give(&workspace.path(""), NOBODY);
    let run = workspace.tflock(&registry, LOCK).ended_with(2);
    assert!(run.stderr.contains("leads out of the git working tree"), "{run}");
    fs::remove_file(workspace.path("more.tf")).unwrap();
    let run = workspace.tflock(&registry, LOCK).ended_with(0);
    assert!(run.stderr.contains("no cache is used") && !workspace.has(".cache"), "{run}");
}

//! Work trees within work trees: submodules that a pull request makes, and clones that merely lie there.

use super::sight::{denies, evil, submodule};
use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{commit, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// The gate of one directory.
fn gate_of(workspace: &Workspace, registry: &Registry, directory: &str) -> Run {
    workspace.tflock(registry, ["-C", directory, "verify", "--base", "origin/main", "--offline", "--format", "json"])
}

#[test]
fn the_history_of_a_submodule_proves_nothing() {
    let registry = honest();
    let workspace = repository(&registry);
    evil(&workspace, "app");
    submodule(&workspace, "app");
    commit(&workspace, "harmless");
    for args in [&["-C", "app", "verify"][..], &["-C", "app", "verify", "-r"]] {
        let args = args.iter().chain(&["--base", "origin/main", "--offline", "--format", "json"]);
        let run = workspace.tflock(&registry, args).ended_with(3);
        assert!(denies(&run, "root-module-moved-out"), "{run}");
    }
}

/// Its own history proves nothing if the outer one is unknown.
#[test]
fn an_unknown_outer_base_is_an_error() {
    let registry = honest();
    let workspace = repository(&registry);
    evil(&workspace, "app");
    submodule(&workspace, "app");
    commit(&workspace, "harmless");
    workspace.git(["tag", "origin/main"]);
    let run = gate_of(&workspace, &registry, "app").ended_with(2);
    assert!(run.stdout.contains("refs/tags/origin/main"), "{run}");
    // Nor where it is not in this clone.
    workspace.git(["tag", "-d", "origin/main"]);
    workspace.git(["update-ref", "-d", "refs/remotes/origin/main"]);
    let run = gate_of(&workspace, &registry, "app").ended_with(2);
    assert!(run.stdout.contains("origin/main") && !run.stdout.contains("refs/tags/"), "{run}");
}

#[test]
fn a_submodule_of_a_submodule_is_judged_from_the_outermost_one() {
    let registry = honest();
    let workspace = repository(&registry);
    for name in ["main.tf", LOCK] {
        workspace.write(&format!("app/deep/{name}"), &workspace.read(&format!("app/{name}")));
    }
    commit(&workspace, "deep");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    gate_of(&workspace, &registry, "app/deep").ended_with(0);
    evil(&workspace, "app/deep");
    submodule(&workspace, "app/deep");
    submodule(&workspace, "app");
    commit(&workspace, "harmless");
    let run = gate_of(&workspace, &registry, "app/deep").ended_with(3);
    assert!(denies(&run, "root-module-moved-out"), "{run}");
    workspace.git(["tag", "origin/main"]);
    gate_of(&workspace, &registry, "app/deep").ended_with(2);
}

#[test]
fn a_clone_inside_another_clone_is_judged_by_itself() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["clone", "--quiet", ".", "vendored"]);
    workspace.write(".gitignore", "vendored\n");
    workspace.git(["update-ref", "-d", "refs/remotes/origin/main"]);
    gate_of(&workspace, &registry, "vendored/app").ended_with(0);
    evil(&workspace, "vendored/app");
    let run = gate_of(&workspace, &registry, "vendored/app").ended_with(3);
    assert!(denies(&run, "hashes-dropped"), "{run}");
}

/// A submodule that was there before has a gate of its own; what it says is not taken for that of the repository around it.
#[test]
fn root_modules_of_submodules_are_named_and_not_judged() {
    let registry = honest();
    let workspace = repository(&registry);
    submodule(&workspace, "app");
    commit(&workspace, "submodule");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    evil(&workspace, "app");
    workspace.write("other/more.tf", "# more\n");
    let run = workspace.tflock(&registry, ["verify", "-r", "--base", "origin/main", "--offline"]).ended_with(0);
    assert!(run.stderr.contains("which have their own gate: app"), "{run}");
    assert!(run.stdout.contains("1 root module: 1 passed"), "{run}");
    // Where nothing else was to be judged, nothing passes.
    for more in [&[][..], &["-r"]] {
        let args = ["-C", "app", "verify", "--base", "origin/main", "--offline"];
        let run = workspace.tflock(&registry, args.iter().chain(more)).ended_with(2);
        assert!(run.stderr.contains("which has its own gate"), "{run}");
    }
    // A new commit of it is the owner's to approve, be there root modules in it or not.
    workspace.git(["-C", "app", "commit", "--quiet", "--all", "--message", "evil"]);
    workspace.git(["add", "app"]);
    let run = workspace.tflock(&registry, ["verify", "-r", "--base", "origin/main", "--offline"]).ended_with(3);
    assert!(run.stdout.contains("denied[link-changed]"), "{run}");
    let args = ["verify", "-r", "--base", "origin/main", "--offline", "--allow-trust-change"];
    workspace.tflock(&registry, args).ended_with(0);
}

/// No index may be in a tree that a pull request can change, even the outer working tree of a submodule.
#[test]
fn an_index_in_the_work_tree_around_a_submodule_is_refused() {
    let registry = honest();
    let workspace = repository(&registry);
    let index = workspace.path("index").display().to_string();
    workspace.write("app/.tflock.hcl", &format!("index \"team\" {{\n  url = \"file://{index}\"\n}}\n"));
    submodule(&workspace, "app");
    let run = workspace.tflock(&registry, ["-C", "app", "verify", "--offline"]).ended_with(2);
    assert!(run.stderr.contains("is inside the working tree"), "{run}");
}

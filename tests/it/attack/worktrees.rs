//! Working trees that are not the whole commit, or not the only one of their repository.

use super::sight::{denies, evil};
use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{GATE, commit, edit, repository};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// A repository whose pull request takes a hash from the lock file of `app`, of which only `other` is checked out.
fn sparse(registry: &Registry) -> Workspace {
    let workspace = repository(registry);
    evil(&workspace, "app");
    commit(&workspace, "harmless");
    workspace.git(["sparse-checkout", "set", "--cone", "other"]);
    assert!(!workspace.has("app"));
    workspace
}

fn gate(workspace: &Workspace, registry: &Registry, before: &[&str], after: &[&str]) -> Run {
    let args = before.iter().chain(&GATE).chain(&["--offline"]).chain(after);
    workspace.tflock(registry, args)
}

#[test]
fn what_a_sparse_checkout_leaves_out_does_not_pass() {
    let registry = honest();
    let workspace = sparse(&registry);
    let run = gate(&workspace, &registry, &[], &["-r"]).ended_with(2);
    assert!(run.stderr.contains("error: cannot judge app/.terraform.lock.hcl, which changed"), "{run}");
    assert!(run.stderr.contains("`git sparse-checkout disable`"), "{run}");
    // Who judges one part does not judge the others.
    gate(&workspace, &registry, &["-C", "other"], &["-r"]).ended_with(0);
    gate(&workspace, &registry, &["-C", "other"], &[]).ended_with(0);
    workspace.git(["sparse-checkout", "disable"]);
    let run = gate(&workspace, &registry, &[], &["-r", "--format", "json"]).ended_with(3);
    assert!(denies(&run, "hashes-dropped"), "{run}");
}

#[test]
fn what_is_left_out_and_the_same_passes() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("app/notes.txt", "not read");
    commit(&workspace, "notes");
    workspace.git(["sparse-checkout", "set", "--cone", "other"]);
    gate(&workspace, &registry, &[], &["-r"]).ended_with(0);
}

#[test]
fn a_new_root_module_that_is_left_out_does_not_pass() {
    let registry = honest();
    let workspace = repository(&registry);
    for name in ["main.tf", LOCK] {
        workspace.write(&format!("new/{name}"), &workspace.read(&format!("app/{name}")));
    }
    commit(&workspace, "new");
    workspace.git(["sparse-checkout", "set", "--cone", "app"]);
    let run = gate(&workspace, &registry, &[], &["-r"]).ended_with(2);
    assert!(run.stderr.contains("new/.terraform.lock.hcl and 1 more, which changed"), "{run}");
}

/// A single file can be left out too, in a directory that is there.
#[test]
fn a_file_that_is_marked_as_left_out_does_not_pass() {
    let registry = honest();
    let workspace = repository(&registry);
    edit(&workspace, "app/main.tf", |text| text.replace("acme/widget", "acme/gadget"));
    commit(&workspace, "harmless");
    workspace.git(["update-index", "--skip-worktree", "app/main.tf"]);
    std::fs::remove_file(workspace.path("app/main.tf")).unwrap();
    let run = gate(&workspace, &registry, &["-C", "app"], &[]).ended_with(2);
    assert!(run.stderr.contains("cannot judge app/main.tf, which changed"), "{run}");
    // The command of the hint brings it back.
    workspace.git(["sparse-checkout", "disable"]);
    assert!(workspace.has("app/main.tf"));
    // One that is there is judged as it is.
    evil(&workspace, "app");
    workspace.git(["update-index", "--skip-worktree", &format!("app/{LOCK}")]);
    let run = gate(&workspace, &registry, &["-C", "app"], &["--format", "json"]).ended_with(3);
    assert!(denies(&run, "hashes-dropped"), "{run}");
}

#[test]
fn a_diff_shows_what_a_sparse_checkout_leaves_out() {
    let registry = honest();
    let workspace = sparse(&registry);
    let run = workspace.tflock(&registry, ["diff", "-r", "origin/main"]).ended_with(0);
    assert!(run.stdout.contains("1 checksum of contents (h1) removed"), "{run}");
    let whole = workspace.tflock(&registry, ["diff", "-r", "origin/main..HEAD"]).ended_with(0);
    // The second line names what is compared.
    let lines = |run: &Run| -> Vec<String> {
        run.stdout.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line.to_owned()).collect()
    };
    assert_eq!(lines(&run), lines(&whole), "{run}");
}

#[test]
fn a_linked_working_tree_is_judged_as_any_other() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.git(["worktree", "add", "--quiet", "--detach", "linked", "origin/main"]);
    let linked = |directory: &str, args: &[&str]| gate(&workspace, &registry, &["-C", directory], args);
    for (directory, more) in [("linked", "-r"), ("linked/app", "-v")] {
        linked(directory, &[more]).ended_with(0);
    }
    evil(&workspace, "linked/app");
    for (directory, more) in [("linked", "-r"), ("linked/app", "-v")] {
        let run = linked(directory, &[more, "--format", "json"]).ended_with(3);
        assert!(denies(&run, "hashes-dropped"), "{run}");
        let run = workspace.tflock(&registry, ["-C", directory, "diff", "origin/main"]).ended_with(0);
        assert!(run.stdout.contains("acme/"), "{run}");
    }
    // Not seen from the outer one, where it is untracked and a repository of its own.
    gate(&workspace, &registry, &[], &["-r"]).ended_with(0);
}

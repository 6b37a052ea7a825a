//! A lock file with values that no tool writes: one text, and perhaps two readings.

use crate::support::proposal::commit;
use crate::support::workspace::Workspace;

const GOOD: &str = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\nprovider \"registry.terraform.io/acme/widget\" {\n  version = \"1.4.0\"\n  hashes = [\n    \"h1:Hut/bmRuZUPxF4D1Rg5Ma1n8wckaOIR9xOMXoYimSRw=\",\n  ]\n}\n";

fn evil() -> String {
    GOOD.replace("\"1.4.0\"", "0.1 + 0.2 == 0.3 ? \"1.4.1\" : \"1.4.0\"")
}

/// A repository in which the good file is committed, and the evil one lies in the work tree.
fn repository() -> Workspace {
    let workspace = Workspace::with_files(&[("prod/.terraform.lock.hcl", GOOD), ("prod/main.tf", "")]);
    workspace.git(["init", "--quiet", "--initial-branch=main"]);
    commit(&workspace, "good");
    workspace.write("prod/.terraform.lock.hcl", &evil());
    workspace
}

#[test]
fn it_is_refused_with_the_command_that_restores_it() {
    let workspace = repository();
    for command in [["-C", "prod", "fmt"], ["-C", "prod", "lock"], ["-C", "prod", "list"]] {
        let run = workspace.tflock(None, command).ended_with(3);
        assert!(run.stderr.contains("git -C prod checkout HEAD -- .terraform.lock.hcl"), "{run}");
        assert_eq!(workspace.read("prod/.terraform.lock.hcl"), evil());
    }
    insta::assert_snapshot!("not_literal_fmt", workspace.tflock(None, ["-C", "prod", "fmt"]));
    commit(&workspace, "evil");
    let run = workspace.tflock(None, ["-C", "prod", "fmt"]).ended_with(3);
    assert!(run.stderr.contains("git -C prod log --oneline -- .terraform.lock.hcl"), "{run}");
}

#[test]
fn verify_denies_it_and_diff_is_loud() {
    let workspace = repository();
    let run = workspace.tflock(None, ["-C", "prod", "verify", "--offline"]).ended_with(3);
    assert!(run.to_string().contains("lock-not-literal"), "{run}");
    insta::assert_snapshot!("not_literal_diff", workspace.tflock(None, ["diff", "-r", "--exit-code"]).ended_with(3));
}

#[test]
fn merge_takes_no_such_side() {
    let workspace = Workspace::with_files(&[("base", GOOD), ("ours", GOOD), ("theirs", &evil())]);
    let run = workspace.tflock(None, ["merge", "base", "ours", "theirs", "7", ".terraform.lock.hcl"]).ended_with(3);
    assert!(run.stderr.contains("git checkout --ours -- .terraform.lock.hcl"), "{run}");
    assert_eq!(workspace.read("ours"), GOOD);
    let conflict = format!("<<<<<<< a\n{GOOD}=======\n{}>>>>>>> b\n", evil());
    workspace.write(".terraform.lock.hcl", &conflict);
    workspace.tflock(None, ["merge", "--resolve", ".terraform.lock.hcl"]).ended_with(3);
    assert_eq!(workspace.lock_file(), conflict);
}

//! Lock files that Git ignores: no clone has them, so they count as missing, and every command that finds no other says so. And runs
//! that looked at no lock file, which never pass.

use crate::support::locked::{LOCK, MAIN, honest};
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{LOCK_BOTH, PLATFORMS};

const BACKEND: &str = "terraform {\n  backend \"s3\" {\n  }\n}\n";
const BASE: [&str; 4] = ["verify", "-r", "--base", "HEAD"];

/// Two modules with examples, in a repository.
fn modules(registry: &Registry, ignored: &str) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let files = [("a/main.tf", &*main), ("b/main.tf", &main), (".gitignore", ignored)];
    let workspace = Workspace::with_files(&files);
    workspace.git(["init", "--quiet"]);
    workspace
}

fn lock_in(workspace: &Workspace, registry: &Registry, directory: &str) -> Run {
    workspace.tflock(registry, ["-C", directory].into_iter().chain(LOCK_BOTH)).ended_with(0)
}

#[test]
#[ignore = "long"]
fn every_command_that_finds_no_other_names_the_rule_and_both_ways_on() {
    let registry = honest();
    let workspace = modules(&registry, "*.zip\n.terraform.lock.hcl\n");
    let commands: [&[&str]; 8] = [
        &["verify", "-r"],
        &["verify"],
        &["status"],
        &["list", "-r"],
        &["outdated", "-r"],
        &["install", "-r"],
        &["lock", "-r", "--check"],
        &["lock", "-r", "--create"],
    ];
    for exists in [false, true] {
        for args in commands {
            let run = workspace.tflock(&registry, args).ended_with(2);
            assert!(run.stderr.contains(&format!("such as a/{LOCK} (.gitignore:2)")), "{run}");
            assert!(run.stderr.contains("2 lock files"), "{run}");
            assert!(run.stderr.contains("take that line out"), "{run}");
            assert!(run.stderr.contains("a reusable module needs no lock file"), "{run}");
            assert!(!run.stderr.contains("--create"), "{run}");
        }
        assert_eq!(workspace.has(&format!("a/{LOCK}")), exists);
        for root in ["a", "b"] {
            let run = lock_in(&workspace, &registry, root);
            assert!(exists || run.stderr.contains(".gitignore:2"), "{run}");
            assert!(!run.stdout.contains(&format!("commit {root}/")), "{run}");
        }
    }
    // Where the line is gone, both are there.
    workspace.write(".gitignore", "*.zip\n");
    workspace.tflock(&registry, ["verify", "-r"]).ended_with(0);
}

/// A pattern may be the user's own, and may take files back in.
#[test]
fn the_rule_that_decides_is_named() {
    let registry = honest();
    let workspace = modules(&registry, "*.hcl\n!a/.terraform.lock.hcl\n");
    workspace.write("../home/ignore", "main.txt\n.terraform.lock.hcl\n");
    let excludes = workspace.path("../home/ignore").canonicalize().unwrap();
    let run = workspace.tflock(&registry, ["lock", "-r", "--create", "--platform", PLATFORMS[0]]).ended_with(0);
    assert!(workspace.has(&format!("a/{LOCK}")) && !workspace.has(&format!("b/{LOCK}")), "{run}");
    assert!(run.stderr.contains(&format!("not created: Git would ignore b/{LOCK} (.gitignore:1)")), "{run}");
    workspace.write(".gitignore", "");
    workspace.git(["config", "core.excludesFile", excludes.to_str().unwrap()]);
    let run = workspace.tflock_in("b", &registry, ["lock", "-r", "--create"]).ended_with(2);
    assert!(run.stderr.contains(&format!("{}:2", excludes.display())), "{run}");
}

/// What runs needs one, whoever has it on a disk.
#[test]
fn a_root_module_with_a_backend_lacks_it_here_and_in_a_clone() {
    let registry = honest();
    let workspace = modules(&registry, ".terraform.lock.hcl\n");
    workspace.write("a/backend.tf", BACKEND);
    commit(&workspace, "main");
    lock_in(&workspace, &registry, "a");
    for args in [&["verify", "-r"][..], &BASE, &["-C", "a", "verify", "--base", "HEAD"]] {
        let run = workspace.tflock(&registry, args.iter().chain(&["--format", "json"])).ended_with(1);
        assert!(run.stdout.contains("lock-file-missing") && run.stdout.contains("(.gitignore:1)"), "{run}");
        assert_eq!(run.json()["verdict"], "refused");
    }
    std::fs::remove_file(workspace.path(&format!("a/{LOCK}"))).unwrap();
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(1);
    assert!(run.stdout.contains("(.gitignore:1)"), "{run}");
}

#[test]
fn generated_root_modules_in_ignored_directories_are_named() {
    let registry = honest();
    let workspace = Workspace::with_files(&[(".gitignore", "node_modules\ncdktf.out\n"), ("main.ts", "")]);
    workspace.git(["init", "--quiet"]);
    for stack in ["one", "two"] {
        workspace.write(&format!("cdktf.out/stacks/{stack}/cdk.tf.json"), "{}");
    }
    let run = workspace.tflock(&registry, ["verify", "-r"]).ended_with(2);
    assert!(run.stderr.contains("2 directories with root modules"), "{run}");
    assert!(run.stderr.contains("-C cdktf.out/stacks/one") && run.stderr.contains("(.gitignore:2)"), "{run}");
    commit(&workspace, "main");
    let run = workspace.tflock(&registry, BASE).ended_with(0);
    assert!(run.stdout.starts_with("nothing to check: ") && run.stdout.contains("cdktf.out"), "{run}");
}

/// In each format, with the reason; a workflow that many repositories share does not fail.
#[test]
#[ignore = "long"]
fn nothing_to_check_is_not_passed() {
    let registry = honest();
    let empty = Workspace::with_files(&[("README.md", "")]);
    let bare = Workspace::with_files(&[("main.tf", "output \"x\" {\n  value = 1\n}\n")]);
    let ignored = modules(&registry, ".terraform.lock.hcl\n");
    for workspace in [&empty, &bare, &ignored] {
        if !workspace.has(".git") {
            workspace.git(["init", "--quiet"]);
        }
        commit(workspace, "main");
        for format in ["human", "json", "markdown", "html", "github", "gitlab", "sarif"] {
            let run = workspace.tflock(&registry, BASE.into_iter().chain(["--format", format])).ended_with(0);
            let said = run.stdout.to_lowercase();
            assert!(!said.contains("passed"), "{run}");
            // The others have findings alone.
            if !["gitlab", "sarif"].contains(&format) {
                assert!(said.contains("nothing to check") && said.contains("lock file"), "{run}");
            }
        }
        let run = workspace.tflock(&registry, ["verify", "-r", "--format", "json"]).ended_with(2);
        assert_eq!(
            (&run.json()["verdict"], &run.json()["exit_code"]),
            (&"nothing to check".into(), &2.into()),
            "{run}"
        );
    }
    let run = bare.tflock(&registry, ["verify"]).ended_with(2);
    assert_eq!(run.stdout.lines().count(), 1, "{run}");
    assert!(run.stdout.starts_with("nothing to check: "), "{run}");
    // What did not change was looked at.
    ignored.write(".gitignore", "");
    lock_in(&ignored, &registry, "a");
    commit(&ignored, "locked");
    let run = ignored.tflock(&registry, BASE.into_iter().chain(["--format", "json"])).ended_with(0);
    assert_eq!(run.json()["verdict"], "passed");
}

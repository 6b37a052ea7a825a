//! The hooks, run by pre-commit on a sample repository.
#![cfg(unix)]

use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::{TRUST, commit, edit};
use crate::support::tools::found;
use crate::support::workspace::{TFLOCK, Workspace};
use crate::support::yaml::document;

const HOOKS: &str = ".pre-commit-hooks.yaml";

/// A repository with our hooks next to `work`, as pre-commit clones it, and its revision.
fn hooks(workspace: &Workspace) -> String {
    workspace.write(
        &format!("../hooks/{HOOKS}"),
        &std::fs::read_to_string(format!("{}/{HOOKS}", env!("CARGO_MANIFEST_DIR"))).unwrap(),
    );
    workspace.git(["-C", "../hooks", "init", "--quiet"]);
    workspace.git(["-C", "../hooks", "add", "--all"]);
    workspace.git(["-C", "../hooks", "commit", "--quiet", "--message", "hooks"]);
    workspace.git(["-C", "../hooks", "rev-parse", "HEAD"]).stdout.trim().to_owned()
}

#[test]
fn hooks_complete_check_and_format() {
    let Some(program) = found("pre-commit") else { return };
    let registry = honest();
    let workspace = Workspace::with_files(&[("app/main.tf", &MAIN.replace("{{registry}}", &registry.host()))]);
    let good = locked(&registry).lock_file();
    workspace.write(&format!("app/{LOCK}"), &good);
    workspace.write(".tflock.hcl", "platforms = [\"darwin_arm64\", \"linux_amd64\"]\n");
    workspace.git(["init", "--quiet"]);
    let revision = hooks(&workspace);
    let ids = ["tflock-fmt", "tflock-lock", "tflock-verify"];
    let listed: String = ids.map(|id| format!("      - id: {id}\n")).concat();
    let repository = workspace.path("../hooks").canonicalize().unwrap().display().to_string();
    let config = format!("repos:\n  - repo: {repository}\n    rev: {revision}\n    hooks:\n{listed}");
    workspace.write(".pre-commit-config.yaml", &config);
    std::fs::create_dir(workspace.path("../bin")).unwrap();
    std::os::unix::fs::symlink(TFLOCK, workspace.path("../bin/tflock")).unwrap();
    let bin = workspace.path("../bin").canonicalize().unwrap().display().to_string();
    let workspace = workspace.env("PATH", &format!("{bin}:/usr/bin:/bin"));
    commit(&workspace, "main");
    let run = || workspace.program(&program, &registry, ["run", "--all-files", "--color", "never"]);
    let names = ["format the", "complete the", "verify the"];
    let verdicts =
        |text: &str| names.map(|name| text.lines().any(|line| line.starts_with(name) && line.ends_with("Passed")));
    // The first run remembers signers, and says so although nothing that git tracks has changed.
    let first = run().ended_with(0);
    assert!(first.stdout.contains("review and commit .tflock.trust.hcl") && workspace.has(TRUST), "{first}");
    commit(&workspace, "pins");
    assert_eq!(verdicts(&run().ended_with(0).stdout), [true; 3]);
    // Carelessly merged: formatted, completed and green again.
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("  version = ", "  version= "));
    let run_two = run().ended_with(1);
    assert_eq!(verdicts(&run_two.stdout), [false, true, true], "{run_two}");
    assert_eq!(workspace.read(&format!("app/{LOCK}")), good);
    // What no hook can fix is refused.
    edit(&workspace, &format!("app/{LOCK}"), |text| text.replace("\"2.0.0\"", "\"3.0.0\""));
    let refused = run().ended_with(1);
    assert!(!verdicts(&refused.stdout)[1], "{refused}");
}

#[test]
fn hooks_are_about_the_whole_repository() {
    let hooks = document(HOOKS);
    let ids: Vec<_> = hooks.as_array().unwrap().iter().map(|hook| hook["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["tflock-lock", "tflock-verify", "tflock-fmt"]);
    for hook in hooks.as_array().unwrap() {
        assert_eq!(hook["pass_filenames"], "false");
        assert_eq!(hook["require_serial"], "true");
    }
}

//! What `diff -r` reads of git does not grow with the root modules whose constraints changed.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;

use crate::support::workspace::Workspace;

const LOCK: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version     = "1.4.0"
  constraints = "~> 1.CONSTRAINT"
  hashes = [
    "h1:2ADzNNH1Yx9ZlVzA3C4Q8p0FLlvJYMr7QdoT4zY0lXg=",
  ]
}
"#;

const MAIN: &str = "terraform {\n  required_providers {\n    widget = {\n      source  = \"acme/widget\"\n      version = \"~> 1.CONSTRAINT\"\n    }\n  }\n}\n";

/// The commands of git that a `diff -r` runs over so many root modules whose constraints all changed.
fn commands_of_git(roots: usize) -> Vec<String> {
    let workspace = Workspace::with_files(&[]);
    workspace.git(["init", "--quiet"]);
    for constraint in ["2", "3"] {
        for root in 0..roots {
            workspace.write(&format!("r{root}/main.tf"), &MAIN.replace("CONSTRAINT", constraint));
            workspace.write(&format!("r{root}/.terraform.lock.hcl"), &LOCK.replace("CONSTRAINT", constraint));
        }
        workspace.git(["add", "."]);
        workspace.git(["commit", "--quiet", "--message", constraint]);
    }
    let bin = crate::support::tempdir();
    let (git, log) = (bin.path().join("git"), bin.path().join("log"));
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec /usr/bin/git \"$@\"\n", log.display());
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = workspace.env("PATH", &format!("{}:/usr/bin:/bin", bin.path().display()));
    let run = workspace.tflock(None, ["diff", "-r", "-v", "HEAD~1..HEAD"]).ended_with(0);
    assert!(run.stdout.contains("~> 1.3"), "{run}");
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn git_is_started_as_often_for_many_root_modules_as_for_few() {
    let (few, many) = (commands_of_git(2), commands_of_git(12));
    assert_eq!(few.len(), many.len(), "{few:#?} {many:#?}");
    let reads = |commands: &[String]| commands.iter().filter(|command| command.contains("cat-file")).count();
    assert!(reads(&many) <= 3, "{many:#?}");
}

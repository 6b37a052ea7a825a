//! Files of patterns, which git and the search for root modules read by their names.

use std::process::Stdio;

use super::honest;
use crate::support::proposal::repository;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// Puts at a place what is no file of patterns.
fn put(workspace: &Workspace, path: &str, kind: &str) {
    let place = workspace.path(path);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    let link = |target: &str| std::os::unix::fs::symlink(target, &place).unwrap();
    match kind {
        "zero" => link("/dev/zero"),
        "stdin" => link("/dev/stdin"),
        "pipe" => assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success()),
        _ => std::fs::File::create(&place).unwrap().set_len(1 << 27).unwrap(),
    }
}

/// The exit code of a run that may use 4 GiB.
fn code(workspace: &Workspace, registry: &Registry, args: &[&str]) -> Option<i32> {
    let script = format!("ulimit -v 4000000; exec {} {}", env!("CARGO_BIN_EXE_tflock"), args.join(" "));
    let mut shell = workspace.command("/bin/sh".as_ref(), registry, ["-c", &script]);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Standard input stays open, as on a terminal.
    let _open = shell.stdin.take();
    shell.wait().unwrap().code()
}

#[test]
#[ignore = "long"]
fn what_is_no_file_of_patterns_stops_nothing() {
    let registry = honest();
    let commands: [&[&str]; 2] = [&["verify", "-r", "--offline", "--base", "origin/main"], &["status"]];
    let workspace = repository(&registry);
    let expected = commands.map(|args| code(&workspace, &registry, args));
    for path in [".gitignore", "app/.gitignore", ".git/info/exclude"] {
        for kind in ["zero", "stdin", "pipe", "large"] {
            put(&workspace, path, kind);
            assert_eq!(commands.map(|args| code(&workspace, &registry, args)), expected, "{path} {kind}");
            std::fs::remove_file(workspace.path(path)).unwrap();
        }
    }
}

/// As git sees it: the search and the gate find the same files.
#[test]
fn patterns_count_for_what_is_not_tracked() {
    let registry = honest();
    let workspace = repository(&registry);
    for place in ["new", "hidden"] {
        workspace.write(&format!("{place}/main.tf"), &workspace.read("app/main.tf"));
        workspace.write(&format!("{place}/.terraform.lock.hcl"), "");
    }
    workspace.write(".gitignore", "hidden/\n/app\n");
    let gate = ["verify", "-r", "--offline", "--base", "origin/main", "--format", "json"];
    let roots = |workspace: &Workspace| -> Vec<String> {
        let json = workspace.tflock(&registry, gate).json();
        let roots = json["roots"].as_array().unwrap().iter();
        roots.map(|root| root["path"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let found = roots(&workspace);
    assert!(found.iter().any(|path| path == "new") && !found.iter().any(|path| path == "hidden"), "{found:?}");
    // What the user ignores everywhere.
    let excludes = workspace.path("../home/excludes");
    std::fs::write(&excludes, "new\n").unwrap();
    workspace.git(["config", "core.excludesFile", excludes.to_str().unwrap()]);
    let args = ["diff", "-r", "--format", "json"];
    assert!(!workspace.tflock(&registry, args).stdout.contains("\"new"), "{}", workspace.tflock(&registry, args));
}

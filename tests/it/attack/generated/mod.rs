//! Generated pull requests, with `terraform` as the judge of what each would install.
//!
//! Whatever a pull request does to files, links, names, headers, expressions and tests: if the gate passes it, then `init
//! -lockfile=readonly` of every root module that is there ends with packages that main recorded, or with releases that its
//! settings allow and its pins accept; or it refuses. `TFLOCK_TEST_PROGRAM` is another program than the one of this build.
#![cfg(unix)]

mod proposal;

use std::path::{Path, PathBuf};

use proposal::Proposal;

use crate::support::dice::Dice;
use crate::support::extent::Extent;
use crate::support::keys;
use crate::support::locked::{LOCK, block};
use crate::support::proposal::{GATE, SETTINGS, TRUST, commit, pin};
use crate::support::registry::Registry;
use crate::support::workspace::{TFLOCK, Workspace};

/// Platforms of developers' machines, so `init` finds its own.
const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];

/// What nothing may install: signed by a key that is not pinned, banned, or of a provider that no lock file has.
const FORBIDDEN: [&str; 4] = ["acme/widget/1.4.1", "acme/widget/1.4.2", "acme/evil/", "evil/gadget/"];

fn registry() -> Registry {
    let registry = ["1.4.0", "1.4.3", "1.4.2"]
        .into_iter()
        .fold(Registry::start(), |it, version| it.release("acme/widget", version, &HERE));
    let registry = registry.release("acme/widget", "1.4.1", &HERE).signed_by(keys::OTHER);
    let registry = registry.release("acme/gadget", "2.0.0", &HERE).release("acme/gadget", "2.0.1", &HERE);
    registry.release("acme/evil", "1.0.0", &HERE).signed_by(keys::OTHER).release("evil/gadget", "1.0.0", &HERE)
}

/// The hashes of a release for all platforms.
fn all(registry: &Registry, provider: &str, version: &str) -> Vec<String> {
    let packages = HERE.iter().map(|platform| registry.package(provider, version, platform));
    let mut hashes: Vec<String> = packages.flat_map(|package| [package.zh(), package.h1]).collect();
    hashes.sort();
    hashes
}

fn entry(registry: &Registry, provider: &str, version: &str, constraints: &str) -> String {
    let head = if constraints.is_empty() {
        format!("  version = \"{version}\"\n")
    } else {
        format!("  version     = \"{version}\"\n  constraints = \"{constraints}\"\n")
    };
    block(registry, provider, &head, &all(registry, provider, version))
}

/// The block that requires some providers: local name, provider, constraint.
fn require(registry: &Registry, providers: &[(&str, &str, &str)]) -> String {
    let one = |(name, provider, constraint): &(&str, &str, &str)| {
        let version = if constraint.is_empty() { String::new() } else { format!("      version = \"{constraint}\"\n") };
        format!("    {name} = {{\n      source = \"{}/{provider}\"\n{version}    }}\n", registry.host())
    };
    let providers: String = providers.iter().map(one).collect();
    format!("terraform {{\n  required_providers {{\n{providers}  }}\n}}\n")
}

/// What main requires.
const HONEST: [(&str, &str, &str); 2] = [("gadget", "acme/gadget", ""), ("widget", "acme/widget", "~> 1.4")];

/// The repository as main has it.
fn main_branch(registry: &Registry) -> Workspace {
    let workspace = Workspace::with_files(&[]);
    let ban = format!("ban \"{}/acme/widget\" {{\n  versions = \"= 1.4.2\"\n}}\n", registry.host());
    workspace.write(SETTINGS, &format!("policy {{\n  signature = \"always\"\n}}\n\n{ban}"));
    let good = keys::GOOD.fingerprint();
    workspace.write(TRUST, &["acme/gadget", "acme/widget"].map(|provider| pin(registry, provider, &good)).join("\n"));
    let lock = format!(
        "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n{}{}",
        entry(registry, "acme/gadget", "2.0.0", ""),
        entry(registry, "acme/widget", "1.4.0", "~> 1.4")
    );
    for root in ["app", "other"] {
        workspace.write(&format!("{root}/main.tf"), &require(registry, &HONEST));
        workspace.write(&format!("{root}/{LOCK}"), &lock);
    }
    workspace.write("modules/net/main.tf", "locals {}\n");
    workspace.write("shared/common.txt", "locals {\n  common = true\n}\n");
    workspace.write("app/net.tf", "module \"net\" {\n  source = \"../modules/net\"\n}\n");
    // A lock file and a module by way of several links, and what an earlier proposal may have left next to them.
    workspace.write("third/main.tf", &(require(registry, &HONEST) + "module \"net\" {\n  source = \"./net\"\n}\n"));
    workspace.write("locks/one/lock", &lock);
    let own = all(registry, "acme/widget", "1.4.0").join("\",\n    \"");
    let evil = lock.replace(&own, &all(registry, "acme/widget", "1.4.1").join("\",\n    \"")).replace("1.4.0", "1.4.1");
    workspace.write("locks/two/lock", &evil);
    for (target, link) in
        [("locks/one", "current"), ("../current/lock", &format!("third/{LOCK}")), ("../modules/net", "third/net")]
    {
        std::os::unix::fs::symlink(target, workspace.path(link)).unwrap();
    }
    std::os::unix::fs::symlink("../shared/common.txt", workspace.path("other/common.tf")).unwrap();
    workspace.write(".gitignore", ".terraform\n");
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    workspace.git(["checkout", "--quiet", "--detach"]);
    workspace
}

/// The platform that `init` installs for.
fn host() -> String {
    let arch = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    format!("{}_{arch}", if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS })
}

/// The directories of the tree with configuration, where `init` can run.
fn directories(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![top.to_owned()];
    while let Some(directory) = next.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name());
            let is_skipped = [".git", "terraform.d", "providers"].iter().any(|skipped| name == *skipped);
            if !is_skipped && entry.file_type().unwrap().is_dir() {
                next.push(path);
            }
        }
        found.push(directory);
    }
    // A root module has a lock file; without one `init -lockfile=readonly` installs nothing.
    found.retain(|directory| directory.join(LOCK).exists());
    found
}

/// Takes everything out of a work tree, repositories in it included, which `git clean` leaves where git tracks files.
fn cleared(top: &Path) {
    for entry in std::fs::read_dir(top).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != ".git") {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// The packages below the data directory of a root module.
fn installed(root: &Path) -> Vec<String> {
    let (mut found, mut next) = (Vec::new(), vec![root.join(".terraform/providers")]);
    while let Some(directory) = next.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().map(Result::unwrap) {
            if entry.path().is_dir() {
                next.push(entry.path());
            } else {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[expect(clippy::print_stderr, reason = "a test that judged nothing says so, and the figures are for a report")]
fn what_the_gate_passes_installs_nothing_else(extent: Extent) {
    let program = PathBuf::from(std::env::var_os("TFLOCK_TEST_PROGRAM").unwrap_or_else(|| TFLOCK.into()));
    let registry = registry();
    let workspace = main_branch(&registry);
    let (mut passed, mut judged, mut wrong) = (0, 0, Vec::new());
    for seed in extent.seeds(4, 24) {
        let dice = Dice::of(seed);
        let mut proposal = Proposal { workspace: &workspace, registry: &registry, dice, done: Vec::new() };
        for _ in 0..=proposal.dice.below(3) {
            proposal.change();
        }
        let done = proposal.done.join(", ");
        workspace.git_may_fail(["add", "--all", "--force"]);
        workspace.git_may_fail(["commit", "--quiet", "--allow-empty", "--message", "harmless"]);
        // What the job of CI has is what is checked out: where git refused to add something, it is not part of the proposal.
        workspace.git_may_fail(["checkout", "--quiet", "--force", "HEAD"]);
        workspace.git_may_fail(["clean", "-ffdxq"]);
        // Most are refused without a request.
        let gate = |more: &[&str]| workspace.program(&program, &registry, GATE.iter().chain(&["-r"]).chain(more));
        let offline = gate(&["--offline"]);
        let run = if offline.code == Some(0) { gate(&[]) } else { offline };
        if run.code == Some(0) {
            passed += 1;
            for root in directories(&workspace.path("")) {
                let at = format!("-chdir={}", root.display());
                let args = [at.as_str(), "init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly"];
                let Some(init) = workspace.terraform(&registry, args) else {
                    eprintln!("terraform is not installed: nothing was judged");
                    return;
                };
                judged += 1;
                let found = installed(&root);
                let bad = found.iter().find(|path| {
                    FORBIDDEN.iter().any(|part| path.contains(part))
                        || std::fs::read(path).is_ok_and(|text| text == b"evil\n")
                });
                if let Some(bad) = bad.filter(|_| init.code == Some(0)) {
                    wrong.push(format!("seed {seed} ({done}): {bad}\n{run}\n{init}"));
                }
            }
        }
        cleared(&workspace.path(""));
        workspace.git(["reset", "--quiet", "--hard", "origin/main"]);
    }
    // What a proposal leaves behind would make the gate refuse all that follow.
    workspace.program(&program, &registry, GATE.iter().chain(&["-r", "--offline"])).ended_with(0);
    eprintln!("the gate passed {passed} proposals, {judged} root modules initialised");
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_the_gate_passes_of_some_proposals_installs_nothing_else() {
    what_the_gate_passes_installs_nothing_else(Extent::Short);
}

#[test]
#[ignore = "long"]
fn what_the_gate_passes_of_many_proposals_installs_nothing_else() {
    what_the_gate_passes_installs_nothing_else(Extent::Long);
}

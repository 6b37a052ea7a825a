//! What is read: differences, pages of help, the page of the project, conflicts, small things.

use std::fmt::Write;

use super::Told;
use crate::support::locked::{honest, locked};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const LOCK: &str = ".terraform.lock.hcl";

fn entry(name: &str, version: &str, hash: &str) -> String {
    let (address, hash) = (format!("registry.terraform.io/acme/{name}"), format!("zh:{}", hash.repeat(64)));
    format!(
        "\nprovider \"{address}\" {{\n  version     = \"{version}\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \
         \"{hash}\",\n  ]\n}}\n"
    )
}

fn lock(entries: &[String]) -> String {
    let head = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    format!("{head}{}", entries.concat())
}

fn committed(text: &str) -> Workspace {
    let workspace = Workspace::with_files(&[(LOCK, text)]);
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "lock"]);
    workspace
}

pub(super) fn changes(told: &mut Told) {
    let names = ["alpha", "beta", "delta", "gamma"];
    let all = |version: &str, hash: &str| names.map(|name| entry(name, version, hash));
    let workspace = committed(&lock(&all("1.0.0", "a")));
    told.says(&workspace, None, "diff -r");
    let mut changed = all("1.1.0", "b").to_vec();
    // One is gone, and one has other hashes under its old version.
    changed.remove(3);
    changed[2] = entry("delta", "1.0.0", "c");
    workspace.write(LOCK, &lock(&changed));
    told.says(&workspace, None, "diff");
    workspace.write(LOCK, &lock(&all("1.0.0", "a")).replacen("\"1.0.0\"", "\"one\"", 1));
    told.says(&workspace, None, "diff");
}

pub(super) fn finding_out(told: &mut Told) {
    let workspace = Workspace::with_files(&[]);
    for words in ["explain", "explain h1", "explain signer-chnaged", "help fmt", "version", "init", "validate"] {
        told.says(&workspace, None, words);
    }
    for words in ["cache dir --help", "schema", "man", "man lock"] {
        told.says(&workspace, None, words);
    }
}

/// The commands of the page, and the output that it promises.
pub(super) fn readme_page(told: &mut Told) {
    let page = std::fs::read_to_string(&told.readme).unwrap();
    let part = page.split("\n## ").find(|part| part.starts_with("Try it\n")).unwrap();
    let mut blocks = String::new();
    for block in part.split("```").skip(1).step_by(2) {
        writeln!(blocks, "{}", block.split_once('\n').unwrap().1).unwrap();
    }
    told.shows("README.md, Try it", &blocks);
}

pub(super) fn conflicts(told: &mut Told) {
    let state = |version: &str, hash: &str| lock(&[entry("dns", version, hash).replace("~> 1.0", version)]);
    let workspace = committed(&state("1.0.0", "a"));
    for words in ["git status", "git install"] {
        told.says(&workspace, None, words);
    }
    // Somebody who has not installed the driver.
    let workspace = committed(&state("1.0.0", "a"));
    workspace.git(["checkout", "--quiet", "-b", "topic"]);
    for (branch, version, hash) in [("topic", "1.2.0", "c"), ("main", "1.1.0", "b")] {
        workspace.git(["checkout", "--quiet", branch]);
        workspace.write(LOCK, &state(version, hash));
        workspace.git(["commit", "--quiet", "--all", "--message", version]);
    }
    let merged = workspace.git_may_fail(["merge", "topic"]).ended_with(1);
    assert!(merged.stdout.contains("CONFLICT"), "{merged}");
    told.says(&workspace, None, &format!("merge --resolve {LOCK}"));
    let required = "dns = {\n      source  = \"acme/dns\"\n      version = \"1.2.0\"\n    }";
    workspace.write("main.tf", &format!("terraform {{\n  required_providers {{\n    {required}\n  }}\n}}\n"));
    told.says(&workspace, None, &format!("merge --resolve {LOCK}"));
}

pub(super) fn small_things(told: &mut Told) {
    let registry = honest();
    let workspace = locked(&registry);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    told.says(&workspace, &registry, "-q lock");
    told.says(&workspace, &registry, "upgrade");
    told.says(&workspace, &registry, "list widget");
    told.says(&workspace, &registry, "add {{registry}}/acme/thing@1.x");
    told.says(&workspace, &registry, "verify --report json=-");
    told.says(&workspace, None, "fmt main.tf");
    told.says(&workspace, None, "explain h1-missing --format json");
    told.says(&workspace, None, "cache stats --format json");
    let registry: Registry = registry.release("acme/gizmo", "1.0.0", &["linux_amd64", "darwin_arm64"]);
    told.says(&workspace, &registry, "add {{registry}}/acme/gizmo@~>9.0");
    let registry: Registry = registry.release("acme/widget", "1.5.0", &["linux_amd64", "darwin_arm64"]);
    let ban = "ban \"{{registry}}/acme/widget\" {\n  versions = \"1.5.0\"\n  reason   = \"broken\"\n}\n";
    workspace.write(".tflock.hcl", &format!("{}\n{ban}", workspace.read(".tflock.hcl")));
    told.says(&workspace, &registry, "outdated");
}

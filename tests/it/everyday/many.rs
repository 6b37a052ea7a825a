//! Repositories with many root modules.

use super::Told;
use crate::monorepo::NET;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];
const LOCK: &str = ".terraform.lock.hcl";
const TRUST: &str = ".tflock.trust.hcl";

fn main(constraint: &str) -> String {
    let source = "\"{{registry}}/acme/cloud\"";
    format!(
        "terraform {{\n  required_providers {{\n    cloud = {{\n      source  = {source}\n      version = \"{constraint}\"\n    \
         }}\n  }}\n}}\n\nmodule \"net\" {{\n  source = \"../../modules/net\"\n}}\n"
    )
}

fn root(number: usize) -> String {
    format!("live/root-{number:02}")
}

fn monorepo(roots: usize) -> Workspace {
    let workspace = Workspace::with_files(&[
        ("modules/net/main.tf", NET),
        (".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n"),
    ]);
    for number in 0..roots {
        let constraint = if number.is_multiple_of(4) { "~> 1.0" } else { ">= 1.0" };
        workspace.write(&format!("{}/main.tf", root(number)), &main(constraint));
    }
    workspace.git(["init", "--quiet"]);
    workspace
}

fn releases(registry: Registry, versions: &[&str]) -> Registry {
    versions.iter().fold(registry, |registry, version| {
        registry.release("acme/cloud", version, &PLATFORMS).release("acme/null", version, &PLATFORMS)
    })
}

fn commit(workspace: &Workspace) {
    workspace.git(["add", "--all"]);
    workspace.git(["commit", "--quiet", "--message", "lock"]);
}

/// Another first hash in the lock file of a root module.
fn doctor(workspace: &Workspace, root: &str) {
    let file = format!("{root}/{LOCK}");
    let text = workspace.read(&file);
    let at = text.find("\"zh:").unwrap() + 4;
    workspace.write(&file, &format!("{}{}{}", &text[..at], "0".repeat(8), &text[at + 8..]));
}

pub(super) fn root_modules(told: &mut Told) {
    let workspace = monorepo(30);
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.says(&workspace, &registry, "lock -r --create");
    commit(&workspace);
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    told.says(&workspace, &registry, "verify -r");
    let registry = releases(registry, &["1.1.0", "2.0.0"]);
    for words in ["list -r", "outdated -r", "why -r {{registry}}/acme/null", "explain -r {{registry}}/acme/cloud"] {
        told.says(&workspace, &registry, words);
    }
    told.says(&workspace, &registry, "upgrade -r");
    doctor(&workspace, &root(7));
    workspace.write(&format!("{}/main.tf", root(9)), "terraform {\n");
    told.says(&workspace, &registry, "verify -r --offline");
}

pub(super) fn step_summary(told: &mut Told) {
    let workspace = monorepo(12).env("GITHUB_STEP_SUMMARY", "summary.md");
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.does(&workspace, &registry, "lock -r --create");
    doctor(&workspace, &root(7));
    let run = told.says(&workspace, &registry, "verify -r --offline --format github");
    let summary = run.filtered(&workspace.read("summary.md"));
    told.shows("what that run wrote into $GITHUB_STEP_SUMMARY", &summary);
    told.says(&workspace, &registry, "verify -r --offline --format markdown");
    told.says(&workspace, &registry, "-C live/root-01 list --format markdown");
}

pub(super) fn paths(told: &mut Told) {
    let workspace = monorepo(2);
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.does(&workspace, &registry, "lock -r --create");
    let registry = releases(registry, &["1.1.0", "2.0.0"]);
    told.says(&workspace, &registry, "-C live/root-00 outdated");
    told.says(&workspace, &registry, "-C live/root-00 upgrade");
}

pub(super) fn advised_commands(told: &mut Told) {
    let workspace = monorepo(2);
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.does(&workspace, &registry, "lock -r --create");
    commit(&workspace);
    let registry = releases(registry, &["2.0.0"]);
    told.says(&workspace, &registry, "upgrade -r --precise 2.0.0 {{registry}}/acme/cloud");
    workspace.git(["checkout", "--quiet", "."]);
    workspace.write(".tflock.hcl", "platforms = [\"linux_amd64\", \"darwin_arm64\", \"windows_amd64\"]\n");
    told.says(&workspace, &registry, "-C live/root-00 verify --offline");
    told.says(&workspace, &registry, "verify -r --offline");
}

pub(super) fn above_root_modules(told: &mut Told) {
    let workspace = monorepo(3);
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.does(&workspace, &registry, "lock -r --create");
    workspace.write(&format!("generated/{LOCK}"), &workspace.read(&format!("{}/{LOCK}", root(1))));
    workspace.write("docs/readme.txt", "none here\n");
    for words in ["lock", "outdated", "list", "diff", "lock live/root-00", "list live/root-00"] {
        told.says(&workspace, &registry, words);
    }
    told.says(&workspace, &registry, "-C generated outdated");
    told.says(&workspace, &registry, "-C docs lock --from-lock");
}

pub(super) fn first_day(told: &mut Told) {
    let workspace = monorepo(5);
    let registry = releases(Registry::start(), &["1.0.0"]);
    told.does(&workspace, &registry, "lock -r --create");
    std::fs::remove_file(workspace.path(TRUST)).unwrap();
    commit(&workspace);
    told.says(&workspace, &registry, "verify -r");
    told.says(&workspace, &registry, "-C live/root-00 verify");
    told.says(&workspace, &registry, "trust list");
}

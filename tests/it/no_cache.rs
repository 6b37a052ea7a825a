//! `--no-cache`, which every command accepts: the same result as with an empty cache, and nothing is read from it, written to it or left
//! elsewhere. Each command has something to do here.

use std::fs;
use std::path::Path;

use crate::audit::database;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;
use crate::support::worlds::{PLATFORMS, widget_and_gadget};

/// What a run shows or makes, so it did something.
enum Effect {
    /// A text of standard output.
    Prints(&'static str),
    /// A path below `work` that was written.
    Writes(&'static str),
    /// A directory below `work` that was not there before.
    Makes(&'static str),
}
use Effect::{Makes, Prints, Writes};

const CONFIGURATION: &str = "terraform {
  required_providers {
    widget = {
      source  = \"{{registry}}/acme/widget\"
      version = \"~> 1.4\"
    }
  }
}

module \"net\" {
  source  = \"{{other-host}}/acme/net/lab\"
  version = \"1.0.0\"
}
";

/// Each command with its arguments, exit code and effect. `{{widget}}` and `{{gadget}}` are addresses, `{{database}}` is one of advisories.
const COMMANDS: &[(&str, i32, Effect)] = &[
    ("lock --platform linux_amd64 --platform darwin_arm64", 0, Writes(".terraform.lock.hcl")),
    ("providers lock -platform=linux_amd64 -platform=darwin_arm64", 0, Writes(".terraform.lock.hcl")),
    ("verify", 0, Prints("3 hashes proven")),
    ("verify --deep", 0, Prints("3 hashes proven")),
    ("verify --base HEAD~1", 0, Prints("passed")),
    ("explain {{widget}}", 0, Prints("1.4.0")),
    ("add {{gadget}} --platform linux_amd64", 0, Writes("main.tf")),
    ("remove {{widget}}", 0, Writes("main.tf")),
    ("upgrade --platform linux_amd64", 0, Writes(".terraform.lock.hcl")),
    ("outdated", 0, Prints("1.5.0")),
    ("migrate --to tofu --platform linux_amd64", 0, Writes(".terraform.lock.hcl")),
    ("mirror copies --platform linux_amd64", 0, Makes("copies")),
    ("install --platform linux_amd64", 0, Makes(".terraform/providers")),
    ("install -r --platform linux_amd64", 0, Makes(".terraform/providers")),
    ("install --platform linux_amd64 --link hard", 0, Makes(".terraform/providers")),
    ("install --platform linux_amd64 --link copy", 0, Makes(".terraform/providers")),
    ("sbom --format spdx", 0, Prints("SPDX")),
    ("audit --db {{database}} --platform linux_amd64", 0, Prints("acme/widget")),
    ("get", 0, Makes(".terraform/modules")),
    ("fmt", 0, Prints("")),
    ("hash package.zip", 0, Prints("h1:")),
    ("status", 0, Prints("1")),
    ("setup --dry-run", 0, Prints(".gitattributes")),
    ("list", 0, Prints("acme/widget")),
    ("why {{widget}}", 0, Prints("main.tf")),
    ("diff HEAD --online", 0, Prints("")),
    ("trust list", 0, Prints("acme/widget")),
    ("trust init", 0, Prints("")),
    ("merge --resolve .terraform.lock.hcl", 0, Prints("")),
    ("textconv .terraform.lock.hcl", 0, Prints("1.4.0")),
    ("git status", 1, Prints("")),
    ("completions bash", 0, Prints("tflock")),
    ("schema", 0, Prints("format_version")),
    ("version", 0, Prints("")),
    ("help install", 0, Prints("--link")),
    ("man install", 0, Prints("install")),
];

/// What has nothing to do without a cache, with the reason that it gives.
const REFUSED: &[(&str, &str)] = &[
    ("cache dir", "which --no-cache leaves out"),
    ("cache stats", "which --no-cache leaves out"),
    ("cache prune --all", "which --no-cache leaves out"),
    ("cache export -", "which --no-cache leaves out"),
    ("cache import -", "which --no-cache leaves out"),
    ("install --link symlink --platform linux_amd64", "which --no-cache removes"),
    ("lock --publish --index file:///nowhere", "which --no-cache leaves out"),
];

/// A locked root module in a repository, whose provider has a newer release meanwhile.
fn world() -> (Registry, Workspace) {
    let registry = widget_and_gadget().module("acme/net/lab", "1.0.0", &[("main.tf", "locals {}\n")]);
    let workspace = Workspace::with_files(&[("main.tf", CONFIGURATION)]);
    workspace.tflock(&registry, ["lock", "--lock-modules", "--platform", "linux_amd64"]).ended_with(0);
    workspace.write_bytes("package.zip", &registry.package("acme/widget", "1.4.0", "linux_amd64").zip);
    workspace.git(["init", "--quiet"]);
    let lock = workspace.lock_file();
    let without_h1: String = lock.split_inclusive('\n').filter(|line| !line.contains("\"h1:")).collect();
    for text in [&without_h1, &lock] {
        workspace.write(".terraform.lock.hcl", text);
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--message", "all"]);
    }
    (registry.release("acme/widget", "1.5.0", PLATFORMS), workspace)
}

fn folder(workspace: &Workspace, name: &str) -> std::path::PathBuf {
    workspace.path("").with_file_name(name)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
#[ignore = "long"]
fn every_command_does_its_work_without_a_cache() {
    let (registry, world) = world();
    let fill = |words: &str| -> Vec<String> {
        let host = registry.host();
        let words = words.replace("{{widget}}", &format!("{host}/acme/widget"));
        let words = words.replace("{{gadget}}", &format!("{host}/acme/gadget"));
        words.replace("{{database}}", database().to_str().unwrap()).split(' ').map(str::to_owned).collect()
    };
    let fresh = || {
        let workspace = world.copied();
        fs::remove_dir_all(folder(&workspace, "cache")).unwrap();
        fs::create_dir(folder(&workspace, "cache")).unwrap();
        workspace
    };
    let mut wrong = Vec::new();
    for (words, code, effect) in COMMANDS {
        let (with, without) = (fresh(), fresh());
        let words = fill(words);
        let expected = with.tflock(&registry, &words);
        let run = without.tflock(&registry, words.iter().map(String::as_str).chain(["--no-cache"]));
        let results = |run: &Run| (run.code, run.filtered(&run.stdout), run.touched().len());
        let is_same = results(&run) == results(&expected) && run.touched() == expected.touched();
        let has_effect = match effect {
            Prints(text) => run.stdout.contains(text),
            Writes(path) => run.touched().contains(path),
            Makes(path) => without.path(path).is_dir() && !world.has(path),
        };
        let is_clean = ["cache", "tmp"].into_iter().all(|name| is_empty(&folder(&without, name)));
        if !(run.code == Some(*code) && is_same && has_effect && is_clean) {
            wrong.push(format!("{words:?}: {is_same} {has_effect} {is_clean}\n{run}\nwith a cache: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (words, reason) in REFUSED {
        let workspace = fresh();
        let words = fill(words);
        let run = workspace.tflock(&registry, words.iter().map(String::as_str).chain(["--no-cache"])).ended_with(2);
        assert!(run.stderr.contains(reason), "{words:?}: {run}");
        assert!(is_empty(&folder(&workspace, "cache")) && !workspace.has(".terraform"), "{words:?}");
    }
    let help = world.tflock(None, ["help", "--all"]).ended_with(0).stdout;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let rows: Vec<&str> =
        COMMANDS.iter().map(|(words, ..)| *words).chain(REFUSED.iter().map(|(words, _)| *words)).collect();
    for command in lines.filter_map(|line| line.split_whitespace().next()) {
        assert!(rows.iter().any(|words| words.split(' ').next() == Some(command)), "{command} is in no row");
    }
}

/// What is installed is whole, and works when the run has ended.
#[test]
fn packages_installed_without_a_cache_are_those_locked() {
    let (registry, workspace) = world();
    workspace.tflock(&registry, ["install", "--no-cache", "--platform", "linux_amd64"]).ended_with(0);
    let place = format!(".terraform/providers/{}/acme/widget/1.4.0/linux_amd64", registry.host());
    let hash = workspace.tflock(None, ["hash", &place]).ended_with(0);
    assert!(hash.stdout.starts_with(&registry.package("acme/widget", "1.4.0", "linux_amd64").h1), "{hash}");
    workspace.tflock(&registry, ["install", "--check", "--no-cache", "--platform", "linux_amd64"]).ended_with(0);
    workspace.tflock(&registry, ["verify", "--installed", "--no-cache"]).ended_with(0);
}

//! Runs at the same time, in one directory and in several of one repository: nothing that one of them wrote is lost.

use std::time::Duration;

use crate::support::extent::times;
use crate::support::registry::{Answer, Endpoint, Registry};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const NAMES: [&str; 5] = ["bolt", "gadget", "nut", "screw", "widget"];

fn registry() -> Registry {
    NAMES
        .iter()
        .fold(Registry::start(), |registry, name| registry.release(&format!("acme/{name}"), "1.0.0", &PLATFORMS))
}

/// Runs all of them side by side.
fn at_once(workspace: &Workspace, registry: &Registry, runs: &[Vec<String>]) -> Vec<Run> {
    std::thread::scope(|scope| {
        let begin = |args| scope.spawn(move || workspace.tflock(registry, args));
        let threads: Vec<_> = runs.iter().map(begin).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
#[ignore = "long"]
fn additions_in_one_directory() {
    let (registry, workspace) = (registry(), Workspace::with_files(&[("main.tf", "# nothing yet\n")]));
    for in_git in [false, true] {
        if in_git {
            workspace.git(["init", "--quiet"]);
        }
        let add = |name: &&str| words(&format!("add {}/acme/{name} --platform linux_amd64", registry.host()));
        for run in at_once(&workspace, &registry, &NAMES.iter().map(add).collect::<Vec<_>>()) {
            run.ended_with(0);
        }
        for name in NAMES {
            let address = format!("\"{}/acme/{name}\"", registry.host());
            for file in ["versions.tf", ".terraform.lock.hcl", ".tflock.trust.hcl"] {
                assert!(workspace.read(file).contains(&address), "{name} is not in {file}");
            }
        }
        workspace.tflock(&registry, ["lock", "--check", "--offline", "--platform", "linux_amd64"]).ended_with(0);
        let remove = |name: &&str| words(&format!("remove {}/acme/{name}", registry.host()));
        for run in at_once(&workspace, &registry, &NAMES.iter().map(remove).collect::<Vec<_>>()) {
            run.ended_with(0);
        }
        assert!(!workspace.lock_file().contains("acme") && !workspace.has("versions.tf"));
        std::fs::remove_file(workspace.path(".tflock.trust.hcl")).unwrap();
    }
}

#[test]
fn platforms_of_one_lock_file() {
    let main = "terraform {\n  required_providers {\n    widget = {\n      source = \"{{registry}}/acme/widget\"\n    }\n  }\n}\n";
    let (registry, workspace) = (registry(), Workspace::with_files(&[("main.tf", main)]));
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let lock = |platform: &&str| words(&format!("lock --platform {platform} --no-cache"));
    // One that fixes the text does not undo what another one adds.
    let text = workspace.lock_file();
    workspace.write(".terraform.lock.hcl", &text.replace("version     =", "version ="));
    let runs: Vec<Vec<String>> = PLATFORMS.iter().map(lock).chain([words("fmt")]).collect();
    for run in at_once(&workspace, &registry, &runs) {
        run.ended_with(0);
    }
    for platform in PLATFORMS {
        assert!(workspace.lock_file().contains(&registry.package("acme/widget", "1.0.0", platform).h1), "{platform}");
    }
}

#[test]
fn pins_of_one_repository() {
    let (registry, workspace) = (registry(), Workspace::with_files(&[]));
    workspace.git(["init", "--quiet"]);
    for name in NAMES {
        let source = format!("source = \"{}/acme/{name}\"", registry.host());
        let main =
            format!("terraform {{\n  required_providers {{\n    {name} = {{\n      {source}\n    }}\n  }}\n}}\n");
        workspace.write(&format!("env/{name}/main.tf"), &main);
    }
    let lock = |name: &&str| words(&format!("-C env/{name} lock --platform linux_amd64"));
    for run in at_once(&workspace, &registry, &NAMES.iter().map(lock).collect::<Vec<_>>()) {
        run.ended_with(0);
    }
    let trust = workspace.read(".tflock.trust.hcl");
    assert_eq!(trust.matches("provider \"").count(), NAMES.len(), "{trust}");

    // The same with a trust file in a directory without `.git`.
    workspace.write("ci/README", "");
    let lock = |name: &&str| {
        std::fs::remove_file(workspace.path(&format!("env/{name}/.terraform.lock.hcl"))).unwrap();
        words(&format!("-C env/{name} --trust-file ci/trust.hcl lock --platform linux_amd64"))
    };
    for run in at_once(&workspace, &registry, &NAMES.iter().map(lock).collect::<Vec<_>>()) {
        run.ended_with(0);
    }
    assert_eq!(workspace.read("ci/trust.hcl").matches("provider \"").count(), NAMES.len());
}

/// The run starts over if an editor writes while it waits for a server.
#[test]
#[ignore = "long"]
fn what_is_pruned_meanwhile_is_read_or_fetched_again() {
    let here = tflock_core::platform::Platform::host().to_string();
    let platforms = [here.as_str(), "plan9_amd64"];
    let registry = NAMES
        .iter()
        .fold(Registry::start(), |registry, name| registry.release(&format!("acme/{name}"), "1.0.0", &platforms));
    let workspace = Workspace::with_files(&[]);
    let roots: Vec<String> = (0..6).map(|at| format!("root{at}")).collect();
    let required: String =
        NAMES.map(|name| format!("    {name} = {{ source = \"{}/acme/{name}\" }}\n", registry.host())).concat();
    for root in &roots {
        workspace
            .write(&format!("{root}/main.tf"), &format!("terraform {{\n  required_providers {{\n{required}  }}\n}}\n"));
    }
    workspace.tflock(&registry, ["lock", "-r", "--create"]).ended_with(0);
    let runs: Vec<_> =
        ["install -r", "verify -r", "lock -r", "install -r"].into_iter().chain(["cache prune"; 5]).map(words).collect();
    for round in 0..times(20) {
        for root in &roots {
            let _ = std::fs::remove_dir_all(workspace.path(&format!("{root}/.terraform")));
        }
        for run in at_once(&workspace, &registry, &runs) {
            assert_eq!(run.code, Some(0), "round {round}: {run}");
        }
        workspace.tflock(&registry, ["install", "-r", "--check", "--offline"]).ended_with(0);
    }
}

#[test]
fn what_an_editor_writes_meanwhile_is_kept() {
    let registry = registry().answers(Endpoint::Versions, Answer::slow(Duration::from_millis(50)));
    for constraint in ["", "@~> 1.0"] {
        let workspace = Workspace::with_files(&[("main.tf", "terraform {\n}\n")]);
        registry.forget_requests();
        std::thread::scope(|scope| {
            let add = format!("{}/acme/widget{constraint}", registry.host());
            let args = ["add", &add, "--platform", "linux_amd64"].map(str::to_owned);
            let run = scope.spawn(|| workspace.tflock(&registry, args));
            while registry.count(Endpoint::Versions) == 0 {
                std::thread::yield_now();
            }
            workspace.write("main.tf", "# of the editor\nterraform {\n}\n");
            run.join().unwrap().ended_with(0);
        });
        let text = workspace.read("main.tf");
        assert!(text.starts_with("# of the editor\n") && text.contains("version = \"~> 1.0\""), "{text}");
    }
}

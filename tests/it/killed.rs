//! Runs that are killed at any moment: every file is the old one or the new one, and a second run completes.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::dice::Dice;
use crate::support::extent::seeds;
use crate::support::keys;
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const SIGKILL: i32 = 9;

const TRUST: &str = ".tflock.trust.hcl";
const LOCK: &str = ".terraform.lock.hcl";

/// The files of a work tree by their paths; `.git` is none of them.
pub(crate) fn files(workspace: &Workspace) -> BTreeMap<String, String> {
    let (top, mut files, mut folders) = (workspace.path(""), BTreeMap::new(), vec![workspace.path("")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if path.is_file() {
                let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
                let bytes = std::fs::read(&path).unwrap();
                files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    files
}

/// Makes the work tree hold these files and no others.
pub(crate) fn restore(workspace: &Workspace, wanted: &BTreeMap<String, String>) {
    for name in files(workspace).keys().filter(|name| !wanted.contains_key(*name)) {
        std::fs::remove_file(workspace.path(name)).unwrap();
    }
    for (name, text) in wanted {
        workspace.write(name, text);
    }
}

/// When a run is killed.
enum Moment {
    /// So long after its start.
    After(Duration),
    /// So long after it touched the first file.
    Writing(Duration),
}

/// Starts a run and kills it, unless it comes to its end before; true if it was killed.
fn kill(workspace: &Workspace, registry: &Registry, args: &[&str], moment: &Moment) -> bool {
    let mut command = workspace.tflock_command(registry, args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    match moment {
        Moment::After(delay) => std::thread::sleep(*delay),
        Moment::Writing(delay) => {
            // New files appear before old ones are replaced. A run that has ended touches nothing any more.
            let before = std::fs::read_dir(workspace.path("")).unwrap().count();
            while std::fs::read_dir(workspace.path("")).unwrap().count() == before {
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                // Looking without a pause would take the processor from the run that is looked at.
                std::thread::sleep(Duration::from_micros(20));
            }
            std::thread::sleep(*delay);
        }
    }
    let _ = child.kill();
    child.wait().unwrap().signal() == Some(SIGKILL)
}

/// A file that was to take the place of another one; the next `lock` in its directory takes it away.
pub(crate) fn is_leftover(name: &str) -> bool {
    name.rsplit('.').next().unwrap().starts_with("tflock-")
}

/// Kills runs of a command in a work tree, each begun from the same files.
fn killed_at_any_moment(workspace: &Workspace, registry: &Registry, args: &[&str]) {
    let old = files(workspace);
    let began = Instant::now();
    workspace.tflock(registry, args).ended_with(0);
    let usual = began.elapsed();
    let new = files(workspace);
    assert_ne!(old, new);
    let rounds = seeds(8);
    let (mut dice, mut mixed) = (Dice::of(rounds.start), 0);
    let mut hit = 0;
    for round in 0..rounds.end - rounds.start {
        restore(workspace, &old);
        let moment = if round == 0 {
            // The one of which it is certain that it hits.
            Moment::After(Duration::ZERO)
        } else if round % 4 == 0 {
            Moment::After(usual * u32::try_from(dice.below(120)).unwrap() / 100)
        } else {
            Moment::Writing(Duration::from_micros(u64::try_from(dice.below(4000)).unwrap()))
        };
        hit += u32::from(kill(workspace, registry, args, &moment));
        let now = files(workspace);
        for name in old.keys().chain(new.keys()) {
            let text = now.get(name);
            assert!(text == old.get(name) || text == new.get(name), "{name} is neither old nor new:\n{text:?}");
        }
        // What else is there was to become one of them, and no program takes it for one.
        for name in now.keys().filter(|name| !old.contains_key(*name) && !new.contains_key(*name)) {
            assert!(is_leftover(name), "{name}");
        }
        mixed += u32::from(now != old && now != new);
        workspace.tflock(registry, args).ended_with(0);
        let left = files(workspace).into_iter().filter(|(name, _)| new.contains_key(name) || !is_leftover(name));
        assert_eq!(left.collect::<BTreeMap<_, _>>(), new, "round {round}");
    }
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("{hit} runs were killed, {mixed} between two files\n"),
    );
    assert!(hit > 0, "no run was killed");
}

fn requires(names: &[(&str, &str)]) -> String {
    let entry = |(name, constraint): &(&str, &str)| {
        format!(
            "    {name} = {{\n      source  = \"{{{{registry}}}}/acme/{name}\"\n      version = \"{constraint}\"\n    }}\n"
        )
    };
    let entries: Vec<String> = names.iter().map(entry).collect();
    format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", entries.concat())
}

fn registry() -> Registry {
    let mut registry = Registry::start();
    for provider in ["acme/widget", "acme/gadget"] {
        for version in ["1.0.0", "1.1.0"] {
            registry = registry.release(provider, version, &["linux_amd64"]);
        }
    }
    registry
}

#[test]
#[ignore = "long"]
fn upgrade_everywhere() {
    let registry = registry();
    let old = requires(&[("widget", "1.0.0")]);
    let workspace = Workspace::with_files(&[("main.tf", &old), ("a/main.tf", &old), ("b/main.tf", &old)]);
    workspace.git(["init", "--quiet"]);
    let lock = ["lock", "-r", "--create", "--platform", "linux_amd64"];
    workspace.tflock(&registry, lock).ended_with(0);
    let new = requires(&[("gadget", ">= 1.0"), ("widget", "~> 1.0")]).replace("{{registry}}", &registry.host());
    for root in ["", "a/", "b/"] {
        workspace.write(&format!("{root}main.tf"), &new);
    }
    // Three lock files change, and the trust file, since one provider is new.
    killed_at_any_moment(&workspace, &registry, &["upgrade", "-r", "--platform", "linux_amd64"]);
    assert!(workspace.read(TRUST).contains("acme/gadget") && workspace.read(&format!("b/{LOCK}")).contains("1.1.0"));
}

#[test]
#[ignore = "long"]
fn add() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", &requires(&[("widget", "1.0.0")]))]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let gadget = format!("{}/acme/gadget", registry.host());
    killed_at_any_moment(&workspace, &registry, &["add", &gadget, "--platform", "linux_amd64"]);
    assert!(workspace.read("main.tf").contains("~> 1.1") && workspace.lock_file().contains("acme/gadget"));
}

#[test]
#[ignore = "long"]
fn lock() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", &requires(&[("gadget", "1.0.0"), ("widget", "1.0.0")]))]);
    workspace.git(["init", "--quiet"]);
    // A new lock file, and a new trust file.
    killed_at_any_moment(&workspace, &registry, &["lock", "--platform", "linux_amd64"]);
    assert!(workspace.read(TRUST).contains("acme/gadget") && workspace.lock_file().contains("acme/widget"));
}

#[test]
#[ignore = "long"]
fn merge() {
    let block = |name: &str, version: &str| {
        format!(
            "\nprovider \"registry.terraform.io/acme/{name}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:{version}\",\n  ]\n}}\n"
        )
    };
    let lock = |versions: &[&str]| {
        let names = (0..200).map(|at| format!("p{at:03}"));
        let blocks = names.zip(versions.iter().cycle()).map(|(name, version)| block(&name, version));
        blocks.collect::<String>()
    };
    let [base, ours, theirs] = [&["1.0.0"][..], &["1.1.0", "1.0.0"], &["1.0.0", "1.2.0"]].map(lock);
    let workspace = Workspace::with_files(&[("base", &base), ("ours", &ours), ("theirs", &theirs)]);
    killed_at_any_moment(&workspace, &Registry::start(), &["merge", "base", "ours", "theirs"]);
    assert!(workspace.read("ours").contains("1.1.0") && workspace.read("ours").contains("1.2.0"));
}

#[test]
fn trust_rotate() {
    let registry = registry();
    let workspace = Workspace::with_files(&[("main.tf", &requires(&[("gadget", "1.0.0"), ("widget", "1.0.0")]))]);
    workspace.git(["init", "--quiet"]);
    workspace.tflock(&registry, ["lock", "--platform", "linux_amd64"]).ended_with(0);
    let (widget, key) = (format!("{}/acme/widget", registry.host()), keys::OTHER.fingerprint());
    killed_at_any_moment(&workspace, &registry, &["trust", "rotate", &widget, &key, "--reason", "a new key"]);
    assert!(workspace.read(TRUST).contains("retired_signer"));
}

//! `upgrade`, `add` and `lock` against the real `terraform`: the same lock file, and configuration that it is content with.

use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// Platforms of developers' machines, so `init` finds its own.
const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];

const INIT: [&str; 4] = ["init", "-backend=false", "-input=false", "-no-color"];

const VERSIONS: [&str; 9] =
    ["0.9.0", "1.0.0", "1.2.0", "1.2.9", "1.10.0", "2.0.0-beta1", "2.0.0", "2.1.0+build.3", "3.0.0-rc1"];

fn registry() -> Registry {
    let releases = ["acme/widget", "acme/gadget"].into_iter().flat_map(|name| VERSIONS.map(|version| (name, version)));
    releases.fold(Registry::start(), |registry, (name, version)| registry.release(name, version, &HERE))
}

fn requires(widget: &str, gadget: &str) -> String {
    let entry = |name: &str, constraint: &str| {
        format!(
            "    {name} = {{\n      source  = \"{{{{registry}}}}/acme/{name}\"\n      version = \"{constraint}\"\n    }}\n"
        )
    };
    format!("terraform {{\n  required_providers {{\n{}{}  }}\n}}\n", entry("gadget", gadget), entry("widget", widget))
}

fn platforms(registry: &Registry, ours: &Workspace, command: &str, platforms: &[&str]) {
    let platforms = platforms.iter().map(|platform| format!("--platform={platform}"));
    ours.tflock(registry, [command.to_owned()].into_iter().chain(platforms)).ended_with(0);
}

/// The platform that `init` records.
fn host() -> String {
    let arch = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    format!("{}_{arch}", if std::env::consts::OS == "macos" { "darwin" } else { std::env::consts::OS })
}

/// From the same lock file both tools come to the same one.
#[test]
#[ignore = "long"]
fn upgrade_selects_what_init_upgrade_selects() {
    let registry = registry();
    for (before, after) in [
        (["1.0.0", "1.0.0"], ["~> 1.0", ">= 1.0"]),
        (["1.2.0", "0.9.0"], ["~> 1.2.0", "< 2.0, != 1.10.0"]),
        (["1.0.0", "2.0.0"], ["2.0.0-beta1", "~> 1.2"]),
        (["1.0.0", "1.2.9"], ["> 1.0, <= 2.1", ">= 3.0.0-rc1"]),
        (["2.0.0", "1.10.0"], ["!= 2.1.0", "= 1.10"]),
    ] {
        let ours = Workspace::with_files(&[("main.tf", &requires(before[0], before[1]))]);
        platforms(&registry, &ours, "lock", &[&host()]);
        let theirs = Workspace::with_files(&[(".terraform.lock.hcl", &ours.lock_file())]);
        for workspace in [&ours, &theirs] {
            workspace.write("main.tf", &requires(after[0], after[1]));
        }
        let Some(run) = theirs.terraform(&registry, INIT.iter().chain(&["-upgrade"])) else { return };
        if run.code == Some(0) {
            platforms(&registry, &ours, "upgrade", &[&host()]);
        } else {
            let run = ours.tflock(&registry, ["upgrade", "--platform", &host()]);
            assert_eq!(run.code, Some(2), "{after:?}: {run}");
        }
        assert_eq!(ours.lock_file(), theirs.lock_file(), "{before:?} {after:?}");
        // A second run of either changes nothing.
        let run = ours.terraform(&registry, INIT).unwrap();
        assert!(run.code != Some(0) || run.touched().is_empty(), "{run}");
    }
}

#[test]
fn one_version_is_what_an_exact_constraint_selects() {
    let registry = registry();
    let widget = format!("{}/acme/widget", registry.host());
    for version in ["1.2.9", "0.9.0", "2.1.0+build.3"] {
        let ours = Workspace::with_files(&[("main.tf", &requires("!= 5.0", "1.0.0"))]);
        platforms(&registry, &ours, "lock", &[&host()]);
        ours.tflock(&registry, ["upgrade", &widget, "--precise", version, "--platform", &host()]).ended_with(0);
        assert!(ours.lock_file().contains(&format!("version     = \"{version}\"")));
        let Some(run) = ours.terraform(&registry, INIT) else { return };
        assert!(run.ended_with(0).touched().is_empty());
    }
}

#[test]
#[ignore = "long"]
fn lock_is_what_providers_lock_writes() {
    let registry = registry();
    for constraints in [["~> 1.0", ">= 1.0"], ["~> 1.2.0, >= 1.0", "!=1.0"], ["2.0.0-beta1", "<2.0,>0.9"]] {
        let [ours, theirs] =
            [(); 2].map(|()| Workspace::with_files(&[("main.tf", &requires(constraints[0], constraints[1]))]));
        for count in [1, 3, 4] {
            let list: Vec<String> = HERE[..count].iter().map(|platform| format!("-platform={platform}")).collect();
            let Some(run) = theirs.terraform(&registry, ["providers", "lock"].map(str::to_owned).iter().chain(&list))
            else {
                return;
            };
            run.ended_with(0);
            platforms(&registry, &ours, "lock", &HERE[..count]);
            assert_eq!(ours.lock_file(), theirs.lock_file(), "{constraints:?}");
        }
    }
}

/// After `add` there is nothing left to do for `init` and `fmt`.
#[test]
#[ignore = "long"]
fn what_add_writes_is_complete() {
    let registry = registry();
    for (main, what, more) in [
        (String::new(), "gadget", &[][..]),
        ("terraform {}\n".to_owned(), "gadget@~> 1.2.0", &[]),
        (requires("~> 1.0", "~> 1.0"), "gadget@>= 2.0", &["--replace"]),
        (requires("~> 1.0", "~> 1.0"), "widget", &["--replace", "--pin"]),
        ("terraform {\n  required_version = \">= 1.0\"\n}\n".to_owned(), "widget@3.0.0-rc1", &["--name", "wid"]),
    ] {
        let workspace = Workspace::with_files(&[("main.tf", &main)]);
        let address = format!("{}/acme/{what}", registry.host());
        let run = workspace.tflock(&registry, ["add", &address, "--platform", &host()].iter().chain(more));
        let run = run.ended_with(0);
        assert!(run.touched().contains(&".terraform.lock.hcl"), "{run}");
        if main.contains("widget") {
            platforms(&registry, &workspace, "lock", &[&host()]);
        }
        let Some(formatted) = workspace.terraform(&registry, ["fmt", "-check", "-diff"]) else { return };
        formatted.ended_with(0);
        let init = workspace.terraform(&registry, INIT).unwrap().ended_with(0);
        assert!(init.touched().is_empty(), "{init}");
        workspace.terraform(&registry, INIT.iter().chain(&["-lockfile=readonly"])).unwrap().ended_with(0);
    }
}

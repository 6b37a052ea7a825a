//! What `lock` and `merge` write, `verify` passes: over registries that lie, and over branches that are merged.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::support::dice::Dice;
use crate::support::extent::Extent;
use crate::support::keys;
use crate::support::packages::Shape;
use crate::support::registry::{Flaw, Registry};
use crate::support::run::Run;
use crate::support::side_by_side;
use crate::support::workspace::Workspace;

const LOCK: &str = ".terraform.lock.hcl";
const WIDGET: &str = "acme/widget";
const PLATFORMS: [&str; 3] = ["linux_amd64", "darwin_arm64", "windows_amd64"];

const FLAWS: [Flaw; 16] = [
    Flaw::WrongShasum,
    Flaw::WrongSums,
    Flaw::StarredSums,
    Flaw::ShortSums("darwin_arm64"),
    Flaw::TamperedZip,
    Flaw::NotAZip,
    Flaw::ArmoredSignature,
    Flaw::StaleSignature,
    Flaw::UnreadableKey,
    Flaw::MissingSignature,
    Flaw::WrongTarget("darwin_arm64"),
    Flaw::MissingPlatform("darwin_arm64"),
    Flaw::PackagesWrongH1,
    Flaw::PackagesWrongZh,
    Flaw::PackagesWrongSize,
    Flaw::PackagesOmit("darwin_arm64"),
];

const SHAPES: [Shape; 5] =
    [Shape::Deflated, Shape::DuplicateEntry, Shape::DirectoryEntries, Shape::NoProgram, Shape::Escaping];

/// A registry with up to three lies.
fn hostile(dice: &mut Dice) -> Registry {
    let mut registry = Registry::start();
    for version in ["1.0.0", "1.1.0"] {
        registry = registry.release(WIDGET, version, &PLATFORMS);
        for _ in 0..dice.below(4) {
            registry = match dice.below(7) {
                0 => registry.with_packages(),
                1 => registry.shaped(dice.pick(&SHAPES)),
                2 => registry.signed_by(dice.pick(&keys::ALL)),
                3 => registry.listing(&[dice.pick(&keys::ALL), keys::GOOD]),
                4 => registry.another(&["linux_amd64"]),
                _ => registry.flawed(dice.pick(&FLAWS)),
            };
        }
    }
    if dice.one_in(2) { registry.standing_for("registry.opentofu.org") } else { registry }
}

/// A root module for either tool, with settings that require less or more.
fn root(registry: &Registry, dice: &mut Dice) -> Workspace {
    let tofu = dice.one_in(2);
    let host = if registry.hosts_stood_for().is_empty() { registry.host() } else { "registry.opentofu.org".to_owned() };
    let main = format!(
        "terraform {{\n  required_providers {{\n    widget = {{\n      source = \"{host}/{WIDGET}\"\n    }}\n  }}\n}}\n"
    );
    let settings = match dice.below(4) {
        0 => format!("host \"{host}\" {{\n  h1 = \"registry\"\n}}\n"),
        1 => "policy {\n  h1 = \"verified\"\n}\n".to_owned(),
        _ => String::new(),
    };
    let tool = if tofu { "tofu" } else { "terraform" };
    Workspace::with_files(&[("main.tf", &main), (".tflock.hcl", &format!("tool = \"{tool}\"\n{settings}"))])
}

/// The next command that writes.
fn step<'a>(dice: &mut Dice) -> Vec<&'a str> {
    let mut args = if dice.one_in(4) { vec!["upgrade"] } else { vec!["lock"] };
    for platform in PLATFORMS.into_iter().filter(|_| dice.one_in(2)) {
        args.extend(["--platform", platform]);
    }
    if dice.one_in(3) {
        args.push("--no-cache");
    }
    args
}

/// Denies nothing, with what is known here and afresh.
fn passes(workspace: &Workspace, registry: &Registry, story: &[String]) {
    for args in [&["verify"][..], &["verify", "--no-cache"], &["verify", "--deep"]] {
        let run: Run = workspace.tflock(registry, args);
        // With Terraform's rules `lock` does not read `packages`, of which `verify` reports that they are wrong.
        let denied: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("denied[")).collect();
        let is_lie = !denied.is_empty() && denied.iter().all(|line| line.starts_with("denied[packages-differ]"));
        assert!(is_lie || matches!(run.code, Some(0 | 4)), "after {story:?}, {args:?}: {run}");
    }
}

fn what_lock_writes_verify_passes(extent: Extent) {
    let (worlds, written) = (extent.seeds(4, 24), AtomicUsize::new(0));
    side_by_side(&worlds, |world| {
        let mut dice = Dice::of(*world);
        let registry = hostile(&mut dice);
        let workspace = root(&registry, &mut dice);
        let mut story = vec![format!("world {world}")];
        for _ in 0..3 {
            let args = step(&mut dice);
            let run = workspace.tflock(&registry, &args);
            assert!(matches!(run.code, Some(0 | 2 | 3 | 4)), "{run}");
            story.push(format!("{args:?}: {:?}", run.code));
            // A run that writes nothing may have sent no request, so it proves nothing.
            if run.code == Some(0) && run.touched().contains(&LOCK) {
                written.fetch_add(1, Relaxed);
                passes(&workspace, &registry, &story);
            }
        }
    });
    assert!(written.into_inner() > worlds.len() / 3);
}

/// Two branches, each with a lock file that some command wrote, are merged by the driver or from the conflict that git
/// leaves; what is no conflict passes.
fn what_merge_writes_verify_passes(extent: Extent) {
    let program = Path::new(env!("CARGO_BIN_EXE_tflock")).parent().unwrap().display();
    let path = format!("{program}:/usr/bin:/bin");
    let (worlds, merged) = (extent.seeds(4, 24), AtomicUsize::new(0));
    side_by_side(&worlds, |world| {
        let mut dice = Dice::of(*world);
        let registry =
            ["1.0.0", "1.1.0"].iter().fold(Registry::start(), |it, version| it.release(WIDGET, version, &PLATFORMS));
        let entry = |name: &str, more: &str| {
            format!("    {name} = {{\n      source = \"{}/acme/{name}\"\n{more}    }}\n", registry.host())
        };
        let main = |more: &str| format!("terraform {{\n  required_providers {{\n{}  }}\n}}\n", entry("widget", more));
        let workspace = Workspace::with_files(&[("main.tf", &main("      version = \"1.0.0\"\n"))]).env("PATH", &path);
        workspace.git(["init", "--quiet"]);
        if dice.one_in(2) {
            workspace.tflock(None, ["git", "install"]).ended_with(0);
        }
        workspace.git(["config", "merge.conflictStyle", dice.pick(&["merge", "diff3", "zdiff3"])]);
        let commit = |message: &str| {
            workspace.git(["add", "--all"]);
            workspace.git(["commit", "--quiet", "--allow-empty", "--message", message]);
        };
        workspace.tflock(&registry, ["lock", "--platform", dice.pick(&PLATFORMS)]).ended_with(0);
        workspace.write("main.tf", &main(""));
        commit("base");
        let mut story = vec![format!("world {world}")];
        for branch in ["one", "two"] {
            workspace.git(["checkout", "--quiet", "-b", branch, "main"]);
            let args = step(&mut dice);
            workspace.tflock(&registry, &args).ended_with(0);
            story.push(format!("{args:?}"));
            commit(branch);
        }
        if workspace.git_may_fail(["merge", "--no-edit", "one"]).code != Some(0) {
            let run = workspace.tflock(None, ["merge", "--resolve", LOCK]);
            assert!(matches!(run.code, Some(0 | 1)), "{story:?}: {run}");
            if run.code == Some(1) {
                return;
            }
        }
        merged.fetch_add(1, Relaxed);
        passes(&workspace, &registry, &story);
    });
    assert!(merged.into_inner() > worlds.len() / 2);
}

#[test]
fn what_lock_writes_in_some_worlds_verify_passes() {
    what_lock_writes_verify_passes(Extent::Short);
}

#[test]
#[ignore = "long"]
fn what_lock_writes_in_all_worlds_verify_passes() {
    what_lock_writes_verify_passes(Extent::Long);
}

#[test]
fn what_merge_writes_in_some_worlds_verify_passes() {
    what_merge_writes_verify_passes(Extent::Short);
}

#[test]
#[ignore = "long"]
fn what_merge_writes_in_all_worlds_verify_passes() {
    what_merge_writes_verify_passes(Extent::Long);
}

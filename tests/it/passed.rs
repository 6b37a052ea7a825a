//! What `verify` passes, the real `terraform init -lockfile=readonly` accepts: over random configurations, and lock files that were
//! changed at random.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::support::dice::Dice;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, rules};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

/// Platforms of developers' machines, so `init` finds its own.
pub const HERE: [&str; 4] = ["linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"];
pub const SETTINGS: &str = "platforms = [\"linux_amd64\", \"linux_arm64\", \"darwin_amd64\", \"darwin_arm64\"]\n";
const NAMES: [&str; 3] = ["extra", "gadget", "widget"];
pub const INIT: [&str; 5] = ["init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly"];

fn registry() -> Registry {
    let releases = NAMES.iter().flat_map(|name| ["1.0.0", "1.1.0", "2.0.0"].map(|version| (name, version)));
    releases
        .fold(Registry::start(), |registry, (name, version)| registry.release(&format!("acme/{name}"), version, &HERE))
}

/// The configuration of one directory: providers with and without constraints, resources, calls of modules, values that are
/// evaluated, and what cannot be.
fn directory(dice: &mut Dice, registry: &Registry, below: &[&str]) -> String {
    let mut text = String::from("terraform {\n  required_providers {\n");
    for name in NAMES {
        if dice.one_in(2) {
            continue;
        }
        let constraint = dice.pick(&["", "version = \"~> 1.0\"", "version = \">= 1.1.0\"", "version = \"1.0.0\""]);
        let address = format!("{}/acme/{name}", registry.host());
        let _ = write!(text, "    {name} = {{\n      source = \"{address}\"\n      {constraint}\n    }}\n");
    }
    text += "  }\n}\n";
    for module in below.iter().filter(|_| dice.one_in(2)) {
        let _ = write!(text, "module \"{module}\" {{\n  source = \"./{module}\"\n}}\n");
    }
    if dice.one_in(4) {
        text += "resource \"terraform_data\" \"x\" {\n}\n";
    }
    text
}

/// Changes a lock file in one way, or leaves it.
pub fn change(dice: &mut Dice, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let of = |part: &str| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| line.contains(part)).map(|(at, _)| at).collect()
    };
    let without = |from: usize, count: usize| {
        let left = lines.iter().enumerate().filter(|(at, _)| !(from..from + count).contains(at));
        left.map(|(_, line)| [line, "\n"].concat()).collect::<String>()
    };
    let (entries, hashes) = (of("provider \""), of("    \""));
    if entries.is_empty() {
        return text.to_owned();
    }
    match dice.below(9) {
        0 => {
            let from = dice.pick(&entries);
            let count = lines[from..].iter().position(|line| *line == "}").unwrap() + 1;
            without(from, count)
        }
        1 => without(dice.pick(&hashes), 1),
        2 => text.replace("1.1.0", "1.0.0"),
        3 => text.replacen("version     = \"", "version     = \"1", 1),
        4 => text.replacen("constraints = \"~> 1.0", "constraints = \"~> 1.1", 1),
        5 => text.replacen("h1:", "h1:A", 1),
        6 => text.replace("    \"zh:", "    \"zz:"),
        7 => text.replacen("acme/widget", "acme/extra", 1),
        _ => text.to_owned(),
    }
}

fn what_verify_passes_init_accepts(extent: Extent) {
    let (registry, passed) = (registry(), AtomicUsize::new(0));
    each_is_right(&extent.seeds(6, 30), |world| {
        let mut dice = Dice::of(*world);
        let workspace = Workspace::with_files(&[(".tflock.hcl", SETTINGS)]);
        workspace.write("main.tf", &directory(&mut dice, &registry, &["one", "two"]));
        workspace.write("one/main.tf", &directory(&mut dice, &registry, &["deep"]));
        workspace.write("one/deep/main.tf", &directory(&mut dice, &registry, &[]));
        workspace.write("two/main.tf", &directory(&mut dice, &registry, &[]));
        // Constraints that contradict each other have no lock file.
        if workspace.tflock(&registry, ["lock"]).code != Some(0) {
            return Ok(());
        }
        for _ in 0..dice.below(3) {
            let changed = change(&mut dice, &workspace.lock_file());
            workspace.write(LOCK, &changed);
        }
        // The configuration may go on without the lock file.
        if dice.one_in(4) {
            workspace.write("two/main.tf", &directory(&mut dice, &registry, &[]));
        }
        let verified = workspace.tflock(&registry, ["verify", "--format", "json"]);
        if verified.code != Some(0) || !rules(&verified, "warn").is_empty() {
            return Ok(());
        }
        passed.fetch_add(1, Relaxed);
        let Some(init) = workspace.terraform(&registry, INIT) else { return Ok(()) };
        // `verify` says of an entry that nothing requires what init makes of it.
        let is_said = rules(&verified, "note").contains("possibly-from-state");
        if is_said || init.code == Some(0) && !init.touched().contains(&LOCK) {
            return Ok(());
        }
        Err(format!("world {world}: {verified}\n{init}"))
    });
    assert!(passed.into_inner() > 0, "no world passed");
}

#[test]
fn what_verify_passes_in_some_worlds_init_accepts() {
    what_verify_passes_init_accepts(Extent::Short);
}

#[test]
#[ignore = "long"]
fn what_verify_passes_in_all_worlds_init_accepts() {
    what_verify_passes_init_accepts(Extent::Long);
}

//! What `verify` passes, the real `terraform init -lockfile=readonly` accepts: over random configurations, and lock files that were
//! changed at random.
//!
//! `TFLOCK_TEST_WORLDS` says how many worlds are made, a few by default.

use std::fmt::Write as _;

use crate::support::dice::Dice;
use crate::support::locked::{LOCK, rules};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;

const FEW: u64 = 30;

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

/// How many worlds are made.
pub fn worlds(few: u64) -> u64 {
    std::env::var("TFLOCK_TEST_WORLDS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Every third world, from one of the first three on: no test is to take long.
fn what_verify_passes_init_accepts(from: u64) {
    let count = worlds(FEW);
    let registry = registry();
    let (mut passed, mut wrong) = (0, Vec::new());
    for world in (from..count).step_by(3) {
        let mut dice = Dice::of(world);
        let workspace = Workspace::with_files(&[(".tflock.hcl", SETTINGS)]);
        workspace.write("main.tf", &directory(&mut dice, &registry, &["one", "two"]));
        workspace.write("one/main.tf", &directory(&mut dice, &registry, &["deep"]));
        workspace.write("one/deep/main.tf", &directory(&mut dice, &registry, &[]));
        workspace.write("two/main.tf", &directory(&mut dice, &registry, &[]));
        // Constraints that contradict each other have no lock file.
        if workspace.tflock(&registry, ["lock"]).code != Some(0) {
            continue;
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
            continue;
        }
        let Some(init) = workspace.terraform(&registry, INIT) else { return };
        passed += 1;
        // `verify` says of an entry that nothing requires what init makes of it.
        if rules(&verified, "note").contains("possibly-from-state") {
            continue;
        }
        if init.code != Some(0) || init.touched().contains(&LOCK) {
            wrong.push(format!("world {world}: {verified}\n{init}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----------\n"));
    assert!(passed > 0, "no world passed");
}

#[test]
fn what_verify_passes_init_accepts_1() {
    what_verify_passes_init_accepts(0);
}

#[test]
fn what_verify_passes_init_accepts_2() {
    what_verify_passes_init_accepts(1);
}

#[test]
fn what_verify_passes_init_accepts_3() {
    what_verify_passes_init_accepts(2);
}

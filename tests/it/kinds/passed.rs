//! What `verify` passes next to a unit, the real `terraform init -lockfile=readonly` accepts in the directory that Terragrunt assembles: in
//! the recorded trees, then in random ones, with lock files as `lock` writes them and changed at random.
//!
//! The second reader assembles the directory.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::plain::{self, Files, trees};
use crate::passed::{HERE, INIT, SETTINGS, change};
use crate::support::dice::Dice;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, rules};
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// How many changed lock files are looked at in each tree.
const CHANGES: usize = 3;

const NAMES: [&str; 6] = ["archive", "local", "null", "random", "time", "tls"];
/// One for each constraint of the trees.
const VERSIONS: [&str; 9] = ["1.0.0", "1.1.0", "1.2.3", "3.0.0", "5.0.0", "7.0.0", "8.0.0", "8.1.0", "9.0.0"];

fn registry() -> Registry {
    let releases = NAMES.iter().flat_map(|name| VERSIONS.map(|version| (format!("hashicorp/{name}"), version)));
    releases.fold(Registry::start().standing_for("registry.terraform.io"), |registry, (name, version)| {
        registry.release(&name, version, &HERE)
    })
}

/// The files of a tree, and the directory of its unit: of a recorded one, or of a random one behind these.
fn tree(number: u64) -> (Files, String) {
    let Some(row) = super::cases::rows().nth(usize::try_from(number).unwrap()) else { return trees::tree(number) };
    let files = row["files"].as_object().unwrap().iter();
    let files = files.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect();
    (files, row["at"].as_str().unwrap().to_owned())
}

/// True if all was read, and nothing is wrong. The keys of the registry are not those of the publisher.
fn is_passed(run: &Run) -> bool {
    run.code == Some(0) && rules(run, "warn").iter().all(|rule| rule == "unexpected-publisher")
}

/// What `init` says in the assembled directory; `None` without Terraform.
fn init(assembled: &Files, lock: &str, registry: &Registry) -> Option<Run> {
    let workspace = Workspace::with_files(&[(LOCK, lock)]);
    for (name, text) in assembled {
        workspace.write(name, text);
    }
    workspace.terraform(registry, INIT)
}

fn what_verify_passes_init_accepts(extent: Extent) {
    let (registry, passed) = (registry(), AtomicUsize::new(0));
    each_is_right(&extent.seeds(4, 24), |number| {
        let (files, unit) = tree(*number);
        let Ok(assembled) = plain::assembled(&files, &unit) else { return Ok(()) };
        let workspace = Workspace::with_files(&[(".tflock.hcl", &format!("tool = \"terraform\"\n{SETTINGS}"))]);
        for (path, text) in &files {
            workspace.write(path, text);
        }
        workspace.git(["init", "--quiet"]);
        let locked = workspace.tflock_in(&unit, &registry, ["lock"]);
        let path = format!("{unit}/{LOCK}");
        // What the tool refuses, and constraints that contradict each other, have no lock file.
        if locked.code != Some(0) || !workspace.has(&path) {
            return Ok(());
        }
        let (mut dice, written) = (Dice::of(*number), workspace.read(&path));
        for changes in 0..=CHANGES {
            let text = (0..changes).fold(written.clone(), |text, _| change(&mut dice, &text));
            workspace.write(&path, &text);
            let verified = workspace.tflock_in(&unit, &registry, ["verify", "--format", "json"]);
            if !is_passed(&verified) || rules(&verified, "note").contains("possibly-from-state") {
                if changes == 0 {
                    return Err(format!("tree {number}: what `lock` wrote is not passed\n{verified}"));
                }
                continue;
            }
            assert!(!verified.stdout.contains("requirements-unread"), "{verified}");
            passed.fetch_add(1, Relaxed);
            let Some(init) = init(&assembled, &text, &registry) else { return Ok(()) };
            if init.code != Some(0) || init.touched().contains(&LOCK) {
                return Err(format!("tree {number}, {changes} changes: {verified}\n{init}"));
            }
        }
        Ok(())
    });
    assert!(passed.into_inner() > 0, "no tree passed");
}

#[test]
fn what_verify_passes_next_to_some_units_init_accepts() {
    what_verify_passes_init_accepts(Extent::Short);
}

#[test]
#[ignore = "long"]
fn what_verify_passes_next_to_all_units_init_accepts() {
    what_verify_passes_init_accepts(Extent::Long);
}

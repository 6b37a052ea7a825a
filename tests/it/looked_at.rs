//! A run that passes looked at every lock file that Git tracks, and names each one that is missing by the rules: over random
//! repositories in which lock files, units, ignore rules and settings come and go between base and change.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::support::dice::Dice;
use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, MAIN, honest, locked};
use crate::support::proposal::commit;
use crate::support::registry::Registry;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const MODULES: [&str; 4] = ["app", "net", "net/deep", "old"];
const UNITS: [&str; 3] = ["live/a", "live/b", "live/c"];
const UNIT: &str = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \"${get_repo_root()}/modules/x\"\n}\n";
const INSTANCE: &str = ".dev.terraform.lock.hcl";
const BACKEND: &str = "terraform {\n  backend \"s3\" {\n  }\n}\n";
const GATE: [&str; 6] = ["verify", "-r", "--offline", "--base", "origin/main", "--format"];

struct World<'a> {
    workspace: &'a Workspace,
    main: String,
    lock: String,
}

impl World<'_> {
    fn put(&self, dice: &mut Dice, path: &str, text: &str, odds: usize) {
        if dice.one_in(odds) {
            let _gone = std::fs::remove_file(self.workspace.path(path));
        } else {
            self.workspace.write(path, text);
        }
    }

    /// Writes and removes files at random.
    fn change(&self, dice: &mut Dice) {
        for module in MODULES {
            if dice.one_in(2) {
                self.put(dice, &format!("{module}/main.tf"), &self.main, 5);
                self.put(dice, &format!("{module}/backend.tf"), BACKEND, 2);
                self.put(dice, &format!("{module}/{LOCK}"), &self.lock, 3);
                if dice.one_in(3) {
                    self.put(dice, &format!("{module}/{INSTANCE}"), &self.lock, 3);
                }
            }
        }
        for unit in UNITS {
            if dice.one_in(2) {
                self.put(dice, &format!("{unit}/terragrunt.hcl"), UNIT, 4);
                self.put(dice, &format!("{unit}/{LOCK}"), &self.lock, 3);
            }
        }
        let ignored = dice.pick(&["", "", ".terraform.lock.hcl\n", "/net/**/.terraform.lock.hcl\n", "old\n"]);
        self.workspace.write(".gitignore", ignored);
        let levels = "level \"lock-file-missing\" {\n  is = \"deny\"\n}\n";
        let settings = dice.pick(&["", "", "exclude = [\"old\"]\n", levels, "platforms = [\"linux_amd64\"]\n"]);
        self.workspace.write(".tflock.hcl", &format!("tool = \"terraform\"\n{settings}"));
    }
}

fn lines(run: &Run) -> BTreeSet<String> {
    run.stdout.lines().map(str::to_owned).collect()
}

/// What is wrong with a run that passed.
fn wrong(workspace: &Workspace, run: &Run) -> Vec<String> {
    let document = run.json();
    let looked: BTreeSet<&str> =
        document["roots"].as_array().unwrap().iter().filter_map(|root| root["lock_file"].as_str()).collect();
    let named: BTreeSet<&str> = document["roots"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|root| root["findings"].as_array().unwrap())
        .filter_map(|finding| finding["file"].as_str())
        .collect();
    let (tracked, excludes) = (lines(&workspace.git(["ls-files"])), workspace.git(["show", "origin/main:.tflock.hcl"]));
    let is_excluded = |path: &str| excludes.stdout.contains("exclude") && path.starts_with("old/");
    let before = lines(&workspace.git(["ls-tree", "-r", "--name-only", "origin/main"]));
    let has_levels = excludes.stdout.contains("level");
    let mut wrong = Vec::new();
    for path in tracked.iter().filter(|path| path.ends_with(LOCK) && !is_excluded(path)) {
        if !looked.contains(&**path) {
            wrong.push(format!("{path} was not looked at"));
        }
    }
    for module in MODULES.iter().chain(&UNITS) {
        let (lock, backend) = (format!("{module}/{LOCK}"), format!("{module}/backend.tf"));
        let (main, unit) = (format!("{module}/main.tf"), format!("{module}/terragrunt.hcl"));
        let has = |path: &str| tracked.contains(path);
        // What was so at the base did not change.
        let was_so = before.contains(&main) && before.contains(&backend) && !before.contains(&lock);
        let needs = has(&main) && has(&backend) && !was_so || has_levels && has(&unit);
        let lacks = !has(&lock) && !has(&format!("{module}/{INSTANCE}"));
        if needs && lacks && !is_excluded(&lock) && !named.contains(&*lock) {
            wrong.push(format!("{lock} is missing and was not named"));
        }
    }
    wrong
}

fn passing_looks_at_all(extent: Extent) {
    let (registry, passed) = (honest(), AtomicUsize::new(0));
    each_is_right(&extent.seeds(8, 24), |seed| {
        let mut dice = Dice::of(*seed);
        let workspace = world(&registry, &mut dice);
        let run = workspace.tflock(&registry, GATE.into_iter().chain(["json"]));
        let document = run.json();
        let verdict = document["verdict"].as_str().unwrap();
        assert_eq!(document["exit_code"], run.code.unwrap(), "{run}");
        let tracked = lines(&workspace.git(["ls-files"]));
        assert!(verdict != "nothing to check" || run.code == Some(0), "{run}");
        if !verdict.starts_with("passed") {
            return Ok(());
        }
        passed.fetch_add(1, Relaxed);
        assert!(tracked.iter().any(|path| path.ends_with(LOCK)), "world {seed}: nothing passed\n{run}");
        let found = wrong(&workspace, &run);
        if found.is_empty() { Ok(()) } else { Err(format!("world {seed}: {}\n{run}", found.join("\n"))) }
    });
    assert!(passed.into_inner() > 0, "no world passed");
}

fn world(registry: &Registry, dice: &mut Dice) -> Workspace {
    let main = MAIN.replace("{{registry}}", &registry.host());
    let workspace = Workspace::with_files(&[("modules/x/main.tf", &main), ("root.hcl", "")]);
    let world = World { workspace: &workspace, main, lock: locked(registry).lock_file() };
    workspace.git(["init", "--quiet"]);
    world.change(dice);
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    if !dice.one_in(4) {
        world.change(dice);
        commit(&workspace, "change");
    }
    workspace
}

#[test]
fn passing_looks_at_all_of_some_worlds() {
    passing_looks_at_all(Extent::Short);
}

#[test]
#[ignore = "long"]
fn passing_looks_at_all_of_any_world() {
    passing_looks_at_all(Extent::Long);
}

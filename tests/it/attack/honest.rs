//! Honest changes, as many as there are: the gate lets them pass.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::sight::submodule;
use crate::support::locked::{LOCK, honest};
use crate::support::proposal::{GATE, commit, edit, repository};
use crate::support::run::Run;
use crate::support::workspace::Workspace;

const DIFFS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/realworld/diffs");

/// What is denied of the changes of real commits: the rules, and of how many. The authors merged and rewrote these by hand; and
/// moved to the other tool, which is reported for the tree as a whole.
const DENIED: &[(&[&str], usize)] = &[
    (&["dialect-changed"], 1),
    (&["duplicate-provider"], 2),
    (&["hash-replaced"], 22),
    (&["hash-replaced", "hashes-dropped"], 3),
    (&["hashes-dropped"], 23),
];

/// The rules at level deny of each root module that has one.
fn denied(run: &Run) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for root in run.json()["roots"].as_array().unwrap() {
        for finding in root["findings"].as_array().into_iter().flatten().filter(|finding| finding["level"] == "deny") {
            let of = found.entry(root["path"].as_str().unwrap().to_owned()).or_default();
            of.insert(finding["rule"].as_str().unwrap().to_owned());
        }
    }
    found
}

#[test]
fn real_changes_of_lock_files() {
    if !Path::new(DIFFS).is_dir() {
        let _ = writeln!(std::io::stderr(), "skipped: ../shared is not here");
        return;
    }
    let workspace = Workspace::with_files(&[]);
    let mut names: Vec<String> = std::fs::read_dir(DIFFS)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(DIFFS).join(name).is_dir())
        .collect();
    names.sort();
    let put = |side: &str| {
        for name in &names {
            let text = std::fs::read(Path::new(DIFFS).join(name).join(format!("{side}.lock.hcl"))).unwrap();
            std::fs::create_dir_all(workspace.path(name)).unwrap();
            std::fs::write(workspace.path(name).join(LOCK), text).unwrap();
        }
    };
    put("before");
    workspace.git(["init", "--quiet"]);
    commit(&workspace, "before");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    put("after");
    commit(&workspace, "after");
    let run = workspace.tflock(None, GATE.iter().chain(&["-r", "--offline", "--no-cache", "--format", "json"]));
    let shown: BTreeSet<String> =
        run.json()["roots"].as_array().unwrap().iter().map(|root| root["path"].as_str().unwrap().to_owned()).collect();
    assert!(names.len() == 262 && names.iter().all(|name| shown.contains(name)), "{}", run.stderr);
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for rules in denied(&run).into_values() {
        *counts.entry(rules.into_iter().collect()).or_default() += 1;
    }
    let owned = |rules: &[&str]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected: BTreeMap<Vec<String>, usize> = DENIED.iter().map(|(rules, count)| (owned(rules), *count)).collect();
    assert_eq!(counts, expected);
}

/// Shared modules, a module from a submodule, a file that all have by a link.
#[test]
#[ignore = "long"]
fn forty_root_modules_that_share() {
    let registry = honest();
    let workspace = repository(&registry);
    workspace.write("modules/net/main.tf", "locals {}\n");
    workspace.write("vendored/dns/main.tf", "locals {}\n");
    submodule(&workspace, "vendored");
    workspace.write("shared/common.tf", "locals {\n  common = true\n}\n");
    let main = workspace.read("app/main.tf");
    let module = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"../../{source}\"\n}}\n");
    let main = main + &module("net", "modules/net") + &module("dns", "vendored/dns");
    let lock = workspace.read(&format!("app/{LOCK}"));
    for at in 0..40 {
        workspace.write(&format!("live/r{at}/main.tf"), &main);
        workspace.write(&format!("live/r{at}/{LOCK}"), &lock);
        symlink("../../shared/common.tf", workspace.path(&format!("live/r{at}/common.tf"))).unwrap();
    }
    commit(&workspace, "main");
    workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let gate = || workspace.tflock(&registry, GATE.iter().chain(&["-r", "--offline", "--format", "json"]));
    let unchanged = |run: &Run| {
        run.stderr.lines().find_map(|line| line.split_once(" unchanged root modules").map(|it| it.0.to_owned()))
    };
    let run = gate().ended_with(0);
    assert_eq!(unchanged(&run).as_deref(), Some("note: skipped 42"), "{run}");
    // That a submodule moves on is the owner's to approve.
    let changes: [&dyn Fn(); 3] = [
        &|| edit(&workspace, "modules/net/main.tf", |text| format!("{text}# more\n")),
        &|| edit(&workspace, "shared/common.tf", |text| format!("{text}# more\n")),
        &|| {
            workspace.git(["mv", "live/r1", "live/moved"]);
            workspace.git(["rm", "-r", "--quiet", "live/r2"]);
        },
    ];
    for (change, left) in changes.iter().zip(["note: skipped 2", "note: skipped 2", "note: skipped 40"]) {
        change();
        commit(&workspace, "honest");
        let run = gate().ended_with(0);
        assert_eq!((unchanged(&run).as_deref(), denied(&run)), (Some(left), BTreeMap::new()), "{run}");
        workspace.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
    }
}

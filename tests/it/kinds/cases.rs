//! The recorded trees of `tests/kinds`, each with what its tool requires there.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use serde_json::Value;

use crate::support::each_is_right;
use crate::support::extent::Extent;
use crate::support::run::Run;
use crate::support::workspace::Workspace;

#[test]
fn recorded_trees_are_read_as_their_tools_read_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds/cases");
    for case in std::fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().path()) {
        let name = case.file_name().unwrap().to_str().unwrap();
        let expected: Value = serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
        let workspace = Workspace::with_files(&[]);
        copy(&case.join("tree"), &workspace.path(""));
        workspace.git(["init", "--quiet"]);
        workspace.git(["add", "--all"]);
        check(name, &workspace, &expected);
    }
}

/// Each claim is right: what is read is what Terragrunt requires, and what is not read is said to be unread. Most are read.
fn units_require_what_terragrunt_requires(extent: Extent) {
    for (recorded, least) in [(FIRST, 95), (SECOND, 75)] {
        let (rows, read, all) = (rows_of(recorded).collect::<Vec<_>>(), AtomicUsize::new(0), AtomicUsize::new(0));
        each_is_right(&extent.of(&rows, 12), |row| {
            let (workspace, why) = read_row(row);
            assert!(why.code.is_some_and(|code| (0..=4).contains(&code)), "{}: {why}", row["name"]);
            let Some(wanted) = row["requirements"].as_object() else { return Ok(()) };
            let wanted: BTreeMap<String, String> =
                wanted.iter().map(|(addr, text)| (addr.clone(), text.as_str().unwrap().to_owned())).collect();
            all.fetch_add(1, Relaxed);
            if why.code == Some(0) && sorted(requirements(&why)) == sorted(wanted) {
                read.fetch_add(1, Relaxed);
                return Ok(());
            }
            let verify = run_in_row(row, &workspace, "verify");
            let is_unread = rules(&verify).contains(&"requirements-unread".to_owned());
            let is_right = why.code != Some(2) && (is_unread || verify.code == Some(4));
            if is_right { Ok(()) } else { Err(format!("{}: {why} {verify}", row["name"])) }
        });
        let (read, all) = (read.into_inner(), all.into_inner());
        assert!(extent == Extent::Short || 100 * read >= least * all, "{read} of {all} are read");
    }
}

#[test]
fn some_units_require_what_terragrunt_requires() {
    units_require_what_terragrunt_requires(Extent::Short);
}

#[test]
#[ignore = "long"]
fn all_units_require_what_terragrunt_requires() {
    units_require_what_terragrunt_requires(Extent::Long);
}

/// Constraints of one provider have no order.
fn sorted(requirements: BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let split = |text: String| {
        let mut parts: Vec<String> = text.split(", ").map(str::to_owned).collect();
        parts.sort();
        parts
    };
    requirements.into_iter().map(|(addr, text)| (addr, split(text))).collect()
}

fn read_row(row: &Value) -> (Workspace, Run) {
    let workspace = Workspace::with_files(&[]);
    for (path, text) in row["files"].as_object().unwrap() {
        workspace.write(path, text.as_str().unwrap());
    }
    workspace.write(&format!("{}/.terraform.lock.hcl", row["at"].as_str().unwrap()), "");
    workspace.git(["init", "--quiet"]);
    workspace.git(["add", "--all"]);
    let why = run_in_row(row, &workspace, "why");
    (workspace, why)
}

fn run_in_row(row: &Value, workspace: &Workspace, command: &str) -> Run {
    let tool = ["--offline", "--tool", row["tool"].as_str().unwrap(), "--format", "json"];
    workspace.tflock_in(row["at"].as_str().unwrap(), None, [command].iter().chain(&tool))
}

const FIRST: &str = include_str!("../../kinds/random.jsonl");
const SECOND: &str = include_str!("../../kinds/random2.jsonl");

fn rows_of(recorded: &'static str) -> impl Iterator<Item = Value> {
    recorded.lines().map(|row| serde_json::from_str(row).unwrap())
}

/// The recorded trees with random units.
pub fn rows() -> impl Iterator<Item = Value> {
    rows_of(FIRST)
}

/// The constraints of each provider that is required.
pub fn requirements(why: &Run) -> BTreeMap<String, String> {
    let found = why.json();
    let found = found["requirements"].as_array().unwrap_or_else(|| panic!("{why}")).iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found.map(|it| (text(&it["address"]), text(&it["constraints"]))).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn check(name: &str, workspace: &Workspace, expected: &Value) {
    let run = |args: &[&str]| {
        let tool = ["--tool", expected["tool"].as_str().unwrap(), "--offline"];
        workspace.tflock_in(expected["at"].as_str().unwrap(), None, args.iter().chain(&tool))
    };
    let why = run(&["why", "--format", "json"]);
    if let Some(wanted) = expected["requirements"].as_object() {
        let wanted = wanted.iter().map(|(addr, text)| (addr.clone(), text.as_str().unwrap().to_owned()));
        assert_eq!(requirements(&why), wanted.collect(), "{name}");
    }
    if let Some(code) = expected["exit"].as_i64() {
        let why = run(&["why"]);
        let says = expected["says"].as_str().unwrap_or_default();
        assert!(
            why.code == i32::try_from(code).ok() && format!("{}{}", why.stdout, why.stderr).contains(says),
            "{name}: {why}"
        );
    }
    let verify = run(&["verify", "--format", "json"]);
    let rules = rules(&verify);
    if let Some(about) = expected["unread"].as_str() {
        assert!(rules.contains(&"requirements-unread".to_owned()) && verify.stdout.contains(about), "{name}: {verify}");
    }
    if let Some(kept) = expected["keeps"].as_str() {
        let changes = run(&["lock", "--prune", "--dry-run", "--format", "json"]).json()["changes"].to_string();
        assert!(!changes.contains(kept), "{name}: {changes}");
    }
    if let Some(rule) = expected["finding"].as_str() {
        assert!(rules.iter().any(|found| found == rule), "{name}: {rules:?}");
    }
    for clean in expected["clean"].as_array().into_iter().flatten() {
        assert!(!rules.contains(&clean.as_str().unwrap().to_owned()), "{name}: {rules:?}");
    }
    if let Some(roots) = expected["roots"].as_array() {
        let list = workspace.tflock(None, ["list", "-r", "--offline", "--format", "json"]).json();
        let paths: Vec<&Value> = list["roots"].as_array().unwrap().iter().map(|root| &root["path"]).collect();
        assert_eq!(paths, roots.iter().collect::<Vec<_>>(), "{name}");
    }
}

fn rules(run: &Run) -> Vec<String> {
    let findings = run.json()["findings"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

//! The recorded trees of `tests/kinds`, each with what its tool requires there.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::run::Run;
use crate::support::workspace::Workspace;

/// Those that are read today; the others wait for units.
const READ: [&str; 4] = ["stack-basic", "stack-missing-entry", "stack-no-version", "stack-version"];

#[test]
fn recorded_trees_are_read_as_their_tools_read_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kinds/cases");
    for name in READ {
        let case = cases.join(name);
        let expected: Value = serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
        let workspace = Workspace::with_files(&[]);
        copy(&case.join("tree"), &workspace.path(""));
        workspace.git(["init", "--quiet"]);
        workspace.git(["add", "--all"]);
        check(name, &workspace, &expected);
    }
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
        let wanted: BTreeMap<&str, &str> =
            wanted.iter().map(|(addr, text)| (&**addr, text.as_str().unwrap())).collect();
        let found = why.json();
        let found = found["requirements"].as_array().unwrap_or_else(|| panic!("{name}: {why}"));
        let found: BTreeMap<&str, &str> = found
            .iter()
            .map(|it| (it["address"].as_str().unwrap(), it["constraints"].as_str().unwrap_or("")))
            .collect();
        assert_eq!(found, wanted, "{name}");
    }
    if let Some(code) = expected["exit"].as_i64() {
        let why = run(&["why"]);
        let says = expected["says"].as_str().unwrap_or_default();
        assert!(
            why.code == i32::try_from(code).ok() && format!("{}{}", why.stdout, why.stderr).contains(says),
            "{name}: {why}"
        );
    }
    let rules = rules(&run(&["verify", "--format", "json"]));
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

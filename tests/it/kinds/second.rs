//! A second reader of units against the recorded trees, and against the program.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cases::requirements;
use super::plain::{self, Files, trees};
use crate::support::extent::seeds;
use crate::support::workspace::Workspace;

#[test]
fn the_second_reader_agrees_with_terragrunt() {
    for row in super::cases::rows() {
        let files = row["files"].as_object().unwrap().iter();
        let files: Files = files.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect();
        let found = plain::requirements(&files, row["at"].as_str().unwrap());
        match row["requirements"].as_object() {
            Some(wanted) => assert_eq!(found.as_ref().map(sorted), Ok(wanted_of(wanted)), "{}", row["name"]),
            None => assert!(found.is_err(), "{}: {found:?}", row["name"]),
        }
    }
}

fn wanted_of(wanted: &serde_json::Map<String, Value>) -> BTreeMap<String, Vec<String>> {
    sorted(&wanted.iter().map(|(addr, text)| (addr.clone(), text.as_str().unwrap().to_owned())).collect())
}

/// Without the order of terms, which says nothing.
fn sorted(requirements: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let terms = |text: &String| {
        let mut terms: Vec<String> = text.split(", ").map(str::to_owned).collect();
        terms.sort();
        terms
    };
    requirements.iter().map(|(addr, text)| (addr.clone(), terms(text))).collect()
}

/// A tree is named by its number.
#[test]
#[ignore = "long"]
fn random_units_are_read_as_the_second_reader_reads_them() {
    let seeds = seeds(60);
    let count = seeds.clone().count();
    let (mut wrong, mut compared, mut unread) = (Vec::new(), 0, 0);
    for seed in seeds {
        let (files, unit) = trees::tree(seed);
        let Ok(wanted) = plain::requirements(&files, &unit) else { continue };
        compared += 1;
        let workspace = Workspace::with_files(&[]);
        for (path, text) in &files {
            workspace.write(path, text);
        }
        workspace.write(&format!("{unit}/.terraform.lock.hcl"), "");
        workspace.git(["init", "--quiet"]);
        let why = workspace.tflock_in(&unit, None, ["why", "--offline", "--tool", "terraform", "--format", "json"]);
        if why.code != Some(0) || sorted(&requirements(&why)) != sorted(&wanted) {
            // The second reader takes what it does not model for what it seems to be; the program says that it does not read it.
            let verify =
                workspace.tflock_in(&unit, None, ["verify", "--offline", "--tool", "terraform", "--format", "json"]);
            if verify.json()["findings"]
                .as_array()
                .is_some_and(|all| all.iter().any(|it| it["rule"] == "requirements-unread"))
            {
                unread += 1;
                continue;
            }
            wrong.push(format!("{seed}: wanted {wanted:?}\n{}\n{why}", files[&format!("{unit}/terragrunt.hcl")]));
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} trees\n{}", wrong.len(), wrong.join("\n"));
    assert!(unread * 10 <= compared, "{unread} of {compared} trees are not read");
    assert!(compared * 3 > count, "{compared} of {count} trees are accepted");
}

//! Merges from real repositories, made again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use tflock_core::addr::ProviderAddr;
use tflock_core::dialect::Dialect;
use tflock_core::lockfile::{self, Decoded, LockFile};
use tflock_core::merge::split;

use super::{FILE, commit, workspace};

const MERGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/realworld/merges");

/// Where results differ from what was committed: case, types of the providers, reason.
const REASONS: &[(&str, &str, &str)] = &[
    ("001", "aws", "ours raised the constraint to ~> 5.66, which still holds; people took the file of theirs"),
    ("004", "aws", "ours raised the constraint to ~> 5.66, which still holds; people took the file of theirs"),
    ("006", "(refused)", "the committed file has conflict markers"),
    ("009", "(refused)", "the committed file has hashicorp/tls twice"),
    ("015", "azurerm", "both sides changed the constraints, and the terms of both are recorded; people took one side"),
    (
        "021",
        "azapi random",
        "both sides changed the constraints, and the terms of both are recorded; people took one side",
    ),
    (
        "022",
        "azapi azurerm",
        "people took the file of ours, without what theirs added and below the version that both sides allow",
    ),
    (
        "023",
        "azuread random",
        "both sides changed the constraints, and the terms of both are recorded; people took one side",
    ),
    (
        "024",
        "azuread random",
        "both sides changed the constraints, and the terms of both are recorded; people took one side",
    ),
    (
        "026",
        "auth0 cloudinit helm kubernetes local null template tls http",
        "people took the file of theirs, and with it nothing that ours upgraded, added or removed",
    ),
    ("042", "azuread azurerm", "people dropped what ours added; the constraints of both sides are recorded"),
    (
        "043",
        "azurerm null",
        "both sides changed the constraints of one; the other was removed by theirs and changed by ours, and is kept",
    ),
];

/// One case: its three versions and what was committed.
struct Case {
    name: String,
    texts: BTreeMap<&'static str, String>,
}

fn cases() -> Option<Vec<Case>> {
    if !Path::new(MERGES).is_dir() {
        let _ = writeln!(std::io::stderr(), "skipped: ../shared is not here");
        return None;
    }
    let folders = std::fs::read_dir(MERGES).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut cases: Vec<Case> = folders
        .map(|folder| {
            let read = |name| Some((name, std::fs::read_to_string(folder.join(format!("{name}.lock.hcl"))).ok()?));
            let texts = ["base", "ours", "theirs", "result", "git-merge"].into_iter().filter_map(read).collect();
            Case { name: folder.file_name().unwrap().to_str().unwrap().to_owned(), texts }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Some(cases)
}

fn decoded(text: &str) -> Option<Decoded> {
    lockfile::decode(text.as_bytes(), lockfile::detect_dialect(text.as_bytes()).unwrap_or(Dialect::Terraform)).ok()
}

/// One repository with a folder for each case, and one merge of them all.
#[test]
fn merges_from_real_repositories() {
    let Some(cases) = cases() else { return };
    assert_eq!(cases.len(), 54);
    let workspace = workspace(&[]);
    workspace.tflock(None, ["git", "install"]).ended_with(0);
    let state = |side: &str| {
        for case in &cases {
            if let Some(text) = case.texts.get(side) {
                workspace.write(&format!("{}/{FILE}", case.name), text);
            }
        }
        commit(&workspace, side);
    };
    state("base");
    workspace.git(["checkout", "--quiet", "-b", "topic"]);
    state("theirs");
    workspace.git(["checkout", "--quiet", "main"]);
    state("ours");
    workspace.git_may_fail(["merge", "topic"]).ended_with(1);

    let mut conflicts = BTreeMap::new();
    let mut differing = Vec::new();
    for case in &cases {
        let text = workspace.read(&format!("{}/{FILE}", case.name));
        if let Some(sides) = split(text.as_bytes()).unwrap() {
            for side in [sides.ours, sides.theirs] {
                let side = String::from_utf8(side).unwrap();
                assert!(decoded(&side).is_some_and(|side| side.canonical), "a side of {}\n{text}", case.name);
            }
            conflicts.insert(case.name.as_str(), text.matches("\n<<<<<<< OURS\n").count());
            continue;
        }
        let merged = decoded(&text).unwrap_or_else(|| panic!("{} does not parse\n{text}", case.name));
        assert!(merged.canonical, "{} is not canonical\n{text}", case.name);
        let others = differences(&merged.lock, case);
        if !others.is_empty() {
            differing.push((case.name.as_str(), others));
        }
    }
    // Two exact constraints leave no choice: the user must decide which configuration applies.
    let expected = BTreeMap::from([("016", 1), ("017", 1), ("020", 1), ("034", 1)]);
    assert_eq!(conflicts, expected);
    let explained: Vec<_> = REASONS.iter().map(|(case, others, _)| (*case, (*others).to_owned())).collect();
    assert_eq!(differing, explained);
}

/// The providers, by type, whose entry is not the committed one, or why there is nothing to compare with.
fn differences(merged: &LockFile, case: &Case) -> String {
    let Some(committed) = decoded(&case.texts["result"]) else { return "(refused)".to_owned() };
    let addrs: BTreeSet<_> = merged.iter().chain(committed.lock.iter()).map(|(addr, _)| addr).collect();
    let others = addrs.into_iter().filter(|addr| merged.get(addr) != committed.lock.get(addr));
    others.map(ProviderAddr::type_name).collect::<Vec<_>>().join(" ")
}

//! Random worlds of two branches with configuration: what the driver and `merge --resolve` make of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tflock_core::dialect::Dialect;
use tflock_core::lockfile::{self, LockEntry};
use tflock_core::merge::split;
use tflock_core::version::Constraints;

use super::{FILE, lock, workspace};
use crate::support::workspace::Workspace;

const PROVIDERS: [&str; 5] = ["aws", "dns", "ftp", "random", "web"];

/// An entry: version, constraint, and whether it has the hash of a second platform.
type State = Option<(&'static str, &'static str, bool)>;

/// The states of one provider: base, ours, theirs; and what the merged configuration requires.
type Provider = ([State; 3], Option<&'static str>);

fn any_state() -> impl Strategy<Value = State> {
    let version = prop::sample::select(vec!["1.0.0", "1.1.0", "1.2.0", "2.0.0"]);
    let constraint = prop::sample::select(vec!["~> 1.0", "~> 1.1", ">= 1.0.0", "~> 2.0"]);
    let some = (version, constraint, any::<bool>()).prop_map(Some);
    prop_oneof![1 => Just(None), 5 => some]
}

fn any_provider() -> impl Strategy<Value = Provider> {
    let change = || prop_oneof![1 => Just(None), 1 => any_state().prop_map(Some)];
    let constraint = vec!["~> 1.0", "1.1.0", "1.2.0", ">= 1.0.0", "~> 2.0", "> 3.0.0"];
    let required = prop::option::weighted(0.9, prop::sample::select(constraint));
    (any_state(), change(), change(), required)
        .prop_map(|(base, ours, theirs, required)| ([base, ours.unwrap_or(base), theirs.unwrap_or(base)], required))
}

fn lock_of(world: &[Provider], side: usize) -> String {
    let entries: Vec<_> =
        PROVIDERS.iter().zip(world).filter_map(|(kind, (states, _))| Some((*kind, states[side]?))).collect();
    let hashes: Vec<Vec<String>> = entries
        .iter()
        .map(|(kind, (version, _, second))| {
            let zh = ["darwin", "linux"].map(|os| format!("zh:{kind}-{version}-{os}"));
            let h1 = ["darwin", "linux"].map(|os| format!("h1:{kind}-{version}-{os}"));
            h1.into_iter().skip(usize::from(!second)).chain(["zh:0manifest".to_owned()]).chain(zh).collect()
        })
        .collect();
    let hashes: Vec<Vec<&str>> = hashes.iter().map(|hashes| hashes.iter().map(String::as_str).collect()).collect();
    let entries: Vec<_> = entries
        .iter()
        .zip(&hashes)
        .map(|((kind, (version, constraint, _)), hashes)| (*kind, *version, *constraint, &hashes[..]))
        .collect();
    lock(&entries)
}

fn configuration(required: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let mut text = "terraform {\n  required_providers {\n".to_owned();
    for (kind, version) in required {
        let source = format!("registry.example.com/acme/{kind}");
        writeln!(text, "    {kind} = {{\n      source  = \"{source}\"\n      version = \"{version}\"\n    }}").unwrap();
    }
    text + "  }\n}\n"
}

fn entries(text: &str) -> BTreeMap<String, LockEntry> {
    let decoded = lockfile::decode(text.as_bytes(), Dialect::OpenTofu).unwrap();
    decoded.lock.iter().map(|(addr, entry)| (addr.type_name().to_owned(), entry.clone())).collect()
}

/// Both sides of the current lock file; equal without conflicts.
fn sides(workspace: &Workspace) -> [BTreeMap<String, LockEntry>; 2] {
    let text = workspace.lock_file();
    match split(text.as_bytes()).unwrap() {
        None => [entries(&text), entries(&text)],
        Some(parts) => [parts.ours, parts.theirs].map(|side| entries(&String::from_utf8(side).unwrap())),
    }
}

/// Each provider that only one side changed has the entry of that side.
fn nothing_is_lost(world: &[Provider], now: &[BTreeMap<String, LockEntry>; 2]) {
    let [_, ours, theirs] = [0, 1, 2].map(|side| entries(&lock_of(world, side)));
    for (kind, (states, _)) in PROVIDERS.iter().zip(world) {
        let wanted = match states {
            [base, _, it] if base == it => &ours,
            [base, it, _] if base == it => &theirs,
            _ => continue,
        };
        for side in now {
            assert_eq!(side.get(*kind), wanted.get(*kind), "{kind}");
        }
    }
}

/// Nothing is in conflict that the configuration decides, and what both sides changed is as it decides.
fn the_configuration_decided(world: &[Provider], [one, other]: &[BTreeMap<String, LockEntry>; 2]) {
    for (kind, (states, required)) in PROVIDERS.iter().zip(world) {
        let [base, ours, theirs] = states;
        if ours == theirs || ours == base || theirs == base {
            continue;
        }
        match (ours, theirs, required) {
            (Some(ours), Some(theirs), Some(required)) if ours.0 != theirs.0 => {
                let constraints = Constraints::parse_config(required).unwrap();
                let mut allowed = vec![ours.0, theirs.0];
                allowed.retain(|version| constraints.allows(&version.parse().unwrap()));
                assert!(allowed.is_empty() || one.get(*kind) == other.get(*kind), "{kind} is still in conflict");
                if let [only] = allowed[..] {
                    assert_eq!(one[*kind].version.to_string(), only, "{kind}");
                }
            }
            (None, Some(_), None) | (Some(_), None, None) => {
                assert!(!one.contains_key(*kind), "{kind} is not required");
            }
            (None, Some(_), _) | (Some(_), None, _) => assert!(one.contains_key(*kind), "{kind} is required"),
            _ => {}
        }
    }
}

fn merge_world(world: &[Provider], with_driver: bool) {
    let workspace = workspace(&[]);
    if with_driver {
        workspace.tflock(None, ["git", "install"]).ended_with(0);
    }
    let state = |side: usize| {
        workspace.write(FILE, &lock_of(world, side));
        let required = PROVIDERS.iter().zip(world).filter_map(|(kind, (states, _))| Some((*kind, states[side]?.1)));
        workspace.write("versions.tf", &configuration(required));
        workspace.git(["add", "--all"]);
        workspace.git(["commit", "--quiet", "--allow-empty", "--message", "state"]);
    };
    state(0);
    workspace.git(["checkout", "--quiet", "-b", "topic"]);
    state(2);
    workspace.git(["checkout", "--quiet", "main"]);
    state(1);
    workspace.git_may_fail(["merge", "--no-edit", "topic"]);
    if with_driver {
        nothing_is_lost(world, &sides(&workspace));
    }
    let has_conflicts = workspace.lock_file().contains("<<<<<<<");
    if !has_conflicts && !with_driver {
        // Git has merged lines, and nothing is left to be resolved.
        return;
    }
    let required = PROVIDERS.iter().zip(world).filter_map(|(kind, (_, required))| Some((*kind, (*required)?)));
    workspace.write("versions.tf", &configuration(required));
    workspace.tflock(None, ["merge", "--resolve"]);
    nothing_is_lost(world, &sides(&workspace));
    if has_conflicts {
        the_configuration_decided(world, &sides(&workspace));
    }
}

#[test]
fn no_merge_loses_what_one_side_changed_and_the_configuration_decides_the_rest() {
    // Each case starts some twenty processes.
    let few = Config { cases: 12, failure_persistence: None, ..Config::default() };
    let config = if std::env::var_os("PROPTEST_CASES").is_some() {
        Config { failure_persistence: None, ..Config::default() }
    } else {
        few
    };
    let mut runner = TestRunner::new(config);
    let worlds = (prop::collection::vec(any_provider(), PROVIDERS.len()), any::<bool>());
    runner
        .run(&worlds, |(world, with_driver)| {
            merge_world(&world, with_driver);
            Ok(())
        })
        .unwrap();
}

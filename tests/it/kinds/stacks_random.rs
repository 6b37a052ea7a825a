//! Random stacks: what `lock` writes is what the rules of Stacks say, computed here a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::stacks::HEADER;
use crate::support::dice::Dice;
use crate::support::extent::Extent;
use crate::support::locked::{LOCK, block, hashes, verify};
use crate::support::registry::Registry;
use crate::support::workspace::Workspace;
use crate::support::worlds::PLATFORMS;

const VERSIONS: [(u8, u8, u8); 6] = [(0, 9, 0), (1, 0, 0), (1, 4, 0), (1, 4, 2), (2, 0, 0), (2, 1, 0)];

type Allows = fn((u8, u8, u8)) -> bool;

/// Constraints as they are written, and what each allows.
const CONSTRAINTS: [(&str, Allows); 9] = [
    ("1.4.0", |version| version == (1, 4, 0)),
    ("= 2.0.0", |version| version == (2, 0, 0)),
    ("~> 1.4", |version| version.0 == 1 && version.1 >= 4),
    ("~> 1.4.0", |version| version.0 == 1 && version.1 == 4),
    (">= 1.0.0, < 2.0.0", |version| version.0 == 1),
    ("!= 2.1.0", |version| version != (2, 1, 0)),
    ("> 1.0", |version| version > (1, 0, 0)),
    ("<= 1.4.2", |version| version <= (1, 4, 2)),
    (">= 0.9", |_| true),
];

/// A registry with twenty providers of all versions. The packages of one name and version are made once.
fn registry(providers: &[String]) -> Registry {
    providers.iter().fold(Registry::start(), |registry, provider| {
        VERSIONS.iter().fold(registry, |registry, version| registry.release(provider, &shown(*version), PLATFORMS))
    })
}

fn shown((major, minor, patch): (u8, u8, u8)) -> String {
    format!("{major}.{minor}.{patch}")
}

/// One stack directory: what it requires, by provider.
type Required = BTreeMap<String, usize>;

fn written(required: &Required, nested: &[String], host: &str, is_json: bool) -> String {
    let entries = required.iter().map(|(provider, at)| (provider, CONSTRAINTS[*at].0));
    let name = |provider: &str| provider.replace('/', "-");
    if is_json {
        let entries: serde_json::Map<_, _> = entries
            .map(|(it, version)| (name(it), serde_json::json!({"source": format!("{host}/{it}"), "version": version})))
            .collect();
        let nested: serde_json::Map<_, _> =
            nested.iter().map(|it| (it.clone(), serde_json::json!({"source": format!("./{it}")}))).collect();
        let all = serde_json::json!({"required_providers": entries, "stack": nested});
        // Labels without a block are an error.
        return all.to_string().replace(",\"stack\":{}", "");
    }
    let mut text = "required_providers {\n".to_owned();
    for (it, version) in entries {
        let _ = writeln!(text, "  {} = {{\n    source = \"{host}/{it}\"\n    version = \"{version}\"\n  }}", name(it));
    }
    text.push_str("}\n");
    for it in nested {
        let _ = writeln!(text, "stack \"{it}\" {{\n  source = \"./{it}\"\n}}");
    }
    text
}

/// Directories with what they require, the root first; each is nested in one before it.
fn directories(dice: &mut Dice, providers: &[String]) -> Vec<(String, Required)> {
    let mut all: Vec<(String, Required)> = Vec::new();
    for at in 0..=dice.below(4) {
        let above = if at == 0 { String::new() } else { all[dice.below(at)].0.clone() };
        let path = if at == 0 { above } else { format!("{above}n{at}/") };
        let count = dice.below(if at == 0 { providers.len() } else { 2 });
        // Nested stacks require the same few, so some exclude each other.
        let choice = if at == 0 { providers.len() } else { 2 };
        let required = (0..=count).map(|_| (providers[dice.below(choice)].clone(), dice.below(9)));
        all.push((path, required.collect()));
    }
    all
}

fn random_stacks_are_locked_by_the_rules(extent: Extent) {
    let providers: Vec<String> =
        (0..20).map(|at| format!("{}/p{at:02}", if at % 3 == 0 { "acme" } else { "zeta" })).collect();
    let registry = registry(&providers);
    let (mut locked, mut refused) = (0, 0);
    for seed in extent.seeds(3, 12) {
        let mut dice = Dice::of(seed + 7);
        let all = directories(&mut dice, &providers);
        let workspace = Workspace::with_files(&[]);
        for (path, required) in &all {
            let below = all.iter().filter_map(|(other, _)| other.strip_prefix(&**path)?.strip_suffix('/'));
            let nested: Vec<String> = below.filter(|rest| !rest.contains('/')).map(str::to_owned).collect();
            let is_json = dice.one_in(3);
            let ending = if is_json { "json" } else { "hcl" };
            let text = written(required, &nested, &registry.host(), is_json);
            workspace.write(&format!("{path}all.tfcomponent.{ending}"), &text);
        }
        let newest = |provider: &str| {
            let allows = |version: &&(u8, u8, u8)| {
                let constraints = all.iter().filter_map(|(_, required)| required.get(provider));
                constraints.into_iter().all(|at| CONSTRAINTS[*at].1(**version))
            };
            VERSIONS.iter().rev().find(allows).copied()
        };
        let wanted: BTreeSet<&str> = all.iter().flat_map(|(_, required)| required.keys().map(String::as_str)).collect();
        let lock = || workspace.tflock(&registry, ["lock", "--platform", PLATFORMS[1]]);
        if wanted.iter().any(|provider| newest(provider).is_none()) {
            let run = lock();
            assert!(run.code != Some(0) && !workspace.has(LOCK), "{run}");
            refused += 1;
            continue;
        }
        lock().ended_with(0);
        let entry = |provider: &&str| {
            let version = shown(newest(provider).unwrap());
            let hashes = hashes(&registry, provider, &version);
            block(&registry, provider, &format!("  version = \"{version}\"\n"), &hashes)
        };
        let text = format!("{HEADER}{}", wanted.iter().map(entry).collect::<String>());
        assert_eq!(workspace.lock_file(), text);
        let run = lock().ended_with(0);
        assert!(run.touched().is_empty(), "{run}");
        verify(&workspace, &registry, &[]).ended_with(0);
        locked += 1;
    }
    assert!(locked > 0 && (refused > 0 || extent == Extent::Short), "{locked} {refused}");
}

#[test]
fn some_random_stacks_are_locked_by_the_rules() {
    random_stacks_are_locked_by_the_rules(Extent::Short);
}

#[test]
#[ignore = "long"]
fn many_random_stacks_are_locked_by_the_rules() {
    random_stacks_are_locked_by_the_rules(Extent::Long);
}

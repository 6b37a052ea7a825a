//! The codec of module locks, and what they say about calls.

use std::path::Path;

use super::*;
use crate::finding::{Level, Rule};

const TEXT: &str = r#"# Kept by tflock.

# the network
module "git::https://g.example/net.git?ref=v1" {
  calls  = ["net"]
  commit = "21d41965c40fbbb10710ab36404023e4379c7524"
  hash   = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" # reviewed
}

module "registry.terraform.io/acme/vpc/aws" {
  version     = "1.9.0"
  constraints = "< 2, ~> 1.0"
  calls       = ["net.vpc", "vpc"]
  location    = "git::https://g.example/vpc.git"
  hash        = "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI="
}

module "registry.terraform.io/acme/vpc/aws" {
  version = "1.10.0"
  calls   = ["old"]
  hash    = "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI="
}
"#;

fn decoded(text: &str) -> ModuleLockFile {
    decode(text, Path::new(FILE_NAME)).unwrap()
}

fn source(text: &str) -> ModuleSource {
    ModuleSource::parse(text, false, Dialect::Terraform).unwrap()
}

fn constraints(text: &str) -> ModuleConstraints {
    text.parse().unwrap()
}

#[test]
fn what_was_read_is_written_again() {
    let file = decoded(TEXT);
    assert_eq!(file.encode(), TEXT);
    assert_eq!(file.lock.iter().count(), 3);
    let places: Vec<usize> = file.spans.values().map(|position| position.line).collect();
    assert_eq!(places, [4, 10, 18]);
    // Blocks in any order and any layout become the one text.
    let mut blocks: Vec<&str> = TEXT.split("\n\n").skip(1).collect();
    blocks.rotate_left(1);
    let shuffled = format!("# Kept by tflock.\n\n{}", blocks.join("\n\n").replace("      = ", "="));
    assert_eq!(decoded(&shuffled).encode(), TEXT);
}

#[test]
fn what_is_wrong_has_a_place() {
    for (from, to, expected) in [
        ("\"1.9.0\"", "\"1.9\"", "\"1.9\" is not a version of a module"),
        ("= \"1.9.0\"", "= \"${1}\"", "version must be a literal string"),
        ("h1:C2U", "zh:C2U", "is not an h1 hash"),
        ("= \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"", "= null", "hash must be a literal string"),
        ("21d41965c40", "21d41965c4", "is not the full name of a commit"),
        ("\"1.10.0\"", "\"1.9.0\"", "module \"registry.terraform.io/acme/vpc/aws 1.9.0\" appears twice"),
        ("[\"net\"]", "[]", "calls must not be empty"),
        ("  calls   = [\"old\"]\n", "", "a module block needs calls"),
        ("  version = \"1.10.0\"\n", "", "a module block needs version"),
        ("  commit =", "  comit =", "did you mean \"commit\"?"),
        ("module \"git", "modul \"git", "did you mean \"module\"?"),
        ("<<<<<<<", "", ""),
    ] {
        let text = if from.starts_with('<') { format!("<<<<<<< ours\n{TEXT}") } else { TEXT.replacen(from, to, 1) };
        let errors = decode(&text, Path::new(FILE_NAME)).unwrap_err();
        assert!(errors.iter().any(|error| error.to_string().contains(expected)), "{from}: {errors:?}");
    }
}

#[test]
fn a_call_keeps_the_version_of_its_own_block() {
    let lock = decoded(TEXT).lock;
    let version = |call: &str, wanted: Option<&str>| {
        let wanted = wanted.map(constraints);
        let pin = lock.pin(&source("acme/vpc/aws//modules/x"), call, wanted.as_ref())?;
        Some(pin.version?.canonical())
    };
    assert_eq!(version("vpc", Some("~> 1.0")).as_deref(), Some("1.9.0"));
    assert_eq!(version("old", None).as_deref(), Some("1.10.0"));
    // Not that of another call, and not what the constraint forbids.
    assert_eq!(version("new", None), None);
    assert_eq!(version("vpc", Some(">= 1.10")), None);
    let commit = |text: &str| lock.pin(&source(text), "any", None).and_then(|pin| pin.content.commit);
    assert!(commit("git::https://me:pw@g.example/net.git//sub?depth=1&ref=v1").is_some());
    assert!(commit("git::https://g.example/net.git?ref=v2").is_none());
    assert_eq!(lock.named("acme/vpc/aws", Dialect::Terraform).len(), 1);
    assert_eq!(lock.named("git::https://g.example/net.git?ref=v1", Dialect::Terraform).len(), 1);
    assert_eq!(lock.named("acme/other/aws", Dialect::Terraform).len(), 0);
}

fn call(name: &str, text: &str, wanted: Option<&str>) -> Call {
    Call {
        name: name.to_owned(),
        source: source(text),
        constraints: wanted.map(constraints),
        file: "main.tf".into(),
        position: Position::default(),
        hidden: false,
        ambiguity: None,
    }
}

fn calls() -> Vec<Call> {
    vec![
        call("net", "git::https://g.example/net.git?ref=v1", None),
        call("vpc", "acme/vpc/aws", Some("~> 1.0")),
        call("net.vpc", "acme/vpc/aws//x", Some("< 2")),
        call("old", "acme/vpc/aws", None),
    ]
}

#[test]
fn calls_and_blocks_belong_together() {
    let file = decoded(TEXT);
    let rules = |calls: &[Call], complete| -> Vec<(Rule, String)> {
        of_calls(&file, calls, complete)
            .into_iter()
            .map(|finding| (finding.rule, finding.message().to_owned()))
            .collect()
    };
    assert_eq!(rules(&calls(), true), []);
    let mut more = calls();
    more.push(call("new", "acme/vpc/aws", None));
    more[0].source = source("git::https://g.example/net.git?ref=v2");
    let found = rules(&more, true);
    let of = |rule| found.iter().filter(|(found, _)| *found == rule).map(|(_, text)| text.as_str()).collect::<Vec<_>>();
    assert_eq!(
        of(Rule::ModuleUnlocked),
        [
            "nothing is locked for module net from git::https://g.example/net.git?ref=v2",
            "nothing is locked for module new from registry.terraform.io/acme/vpc/aws",
        ]
    );
    assert_eq!(of(Rule::ModuleStale), ["git::https://g.example/net.git?ref=v1 is locked, but no module call uses it"]);
    // What is not known is not stale.
    assert!(rules(&more[1..], false).iter().all(|(rule, _)| *rule == Rule::ModuleUnlocked));
    let mut fewer = calls();
    fewer.remove(2);
    let [(Rule::ModuleStale, message)] = &rules(&fewer, true)[..] else { panic!("{:?}", rules(&fewer, true)) };
    assert!(message.ends_with("is locked for module net.vpc, which no longer uses it"), "{message}");
}

#[test]
fn served_content_is_checked_against_the_lock() {
    let lock = decoded(TEXT).lock;
    let (key, block) = lock.iter().next().unwrap();
    let served = |hash: &str, is_moving| Served::Other { commit: None, hash: hash.parse().unwrap(), is_moving };
    let other = "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=";
    let rule = |served: &Served| of_served(key, block, served).map(|finding| (finding.rule, finding.level()));
    assert_eq!(rule(&Served::Locked { is_moving: true }), None);
    // Another commit, whose files that are in no hash are others.
    assert_eq!(rule(&served(block.content.hash.as_str(), false)), Some((Rule::ModuleChanged, Level::Deny)));
    assert_eq!(rule(&served(other, false)), Some((Rule::ModuleChanged, Level::Deny)));
    assert_eq!(rule(&served(other, true)), Some((Rule::ModuleMoved, Level::Deny)));
    let help = of_served(key, block, &served(other, true)).unwrap().help().to_string();
    assert!(help.contains(r#"`tflock upgrade --modules "git::https://g.example/net.git?ref=v1"`"#), "{help}");
}

#[test]
fn another_spelling_of_a_source_is_the_same_package() {
    let before = decoded(TEXT).lock;
    let changed = |source: &str| {
        let text = TEXT.replace("git::https://g.example/net.git?ref=v1", source).replace("47DEQpj8", "00000000");
        after(&before, &decoded(&text), &|_| false).len()
    };
    for source in [
        "git::https://g.example/net.git?ref=v1",
        "git::https://g.example/net.git?ref=refs/tags/v1",
        "git::https://G.example/./n%65t.git?ref=v1",
        "git::https://g.example:443/net.git?depth=1&ref=v1",
    ] {
        assert_eq!(changed(source), 1, "{source}");
    }
    for source in [
        "git::https://g.example/net.git?ref=v2",
        "git::https://g.example/other.git?ref=v1",
        "git::ssh://g.example/net.git?ref=v1",
    ] {
        assert_eq!(changed(source), 0, "{source}");
    }
}

#[test]
fn the_worst_change_comes_first() {
    let old = decoded(TEXT).lock;
    let text = TEXT
        .replace("h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=")
        .replace("21d41965c40", "31d41965c40")
        .replace("\"1.10.0\"", "\"1.8.0\"")
        .replace("[\"net.vpc\", \"vpc\"]", "[\"vpc\"]");
    let changes: Vec<(ModuleChangeKind, String)> =
        changes(&old, &decoded(&text).lock).into_iter().map(|change| (change.kind, change.sentence())).collect();
    assert_eq!(
        changes,
        [
            (
                ModuleChangeKind::ContentReplaced,
                "other content under the same address: moved from commit 21d41965c40f to 31d41965c40f".to_owned()
            ),
            (ModuleChangeKind::Downgraded, "1.10.0 -> 1.8.0".to_owned()),
            (ModuleChangeKind::CallsChanged, "no longer used by module net.vpc".to_owned()),
        ]
    );
}

#[test]
fn a_lock_is_made_of_calls() {
    let resolved = |name: &str, wanted: &str| Resolved {
        call: name.to_owned(),
        key: ModuleKey { source: "registry.terraform.io/acme/vpc/aws".to_owned(), version: "1.9.0".parse().ok() },
        constraints: Some(constraints(wanted)),
        content: ModuleContent {
            location: None,
            commit: None,
            hash: "h1:C2U9ox1R6cZ67gfuUfYJI+oaNd7zIHqaC5SttDXu6mI=".parse().unwrap(),
        },
    };
    let lock = ModuleLock::of([resolved("b", "~>1.0"), resolved("a", ">= 1.2,~> 1.0")]).unwrap();
    let (_, block) = lock.iter().next().unwrap();
    assert_eq!(block.constraints.as_deref(), Some(">= 1.2, ~> 1.0"));
    assert_eq!(block.calls.iter().collect::<Vec<_>>(), ["a", "b"]);
    assert!(ModuleLockFile::new(lock).encode().starts_with("# The modules of this configuration"));
    let mut other = resolved("c", "~>1.0");
    other.content.hash = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse().unwrap();
    let shared = ModuleLock::of([resolved("b", "~>1.0"), other]).unwrap_err();
    assert_eq!(shared.calls, ["b", "c"]);
}

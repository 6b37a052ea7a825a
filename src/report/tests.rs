//! Whole reports, for users and for programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::diff::{AddedHash, Change, ChangeKind, Standing};
use crate::error::ErrorKind;
use crate::finding::{Finding, Position, Rule};
use crate::hash::{PackageHash, PackageHashes};
use crate::lockfile::LockEntry;
use crate::outcome::{Body, Changes, Listed, Need, Required, RootOutcome};
use crate::requirements::{Origin, OriginKind, Requirement};
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::version::Constraints;

const KEY: &str = "C874011F0AB405110D02105534365D9472D7468F";

fn addr(text: &str) -> ProviderAddr {
    ProviderAddr::parse(text, Dialect::OpenTofu).unwrap()
}

fn constraints(text: &str) -> Constraints {
    Constraints::parse_config(text).unwrap()
}

fn hash(text: &str) -> PackageHash {
    text.parse().unwrap()
}

fn entry(version: &str, required: &str, hashes: &[&str]) -> LockEntry {
    LockEntry {
        version: version.parse().unwrap(),
        constraints: if required.is_empty() { Constraints::default() } else { constraints(required) },
        hashes: hashes.iter().map(|text| hash(text)).collect::<PackageHashes>(),
    }
}

fn added(text: &str, platform: Option<&str>, evidence: &[Evidence]) -> AddedHash {
    let platforms = platform.map(|text| text.parse().unwrap()).into_iter().collect();
    AddedHash { hash: hash(text), platforms, evidence: evidence.to_vec() }
}

fn outcome(command: &'static str, bodies: Vec<(&str, Result<Body, Error>)>) -> Outcome {
    let root = |(path, body): (&str, _)| RootOutcome { path: path.into(), body, findings: Vec::new() };
    Outcome { command, many: bodies.len() > 1, roots: bodies.into_iter().map(root).collect(), ..Outcome::default() }
}

fn change(addr_text: &str, kind: ChangeKind) -> Change {
    Change {
        novelty: None,
        address: addr(addr_text),
        kind,
        old: None,
        new: None,
        hashes_added: Vec::new(),
        hashes_removed: Vec::new(),
        moved_from: None,
        judged: std::collections::BTreeMap::new(),
        uncovered: std::collections::BTreeSet::new(),
        callers: Vec::new(),
        signer: None,
        position: None,
        standing: Standing::default(),
        signers_before: std::collections::BTreeSet::new(),
        publisher_denied: None,
        identical: false,
        identity: None,
        link: None,
        registry_warnings: std::sync::Arc::default(),
        signed: None,
        build: None,
        witnesses: Vec::new(),
        is_edited: false,
        required_by: crate::diff::RequiredBy::NotChecked,
    }
}

fn lock() -> Outcome {
    let signed = Evidence::Signed(KEY.parse().unwrap());
    let new = Change {
        new: Some(entry("5.31.0", "~> 5.0", &[])),
        hashes_added: vec![
            added("h1:b=", Some("linux_amd64"), &[Evidence::Computed]),
            added("h1:a=", Some("darwin_arm64"), &[Evidence::ReportedByOrigin, Evidence::Computed]),
            added("zh:1", Some("linux_amd64"), std::slice::from_ref(&signed)),
            added("zh:2", None, &[signed.clone(), Evidence::Recorded]),
        ],
        signer: Some(Signer::Key(KEY.parse().unwrap())),
        ..change("hashicorp/aws", ChangeKind::Added)
    };
    let more = Change {
        old: Some(entry("1.2.0", ">= 1.0.0", &["h1:x="])),
        new: Some(entry("1.2.0", "~> 1.2", &["h1:y="])),
        hashes_added: vec![
            added("h1:y=", None, &[Evidence::ReportedByOrigin]),
            added("zh:3", None, &[Evidence::ReportedByMirror]),
        ],
        hashes_removed: vec![hash("h1:x=")],
        ..change("example.com/acme/widget", ChangeKind::HashesChanged)
    };
    let up = Change {
        old: Some(entry("1.9.0", "", &[])),
        new: Some(entry("1.10.0", "", &[])),
        hashes_added: vec![added("zh:4", None, &[Evidence::ReportedByOrigin])],
        hashes_removed: vec![hash("zh:5")],
        signer: Some(Signer::Unsigned),
        ..change("acme/up", ChangeKind::Upgraded)
    };
    let gone = Change { old: Some(entry("0.1.0", "", &["zh:6"])), ..change("acme/gone", ChangeKind::Removed) };
    let changes = Changes {
        changed: true,
        written: true,
        path: ".terraform.lock.hcl".into(),
        changes: vec![more, new, up, gone],
        ..Changes::default()
    };
    let mut outcome = outcome("lock", vec![("", Ok(Body::Changes(changes)))]);
    outcome.roots[0].findings = vec![
        Finding::new(Rule::FirstUse, "5.31.0 is locked for the first time").about(&addr("hashicorp/aws")),
        Finding::new(Rule::FirstUse, "0.1.0 is locked for the first time").about(&addr("acme/gone")),
        Finding::new(Rule::ReleaseGrew, "1 package more").about(&addr("acme/up")),
        Finding::new(Rule::ReleaseGrew, "2 packages\u{202e} more")
            .in_file(".terraform.lock.hcl")
            .at(Position { line: 9, column: 1 }),
    ];
    outcome.notes.push("2 h1 of unknown platform are kept");
    outcome
}

fn tofu(detail: Detail) -> Style {
    Style { colour: false, dialect: Some(Dialect::OpenTofu), detail, width: None }
}

#[test]
fn lock_for_people() {
    insta::assert_snapshot!(render(&lock(), Format::Human, tofu(Detail::Normal)));
    insta::assert_snapshot!("lock_verbose", render(&lock(), Format::Human, tofu(Detail::Verbose)));
    assert_eq!(remarks(&lock(), Format::Human, tofu(Detail::Normal)), "note: 2 h1 of unknown platform are kept\n");
    assert_eq!(remarks(&lock(), Format::Human, tofu(Detail::Quiet)), "");
    let quiet = render(&lock(), Format::Human, tofu(Detail::Quiet));
    assert!(!quiet.contains("first-use") && quiet.contains("release-grew"));
}

#[test]
fn lock_for_programs() {
    let json = render(&lock(), Format::Json, Style::default());
    assert!(json.contains(r"packages\u202e more"), "hidden characters are escaped here too");
    let mut outcome = lock();
    outcome.notes.push("removed\u{7f}\n");
    for format in [Format::Json, Format::Gitlab, Format::Sarif] {
        let text = render(&outcome, format, Style::default());
        assert!(!text.contains('\u{7f}'), "{text}");
    }
    insta::assert_snapshot!(json);
}

#[test]
fn colour_adds_nothing_but_colour() {
    let colour = Style { colour: true, ..tofu(Detail::Verbose) };
    for outcome in [lock(), why(), list()] {
        let (plain, coloured) =
            (render(&outcome, Format::Human, tofu(Detail::Verbose)), render(&outcome, Format::Human, colour));
        assert_ne!(plain, coloured);
        let mut bare = String::new();
        for (at, piece) in coloured.split('\x1b').enumerate() {
            bare.push_str(if at == 0 { piece } else { piece.split_once('m').unwrap().1 });
        }
        assert_eq!(bare, plain);
    }
}

#[test]
fn last_lines_of_lock() {
    let last = |changed, written, diff: Option<&str>| {
        let path = "a/.terraform.lock.hcl".into();
        let diff = diff.map(str::to_owned);
        let changes = Changes { changed, written, path, diff, ..Changes::default() };
        render(&outcome("lock", vec![("", Ok(Body::Changes(changes)))]), Format::Human, Style::default())
    };
    assert!(last(false, false, None).starts_with("a/.terraform.lock.hcl is "));
    let unrequired = Body::Changes(Changes { keeps_unrequired: true, ..Changes::default() });
    let rendered = render(&outcome("lock", vec![("", Ok(unrequired))]), Format::Human, Style::default());
    assert!(rendered.contains("nothing to do") && !rendered.contains("complete"), "{rendered}");
    let needless = Body::Changes(Changes { need: Need::Needless, ..Changes::default() });
    let rendered = render(&outcome("lock", vec![("", Ok(needless))]), Format::Human, Style::default());
    assert_eq!(rendered, "no provider is required, so no lock file is needed\n");
    assert_eq!(last(true, true, None), "review and commit a/.terraform.lock.hcl (only its header or layout)\n");
    let diff = diff::unified("a\n", "b\n", "x");
    assert_eq!(
        last(true, false, Some(&diff)),
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\na/.terraform.lock.hcl would change (only its header or layout); nothing was written\n"
    );
}

fn why() -> Outcome {
    let origin = |module: &str, file: &str, line, kind, constraint: Option<&str>| Origin {
        module: module.to_owned(),
        file: file.into(),
        position: Position { line, column: 5 },
        kind,
        local_name: "aws".to_owned(),
        constraint: constraint.map(str::to_owned),
        in_tests: false,
        is_evaluated: false,
        block: None,
    };
    let required = Requirement {
        constraints: constraints("~> 5.0, >= 5.2"),
        origins: vec![
            origin("", "versions.tf", 4, OriginKind::RequiredProviders, Some("~> 5.0")),
            origin("net.inner", "net/inner/main.tf", 120, OriginKind::RequiredProviders, Some(">= 5.2")),
            origin("", "main.tf", 1, OriginKind::Resource, None),
        ],
    };
    let bare = Requirement {
        constraints: Constraints::default(),
        origins: vec![origin("", "main.tf", 7, OriginKind::Data, None)],
    };
    let providers = vec![
        Required { address: addr("example.com/acme/widget"), requirement: bare, locked: None, paths: BTreeMap::new() },
        Required {
            address: addr("hashicorp/aws"),
            requirement: required,
            locked: Some("5.31.0".parse().unwrap()),
            paths: BTreeMap::new(),
        },
    ];
    outcome("why", vec![("", Ok(Body::Requirements(providers)))])
}

fn list() -> Outcome {
    let listed = |text: &str, entry, required, platforms: &[&str], signer: Option<&str>| Listed {
        address: addr(text),
        entry,
        required,
        required_by: vec![String::new()],
        platforms: platforms.iter().map(|text| text.parse().unwrap()).collect(),
        signer: signer.map(|text| text.parse().unwrap()),
    };
    let entries = vec![
        listed("example.com/acme/widget", entry("1.2.0", "", &["h1:a=", "x9:q"]), Some(false), &[], None),
        listed(
            "hashicorp/aws",
            entry("5.31.0", "~> 5.0, >= 5.2.0", &["h1:a=", "h1:b=", "zh:1"]),
            Some(true),
            &["darwin_arm64", "linux_amd64"],
            Some(KEY),
        ),
        listed("hashicorp/null", entry("3.0.0", "", &[]), None, &[], None),
    ];
    outcome("list", vec![("", Ok(Body::Entries(Arc::new(entries))))])
}

#[test]
fn why_and_list() {
    insta::assert_snapshot!("why_human", render(&why(), Format::Human, tofu(Detail::Normal)));
    insta::assert_snapshot!("why_json", render(&why(), Format::Json, Style::default()));
    insta::assert_snapshot!("list_human", render(&list(), Format::Human, tofu(Detail::Normal)));
    let full = Style { detail: Detail::Verbose, ..Style::default() };
    insta::assert_snapshot!("list_human_full", render(&list(), Format::Human, full));
    insta::assert_snapshot!("list_json", render(&list(), Format::Json, Style::default()));
}

#[test]
fn several_roots_with_a_failure() {
    let failed = Error::new(ErrorKind::LockFile, "cannot read").in_file("b/.terraform.lock.hcl").hint("look at it");
    let Ok(Body::Entries(entries)) = list().roots.remove(0).body else { panic!("entries") };
    let entries = Arc::new(entries.iter().take(1).cloned().collect());
    let outcome = outcome("list", vec![("a", Ok(Body::Entries(entries))), ("b", Err(failed))]);
    insta::assert_snapshot!("several_human", render(&outcome, Format::Human, Style::default()));
    insta::assert_snapshot!("several_remarks", remarks(&outcome, Format::Human, Style::default()));
    insta::assert_snapshot!("several_json", render(&outcome, Format::Json, Style::default()));
}

#[test]
fn a_failed_run() {
    let error = Error::new(ErrorKind::Usage, "what");
    assert_eq!(failure(Some("lock"), &error, Format::Human), "");
    assert_eq!(failure_remark(&error, Format::Json, Style::default()), "");
    insta::assert_snapshot!(failure(None, &error, Format::Json));
}

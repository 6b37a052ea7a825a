//! Changes, verdicts and risks of small files.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::dialect::Dialect;
use crate::diff::OriginChange;
use crate::hash::{PackageHash, Sha256Digest};
use crate::release::{Attestation, ListedLine, Lookup, Release};
use crate::requirements::{Origin, OriginKind, Requirements};
use crate::trust::{Evidence, Verdict};
use crate::version::{Constraints, Version};

pub(super) fn addr(text: &str) -> ProviderAddr {
    ProviderAddr::parse(text, Dialect::Terraform).unwrap()
}

fn hash(text: &str) -> PackageHash {
    text.parse().unwrap()
}

fn entry(version: &str, constraints: &str, hashes: &[&str]) -> LockEntry {
    LockEntry {
        version: version.parse().unwrap(),
        constraints: constraints.parse().unwrap(),
        hashes: hashes.iter().map(|text| hash(text)).collect(),
    }
}

fn lock(entries: &[(&str, LockEntry)]) -> LockFile {
    let mut lock = LockFile::new();
    for (text, entry) in entries {
        lock.insert(addr(text), entry.clone());
    }
    lock
}

fn widget(version: &str, constraints: &str, hashes: &[&str]) -> LockFile {
    lock(&[("acme/widget", entry(version, constraints, hashes))])
}

fn only(old: &LockFile, new: &LockFile) -> Change {
    let mut changes = changes(old, new);
    assert_eq!(changes.len(), 1, "{changes:?}");
    changes.remove(0)
}

#[test]
fn kinds() {
    let old = widget("1.0.0", "~> 1.0", &["h1:a"]);
    let kind = |new: &LockFile| changes(&old, new).first().map(|change| change.kind);
    assert_eq!(kind(&old), None);
    assert_eq!(kind(&widget("1.0.1", "~> 1.0", &[])), Some(ChangeKind::Upgraded));
    assert_eq!(kind(&widget("0.9.0", "~> 1.0", &[])), Some(ChangeKind::Downgraded));
    assert_eq!(kind(&widget("1.0.0", "~> 1.1", &["h1:a"])), Some(ChangeKind::ConstraintsChanged));
    assert_eq!(kind(&widget("1.0.0", "~> 1.1", &["h1:a", "h1:b"])), Some(ChangeKind::HashesChanged));
    assert_eq!(kind(&widget("1.0.0", "~> 1.0", &[])), Some(ChangeKind::HashesChanged));
    assert_eq!(kind(&widget("1.0.0", "~> 1.1", &["h1:b"])), Some(ChangeKind::HashesReplaced));
    assert_eq!(kind(&LockFile::new()), Some(ChangeKind::Removed));
    assert_eq!(only(&LockFile::new(), &old).kind, ChangeKind::Added);
}

#[test]
fn added_and_removed_hashes() {
    let change = only(&widget("1.0.0", "", &["h1:a", "h1:b"]), &widget("1.0.0", "", &["h1:b", "zh:c"]));
    assert_eq!(change.hashes_added[0].hash.as_str(), "zh:c");
    assert_eq!(change.hashes_removed[0].as_str(), "h1:a");
}

#[test]
fn moves_are_one_change_unless_there_is_a_choice() {
    let at = |addresses: &[&str]| {
        lock(&addresses.iter().map(|text| (*text, entry("1.0.0", "", &["zh:1"]))).collect::<Vec<_>>())
    };
    let found = |old: &[&str], new: &[&str]| {
        let found = changes(&at(old), &at(new));
        found.iter().map(|change| (change.kind, change.address.to_string())).collect::<Vec<_>>()
    };
    let moved = only(&at(&["acme/widget"]), &at(&["registry.opentofu.org/acme/widget"]));
    assert_eq!((moved.kind, moved.moved_from), (ChangeKind::Moved, Some(addr("acme/widget"))));
    assert!(moved.hashes_added.is_empty() && moved.hashes_removed.is_empty());
    assert_eq!(only(&at(&["acme/widget"]), &at(&["other/widget"])).kind, ChangeKind::Moved);
    // The host counts more than the namespace.
    let both = found(&["acme/widget", "other/gadget"], &["example.com/acme/widget", "third/gadget"]);
    assert_eq!(both.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [ChangeKind::Moved; 2]);
    // Two candidates, or neither host nor namespace the same: no move.
    assert_eq!(found(&["acme/widget"], &["a/widget", "b/widget"]).len(), 3);
    assert_eq!(found(&["acme/widget"], &["example.com/other/widget"]).len(), 2);
    // What is still there did not move.
    assert_eq!(found(&["acme/widget"], &["acme/widget", "other/widget"]).len(), 1);
}

#[test]
fn distances() {
    let between = |old: &str, new: &str| Distance::between(&old.parse().unwrap(), &new.parse().unwrap());
    assert_eq!(between("1.2.3", "1.2.3"), None);
    assert_eq!(between("1.2.3", "2.2.3"), Some(Distance::Major));
    assert_eq!(between("2.0.0", "1.9.9"), Some(Distance::Major));
    assert_eq!(between("1.2.3", "1.3.0"), Some(Distance::Minor));
    assert_eq!(between("1.2.3", "1.2.4"), Some(Distance::Patch));
    assert_eq!(between("1.2.3-beta1", "1.2.3"), Some(Distance::Tag));
    assert_eq!(between("1.2.3+a", "1.2.3+b"), Some(Distance::Tag));
}

/// A hash of a package that a name means.
fn named(text: &str) -> PackageHash {
    let (scheme, name) = text.split_once(':').unwrap();
    let digest = Sha256Digest::of(name.as_bytes());
    match scheme {
        "zh" => PackageHash::zh(digest),
        "h1" => PackageHash::h1(digest),
        _ => hash(text),
    }
}

/// A release with two packages and a manifest, whose contents are known.
fn known(signed: bool) -> Packages {
    attribution(signed, &|_| {})
}

fn attribution(signed: bool, change: &dyn Fn(&mut Release)) -> Packages {
    let digest = |name: &str| Sha256Digest::of(name.as_bytes());
    let archive = |platform: &str| ListedLine::archive(Some(platform.parse().unwrap()));
    let reported = Attestation::new(None, Evidence::ReportedByOrigin);
    let version: Version = "1.0.0".parse().unwrap();
    let mut release = Release {
        signer: Some(if signed { "A".repeat(40) } else { "unsigned".to_owned() }.parse().unwrap()),
        lines: BTreeMap::from([
            (digest("linux"), archive("linux_amd64")),
            (digest("darwin"), archive("darwin_arm64")),
            (digest("manifest"), ListedLine::Other),
        ]),
        h1: [(named("h1:reported"), reported)].into(),
        current: false,
        ..Release::new(addr("acme/widget"), version.clone())
    };
    change(&mut release);
    let mut known = Packages::default();
    known.releases.insert((addr("acme/widget"), version), Lookup::Known(Arc::new(release)));
    known.archives.computed(named("zh:linux"), named("h1:linux"));
    known.archives.computed(named("zh:elsewhere"), named("h1:elsewhere"));
    known
}

/// The widget with hashes that names stand for.
fn named_widget(version: &str, hashes: &[&str]) -> LockFile {
    let mut entry = entry(version, "", &[]);
    entry.hashes = hashes.iter().map(|text| named(text)).collect();
    lock(&[("acme/widget", entry)])
}

fn verdict_of(old: &[&str], new: &[&str], wanted: &str, known: &Packages) -> Verdict {
    let mut change = only(&named_widget("1.0.0", old), &named_widget("1.0.0", new));
    judge(&mut change, known);
    change.judged[&named(wanted)].verdict
}

#[test]
fn verdicts_against_signed_sums() {
    let of = |new: &str| verdict_of(&["zh:darwin"], &["zh:darwin", new], new, &known(true));
    assert_eq!(of("zh:linux"), Verdict::SameSignedArchive);
    assert_eq!(of("zh:manifest"), Verdict::SameSignedArchive);
    assert_eq!(of("zh:other"), Verdict::Contradicts);
    assert_eq!(of("h1:linux"), Verdict::PlatformAdded);
    assert_eq!(of("h1:elsewhere"), Verdict::UnknownOffline, "the archive of darwin may have the same contents");
    assert_eq!(of("h1:reported"), Verdict::ReportedByOrigin);
    assert_eq!(of("h1:unheard"), Verdict::UnknownOffline, "the contents of darwin are not known");
}

#[test]
fn a_scheme_that_no_tool_compares_is_no_alarm() {
    let mut change = only(&named_widget("1.0.0", &["zh:linux"]), &named_widget("1.0.0", &["zh:linux", "h2:x"]));
    judge(&mut change, &known(true));
    assert_eq!((change.judged.len(), risk(&change)), (0, Risk::Routine));
    let found = explain(&change);
    assert!(found.warning.is_empty() && found.consequence.starts_with("Nothing changes"), "{found:?}");
}

#[test]
fn hashes_that_were_kept_under_another_version() {
    let risk_of = |new: &[&str]| {
        let mut change = only(&named_widget("2.0.0", &["zh:a", "zh:b", "zh:manifest"]), &named_widget("1.0.0", new));
        judge(&mut change, &known(true));
        (risk(&change), explain(&change).warning)
    };
    assert_eq!(risk_of(&["zh:linux", "zh:manifest"]), (Risk::Notable, String::new()));
    let (risk, warning) = risk_of(&["zh:a", "zh:b", "zh:manifest"]);
    assert_eq!(risk, Risk::Dangerous);
    assert!(warning.contains("a checksum of the old version is recorded for the new one"), "{warning}");
}

#[test]
fn verdicts_without_signed_sums() {
    let of = |old: &[&str], new: &str| {
        let all: Vec<&str> = old.iter().copied().chain([new]).collect();
        verdict_of(old, &all, new, &known(false))
    };
    assert_eq!(of(&["zh:linux"], "h1:linux"), Verdict::PlatformAdded);
    assert_eq!(of(&["h1:linux"], "zh:linux"), Verdict::SameSignedArchive);
    assert_eq!(of(&["zh:other"], "h1:linux"), Verdict::ReportedByOrigin, "its archive was not recorded");
    assert_eq!(of(&["zh:other"], "zh:linux"), Verdict::ReportedByOrigin);
    let nothing = verdict_of(&["zh:a"], &["zh:a", "h1:b"], "h1:b", &Packages::default());
    assert_eq!(nothing, Verdict::UnknownOffline);
}

#[test]
fn an_origin_that_does_not_know_attests_nothing() {
    let known = attribution(true, &|release| (release.current, release.complete) = (true, true));
    assert_eq!(verdict_of(&["zh:linux"], &["zh:linux", "h1:unheard"], "h1:unheard", &known), Verdict::Unattested);
    let known = attribution(true, &|release| {
        (release.current, release.complete) = (true, true);
        for (name, platform) in [("h1:linux", "linux_amd64"), ("h1:darwin", "darwin_arm64")] {
            let attested = Attestation::new(Some(platform.parse().unwrap()), Evidence::Computed);
            release.h1.insert(named(name), attested);
        }
    });
    let ruled_out = verdict_of(&["zh:linux"], &["zh:linux", "h1:unheard"], "h1:unheard", &known);
    assert_eq!(ruled_out, Verdict::Contradicts, "the contents of all packages are known");
}

#[test]
fn old_hashes_count_for_their_own_version_only() {
    let mut change = only(&named_widget("0.9.0", &["zh:linux"]), &named_widget("1.0.0", &["zh:linux", "h1:linux"]));
    judge(&mut change, &known(false));
    assert_eq!(change.judged[&named("h1:linux")].verdict, Verdict::ReportedByOrigin);
    judge(&mut change, &known(true));
    assert_eq!(change.judged[&named("h1:linux")].verdict, Verdict::SameSignedArchive);
}

#[test]
fn platforms_whose_contents_a_new_version_lacks_are_named() {
    let mut known = known(true);
    let old = (addr("acme/widget"), "0.9.0".parse::<Version>().unwrap());
    let contents =
        |name, platform: &str| (named(name), Attestation::new(Some(platform.parse().unwrap()), Evidence::Computed));
    let h1 = [contents("h1:old-linux", "linux_amd64"), contents("h1:old-darwin", "darwin_arm64")].into();
    let release = Release { h1, ..Release::new(old.0.clone(), old.1.clone()) };
    known.releases.insert(old, Lookup::Known(Arc::new(release)));
    let shown = |old: &[&str], new: &[&str]| {
        let mut change = only(&named_widget("0.9.0", old), &named_widget("1.0.0", new));
        judge(&mut change, &known);
        (headline(&change).join("; "), explain(&change).consequence)
    };
    let both = ["zh:old", "h1:old-linux", "h1:old-darwin"];
    let (line, consequence) = shown(&both, &["zh:linux", "h1:linux"]);
    assert!(line.contains("(h1) 2 -> 1, none for darwin_arm64"), "{line}");
    assert!(!consequence.contains("other platforms"), "{consequence}");
    let (line, _) = shown(&both, &["zh:linux"]);
    assert!(line.contains("(h1) 2 -> 0, none for darwin_arm64, linux_amd64"), "{line}");
    // What is new may be of the platform that is missing; what is not known of the old version has no name.
    for (old, new) in [(&both, &["zh:linux", "h1:unheard"]), (&["zh:a", "h1:b", "h1:c"], &["zh:linux", "h1:linux"])] {
        let (line, consequence) = shown(old, new);
        assert!(line.contains("(h1) 2 -> 1") && !line.contains("none for"), "{line}");
        assert!(consequence.contains("other platforms may miss theirs"), "{consequence}");
    }
}

#[test]
fn removed_hashes_are_judged_under_the_same_version() {
    let removed = |left: &[&str], gone: &str| {
        let all: Vec<&str> = left.iter().copied().chain([gone]).collect();
        verdict_of(&all, left, gone, &known(true))
    };
    assert_eq!(removed(&["zh:linux", "zh:darwin"], "h1:linux"), Verdict::PlatformRemoved);
    assert_eq!(removed(&["zh:linux"], "zh:foreign"), Verdict::Contradicts);
    assert_eq!(removed(&["zh:linux"], "zh:darwin"), Verdict::SameSignedArchive);
}

#[test]
fn risks_and_their_order() {
    let old = lock(&[
        ("a/up", entry("1.0.0", "", &["zh:1"])),
        ("b/major", entry("1.0.0", "", &["zh:1"])),
        ("c/replaced", entry("1.0.0", "", &["zh:1"])),
        ("d/none", entry("1.0.0", "", &["zh:1"])),
        ("e/down", entry("1.0.0", "", &["zh:1"])),
    ]);
    let new = lock(&[
        ("a/up", entry("1.1.0", "", &["zh:2"])),
        ("b/major", entry("2.0.0", "", &["zh:2"])),
        ("c/replaced", entry("1.0.0", "", &["zh:2"])),
        ("d/none", entry("1.0.0", "", &[])),
        ("e/down", entry("0.9.0", "", &["zh:2"])),
    ]);
    let mut found = changes(&old, &new);
    loudest_first(&mut found);
    let order: Vec<_> = found.iter().map(|change| (change.address.type_name(), risk(change))).collect();
    let wanted = [
        ("replaced", Risk::Dangerous),
        ("none", Risk::Dangerous),
        ("down", Risk::Notable),
        ("major", Risk::Notable),
        ("up", Risk::Routine),
    ];
    assert_eq!(order, wanted);
}

#[test]
fn a_replacement_that_is_explained_is_less_loud() {
    let mut change =
        only(&named_widget("1.0.0", &["zh:linux", "h1:x"]), &named_widget("1.0.0", &["zh:linux", "h1:linux"]));
    assert_eq!((change.kind, risk(&change)), (ChangeKind::HashesReplaced, Risk::Dangerous));
    judge(&mut change, &known(true));
    assert_eq!(risk(&change), Risk::Notable);
}

#[test]
fn a_version_that_changed_without_its_hashes_is_dangerous() {
    let of = |old: &[&str], new: &[&str]| only(&named_widget("1.0.0", old), &named_widget("1.1.0", new));
    for (old, new, wanted) in [
        (&["zh:linux", "h1:x"][..], &["zh:linux", "h1:x"][..], Risk::Dangerous),
        (&["zh:linux", "h1:x"], &["zh:linux"], Risk::Dangerous),
        (&["zh:linux", "h1:x"], &["zh:other", "h1:x"], Risk::Dangerous),
        // A manifest may be the same in both.
        (&["zh:manifest", "zh:linux"], &["zh:manifest", "zh:other"], Risk::Routine),
        (&["h2:x"], &["h2:x", "zh:a"], Risk::Routine),
    ] {
        let change = of(old, new);
        assert_eq!(risk(&change), wanted, "{old:?} -> {new:?}");
        let said = headline(&change).join(", ");
        assert_eq!(said.contains("those of 1.0.0"), wanted == Risk::Dangerous, "{said}");
    }
}

#[test]
fn changed_requirements_are_listed() {
    let origin = |module: &str, line, constraint: &str| Origin {
        module: module.to_owned(),
        file: "main.tf".into(),
        position: crate::finding::Position { line, column: 1 },
        kind: OriginKind::RequiredProviders,
        local_name: "widget".to_owned(),
        constraint: Some(constraint.to_owned()),
        in_tests: false,
        is_evaluated: false,
        block: None,
    };
    let requirements = |origins: &[Origin]| {
        let mut requirements = Requirements::new();
        for origin in origins {
            requirements.add(&addr("acme/widget"), &Constraints::default(), origin.clone());
        }
        requirements
    };
    let mut change = only(&widget("1.0.0", "~> 1.0", &[]), &widget("1.0.0", "~> 1.1", &[]));
    let old = requirements(&[origin("", 3, "~> 1.0"), origin("net", 4, ">= 1"), origin("gone", 5, "1.0.0")]);
    let new = requirements(&[origin("", 9, "~> 1.1"), origin("net", 40, ">= 1"), origin("came", 6, "> 1")]);
    find_callers(&mut change, &old, &new);
    let wanted = [
        OriginChange::Changed { was: Some("~> 1.0".to_owned()), now: origin("", 9, "~> 1.1") },
        OriginChange::Came(origin("came", 6, "> 1")),
        OriginChange::Went(origin("gone", 5, "1.0.0")),
    ];
    assert_eq!(change.callers, wanted);
    let cause = explain(&change).cause;
    assert!(cause.contains("the root module (main.tf:9) requires `~> 1.1`, was `~> 1.0`"), "{cause}");
}

/// What the changes say, done to the old file.
fn apply(old: &LockFile, changes: &[Change]) -> LockFile {
    let mut lock = old.clone();
    for change in changes {
        let mut entry = lock.remove(change.moved_from.as_ref().unwrap_or(&change.address));
        let Some(new) = &change.new else { continue };
        let mut hashes = entry.take().map(|entry| entry.hashes).unwrap_or_default();
        for gone in &change.hashes_removed {
            assert!(hashes.remove(gone));
        }
        for came in &change.hashes_added {
            assert!(hashes.insert(came.hash.clone()));
        }
        let constraints = new.constraints.clone();
        lock.insert(change.address.clone(), LockEntry { version: new.version.clone(), constraints, hashes });
    }
    lock
}

fn any_entry() -> impl Strategy<Value = LockEntry> {
    let hashes = proptest::collection::btree_set("(h1|zh|h2):[a-d]", 0..5);
    let constraints = prop_oneof![Just(""), Just("~> 1.0"), Just(">= 1.0.0, < 2.0.0")];
    let version = prop_oneof![Just("1.0.0"), Just("1.0.1"), Just("1.2.0-beta"), Just("2.0.0+x")];
    (version, constraints, hashes).prop_map(|(version, constraints, hashes)| {
        entry(version, constraints, &hashes.iter().map(String::as_str).collect::<Vec<_>>())
    })
}

fn any_lock() -> impl Strategy<Value = LockFile> {
    let address = "(example\\.com|registry\\.terraform\\.io)/(a|b)/(x|y)";
    proptest::collection::btree_map(address, any_entry(), 0..6).prop_map(|entries| {
        lock(&entries.iter().map(|(text, entry)| (text.as_str(), entry.clone())).collect::<Vec<_>>())
    })
}

proptest! {
    #[test]
    fn equal_files_have_no_changes(lock in any_lock()) {
        prop_assert_eq!(changes(&lock, &lock), []);
    }

    #[test]
    fn the_changes_done_to_the_old_file_give_the_new_one(old in any_lock(), new in any_lock()) {
        let mut found = changes(&old, &new);
        for change in &mut found {
            judge(change, &known(true));
            let words = explain(change);
            prop_assert!(!headline(change).is_empty() && !words.cause.is_empty() && !words.consequence.is_empty());
            prop_assert_eq!(words.warning.is_empty(), risk(change) < Risk::Dangerous);
        }
        prop_assert_eq!(apply(&old, &found), new.clone());
        loudest_first(&mut found);
        prop_assert!(found.windows(2).all(|pair| risk(&pair[0]) >= risk(&pair[1])));
        prop_assert_eq!(found.is_empty(), old == new);
    }
}

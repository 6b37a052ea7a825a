//! Merges of values and of texts.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::addr::ProviderAddr;
use crate::hash::PackageHash;
use crate::lockfile::{LockEntry, LockFile, decode};

/// A folder of cases: `base`, `ours`, `theirs`, `expected`, each `.hcl`.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/merges");

#[test]
fn each_case_gives_what_is_expected() {
    let mut said = BTreeMap::new();
    #[expect(clippy::disallowed_methods, reason = "a test reads its data")]
    for case in std::fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let read = |file: &str| std::fs::read(case.join(file)).unwrap_or_default();
        let (base, ours, theirs) = (read("base.hcl"), read("ours.hcl"), read("theirs.hcl"));
        let document = if name.starts_with("trust") { Document::TrustFile } else { Document::LockFile };
        let merged = merge_texts(
            document,
            Three { base: &base, ours: &ours, theirs: &theirs },
            Decisions::default(),
            MergeOptions::default(),
        );
        let text = String::from_utf8(merged.text).unwrap();
        if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(case.join("expected.hcl"), &text).unwrap();
        }
        assert_eq!(text, String::from_utf8(read("expected.hcl")).unwrap(), "{name}");
        assert_eq!(merged.conflicts, text.contains("\n<<<<<<< OURS\n") || text.starts_with("<<<<<<< OURS\n"), "{name}");
        said.insert(name, merged.remarks.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
    assert!(said.len() >= 12);
    insta::assert_debug_snapshot!(said);
}

fn entry(version: &str, constraints: &str, hashes: &[&str]) -> LockEntry {
    LockEntry {
        version: version.parse().unwrap(),
        constraints: constraints.parse().unwrap(),
        hashes: hashes.iter().map(|hash| hash.parse::<PackageHash>().unwrap()).collect(),
    }
}

fn one(entry: Option<LockEntry>) -> LockFile {
    let mut lock = LockFile::new();
    if let Some(entry) = entry {
        lock.insert(ProviderAddr::parse("registry.example.com/acme/x", Dialect::Terraform).unwrap(), entry);
    }
    lock
}

fn merged(
    base: Option<LockEntry>,
    ours: Option<LockEntry>,
    theirs: Option<LockEntry>,
) -> (Option<LockEntry>, Vec<Reason>) {
    let [base, ours, theirs] = [base, ours, theirs].map(one);
    let merge = merge_locks(Three { base: &base, ours: &ours, theirs: &theirs });
    let entry = match merge.entries.into_values().next() {
        Some(Merged::Entry(entry)) => Some(entry),
        _ => None,
    };
    let reasons = merge.remarks.into_iter().filter_map(|remark| match remark {
        MergeRemark::Entry(_, reason) => Some(*reason),
        _ => None,
    });
    (entry, reasons.collect())
}

#[test]
fn a_version_changed_on_one_side_is_taken_whole() {
    let base = entry("1.0.0", "~> 1.0", &["zh:a"]);
    let ours = entry("1.1.0", "~> 1.1", &["zh:b"]);
    let theirs = entry("1.0.0", ">= 1.0.0, ~> 1.0", &["h1:x", "zh:a"]);
    // Constraints that a side left as they were are none that it wants.
    let next = entry("2.0.0", "~> 2.0", &["zh:c"]);
    let platform = entry("1.0.0", "~> 1.0", &["h1:x", "zh:a"]);
    assert_eq!(merged(Some(base.clone()), Some(next.clone()), Some(platform)), (Some(next), vec![]));
    assert_eq!(merged(Some(base.clone()), Some(ours.clone()), Some(theirs)), (Some(ours.clone()), vec![]));
    let exact = entry("1.0.0", "1.0.0", &["zh:a"]);
    let dropped = Reason::ConstraintsDropped(Side::Theirs, exact.constraints.clone());
    assert_eq!(merged(Some(base), Some(ours.clone()), Some(exact)), (Some(ours), vec![dropped]));
}

#[test]
fn of_two_new_versions_the_higher_that_both_allow() {
    let base = Some(entry("1.0.0", "~> 1.0", &["zh:a"]));
    let versions = |ours: LockEntry, theirs: LockEntry| {
        let (entry, reasons) = merged(base.clone(), Some(ours), Some(theirs));
        (entry.map(|entry| entry.version.to_string()), reasons.iter().any(Reason::is_conflict))
    };
    let taken = |version: &str| (Some(version.to_owned()), false);
    assert_eq!(versions(entry("1.9.0", "~> 1.0", &[]), entry("1.10.0", "~> 1.1", &[])), taken("1.10.0"));
    assert_eq!(versions(entry("1.9.0", "~> 1.0", &[]), entry("2.0.0", ">= 1.0.0", &[])), taken("1.9.0"));
    assert_eq!(versions(entry("1.9.0", "1.9.0", &[]), entry("2.0.0", "2.0.0", &[])), (None, true));
    assert_eq!(versions(entry("1.9.0", "", &[]), entry("2.0.0", "", &[])), taken("2.0.0"));
    assert_eq!(versions(entry("1.9.0", "", &[]), entry("2.0.0-rc1", "2.0.0-rc1", &[])), (None, true));
}

#[test]
fn hashes_of_equal_versions() {
    let before = Some(entry("1.0.0", "", &["zh:a", "zh:b", "zh:gone"]));
    let hashes = |base: &Option<LockEntry>, ours: &[&str], theirs: &[&str]| {
        let (entry, reasons) =
            merged(base.clone(), Some(self::entry("1.0.0", "", ours)), Some(self::entry("1.0.0", "", theirs)));
        (entry.map(|entry| entry.hashes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")), reasons)
    };
    let taken = |hashes: &str| Some(hashes.to_owned());
    let added = hashes(&before, &["h1:o", "zh:a", "zh:b", "zh:gone"], &["h1:t", "zh:a", "zh:b"]);
    assert_eq!(added, (taken("h1:o h1:t zh:a zh:b"), vec![]));
    assert_eq!(hashes(&before, &["zh:a"], &["zh:b"]), (None, vec![Reason::NoHashLeft]));
    // Hashes of another version say nothing of this one.
    let other = Some(entry("0.9.0", "", &["zh:manifest"]));
    assert_eq!(hashes(&other, &["zh:a", "zh:manifest"], &["zh:a"]).0, taken("zh:a zh:manifest"));
}

#[test]
fn hashes_of_two_releases_are_not_mixed() {
    let side = |version: &str, zh: &str| {
        let hashes: Vec<String> = zh.split_whitespace().map(|hash| format!("zh:{hash}")).collect();
        entry(version, "", &hashes.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let merged = |base: &str, ours: &str, theirs: &str| {
        let base = (!base.is_empty()).then(|| side("1.0.0", base));
        let (merged, reasons) = merged(base, Some(side("1.0.0", ours)), Some(side("1.0.0", theirs)));
        assert_eq!(reasons.iter().any(Reason::is_conflict), merged.is_none());
        merged.map(|entry| entry.hashes.iter().map(|hash| hash.as_str()[3..].to_owned()).collect::<Vec<_>>().join(" "))
    };
    // The manifest (m) of many releases is the same file.
    for (base, ours, theirs, expected) in [
        ("", "a", "b", None),
        ("", "a b m", "x y m", None),
        ("a b m", "a b c m", "x y m", None),
        ("a b m", "a b c", "x m", None),
        ("a b gone", "a b gone", "new", Some("new")),
        ("a b m", "a b m", "x y m", Some("m x y")),
        // Lists of one release: one that has grown, and a mirror's, of which each side has added a platform.
        ("", "a b m", "a b c m", Some("a b c m")),
        ("a b m", "a b c m", "a b m", Some("a b c m")),
        ("a", "a b", "a c", Some("a b c")),
        ("a b m x", "a b m", "a b c m x", Some("a b c m")),
    ] {
        assert_eq!(merged(base, ours, theirs).as_deref(), expected, "{base}, {ours}, {theirs}");
        assert_eq!(merged(base, theirs, ours).as_deref(), expected, "{base}, {theirs}, {ours}");
    }
    // What one side added to the release that the other replaced goes with neither.
    let [base, ours, theirs] = [&["zh:a", "zh:m"][..], &["h1:o", "zh:a", "zh:m"], &["zh:m", "zh:x"]]
        .map(|hashes| Some(entry("1.0.0", "", hashes)));
    assert_eq!(self::merged(base, ours, theirs), (None, vec![Reason::TwoReleases("1.0.0".parse().unwrap())]));
}

#[test]
fn the_header_comes_from_the_side_that_changed_it() {
    let text = |dialect: Dialect, version: &str| one(Some(entry(version, "", &["zh:a"]))).encode(dialect);
    let merged = |dialects: [Dialect; 3], sides: Option<[Dialect; 2]>| {
        let [base, ours, theirs] = [(0, "1.0.0"), (1, "1.1.0"), (2, "1.0.0")].map(|(at, it)| text(dialects[at], it));
        let texts = Three { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
        let sides = sides.map(|sides| sides.map(|dialect| text(dialect, "1.1.0")));
        let merged = match &sides {
            None => merge_texts(Document::LockFile, texts, Decisions::default(), MergeOptions::default()),
            Some([one, other]) => {
                let texts = Three { base: b"".as_slice(), ..texts };
                let sides = Some([one.as_bytes(), other.as_bytes()]);
                merge_texts(Document::LockFile, texts, Decisions { sides, configured: None }, MergeOptions::default())
            }
        };
        (lockfile::detect_dialect(&merged.text).unwrap(), merged.remarks)
    };
    let (terraform, tofu) = (Dialect::Terraform, Dialect::OpenTofu);
    assert_eq!(merged([terraform, terraform, tofu], None), (tofu, vec![]));
    assert_eq!(merged([terraform, tofu, terraform], None), (tofu, vec![]));
    assert_eq!(merged([tofu, terraform, tofu], None), (terraform, vec![]));
    // Without an ancestor no one knows which one moved, unless someone has decided.
    let differ = MergeRemark::ToolsDiffer(terraform, tofu);
    assert!(merged([terraform, terraform, tofu], Some([terraform, tofu])).1.contains(&differ));
    let (dialect, remarks) = merged([terraform, terraform, tofu], Some([tofu, tofu]));
    assert!(dialect == tofu && !remarks.contains(&differ), "{remarks:?}");
}

#[test]
fn a_release_is_accepted_as_republished_again() {
    let block = |date: &str| {
        let fields = format!("  version = \"1.0.0\"\n  date    = \"{date}\"\n  reason  = \"x\"\n");
        format!("republished \"registry.example.com/acme/x\" {{\n{fields}}}\n")
    };
    let [one, two, three] = ["2026-01-01", "2026-02-01", "2026-03-01"].map(block);
    let base = format!("{one}\n{two}");
    let (ours, theirs) = (format!("{base}\n{three}"), one.clone());
    let texts = Three { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let merged = merge_texts(Document::TrustFile, texts, Decisions::default(), MergeOptions::default());
    assert_eq!((String::from_utf8(merged.text).unwrap(), merged.remarks), (format!("{one}\n{three}"), vec![]));
}

#[test]
fn a_side_that_cannot_be_read_decides_nothing() {
    let block = |reason: &str| format!("denied_signer \"AA\" {{\n  reason = \"{reason}\"\n}}\n");
    let (base, theirs) = (block("old"), block("new"));
    let texts = Three { base: base.as_bytes(), ours: b"".as_slice(), theirs: theirs.as_bytes() };
    let broken = theirs.replace("\"new\"", "\"new");
    for (sides, conflicts) in [(["", ""], false), (["", &broken], true), ([&broken, &broken], true)] {
        let sides = sides.map(str::as_bytes);
        let decisions = Decisions { sides: Some(sides), configured: None };
        let merged = merge_texts(Document::TrustFile, texts, decisions, MergeOptions::default());
        assert_eq!(merged.conflicts, conflicts, "{sides:?}");
    }
}

#[test]
fn constraints_are_merged_term_by_term() {
    let constraints = |base: &str, ours: &str, theirs: &str| {
        let side = |text: &str| Some(entry("1.2.0", text, &["zh:a"]));
        merged(side(base), side(ours), side(theirs)).0.unwrap().constraints.to_string()
    };
    assert_eq!(constraints("~> 1.0", "~> 1.0, >= 1.1.0", "~> 1.2"), ">= 1.1.0, ~> 1.2");
    assert_eq!(constraints("~> 1.0", "", "~> 1.0, < 3.0.0"), "< 3.0.0");
    assert_eq!(constraints("", "~> 1.0", "~> 1.0"), "~> 1.0");
}

#[test]
fn what_is_removed_and_changed_is_kept() {
    let base = entry("1.0.0", "", &["zh:a"]);
    let changed = entry("1.0.0", "", &["h1:x", "zh:a"]);
    let kept = |side| (Some(changed.clone()), vec![Reason::KeptThoughRemoved(side)]);
    assert_eq!(merged(Some(base.clone()), None, Some(changed.clone())), kept(Side::Ours));
    assert_eq!(merged(Some(base.clone()), Some(changed.clone()), None), kept(Side::Theirs));
    assert_eq!(merged(Some(base.clone()), None, Some(base)), (None, vec![]));
}

fn any_entry() -> impl Strategy<Value = LockEntry> {
    let versions = prop::sample::select(vec!["1.0.0", "1.1.0", "1.2.0", "2.0.0", "2.0.0-rc1"]);
    let constraints =
        prop::collection::vec(prop::sample::select(vec!["~> 1.0", ">= 1.1.0", "1.1.0", "< 3.0.0", "2.0.0-rc1"]), 0..3);
    let hashes = prop::collection::vec(prop::sample::select(vec!["h1:a", "h1:b", "zh:a", "zh:b", "zh:c", "x:y"]), 0..5);
    (versions, constraints, hashes).prop_map(|(version, terms, hashes)| entry(version, &terms.join(", "), &hashes))
}

fn any_lock() -> impl Strategy<Value = LockFile> {
    let addr = prop::sample::select(vec!["a.example/acme/x", "registry.opentofu.org/a/y", "registry.terraform.io/a/z"]);
    prop::collection::btree_map(addr, any_entry(), 0..4).prop_map(|entries| {
        let mut lock = LockFile::new();
        for (addr, entry) in entries {
            lock.insert(ProviderAddr::parse(addr, Dialect::Terraform).unwrap(), entry);
        }
        lock
    })
}

fn swapped(merge: LockMerge) -> BTreeMap<ProviderAddr, Merged> {
    let swap = |merged| match merged {
        Merged::Conflict { ours, theirs } => Merged::Conflict { ours: theirs, theirs: ours },
        entry @ Merged::Entry(_) => entry,
    };
    merge.entries.into_iter().map(|(addr, merged)| (addr, swap(merged))).collect()
}

proptest! {
    #[test]
    fn one_sided_changes_win(base in any_lock(), x in any_lock()) {
        for three in [
            Three { base: &base, ours: &x, theirs: &base },
            Three { base: &base, ours: &base, theirs: &x },
            Three { base: &base, ours: &x, theirs: &x },
        ] {
            let merge = merge_locks(three);
            prop_assert_eq!(merge.lock(), Some(x.clone()));
            prop_assert_eq!(merge.remarks, vec![]);
        }
    }

    #[test]
    fn the_sides_are_equal(base in any_lock(), ours in any_lock(), theirs in any_lock()) {
        let forth = merge_locks(Three { base: &base, ours: &ours, theirs: &theirs });
        let back = merge_locks(Three { base: &base, ours: &theirs, theirs: &ours });
        prop_assert_eq!(forth.entries, swapped(back));
    }

    #[test]
    fn a_merged_version_is_one_of_a_side_with_hashes_of_a_side(base in any_lock(), ours in any_lock(), theirs in any_lock()) {
        let merge = merge_locks(Three { base: &base, ours: &ours, theirs: &theirs });
        for (addr, merged) in &merge.entries {
            let Merged::Entry(entry) = merged else { continue };
            let sides: Vec<_> = [ours.get(addr), theirs.get(addr)].into_iter().flatten().filter(|side| side.version == entry.version).collect();
            prop_assert!(!sides.is_empty());
            prop_assert!(entry.hashes.iter().all(|hash| sides.iter().any(|side| side.hashes.contains(hash))));
            prop_assert!(!entry.hashes.is_empty() || sides.iter().any(|side| side.hashes.is_empty()));
        }
    }

    /// Texts with conflicts can be split again, and each side of them is the merge with that side taken.
    #[test]
    fn conflicts_are_split_again(base in any_lock(), ours in any_lock(), theirs in any_lock()) {
        let [base, ours, theirs] = [base, ours, theirs].map(|lock| lock.encode(Dialect::OpenTofu));
        let texts = Three { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
        let merged = merge_texts(Document::LockFile, texts, Decisions::default(), MergeOptions { marker_size: 9, ..MergeOptions::default() });
        let parts = split(&merged.text).unwrap();
        prop_assert_eq!(merged.conflicts, parts.is_some());
        let sides = parts.map_or([merged.text.clone(), merged.text.clone()], |parts| [parts.ours, parts.theirs]);
        for side in &sides {
            prop_assert!(decode(side, Dialect::OpenTofu).unwrap().canonical);
        }
        let again = Three { base: base.as_bytes(), ours: &sides[0][..], theirs: &sides[1][..] };
        let again = merge_texts(Document::LockFile, again, Decisions::default(), MergeOptions { marker_size: 9, ..MergeOptions::default() });
        prop_assert_eq!(again.conflicts, merged.conflicts);
    }

    #[test]
    fn no_text_stops_a_merge_or_gets_lost(base in ".{0,20}", ours in ".{0,20}", theirs in "(<<<<<<<|=======|>>>>>>>|a|\n| |provider \"a/b/c\" \\{|\\}){0,9}") {
        for document in [Document::LockFile, Document::TrustFile] {
            let texts = Three { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
            let merged = merge_texts(document, texts, Decisions::default(), MergeOptions::default());
            if merged.remarks.iter().any(|remark| matches!(remark, MergeRemark::Unreadable(..))) {
                let text = String::from_utf8(merged.text).unwrap();
                prop_assert!(merged.conflicts && text.contains(&ours) && text.contains(&theirs));
            }
        }
        let _ = split(theirs.as_bytes());
        let _ = textconv(theirs.as_bytes());
    }

    #[test]
    fn short_texts_differ_where_locks_do(one in any_lock(), other in any_lock()) {
        let [a, b] = [&one, &other].map(|lock| textconv(lock.encode(Dialect::Terraform).as_bytes()));
        prop_assert_eq!(a == b, one == other);
        let tofu = textconv(one.encode(Dialect::OpenTofu).as_bytes());
        prop_assert_ne!(&a, &tofu);
        let loose = one.encode(Dialect::Terraform).replace('=', " =");
        prop_assert_eq!(a == textconv(loose.as_bytes()), one.is_empty());
    }
}

#[test]
fn styles_of_markers() {
    let split = |text: &str| split(text.as_bytes());
    let parts = split("a\n<<<<<<< HEAD\nb\n||||||| 1234\nc\n=======\nd\n>>>>>>> x\ne\n").unwrap().unwrap();
    assert_eq!((&parts.ours[..], &parts.theirs[..]), (&b"a\nb\ne\n"[..], &b"a\nd\ne\n"[..]));
    assert_eq!(parts.base.as_deref(), Some(&b"a\nc\ne\n"[..]));
    let long = split("<<<<<<<<< HEAD\r\n=======\r\n=========\r\nd\r\n>>>>>>>>>").unwrap().unwrap();
    assert_eq!((long.marker_size, &long.ours[..], &long.theirs[..]), (9, &b"=======\r\n"[..], &b"d\r\n"[..]));
    assert_eq!(long.base, None);
    assert_eq!(split("<<<<<< six\n=======\n<<<<<<<x\n"), Ok(None));
    assert_eq!(split("\n<<<<<<< a\n>>>>>>> b\n"), Err(MarkerError::OutOfOrder { marker: ">>>>>>>".into(), line: 3 }));
    assert_eq!(split("\n<<<<<<< a\n=======\n"), Err(MarkerError::Unclosed { line: 2 }));
    assert_eq!(split("<<<<<<< a\n<<<<<<< a\n"), Err(MarkerError::OutOfOrder { marker: "<<<<<<<".into(), line: 2 }));
}

#[test]
fn an_ancestor_with_conflicts_gives_what_its_sides_share() {
    let block = |name: &str, version: &str| {
        format!(
            "\nprovider \"registry.terraform.io/acme/{name}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:{version}\",\n  ]\n}}\n"
        )
    };
    let base = block("a", "1.0.0")
        + &block("b", "1.0.0")
        + "\n<<<<<<<<< OURS"
        + &block("c", "1.0.0")
        + "========="
        + &block("c", "1.1.0")
        + ">>>>>>>>> THEIRS\n";
    let ours = block("a", "1.0.0") + &block("b", "1.1.0") + &block("c", "1.2.0");
    let theirs = block("b", "1.0.0") + &block("c", "1.2.0");
    let texts = Three { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let merged = merge_texts(Document::LockFile, texts, Decisions::default(), MergeOptions::default());
    assert_eq!((merged.conflicts, &merged.remarks[..]), (false, &[][..]));
    let lock = decode(&merged.text, Dialect::Terraform).unwrap().lock;
    let versions: Vec<String> =
        lock.iter().map(|(addr, entry)| format!("{} {}", addr.type_name(), entry.version)).collect();
    assert_eq!(versions, ["b 1.1.0", "c 1.2.0"]);

    let texts = Three { base: b"nonsense {{{".as_slice(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let merged = merge_texts(Document::LockFile, texts, Decisions::default(), MergeOptions::default());
    assert_eq!((merged.conflicts, merged.remarks.first()), (false, Some(&MergeRemark::NoBase)));
}

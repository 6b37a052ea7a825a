//! The pairs of `testdata/diffs` in every format.

#![expect(clippy::disallowed_methods, reason = "tests read their data")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::*;
use crate::addr::{ProviderAddr, UsedNames};
use crate::commands::diff::pairs::{DiffSide, Knowledge as Known, Pair, review};
use crate::commands::diff::signers::Trust;
use crate::dialect::Dialect;
use crate::diff::Change;
use crate::diff::Packages;
use crate::hash::PackageHash;
use crate::lockfile::{LockFile, salvage};
use crate::outcome::{Body, Review, RootOutcome};
use crate::release::{Attestation, ListedLine, Lookup, Release};
use crate::report::schema_tests::broken;
use crate::topics::more_about_rule;
use crate::trust::Evidence;

/// The formats of `diff`.
fn formats() -> impl Iterator<Item = Format> {
    let has = |format: &Format| format.commands().is_empty() || format.commands().contains(&"diff");
    Format::value_variants().iter().copied().filter(has)
}

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/diffs")).to_owned()
}

fn cases() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<String> = entries
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    cases.sort_unstable();
    cases
}

fn root(old: Vec<u8>, new: Vec<u8>, packages: &dyn Fn(&[Change]) -> Packages) -> RootOutcome {
    trusting(old, new, packages, &Trust::default())
}

fn trusting(old: Vec<u8>, new: Vec<u8>, packages: &dyn Fn(&[Change]) -> Packages, trust: &Trust) -> RootOutcome {
    // Nothing is new to the repository.
    let lock = |text: &Vec<u8>| salvage(text, Dialect::Terraform).lock;
    let listed: BTreeSet<ProviderAddr> =
        [lock(&old), lock(&new)].iter().flat_map(LockFile::iter).map(|(addr, _)| addr.clone()).collect();
    let side = |name: &str, text| DiffSide { name: name.to_owned(), text: Some(text) };
    let pair = Pair {
        path: ".terraform.lock.hcl".into(),
        old: side("main", old),
        new: side("the work tree", new),
        dialect: None,
        ..Pair::default()
    };
    let (requirements, online) = (&|_: &Pair| None, trust.new.is_some());
    let locked = || Ok(Arc::new(UsedNames::of(&listed)));
    review(&pair, &Known { packages, requirements, locked: &locked, trust, online, now: SystemTime::UNIX_EPOCH })
}

fn outcome(roots: Vec<RootOutcome>) -> Outcome {
    Outcome { command: "diff", many: roots.len() > 1, roots, ..Outcome::default() }
}

fn case(name: &str, packages: &dyn Fn(&[Change]) -> Packages) -> Outcome {
    let [old, new] = ["old.hcl", "new.hcl"].map(|side| std::fs::read(folder().join(name).join(side)).unwrap());
    outcome(vec![root(old, new, packages)])
}

fn nothing(_: &[Change]) -> Packages {
    Packages::default()
}

/// The same with the pages of the releases, and a registry that gave no answer about the first one.
fn answered(changes: &[Change]) -> Packages {
    let mut known = signed(changes);
    for knowledge in known.releases.values_mut() {
        let Lookup::Known(release) = knowledge else {
            continue;
        };
        let release = Arc::get_mut(release).unwrap();
        release.link = url::Url::parse("https://github.com/acme/terraform-provider-x/releases/tag/v1(2)").ok();
    }
    if let Some((change, new)) = changes.first().and_then(|change| Some((change, change.new.as_ref()?))) {
        let error = crate::error::Error::new(crate::error::ErrorKind::Unavailable, "asking `the` registry failed: 503");
        let unanswered = Lookup::Inconclusive(error.hint("wait a day"));
        known.releases.insert((change.address.clone(), new.version.clone()), unanswered);
    }
    known
}

/// A trust file that remembers another key for one namespace.
fn pinned_to_another() -> Trust {
    let text = format!("provider \"registry.terraform.io/acme/*\" {{\n signers = [\"{}\"]\n}}\n", "B".repeat(40));
    let pins = crate::trust::pins::decode(&text, Path::new("x")).unwrap().pins;
    Trust { old: Some(pins.clone()), new: Some(pins) }
}

/// A world in which the releases of the old side are signed, and those of the new side were requested.
fn signed(changes: &[Change]) -> Packages {
    let mut known = Packages::default();
    for change in changes {
        for entry in [&change.new, &change.old].into_iter().flatten() {
            let archive = |hash: &PackageHash| {
                Some((hash.zh_digest()?, ListedLine::archive(Some("linux_amd64".parse().unwrap()))))
            };
            let reported = || Attestation::new(None, Evidence::ReportedByOrigin);
            let release = Release {
                signer: "C874011F0AB405110D02105534365D9472D7468F".parse().ok(),
                lines: entry.hashes.iter().filter_map(archive).collect(),
                h1: change.hashes_added.iter().skip(1).map(|added| (added.hash.clone(), reported())).collect(),
                complete: true,
                ..Release::new(change.address.clone(), entry.version.clone())
            };
            let facts = Lookup::Known(Arc::new(release));
            known.releases.insert((change.address.clone(), entry.version.clone()), facts);
        }
    }
    known
}

fn all_formats(outcome: &Outcome) -> String {
    let style = Style { dialect: Some(Dialect::Terraform), width: Some(80), ..Style::default() };
    // Most of a page is its style and script.
    formats().filter(|format| *format != Format::Html).fold(String::new(), |text, format| {
        let of_format = render(outcome, format, style);
        let of_format = if format == Format::Sarif { without_texts_of_rules(&of_format) } else { of_format };
        text + &format!("===== {format:?}\n{of_format}")
    })
}

/// The texts of rules, which are the same for every pair, have a snapshot of their own.
fn without_texts_of_rules(sarif: &str) -> String {
    let (mut kept, mut skipped) = (String::new(), 0);
    for line in sarif.lines() {
        if ["\"shortDescription\": {", "\"help\": {"].contains(&line.trim()) {
            skipped = 3;
        }
        if skipped == 0 {
            kept.push_str(line);
            kept.push('\n');
        }
        skipped = usize::saturating_sub(skipped, 1);
    }
    kept
}

#[test]
fn the_texts_of_rules_in_sarif() {
    let mut texts = BTreeMap::new();
    for name in cases() {
        let sarif = render(&case(&name, &nothing), Format::Sarif, Style::default());
        let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
        for rule in sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
            let text = |of: &str| rule[of]["text"].as_str().unwrap().to_owned();
            texts.insert(rule["id"].as_str().unwrap().to_owned(), [text("shortDescription"), text("help")]);
        }
    }
    insta::assert_debug_snapshot!("diff_rules", texts);
}

#[test]
fn every_pair_in_every_format() {
    let cases = cases();
    assert!(cases.len() >= 12);
    for name in cases {
        insta::assert_snapshot!(format!("diff_{name}"), all_formats(&case(&name, &nothing)));
    }
    insta::assert_snapshot!("diff_judged_replaced", all_formats(&case("hashes-replaced", &signed)));
    let [old, new] = ["old.hcl", "new.hcl"].map(|side| std::fs::read(folder().join("many").join(side)).unwrap());
    let trusting_all = outcome(vec![trusting(old, new, &answered, &pinned_to_another())]);
    assert_eq!(broken(&render(&trusting_all, Format::Json, Style::default())), [""; 0]);
    insta::assert_snapshot!("diff_trusted", all_formats(&trusting_all));
    insta::assert_snapshot!("diff_judged_platforms", all_formats(&case("platforms-added", &signed)));
}

#[test]
fn every_detail_in_human_output() {
    let verbose = Style { detail: Detail::Verbose, width: Some(80), ..Style::default() };
    insta::assert_snapshot!("diff_verbose", render(&case("many", &signed), Format::Human, verbose));
    let quiet = Style { detail: Detail::Quiet, width: Some(80), ..Style::default() };
    insta::assert_snapshot!("diff_quiet", render(&case("many", &nothing), Format::Human, quiet));
}

#[test]
fn human_output_fits_a_terminal() {
    for name in cases() {
        for detail in [Detail::Quiet, Detail::Normal, Detail::Verbose] {
            let mut outcome = case(&name, &nothing);
            // Findings are one line each, however long.
            outcome.roots[0].findings.clear();
            let style = Style { detail, dialect: Some(Dialect::Terraform), width: Some(80), ..Style::default() };
            let text = render(&outcome, Format::Human, style);
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
            // A URL is never wrapped.
            let wide: Vec<&str> = wide.into_iter().filter(|line| !line.starts_with("    see:  ")).collect();
            assert_eq!(wide, [""; 0], "{name}");
        }
    }
}

#[test]
fn commit_bodies_fit_and_are_no_comments() {
    for name in cases() {
        let style = Style { dialect: Some(Dialect::Terraform), ..Style::default() };
        let text = render(&case(&name, &nothing), Format::Commit, style);
        assert!(text.lines().all(|line| line.len() <= 72 && !line.starts_with('#')), "{text}");
    }
}

#[test]
fn json_keeps_to_the_schema() {
    for name in cases() {
        for packages in [&nothing as &dyn Fn(&[Change]) -> Packages, &signed] {
            let one = case(&name, packages);
            let many = outcome(vec![one.roots[0].clone(), case("many", packages).roots[0].clone()]);
            for outcome in [one, many] {
                assert_eq!(broken(&render(&outcome, Format::Json, Style::default())), [""; 0], "{name}");
            }
        }
    }
}

/// The fields that GitLab documents, and no two remarks with one fingerprint.
#[test]
fn gitlab_reports_have_the_documented_fields() {
    for name in cases() {
        let twice = case(&name, &nothing).roots.remove(0);
        let text = render(&outcome(vec![twice.clone(), twice]), Format::Gitlab, Style::default());
        let remarks: Vec<Value> = serde_json::from_str(&text).unwrap();
        let mut prints = std::collections::BTreeSet::new();
        for remark in &remarks {
            let severities = ["info", "minor", "major", "critical", "blocker"];
            assert!(severities.contains(&remark["severity"].as_str().unwrap()));
            assert!(remark["description"].is_string() && remark["check_name"].is_string());
            assert!(!remark["location"]["path"].as_str().unwrap().starts_with(['/', '\\']));
            assert!(remark["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
            assert!(prints.insert(remark["fingerprint"].as_str().unwrap().to_owned()), "{name}");
        }
        assert_eq!(prints.len(), remarks.len());
    }
}

/// The schema of SARIF allows no properties but its own; these are the ones of it that we write.
fn keys(object: &Value, known: &[&str]) {
    let strange: Vec<_> =
        object.as_object().into_iter().flatten().filter(|(key, _)| !known.contains(&key.as_str())).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// What the schema of SARIF wants of the parts that we write. The schema itself is not ours to keep here; documents of
/// all cases were validated against that of OASIS by hand.
#[test]
fn sarif_has_its_shape() {
    for name in cases() {
        let text = render(&case(&name, &signed), Format::Sarif, Style::default());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["version"], "2.1.0");
        keys(&document, &["$schema", "version", "runs"]);
        let run = &document["runs"][0];
        keys(run, &["tool", "columnKind", "invocations", "results"]);
        keys(&run["tool"], &["driver"]);
        keys(&run["tool"]["driver"], &["name", "semanticVersion", "informationUri", "rules"]);
        keys(&run["invocations"][0], &["executionSuccessful", "toolExecutionNotifications"]);
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            keys(
                result,
                &["ruleId", "ruleIndex", "level", "message", "partialFingerprints", "locations", "properties"],
            );
            keys(&result["message"], &["text"]);
            keys(&result["locations"][0], &["physicalLocation"]);
            keys(place, &["artifactLocation", "region"]);
            keys(&place["artifactLocation"], &["uri", "uriBaseId"]);
            keys(&place["region"], &["startLine", "startColumn", "endLine", "endColumn"]);
            assert_eq!(place["artifactLocation"]["uri"], ".terraform.lock.hcl");
        }
    }
}

/// Command, properties, message.
type Annotation<'a> = (&'a str, Vec<(String, String)>, String);

/// One workflow command, as the runner of GitHub Actions reads it.
fn parsed(line: &str) -> Option<Annotation<'_>> {
    let (head, data) = line.strip_prefix("::")?.split_once("::")?;
    let (command, properties) = head.split_once(' ').unwrap_or((head, ""));
    let plain = |text: &str| {
        text.replace("%3A", ":").replace("%2C", ",").replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    };
    let properties = properties.split(',').filter_map(|pair| pair.split_once('='));
    Some((command, properties.map(|(name, value)| (name.to_owned(), plain(value))).collect(), plain(data)))
}

#[test]
fn annotations_are_read_back() {
    for name in cases() {
        let outcome = case(&name, &nothing);
        let text = render(&outcome, Format::Github, Style::default());
        let read: Vec<_> = text.lines().filter_map(parsed).collect();
        let items = annotation::items(&outcome, annotation::Findings::Grouped);
        assert_eq!(read.len(), items.len(), "{name}: {text}");
        for (command, properties, message) in read {
            let item = items.iter().find(|item| message.starts_with(&item.message)).unwrap();
            let page = more_about_rule(item.rule.id).unwrap_or_default();
            let is_rule = crate::finding::Rule::ALL.iter().any(|rule| rule.id() == item.rule.id);
            assert!(!is_rule || message.ends_with(&page), "{message}");
            assert!(["error", "warning", "notice"].contains(&command));
            let of = |name: &str| properties.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
            assert_eq!(of("file"), Some(".terraform.lock.hcl"));
            assert_eq!(of("line"), item.position.map(|position| position.line.to_string()).as_deref());
        }
    }
}

/// Two lock files with many providers, each changed in its own way.
fn large(count: usize) -> [Vec<u8>; 2] {
    let text = |side: usize| {
        let mut text = "# This file is maintained automatically by \"terraform init\".\n".to_owned();
        text.push_str("# Manual edits may be lost in future updates.\n");
        for number in 0..count {
            let other = if number % 3 == 2 { 0 } else { side };
            let version = if number % 3 == 1 { format!("1.{side}.0") } else { "1.0.0".to_owned() };
            writeln!(text, "\nprovider \"registry.terraform.io/example-namespace/provider{number:03}\" {{").unwrap();
            writeln!(text, "  version     = \"{version}\"\n  constraints = \"~> 1.{side}\"\n  hashes = [").unwrap();
            for hash in 0..15 {
                writeln!(text, "    \"zh:{number:020x}{other:020x}{hash:024x}\",").unwrap();
            }
            text.push_str("  ]\n}\n");
        }
        text.into_bytes()
    };
    [text(0), text(1)]
}

#[test]
fn markdown_of_many_providers_stays_below_the_limit_of_comments() {
    let [old, new] = large(300);
    let one = outcome(vec![root(old, new, &nothing)]);
    let text = render(&one, Format::Markdown, Style { dialect: Some(Dialect::Terraform), ..Style::default() });
    assert!(text.len() < 65_536 && text.len() > 30_000, "{}", text.len());
    assert!(text.contains("Left out for lack of space: the checksums of"), "{}", &text[text.len() - 300..]);
    assert_eq!(text.matches("\n| ").count() - text.matches("\n| |").count(), 300, "every provider has its row");
    assert!(
        text.contains("<summary>200 routine changes</summary>") && text.contains(" and 88 more: Do not merge"),
        "{text}"
    );
    let first = text.lines().find(|line| line.starts_with("| **")).unwrap();
    assert!(first.contains("CHECKSUMS REPLACED"), "{first}");
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    assert_eq!(text.matches("```").count() % 2, 0);
}

#[test]
#[ignore = "long"]
fn markdown_of_more_than_fits_says_what_is_missing() {
    let [old, new] = large(900);
    let one = outcome(vec![root(old, new, &nothing)]);
    let text = render(&one, Format::Markdown, Style::default());
    assert!(text.len() < 65_536 && text.contains("changes of 900"), "{}", text.len());
    let mut many = outcome((0..200).map(|_| case("many", &nothing).roots.remove(0)).collect());
    let text = render(&many, Format::Markdown, Style::default());
    assert!(text.len() < 10_000 && text.contains("` and 197 more\n"), "equal changes are told once: {}", text.len());
    for (number, root) in many.roots.iter_mut().enumerate() {
        let Ok(Body::Review(review)) = &mut root.body else { panic!("a review") };
        review.sides = [number.to_string(), "the work tree".to_owned()];
    }
    let text = render(&many, Format::Markdown, Style::default());
    assert!(text.len() < 10_000, "{}", text.len());
}

/// The upgrade of a monorepo: one row for each change in every format, with the root modules counted.
#[test]
fn a_change_of_sixty_root_modules_is_printed_once_in_every_format() {
    let root = |number: usize| {
        let mut root = case("many", &signed).roots.remove(0);
        root.path = format!("live/env{number:02}/app").into();
        let Ok(Body::Review(review)) = &mut root.body else { panic!("a review") };
        review.path = root.path.join(".terraform.lock.hcl");
        root
    };
    let one = outcome(vec![root(0)]);
    let many = outcome((0..60).map(root).collect());
    let style = Style { dialect: Some(Dialect::Terraform), ..Style::default() };
    let Ok(Body::Review(review)) = &one.roots[0].body else { panic!("a review") };
    let changes = review.changes.len();
    // These list each root module.
    let complete = [Format::Json, Format::Sarif, Format::Html];
    for format in formats().filter(|format| !complete.contains(format)) {
        let [small, large] = [&one, &many].map(|outcome| render(outcome, format, style));
        let lines = |text: &str| text.lines().count();
        assert!(lines(&large) <= lines(&small) + 12, "{format:?}: {large}");
        assert!(large.len() < 2 * small.len() + 4_000, "{format:?}: {}", large.len());
    }
    let markdown = render(&many, Format::Markdown, style);
    assert!(markdown.len() < 10_000, "{}: {markdown}", markdown.len());
    assert_eq!(markdown.matches("<br>all 60 root modules | ").count(), changes, "{markdown}");
    assert_eq!(markdown.matches("`live/env59/app`").count(), 1, "{markdown}");
    let github = render(&many, Format::Github, style);
    let findings = one.roots[0].findings.len();
    assert_eq!(github.lines().filter(|line| line.starts_with("::")).count(), changes + findings, "{github}");
    assert!(
        github.contains(" In 60 root modules: live/env00/app, live/env01/app, live/env02/app and 57 more."),
        "{github}"
    );
    let commit = render(&many, Format::Commit, style);
    let (subject, body) = commit.split_once("\n\n").unwrap();
    assert!(subject.ends_with(" in 60 root modules") && subject.len() <= 72, "{commit}");
    assert_eq!(body.lines().filter(|line| line.starts_with("- ")).count(), changes, "{commit}");
    let sarif: Value = serde_json::from_str(&render(&many, Format::Sarif, style)).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["locations"].as_array().unwrap().len(), 60);
}

/// A hash that one root module alone has is never behind the row of others.
#[test]
fn other_hashes_are_another_change() {
    let mut many = outcome((0..3).map(|_| case("hashes-replaced", &nothing).roots.remove(0)).collect());
    for (number, root) in many.roots.iter_mut().enumerate() {
        root.path = format!("live/{number}").into();
    }
    let rows =
        |outcome: &Outcome| render(outcome, Format::Human, Style::default()).matches("CHECKSUMS REPLACED").count();
    let same = rows(&many);
    let Ok(Body::Review(review)) = &mut many.roots[1].body else { panic!("a review") };
    let change = review.changes.iter_mut().find(|change| !change.hashes_added.is_empty()).unwrap();
    change.hashes_added[0].hash = format!("zh:{}", "e".repeat(64)).parse().unwrap();
    assert_eq!(rows(&many), same + 1);
}

#[test]
fn annotations_of_many_providers_are_ten_a_level() {
    let [old, new] = large(300);
    let text = render(&outcome(vec![root(old, new, &nothing)]), Format::Github, Style::default());
    for command in ["::error ", "::notice "] {
        assert_eq!(text.matches(command).count(), 10);
    }
    assert!(text.contains("not annotated: 90 more errors, 190 more notices"), "{text}");
}

#[test]
fn text_from_outside_is_escaped_in_every_format() {
    let mut outcome = case("upgraded", &nothing);
    let evil = "a\u{1b}[31m</details>|`x`\n::error::boo @everyone <script>";
    outcome.roots[0].findings = vec![crate::finding::Finding::new(crate::finding::Rule::NotCanonical, evil)];
    for format in Format::value_variants().iter().copied() {
        let text = render(&outcome, format, Style::default());
        assert!(!text.contains('\u{1b}') && !text.contains("\n::error::boo"), "{format:?}: {text}");
        assert!(format != Format::Markdown || !text.contains("<script>") && !text.contains("@everyone"), "{text}");
        assert!(format != Format::Html || text.matches("<script>").count() == 1, "{text}");
    }
}

#[test]
fn every_format_says_if_nothing_changed() {
    let text = std::fs::read(folder().join("many/old.hcl")).unwrap();
    let same = outcome(vec![root(text.clone(), text, &nothing)]);
    let Ok(Body::Review(Review { changed, .. })) = &same.roots[0].body else { panic!() };
    assert!(!changed);
    assert!(render(&same, Format::Human, Style::default()).contains("nothing changed"));
    assert_eq!(render(&same, Format::Gitlab, Style::default()), "[]\n");
    assert_eq!(render(&same, Format::Commit, Style::default()), "");
    assert_eq!(broken(&render(&same, Format::Json, Style::default())), [""; 0]);
    let none = Outcome { many: true, ..outcome(Vec::new()) };
    assert_eq!(render(&none, Format::Markdown, Style::default()), "No lock file changed.\n");
    assert_eq!(render(&none, Format::Github, Style::default()), "no lock file changed\n");
}

//! The commands that are not about changes: for users their lines, for programs fields.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::schema_tests::broken;
use super::*;
use crate::addr::ProviderAddr;
use crate::dialect::Dialect;
use crate::finding::{Position, Rule};
use crate::merge::{MergeRemark, textconv};
use crate::outcome::{
    AttributeLines, Body, CacheReport, Explained, ExplainedEntry, ExplainedHash, ExplainedProvider, FormattedFile,
    GitReport, GitSetting, HashLine, HashOrigin, Hashed, MergedFile, RecordedAt, RecordedHash, ReleaseOfHash,
};

const H1: &str = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

fn rendered(command: &'static str, body: Body) -> (String, Value) {
    let outcome = Outcome::of_body(command, body);
    let text = render(&outcome, Format::Json, Style::default());
    assert_eq!(broken(&text), [""; 0], "{text}");
    (render(&outcome, Format::Human, Style::default()), serde_json::from_str(&text).unwrap())
}

fn recorded(line: Option<usize>) -> RecordedAt {
    RecordedAt {
        address: ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap(),
        version: "1.0.0".parse().unwrap(),
        file: PathBuf::from("env/.terraform.lock.hcl"),
        position: line.map(|line| Position { line, column: 5 }),
    }
}

fn contents() -> HashOrigin {
    let platforms = ["linux_amd64".parse().unwrap()].into();
    HashOrigin { covers: Hashed::Contents, platforms }
}

#[test]
fn a_rule_is_explained_by_its_fields() {
    let (human, json) = rendered("explain", Body::Explained(Explained::Rule(Rule::Republished)));
    assert!(human.contains("\nDeny, trust.\n"), "{human}");
    let rule = &json["rule"];
    assert_eq!((&rule["id"], &rule["class"], &rule["exit_code"]), (&json!("republished"), &json!("trust"), &json!(3)));
}

#[test]
fn alone_it_lists_rules_and_topics() {
    let (human, json) = rendered("explain", Body::Explained(Explained::Index));
    assert!(human.contains("\n  exit-codes   Exit codes\n") && human.contains("\n  republished "), "{human}");
    assert_eq!(json["rules"].as_array().unwrap().len(), Rule::ALL.len());
    let topic = *crate::topics::Topic::named("exit-codes").unwrap();
    let (human, json) = rendered("explain", Body::Explained(Explained::Topic(topic)));
    assert!(human.starts_with(&format!("{}\n\n", topic.title())) && !human.contains('#'), "{human}");
    assert_eq!(&json["topic"]["name"], &json!("exit-codes"));
}

#[test]
fn a_hash_is_explained_by_place_and_origin() {
    let RecordedAt { address, version, .. } = recorded(None);
    let release = ReleaseOfHash { address, version, origin: contents() };
    let explained = ExplainedHash {
        hash: H1.parse().unwrap(),
        well_formed: true,
        recorded: vec![recorded(Some(7))],
        releases: vec![release],
    };
    let (human, json) = rendered("explain", Body::Explained(Explained::Hash(explained)));
    let lines: Vec<&str> = human.lines().collect();
    assert_eq!(lines[1], "  recorded for registry.terraform.io/acme/widget 1.0.0 in env/.terraform.lock.hcl:7");
    assert!(lines[2].contains(" linux_amd64"), "{human}");
    assert_eq!(json["hash"]["recorded"][0]["line"], 7);
    assert_eq!(json["hash"]["releases"][0]["origin"]["platform"], "linux_amd64");
}

#[test]
fn a_provider_is_explained_hash_by_hash() {
    let hashes = [(H1, Some(contents())), ("zh:00", None)];
    let hashes = hashes.map(|(hash, origin)| RecordedHash { hash: hash.parse().unwrap(), origin }).into();
    let entry = ExplainedEntry {
        entry: recorded(None),
        hashes,
        signer: None,
        remembered: [].into(),
        build: None,
        witnesses: None,
    };
    let provider = ExplainedProvider { entries: vec![entry] };
    let (human, json) = rendered("explain", Body::Explained(Explained::Provider(provider)));
    assert!(human.contains("  zh:00  not known here\n"), "{human}");
    assert_eq!(json["provider_entries"][0]["hashes"][1]["origin"], Value::Null);
}

#[test]
fn files_and_packages_are_fields() {
    let file = |path: &str, changed, text: Option<&str>| FormattedFile {
        path: path.into(),
        changed,
        written: changed,
        text: text.map(str::to_owned),
    };
    let files = vec![file("a", true, None), file("b", false, None), file("-", false, Some("text\n"))];
    let (human, json) = rendered("fmt", Body::Formatted(files));
    assert_eq!(human, "a\ntext\n");
    assert_eq!((&json["files"][0]["written"], &json["files"][2]["text"]), (&json!(true), &json!("text\n")));

    let line = HashLine { hash: H1.parse().unwrap(), path: "x.zip".into() };
    let (human, json) = rendered("hash", Body::Hashed(vec![line]));
    assert_eq!(human, format!("{H1}  x.zip\n"));
    assert_eq!(json["hashes"], json!([{ "hash": H1, "path": "x.zip" }]));
}

#[test]
fn git_and_the_cache_are_fields() {
    let setting = GitSetting { name: "merge.tflock.driver".to_owned(), found: None, wanted: "tflock merge" };
    let (human, json) = rendered("git", Body::Git(vec![GitReport::Status(vec![setting])]));
    assert_eq!(human, "missing  merge.tflock.driver = tflock merge\n");
    assert_eq!(json["clones"][0]["settings"][0]["ok"], false);
    let (_, json) = rendered("git", Body::Git(vec![GitReport::Installed(false)]));
    assert_eq!(json["clones"][0]["attributes_changed"], false);
    let gone = |attributes, clone| rendered("git", Body::Git(vec![GitReport::Uninstalled { attributes, clone }])).0;
    assert_eq!(gone(AttributeLines::Absent, false), "nothing was installed\n");
    assert!(gone(AttributeLines::Removed, true).ends_with(" and .gitattributes\n"));
    assert!(gone(AttributeLines::Committed, true).ends_with("are committed and stay, for every clone\n"));

    let (human, json) = rendered("cache", Body::Cache(CacheReport::Pruned { files: 2, bytes: 1200 }));
    assert_eq!(human, "removed 2 files, 1.2 kB\n");
    assert_eq!(json["cache"], json!({ "removed_files": 2, "removed_bytes": 1200 }));
}

#[test]
fn merges_and_short_texts_are_fields() {
    let merged = MergedFile { path: "f".into(), merged: true, conflicts: false, remarks: vec![MergeRemark::NoBase] };
    let (human, json) = rendered("merge", Body::Merged(vec![merged]));
    assert_eq!(human, "");
    assert_eq!(json["files"][0]["remarks"][0]["address"], Value::Null);

    let text = "provider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\"zh:00\"]\n}\n";
    let (_, json) = rendered("textconv", Body::Shortened(textconv(text.as_bytes())));
    assert_eq!((&json["readable"], &json["summary"][0]["zh"]), (&json!(true), &json!(1)));
    let (human, json) = rendered("textconv", Body::Shortened(textconv(b"no lock \x1b file {")));
    assert_eq!(human, "cannot be read: text e704200b8673d7df6376c240\nno lock \\u{1b} file {\n");
    assert_eq!(json["readable"], json!(false));
}

//! What is explained, merged, configured in git and remembered, as JSON.

use serde_json::{Map, Value, json};

use super::{members, one};
use crate::addr::{AddrPattern, ProviderAddr};
use crate::error::ExitCode;
use crate::finding::Rule;
use crate::hash::HashScheme;
use crate::lockfile::LockEntry;
use crate::merge::{MergeRemark, Shortened};
use crate::outcome::{AttributeLines, Explained, Generated, GitReport, GitSetting, MergedFile, TrustReport};
use crate::report::shown;
use crate::topics::{TOPICS, Topic};
use crate::trust::pins::Pin;

pub(super) fn explained(explained: &Explained) -> Map<String, Value> {
    match explained {
        Explained::Index => Map::from_iter([
            ("topics".to_owned(), TOPICS.iter().map(topic).collect()),
            ("rules".to_owned(), Rule::ALL.iter().map(|rule| self::rule(*rule)).collect()),
        ]),
        Explained::Topic(page) => one("topic", topic(page)),
        Explained::Rule(rule) => one("rule", self::rule(*rule)),
        Explained::Item(rule) => one("change", json!(rule)),
        Explained::Hash(hash) => one("hash", json!(hash)),
        Explained::Provider(provider) => members(provider),
    }
}

fn topic(topic: &Topic) -> Value {
    json!({ "name": topic.name, "title": topic.title(), "text": topic.text })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "summary": rule.summary(),
        "help": rule.help().text,
        "level": rule.level(),
        "class": rule.class(),
        "exit_code": ExitCode::of_class(rule.class()) as u8,
    })
}

pub(super) fn git(reports: &[GitReport]) -> Map<String, Value> {
    let setting = |setting: &GitSetting| json!({ "name": setting.name, "found": setting.found, "wanted": setting.wanted, "ok": setting.is_set() });
    let report = |report: &GitReport| match report {
        GitReport::Installed(attributes) => json!({ "done": "install", "attributes_changed": attributes }),
        GitReport::Uninstalled { attributes, .. } => {
            json!({ "done": "uninstall", "attributes_changed": *attributes == AttributeLines::Removed })
        }
        GitReport::Status(settings) => json!({ "settings": settings.iter().map(setting).collect::<Value>() }),
    };
    one("clones", reports.iter().map(report).collect())
}

pub(super) fn merged(files: &[MergedFile]) -> Map<String, Value> {
    let remark = |remark: &MergeRemark| json!({ "address": remark.address(), "message": remark.to_string() });
    let file = |file: &MergedFile| {
        json!({
            "path": shown(&file.path),
            "merged": file.merged,
            "conflicts": file.conflicts,
            "remarks": file.remarks.iter().map(remark).collect::<Value>(),
        })
    };
    one("files", files.iter().map(file).collect())
}

/// The short form of the entries; empty for a text that is no lock file.
pub(super) fn shortened(shortened: &Shortened) -> Map<String, Value> {
    let entry = |(address, entry): (&ProviderAddr, &LockEntry)| {
        let count = |scheme| entry.hashes.of(scheme).count();
        json!({
            "address": address,
            "version": entry.version,
            "constraints": super::changes::constraints(&entry.constraints),
            "h1": count(HashScheme::H1),
            "zh": count(HashScheme::Zh),
            "other": count(HashScheme::Other),
        })
    };
    Map::from_iter([
        ("readable".to_owned(), json!(shortened.lock.is_some())),
        ("summary".to_owned(), shortened.lock.iter().flat_map(|lock| lock.iter().map(entry)).collect()),
    ])
}

pub(super) fn generated(generated: &Generated) -> Map<String, Value> {
    match generated {
        Generated::Script(text) => one("script", json!(text)),
        Generated::Page(text) => one("page", json!(text)),
        Generated::Version(version) => one("version", json!(version)),
        // The schema is part of the program, so it parses.
        Generated::Schema(text) => one("schema", serde_json::from_str(text).unwrap_or_default()),
    }
}

pub(super) fn trust(report: &TrustReport) -> Map<String, Value> {
    let pins = &report.pins;
    let providers = pins.providers.iter().map(|(pattern, pin)| pinned_provider(pattern, pin));
    let denied = pins.denied.iter().map(|(key, reason)| json!({ "signer": key, "reason": reason }));
    let republished = pins.republished.iter().map(|(republication, reason)| {
        json!({
            "address": republication.address,
            "version": republication.version,
            "date": republication.date,
            "reason": reason,
        })
    });
    Map::from_iter([
        ("path".to_owned(), json!(shown(&report.path))),
        ("changed".to_owned(), json!(report.changed.unwrap_or_default())),
        ("providers".to_owned(), providers.collect()),
        ("denied".to_owned(), denied.collect()),
        ("republished".to_owned(), republished.collect()),
    ])
}

fn pinned_provider(pattern: &AddrPattern, pin: &Pin) -> Value {
    let retired = pin.retired.iter().map(|(signer, retired)| {
        json!({
            "signer": signer,
            "versions": retired.versions,
            "reason": retired.reason,
        })
    });
    let reasons = pin.reasons.iter().map(|(signer, reason)| json!({ "signer": signer, "reason": reason }));
    json!({
        "address": pattern,
        "signers": pin.signers,
        "reasons": reasons.collect::<Value>(),
        "retired": retired.collect::<Value>(),
        "built_by": pin.built_by.as_deref(),
    })
}

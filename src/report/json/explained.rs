//! The result of `explain` as JSON.

use serde_json::{Map, Value, json};

use super::one;
use crate::exit_code::ExitCode;
use crate::finding::Rule;
use crate::outcome::{
    Explained, ExplainedEntry, ExplainedHash, HashOrigin, Hashed, ItemRule, RecordedAt, ReleaseOfHash,
};
use crate::platform::Platform;
use crate::report::shown;
use crate::topics::{TOPICS, Topic};

pub(super) fn explained(explained: &Explained) -> Map<String, Value> {
    match explained {
        Explained::Index => Map::from_iter([
            ("topics".to_owned(), TOPICS.iter().map(topic).collect()),
            ("rules".to_owned(), Rule::ALL.iter().map(|rule| self::rule(*rule)).collect()),
        ]),
        Explained::Topic(page) => one("topic", topic(page)),
        Explained::Rule(rule) => one("rule", self::rule(*rule)),
        Explained::Item(ItemRule { id, summary, help }) => {
            one("change", json!({ "id": id, "summary": summary, "help": help }))
        }
        Explained::Hash(hash) => one("hash", self::hash(hash)),
        Explained::Provider(provider) => Map::from_iter([
            ("provider_entries".to_owned(), provider.entries.iter().map(entry).collect()),
            ("elsewhere".to_owned(), provider.elsewhere.iter().map(recorded).collect()),
        ]),
    }
}

fn topic(topic: &Topic) -> Value {
    json!({ "name": topic.name, "title": topic.title(), "text": topic.text })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "summary": rule.summary(),
        "help": rule.help(),
        "level": rule.level(),
        "class": rule.class(),
        "exit_code": ExitCode::of_class(rule.class()) as u8,
    })
}

fn hash(hash: &ExplainedHash) -> Value {
    let release = |release: &ReleaseOfHash| {
        json!({
            "address": release.address.to_string(),
            "version": release.version.to_string(),
            "origin": origin(&release.origin),
        })
    };
    json!({
        "hash": hash.hash.as_str(),
        "well_formed": hash.well_formed,
        "recorded": hash.recorded.iter().map(recorded).collect::<Value>(),
        "releases": hash.releases.iter().map(release).collect::<Value>(),
    })
}

fn entry(explained: &ExplainedEntry) -> Value {
    let hashes = explained.hashes.iter();
    let hashes: Value =
        hashes.map(|(hash, from)| json!({ "hash": hash.as_str(), "origin": from.as_ref().map(origin) })).collect();
    let mut entry = recorded(&explained.entry);
    entry["hashes"] = hashes;
    entry
}

fn recorded(entry: &RecordedAt) -> Value {
    json!({
        "address": entry.address.to_string(),
        "version": entry.version.to_string(),
        "file": shown(&entry.file),
        "line": entry.position.map(|position| position.line),
    })
}

fn origin(origin: &HashOrigin) -> Value {
    let of = match origin.of {
        Hashed::Contents => "contents",
        Hashed::Archive => "archive",
        Hashed::OtherFile => "other-file",
    };
    json!({ "of": of, "platform": origin.platforms.first().map(Platform::as_str) })
}

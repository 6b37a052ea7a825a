//! The result of `explain` as JSON.

use serde_json::{Map, Value, json};

use super::{members, one};
use crate::exit_code::ExitCode;
use crate::finding::Rule;
use crate::outcome::Explained;
use crate::topics::{TOPICS, Topic};

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
        "help": rule.help(),
        "level": rule.level(),
        "class": rule.class(),
        "exit_code": ExitCode::of_class(rule.class()) as u8,
    })
}

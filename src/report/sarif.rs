//! SARIF 2.1.0, as code hosts take it for code scanning.
//!
//! Source: the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::finding::{Level, Position};
use crate::outcome::Outcome;
use crate::report::annotation::{Annotation, Findings, items, of_failure};
use crate::report::json::Each;
use crate::report::printable;
use crate::topics::url_of_rule;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn render(outcome: &Outcome) -> String {
    document(&items(outcome, Findings::Each))
}

pub(super) fn failure(error: &Error) -> String {
    document(&of_failure(error))
}

fn document(items: &[Annotation]) -> String {
    let (failures, remarks): (Vec<&Annotation>, Vec<&Annotation>) = items.iter().partition(|item| item.is_failure);
    let mut rules: Vec<&Annotation> = Vec::new();
    for item in &remarks {
        if !rules.iter().any(|known| known.rule.id == item.rule.id) {
            rules.push(item);
        }
    }
    let mut invocation = Map::from_iter([("executionSuccessful".to_owned(), json!(failures.is_empty()))]);
    if !failures.is_empty() {
        let notes = failures.iter().map(|item| notification(item)).collect();
        invocation.insert("toolExecutionNotifications".to_owned(), notes);
    }
    let rules_described: Vec<Value> = rules.iter().map(|item| rule(item)).collect();
    let run = SarifRun {
        tool: json!({ "driver": {
            "name": "tflock",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules_described,
        } }),
        column_kind: "unicodeCodePoints",
        invocations: [invocation],
        results: Each(remarks.iter().map(|item| result(item, &rules))),
    };
    super::json::harmless(&SarifDocument { schema: SCHEMA, version: "2.1.0", runs: [run] })
}

#[derive(Serialize)]
struct SarifDocument<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [R; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<R> {
    tool: Value,
    column_kind: &'static str,
    invocations: [Map<String, Value>; 1],
    results: R,
}

fn rule(item: &Annotation) -> Value {
    let mut rule = json!({
        "id": item.rule.id,
        "shortDescription": { "text": item.rule.summary },
        "help": { "text": item.rule.help },
    });
    if let Some(url) = url_of_rule(item.rule.id) {
        rule["helpUri"] = json!(url);
    }
    rule
}

fn result(item: &Annotation, rules: &[&Annotation]) -> Value {
    let mut result = json!({
        "ruleId": item.rule.id,
        "ruleIndex": rules.iter().position(|known| known.rule.id == item.rule.id),
        "level": level(item.level),
        "message": { "text": printable(&item.message) },
        "partialFingerprints": { "tflock/v1": item.fingerprint() },
    });
    let others = item.others.iter().map(|(file, position)| location(file, *position));
    let locations: Vec<Value> = first_location(item).into_iter().chain(others).collect();
    if !locations.is_empty() {
        result["locations"] = json!(locations);
    }
    if let Some(address) = &item.address {
        result["properties"] = json!({ "address": printable(address) });
    }
    result
}

fn notification(item: &Annotation) -> Value {
    let mut notes = json!({
        "descriptor": { "id": item.rule.id },
        "level": "error",
        "message": { "text": printable(&item.message) },
    });
    if let Some(location) = first_location(item) {
        notes["locations"] = json!([location]);
    }
    notes
}

fn first_location(item: &Annotation) -> Option<Value> {
    Some(location(item.file.as_deref()?, item.position))
}

fn location(file: &str, position: Option<Position>) -> Value {
    let mut place = json!({ "artifactLocation": { "uri": uri(file), "uriBaseId": "%SRCROOT%" } });
    if let Some(position) = position {
        place["region"] = json!({ "startLine": position.line, "startColumn": position.column });
    }
    json!({ "physicalLocation": place })
}

/// A path as a relative reference: all but unreserved characters and slashes are percent-encoded.
fn uri(path: &str) -> String {
    use std::fmt::Write;
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Note => "note",
        Level::Warn => "warning",
        Level::Deny => "error",
    }
}

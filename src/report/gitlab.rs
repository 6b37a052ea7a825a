//! A Code Quality report of GitLab: a list of annotations on lines. Source: docs.gitlab.com, "Code Quality", "Code
//! Quality report format".

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::error::Error;
use crate::finding::Level;
use crate::lockfile::FILE_NAME;
use crate::outcome::Outcome;
use crate::report::annotation::{Annotation, Findings, items, of_failure};
use crate::report::printable;
use crate::report::problems::MOST_OF_RULE;

pub(super) fn render(outcome: &Outcome) -> String {
    document(&items(outcome, Findings::Grouped))
}

pub(super) fn failure(error: &Error) -> String {
    document(&of_failure(error))
}

fn document(items: &[Annotation]) -> String {
    // Fingerprints must be unique, so equal annotations are numbered.
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut of_rule: HashMap<&str, usize> = HashMap::new();
    let mut remarks: Vec<Value> = items
        .iter()
        .filter(|item| {
            let count = of_rule.entry(item.rule.id).or_default();
            *count += 1;
            *count <= MOST_OF_RULE
        })
        .map(|item| {
            let fingerprint = item.fingerprint();
            let count = seen.entry(fingerprint.clone()).and_modify(|count| *count += 1).or_default();
            let fingerprint = if *count == 0 { fingerprint } else { format!("{fingerprint}-{count}") };
            remark(item, &fingerprint)
        })
        .collect();
    for item in items {
        // The last listed annotation of a rule gives the number of the others.
        let Some(more) = of_rule.remove(item.rule.id).and_then(|count| count.checked_sub(MOST_OF_RULE + 1)) else {
            continue;
        };
        let message = format!("{} more findings of {}; `--format json` lists all", more + 1, item.rule.id);
        let more = Annotation { message, position: None, ..item.clone() };
        remarks.push(remark(&more, &format!("{}-more", more.fingerprint())));
    }
    super::json::harmless(&Value::Array(remarks))
}

fn remark(item: &Annotation, fingerprint: &str) -> Value {
    json!({
        "description": printable(&item.message),
        "check_name": item.rule.id,
        "fingerprint": fingerprint,
        "severity": severity(item),
        "location": {
            "path": item.file.as_deref().unwrap_or(FILE_NAME),
            "lines": { "begin": item.position.map_or(1, |position| position.line) },
        },
    })
}

fn severity(item: &Annotation) -> &'static str {
    match item.level {
        Level::Note => "info",
        Level::Warn => "minor",
        Level::Deny if item.is_failure => "blocker",
        Level::Deny => "critical",
    }
}

//! The functions of configurations against those of the real `terraform`: random calls, compared by value, by type, and by whether
//! they fail.

mod generate;
mod pools;
mod terraform;

use std::collections::BTreeMap;

use tflock_core::functions::Tools;

use self::generate::{Call, Outcome};
use self::terraform::Answer;

/// How many calls one process of `terraform console` evaluates.
const BATCH: usize = 400;

/// How a call differs from the tool's.
fn difference(call: &Call, answer: &Answer) -> Option<&'static str> {
    match (&call.outcome, answer) {
        (Outcome::Unknown, Answer::Unknown) => None,
        (_, Answer::Unknown) => Some("unknown there"),
        (Outcome::Unknown, _) => Some("unknown"),
        (Outcome::Refused, Answer::Value { .. }) => Some("refused"),
        (Outcome::Value { .. }, Answer::Refused) => Some("accepted"),
        (Outcome::Value { json, kind }, Answer::Value { json: their_json, kind: their_kind }) => {
            if json != their_json {
                Some("value")
            } else if kind != their_kind {
                Some("type")
            } else {
                None
            }
        }
        (Outcome::Refused, Answer::Refused) => None,
    }
}

#[test]
fn random_calls_have_the_values_of_terraform() {
    let wanted = std::env::var("TFLOCK_TEST_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let mut calls = generate::calls(wanted, Tools::TERRAFORM);
    let mut differences: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for batch in calls.chunks_mut(BATCH) {
        let texts: Vec<&str> = batch.iter().map(|call| &call.text[..]).collect();
        let Some(answers) = terraform::evaluate(&texts) else { return };
        for (call, answer) in batch.iter().zip(&answers) {
            if let Some(kind) = difference(call, answer) {
                differences
                    .entry(kind)
                    .or_default()
                    .push(format!("{}\n  here: {:?}\n  terraform: {answer:?}", call.text, call.outcome));
            }
        }
    }
    let count = |kind: &str| differences.get(kind).map_or(0, Vec::len);
    let all: usize = differences.values().map(Vec::len).sum();
    let shown: Vec<String> =
        differences.iter().map(|(kind, calls)| format!("{kind}: {}\n{}", calls.len(), calls.join("\n"))).collect();
    assert_eq!(count("value") + count("type"), 0, "{}", shown.join("\n"));
    assert!(all * 100 <= wanted.max(400), "{all} of {wanted}:\n{}", shown.join("\n"));
}

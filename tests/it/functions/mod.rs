//! The functions and expressions of configurations against the real `terraform`: random ones, compared by value, by type, and by
//! whether they fail.
//!
//! At most 1 in 100 may differ, and never in a value that both give. What differs is unknown here, for these reasons: powers with a
//! fraction in the exponent (Go computes them in assembly), other text encodings than UTF-8, UTF-16 and Latin 1, networks of IPv4
//! addresses that are written as IPv6, negative numbers of networks, points in time and tags in YAML, `\B` in regular expressions,
//! a null without a type in `merge`, and what exceeds a limit. And the tool refuses a condition if the branch that is not taken
//! fails with a value of a type that does not fit the other one.

mod expressions;
mod generate;
mod pools;
mod terraform;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::expressions::{Outcome, Sample};
use self::terraform::Answer;

/// How many expressions one process of `terraform console` evaluates.
const BATCH: usize = 400;

/// How many rows the table of agreed values has, and how long their expressions are at most.
const ROWS: usize = 1000;
const LENGTH: usize = 160;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors/functions.tsv");

/// How an expression differs from the tool's.
fn difference(sample: &Sample, answer: &Answer) -> Option<&'static str> {
    match (&sample.outcome, answer) {
        (Outcome::Unknown, Answer::Unknown) | (Outcome::Refused, Answer::Refused) => None,
        (_, Answer::Unknown) => Some("unknown there"),
        (Outcome::Unknown, _) => Some("unknown here"),
        (Outcome::Refused, Answer::Value { .. }) => Some("refused here"),
        (Outcome::Value { .. }, Answer::Refused) => Some("refused there"),
        (Outcome::Value { json, kind }, Answer::Value { json: other_json, kind: other_kind }) => {
            if (json, kind) == (other_json, other_kind) { None } else { Some("other value") }
        }
    }
}

#[test]
fn random_expressions_have_the_values_of_terraform() {
    let wanted = std::env::var("TFLOCK_TEST_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(BATCH);
    let samples = expressions::samples(wanted);
    let mut differences: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut agreed = Vec::new();
    for batch in samples.chunks(BATCH) {
        let texts: Vec<&str> = batch.iter().map(|sample| &sample.text[..]).collect();
        let Some(answers) = terraform::evaluate(&texts) else { return };
        for (sample, answer) in batch.iter().zip(&answers) {
            match difference(sample, answer) {
                Some(kind) => {
                    let shown = format!("{}\n  here: {:?}\n  there: {answer:?}", sample.text, sample.outcome);
                    differences.entry(kind).or_default().push(shown);
                }
                None => agreed.push(sample),
            }
        }
    }
    let all: usize = differences.values().map(Vec::len).sum();
    let each = differences.iter().map(|(kind, shown)| format!("{kind}: {}\n{}", shown.len(), shown.join("\n")));
    let shown = each.collect::<Vec<_>>().join("\n");
    assert!(!differences.contains_key("other value"), "{shown}");
    assert!(all * 100 <= wanted.max(BATCH), "{all} of {wanted} differ\n{shown}");
    if std::env::var_os("UPDATE").is_some() && wanted > ROWS {
        std::fs::write(TABLE, table(&agreed)).unwrap();
    }
}

/// Agreed values as a table of facts, with at most one failure in four.
fn table(agreed: &[&Sample]) -> String {
    let mut table = String::from("expression\tvalue\ttype\n");
    let (mut rows, mut failures) = (0, 0);
    for sample in agreed.iter().filter(|sample| sample.text.len() <= LENGTH) {
        let (json, kind) = match &sample.outcome {
            Outcome::Value { json, kind } if !json.is_empty() => (&json[..], &kind[..]),
            Outcome::Refused if failures * 4 < rows => {
                failures += 1;
                ("err", "")
            }
            _ => continue,
        };
        rows += 1;
        let _ = writeln!(table, "{}\t{}\t{}", escaped(&sample.text), escaped(json), escaped(kind));
        if rows == ROWS {
            break;
        }
    }
    table
}

/// A cell, as `testdata/vectors/README.md` says.
fn escaped(text: &str) -> String {
    let mut cell = String::new();
    for c in text.chars() {
        match c {
            '\\' => cell.push_str("\\\\"),
            '\t' => cell.push_str("\\t"),
            '\n' => cell.push_str("\\n"),
            '\r' => cell.push_str("\\r"),
            ' '..='~' | 'À'..='ÿ' => cell.push(c),
            c if u32::from(c) < 0x1_0000 => cell.extend([format!("\\u{:04x}", u32::from(c))]),
            c => cell.extend([format!("\\U{:08x}", u32::from(c))]),
        }
    }
    cell
}

//! The functions and expressions of configurations against the real `terraform`: random ones, compared by value, by type, and by
//! whether they fail.
//!
//! What is known here is what the tool says: its value, or that it refuses the expression. The rest is unknown, at most
//! [`UNKNOWN`] in 100: what the tools do not agree on, and what no configuration needs.

mod expressions;
mod generate;
mod pools;
mod terraform;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::expressions::{Outcome, Sample};
use self::terraform::Answer;
use crate::support::extent::times;

/// How many expressions one process of `terraform console` evaluates.
const BATCH: usize = 400;

/// How many rows the table of agreed values has, and how long their expressions are at most.
const ROWS: usize = 1000;
const LENGTH: usize = 160;

const UNKNOWN_HERE: &str = "unknown here";

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/vectors/functions.tsv");

/// How many of 100 random expressions may be unknown here.
const UNKNOWN: usize = 60;

/// How an expression differs from the tool's.
fn difference(sample: &Sample, answer: &Answer) -> Option<&'static str> {
    match (&sample.outcome, answer) {
        (Outcome::Unknown, Answer::Unknown) | (Outcome::Refused, Answer::Refused) => None,
        (Outcome::Unknown, _) => Some(UNKNOWN_HERE),
        (_, Answer::Unknown) => Some("unknown there"),
        (Outcome::Refused, Answer::Value { .. }) => Some("refused here"),
        // Terraform 1.11 counts from the end of lists alone, later ones and OpenTofu from that of tuples too.
        (Outcome::Value { .. }, Answer::Refused) if sample.text.contains("element(") => None,
        (Outcome::Value { .. }, Answer::Refused) => Some("refused there"),
        (Outcome::Value { json, kind }, Answer::Value { json: other_json, kind: other_kind }) => {
            if (json, kind) == (other_json, other_kind) { None } else { Some("other value") }
        }
    }
}

#[test]
fn random_expressions_have_the_values_of_terraform() {
    let wanted = BATCH * usize::try_from(times(1)).unwrap();
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
    let unknown = differences.remove(UNKNOWN_HERE).map_or(0, |all| all.len());
    let each = differences.iter().map(|(kind, shown)| format!("{kind}: {}\n{}", shown.len(), shown.join("\n")));
    let shown = each.collect::<Vec<_>>().join("\n");
    assert!(differences.is_empty(), "{shown}");
    assert!(unknown * 100 <= wanted * UNKNOWN, "{unknown} of {wanted} are unknown");
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

/// The list of the page names each function of the program, and no other.
#[test]
fn functions_are_documented() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/modules.md")).unwrap();
    let (_, section) = page.split_once("### Functions").unwrap();
    let list = section.split("\n\n").nth(2).unwrap();
    let documented: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    let mut names: Vec<&str> = tflock_core::functions::TABLE
        .iter()
        .filter(|row| row.tools.intersects(tflock_core::functions::Tools::MODULES))
        .map(|row| row.name)
        .collect();
    names.sort_unstable();
    assert_eq!(documented, names);
}

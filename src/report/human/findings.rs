//! Findings for people.

use std::collections::HashSet;
use std::fmt::Write;

use crate::finding::{Finding, Level};
use crate::report::failure::{helps, place};
use crate::report::paint::Paint;
use crate::report::{Detail, Style, printable};

/// Each finding with its rule and place; what to do is said once for each rule.
pub(super) fn findings<'a>(findings: impl IntoIterator<Item = &'a Finding>, style: Style) -> String {
    let told: Vec<&Finding> = findings.into_iter().filter(|finding| told(finding, style)).collect();
    let helpful = |finding: &&Finding| finding.level > Level::Note;
    let mut helped = HashSet::new();
    let mut text = String::new();
    for finding in &told {
        one(&mut text, finding, style);
        if helpful(finding) && helped.insert(finding.rule) {
            let alone = told.iter().copied().filter(helpful).filter(|other| other.rule == finding.rule).count() == 1;
            helps(&mut text, [&if alone { finding.help() } else { finding.rule.help().to_owned() }], style);
        }
    }
    text
}

fn told(finding: &Finding, style: Style) -> bool {
    finding.level > Level::Note || style.detail > Detail::Quiet
}

fn one(text: &mut String, finding: &Finding, style: Style) {
    let (word, paint) = match finding.level {
        Level::Note => ("note", Paint::Aside),
        Level::Warn => ("warning", Paint::Careful),
        Level::Deny => ("denied", Paint::Bad),
    };
    let label = format!("{word}[{}]:", finding.rule.id());
    let label = style.paint(paint, label);
    // Writing to a string cannot fail.
    let _ = match &finding.address {
        Some(addr) if !finding.message.contains(&addr.to_string()) => {
            writeln!(text, "{label} {}: {}", style.addr(addr), printable(&finding.message))
        }
        Some(addr) => {
            let message = finding.message.replace(&addr.to_string(), &style.addr(addr));
            writeln!(text, "{label} {}", printable(&message))
        }
        None => writeln!(text, "{label} {}", printable(&finding.message)),
    };
    place(text, finding.file.as_deref(), finding.position);
}

//! What `verify` found, for people.

use std::fmt::Write;

use super::findings::findings;
use crate::finding::{Finding, Level};
use crate::outcome::Verified;
use crate::report::{Style, failure};

/// The findings, then one line that counts.
pub(super) fn verified(verified: &Verified, found: &[Finding], style: Style) -> String {
    let mut text = findings(found, style);
    let count = |level| found.iter().filter(|finding| finding.level == level).count();
    let (denied, warned) = (count(Level::Deny), count(Level::Warn));
    let verdict = match (denied, verified.inconclusive.is_empty()) {
        (0, true) => "passed",
        (0, false) => "inconclusive",
        _ => "refused",
    };
    if verified.unchanged {
        return text + "unchanged since the base: nothing was asked\n";
    }
    let mut told = Vec::new();
    // Where there is nothing to prove, that is no news beside what was found.
    if verified.proven + verified.unknown > 0 || found.iter().all(|finding| finding.level == Level::Note) {
        told.push(format!("{} proven", hashes(verified.proven)));
    }
    if verified.unknown > 0 {
        told.push(format!("{} unknown", verified.unknown));
    }
    if denied > 0 {
        told.push(format!("{denied} denied"));
    }
    if warned > 0 {
        told.push(if warned == 1 { "1 warning".to_owned() } else { format!("{warned} warnings") });
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{verdict}: {}", told.join(", "));
    text
}

pub(in crate::report) fn hashes(count: usize) -> String {
    if count == 1 { "1 hash".to_owned() } else { format!("{count} hashes") }
}

/// Why hashes are unknown.
pub(super) fn reasons(verified: &Verified, style: Style) -> String {
    verified.inconclusive.iter().map(|it| failure::human(&it.error, style)).collect()
}

//! The result of `verify` for users.

use crate::count::counted;
use crate::exit_code::ExitCode;
use crate::finding::{Finding, Level};
use crate::report::{Detail, Style};
use crate::verify::Verified;

/// A line with totals.
pub(super) fn verified(verified: &Verified, found: &[Finding], style: Style) -> String {
    let denied = found.iter().any(|finding| finding.level == Level::Deny);
    if style.detail == Detail::Quiet && !denied && verified.inconclusive.is_empty() {
        return String::new();
    }
    verdict(verified, found) + "\n"
}

pub(in crate::report) fn verdict(verified: &Verified, found: &[Finding]) -> String {
    let count = |level| found.iter().filter(|finding| finding.level == level).count();
    let (denied, warned) = (count(Level::Deny), count(Level::Warn));
    let verdict = if denied > 0 { "refused" } else { word(verified.code()) };
    if verified.not_checked.is_some() && denied + warned == 0 {
        return "not checked: the configuration could not be read at the base either".to_owned();
    }
    if verified.unchanged && denied + warned == 0 {
        return "unchanged since the base, not checked".to_owned();
    }
    let mut parts = Vec::new();
    // "0 hashes proven" is not worth a word next to findings or missing answers.
    let all_is_well = verified.inconclusive.is_empty() && denied + warned == 0;
    if verified.proven + verified.unknown > 0 || all_is_well {
        parts.push(format!("{} proven", hashes(verified.proven)));
    }
    if verified.unknown > 0 {
        parts.push(format!("{} unknown", verified.unknown));
    }
    if denied > 0 {
        parts.push(format!("{denied} denied"));
    }
    if warned > 0 {
        parts.push(counted(warned, "warning"));
    }
    if parts.is_empty() { verdict.to_owned() } else { format!("{verdict}: {}", parts.join(", ")) }
}

pub(in crate::report) fn word(code: ExitCode) -> &'static str {
    match code {
        ExitCode::Done => "passed",
        ExitCode::Inconclusive => "inconclusive",
        ExitCode::Findings | ExitCode::Refused => "refused",
        ExitCode::Failed => "failed",
        ExitCode::Interrupted | ExitCode::Terminated => "interrupted",
    }
}

pub(in crate::report) fn hashes(count: usize) -> String {
    if count == 1 { "1 hash".to_owned() } else { format!("{count} hashes") }
}

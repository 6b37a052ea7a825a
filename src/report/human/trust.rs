//! The remembered signers for users.

use std::fmt::Write;

use crate::outcome::TrustReport;
use crate::report::table::rows;
use crate::report::{Style, printable, shown};
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Retired, Signer};

pub(super) fn trust(report: &TrustReport, style: Style) -> String {
    let pins = &report.pins;
    let mut lines: Vec<[String; 4]> = Vec::new();
    for (pattern, pin) in &pins.providers {
        lines.extend(pin_lines(&pattern.to_string(), pin, &report.names));
    }
    for (key, reason) in &pins.denied {
        lines.push(line("denied", key.as_str(), "", reason));
    }
    for (republication, reason) in &pins.republished {
        let about = format!("{} {}", style.addr(&republication.address), republication.version);
        lines.push(line("republished", &about, &format!("accepted {}", republication.date), reason));
    }
    let mut text = rows("", &lines, style);
    let path = shown(&report.path);
    let path = printable(&path);
    // Writing to a string cannot fail.
    let _ = match (report.changed, report.forgotten) {
        (None, _) if pins.is_empty() => writeln!(text, "{path} remembers no signer"),
        (None, _) => Ok(()),
        (Some(true), true) => writeln!(text, "forgotten; review and commit {path}"),
        (Some(true), false) => writeln!(text, "review and commit {path}"),
        (Some(false), _) => writeln!(text, "{path} was not changed"),
    };
    text
}

fn pin_lines(pattern: &str, pin: &Pin, names: &Identities) -> Vec<[String; 4]> {
    let identity = |signer: &Signer| names.get(signer.key()?).map(ToString::to_string);
    let accepted = pin.signers.iter();
    let accepted =
        accepted.map(|signer| line(pattern, &name(signer), "for all versions", &identity(signer).unwrap_or_default()));
    let retired = pin.retired.iter().map(|(signer, Retired { versions, reason })| {
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        line(
            pattern,
            &name(signer),
            &format!("for {} only", versions.join(", ")),
            reason.as_deref().unwrap_or_default(),
        )
    });
    accepted.chain(retired).collect()
}

fn name(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => key.to_string(),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

fn line(first: &str, second: &str, third: &str, fourth: &str) -> [String; 4] {
    [first, second, third, fourth].map(|cell| printable(cell).into_owned())
}

//! The remembered signers for users.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::addr::{AddrPattern, ProviderAddr, publisher};
use crate::dialect::Dialect;
use crate::outcome::TrustReport;
use crate::report::table::rows;
use crate::report::wrap::flow;
use crate::report::{Style, printable, shown};
use crate::trust::Fingerprint;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Retired, Signer};

pub(super) fn trust(report: &TrustReport, style: Style) -> String {
    let pins = &report.pins;
    let mut lines: Vec<[String; 4]> = Vec::new();
    for (pattern, pin) in &pins.providers {
        lines.extend(pin_lines(pattern, pin, &report.names));
    }
    let (shared, mut lines) = if report.looked_up { shared(lines) } else { (Vec::new(), lines) };
    for (key, reason) in &pins.denied {
        lines.push(line("denied", key.as_str(), "", reason));
    }
    for (republication, reason) in &pins.republished {
        let about = format!("{} {}", style.addr(&republication.address), republication.version);
        lines.push(line("republished", &about, &format!("accepted {}", republication.date), reason));
    }
    let mut text = shared.iter().map(|lines| signer_of_several(lines, style)).collect::<String>();
    text.push_str(&rows(if report.forgotten { "- " } else { "" }, &lines, style));
    let path = shown(&report.path);
    let path = printable(&path);
    // Writing to a string cannot fail.
    let _ = match (report.changed, report.forgotten) {
        (None, _) if pins.is_empty() => writeln!(text, "{path} remembers no signer"),
        (None, _) => Ok(()),
        (Some(true), true) => writeln!(text, "forgotten; review and commit {path}"),
        (Some(true), false) if report.looked_up => {
            writeln!(text, "compare each fingerprint with what its publisher announces, then review and commit {path}")
        }
        (Some(true), false) => writeln!(text, "review and commit {path}"),
        (Some(false), _) => writeln!(text, "{path} was not changed"),
    };
    text
}

/// Separates the lines of signers of several providers, by signer, from the others.
fn shared(lines: Vec<[String; 4]>) -> (Vec<Vec<[String; 4]>>, Vec<[String; 4]>) {
    let mut same: BTreeMap<[String; 3], Vec<[String; 4]>> = BTreeMap::new();
    for line in &lines {
        same.entry([line[1].clone(), line[2].clone(), line[3].clone()]).or_default().push(line.clone());
    }
    same.retain(|_, lines| lines.len() > 1);
    let others = lines.into_iter().filter(|line| !same.values().flatten().any(|other| other == line)).collect();
    let mut same: Vec<_> = same.into_values().collect();
    // By provider; the order of fingerprints says nothing.
    same.sort();
    (same, others)
}

/// One signer with the providers that it signs for.
fn signer_of_several(lines: &[[String; 4]], style: Style) -> String {
    let [_, signer, scope, identity] = &lines[0];
    let names: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    rows("", &[[signer.clone(), scope.clone(), identity.clone()]], style)
        + &format!("    {}\n", flow(4, &names.join(", "), style))
}

fn pin_lines(pattern: &AddrPattern, pin: &Pin, names: &Identities) -> Vec<[String; 4]> {
    let known = |key: &Fingerprint| {
        let publisher =
            ProviderAddr::parse(&pattern.to_string(), Dialect::Terraform).ok().and_then(|it| publisher(&it))?;
        let is_known = publisher.keys.contains(&key.as_str());
        is_known.then(|| format!("the known key of {}", publisher.name))
    };
    let identity = |signer: &Signer| {
        let key = signer.key()?;
        known(key).or_else(|| names.get(key).map(ToString::to_string))
    };
    let pattern = &pattern.to_string();
    let accepted = pin.signers.iter();
    let accepted = accepted.map(|signer| {
        let known = [identity(signer), pin.reasons.get(signer).cloned()];
        line(pattern, &name(signer), "for all versions", &known.into_iter().flatten().collect::<Vec<_>>().join("; "))
    });
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

//! The result of `audit` for users.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::count::counted;
use crate::outcome::{AuditReport, AuditedProgram, Body, FixedBy, RootOutcome, Unjudged};
use crate::report::{Detail, Style, printable};

/// The programs of all root modules, each once: a line for each with unknown modules, then a line with totals.
pub(super) fn audit(roots: &[RootOutcome], style: Style) -> String {
    let reports = roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Audit(report)) => Some(report),
        _ => None,
    });
    let reports: Vec<&AuditReport> = reports.collect();
    if reports.is_empty() { String::new() } else { programs(&reports, style) }
}

fn programs(reports: &[&AuditReport], style: Style) -> String {
    let mut text = String::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut programs: Vec<&AuditedProgram> = reports.iter().flat_map(|report| &report.programs).collect();
    programs.retain(|program| seen.insert((program.address.to_string(), program.version.to_string())));
    programs.sort_by(|one, other| (&one.address, &one.version).cmp(&(&other.address, &other.version)));
    let (mut count, mut unknown, mut unread) = (0, 0, 0);
    for program in &programs {
        count += 1 + program.others.len();
        unread += program.unread;
        let name = format!("{} {} ({})", style.addr(&program.address), program.version, program.platform);
        if let Some(why) = &program.unknown {
            unknown += 1;
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "? {name}: unknown: {}", printable(why));
        }
        let unjudged = program.unjudged.iter();
        let is_whole =
            |path: &&String| unjudged.clone().any(|it| it.module.is_none() && it.program.as_ref() == Some(path));
        unknown += program.others.iter().filter(is_whole).count();
        for Unjudged { program, module, reason } in unjudged {
            let what: Vec<_> = program.iter().chain(module).map(|what| printable(what)).collect();
            let _ = writeln!(text, "? {name}: {}: unknown: {}", what.join(": "), printable(reason));
        }
        if program.unread > 0 {
            let _ = writeln!(text, "? {name}: {} not read", counted(program.unread, "more program"));
        }
        let _ = match &program.fixed_by {
            Some(FixedBy::Release(version)) => writeln!(text, "  {name}: {version} is the first release without them"),
            Some(FixedBy::Nothing) => writeln!(text, "  {name}: no newer release that is allowed is without them"),
            None => Ok(()),
        };
        if program.is_reported {
            let _ = writeln!(text, "? {name}: what it was built from is only reported by an import or a shared index");
        }
        if style.detail == Detail::Verbose {
            let go = program.go.as_deref().unwrap_or("Go version unknown");
            let _ = writeln!(text, "  {name}: {}, {} modules judged", printable(go), program.modules);
        }
    }
    let failed = reports.iter().any(|report| !report.failed.is_empty());
    let advisories: BTreeSet<&str> =
        programs.iter().flat_map(|program| &program.vulnerabilities).map(|it| it.id.as_str()).collect();
    let is_partial = |it: &&&AuditedProgram| it.is_reported || it.unread > 0 || !it.unjudged.is_empty();
    let partial = unknown > 0 || programs.iter().any(|program| is_partial(&program));
    let verdict = match (advisories.len(), failed, partial) {
        (0, false, false) => "ok",
        (0, false, true) if unknown == count => {
            let none = match count + unread {
                1 => "the program could not be read".to_owned(),
                all => format!("none of the {all} programs could be read"),
            };
            return format!("{text}no result: {none}\n");
        }
        (0, false, true) => "nothing found in what is known",
        (0, true, _) => "inconclusive",
        _ => "advisories found",
    };
    let _ = write!(text, "{verdict}: {}", counted(count, "program"));
    if unknown > 0 {
        let _ = write!(text, ", {unknown} of them unknown");
    }
    if unread > 0 {
        let _ = write!(text, ", {unread} more not read");
    }
    let _ = match advisories.len() {
        1 => write!(text, ", 1 advisory"),
        found => write!(text, ", {found} advisories"),
    };
    if let Some(database) = reports.iter().find_map(|report| report.database.as_ref()) {
        let day = database.modified.get(..10).unwrap_or(&database.modified);
        let _ = write!(text, " ({} of {day})", printable(&database.source));
    }
    text + "\n"
}

//! The result of `audit` for users.

use std::collections::BTreeSet;

use crate::count::counted;
use crate::outcome::{AuditReport, AuditedProgram, Body, FixedBy, RootOutcome, Unjudged};
use crate::report::parts::{Part, TextLine};
use crate::report::{Detail, Style};

/// The programs of all root modules, each once: a line for each with unknown modules, then a line with totals.
pub(super) fn audit(roots: &[RootOutcome], style: Style) -> Part {
    let reports = roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Audit(report)) => Some(report),
        _ => None,
    });
    let reports: Vec<&AuditReport> = reports.collect();
    Part::Lines(if reports.is_empty() { Vec::new() } else { programs(&reports, style) })
}

fn programs(reports: &[&AuditReport], style: Style) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let mut programs: Vec<&AuditedProgram> = reports.iter().flat_map(|report| &report.programs).collect();
    programs.retain(|program| seen.insert((program.address.to_string(), program.version.to_string())));
    programs.sort_by(|one, other| (&one.address, &one.version).cmp(&(&other.address, &other.version)));
    let (mut count, mut unknown, mut unread) = (0, 0, 0);
    for program in &programs {
        count += 1 + program.others.len();
        unread += program.unread;
        let name = format!("{} {} ({})", style.addr(&program.address), program.version, program.platform);
        let mut say =
            |sign: &str, words: String| lines.push(TextLine::new(sign).code(&name).plain(format!(": {words}")));
        if let Some(why) = &program.unknown {
            unknown += 1;
            say("? ", format!("unknown: {why}"));
        }
        let unjudged = program.unjudged.iter();
        let is_whole =
            |path: &&String| unjudged.clone().any(|it| it.module.is_none() && it.program.as_ref() == Some(path));
        unknown += program.others.iter().filter(is_whole).count();
        for Unjudged { program, module, reason } in unjudged {
            let what: Vec<&str> = program.iter().chain(module).map(String::as_str).collect();
            say("? ", format!("{}: unknown: {reason}", what.join(": ")));
        }
        if program.unread > 0 {
            say("? ", format!("{} not read", counted(program.unread, "more program")));
        }
        match &program.fixed_by {
            Some(FixedBy::Release(version)) => say("  ", format!("{version} is the first release without them")),
            Some(FixedBy::Nothing) => say("  ", "no newer release that is allowed is without them".to_owned()),
            None => {}
        }
        if program.is_reported {
            say("? ", "what it was built from is only reported by an import or a shared index".to_owned());
        }
        if style.detail == Detail::Verbose {
            let go = program.go.as_deref().unwrap_or("Go version unknown");
            say("  ", format!("{go}, {} modules judged", program.modules));
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
            lines.push(TextLine::new(format!("no result: {none}")));
            return lines;
        }
        (0, false, true) => "nothing found in what is known",
        (0, true, _) => "inconclusive",
        _ => "advisories found",
    };
    let mut total = vec![format!("{verdict}: {}", counted(count, "program"))];
    if unknown > 0 {
        total.push(format!("{unknown} of them unknown"));
    }
    if unread > 0 {
        total.push(format!("{unread} more not read"));
    }
    total.push(match advisories.len() {
        1 => "1 advisory".to_owned(),
        found => format!("{found} advisories"),
    });
    let database = reports.iter().find_map(|report| report.database.as_ref()).map(|database| {
        let day = database.modified.get(..10).unwrap_or(&database.modified);
        format!(" ({} of {day})", database.source)
    });
    lines.push(TextLine::new(total.join(", ") + &database.unwrap_or_default()));
    lines
}

//! The result of `audit` for users.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::advisory::{GoVersion, page_of};
use crate::error::ExitCode;
use crate::finding::{Finding, Level, Rule};
use crate::outcome::{AuditReport, AuditedProgram, Body, FixedBy, NotChecked, Outcome, RootOutcome, Vulnerability};
use crate::report::groups::RootSummary;
use crate::report::layout::Table;
use crate::report::parts::{Part, TextLine};
use crate::report::problems::help_for;
use crate::report::style::{Detail, Style, word_of};
use crate::words::counted;

/// The programs of all root modules, each once: a row for each module with advisories, a line for each with unknown modules,
/// then a line with totals.
pub(super) fn audit(outcome: &Outcome, style: Style) -> Vec<Part> {
    let reports: Vec<&AuditReport> = outcome.roots.iter().filter_map(|root| Some(report(root)?.1)).collect();
    if reports.is_empty() {
        return Vec::new();
    }
    let naming = RootSummary::of(outcome, style);
    let programs = each_once(&outcome.roots);
    let rows = programs.iter().flat_map(|program| program.rows(naming, style));
    let mut lines = if style.detail == Detail::Verbose { ids(&programs) } else { Vec::new() };
    lines.extend(programs.iter().filter_map(|program| program.help(naming)));
    let known: Vec<&AuditedProgram> = programs.iter().map(|program| program.program).collect();
    lines.extend(totals(&reports, &known, style));
    lines.extend(why_passed(outcome));
    Table::of(["PROVIDER", "MODULE", "FOUND", "ADVISORIES", "LEVEL", "FIXED IN", "ROOT MODULES"], rows)
        .map(Part::Table)
        .into_iter()
        .chain([Part::Lines(lines)])
        .collect()
}

fn report(root: &RootOutcome) -> Option<(&RootOutcome, &AuditReport)> {
    match &root.body {
        Ok(Body::Audit(report)) => Some((root, report)),
        _ => None,
    }
}

fn is_advisory(finding: &Finding) -> bool {
    finding.rule == Rule::ProviderVulnerable
}

/// True if the table of `audit` says what a finding says. A note may say why it is exempt.
pub(in crate::report) fn covers(outcome: &Outcome, finding: &Finding) -> bool {
    outcome.command == "audit" && is_advisory(finding) && finding.level() > Level::Note
}

/// A program with the root modules that lock it, and the findings about it there.
struct Found<'a> {
    program: &'a AuditedProgram,
    roots: Vec<&'a Path>,
    findings: Vec<&'a Finding>,
}

fn each_once(roots: &[RootOutcome]) -> Vec<Found<'_>> {
    let mut programs: BTreeMap<_, Found<'_>> = BTreeMap::new();
    for (root, report) in roots.iter().filter_map(report) {
        for program in &report.programs {
            let key = (&program.address, &program.version);
            let found = programs.entry(key).or_insert(Found { program, roots: Vec::new(), findings: Vec::new() });
            found.roots.push(&root.path);
            let is_about = |finding: &&Finding| {
                is_advisory(finding)
                    && finding.address.as_ref() == Some(&program.address)
                    && finding.version.as_deref() == Some(&program.version)
            };
            found.findings.extend(root.findings.iter().filter(is_about));
        }
    }
    programs.into_values().collect()
}

impl Found<'_> {
    fn rows(&self, naming: RootSummary, style: Style) -> Vec<[String; 7]> {
        let mut modules: BTreeMap<_, Vec<&Vulnerability>> = BTreeMap::new();
        for it in &self.program.vulnerabilities {
            modules.entry((&it.program, &it.module, &it.found)).or_default().push(it);
        }
        let mut modules: Vec<Vec<&Vulnerability>> = modules.into_values().collect();
        modules.sort_by_key(|found| Reverse(found.len()));
        let AuditedProgram { address, version, platform, .. } = self.program;
        let row = |found: Vec<&Vulnerability>| {
            let Vulnerability { program, module, found: built, is_locked_version, .. } = found[0];
            let inside = program.as_ref().map(|path| format!(" in {path}")).unwrap_or_default();
            let by = if *is_locked_version { " (the locked version)" } else { "" };
            [
                format!("{} {version} ({platform}){inside}", style.addr(address)),
                module.clone(),
                format!("{built}{by}"),
                found.len().to_string(),
                self.level(&found),
                fix(&found),
                naming.table_cell(&self.roots),
            ]
        };
        modules.into_iter().map(row).collect()
    }

    /// The highest level, if it is not the usual one.
    fn level(&self, found: &[&Vulnerability]) -> String {
        let is_about = |finding: &&&Finding| {
            finding.advisory.as_ref().is_some_and(|advisory| found.iter().any(|it| advisory.has(&it.id)))
        };
        let level = self.findings.iter().filter(is_about).map(|finding| finding.level()).max();
        level.filter(|level| *level != Level::Warn).map(|level| word_of(level).to_owned()).unwrap_or_default()
    }

    /// What to do, with the page of one advisory.
    fn help(&self, naming: RootSummary) -> Option<TextLine> {
        let first = self.findings.first()?;
        Some(TextLine::new(format!("help: {}", help_for(first, &self.roots, naming))))
    }
}

/// The version of a module in which all of these are fixed.
fn fix(found: &[&Vulnerability]) -> String {
    let fixed = found.iter().filter_map(|it| it.fixed.as_deref());
    let newest = fixed.max_by_key(|version| GoVersion::parse(version));
    match (newest, found.iter().filter(|it| it.fixed.is_none()).count()) {
        (None, _) => "no fix".to_owned(),
        (Some(version), 0) => version.to_owned(),
        (Some(version), others) => format!("{version}, {others} without a fix"),
    }
}

/// A line for each advisory, with its page.
fn ids(programs: &[Found<'_>]) -> Vec<TextLine> {
    let all = programs.iter().flat_map(|program| &program.program.vulnerabilities);
    let all: BTreeMap<&str, &Vulnerability> = all.map(|it| (it.id.as_str(), it)).collect();
    let line = |it: &Vulnerability| {
        let names: Vec<&str> = [&it.id].into_iter().chain(&it.aliases).map(String::as_str).collect();
        let page = page_of(&it.id).map(|page| format!(" ({page})")).unwrap_or_default();
        TextLine::new(format!("{}: {}{page}", names.join(", "), it.summary)).indented(2)
    };
    all.into_values().map(line).collect()
}

/// Why the run passed, though there are advisories.
fn why_passed(outcome: &Outcome) -> Option<TextLine> {
    let levels = outcome.roots.iter().flat_map(|root| root.findings.iter().filter(|it| is_advisory(it)));
    let level = match levels.map(Finding::level).max()? {
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => return None,
    };
    let text = format!("passed, because provider-vulnerable is at level {level}; `--exit-code` makes it exit code 1");
    (outcome.code == ExitCode::Done).then(|| TextLine::new(text))
}

fn totals(reports: &[&AuditReport], programs: &[&AuditedProgram], style: Style) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let (mut count, mut unknown, mut unread) = (0, 0, 0);
    for program in programs {
        count += 1 + program.others.len();
        unread += program.unread;
        let name = format!("{} {} ({})", style.addr(&program.address), program.version, program.platform);
        let mut say =
            |sign: &str, words: String| lines.push(TextLine::new(sign).code(&name).plain(format!(": {words}")));
        if let Some(why) = &program.unknown {
            unknown += 1;
            say("? ", format!("unknown: {why}"));
        }
        let not_checked = program.not_checked.iter();
        let is_whole =
            |path: &&String| not_checked.clone().any(|it| it.module.is_none() && it.program.as_ref() == Some(path));
        unknown += program.others.iter().filter(is_whole).count();
        for NotChecked { program, module, reason } in not_checked {
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
    let is_partial = |it: &&&AuditedProgram| it.is_reported || it.unread > 0 || !it.not_checked.is_empty();
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

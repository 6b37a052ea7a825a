//! A self-contained page: it sends no request, and works without JavaScript, in light and dark mode, and on paper. The
//! templates escape all text; the content security policy allows only the page's own style and script, by their hashes.

pub(super) mod elements;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use elements::{breakable, inline, section, text};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::addr::ProviderAddr;
use crate::diff::{Change, risk};
use crate::error::Error;
use crate::finding::{Finding, Level, Rule};
use crate::outcome::{Body, NotCounted, Outcome, RootOutcome};
use crate::report::annotation::level_of;
use crate::report::change::{build_pages, release_facts, versions};
use crate::report::groups::{Changed, RootSummary, first_names, kinds, name, root_modules_of};
use crate::report::opening::Opening;
use crate::report::problems::{Failure, FindingGroup, advice, grouped_errors, grouped_findings};
use crate::report::style::{Style, word_of};
use crate::report::{body, graph, parts, shown, summary};
use crate::topics::of_rule;
use crate::version::Version;
use crate::words::{counted, short_commit};

const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most root modules listed below one finding or change.
const MOST_NAMES: usize = 1000;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let changed = Changed::of(outcome.roots.iter().chain(&outcome.since_base));
    let mut findings = grouped_findings(outcome.findings(), style);
    findings.sort_by_key(|group| std::cmp::Reverse(group.first.level()));
    let errors = outcome.errors().chain(outcome.error.iter().map(|error| (Path::new(""), error)));
    let errors = errors.chain(changed.unanswered().map(|it| (Path::new(""), it)));
    let failures = grouped_errors(errors, naming.recursive);
    let sections = [
        ("findings", "Findings", self::findings(&findings, naming)),
        ("changes", "Changes", changes(&changed, naming, style)),
        ("failures", "Not done", self::failures(&failures, naming)),
        ("results", "Results", results(outcome, style)),
        ("notes", "Notes", notes(outcome)),
        ("matrix", "Root modules and providers", matrix(outcome, style)),
        ("graph", "Who requires what", graph::drawing(outcome, style)),
        ("rules", "What the rules mean", rules(&findings)),
    ];
    let sections: Vec<_> = sections.into_iter().filter_map(|(id, title, part)| Some((id, title, part?))).collect();
    let opening = Opening::of(outcome, &changed, style);
    let lines = matrix_count(outcome).map_or_else(|| summary::lines(outcome), |line| vec![line]);
    let about = about(outcome, &changed);
    let name = outcome.repository.iter().map(|repository| format!(": {}", repository.name));
    let title = format!("{}{}", outcome.command, name.collect::<String>());
    page(
        &text(&title),
        &html! {
            header {
                h1 { "tflock " (outcome.command) }
                @if !about.is_empty() { p.place { (text(&about.join(", "))) } }
                @if let Some(title) = &opening.title { p.verdict { strong { (text(title)) } } }
                @if let Some(command) = &opening.next { p { "Next: " code { (command) } } }
                ul.summary { @for line in lines.iter().chain(&opening.checked) { li { (text(line)) } } }
                nav aria-label="Sections" { @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } " " } }
                p.filter hidden { label { "Filter " input type="search" id="filter" autocomplete="off"; } " " span id="count" role="status" {} }
            }
            main { @for (id, title, part) in &sections { section id=(id) { h2 { (title) } (part) } } }
        },
    )
}

/// What the page is about: the repository with its commit, and what it was compared with.
fn about(outcome: &Outcome, changed: &Changed<'_>) -> Vec<String> {
    let repository = outcome.repository.iter().map(|it| match &it.commit {
        Some(commit) => format!("{} at {}", it.name, short_commit(commit)),
        None => it.name.clone(),
    });
    let base = outcome.base().map(|base| format!("compared with {} ({})", base.name(), base.short()));
    let sides = changed.sides().into_iter().map(|([old, new], _)| format!("{old} → {new}"));
    repository.chain(base.clone()).chain(sides.filter(|_| base.is_none())).collect()
}

/// What a terminal shows on standard error.
fn notes(outcome: &Outcome) -> Option<Markup> {
    let notes = &outcome.notes.0;
    (!notes.is_empty()).then(|| html! { ul { @for note in notes { li { (inline(&note.to_string())) } } } })
}

/// What the other sections do not have.
fn results(outcome: &Outcome, style: Style) -> Option<Markup> {
    if outcome.roots.iter().any(|root| matches!(root.body, Ok(Body::Verified(_)))) {
        return None;
    }
    let mut parts = body::lists::lists(outcome, RootSummary::of(outcome, style), style);
    parts.extend(body::others(outcome, style));
    parts.retain(|part| !part.is_empty());
    (!parts.is_empty()).then(|| parts::html(&parts))
}

/// The page of a run that failed before it had a result.
pub(super) fn failure(error: &Error) -> String {
    page("failed", &html! { main { h1 { "tflock failed" } @for it in error.each() { (failed(it)) } } })
}

fn page(title: &str, body: &Markup) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
        hash(CSS),
        hash(SCRIPT)
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "tflock " (title) }
                style { (PreEscaped(CSS)) }
            }
            body { (body) script { (PreEscaped(SCRIPT)) } }
        }
    };
    page.into_string() + "\n"
}

/// `1.0.0 → 1.1.0`
fn arrow(change: &Change) -> String {
    versions(change).replace("->", "→")
}

/// The root modules of a finding or change: names if there are few, otherwise their number and folded names.
fn roots(before: &str, paths: &[&Path], naming: RootSummary) -> Markup {
    let label = naming.label(paths);
    let names = first_names(paths, MOST_NAMES);
    html! { @if label == names || paths.len() < 2 { (before) (breakable(&label)) } @else { details { summary { (before) (label) } (breakable(&names)) } } }
}

/// One row for each change of a provider, most dangerous first.
fn changes(changed: &Changed<'_>, naming: RootSummary, style: Style) -> Option<Markup> {
    (!changed.groups.is_empty()).then(|| {
        html! {
            table.changes {
                thead { tr { @for title in ["Risk", "Provider", "Version", "What changed", "Release", "Required by", "Root modules"] { th scope="col" { (title) } } } }
                tbody { @for group in &changed.groups {
                    @let change = &group.change;
                    tr class=(group.risk.as_str()) data-row {
                        td { (group.risk.as_str()) }
                        th scope="row" { (breakable(&style.addr(&change.address))) }
                        td { @if let Some(url) = &change.link { a href=(url) rel="noreferrer" { (arrow(change)) } } @else { (arrow(change)) } }
                        td { (text(&group.headline)) details { summary { "Details" } p { (text(&group.explanation().text())) } } }
                        td { @for (_, line) in release_facts(change, style) { div { (text(&line)) } } @for (name, url) in build_pages(change) { a href=(url) rel="noreferrer" { (name) } " " } @for rule in &group.rules { a href={ "#rule-" (rule.id()) } { (rule.id()) } " " } }
                        td { @for place in group.required_by().split(", ") { div { (breakable(place)) } } }
                        td { (roots("", &group.roots(), naming)) }
                    }
                } }
            }
        }
    })
}

fn findings(findings: &[FindingGroup<'_>], naming: RootSummary) -> Option<Markup> {
    (!findings.is_empty()).then(|| {
        html! {
            ol.findings { @for ((at, group), step) in findings.iter().enumerate().zip(advice(findings, naming)) {
                @let (finding, word) = (group.first, word_of(group.first.level()));
                li id={ "finding-" (at + 1) } class=(word) data-row {
                    strong { (word) } " " (text(&group.message)) " " a href={ "#rule-" (finding.rule.id()) } { (finding.rule.id()) }
                    @if let Some(file) = &finding.file {
                        p.place { code { (breakable(&shown(file))) @if let Some(at) = finding.position { ":" (at) } } }
                    }
                    p { (inline(&step.to_string())) }
                    @if group.paths.iter().any(|path| !path.as_os_str().is_empty()) { div { (roots("In ", &group.paths, naming)) } }
                }
            } }
        }
    })
}

fn failures(failures: &[Failure<'_>], naming: RootSummary) -> Option<Markup> {
    (!failures.is_empty()).then(|| {
        html! { @for it in failures {
            div data-row { (failed(&it.error)) @if it.paths.iter().any(|path| !path.as_os_str().is_empty()) { div { (roots("In ", &it.paths, naming)) } } }
        } }
    })
}

fn failed(error: &Error) -> Markup {
    html! {
        p.failed { (text(&error.message)) }
        @if let Some(file) = &error.file { p.place { code { (breakable(&shown(file))) @if let Some(at) = error.position { ":" (at) } } } }
        @if !error.hints.is_empty() { ul { @for hint in &error.hints { li { (inline(&hint.to_string())) } } } }
    }
}

/// The section of the documentation for each rule that has a finding.
fn rules(findings: &[FindingGroup<'_>]) -> Option<Markup> {
    let mut rules: Vec<Rule> = findings.iter().map(|group| group.first.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    (!rules.is_empty())
        .then(|| html! { @for rule in rules { article id={ "rule-" (rule.id()) } { (section(of_rule(rule))) } } })
}

#[derive(Default)]
struct MatrixCell {
    text: String,
    /// The severity; `None` if there is no problem.
    level: Option<Level>,
}

fn matrix(outcome: &Outcome, style: Style) -> Option<Markup> {
    let rows: Vec<_> = outcome.roots.iter().map(|root| (root, cells(root, &newest(outcome)))).collect();
    let providers: BTreeSet<&ProviderAddr> = rows.iter().flat_map(|(_, cells)| cells.keys().copied()).collect();
    let has_results = rows.iter().any(|(root, _)| result(outcome, root).is_some());
    (has_results || !providers.is_empty()).then(|| {
        html! { @if let Some(legend) = legend(outcome.command) { p { (inline(legend)) } }
        table.matrix {
            thead { tr {
                th scope="col" { "Root module" }
                @if has_results { th scope="col" { "Result" } }
                @for addr in &providers { th scope="col" { (breakable(&style.addr(addr))) } }
            } }
            tbody { @for (root, cells) in &rows { tr data-row {
                th scope="row" { (breakable(&name(&root.path))) }
                @if has_results { (cell("Result", result(outcome, root).as_ref())) }
                @for addr in &providers { (cell(&style.addr(addr), cells.get(addr))) }
            } } }
        } }
    })
}

/// `60 root modules, 12 providers`, for commands without findings.
fn matrix_count(outcome: &Outcome) -> Option<String> {
    let is_listed = |root: &RootOutcome| matches!(&root.body, Ok(Body::Entries(_) | Body::Outdated(_)));
    let rows = outcome.roots.iter().filter(|root| is_listed(root)).count();
    let cells = outcome.roots.iter().flat_map(|root| cells(root, &BTreeMap::new()).into_keys());
    let providers = cells.collect::<BTreeSet<_>>().len();
    let roots = root_modules_of(&kinds(outcome), rows, NotCounted::default());
    (rows > 0).then(|| format!("{roots}, {}", counted(providers, "provider")))
}

/// The meaning of coloured cells, if their text does not show it.
fn legend(command: &str) -> Option<&'static str> {
    match command {
        "list" => Some("Coloured: older than the newest version that is locked in another root module."),
        "outdated" => Some(
            "An arrow shows what `tflock upgrade` would select; blue: a newer version exists, but a constraint excludes it.",
        ),
        _ => None,
    }
}

/// A cell, and what its column is about: a narrow page has no columns.
fn cell(about: &str, cell: Option<&MatrixCell>) -> Markup {
    html! { @match cell {
        Some(MatrixCell { text: content, level: Some(level) }) => td class=(word_of(*level)) data-about=(text(about)) { (text(content)) },
        Some(MatrixCell { text: content, level: None }) => td data-about=(text(about)) { (text(content)) },
        None => td {},
    } }
}

fn newest(outcome: &Outcome) -> BTreeMap<&ProviderAddr, &Version> {
    let entries = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Entries(entries)) => Some(entries.iter()),
        _ => None,
    });
    let mut newest = BTreeMap::new();
    for listed in entries.flatten() {
        let known = newest.entry(&listed.address).or_insert(&listed.entry.version);
        *known = (*known).max(&listed.entry.version);
    }
    newest
}

fn result(outcome: &Outcome, root: &RootOutcome) -> Option<MatrixCell> {
    let worst = root.findings.iter().map(Finding::level).max();
    match &root.body {
        Ok(Body::Verified(verified)) => {
            Some(MatrixCell { text: summary::verdict(outcome, verified, &root.findings), level: worst })
        }
        Err(_) => Some(MatrixCell { text: "failed".to_owned(), level: Some(Level::Deny) }),
        Ok(_) => None,
    }
}

fn cells<'a>(
    root: &'a RootOutcome,
    newest: &BTreeMap<&ProviderAddr, &Version>,
) -> BTreeMap<&'a ProviderAddr, MatrixCell> {
    let mut cells: BTreeMap<&ProviderAddr, MatrixCell> = BTreeMap::new();
    match &root.body {
        Ok(Body::Entries(entries)) => cells.extend(entries.iter().map(|listed| {
            let is_old = newest.get(&listed.address).is_some_and(|newest| **newest != listed.entry.version);
            (
                &listed.address,
                MatrixCell { text: listed.entry.version.to_string(), level: is_old.then_some(Level::Note) },
            )
        })),
        Ok(Body::Outdated(report)) => cells.extend(report.rows.iter().map(|row| {
            let shown = |version: &Option<Version>| version.as_ref().map_or("none".to_owned(), Version::to_string);
            let (selected, held) = (shown(&row.selected), row.newest > row.allowed);
            let (text, level) = if row.is_upgradable() {
                (format!("{selected} → {}", shown(&row.allowed)), Some(Level::Warn))
            } else {
                (selected, held.then_some(Level::Note))
            };
            (&row.address, MatrixCell { text, level })
        })),
        Ok(Body::Review(review)) => {
            cells.extend(review.changes.iter().map(|change| {
                (&change.address, MatrixCell { text: arrow(change), level: Some(level_of(risk(change))) })
            }));
        }
        _ => {}
    }
    for finding in &root.findings {
        let Some(address) = &finding.address else { continue };
        let cell = cells.entry(address).or_default();
        cell.level = cell.level.max(Some(finding.level()));
        if cell.text.is_empty() {
            finding.rule.id().clone_into(&mut cell.text);
        }
    }
    cells
}

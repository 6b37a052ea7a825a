//! A table of root modules and providers: locked versions, possible upgrades, changes or findings.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::prose::inline;
use super::{arrow, text};
use crate::addr::ProviderAddr;
use crate::count::counted;
use crate::diff::risk;
use crate::finding::Level;
use crate::outcome::{Body, Outcome, RootOutcome};
use crate::report::annotation::level_of;
use crate::report::groups::{name, root_modules};
use crate::report::{Style, human, word_of};
use crate::version::Version;

#[derive(Default)]
struct Cell {
    text: String,
    /// The severity; `None` if there is no problem.
    level: Option<Level>,
}

pub(super) fn of(outcome: &Outcome, style: Style) -> Option<Markup> {
    let rows: Vec<_> = outcome.roots.iter().map(|root| (root, cells(root, &newest(outcome)))).collect();
    let providers: BTreeSet<&ProviderAddr> = rows.iter().flat_map(|(_, cells)| cells.keys().copied()).collect();
    let has_results = rows.iter().any(|(root, _)| result(root).is_some());
    (has_results || !providers.is_empty()).then(|| {
        html! { @if let Some(legend) = legend(outcome.command) { p { (inline(legend)) } }
        div.scroll { table.matrix {
            thead { tr {
                th scope="col" { "Root module" }
                @if has_results { th scope="col" { "Result" } }
                @for addr in &providers { th scope="col" { (style.addr(addr)) } }
            } }
            tbody { @for (root, cells) in &rows { tr data-row {
                th scope="row" { (name(&root.path)) }
                @if has_results { (cell(result(root).as_ref())) }
                @for addr in &providers { (cell(cells.get(addr))) }
            } } }
        } } }
    })
}

/// `60 root modules, 12 providers`, for commands without findings.
pub(super) fn count(outcome: &Outcome) -> Option<String> {
    let is_listed = |root: &RootOutcome| matches!(&root.body, Ok(Body::Entries(_) | Body::Outdated(_)));
    let rows = outcome.roots.iter().filter(|root| is_listed(root)).count();
    let cells = outcome.roots.iter().flat_map(|root| cells(root, &BTreeMap::new()).into_keys());
    let providers = cells.collect::<BTreeSet<_>>().len();
    (rows > 0).then(|| format!("{}, {}", root_modules(rows), counted(providers, "provider")))
}

/// The meaning of coloured cells, if their text does not show it.
fn legend(command: &str) -> Option<&'static str> {
    match command {
        "list" => Some("Coloured: older than the newest version that is locked in another root module."),
        "outdated" => Some(
            "With an arrow: what `tflock upgrade` selects. Coloured without one: a constraint excludes a newer version.",
        ),
        _ => None,
    }
}

fn cell(cell: Option<&Cell>) -> Markup {
    html! { @match cell {
        Some(Cell { text: content, level: Some(level) }) => td class=(word_of(*level)) { (text(content)) },
        Some(Cell { text: content, level: None }) => td { (text(content)) },
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

fn result(root: &RootOutcome) -> Option<Cell> {
    let worst = root.findings.iter().map(|finding| finding.level).max();
    match &root.body {
        Ok(Body::Verified(verified)) => Some(Cell { text: human::verdict(verified, &root.findings), level: worst }),
        Err(_) => Some(Cell { text: "failed".to_owned(), level: Some(Level::Deny) }),
        Ok(_) => None,
    }
}

fn cells<'a>(root: &'a RootOutcome, newest: &BTreeMap<&ProviderAddr, &Version>) -> BTreeMap<&'a ProviderAddr, Cell> {
    let mut cells: BTreeMap<&ProviderAddr, Cell> = BTreeMap::new();
    match &root.body {
        Ok(Body::Entries(entries)) => cells.extend(entries.iter().map(|listed| {
            let is_old = newest.get(&listed.address).is_some_and(|newest| **newest != listed.entry.version);
            (&listed.address, Cell { text: listed.entry.version.to_string(), level: is_old.then_some(Level::Note) })
        })),
        Ok(Body::Outdated(report)) => cells.extend(report.rows.iter().map(|row| {
            let shown = |version: &Option<Version>| version.as_ref().map_or("none".to_owned(), Version::to_string);
            let (selected, held) = (shown(&row.selected), row.newest > row.allowed);
            let (text, level) = if row.is_upgradable() {
                (format!("{selected} → {}", shown(&row.allowed)), Some(Level::Warn))
            } else {
                (selected, held.then_some(Level::Note))
            };
            (&row.address, Cell { text, level })
        })),
        Ok(Body::Review(review)) => cells.extend(
            review
                .changes
                .iter()
                .map(|change| (&change.address, Cell { text: arrow(change), level: Some(level_of(risk(change))) })),
        ),
        _ => {}
    }
    for finding in &root.findings {
        let Some(address) = &finding.address else { continue };
        let cell = cells.entry(address).or_default();
        cell.level = cell.level.max(Some(finding.level));
        if cell.text.is_empty() {
            finding.rule.id().clone_into(&mut cell.text);
        }
    }
    cells
}

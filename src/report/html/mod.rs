//! A self-contained page: it sends no request, and works without JavaScript, in light and dark mode, and on paper. The
//! templates escape all text; the content security policy allows only the page's own style and script, by their hashes.

mod graph;
mod matrix;
mod prose;

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::annotation::{release_facts, versions};
use super::failure::{self, Failure};
use super::groups::{Changed, RootSummary, first_names};
use super::human::findings::{Group, together};
use super::{Style, printable, shown, summary, word_of};
use crate::diff::Change;
use crate::error::Error;
use crate::finding::Rule;
use crate::outcome::Outcome;
use crate::topics::of_rule;

const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most root modules listed below one finding or change.
const MOST_NAMES: usize = 1000;

pub(super) fn render(outcome: &Outcome, style: Style) -> String {
    let naming = RootSummary::of(outcome, style);
    let changed = Changed::of(&outcome.roots);
    let mut findings = together(outcome.findings(), style);
    findings.sort_by_key(|group| std::cmp::Reverse(group.first.level));
    let errors = outcome.errors().chain(outcome.error.iter().map(|error| (Path::new(""), error)));
    let errors = errors.chain(changed.unanswered().map(|it| (Path::new(""), it)));
    let failures = failure::together(errors, naming.recursive);
    let sections = [
        ("changes", "Changes", changes(&changed, naming, style)),
        ("findings", "Findings", self::findings(&findings, naming)),
        ("failures", "Not done", self::failures(&failures, naming)),
        ("matrix", "Root modules and providers", matrix::of(outcome, style)),
        ("graph", "Who requires what", graph::of(outcome, style)),
        ("rules", "What the rules mean", rules(&findings)),
    ];
    let sections: Vec<_> = sections.into_iter().filter_map(|(id, title, part)| Some((id, title, part?))).collect();
    let lines = matrix::count(outcome).map_or_else(|| summary::lines(outcome), |line| vec![line]);
    page(
        outcome.command,
        &html! {
            header {
                h1 { "tflock " (outcome.command) }
                ul.summary { @for line in &lines { li { (text(line)) } } }
                nav aria-label="Sections" { @for (id, title, _) in &sections { a href={ "#" (id) } { (title) } " " } }
                p.filter hidden { label { "Filter " input type="search" id="filter" autocomplete="off"; } " " span id="count" role="status" {} }
            }
            main { @for (id, title, part) in &sections { section id=(id) { h2 { (title) } (part) } } }
        },
    )
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

/// Text from outside, without characters that a browser would hide or interpret.
fn text(text: &str) -> String {
    printable(text).into_owned()
}

/// `1.0.0 → 1.1.0`
fn arrow(change: &Change) -> String {
    versions(change).replace("->", "→")
}

/// The root modules of a finding or change: names if there are few, otherwise their number and folded names.
fn roots(before: &str, paths: &[&Path], naming: RootSummary) -> Markup {
    let label = naming.label(paths);
    let names = first_names(paths, MOST_NAMES);
    html! { @if label == names || paths.len() < 2 { (before) (label) } @else { details { summary { (before) (label) } (names) } } }
}

/// One row for each change of a provider, most dangerous first.
fn changes(changed: &Changed<'_>, naming: RootSummary, style: Style) -> Option<Markup> {
    (!changed.groups.is_empty()).then(|| {
        html! {
            div.scroll { table.changes {
                thead { tr { @for title in ["Risk", "Provider", "Version", "What changed", "Release", "Required by", "Root modules"] { th scope="col" { (title) } } } }
                tbody { @for group in &changed.groups {
                    @let change = &group.change;
                    tr class=(group.risk.as_str()) data-row {
                        td { (group.risk.as_str()) }
                        th scope="row" { (style.addr(&change.address)) }
                        td { @if let Some(url) = &change.link { a href=(url) rel="noreferrer" { (arrow(change)) } } @else { (arrow(change)) } }
                        td { (text(&group.headline)) details { summary { "Details" } p { (text(&group.explanation().text())) } } }
                        td { @for line in release_facts(change) { div { (text(&line)) } } @for rule in &group.rules { a href={ "#rule-" (rule.id()) } { (rule.id()) } " " } }
                        td { (text(&group.required_by())) }
                        td { (roots("", &group.roots(), naming)) }
                    }
                } }
            } }
        }
    })
}

fn findings(findings: &[Group<'_>], naming: RootSummary) -> Option<Markup> {
    (!findings.is_empty()).then(|| {
        html! {
            ol.findings { @for (at, group) in findings.iter().enumerate() {
                @let (finding, word) = (group.first, word_of(group.first.level));
                li id={ "finding-" (at + 1) } class=(word) data-row {
                    strong { (word) } " " (text(&group.message)) " " a href={ "#rule-" (finding.rule.id()) } { (finding.rule.id()) }
                    @if let Some(file) = &finding.file {
                        p.place { code { (text(&shown(file))) @if let Some(at) = finding.position { ":" (at) } } }
                    }
                    p { (prose::inline(&finding.help())) }
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
        @if let Some(file) = &error.file { p.place { code { (text(&shown(file))) @if let Some(at) = error.position { ":" (at) } } } }
        @if !error.hints.is_empty() { ul { @for hint in &error.hints { li { (prose::inline(hint)) } } } }
    }
}

/// The section of the documentation for each rule that has a finding.
fn rules(findings: &[Group<'_>]) -> Option<Markup> {
    let mut rules: Vec<Rule> = findings.iter().map(|group| group.first.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    (!rules.is_empty()).then(
        || html! { @for rule in rules { article id={ "rule-" (rule.id()) } { (prose::section(of_rule(rule))) } } },
    )
}

//! A graph of modules and the providers that they require: for Graphviz, Mermaid, and as a drawing on the HTML page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use maud::{Markup, html};

use crate::addr::ProviderAddr;
use crate::outcome::{Body, GraphFormat, Outcome, RootOutcome};
use crate::report::groups::{first_names, name};
use crate::report::html::elements::breakable;
use crate::report::layout::width;
use crate::report::printable;
use crate::report::style::Style;
use crate::requirements::module_name;

/// A module that requires a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge<'a> {
    pub(super) root: &'a Path,
    /// Its dotted path; empty for the root module itself.
    pub(super) module: &'a str,
    pub(super) address: &'a ProviderAddr,
    pub(super) constraint: Option<&'a str>,
}

/// The requirements in a result, each once.
pub(super) fn edges(outcome: &Outcome) -> BTreeSet<Edge<'_>> {
    outcome.roots.iter().flat_map(edges_of).collect()
}

fn edges_of(root: &RootOutcome) -> Vec<Edge<'_>> {
    let edge = |address, module, constraint| Edge { root: &root.path, module, address, constraint };
    match &root.body {
        Ok(Body::Entries(entries)) => {
            entries.iter().flat_map(|it| it.required_by.iter().map(|by| edge(&it.address, by, None))).collect()
        }
        Ok(Body::Requirements(all)) => {
            let origins = all.iter().flat_map(|it| it.requirement.origins.iter().map(|by| (&it.address, by)));
            origins.map(|(address, by)| edge(address, &by.module, by.constraint.as_deref())).collect()
        }
        Ok(Body::Outdated(report)) => {
            report.rows.iter().flat_map(|it| it.required_by.iter().map(|by| edge(&it.address, by, None))).collect()
        }
        Ok(Body::Verified(verified)) => {
            verified.required_by.iter().map(|(address, by)| edge(address, by, None)).collect()
        }
        Ok(Body::Review(review)) => {
            let origins = review.changes.iter().flat_map(|it| {
                let origins = it.required_by.known().unwrap_or_default();
                origins.iter().map(|by| (&it.address, by))
            });
            origins.map(|(address, by)| edge(address, &by.module, by.constraint.as_deref())).collect()
        }
        _ => Vec::new(),
    }
}

/// Root modules, the modules that they call, and the providers that they require; constraints are at the arrows.
pub(super) fn render(outcome: &Outcome, format: GraphFormat, style: Style) -> String {
    let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
    let mut arrows: BTreeSet<(usize, usize, Option<String>)> = BTreeSet::new();
    let mut node = |label: String| {
        let next = nodes.len();
        *nodes.entry(printable(&label).into_owned()).or_insert(next)
    };
    for Edge { root, module, address, constraint } in edges(outcome) {
        let top = node(name(root));
        let asker = if module.is_empty() { top } else { node(format!("{}: {}", name(root), module_name(module))) };
        if asker != top {
            arrows.insert((top, asker, None));
        }
        arrows.insert((asker, node(style.addr(address)), constraint.map(|text| printable(text).into_owned())));
    }
    let nodes = nodes.iter().map(|(label, at)| match format {
        GraphFormat::Dot => format!("  n{at} [label={}]\n", dot(label)),
        GraphFormat::Mermaid => format!("  n{at}[{}]\n", mermaid(label)),
    });
    let arrows = arrows.iter().map(|(from, to, constraint)| match (format, constraint) {
        (GraphFormat::Dot, Some(text)) => format!("  n{from} -> n{to} [label={}]\n", dot(text)),
        (GraphFormat::Dot, None) => format!("  n{from} -> n{to}\n"),
        (GraphFormat::Mermaid, Some(text)) => format!("  n{from} -->|{}| n{to}\n", mermaid(text)),
        (GraphFormat::Mermaid, None) => format!("  n{from} --> n{to}\n"),
    });
    let (head, tail) = match format {
        GraphFormat::Dot => ("digraph requirements {\n  rankdir=LR\n  node [shape=box]\n", "}\n"),
        GraphFormat::Mermaid => ("flowchart LR\n", ""),
    };
    format!("{head}{}{tail}", nodes.chain(arrows).collect::<String>())
}

/// A quoted string of Graphviz, which knows two escapes.
fn dot(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A quoted string of Mermaid, which knows entities.
fn mermaid(text: &str) -> String {
    let text = text.replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;");
    format!("\"{text}\"")
}

/// The most modules in the drawing; those of the most root modules come first.
const MOST: usize = 60;

/// The height of a line, and the ends of the texts and the drawing, in units of the drawing.
const LINE: usize = 22;
const LEFT: usize = 420;
const RIGHT: usize = 620;
const WIDTH: usize = 960;

/// How many characters fit to the left, and the most root modules that are named there.
const COLUMNS: usize = 54;
const MOST_NAMED: usize = 4;

/// How many are named in the list.
const MOST_LISTED: usize = 20;

/// Root modules whose module requires the same providers.
struct Requiring<'a> {
    module: &'a str,
    providers: BTreeSet<&'a ProviderAddr>,
    roots: Vec<&'a Path>,
}

/// Who requires what: a drawing, and a list where there is no room for it.
pub(super) fn drawing(outcome: &Outcome, style: Style) -> Option<Markup> {
    let mut required_by: BTreeMap<(&str, &Path), BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for Edge { root, module, address, .. } in edges(outcome) {
        required_by.entry((module, root)).or_default().insert(address);
    }
    // Each line is about all root modules that require the same.
    let mut same: BTreeMap<(&str, BTreeSet<&ProviderAddr>), Vec<&Path>> = BTreeMap::new();
    for ((module, root), required) in required_by {
        same.entry((module, required)).or_default().push(root);
    }
    let mut modules: Vec<Requiring<'_>> =
        same.into_iter().map(|((module, providers), roots)| Requiring { module, providers, roots }).collect();
    modules.sort_by_key(|it| Reverse(it.roots.len()));
    let left_out = modules.len().saturating_sub(MOST);
    modules.truncate(MOST);
    let providers: BTreeSet<&ProviderAddr> = modules.iter().flat_map(|it| it.providers.iter().copied()).collect();
    let height = (modules.len().max(providers.len()) + 1) * LINE;
    (!modules.is_empty()).then(|| {
        html! {
            svg.wide viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height) role="img" aria-labelledby="graph-title" {
                title id="graph-title" { "Modules, and the providers that they require" }
                @for (at, it) in modules.iter().enumerate() {
                    @let y = (at + 1) * LINE;
                    text x=(LEFT) y=(y + 4) text-anchor="end" { (label(it, outcome.many)) }
                    @for (to, _) in providers.iter().enumerate().filter(|(_, addr)| it.providers.contains(*addr)) {
                        @let (from, to, middle) = (y, (to + 1) * LINE, usize::midpoint(LEFT, RIGHT));
                        path d=(format!("M{} {from} C{middle} {from} {middle} {to} {} {to}", LEFT + 6, RIGHT - 6)) {}
                    }
                }
                @for (at, addr) in providers.iter().enumerate() { text x=(RIGHT) y=((at + 1) * LINE + 4) { (style.addr(addr)) } }
            }
            ul.narrow { @for it in &modules { li {
                (breakable(&names(it, outcome.many, MOST_LISTED)))
                @for addr in &it.providers { div { (breakable(&style.addr(addr))) } }
            } } }
            @if left_out > 0 { p { "Not drawn: " (left_out) " more modules." } }
        }
    })
}

/// `module.vpc in live/a, live/b and 3 more`.
fn names(it: &Requiring<'_>, many: bool, most: usize) -> String {
    let module = printable(&module_name(it.module)).into_owned();
    match (it.module, many) {
        ("", false) => "the root module".to_owned(),
        (_, false) => module,
        ("", true) => first_names(&it.roots, most),
        (_, true) => format!("{module} in {}", first_names(&it.roots, most)),
    }
}

/// The same with as many names as there is room for.
fn label(it: &Requiring<'_>, many: bool) -> String {
    let fitting = (1..=MOST_NAMED).rev().map(|most| names(it, many, most)).find(|label| width(label) <= COLUMNS);
    fitting.unwrap_or_else(|| {
        // The end of a path says more than its beginning.
        let label = names(it, many, 1);
        let left_out = label.chars().count().saturating_sub(COLUMNS - 1);
        format!("…{}", label.chars().skip(left_out).collect::<String>())
    })
}

//! A graph of modules and the providers that they require: for Graphviz, Mermaid, and as a drawing on the HTML page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use maud::{Markup, html};

use crate::addr::ProviderAddr;
use crate::outcome::{Body, GraphFormat, Outcome, RootOutcome};
use crate::report::groups::{name, root_modules};
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
const LEFT: usize = 330;
const RIGHT: usize = 560;
const WIDTH: usize = 960;

pub(super) fn drawing(outcome: &Outcome, style: Style) -> Option<Markup> {
    let mut required_by: BTreeMap<(&str, &Path), BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for Edge { root, module, address, .. } in edges(outcome) {
        required_by.entry((module, root)).or_default().insert(address);
    }
    // Each line is about all root modules at its end: those that require the same.
    let mut modules: BTreeMap<(&str, BTreeSet<&ProviderAddr>), usize> = BTreeMap::new();
    for ((module, _), required) in required_by {
        *modules.entry((module, required)).or_default() += 1;
    }
    let mut modules: Vec<_> = modules.into_iter().collect();
    modules.sort_by_key(|(_, roots)| Reverse(*roots));
    let left_out = modules.len().saturating_sub(MOST);
    modules.truncate(MOST);
    let providers: BTreeSet<&ProviderAddr> =
        modules.iter().flat_map(|((_, required), _)| required.iter().copied()).collect();
    let height = (modules.len().max(providers.len()) + 1) * LINE;
    (!modules.is_empty()).then(|| {
        html! {
            div.scroll { svg viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height) role="img" aria-labelledby="graph-title" {
                title id="graph-title" { "Modules, and the providers that they require" }
                @for (at, ((module, required), roots)) in modules.iter().enumerate() {
                    @let y = (at + 1) * LINE;
                    text x=(LEFT) y=(y + 4) text-anchor="end" { (module_label(module, *roots, outcome.many)) }
                    @for (to, _) in providers.iter().enumerate().filter(|(_, addr)| required.contains(*addr)) {
                        @let (from, to, middle) = (y, (to + 1) * LINE, usize::midpoint(LEFT, RIGHT));
                        path d=(format!("M{} {from} C{middle} {from} {middle} {to} {} {to}", LEFT + 6, RIGHT - 6)) {}
                    }
                }
                @for (at, addr) in providers.iter().enumerate() { text x=(RIGHT) y=((at + 1) * LINE + 4) { (style.addr(addr)) } }
            } }
            @if left_out > 0 { p { "Not drawn: " (left_out) " more modules." } }
        }
    })
}

/// `module.vpc in 23 root modules`.
fn module_label(module: &str, roots: usize, many: bool) -> String {
    match (module, many) {
        ("", true) => root_modules(roots),
        ("", false) => "the root module".to_owned(),
        (module, true) => format!("{} in {}", printable(&module_name(module)), root_modules(roots)),
        (module, false) => printable(&module_name(module)).into_owned(),
    }
}

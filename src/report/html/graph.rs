//! A drawing of the requirements: modules on the left, providers on the right.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use maud::{Markup, html};

use super::text;
use crate::addr::ProviderAddr;
use crate::outcome::Outcome;
use crate::report::Style;
use crate::report::graph::{Edge, edges};
use crate::report::groups::root_modules;

/// The most modules in the drawing; those of the most root modules come first.
const MOST: usize = 60;

/// The height of a line, and the ends of the texts and the drawing, in units of the drawing.
const LINE: usize = 22;
const LEFT: usize = 330;
const RIGHT: usize = 560;
const WIDTH: usize = 960;

pub(super) fn of(outcome: &Outcome, style: Style) -> Option<Markup> {
    let mut modules: BTreeMap<&str, (BTreeSet<&Path>, BTreeSet<&ProviderAddr>)> = BTreeMap::new();
    for Edge { root, module, address, .. } in edges(outcome) {
        let (roots, required) = modules.entry(module).or_default();
        roots.insert(root);
        required.insert(address);
    }
    let mut modules: Vec<_> = modules.into_iter().collect();
    modules.sort_by_key(|(_, (roots, _))| Reverse(roots.len()));
    let left_out = modules.len().saturating_sub(MOST);
    modules.truncate(MOST);
    let providers: BTreeSet<&ProviderAddr> =
        modules.iter().flat_map(|(_, (_, required))| required.iter().copied()).collect();
    let height = (modules.len().max(providers.len()) + 1) * LINE;
    (!modules.is_empty()).then(|| {
        html! {
            div.scroll { svg viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height) role="img" aria-labelledby="graph-title" {
                title id="graph-title" { "Modules, and the providers that they require" }
                @for (at, (module, (roots, required))) in modules.iter().enumerate() {
                    @let y = (at + 1) * LINE;
                    text x=(LEFT) y=(y + 4) text-anchor="end" { (label(module, roots.len(), outcome.many)) }
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
fn label(module: &str, roots: usize, many: bool) -> String {
    match (module, many) {
        ("", true) => root_modules(roots),
        ("", false) => "the root module".to_owned(),
        (module, true) => format!("module.{} in {}", text(module), root_modules(roots)),
        (module, false) => format!("module.{}", text(module)),
    }
}

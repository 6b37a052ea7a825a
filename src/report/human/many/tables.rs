//! `list`, `outdated` and `why` of several root modules: versions, and the root modules that have them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::count::counted;
use crate::outcome::{Body, Grouping, Listed, Outcome, Outdated, OutdatedModule, Required, RootOutcome};
use crate::report::Style;
use crate::report::groups::{RootSummary, Same};
use crate::report::human::modules;
use crate::report::human::tables::{MOST_USES, holder, origin_on_path, rows_shown, short_key, skipped, warnings};
use crate::report::paint::Paint;
use crate::report::table::{Table, rows};
use crate::version::Version;

pub(super) fn tables(outcome: &Outcome, naming: RootSummary, style: Style) -> String {
    let list = match outcome.grouping {
        Grouping::Provider => {
            by_provider(outcome, naming, style).map(|table| format!("{}\n{}\n", table.text(style), providers(outcome)))
        }
        Grouping::Root => Some(by_root(&listed(outcome), naming, style)),
    };
    let outdated = outdated(outcome, naming, style).map(|table| table.text(style));
    let required =
        of(outcome, |body| if let Body::Requirements(required) = body { Some(required.as_slice()) } else { None });
    let modules = outdated_modules(outcome, naming).map(|table| table.text(style));
    list.unwrap_or_default()
        + &outdated.unwrap_or_default()
        + &modules.unwrap_or_default()
        + &why(&required, naming, style)
}

fn listed(outcome: &Outcome) -> Vec<Item<'_, Listed>> {
    of(outcome, |body| if let Body::Entries(entries) = body { Some(entries.as_slice()) } else { None })
}

type Item<'a, T> = (&'a Path, &'a T);

fn of<'a, T>(outcome: &'a Outcome, items: impl Fn(&'a Body) -> Option<&'a [T]>) -> Vec<Item<'a, T>> {
    let of_root = |root: &'a RootOutcome| {
        let found = root.body.as_ref().ok().and_then(&items).unwrap_or_default();
        found.iter().map(|item| (root.path.as_path(), item))
    };
    outcome.roots.iter().flat_map(of_root).collect()
}

/// Each version of each provider with its root modules, newest version first.
pub(in crate::report) fn by_provider(outcome: &Outcome, naming: RootSummary, style: Style) -> Option<Table<5>> {
    let key = |listed: &Listed| {
        let signer = listed.signer.as_ref().map(short_key).unwrap_or_default();
        let remark = if listed.required == Some(false) { "not required" } else { "" };
        (listed.address.clone(), Reverse(listed.entry.version.clone()), signer, remark)
    };
    let listed = listed(outcome);
    let mut same = Same::of(listed.iter().map(|(path, listed)| (*path, key(listed)))).into_items();
    same.sort();
    let cells = same.iter().map(|((addr, Reverse(version), signer, remark), paths)| {
        [style.addr(addr), version.to_string(), signer.clone(), (*remark).to_owned(), naming.table_cell(paths)]
    });
    Table::of(["PROVIDER", "VERSION", "SIGNER", "REMARK", "ROOT MODULES"], cells)
}

/// `5 providers, 1 of them in more than one version`
pub(in crate::report) fn providers(outcome: &Outcome) -> String {
    let mut versions: BTreeMap<&ProviderAddr, BTreeSet<&Version>> = BTreeMap::new();
    for (_, listed) in listed(outcome) {
        versions.entry(&listed.address).or_default().insert(&listed.entry.version);
    }
    let providers = counted(versions.len(), "provider");
    let several = versions.values().filter(|versions| versions.len() > 1).count();
    match several {
        0 => format!("{providers}, each in one version"),
        _ => format!("{providers}, {several} of them in more than one version"),
    }
}

/// The entries of each root module; root modules with equal entries are listed together, by name.
fn by_root(listed: &[Item<'_, Listed>], naming: RootSummary, style: Style) -> String {
    let mut roots: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
    for (path, listed) in listed {
        let shown = format!("{} {}", style.addr(&listed.address), listed.entry.version);
        roots.entry(path).or_default().push(shown);
    }
    let same = Same::of(roots.into_iter().map(|(path, shown)| (path, shown.join(", "))));
    same.into_items().into_iter().fold(String::new(), |mut text, (shown, paths)| {
        let _ = writeln!(text, "{}\n  {shown}", style.paint(Paint::Strong, naming.heading(&paths) + ":"));
        text
    })
}

/// A provider, its versions, and the constraints that exclude newer ones, or why a version is skipped.
type HeldBack<'a> = (&'a ProviderAddr, [Option<&'a Version>; 3], Vec<(String, String)>);

/// Each provider with a newer release once for all that are in the same place with it.
pub(in crate::report) fn outdated(outcome: &Outcome, naming: RootSummary, style: Style) -> Option<Table<7>> {
    let rows = of(outcome, |body| if let Body::Outdated(report) = body { Some(report.rows.as_slice()) } else { None });
    let mut same: Same<'_, HeldBack<'_>> = Same::new();
    let mut places: BTreeMap<(&ProviderAddr, &Path), &Outdated> = BTreeMap::new();
    for (path, row) in rows.into_iter().filter(|(_, row)| row.is_noteworthy()) {
        let versions = [row.selected.as_ref(), row.allowed.as_ref(), row.newest.as_ref()];
        let holders = row.holders.iter().map(|it| (it.module.clone(), it.constraint.clone().unwrap_or_default()));
        let skipped = skipped(row).map(|why| (String::new(), why));
        let warnings = row.warnings.iter().map(|text| (String::new(), text.clone()));
        same.add(path, (&row.address, versions, holders.chain(skipped).chain(warnings).collect()));
        places.insert((&row.address, path), row);
    }
    let mut items = same.into_items();
    items.sort_by_key(|((addr, versions, _), _)| (*addr, versions[0]));
    let cells = items.iter().map(|((addr, versions, _), paths)| {
        let [selected, allowed, newest] =
            versions.map(|version| version.map_or_else(|| "none".to_owned(), ToString::to_string));
        let held: Vec<&Outdated> = paths.iter().filter_map(|path| places.get(&(*addr, *path)).copied()).collect();
        let warnings = held.first().map(|row| warnings(row)).unwrap_or_default();
        [style.addr(addr), selected, allowed, newest, naming.table_cell(paths), holders(&held), warnings]
    });
    Table::of(["PROVIDER", "SELECTED", "ALLOWED", "NEWEST", "ROOT MODULES", "HELD BACK BY", "REGISTRY WARNING"], cells)
}

/// The constraints that exclude newer versions, with their place if it is the same in all root modules.
fn holders(held: &[&Outdated]) -> String {
    let Some(first) = held.first() else { return String::new() };
    let shown = first.holders.iter().enumerate().map(|(at, origin)| {
        let is_same = held.iter().all(|other| {
            other.holders.get(at).is_some_and(|other| (&other.file, other.position) == (&origin.file, origin.position))
        });
        holder(origin, is_same)
    });
    shown.chain(skipped(first)).collect::<Vec<_>>().join(", ")
}

/// Each module with a newer version, once for all root modules with equal versions and constraints.
pub(in crate::report) fn outdated_modules(outcome: &Outcome, naming: RootSummary) -> Option<Table<6>> {
    let reports =
        of(outcome, |body| if let Body::OutdatedModules(report) = body { Some(report.rows.as_slice()) } else { None });
    let noteworthy = reports.into_iter().filter(|(_, row)| row.is_noteworthy());
    let held = |row: &OutdatedModule| row.held_back_by.iter().map(|held| modules::holder(held, false)).collect();
    let key = |row: &OutdatedModule| -> ([String; 4], BTreeSet<String>) { (modules::versions(row), held(row)) };
    let mut items = Same::of(noteworthy.map(|(path, row)| (path, key(row)))).into_items();
    items.sort();
    let cells = items.into_iter().map(|(([source, selected, allowed, newest], held), paths)| {
        let held: Vec<String> = held.into_iter().collect();
        [source, selected, allowed, newest, naming.table_cell(&paths), held.join(", ")]
    });
    Table::of(["MODULE", "SELECTED", "ALLOWED", "NEWEST", "ROOT MODULES", "HELD BACK BY"], cells)
}

/// Each provider with its locked versions and the modules that require it.
fn why(required: &[Item<'_, Required>], naming: RootSummary, style: Style) -> String {
    let mut providers: BTreeMap<&ProviderAddr, Vec<Item<'_, Required>>> = BTreeMap::new();
    for item in required {
        providers.entry(&item.1.address).or_default().push(*item);
    }
    let mut text = String::new();
    for (addr, requiring) in providers {
        if !text.is_empty() {
            text.push('\n');
        }
        let locked =
            |required: &Required| required.locked.as_ref().map_or("not locked".to_owned(), ToString::to_string);
        let versions = Same::of(requiring.iter().map(|(path, required)| (*path, locked(required)))).into_items();
        let versions: Vec<String> =
            versions.iter().map(|(version, paths)| format!("{version} in {}", naming.table_cell(paths))).collect();
        let _ = writeln!(text, "{} {}", style.paint(Paint::Strong, style.addr(addr)), versions.join(", "));
        text.push_str(&origins(&requiring, naming, style));
    }
    text
}

/// The places that require a provider; equal requirements share a line, with the place of the first.
fn origins(requiring: &[Item<'_, Required>], naming: RootSummary, style: Style) -> String {
    let mut same: Same<'_, [String; 3]> = Same::new();
    let mut places: BTreeMap<[String; 3], Vec<String>> = BTreeMap::new();
    for (path, required) in requiring {
        for origin in &required.requirement.origins {
            let [place, argument, constraint, caller] = origin_on_path(origin, required);
            let key = [argument, constraint, caller];
            same.add(path, key.clone());
            let known = places.entry(key).or_default();
            if !known.contains(&place) {
                known.push(place);
            }
        }
    }
    let items = same.into_items();
    let most = rows_shown(items.len(), MOST_USES, style.detail);
    let shown = items.iter().take(most).map(|(key, paths)| {
        let place = match places.get(key).map(Vec::as_slice).unwrap_or_default() {
            [] => String::new(),
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        };
        let [argument, constraint, caller] = key.clone();
        [place, argument, constraint, caller, naming.label(paths)]
    });
    let mut text = rows("  ", &shown.collect::<Vec<_>>(), style);
    if items.len() > most {
        let _ = writeln!(text, "  and {} more; -v shows them", items.len() - most);
    }
    text
}

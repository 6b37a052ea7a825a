//! `list`, `outdated` and `why` for users: versions, and the root modules that have them if there are several.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::hash::HashScheme;
use crate::outcome::{
    Body, CallOnPath, Grouping, Listed, NotCounted, Outcome, Outdated, OutdatedModule, PassedOver, Required,
    RootOutcome,
};
use crate::platform::Platform;
use crate::report::body::packages;
use crate::report::groups::{RootSummary, grouped, kinds, root_modules_of, shared_items};
use crate::report::layout::Table;
use crate::report::parts::{Part, TextLine, lines};
use crate::report::shown;
use crate::report::style::{Detail, Paint, Style};
use crate::requirements::{Origin, OriginKind, module_name};
use crate::trust::pins::Signer;
use crate::trust::publishers::publisher;
use crate::version::Version;
use crate::words::{counted, first_of, nonzero};

/// How many versions that are too young are named.
const MOST_SKIPPED: usize = 3;

/// How many places that only use a provider are listed for it.
const MOST_USES: usize = 8;

pub(in crate::report) fn lists(outcome: &Outcome, naming: RootSummary, style: Style) -> Vec<Part> {
    let mut parts: Vec<Part> = match by_provider(outcome, naming, style) {
        Some(table) => [Part::Table(table)].into_iter().chain(total(outcome)).collect(),
        None => vec![by_root(&listed(outcome), naming, style)],
    };
    parts.extend(outdated(outcome, naming, style).map(Part::Table));
    parts.extend(outdated_modules(outcome, naming).map(Part::Table));
    parts.push(lines(outcome.roots.iter().filter(|_| !naming.many).filter_map(up_to_date)));
    let required =
        of(outcome, |body| if let Body::Requirements(required) = body { Some(required.as_slice()) } else { None });
    parts.extend(why(&required, naming, style));
    parts
}

/// The text without anything outdated, unless the versions of some are unknown.
fn up_to_date(root: &RootOutcome) -> Option<&'static str> {
    match root.body.as_ref().ok()? {
        Body::Outdated(report) if report.complete && !report.rows.iter().any(Outdated::is_noteworthy) => {
            Some("all providers are up to date")
        }
        Body::OutdatedModules(report) if report.complete && !report.rows.iter().any(OutdatedModule::is_noteworthy) => {
            Some("all modules are up to date")
        }
        _ => None,
    }
}

fn listed(outcome: &Outcome) -> Vec<OfRoot<'_, Listed>> {
    of(outcome, |body| if let Body::Entries(entries) = body { Some(entries.as_slice()) } else { None })
}

type OfRoot<'a, T> = (&'a Path, &'a T);

fn of<'a, T>(outcome: &'a Outcome, items: impl Fn(&'a Body) -> Option<&'a [T]>) -> Vec<OfRoot<'a, T>> {
    let of_root = |root: &'a RootOutcome| {
        let found = root.body.as_ref().ok().and_then(&items).unwrap_or_default();
        found.iter().map(|item| (root.path.as_path(), item))
    };
    outcome.roots.iter().flat_map(of_root).collect()
}

/// The entries of one root module; for several each version of each provider, newest version first, without the columns
/// that would differ; `None` if they are listed by root module. Constraints are shown only on request, since `why`
/// prints them.
fn by_provider(outcome: &Outcome, naming: RootSummary, style: Style) -> Option<Table> {
    if naming.many && outcome.grouping == Grouping::Root {
        return None;
    }
    let key = |listed: &Listed| {
        let signer =
            listed.signer.as_ref().map(|signer| signer_cell(&listed.address, signer, style)).unwrap_or_default();
        let remark = if listed.required == Some(false) { "not required" } else { "" };
        let constraints =
            (!naming.many && style.detail == Detail::Verbose).then(|| listed.entry.constraints.to_string());
        let platforms: Vec<&str> = listed.platforms.iter().map(Platform::as_str).collect();
        let [hashes, platforms] =
            if naming.many { [String::new(), String::new()] } else { [counts(listed), platforms.join(", ")] };
        let version = Reverse(listed.entry.version.clone());
        (
            listed.address.clone(),
            version,
            [signer, remark.to_owned(), constraints.unwrap_or_default(), hashes, platforms],
        )
    };
    let listed = listed(outcome);
    let mut same = shared_items(listed.iter().map(|(path, listed)| (*path, key(listed))));
    same.sort();
    let cells =
        same.into_iter().map(|((addr, Reverse(version), [signer, remark, constraints, hashes, platforms]), paths)| {
            let (addr, version, roots) = (style.addr(&addr), version.to_string(), naming.table_cell(&paths));
            [addr, version, constraints, hashes, signer, remark, platforms, roots]
        });
    let headings = ["PROVIDER", "VERSION", "CONSTRAINTS", "HASHES", "SIGNER", "REMARK", "PLATFORMS", "ROOT MODULES"];
    Table::of(headings, cells)
}

/// `5 providers, 1 of them in several versions`; `None` for one root module.
fn total(outcome: &Outcome) -> Option<Part> {
    if !outcome.many {
        return None;
    }
    let mut versions: BTreeMap<&ProviderAddr, BTreeSet<&Version>> = BTreeMap::new();
    for (_, listed) in listed(outcome) {
        versions.entry(&listed.address).or_default().insert(&listed.entry.version);
    }
    let providers = counted(versions.len(), "provider");
    let several = versions.values().filter(|versions| versions.len() > 1).count();
    let total = match several {
        0 => format!("{providers}, each in one version"),
        1 if versions.len() == 1 => {
            format!("{providers}, in {} versions", versions.values().map(BTreeSet::len).sum::<usize>())
        }
        _ => format!("{providers}, {several} of them in several versions"),
    };
    let roots: BTreeSet<&Path> = outcome.roots.iter().map(|root| root.path.as_path()).collect();
    let kinds = kinds(outcome);
    let total = if kinds.is_empty() {
        total
    } else {
        format!("{total}, in {}", root_modules_of(&kinds, roots.len(), NotCounted::default()))
    };
    Some(lines([String::new(), total]))
}

/// The entries of each root module; root modules with equal entries are listed together, by name.
fn by_root(listed: &[OfRoot<'_, Listed>], naming: RootSummary, style: Style) -> Part {
    let mut roots: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
    for (path, listed) in listed {
        let shown = format!("{} {}", style.addr(&listed.address), listed.entry.version);
        roots.entry(path).or_default().push(shown);
    }
    let same = shared_items(roots.into_iter().map(|(path, shown)| (path, shown.join(", "))));
    let lines = same.into_iter().flat_map(|(shown, paths)| {
        let heading = TextLine::default().painted(Paint::Strong, naming.heading(&paths) + ":");
        [heading, TextLine::new(shown).indented(2)]
    });
    Part::Lines(lines.collect())
}

/// A provider, its versions, and the constraints that exclude newer ones, or why a version is skipped.
type HeldBack<'a> = (&'a ProviderAddr, [Option<&'a Version>; 3], Vec<(String, String)>);

/// A version with its age, if that is known.
fn aged(version: Option<&Version>, row: Option<&Outdated>) -> String {
    let Some(version) = version else { return "none".to_owned() };
    let age = row.and_then(|row| row.ages.iter().find(|age| age.version == *version));
    age.map_or_else(|| version.to_string(), |age| format!("{version} ({age})"))
}

/// Each provider with a newer release or a new selection, once for all root modules with the same versions.
fn outdated(outcome: &Outcome, naming: RootSummary, style: Style) -> Option<Table> {
    let rows = of(outcome, |body| if let Body::Outdated(report) = body { Some(report.rows.as_slice()) } else { None });
    let noteworthy = rows.into_iter().filter(|(_, row)| row.is_noteworthy());
    let keyed = noteworthy.map(|(path, row)| {
        let versions = [row.selected.as_ref(), row.allowed.as_ref(), row.newest.as_ref()];
        let holders = row.holders.iter().map(|it| (it.module.clone(), it.constraint.clone().unwrap_or_default()));
        let skipped = skipped(row).map(|why| (String::new(), why));
        let warnings = row.warnings.iter().map(|text| (String::new(), text.clone()));
        let held: HeldBack<'_> = (&row.address, versions, holders.chain(skipped).chain(warnings).collect());
        (held, (path, row))
    });
    let mut items = grouped(keyed);
    items.sort_by_key(|((addr, versions, _), _)| (*addr, versions[0]));
    let cells = items.iter().map(|((addr, versions, _), rows)| {
        let (paths, held): (Vec<&Path>, Vec<&Outdated>) = rows.iter().copied().unzip();
        let [selected, allowed, mut newest] = versions.map(|version| aged(version, held.first().copied()));
        if versions[1] == versions[2] {
            // Its age is in the column before.
            newest = versions[2].map_or(newest, Version::to_string);
        }
        let warnings = held.first().map(|row| warnings(row)).unwrap_or_default();
        [style.addr(addr), selected, allowed, newest, naming.table_cell(&paths), holders(&held), warnings]
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

/// Each module with a newer version, once for all root modules with equal versions and constraints; for one root module
/// with its calls and the places of constraints.
fn outdated_modules(outcome: &Outcome, naming: RootSummary) -> Option<Table> {
    let reports =
        of(outcome, |body| if let Body::OutdatedModules(report) = body { Some(report.rows.as_slice()) } else { None });
    let noteworthy = reports.into_iter().filter(|(_, row)| row.is_noteworthy());
    let held = |row: &OutdatedModule| {
        row.held_back_by.iter().map(|held| packages::module_holder(held, !naming.many)).collect()
    };
    let called = |row: &OutdatedModule| -> Vec<String> { row.calls.iter().filter(|_| !naming.many).cloned().collect() };
    let key =
        |row: &OutdatedModule| -> (_, _, BTreeSet<String>) { (packages::module_versions(row), called(row), held(row)) };
    let mut items = shared_items(noteworthy.map(|(path, row)| (path, key(row))));
    items.sort();
    let cells = items.into_iter().map(|(([source, selected, allowed, newest], calls, held), paths)| {
        let held: Vec<String> = held.into_iter().collect();
        [source, selected, allowed, newest, calls.join(", "), naming.table_cell(&paths), held.join(", ")]
    });
    Table::of(["MODULE", "SELECTED", "ALLOWED", "NEWEST", "CALLS", "ROOT MODULES", "HELD BACK BY"], cells)
}

/// Each provider with its locked versions and the modules that require it.
fn why(required: &[OfRoot<'_, Required>], naming: RootSummary, style: Style) -> Vec<Part> {
    let mut providers: BTreeMap<&ProviderAddr, Vec<OfRoot<'_, Required>>> = BTreeMap::new();
    for item in required {
        providers.entry(&item.1.address).or_default().push(*item);
    }
    let mut parts = Vec::new();
    for (addr, requiring) in providers {
        let line =
            TextLine::default().painted(Paint::Strong, style.addr(addr)).plain(" ").plain(locked(&requiring, naming));
        let gap = if parts.is_empty() { None } else { Some(TextLine::default()) };
        parts.push(Part::Lines(gap.into_iter().chain([line]).collect()));
        parts.extend(origins(&requiring, naming, style));
    }
    parts
}

/// The locked version with the constraints; for several root modules each version with its root modules.
fn locked(requiring: &[OfRoot<'_, Required>], naming: RootSummary) -> String {
    let locked = |required: &Required| required.locked.as_ref().map_or("not locked".to_owned(), ToString::to_string);
    let versions = shared_items(requiring.iter().map(|(path, required)| (*path, locked(required))));
    let named = versions.iter().map(|(version, paths)| {
        let constraints = &requiring[0].1.requirement.constraints;
        match (naming.many, constraints.is_empty()) {
            (true, _) => format!("{version} in {}", naming.table_cell(paths)),
            (false, true) => version.clone(),
            (false, false) => format!("{version} ({constraints})"),
        }
    });
    named.collect::<Vec<_>>().join(", ")
}

/// The places that require a provider: for one root module all with a constraint or source, and the first few that only
/// use it. Equal requirements of several root modules share a line, with the place of the first.
fn origins(requiring: &[OfRoot<'_, Required>], naming: RootSummary, style: Style) -> Vec<Part> {
    let mut keyed = Vec::new();
    for (path, required) in requiring {
        for origin in &required.requirement.origins {
            let [place, argument, constraint, caller] = origin_on_path(origin, required);
            let own = if naming.many { String::new() } else { place.clone() };
            keyed.push(([own, argument, constraint, caller], (*path, origin, place)));
        }
    }
    let items = grouped(keyed);
    let mut room = if style.detail == Detail::Verbose { usize::MAX } else { MOST_USES };
    let shown = items.iter().filter_map(|([_, argument, constraint, caller], same)| {
        let (_, origin, first) = &same[0];
        let is_listed = !naming.many && (origin.constraint.is_some() || origin.kind == OriginKind::RequiredProviders);
        if !is_listed {
            room = room.checked_sub(1)?;
        }
        let places: BTreeSet<&String> = same.iter().map(|(_, _, place)| place).collect();
        let place = match places.len() {
            1 => first.clone(),
            count => format!("{first} and {} more", count - 1),
        };
        let mut paths: Vec<&Path> = same.iter().map(|(path, _, _)| *path).collect();
        paths.dedup();
        let roots = if naming.many { naming.label(&paths) } else { String::new() };
        Some([place, argument.clone(), constraint.clone(), caller.clone(), roots])
    });
    let shown: Vec<[String; 5]> = shown.collect();
    let left = items.len() - shown.len();
    let mut parts = vec![Part::Table(Table::of_rows("  ", shown))];
    if left > 0 {
        let kind = if naming.many { "" } else { " that require any version" };
        parts.push(lines([format!("  and {left} more{kind}; -v shows them")]));
    }
    parts
}

fn counts(listed: &Listed) -> String {
    let counts = [(HashScheme::H1, "h1"), (HashScheme::Zh, "zh"), (HashScheme::Other, "other")]
        .map(|(scheme, word)| (listed.entry.hashes.of(scheme).count(), word));
    let counts = nonzero(counts);
    if counts.is_empty() { "none".to_owned() } else { counts }
}

fn warnings(row: &Outdated) -> String {
    row.warnings.join("; ")
}

fn skipped(row: &Outdated) -> Option<String> {
    let PassedOver { version, reason, .. } = row.passed_over.first()?;
    if row.passed_over.iter().all(|it| it.too_young) {
        let versions: Vec<String> = row.passed_over.iter().map(|it| it.version.to_string()).collect();
        let are = if versions.len() == 1 { "is" } else { "are" };
        return Some(format!("minimum_age: {} {are} too young", first_of(&versions, MOST_SKIPPED)));
    }
    let others = match row.passed_over.len() - 1 {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    Some(format!("{version} is excluded: {reason}{others}"))
}

/// The constraint that excludes a newer version, optionally with its place.
fn holder(origin: &Origin, with_place: bool) -> String {
    let [place, _, constraint, module] = self::origin(origin);
    let module = if module.is_empty() { String::new() } else { format!("{module} ") };
    let place = if with_place { format!(" ({place})") } else { String::new() };
    format!("{module}{constraint}{place}")
}

/// The publisher by name if the key is well known, else the usual short form of the key; with -v the whole fingerprint.
fn signer_cell(addr: &ProviderAddr, signer: &Signer, style: Style) -> String {
    let Some(key) = signer.key() else { return Signer::UNSIGNED.to_owned() };
    if style.detail == Detail::Verbose {
        return key.to_string();
    }
    let known = publisher(addr).filter(|it| it.has(key));
    known.map_or_else(|| key.short().to_owned(), |it| format!("{}, well-known key", it.name))
}

/// Like `origin`, with the versions of the modules on the way.
fn origin_on_path(requiring: &Origin, provider: &Required) -> [String; 4] {
    let [place, argument, constraint, caller] = origin(requiring);
    let path = provider.paths.get(&requiring.module).map(Vec::as_slice).unwrap_or_default();
    if requiring.in_tests || path.iter().all(|call| call.version.is_none()) {
        return [place, argument, constraint, caller];
    }
    let call = |call: &CallOnPath| match &call.version {
        Some(version) => format!("{} ({version})", call.name),
        None => call.name.clone(),
    };
    let calls: Vec<String> = path.iter().map(call).collect();
    [place, argument, constraint, module_name(&calls.join(" > "))]
}

fn origin(origin: &Origin) -> [String; 4] {
    let caller = if origin.module.is_empty() { String::new() } else { origin.caller() };
    let place = format!("{}:{}", shown(&origin.file), origin.position);
    let argument = match &origin.block {
        Some(block) => format!("{} {block}", origin.kind.as_str()),
        None => format!("{} {:?}", origin.kind.as_str(), origin.local_name),
    };
    let constraint = origin.constraint.as_deref().unwrap_or("any version");
    [place.as_str(), argument.as_str(), constraint, caller.as_str()].map(str::to_owned)
}

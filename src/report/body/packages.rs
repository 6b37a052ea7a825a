//! The results of `install`, `mirror`, `get` and `list --modules` for users. Root modules share packages, so they are counted once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::addr::ProviderAddr;
use crate::finding::{Finding, Level};
use crate::outcome::{
    Body, Fate, InstallReport, InstallState, InstalledModule, InstalledModules, InstalledPackage, MirrorReport,
    MirroredPackage, ModuleHolder, Outcome, OutdatedModule, RootOutcome, UsedModule,
};
use crate::platform::Platform;
use crate::report::groups::{RootSummary, firsts, root_modules};
use crate::report::layout::Table;
use crate::report::parts::{Part, TextLine, lines};
use crate::report::style::{Detail, Paint, Style};
use crate::report::{shown, size};
use crate::version::Version;
use crate::words::counted;

pub(super) fn install(outcome: &Outcome, style: Style) -> Part {
    let reports = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Install(report)) => Some(report),
        _ => None,
    });
    let reports: Vec<&InstallReport> = reports.collect();
    if reports.is_empty() || style.detail == Detail::Quiet {
        return Part::Lines(Vec::new());
    }
    let is_refused = |root: &RootOutcome| root.findings.iter().any(|finding| finding.level() == Level::Deny);
    let has_failed = |root: &&RootOutcome| root.errors().next().is_some() || is_refused(root);
    let failed = outcome.roots.iter().filter(has_failed).count();
    let mut lines = install_lines(&reports, outcome.many, style);
    if outcome.many && failed > 0 {
        lines.push(TextLine::new(format!("failed in {}", root_modules(failed))));
    }
    Part::Lines(lines)
}

type InstalledKey<'a> = (&'a ProviderAddr, &'a Version, &'a Platform);

fn key(package: &InstalledPackage) -> InstalledKey<'_> {
    (&package.address, &package.version, &package.platform)
}

fn install_lines(reports: &[&InstallReport], many: bool, style: Style) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let mut states: BTreeMap<(InstalledKey<'_>, InstallState), usize> = BTreeMap::new();
    for package in reports.iter().flat_map(|report| &report.packages) {
        *states.entry((key(package), package.state)).or_default() += 1;
    }
    let checked = reports.iter().any(|report| report.checked);
    for (((address, version, platform), state), count) in &states {
        let is_reported = matches!(state, InstallState::Missing | InstallState::Differs) && checked;
        if is_reported || style.detail == Detail::Verbose {
            let roots = if many { format!("  ({})", root_modules(*count)) } else { String::new() };
            let state = format!(" {version}  {platform}: {}{roots}", state.as_str());
            lines.push(TextLine::default().code(style.addr(address)).plain(state));
        }
    }
    lines.extend(lacking_modules(reports, many));
    for (address, version) in reports.iter().flat_map(|report| &report.removed).collect::<BTreeSet<_>>() {
        lines.push(TextLine::new("- ").code(style.addr(address)).plain(format!(" {version}  removed")));
    }
    lines.extend(summary(reports, many, checked).map(TextLine::new));
    lines.extend(new_modules(reports).map(TextLine::new));
    lines
}

/// `installed 5 providers in 20 root modules: 99.8 MB downloaded, one copy on disk (300 MB)`; or `300 MB copied`, of all root
/// modules together.
fn summary(reports: &[&InstallReport], many: bool, checked: bool) -> Option<String> {
    let with = |wanted: fn(InstallState) -> bool| {
        let packages = reports.iter().flat_map(|report| &report.packages).filter(move |it| wanted(it.state));
        let mut of_roots = 0;
        for report in reports {
            of_roots += usize::from(report.packages.iter().any(|package| wanted(package.state)));
        }
        (packages.map(|package| (key(package), package)).collect::<BTreeMap<_, _>>(), of_roots)
    };
    let in_roots = |count: usize| if many { format!(" in {}", root_modules(count)) } else { String::new() };
    let providers = |packages: &BTreeMap<InstalledKey<'_>, &InstalledPackage>| {
        let count = packages.keys().map(|(address, version, _)| (address, version)).collect::<BTreeSet<_>>().len();
        counted(count, "provider")
    };
    let (lacking, _) = with(|state| !state.is_installed());
    let modules = lacking_in(reports).count();
    if checked && (!lacking.is_empty() || modules > 0) {
        let providers = (!lacking.is_empty()).then(|| providers(&lacking));
        let modules = (modules > 0).then(|| counted(modules, "module"));
        let what: Vec<String> = providers.into_iter().chain(modules).collect();
        let roots = reports.iter().filter(|report| report.lacks_something()).count();
        return Some(format!("not as locked: {}{}", what.join(" and "), in_roots(roots)));
    }
    let (new, roots) = with(|state| matches!(state, InstallState::Installed | InstallState::Replaced));
    if !new.is_empty() {
        let sum = |of: fn(&InstalledPackage) -> u64| new.values().map(|package| of(package)).sum::<u64>();
        let (downloaded, linked) = (sum(|it| it.downloaded), sum(|it| if it.copied { 0 } else { it.bytes }));
        let all = reports.iter().flat_map(|report| &report.packages);
        let copied: u64 = all.filter(|it| it.copied).map(|it| it.bytes).sum();
        let linked = (linked > 0).then(|| format!(", one copy on disk ({})", size(linked)));
        let copied = (copied > 0).then(|| format!(", {} copied", size(copied)));
        let on_disk = [linked, copied].into_iter().flatten().collect::<String>();
        let what = providers(&new);
        return Some(format!("installed {what}{}: {} downloaded{on_disk}", in_roots(roots), size(downloaded)));
    }
    let (present, roots) = with(InstallState::is_installed);
    if present.is_empty() || !lacking.is_empty() {
        return None;
    }
    let verb = if present.len() == 1 { "is" } else { "are" };
    Some(format!("{}{} {verb} installed as locked; nothing to do", providers(&present), in_roots(roots)))
}

/// The modules that are not installed as they are locked.
fn lacking_in<'a>(reports: &[&'a InstallReport]) -> impl Iterator<Item = &'a InstalledModule> {
    let modules = reports.iter().filter_map(|report| report.modules.as_ref()).flat_map(|installed| &installed.modules);
    modules.filter(|module| !module.state.is_installed())
}

/// One line for each of them, with the number of root modules if there are several.
fn lacking_modules(reports: &[&InstallReport], many: bool) -> Vec<TextLine> {
    let mut counts: BTreeMap<(&str, &str, Option<&str>, InstallState), usize> = BTreeMap::new();
    for module in lacking_in(reports) {
        *counts.entry((&module.call, &module.source, module.version.as_deref(), module.state)).or_default() += 1;
    }
    let line = move |((call, source, version, state), count): ((&str, &str, Option<&str>, InstallState), usize)| {
        let roots = if many { format!("  ({})", root_modules(count)) } else { String::new() };
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        TextLine::new(format!("module {call}  {source}{version}: {}{roots}", state.as_str()))
    };
    counts.into_iter().map(line).collect()
}

fn new_modules(reports: &[&InstallReport]) -> Option<String> {
    let all = reports.iter().filter_map(|report| report.modules.as_ref()).flat_map(|installed| &installed.modules);
    let count = all.filter(|module| module.changed).count();
    (count > 0).then(|| format!("installed {}", counted(count, "module")))
}

/// The packages of all root modules, each once, since they share the mirror: a line for each release with new packages,
/// then a line with totals.
pub(super) fn mirror(roots: &[RootOutcome], style: Style) -> Part {
    let mut all: Option<MirrorReport> = None;
    let mut denied: Vec<&Finding> = Vec::new();
    let mut seen: HashMap<PathBuf, usize> = HashMap::new();
    for root in roots {
        let Ok(Body::Mirror(report)) = &root.body else { continue };
        let of_root = root.findings.iter().filter(|finding| finding.level() == Level::Deny);
        denied.extend(
            of_root
                .filter(|finding| denied.iter().all(|known| known.message() != finding.message()))
                .collect::<Vec<_>>(),
        );
        let all =
            all.get_or_insert_with(|| MirrorReport { packages: Vec::new(), failed: Vec::new(), ..report.clone() });
        all.failed.extend(report.failed.iter().cloned());
        for package in &report.packages {
            let at = *seen.entry(package.file.clone()).or_insert(all.packages.len());
            match all.packages.get_mut(at) {
                // Later root modules report a package as present that an earlier one downloaded.
                Some(known) if known.fate == Fate::Present => known.fate = package.fate,
                Some(_) => {}
                None => all.packages.push(package.clone()),
            }
        }
    }
    Part::Lines(all.map(|all| mirror_lines(&all, &denied, style)).unwrap_or_default())
}

fn mirror_lines(report: &MirrorReport, denied: &[&Finding], style: Style) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let of_one_release = |one: &MirroredPackage, other: &MirroredPackage| {
        (&one.address, &one.version, one.fate) == (&other.address, &other.version, other.fate)
    };
    let mut packages: Vec<&MirroredPackage> = report.packages.iter().collect();
    packages.sort_by_key(|package| (&package.address, &package.version, package.fate as u8, &package.platform));
    for same in packages.chunk_by(|one, other| of_one_release(one, other)) {
        if report.checked || same[0].fate == Fate::Present && style.detail < Detail::Verbose {
            continue;
        }
        let platforms: Vec<&str> = same.iter().map(|package| package.platform.as_str()).collect();
        let (addr, version) = (style.addr(&same[0].address), &same[0].version);
        let fate = |fate: &str| format!(" {version}  {fate}: {}", platforms.join(", "));
        let line = TextLine::new("+ ").code(addr);
        lines.push(match same[0].fate {
            Fate::Replaced => line.painted(Paint::Careful, fate("replaced") + " (the file there was not this package)"),
            Fate::Fetched => line.plain(fate("fetched")),
            Fate::Present => line.plain(fate("present")),
        });
    }
    let is_right = |package: &&MirroredPackage| denied.iter().all(|it| it.file.as_ref() != Some(&package.file));
    if report.checked && !denied.is_empty() {
        let right = report.packages.iter().filter(is_right).count();
        let are = if right == 1 { "is" } else { "are" };
        let (right, wrong) = (counted(right, "package"), counted(denied.len(), "problem"));
        lines.push(TextLine::new(format!("{right} in {} {are} right; {wrong} found", shown(&report.directory))));
        return lines;
    }
    let verdict = match (report.checked, !denied.is_empty() || !report.failed.is_empty()) {
        (true, false) => "ok: ",
        (_, true) => "incomplete: ",
        (false, false) => "",
    };
    let total = format!("{verdict}{} in {}", counted(report.packages.len(), "package"), shown(&report.directory));
    let come: Vec<&MirroredPackage> = packages.into_iter().filter(|package| package.fate != Fate::Present).collect();
    let downloaded = match (come.len(), report.packages.len()) {
        _ if report.checked => String::new(),
        (0, 0) => String::new(),
        (0, _) => ", all up to date".to_owned(),
        (fetched, _) => format!(", {fetched} downloaded ({})", size(come.iter().map(|package| package.size).sum())),
    };
    lines.push(TextLine::new(total + &downloaded));
    lines
}

/// One line for each call: its name, its source, and its place.
pub(super) fn modules(used: &[UsedModule]) -> Part {
    let row = |module: &UsedModule| {
        let [call, source, version, locked] = of_call(module);
        [call, source, version, locked, place_of(module)]
    };
    Table::of(["CALL", "SOURCE", "VERSION", "LOCKED", "AT"], used.iter().map(row))
        .map_or_else(|| lines([NO_CALL]), Part::Table)
}

const NO_CALL: &str = "no module from elsewhere is called";

fn of_call(module: &UsedModule) -> [String; 4] {
    let commit = module.commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit));
    let locked = match (module.locked, commit) {
        (Some(true), Some(commit)) => commit,
        (Some(true), None) => "yes",
        (Some(false), _) => "no",
        (None, _) => "-",
    };
    [&*module.call, &*module.source, module.version.as_deref().unwrap_or("-"), locked].map(str::to_owned)
}

fn place_of(module: &UsedModule) -> String {
    format!("{}:{}", shown(&module.file), module.position)
}

/// The calls of several root modules, equal ones once, with the place of those that are in one root module only.
pub(super) fn modules_of_roots(outcome: &Outcome, style: Style) -> Vec<Part> {
    let naming = RootSummary::of(outcome, style);
    let roots = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Modules(used)) => Some((root.path.as_path(), used)),
        _ => None,
    });
    let (with, without): (Vec<_>, Vec<_>) = roots.partition(|(_, used)| !used.is_empty());
    let calls = with.iter().flat_map(|(path, used)| used.iter().map(move |module| (*path, of_call(module), module)));
    let row = |([call, source, version, locked], module, paths): ([String; 4], &UsedModule, Vec<&Path>)| {
        let place = if paths.len() == 1 { place_of(module) } else { String::new() };
        [call, source, version, locked, naming.label(&paths), place]
    };
    let headings = ["CALL", "SOURCE", "VERSION", "LOCKED", "ROOT MODULES", "AT"];
    let table = Table::of(headings, firsts(calls).into_iter().map(row)).map(Part::Table);
    let rest: Vec<&Path> = without.into_iter().map(|(path, _)| path).collect();
    let rest = (!rest.is_empty()).then(|| lines([format!("{NO_CALL}: {}", naming.label(&rest))]));
    table.into_iter().chain(rest).collect()
}

pub(super) fn installed_modules(installed: &InstalledModules) -> Part {
    lines([installed_line(installed, &shown(&installed.path))
        + if installed.modules.is_empty() { "; nothing to do" } else { "" }])
}

/// What is installed in several root modules, equal results once.
pub(super) fn installed_in_roots(outcome: &Outcome, style: Style) -> Part {
    let naming = RootSummary::of(outcome, style);
    let results = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Installed(installed)) => {
            let new = installed.modules.iter().filter(|module| module.changed).count();
            Some((root.path.as_path(), (installed.modules.len(), new), installed))
        }
        _ => None,
    });
    let line = |(_, installed, paths): (_, &InstalledModules, Vec<&Path>)| {
        let roots = naming.label(&paths);
        if installed.modules.is_empty() {
            return format!("{}: {roots}", installed_line(installed, ""));
        }
        installed_line(installed, &if paths.len() > 1 { format!("each of {roots}") } else { roots })
    };
    lines(firsts(results).into_iter().map(line))
}

fn installed_line(installed: &InstalledModules, place: &str) -> String {
    let new = installed.modules.iter().filter(|module| module.changed).count();
    let count = installed.modules.len();
    let modules = counted(count, "module");
    match new {
        0 if count == 0 => "no remote module is called".to_owned(),
        0 => format!("{modules} in {place}, all match the lock; nothing to do"),
        _ => format!("installed {new} of {modules} in {place}; all match the lock"),
    }
}

pub(super) fn module_versions(row: &OutdatedModule) -> [String; 4] {
    let text = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
    let versions = &row.versions;
    [versions.source.clone(), text(&versions.selected), text(&versions.allowed), text(&versions.newest)]
}

/// The constraint that excludes a newer version, optionally with its place.
pub(super) fn module_holder(holder: &ModuleHolder, with_place: bool) -> String {
    let place = if with_place { format!(" ({}:{})", shown(&holder.file), holder.position) } else { String::new() };
    format!("module.{} {}{place}", holder.call, holder.constraint)
}

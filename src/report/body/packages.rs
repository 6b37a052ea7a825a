//! The results of `install`, `mirror`, `get` and `list --modules` for users. Root modules share packages, so they are counted once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::PathBuf;

use crate::addr::ProviderAddr;
use crate::count::counted;
use crate::finding::Level;
use crate::modulelock::{ModuleChange, ModuleChangeKind};
use crate::outcome::{
    Body, Fate, InstallReport, InstallState, InstalledModule, InstalledModules, InstalledPackage, MirrorReport,
    MirroredPackage, ModuleHolder, Outcome, OutdatedModule, RootOutcome, UsedModule,
};
use crate::platform::Platform;
use crate::report::groups::root_modules;
use crate::report::layout::{Paint, Table};
use crate::report::{Detail, Style, printable, shown, size};
use crate::version::Version;

pub(super) fn install(outcome: &Outcome, style: Style) -> String {
    let reports = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Install(report)) => Some(report),
        _ => None,
    });
    let reports: Vec<&InstallReport> = reports.collect();
    if reports.is_empty() { String::new() } else { install_text(&reports, outcome.many, style) }
}

type Key<'a> = (&'a ProviderAddr, &'a Version, &'a Platform);

fn key(package: &InstalledPackage) -> Key<'_> {
    (&package.address, &package.version, &package.platform)
}

fn install_text(reports: &[&InstallReport], many: bool, style: Style) -> String {
    if style.detail == Detail::Quiet {
        return String::new();
    }
    let mut text = String::new();
    let mut states: BTreeMap<(Key<'_>, InstallState), usize> = BTreeMap::new();
    for package in reports.iter().flat_map(|report| &report.packages) {
        *states.entry((key(package), package.state)).or_default() += 1;
    }
    let checked = reports.iter().any(|report| report.checked);
    for (((address, version, platform), state), count) in &states {
        let is_reported = matches!(state, InstallState::Missing | InstallState::Differs) && checked;
        if is_reported || style.detail == Detail::Verbose {
            let roots = if many { format!("  ({})", root_modules(*count)) } else { String::new() };
            // Writing to a string cannot fail, here and below.
            let _ = writeln!(text, "{} {version}  {platform}: {}{roots}", style.addr(address), state.as_str());
        }
    }
    text += &lacking_modules(reports, many);
    for (address, version) in reports.iter().flat_map(|report| &report.removed).collect::<BTreeSet<_>>() {
        let _ = writeln!(text, "- {} {version}  removed", style.addr(address));
    }
    text + &summary(reports, many, checked) + &new_modules(reports)
}

/// `installed 5 providers in 20 root modules: 99.8 MB downloaded, 300 MB on disk once`; or `300 MB copied`, of all root
/// modules together.
fn summary(reports: &[&InstallReport], many: bool, checked: bool) -> String {
    let with = |wanted: fn(InstallState) -> bool| {
        let packages = reports.iter().flat_map(|report| &report.packages).filter(move |it| wanted(it.state));
        let mut of_roots = 0;
        for report in reports {
            of_roots += usize::from(report.packages.iter().any(|package| wanted(package.state)));
        }
        (packages.map(|package| (key(package), package)).collect::<BTreeMap<_, _>>(), of_roots)
    };
    let in_roots = |count: usize| if many { format!(" in {}", root_modules(count)) } else { String::new() };
    let providers = |packages: &BTreeMap<Key<'_>, &InstalledPackage>| {
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
        return format!("not as locked: {}{}\n", what.join(" and "), in_roots(roots));
    }
    let (new, roots) = with(|state| matches!(state, InstallState::Installed | InstallState::Replaced));
    if !new.is_empty() {
        let sum = |of: fn(&InstalledPackage) -> u64| new.values().map(|package| of(package)).sum::<u64>();
        let (downloaded, linked) = (sum(|it| it.downloaded), sum(|it| if it.copied { 0 } else { it.bytes }));
        let all = reports.iter().flat_map(|report| &report.packages);
        let copied: u64 = all.filter(|it| it.copied).map(|it| it.bytes).sum();
        let on_disk = [(linked, "on disk once"), (copied, "copied")].into_iter().filter(|(bytes, _)| *bytes > 0);
        let on_disk = on_disk.fold(String::new(), |text, (bytes, how)| text + ", " + &size(bytes) + " " + how);
        let what = providers(&new);
        return format!("installed {what}{}: {} downloaded{on_disk}\n", in_roots(roots), size(downloaded));
    }
    let (present, roots) = with(InstallState::is_installed);
    if present.is_empty() || !lacking.is_empty() {
        return String::new();
    }
    let verb = if present.len() == 1 { "is" } else { "are" };
    format!("{}{} {verb} installed as locked; nothing to do\n", providers(&present), in_roots(roots))
}

/// The modules that are not installed as they are locked.
fn lacking_in<'a>(reports: &[&'a InstallReport]) -> impl Iterator<Item = &'a InstalledModule> {
    let modules = reports.iter().filter_map(|report| report.modules.as_ref()).flat_map(|installed| &installed.modules);
    modules.filter(|module| !module.state.is_installed())
}

/// One line for each of them, with the number of root modules if there are several.
fn lacking_modules(reports: &[&InstallReport], many: bool) -> String {
    let mut counts: BTreeMap<(&str, &str, Option<&str>, InstallState), usize> = BTreeMap::new();
    for module in lacking_in(reports) {
        *counts.entry((&module.call, &module.source, module.version.as_deref(), module.state)).or_default() += 1;
    }
    counts.into_iter().fold(String::new(), |mut text, ((call, source, version, state), count)| {
        let roots = if many { format!("  ({})", root_modules(count)) } else { String::new() };
        let version = version.map(|version| format!(" {version}")).unwrap_or_default();
        let line = format!("module {call}  {source}{version}: {}{roots}", state.as_str());
        let _ = writeln!(text, "{}", printable(&line));
        text
    })
}

fn new_modules(reports: &[&InstallReport]) -> String {
    let all = reports.iter().filter_map(|report| report.modules.as_ref()).flat_map(|installed| &installed.modules);
    match all.filter(|module| module.changed).count() {
        0 => String::new(),
        count => format!("installed {}\n", counted(count, "module")),
    }
}

/// The packages of all root modules, each once, since they share the mirror: a line for each release with new packages,
/// then a line with totals.
pub(super) fn mirror(roots: &[RootOutcome], style: Style) -> String {
    let mut all: Option<MirrorReport> = None;
    let mut denied = false;
    let mut seen: HashMap<PathBuf, usize> = HashMap::new();
    for root in roots {
        let Ok(Body::Mirror(report)) = &root.body else { continue };
        denied |= root.findings.iter().any(|finding| finding.level == Level::Deny);
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
    all.map(|all| packages(&all, denied, style)).unwrap_or_default()
}

fn packages(report: &MirrorReport, denied: bool, style: Style) -> String {
    let mut text = String::new();
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
        let line = |fate: &str| format!("+ {addr} {version}  {fate}: {}", platforms.join(", "));
        let line = match same[0].fate {
            Fate::Replaced => {
                style.paint(Paint::Careful, line("replaced") + " (the file there was not this package)").to_string()
            }
            Fate::Fetched => line("fetched"),
            Fate::Present => line("present"),
        };
        text.extend([&line, "\n"]);
    }
    let denied = denied || !report.failed.is_empty();
    let verdict = match (report.checked, denied) {
        (true, false) => "ok: ",
        (true, true) => "problems found: ",
        (false, true) => "incomplete: ",
        (false, false) => "",
    };
    let directory = shown(&report.directory);
    // Writing to a string cannot fail, here and below.
    let _ = write!(text, "{verdict}{} in {}", counted(report.packages.len(), "package"), printable(&directory));
    let come: Vec<&MirroredPackage> = packages.into_iter().filter(|package| package.fate != Fate::Present).collect();
    if !report.checked {
        let bytes = come.iter().map(|package| package.size).sum();
        let _ = match (come.len(), report.packages.len()) {
            (0, 0) => Ok(()),
            (0, _) => write!(text, ", all up to date"),
            (fetched, _) => write!(text, ", {fetched} downloaded ({})", size(bytes)),
        };
    }
    text + "\n"
}

/// One line for each package whose lock changed, with the number of root modules if there are several.
pub(in crate::report) fn module_changes<'a>(
    changes: impl IntoIterator<Item = (&'a ModuleChange, usize)>,
    style: Style,
) -> String {
    changes.into_iter().fold(String::new(), |mut text, (change, count)| {
        let (sign, paint) = match change.kind {
            ModuleChangeKind::ContentReplaced => ('!', Paint::Bad),
            ModuleChangeKind::Added => ('+', Paint::Good),
            ModuleChangeKind::Removed => ('-', Paint::Bad),
            ModuleChangeKind::Downgraded => ('~', Paint::Bad),
            ModuleChangeKind::Upgraded | ModuleChangeKind::Moved | ModuleChangeKind::CallsChanged => {
                ('~', Paint::Careful)
            }
        };
        let about = match change.kind {
            ModuleChangeKind::Upgraded | ModuleChangeKind::Downgraded => change.key.source.clone(),
            _ => change.key.to_string(),
        };
        let roots = if count > 1 { format!("  ({})", root_modules(count)) } else { String::new() };
        let (about, sentence) = (printable(&about), change.sentence());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} module {about}  {}{roots}", style.paint(paint, sign), printable(&sentence));
        text
    })
}

/// One line for each call: its name, its source, and its place.
pub(super) fn modules(used: &[UsedModule], style: Style) -> String {
    if used.is_empty() {
        return "no module from elsewhere is called\n".to_owned();
    }
    let row = |module: &UsedModule| {
        let commit = module.commit.as_deref().map(|commit| commit.get(..12).unwrap_or(commit));
        let locked = match (module.locked, commit) {
            (Some(true), Some(commit)) => commit,
            (Some(true), None) => "yes",
            (Some(false), _) => "no",
            (None, _) => "-",
        };
        let place = format!("{}:{}", shown(&module.file), module.position);
        let version = module.version.as_deref().unwrap_or("-");
        [&*module.call, &*module.source, version, locked, &*place].map(|cell| printable(cell).into_owned())
    };
    let rows: Vec<[String; 5]> = used.iter().map(row).collect();
    Table { headings: ["CALL", "SOURCE", "VERSION", "LOCKED", "AT"], rows }.text(style)
}

pub(super) fn installed_modules(installed: &InstalledModules) -> String {
    let new = installed.modules.iter().filter(|module| module.changed).count();
    let count = installed.modules.len();
    let modules = counted(count, "module");
    let place = shown(&installed.path);
    let place = printable(&place);
    match new {
        0 if count == 0 => "no remote module is called; nothing to do\n".to_owned(),
        0 => format!("{modules} in {place}, all match the lock; nothing to do\n"),
        _ => format!("installed {new} of {modules} in {place}; all match the lock\n"),
    }
}

pub(super) fn module_versions(row: &OutdatedModule) -> [String; 4] {
    let text = |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
    let versions = &row.versions;
    let cells = [versions.source.clone(), text(&versions.selected), text(&versions.allowed), text(&versions.newest)];
    cells.map(|cell| printable(&cell).into_owned())
}

/// The constraint that excludes a newer version, optionally with its place.
pub(super) fn module_holder(holder: &ModuleHolder, with_place: bool) -> String {
    let place = if with_place { format!(" ({}:{})", shown(&holder.file), holder.position) } else { String::new() };
    printable(&format!("module.{} {}{place}", holder.call, holder.constraint)).into_owned()
}

//! The result of `install` for users: one line for all root modules, since they share each package.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::addr::ProviderAddr;
use crate::count::counted;
use crate::outcome::{Body, InstallReport, InstallState, InstalledModule, InstalledPackage, Outcome};
use crate::platform::Platform;
use crate::report::groups::root_modules;
use crate::report::{Detail, Style, printable, size};
use crate::version::Version;

pub(super) fn install(outcome: &Outcome, style: Style) -> String {
    let reports = outcome.roots.iter().filter_map(|root| match &root.body {
        Ok(Body::Install(report)) => Some(report),
        _ => None,
    });
    let reports: Vec<&InstallReport> = reports.collect();
    if reports.is_empty() { String::new() } else { text(&reports, outcome.many, style) }
}

type Key<'a> = (&'a ProviderAddr, &'a Version, &'a Platform);

fn key(package: &InstalledPackage) -> Key<'_> {
    (&package.address, &package.version, &package.platform)
}

fn text(reports: &[&InstallReport], many: bool, style: Style) -> String {
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
    text + &summary(reports, many, checked) + &modules(reports)
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

fn modules(reports: &[&InstallReport]) -> String {
    let all = reports.iter().filter_map(|report| report.modules.as_ref()).flat_map(|installed| &installed.modules);
    match all.filter(|module| module.changed).count() {
        0 => String::new(),
        count => format!("installed {}\n", counted(count, "module")),
    }
}

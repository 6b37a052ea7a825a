//! The results of `status`, in at most 15 lines, and of `setup`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::count::{counted, first_of};
use crate::outcome::{NextStep, SetupReport, SetupState, Status, StatusProvider};
use crate::report::paint::Paint;
use crate::report::{Style, printable, shown};

/// How many providers have a line of their own.
const MOST_PROVIDERS: usize = 5;

/// How many root modules, files and providers a line names.
const MOST_NAMED: usize = 3;

// Writing to a string cannot fail, here and below.
pub(super) fn status(status: &Status, style: Style) -> String {
    let mut text = String::new();
    let mut line = |label: &str, words: String| {
        let label = style.paint(Paint::Strong, format!("{label:<12}"));
        let _ = writeln!(text, "{label}  {words}");
    };
    line("root modules", root_modules(status));
    line("providers", providers(status));
    for provider in several_versions(status) {
        line("", versions(provider, style));
    }
    line("platforms", platforms(status));
    line("signers", signers(status, style));
    line("gate", gate(status));
    if let Some(changed) = &status.changed_files {
        line("changes", changes(changed));
    }
    let NextStep { command, effect } = &status.next;
    line("next", format!("`{}` {effect}", printable(command)));
    text
}

pub(super) fn setup(report: &SetupReport) -> String {
    let mut text = String::new();
    for file in &report.files {
        let state = match (file.state, report.dry_run) {
            (SetupState::Created, false) => "created",
            (SetupState::Created, true) => "would be created",
            (SetupState::Extended, false) => "extended",
            (SetupState::Extended, true) => "would be extended",
            (SetupState::Kept, _) => "is there",
        };
        let _ = writeln!(text, "{}: {state}", printable(&shown(&file.path)));
        for line in file.text.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    let written = report.files.iter().any(|file| file.state != SetupState::Kept) && !report.dry_run;
    let commit = if written { "; then commit these files with the lock files" } else { "" };
    let _ = writeln!(text, "next: `{}` completes the lock files and remembers signers{commit}", report.next);
    text
}

fn root_modules(status: &Status) -> String {
    let mut words = status.root_modules.to_string();
    for (state, paths) in [("without a lock file", &status.without_lock_file), ("unreadable", &status.unreadable)] {
        if !paths.is_empty() {
            let _ = write!(words, "; {} {state}: {}", paths.len(), named(paths));
        }
    }
    words
}

fn providers(status: &Status) -> String {
    let count = status.providers.len();
    let several = status.providers.iter().filter(|provider| provider.versions.len() > 1).count();
    match (count, several) {
        (0, _) => "none locked".to_owned(),
        (_, 0) if status.root_modules > 1 => format!("{count}, each in one version"),
        (_, 0) => count.to_string(),
        _ => format!("{count}, {several} of them in several versions"),
    }
}

/// Those with the most versions first.
fn several_versions(status: &Status) -> impl Iterator<Item = &StatusProvider> {
    let mut several: Vec<&StatusProvider> =
        status.providers.iter().filter(|provider| provider.versions.len() > 1 || status.root_modules == 1).collect();
    several.sort_by_key(|provider| Reverse(provider.versions.len()));
    several.into_iter().take(MOST_PROVIDERS)
}

fn versions(provider: &StatusProvider, style: Style) -> String {
    let count = provider.versions.len();
    let mut newest: Vec<String> = provider
        .versions
        .iter()
        .rev()
        .map(|(version, roots)| match count {
            1 => version.to_string(),
            _ => format!("{version} in {roots}"),
        })
        .collect();
    if count > MOST_NAMED {
        newest.truncate(MOST_NAMED);
        newest.push(format!("{} more", count - MOST_NAMED));
    }
    format!("{} {}", style.addr(&provider.address), newest.join(", "))
}

fn platforms(status: &Status) -> String {
    let Some(wanted) = &status.platforms else {
        return "no settings name any".to_owned();
    };
    let mut words = wanted.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    for (platform, paths) in status.missing_platforms.iter().take(MOST_NAMED) {
        let _ = match (paths.len(), status.root_modules) {
            (_, 1) => write!(words, "; {platform} is missing"),
            (some, all) if some == all => write!(words, "; {platform} is missing in all root modules"),
            (count, _) => write!(words, "; {platform} is missing in {count}: {}", named(paths)),
        };
    }
    words
}

fn signers(status: &Status, style: Style) -> String {
    let unknown: Vec<String> = status.not_remembered.iter().map(|addr| style.addr(addr)).collect();
    match (unknown.len(), status.trust_file) {
        (0, true) => "all remembered".to_owned(),
        (0, false) => "none to remember".to_owned(),
        (_, false) => "none remembered: there is no trust file".to_owned(),
        (count, true) => format!("{count} not remembered: {}", first_of(&unknown, MOST_NAMED)),
    }
}

/// What `verify` finds without the network.
fn gate(status: &Status) -> String {
    if status.denied.is_empty() && status.warned.is_empty() {
        return "nothing to report without the network".to_owned();
    }
    let rules = |counts: &BTreeMap<&str, usize>| {
        let rules = counts.iter().map(|(rule, count)| match status.root_modules {
            1 => (*rule).to_owned(),
            _ => format!("{rule} in {count}"),
        });
        first_of(&rules.collect::<Vec<_>>(), MOST_NAMED)
    };
    let denied = (!status.denied.is_empty()).then(|| format!("denied: {}", rules(&status.denied)));
    let warned = (!status.warned.is_empty()).then(|| format!("warned of: {}", rules(&status.warned)));
    denied.into_iter().chain(warned).collect::<Vec<_>>().join("; ")
}

fn changes(files: &[String]) -> String {
    match files.len() {
        0 => "none since the last commit".to_owned(),
        count => format!("{} since the last commit: {}", counted(count, "file"), named(files)),
    }
}

fn named(names: &[String]) -> String {
    first_of(&names.iter().map(|name| printable(name)).collect::<Vec<_>>(), MOST_NAMED)
}

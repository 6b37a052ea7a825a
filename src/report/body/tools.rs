//! The results of commands about files, git, the cache and the trust file, and of `status` and `setup`, for users.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::addr::{AddrPattern, ProviderAddr};
use crate::count::{counted, first_of};
use crate::dialect::Dialect;
use crate::outcome::{
    CacheReport, FormattedFile, Generated, GitReport, HashLine, NextStep, SetupReport, SetupState, Status,
    StatusProvider, TrustReport,
};
use crate::report::layout::{Paint, flow, rows};
use crate::report::summary::counted_hashes;
use crate::report::{Style, printable, shown, size};
use crate::trust::Fingerprint;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Pins, Retired, Signer};
use crate::trust::publishers::{Publisher, PublisherKey, publisher};

// Writing to a string cannot fail, here and below.
pub(super) fn formatted(files: &[FormattedFile]) -> String {
    files.iter().fold(String::new(), |mut text, file| {
        match &file.text {
            Some(canonical) => text.push_str(canonical),
            None if file.changed && file.path.as_os_str() != "-" => {
                let _ = writeln!(text, "{}", printable(&shown(&file.path)));
            }
            None => {}
        }
        text
    })
}

pub(super) fn hashes(lines: &[HashLine]) -> String {
    lines.iter().fold(String::new(), |mut text, HashLine { hash, path }| {
        let _ = writeln!(text, "{hash}  {}", printable(&shown(path)));
        text
    })
}

pub(super) fn cache(report: &CacheReport) -> String {
    match report {
        CacheReport::Directory { directory } => format!("{}\n", shown(directory)),
        CacheReport::Stats { directory, stats } => format!(
            "directory  {}\nhashes     {} computed here, {} imported\ndocuments  {}\nreleases   {}\nmodules    {}\npackages   {}\nsize       {}\n",
            shown(directory),
            stats.computed,
            stats.imported,
            stats.documents,
            stats.releases,
            stats.modules,
            stats.packages,
            size(stats.bytes)
        ),
        CacheReport::Exported { text: Some(text), .. } => text.clone(),
        CacheReport::Exported { file, entries, text: None } => {
            format!("exported {} to {}\n", counted_hashes(*entries), printable(&shown(file)))
        }
        CacheReport::Published { index, news, known } => {
            let records = counted(*news, "record");
            format!("published {records} to {}; {known} were there\n", printable(index))
        }
        CacheReport::Imported { imported, known, .. } => {
            format!("imported {}; {known} known before\n", counted_hashes(*imported))
        }
        CacheReport::Pruned { files, bytes } => format!("removed {files} files, {}\n", size(*bytes)),
    }
}

pub(super) fn git(reports: &[GitReport]) -> String {
    const CLONE: &str = "the git configuration of this clone";
    reports.iter().fold(String::new(), |mut text, report| {
        match report {
            GitReport::Installed(true) => {
                let _ = writeln!(text, "set: {CLONE} and .gitattributes");
                text.push_str(
                    "commit .gitattributes; everyone who merges runs `tflock git install` in their own clone\n",
                );
            }
            GitReport::Installed(false) => {
                let _ = writeln!(text, "set: {CLONE}; .gitattributes has the lines already");
            }
            GitReport::Uninstalled { attributes: true, .. } => {
                let _ = writeln!(text, "removed from {CLONE} and .gitattributes: commit that file");
            }
            GitReport::Uninstalled { attributes: false, clone: true } => {
                let _ = writeln!(text, "removed from {CLONE}; .gitattributes lacks the lines");
            }
            GitReport::Uninstalled { attributes: false, clone: false } => {
                text.push_str("nothing was installed\n");
            }
            GitReport::Status(settings) => settings.iter().for_each(|setting| {
                let _ = writeln!(text, "{setting}");
            }),
        }
        text
    })
}

pub(super) fn generated(generated: &Generated) -> String {
    match generated {
        Generated::Script(text) | Generated::Page(text) => text.clone(),
        Generated::Version(version) => format!("tflock {version}\n"),
        Generated::Schema(text) => (*text).to_owned(),
    }
}

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

pub(super) fn trust(report: &TrustReport, style: Style) -> String {
    let pins = &report.pins;
    let mut lines: Vec<[String; 4]> = Vec::new();
    for (pattern, pin) in &pins.providers {
        lines.extend(pin_lines(pattern, pin, &report.names));
    }
    let (shared, mut lines) = if report.looked_up { shared(lines) } else { (Vec::new(), lines) };
    for (key, reason) in &pins.denied {
        lines.push(line("denied", key.as_str(), "", reason));
    }
    for (republication, reason) in &pins.republished {
        let about = format!("{} {}", style.addr(&republication.address), republication.version);
        lines.push(line("republished", &about, &format!("accepted {}", republication.date), reason));
    }
    let mut text = shared.iter().map(|lines| signer_of_several(lines, style)).collect::<String>();
    text.push_str(&rows(if report.forgotten { "- " } else { "" }, &lines, style));
    let path = shown(&report.path);
    let path = printable(&path);
    // Writing to a string cannot fail.
    let _ = match (report.changed, report.forgotten) {
        (None, _) if pins.is_empty() => writeln!(text, "{path} remembers no signer"),
        (None, _) => Ok(()),
        (Some(true), true) => writeln!(text, "forgotten; review and commit {path}"),
        (Some(true), false) if report.looked_up => {
            text.push_str(&announcements(pins));
            writeln!(text, "compare each fingerprint with what its publisher announces, then review and commit {path}")
        }
        (Some(true), false) => writeln!(text, "review and commit {path}"),
        (Some(false), _) => writeln!(text, "{path} was not changed"),
    };
    text
}

/// Separates the lines of signers of several providers, by signer, from the others.
fn shared(lines: Vec<[String; 4]>) -> (Vec<Vec<[String; 4]>>, Vec<[String; 4]>) {
    let mut same: BTreeMap<[String; 3], Vec<[String; 4]>> = BTreeMap::new();
    for line in &lines {
        same.entry([line[1].clone(), line[2].clone(), line[3].clone()]).or_default().push(line.clone());
    }
    same.retain(|_, lines| lines.len() > 1);
    let others = lines.into_iter().filter(|line| !same.values().flatten().any(|other| other == line)).collect();
    let mut same: Vec<_> = same.into_values().collect();
    // By provider; the order of fingerprints says nothing.
    same.sort();
    (same, others)
}

/// One signer with the providers that it signs for.
fn signer_of_several(lines: &[[String; 4]], style: Style) -> String {
    let [_, signer, scope, identity] = &lines[0];
    let names: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    rows("", &[[signer.clone(), scope.clone(), identity.clone()]], style)
        + &format!("    {}\n", flow(4, &names.join(", "), style))
}

fn pin_lines(pattern: &AddrPattern, pin: &Pin, names: &Identities) -> Vec<[String; 4]> {
    let identity = |signer: &Signer| {
        let key = signer.key()?;
        let known = known(pattern, key).map(|(publisher, _)| format!("{}, well-known key", publisher.name));
        known.or_else(|| names.get(key).map(ToString::to_string))
    };
    let pattern = &pattern.to_string();
    let accepted = pin.signers.iter();
    let accepted = accepted.map(|signer| {
        let known = [identity(signer), pin.reasons.get(signer).cloned()];
        line(pattern, &name(signer), "for all versions", &known.into_iter().flatten().collect::<Vec<_>>().join("; "))
    });
    let retired = pin.retired.iter().map(|(signer, Retired { versions, reason })| {
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        line(
            pattern,
            &name(signer),
            &format!("for {} only", versions.join(", ")),
            reason.as_deref().unwrap_or_default(),
        )
    });
    accepted.chain(retired).collect()
}

/// The publisher of providers whose well-known key it is, and where to compare it.
fn known(pattern: &AddrPattern, key: &Fingerprint) -> Option<(&'static Publisher, &'static PublisherKey)> {
    let addr = ProviderAddr::parse(&pattern.to_string(), Dialect::Terraform).ok()?;
    let publisher = publisher(&addr)?;
    Some((publisher, publisher.key(key)?))
}

/// Where the well-known publishers of the remembered signers can be looked up.
fn announcements(pins: &Pins) -> String {
    let pairs =
        pins.providers.iter().flat_map(|(pattern, pin)| pin.signers.iter().map(move |signer| (pattern, signer)));
    let found = pairs.filter_map(|(pattern, signer)| known(pattern, signer.key()?));
    let pages: BTreeSet<(&str, &str)> = found.map(|(publisher, key)| (publisher.name, key.source)).collect();
    // A URL is never wrapped.
    pages.into_iter().map(|(name, page)| format!("key of {name}: {page}\n")).collect()
}

fn name(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => key.to_string(),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

fn line(first: &str, second: &str, third: &str, fourth: &str) -> [String; 4] {
    [first, second, third, fourth].map(|cell| printable(cell).into_owned())
}

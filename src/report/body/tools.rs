//! The results of commands about files, git, the cache and the trust file, and of `status` and `setup`, for users.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::addr::{AddrPattern, ProviderAddr};
use crate::dialect::Dialect;
use crate::outcome::{
    AttributeLines, CacheReport, FormattedFile, Generated, GitReport, HashLine, NextStep, SetupReport, SetupState,
    Status, TrustReport,
};
use crate::report::layout::Table;
use crate::report::parts::{Part, TextLine, lines};
use crate::report::style::{Paint, Style};
use crate::report::summary::counted_hashes;
use crate::report::{groups, shown, size};
use crate::trust::Fingerprint;
use crate::trust::openpgp::Identities;
use crate::trust::pins::{Pin, Pins, Retired, Signer};
use crate::trust::publishers::{Publisher, PublisherKey, publisher};
use crate::version::Version;
use crate::words::{counted, first_of};

pub(super) fn formatted(files: &[FormattedFile]) -> Vec<Part> {
    let part = |file: &FormattedFile| match &file.text {
        Some(canonical) => Some(Part::Code(canonical.clone())),
        None if file.changed && file.path.as_os_str() != "-" => {
            Some(Part::Lines(vec![TextLine::default().code(shown(&file.path))]))
        }
        None => None,
    };
    files.iter().filter_map(part).collect()
}

pub(super) fn hashes(lines: &[HashLine]) -> Part {
    let line =
        |HashLine { hash, path }: &HashLine| TextLine::default().code(hash.to_string()).plain("  ").code(shown(path));
    Part::Lines(lines.iter().map(line).collect())
}

pub(super) fn cache(report: &CacheReport) -> Part {
    match report {
        CacheReport::Directory { directory } => Part::Lines(vec![TextLine::default().code(shown(directory))]),
        CacheReport::Stats { directory, stats } => {
            let rows = [
                ("directory", shown(directory)),
                ("hashes", format!("{} computed here, {} imported", stats.computed, stats.imported)),
                ("documents", stats.documents.to_string()),
                ("releases", stats.releases.to_string()),
                ("modules", stats.modules.to_string()),
                ("packages", stats.packages.to_string()),
                ("size", size(stats.bytes)),
            ];
            Part::Table(Table::of_rows("", rows.map(|(label, value)| [label.to_owned(), value])))
        }
        CacheReport::Exported { text: Some(text), .. } => Part::Code(text.clone()),
        CacheReport::Exported { file, entries, text: None } => {
            lines([format!("exported {} to {}", counted_hashes(*entries), shown(file))])
        }
        CacheReport::Published { index, news, known } => {
            lines([format!("published {} to {index}; {known} were there", counted(*news, "record"))])
        }
        CacheReport::Imported { imported, known, .. } => {
            lines([format!("imported {}; {known} known before", counted_hashes(*imported))])
        }
        CacheReport::Pruned { files, bytes } => lines([format!("removed {files} files, {}", size(*bytes))]),
    }
}

pub(super) fn git(reports: &[GitReport]) -> Part {
    const CLONE: &str = "the git configuration of this clone";
    let of_report = |report: &GitReport| match report {
        GitReport::Installed(true) => vec![
            format!("set: {CLONE} and .gitattributes"),
            "commit .gitattributes; everyone who merges runs `tflock git install` in their own clone".to_owned(),
        ],
        GitReport::Installed(false) => vec![format!("{CLONE}: set; .gitattributes: already complete")],
        GitReport::Uninstalled { attributes: AttributeLines::Removed, .. } => {
            vec![format!("removed from {CLONE} and .gitattributes")]
        }
        GitReport::Uninstalled { attributes: AttributeLines::Committed, .. } => {
            vec![format!("removed from {CLONE}; the lines of .gitattributes are committed and stay, for every clone")]
        }
        GitReport::Uninstalled { attributes: AttributeLines::Absent, clone: true } => {
            vec![format!("removed from {CLONE}; .gitattributes lacks the lines")]
        }
        GitReport::Uninstalled { attributes: AttributeLines::Absent, clone: false } => {
            vec!["nothing was installed".to_owned()]
        }
        GitReport::Status(settings) => settings.iter().map(ToString::to_string).collect(),
    };
    lines(reports.iter().flat_map(of_report))
}

pub(super) fn generated(generated: &Generated) -> Part {
    match generated {
        Generated::Script(text) | Generated::Page(text) => Part::Code(text.clone()),
        Generated::Version(version) => lines([format!("tflock {version}")]),
        Generated::Schema(text) => Part::Code((*text).to_owned()),
    }
}

/// How many providers have a line of their own.
const MOST_PROVIDERS: usize = 5;

/// How many root modules, files and providers a line names.
const MOST_NAMED: usize = 3;

pub(super) fn status(status: &Status, style: Style) -> Part {
    let mut rows = vec![("root modules", root_modules(status)), ("providers", providers(status))];
    rows.extend(several_versions(status).map(|(address, locked)| ("", versions(address, locked, style))));
    rows.extend([("platforms", platforms(status)), ("signers", signers(status, style)), ("gate", gate(status))]);
    rows.extend(status.changed_files.iter().map(|changed| ("changes", changes(changed, status.has_no_commit))));
    let NextStep { command, effect } = &status.next;
    rows.push(("next", format!("`{command}` {effect}")));
    let unread: BTreeSet<&String> = status.requirements_unread.iter().chain(&status.unreadable).collect();
    let unread: Vec<String> = unread.into_iter().cloned().collect();
    if !unread.is_empty() {
        let (all, read) = (status.root_modules, status.root_modules - unread.len());
        rows.push((
            "requirements",
            format!("checked in {read} of {}, not in {}", counted(all, "root module"), named(&unread)),
        ));
    }
    let line =
        |(label, words)| TextLine::default().painted(Paint::Strong, format!("{label:<12}")).plain("  ").plain(words);
    Part::Lines(rows.into_iter().map(line).collect())
}

pub(super) fn setup(report: &SetupReport) -> Part {
    let mut lines = Vec::new();
    for file in &report.files {
        let state = match (file.state, report.dry_run) {
            (SetupState::Created, false) => "created",
            (SetupState::Created, true) => "would be created",
            (SetupState::Extended, false) => "extended",
            (SetupState::Extended, true) => "would be extended",
            (SetupState::Kept, _) => "unchanged",
        };
        lines.push(TextLine::default().code(shown(&file.path)).plain(format!(": {state}")));
        lines.extend(file.text.lines().map(|line| TextLine::default().code(line).indented(2)));
    }
    let written = report.files.iter().any(|file| file.state != SetupState::Kept) && !report.dry_run;
    let commit = if written { "; then commit these files with the lock files" } else { "" };
    lines.push(TextLine::new(match &report.next {
        Some(next) => format!("next: `{next}` completes the lock files and remembers signers{commit}"),
        None => "there is nothing to lock here yet".to_owned(),
    }));
    Part::Lines(lines)
}

fn root_modules(status: &Status) -> String {
    let mut words = format!("{}{}{}", status.root_modules, status.not_counted, groups::among(&status.kinds));
    for (state, paths) in [("without a lock file", &status.without_lock_file), ("unreadable", &status.unreadable)] {
        if !paths.is_empty() {
            let _ = write!(words, "; {} {state}: {}", paths.len(), named(paths));
        }
    }
    words
}

fn providers(status: &Status) -> String {
    let count = status.providers.len();
    let several = status.providers.values().filter(|versions| versions.len() > 1).count();
    match (count, several) {
        (0, _) => "none locked".to_owned(),
        (_, 0) if status.root_modules > 1 => format!("{count}, each in one version"),
        (_, 0) => count.to_string(),
        _ => format!("{count}, {several} of them in several versions"),
    }
}

/// Those with the most versions first.
fn several_versions(status: &Status) -> impl Iterator<Item = (&ProviderAddr, &BTreeMap<Version, usize>)> {
    let several = status.providers.iter().filter(|(_, versions)| versions.len() > 1 || status.root_modules == 1);
    let mut several: Vec<_> = several.collect();
    several.sort_by_key(|(_, versions)| Reverse(versions.len()));
    several.into_iter().take(MOST_PROVIDERS)
}

fn versions(address: &ProviderAddr, versions: &BTreeMap<Version, usize>, style: Style) -> String {
    let count = versions.len();
    let mut newest: Vec<String> = versions
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
    format!("{} {}", style.addr(address), newest.join(", "))
}

fn platforms(status: &Status) -> String {
    let Some(wanted) = &status.platforms else {
        return format!("not set ({})", status.set_platforms);
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
        (0, true) if !status.providers.is_empty() => "all remembered".to_owned(),
        (0, _) => "none to remember".to_owned(),
        (_, false) => "none remembered: there is no trust file".to_owned(),
        (count, true) => format!("{count} not remembered: {}", first_of(&unknown, MOST_NAMED)),
    }
}

/// What `verify` finds without the network.
fn gate(status: &Status) -> String {
    let rules = |counts: &BTreeMap<&str, usize>| {
        let rules = counts.iter().map(|(rule, count)| match status.root_modules {
            1 => (*rule).to_owned(),
            _ => format!("{rule} in {}", groups::root_modules(*count)),
        });
        first_of(&rules.collect::<Vec<_>>(), MOST_NAMED)
    };
    let (open, unreadable) = (status.not_checked.len(), !status.unreadable.is_empty());
    let parts = [
        (!status.denied.is_empty()).then(|| format!("denied: {}", rules(&status.denied))),
        (!status.warned.is_empty()).then(|| format!("warnings: {}", rules(&status.warned))),
        unreadable.then(|| format!("{} not checked: unreadable", groups::root_modules(status.unreadable.len()))),
        (open > 0).then(|| format!("{} not checked: `verify` says why", groups::root_modules(open))),
        (status.unknown_hashes > 0).then(|| format!("{} never checked", counted_hashes(status.unknown_hashes))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "offline checks pass".to_owned() } else { parts.join("; ") }
}

fn changes(files: &[String], has_no_commit: bool) -> String {
    match (files.len(), has_no_commit) {
        (0, false) => "none since the last commit".to_owned(),
        (0, true) => "no commit yet".to_owned(),
        (count, false) => format!("{} since the last commit: {}", counted(count, "file"), named(files)),
        (count, true) => format!("no commit yet; {} to commit: {}", counted(count, "file"), named(files)),
    }
}

fn named(names: &[String]) -> String {
    first_of(names, MOST_NAMED)
}

pub(super) fn trust(report: &TrustReport, style: Style) -> Vec<Part> {
    let pins = &report.pins;
    let mut rows: Vec<[String; 4]> = Vec::new();
    for (pattern, pin) in &pins.providers {
        rows.extend(pin_lines(pattern, pin, &report.names));
    }
    let (shared, mut rows) = if report.looked_up { shared(rows) } else { (Vec::new(), rows) };
    for (key, reason) in &pins.denied {
        rows.push(line("denied", key.as_str(), "", reason));
    }
    for (republication, reason) in &pins.republished {
        let about = format!("{} {}", style.addr(&republication.address), republication.version);
        rows.push(line("republished", &about, &format!("accepted {}", republication.date), reason));
    }
    let mut parts: Vec<Part> = shared.iter().flat_map(|lines| signer_of_several(lines)).collect();
    parts.push(Part::Table(Table::of_rows(if report.forgotten { "- " } else { "" }, rows)));
    let path = shown(&report.path);
    let conclusion = match (report.changed, report.forgotten) {
        (None, _) if pins.is_empty() => Some(format!("{path} remembers no signer")),
        (None, _) => None,
        (Some(true), true) => Some(format!("forgotten; review and commit {path}")),
        (Some(true), false) if report.looked_up => {
            parts.push(Part::Lines(announcements(pins)));
            Some(format!("compare each fingerprint with what its publisher announces, then review and commit {path}"))
        }
        (Some(true), false) => Some(format!("review and commit {path}")),
        (Some(false), _) => Some(format!("{path} was not changed")),
    };
    parts.push(lines(conclusion));
    parts
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
fn signer_of_several(lines: &[[String; 4]]) -> [Part; 2] {
    let [_, signer, scope, identity] = &lines[0];
    let names: Vec<&str> = lines.iter().map(|line| line[0].as_str()).collect();
    [
        Part::Table(Table::of_rows("", [[signer.clone(), scope.clone(), identity.clone()]])),
        Part::Lines(vec![TextLine::new(names.join(", ")).indented(4)]),
    ]
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
    let built = pin
        .built_by
        .iter()
        .map(|place| line(pattern, &format!("built by {place}"), "", place.reason.as_deref().unwrap_or_default()));
    accepted.chain(retired).chain(built).collect()
}

/// The publisher of providers whose well-known key it is, and where to compare it.
fn known(pattern: &AddrPattern, key: &Fingerprint) -> Option<(&'static Publisher, &'static PublisherKey)> {
    let addr = ProviderAddr::parse(&pattern.to_string(), Dialect::Terraform).ok()?;
    let publisher = publisher(&addr)?;
    Some((publisher, publisher.key(key)?))
}

/// Where the well-known publishers of the remembered signers can be looked up.
fn announcements(pins: &Pins) -> Vec<TextLine> {
    let pairs =
        pins.providers.iter().flat_map(|(pattern, pin)| pin.signers.iter().map(move |signer| (pattern, signer)));
    let found = pairs.filter_map(|(pattern, signer)| known(pattern, signer.key()?));
    let pages: BTreeSet<(&str, &str)> = found.map(|(publisher, key)| (publisher.name, key.source)).collect();
    // A URL is never wrapped.
    pages.into_iter().map(|(name, page)| TextLine::new(format!("key of {name}: ")).code(page)).collect()
}

fn name(signer: &Signer) -> String {
    match signer {
        Signer::Key(key) => key.to_string(),
        Signer::Unsigned => "not signed".to_owned(),
    }
}

fn line(first: &str, second: &str, third: &str, fourth: &str) -> [String; 4] {
    [first, second, third, fourth].map(str::to_owned)
}

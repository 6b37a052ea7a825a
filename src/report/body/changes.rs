//! The changes of `lock` and related commands for users.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::diff::{AddedHash, Change, ChangeKind, Standing};
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::outcome::{Body, Changes, Need, RootOutcome, TrustChange};
use crate::platform::Platform;
use crate::report::change::{checksums, sign, signed_by_name, versions};
use crate::report::groups::{RootSummary, root_modules, shared_items};
use crate::report::layout::{flow, width};
use crate::report::problems::helps;
use crate::report::style::{Detail, Paint, Painted, Style};
use crate::report::{printable, shown};
use crate::trust::Evidence;
use crate::trust::pins::Signer;
use crate::trust::publishers::publisher;
use crate::trust::signer::signed_by;
use crate::words::nonzero;

/// Root modules with their changes.
pub(super) type MadeChanges<'a> = [(&'a RootOutcome, &'a Changes)];

/// Each change once, with the signers of releases that are new to a file: those of several root modules at the top.
pub(super) fn items(made: &MadeChanges<'_>, naming: RootSummary, style: Style) -> String {
    let mut lines: Vec<(&Path, (Option<&ProviderAddr>, ChangeItem))> = Vec::new();
    let constrained = constrained(made);
    for (root, changes) in made {
        for change in &changes.changes {
            let of_all = constrained.get(&(&change.address, versions(change))).map_or(&[][..], |texts| texts);
            let mut item = item(change, one_text(of_all), style);
            if let Some(signed) = signed_by_name(change, style).filter(|_| !naming.many) {
                let signed = signer(flow(4, &printable(&signed), style), is_signed(change), style);
                item.hashes.insert_str(0, &format!("    {signed}\n"));
            }
            lines.push((&root.path, (Some(&change.address), item)));
        }
        if naming.many && changes.changed && changes.changes.is_empty() && changes.edited.is_empty() {
            lines.push((&root.path, (None, ChangeItem::of_text())));
        }
    }
    let mut lines = shared_items(lines);
    let mut text = String::new();
    if naming.many {
        lines.sort_by_key(|((address, _), _)| *address);
        text.push_str(&signers(made, style));
    }
    text.extend(lines.into_iter().map(|((_, item), paths)| behind(&item, (naming, &paths), style)));
    text
}

/// How the constraints of each release changed, in each root module.
fn constrained<'a>(made: &MadeChanges<'a>) -> HashMap<(&'a ProviderAddr, String), Vec<Option<String>>> {
    let mut texts: HashMap<_, Vec<Option<String>>> = HashMap::new();
    for change in made.iter().flat_map(|(_, changes)| &changes.changes) {
        texts.entry((&change.address, versions(change))).or_default().push(constraints(change));
    }
    texts
}

/// One text for all root modules, where their constraints may differ.
fn one_text(of_all: &[Option<String>]) -> Option<String> {
    let first = of_all.first()?;
    if of_all.iter().all(|text| text == first) {
        return first.clone();
    }
    let changed = of_all.iter().flatten().count();
    Some(format!("constraints changed in {}", root_modules(changed)))
}

/// The changes of the trust file, and the diffs of the files.
pub(super) fn besides(made: &MadeChanges<'_>, naming: RootSummary, style: Style) -> String {
    let learned = made.iter().flat_map(|(root, changes)| {
        let lines = changes.trust.iter().flat_map(|trust| learned(trust, style));
        lines.map(|line| (root.path.as_path(), line))
    });
    let mut text = remembered(made, style);
    text.extend(shared_items(learned).into_iter().map(|(line, _)| line + "\n"));
    let diffs = made.iter().filter_map(|(root, changes)| {
        // Of many lock files the lines above say what matters.
        let is_shown = !naming.many || style.detail == Detail::Verbose || !changes.edited.is_empty();
        let diff = changes.diff.as_deref().filter(|diff| is_shown && !diff.is_empty())?;
        // Each of several files must be named.
        Some((root.path.as_path(), if naming.many && changes.edited.is_empty() { without_names(diff) } else { diff }))
    });
    for (diff, paths) in shared_items(diffs) {
        // Writing to a string cannot fail, here and below.
        if naming.many {
            let _ = writeln!(text, "{}:", naming.label(&paths));
        }
        for line in diff.lines() {
            let _ = writeln!(text, "{}", painted(&printable(line), style));
        }
    }
    text
}

/// An item with its root modules at the end of the line; with -v every name is below.
fn behind(item: &ChangeItem, (naming, paths): (RootSummary, &[&Path]), style: Style) -> String {
    if !naming.many {
        return format!("{}\n{}", item.line, item.hashes);
    }
    let names_of = naming.label(paths);
    let fits = style.width.is_none() || item.columns + "  ".len() + width(&names_of) <= style.room();
    let between = if fits { "  " } else { "\n    " };
    let names = naming.names_below(paths).unwrap_or_default();
    format!("{}{between}{names_of}\n{names}{}", item.line, item.hashes)
}

/// A unified diff without the lines that name the file.
fn without_names(diff: &str) -> &str {
    diff.find("@@").map_or(diff, |at| &diff[at..])
}

fn signers(made: &MadeChanges<'_>, style: Style) -> String {
    let all = || made.iter().flat_map(|(_, changes)| &changes.changes).filter(|change| change.signer.is_some());
    let is_first = |change: &Change| change.standing == Standing::FirstUse;
    let first: BTreeSet<&ProviderAddr> = all().filter(|it| is_first(it)).map(|it| &it.address).collect();
    let mut signers: BTreeMap<(bool, String), BTreeSet<String>> = BTreeMap::new();
    // A first use in one lock file is a pin for the following ones.
    for change in all().filter(|change| is_first(change) || !first.contains(&change.address)) {
        let signed = signed_by_name(change, style).unwrap_or_default();
        signers.entry((is_signed(change), signed)).or_default().insert(style.addr(&change.address));
    }
    signers.into_iter().fold(String::new(), |mut text, ((is_signed, signed), addrs)| {
        let addrs: Vec<String> = addrs.into_iter().collect();
        let line = flow(0, &format!("{}: {}", printable(&signed), addrs.join(", ")), style);
        let _ = writeln!(text, "{}", signer(line, is_signed, style));
        text
    })
}

fn is_signed(change: &Change) -> bool {
    change.signer != Some(Signer::Unsigned)
}

fn signer(line: String, is_signed: bool, style: Style) -> Painted<String> {
    if is_signed { Painted(line, None) } else { style.paint(Paint::Careful, line) }
}

/// What to do next.
pub(super) fn conclusion(made: &MadeChanges<'_>, naming: RootSummary, style: Style) -> String {
    let mut text = match made {
        [(root, changes)] if !naming.many => conclusion_of_one(changes, &root.findings),
        _ => conclusion_of_several(made),
    };
    let mut seen = BTreeSet::new();
    helps(
        &mut text,
        made.iter().flat_map(|(_, changes)| &changes.advice).filter(|it| seen.insert(it.to_string())),
        style,
    );
    text
}

fn conclusion_of_one(changes: &Changes, findings: &[Finding]) -> String {
    let lock = Some(&changes.path).filter(|_| !changes.changed || !changes.lock_stays);
    let files = changes.edited.iter().rev().chain(lock);
    let mut files: Vec<String> = files.map(|file| printable(&shown(file)).into_owned()).collect();
    let path = listed(&files);
    let complete = if changes.keeps_unrequired { "has all that the configuration requires" } else { "is complete" };
    let refused = !changes.written && findings.iter().any(|finding| finding.level() == Level::Deny);
    let trust = changes.trust.as_ref().filter(|trust| trust.written).map(|trust| shown(&trust.path));
    if let Some(trust) = trust {
        let trust = printable(&trust);
        if changes.ignored {
            files.retain(|file| *file != printable(&shown(&changes.path)));
        }
        files.push(trust.to_string());
        return match (changes.written, refused) {
            (true, _) => format!("review and commit {}\n", listed(&files)),
            (false, true) => format!("refused; {path} unchanged; review and commit {trust}\n"),
            (false, false) => format!("{path} {complete}; review and commit {trust}\n"),
        };
    }
    if refused {
        return format!("refused; {path} unchanged\n");
    }
    let only_text = changes.changes.is_empty() && changes.edited.is_empty();
    let only_text = if only_text { " (only its header or layout)" } else { "" };
    match (changes.changed, changes.written) {
        (false, _) if changes.need == Need::Needless => {
            "no provider is required, so no lock file is needed\n".to_owned()
        }
        (false, _) if changes.need == Need::Unchecked => {
            format!("{path}: these checks found nothing to change\n")
        }
        (false, _) if changes.upgrading => {
            format!("already at the newest allowed versions; {path} unchanged\n")
        }
        (false, _) if changes.requirements_unread => format!("{path}: hashes complete; requirements not read\n"),
        (false, _) => format!("{path} {complete}; nothing to do\n"),
        (true, true) if changes.ignored => format!("wrote {path}{only_text}, which Git ignores\n"),
        (true, true) => format!("review and commit {path}{only_text}\n"),
        (true, false) => format!("{path} would change{only_text}; nothing was written\n"),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

fn conclusion_of_several(made: &MadeChanges<'_>) -> String {
    let written: Vec<&Changes> = of(made, |changes| changes.written).collect();
    let edited: BTreeSet<&Path> =
        written.iter().flat_map(|changes| &changes.edited).map(std::path::PathBuf::as_path).collect();
    let trust: BTreeSet<&Path> = of(made, |_| true)
        .filter_map(|changes| changes.trust.as_ref())
        .filter(|trust| trust.written)
        .map(|trust| trust.path.as_path())
        .collect();
    let lock_files =
        written.iter().filter(|changes| !changes.lock_stays).map(|changes| changes.path.as_path()).collect();
    let files = [(edited, "configuration files"), (lock_files, "lock files"), (trust, "trust files")];
    let files: Vec<String> = files.into_iter().filter_map(|(paths, word)| named_files(&paths, word)).collect();
    if files.is_empty() {
        return String::new();
    }
    let compare = if of(made, remembers_unknown_key).next().is_some() {
        "compare each fingerprint with what its publisher announces, then "
    } else {
        ""
    };
    format!("{compare}review and commit {}\n", listed(&files))
}

/// True if the trust file remembers a key that is not well known for its provider.
fn remembers_unknown_key(changes: &Changes) -> bool {
    let trust = changes.trust.as_ref().filter(|trust| trust.written);
    let mut pinned = trust.into_iter().flat_map(|trust| &trust.pinned);
    pinned.any(|(addr, signer)| signer.key().is_some_and(|key| publisher(addr).is_none_or(|it| !it.has(key))))
}

fn of<'a>(made: &'a MadeChanges<'_>, which: impl Fn(&Changes) -> bool) -> impl Iterator<Item = &'a Changes> {
    made.iter().map(|(_, changes)| *changes).filter(move |changes| which(changes))
}

/// A file by name, several files by their number.
fn named_files(paths: &BTreeSet<&Path>, word: &str) -> Option<String> {
    let first = paths.first()?;
    Some(if paths.len() == 1 { printable(&shown(first)).into_owned() } else { format!("{} {word}", paths.len()) })
}

/// True if the line of a signer already says what the finding says.
pub(super) fn covers(root: &RootOutcome, finding: &Finding) -> bool {
    let Ok(Body::Changes(changes)) = &root.body else {
        return false;
    };
    let of = |change: &&Change| Some(&change.address) == finding.address.as_ref();
    finding.rule == Rule::FirstUse && changes.changes.iter().find(of).is_some_and(|change| change.signer.is_some())
}

/// True if `--quiet` hides the conclusion: the change was written, or there was none.
pub(super) fn is_settled_quietly(changes: &Changes, style: Style) -> bool {
    style.detail == Detail::Quiet && (changes.written || !changes.changed)
}

/// The signers that are remembered now and not shown next to a release, each with its providers.
fn remembered(made: &MadeChanges<'_>, style: Style) -> String {
    let mut signers: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for (_, changes) in made {
        for (trust, addr, signer) in pinned_alone(changes) {
            let would = if trust.written { "" } else { "would be " };
            let known = publisher(addr).filter(|it| signer.key().is_some_and(|key| it.has(key)));
            let known = known.map(|it| format!(" ({}, well-known key)", it.name)).unwrap_or_default();
            signers.entry((would, signed_by(signer) + &known)).or_default().insert(style.addr(addr));
        }
    }
    // By provider; the order of fingerprints says nothing.
    let mut lines: Vec<_> = signers.into_iter().map(|((would, signed), addrs)| (addrs, would, signed)).collect();
    lines.sort();
    let mut text = String::new();
    for (addrs, would, signed) in lines {
        let addrs = addrs.into_iter().collect::<Vec<_>>().join(", ");
        let line = format!("{would}remembered: {}: {addrs}", printable(&signed));
        let _ = writeln!(text, "{}", flow(0, &line, style));
    }
    text
}

/// The signers that the trust file remembers now, of providers without a release that says so.
fn pinned_alone(changes: &Changes) -> impl Iterator<Item = (&TrustChange, &ProviderAddr, &Signer)> {
    let is_shown = move |addr: &ProviderAddr| {
        changes.changes.iter().any(|change| change.address == *addr && change.signer.is_some())
    };
    let pinned =
        changes.trust.iter().flat_map(|trust| trust.pinned.iter().map(move |(addr, signer)| (trust, addr, signer)));
    pinned.filter(move |(_, addr, _)| !is_shown(addr))
}

/// The other changes of the trust file.
fn learned(trust: &TrustChange, style: Style) -> Vec<String> {
    let would = if trust.written { "" } else { "would be " };
    let denied = trust.denied.iter().map(|key| format!("{would}denied from now on: {key} (revoked)"));
    let republished = trust.republished.iter();
    let republished = republished.map(|(addr, version)| {
        let file = shown(&trust.path);
        format!("{would}recorded in {}: the republished {} {version} is accepted", printable(&file), style.addr(addr))
    });
    denied.chain(republished).collect()
}

fn painted(line: &str, style: Style) -> Painted<&str> {
    match line.as_bytes().first() {
        Some(b'+') => style.paint(Paint::Good, line),
        Some(b'-') => style.paint(Paint::Bad, line),
        Some(b'@') => style.paint(Paint::Aside, line),
        _ => Painted(line, None),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ChangeItem {
    /// A line without its end; wrapped on a terminal.
    pub(super) line: String,
    pub(super) columns: usize,
    pub(super) hashes: String,
}

impl ChangeItem {
    /// The item for a change of the text that affects no entry.
    pub(super) fn of_text() -> Self {
        let line = "~ only the header or the layout of the lock file".to_owned();
        Self { columns: width(&line), line, hashes: String::new() }
    }
}

fn item(change: &Change, constraints: Option<String>, style: Style) -> ChangeItem {
    let (sign, paint) = sign(change.kind, None);
    let sign = style.paint(paint, sign);
    let head = format!("{} {}", style.addr(&change.address), versions(change));
    let before = "+ ".len() + width(&head);
    let parts = parts(change, constraints).join("; ");
    let parts = if parts.is_empty() { parts } else { format!("  {}", flow(before + "  ".len(), &parts, style)) };
    let columns = parts.rsplit_once('\n').map_or(before + width(&parts), |(_, last)| width(last));
    let mut hashes = String::new();
    if style.detail == Detail::Verbose {
        each_hash(&mut hashes, change);
    }
    ChangeItem { line: format!("{sign} {head}{parts}").trim_end().to_owned(), columns, hashes }
}

/// The parts of a change, in a few words each.
fn parts(change: &Change, constraints: Option<String>) -> Vec<String> {
    if change.kind == ChangeKind::Removed {
        return vec!["removed".to_owned()];
    }
    let moved = change.moved_from.as_ref().map(|from| format!("moved from {}", printable(&from.to_string())));
    let downgraded = (change.kind == ChangeKind::Downgraded).then(|| "downgraded".to_owned());
    let mut parts: Vec<String> = downgraded.into_iter().chain(moved).chain(constraints).collect();
    let mut hashes = added(change);
    if let Some(first) = hashes.first_mut() {
        first.insert_str(0, "new: ");
    }
    parts.extend(hashes);
    // Another release always replaces all hashes, so their removal is not mentioned.
    if matches!(change.kind, ChangeKind::HashesChanged | ChangeKind::HashesReplaced)
        && !change.hashes_removed.is_empty()
    {
        parts.push(format!("removed: {}", counted(&change.hashes_removed)));
    }
    parts
}

fn constraints(change: &Change) -> Option<String> {
    let (old, new) = change.old.as_ref().zip(change.new.as_ref())?;
    if old.constraints == new.constraints {
        return None;
    }
    let [old, new] = [old, new].map(|entry| match entry.constraints.to_string() {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    });
    Some(format!("constraints: {new} (were {old})"))
}

fn added(change: &Change) -> Vec<String> {
    let of = |scheme| -> Vec<&AddedHash> {
        change.hashes_added.iter().filter(|added| added.hash.scheme() == scheme).collect()
    };
    let (known, unknown): (Vec<&AddedHash>, Vec<&AddedHash>) =
        of(HashScheme::H1).into_iter().partition(|added| !added.platforms.is_empty());
    let mut parts = Vec::new();
    if !known.is_empty() {
        let mut platforms: Vec<&str> = known.iter().flat_map(|added| &added.platforms).map(Platform::as_str).collect();
        platforms.sort_unstable();
        platforms.dedup();
        parts.push(format!("h1 for {}{}", printable(&platforms.join(", ")), evidence_label(&known)));
    }
    for (hashes, word) in [(unknown, "h1"), (of(HashScheme::Zh), "zh"), (of(HashScheme::Other), "other")] {
        if !hashes.is_empty() {
            parts.push(format!("{} {word}{}", hashes.len(), evidence_label(&hashes)));
        }
    }
    parts
}

/// What attests the weakest hash, each judged by its best evidence; empty for hashes computed here.
fn evidence_label(hashes: &[&AddedHash]) -> &'static str {
    let weakest = hashes.iter().map(|added| added.evidence.iter().map(strength).max()).min();
    weakest.flatten().map_or(" (not attested)", |(_, label)| label)
}

/// How much evidence counts, and its label.
fn strength(evidence: &Evidence) -> (u8, &'static str) {
    match evidence {
        Evidence::Recorded => (1, " (already recorded)"),
        Evidence::ReportedByIndex(_) => (2, " (from the shared index, not verified here)"),
        Evidence::ReportedByMirror => (3, " (reported by a mirror)"),
        Evidence::ReportedByOrigin => (4, " (reported by the origin, unsigned)"),
        Evidence::Computed => (5, ""),
        Evidence::Signed(_) => (6, " (signed)"),
    }
}

fn counted(hashes: &[PackageHash]) -> String {
    let counts = [(HashScheme::H1, "h1"), (HashScheme::Zh, "zh"), (HashScheme::Other, "other")]
        .map(|(scheme, word)| (hashes.iter().filter(|hash| hash.scheme() == scheme).count(), word));
    nonzero(counts)
}

fn each_hash(text: &mut String, change: &Change) {
    for checksum in checksums(change) {
        let line = if checksum.is_added {
            let platforms = if checksum.platforms.is_empty() { "?".to_owned() } else { checksum.platforms.join(",") };
            let evidence: Vec<&str> = checksum.evidence.iter().map(Evidence::as_str).collect();
            format!("+ {} {platforms} {}", checksum.hash, evidence.join(", "))
        } else {
            checksum.line()
        };
        let _ = writeln!(text, "    {}", printable(&line));
    }
}

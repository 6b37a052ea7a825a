//! The changes of `lock` and related commands for users.

use std::fmt::Write;

use super::modules;
use crate::addr::ProviderAddr;
use crate::count::nonzero;
use crate::diff::{AddedHash, Change, ChangeKind};
use crate::evidence::Evidence;
use crate::finding::{Finding, Level, Rule};
use crate::hash::{HashScheme, PackageHash};
use crate::outcome::{Changes, Need, TrustChange};
use crate::platform::Platform;
use crate::report::annotation::{signed, versions};
use crate::report::paint::{Paint, Painted};
use crate::report::wrap::{flow, width};
use crate::report::{Detail, Style, printable, shown};
use crate::trust::pins::Signer;
use crate::trust::words::by;

/// One line for each entry, the signers of releases that are new to the file, and the diff, if any.
pub(super) fn changes(changes: &Changes, style: Style) -> String {
    let mut text = String::new();
    for change in &changes.changes {
        let Item { line, hashes, .. } = item(change, style);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{line}");
        signer(&mut text, change, style);
        text.push_str(&hashes);
    }
    text.push_str(&modules::changes(changes.modules.iter().map(|change| (change, 1)), style));
    for line in changes.trust.iter().flat_map(|trust| learned(changes, trust, style)) {
        let _ = writeln!(text, "{line}");
    }
    text + &diff(changes.diff.as_deref().unwrap_or_default(), style)
}

pub(super) fn diff(diff: &str, style: Style) -> String {
    diff.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{}", painted(&printable(line), style));
        text
    })
}

/// True if the line of a signer already says what the finding says.
pub(super) fn covers(changes: &Changes, finding: &Finding) -> bool {
    let of = |change: &&Change| Some(&change.address) == finding.address.as_ref();
    finding.rule == Rule::FirstUse && changes.changes.iter().find(of).is_some_and(|change| change.signer.is_some())
}

/// True if `--quiet` hides the conclusion: the change was written, or there was none.
pub(super) fn is_settled_quietly(changes: &Changes, style: Style) -> bool {
    style.detail == Detail::Quiet && (changes.written || !changes.changed)
}

pub(super) fn conclusion(changes: &Changes, findings: &[Finding]) -> String {
    let lock = Some(&changes.path).filter(|_| !changes.changed || !changes.lock_stays);
    let files = changes.edited.iter().rev().chain(lock);
    let mut files: Vec<String> = files.map(|file| printable(&shown(file)).into_owned()).collect();
    let path = listed(&files);
    let refused = !changes.written && findings.iter().any(|finding| finding.level == Level::Deny);
    let trust = changes.trust.as_ref().filter(|trust| trust.written).map(|trust| shown(&trust.path));
    if let Some(trust) = trust {
        let trust = printable(&trust);
        files.push(trust.to_string());
        return match (changes.written, refused) {
            (true, _) => format!("review and commit {}\n", listed(&files)),
            (false, true) => format!("refused; {path} unchanged; review and commit {trust}\n"),
            (false, false) => format!("{path} is complete; review and commit {trust}\n"),
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
        (false, _) if changes.need == Need::Unchecked => format!("{path}: these checks found nothing to change\n"),
        (false, _) if changes.upgrading => format!("already at the newest allowed versions; {path} unchanged\n"),
        (false, _) => format!("{path} is complete; nothing to do\n"),
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

/// The changes of the trust file, except signers that are shown next to their release.
pub(super) fn learned(changes: &Changes, trust: &TrustChange, style: Style) -> Vec<String> {
    let would = if trust.written { "" } else { "would be " };
    let parts =
        |addr: &ProviderAddr| changes.changes.iter().any(|change| change.address == *addr && change.signer.is_some());
    let pinned = trust.pinned.iter().filter(|(addr, _)| !parts(addr));
    let pinned = pinned.map(|(addr, signer)| format!("{would}remembered: {} is {}", style.addr(addr), by(signer)));
    let denied = trust.denied.iter().map(|key| format!("{would}denied from now on: {key} (revoked)"));
    let republished = trust.republished.iter();
    let republished = republished.map(|(addr, version)| {
        format!("{would}recorded: another release of {} {version} was accepted", style.addr(addr))
    });
    pinned.chain(denied).chain(republished).collect()
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
pub(super) struct Item {
    /// A line without its end; wrapped on a terminal.
    pub(super) line: String,
    pub(super) columns: usize,
    pub(super) hashes: String,
}

impl Item {
    /// The item for a change of the text that affects no entry.
    pub(super) fn of_text() -> Self {
        let line = "~ only the header or the layout of the lock file".to_owned();
        Self { columns: width(&line), line, hashes: String::new() }
    }
}

pub(super) fn item(change: &Change, style: Style) -> Item {
    let (sign, paint) = match change.kind {
        ChangeKind::Added => ('+', Paint::Good),
        ChangeKind::Removed => ('-', Paint::Bad),
        ChangeKind::Downgraded => ('~', Paint::Bad),
        ChangeKind::HashesReplaced => ('!', Paint::Bad),
        ChangeKind::Upgraded | ChangeKind::ConstraintsChanged | ChangeKind::HashesChanged | ChangeKind::Moved => {
            ('~', Paint::Careful)
        }
    };
    let sign = style.paint(paint, sign);
    let head = format!("{} {}", style.addr(&change.address), versions(change));
    let before = "+ ".len() + width(&head);
    let parts = parts(change).join("; ");
    let parts = if parts.is_empty() { parts } else { format!("  {}", flow(before + "  ".len(), &parts, style)) };
    let columns = parts.rsplit_once('\n').map_or(before + width(&parts), |(_, last)| width(last));
    let mut hashes = String::new();
    if style.detail == Detail::Verbose {
        each_hash(&mut hashes, change);
    }
    Item { line: format!("{sign} {head}{parts}").trim_end().to_owned(), columns, hashes }
}

/// The parts of a change, in a few words each.
fn parts(change: &Change) -> Vec<String> {
    if change.kind == ChangeKind::Removed {
        return vec!["removed".to_owned()];
    }
    let moved = change.moved_from.as_ref().map(|from| format!("moved from {}", printable(&from.to_string())));
    let downgraded = (change.kind == ChangeKind::Downgraded).then(|| "downgraded".to_owned());
    let mut parts: Vec<String> = downgraded.into_iter().chain(moved).chain(constraints(change)).collect();
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

fn constraints(change: &Change) -> Vec<String> {
    let Some((old, new)) = change.old.as_ref().zip(change.new.as_ref()) else { return Vec::new() };
    if old.constraints == new.constraints {
        return Vec::new();
    }
    let [old, new] = [old, new].map(|entry| match entry.constraints.to_string() {
        none if none.is_empty() => "none".to_owned(),
        some => some,
    });
    vec![format!("constraints: {new} (were {old})")]
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

/// The strength of the weakest hash, each judged by its best evidence; empty for hashes computed here.
fn evidence_label(hashes: &[&AddedHash]) -> &'static str {
    match hashes.iter().map(|added| added.evidence.iter().map(strength).max().unwrap_or(0)).min() {
        Some(6) => " (signed)",
        Some(5) => "",
        Some(4) => " (reported by the origin, unsigned)",
        Some(3) => " (reported by a mirror)",
        Some(2) => " (from the shared index, not verified here)",
        Some(1) => " (already recorded)",
        _ => " (not attested)",
    }
}

fn strength(evidence: &Evidence) -> u8 {
    match evidence {
        Evidence::Signed(_) => 6,
        Evidence::Computed => 5,
        Evidence::ReportedByOrigin => 4,
        Evidence::ReportedByMirror => 3,
        Evidence::ReportedByIndex(_) => 2,
        Evidence::Recorded => 1,
    }
}

fn counted(hashes: &[PackageHash]) -> String {
    let counts = [(HashScheme::H1, "h1"), (HashScheme::Zh, "zh"), (HashScheme::Other, "other")]
        .map(|(scheme, word)| (hashes.iter().filter(|hash| hash.scheme() == scheme).count(), word));
    nonzero(counts)
}

fn signer(text: &mut String, change: &Change, style: Style) {
    let Some(signed) = signed(change) else { return };
    let signed = flow(4, &printable(&signed), style);
    let _ = match &change.signer {
        Some(Signer::Unsigned) => writeln!(text, "    {}", style.paint(Paint::Careful, signed)),
        _ => writeln!(text, "    {signed}"),
    };
}

fn each_hash(text: &mut String, change: &Change) {
    for added in &change.hashes_added {
        let platforms: Vec<&str> = added.platforms.iter().map(Platform::as_str).collect();
        let platform = if platforms.is_empty() { "?".to_owned() } else { platforms.join(",") };
        let evidence: Vec<&str> = added.evidence.iter().map(Evidence::as_str).collect();
        let line = format!("{} {platform} {}", added.hash, evidence.join(", "));
        let _ = writeln!(text, "    + {}", printable(&line));
    }
    for hash in &change.hashes_removed {
        let _ = writeln!(text, "    - {}", printable(hash.as_str()));
    }
}

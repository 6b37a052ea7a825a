//! One change of `lock` and related commands for users.

use std::fmt::Write;

use crate::count::nonzero;
use crate::diff::{AddedHash, Change, ChangeKind};
use crate::evidence::Evidence;
use crate::hash::{HashScheme, PackageHash};
use crate::platform::Platform;
use crate::report::annotation::versions;
use crate::report::paint::Paint;
use crate::report::wrap::{flow, width};
use crate::report::{Detail, Style, printable};

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

//! What `diff` explains, for people: one line for each provider, the dangerous ones with what must be known.

use std::fmt::Write;

use crate::diff::{Change, ChangeKind};
use crate::diff::{Explanation, Risk, explain, explain_text, headline, risk, verdict_words};
use crate::evidence::Verdict;
use crate::hash::PackageHash;
use crate::outcome::Changes;
use crate::platform::Platform;
use crate::report::annotation::{signed, versions};
use crate::report::paint::Paint;
use crate::report::summary::{of_changes, unanswered, unchecked};
use crate::report::wrap::{width, wrap};
use crate::report::{Detail, Style, printable, slashed};

/// Sentences are no wider even where there is more room.
const PROSE: usize = 100;

/// The widest columns of addresses and of versions; what is wider pushes the rest aside.
const WIDEST: [usize; 2] = [34, 20];

/// A change as it is told: equal ones of many lock files once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Item {
    /// How loud it is.
    pub(super) risk: Risk,
    /// What happened.
    pub(super) line: String,
    /// Why, and what follows; empty for what is not loud.
    words: String,
}

impl Item {
    pub(super) fn of(change: &Change, columns: [usize; 2], style: Style) -> Self {
        let risk = risk(change);
        let loud = risk == Risk::Dangerous && style.detail > Detail::Quiet;
        let words = if loud { explanation(&explain(change), style) } else { String::new() };
        Self { risk, line: line(change, risk, columns, style), words }
    }

    /// Why it happened, unless that was told already.
    pub(super) fn explanation(self, told: &mut Vec<String>) -> String {
        if told.contains(&self.words) {
            return String::new();
        }
        told.push(self.words.clone());
        self.words
    }
}

pub(super) fn review(changes: &Changes, style: Style) -> String {
    let mut text = title(changes, style);
    let columns = columns(&changes.changes, style);
    let mut told = Vec::new();
    for change in &changes.changes {
        if style.detail == Detail::Verbose {
            text.push_str(&line(change, risk(change), columns, style));
            text.push_str(&explanation(&explain(change), style));
            release(&mut text, change, style);
            hashes(&mut text, change, style);
        } else {
            // What holds for many is said once.
            let item = Item::of(change, columns, style);
            text.push_str(&item.line);
            text.push_str(&item.explanation(&mut told));
        }
    }
    text + &beside(changes, style)
}

/// What changed beside the entries; nothing if nothing did.
pub(super) fn beside(changes: &Changes, style: Style) -> String {
    let Some((what, words)) = explain_text(changes.text) else { return String::new() };
    let paint = if changes.text.removed { Paint::Bad } else { Paint::Aside };
    let mut text = format!("  {}\n", style.paint(paint, what));
    let loud = changes.text.removed && style.detail > Detail::Quiet;
    if loud || style.detail == Detail::Verbose {
        text.push_str(&explanation(&words, style));
    }
    text
}

/// The last lines: how much of what, and how to see more.
pub(super) fn conclusion(all: &[&Changes], style: Style) -> String {
    let mut text = String::new();
    if all.is_empty() {
        return text;
    }
    let (unanswered, others) = unanswered(all.iter().flat_map(|changes| &changes.inconclusive));
    for error in unanswered {
        let told = format!("not checked: {}", printable(&error.message));
        text.push_str(&paragraph("", &told, Paint::Careful, style));
        for hint in &error.hints {
            text.push_str(&paragraph("  ", &printable(hint), Paint::Aside, style));
        }
    }
    if others > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "not checked either: {others} more, for lack of an answer");
    }
    text.push_str(&paragraph("", &of_changes(all), Paint::Strong, style));
    let changed = all.iter().any(|changes| !changes.changes.is_empty());
    if changed && style.detail == Detail::Verbose {
        text.push_str("h1: a checksum over the contents of a package, zh: one over its archive\n");
    }
    let more = changed && style.detail == Detail::Normal;
    if more {
        text.push_str("`-v` tells why, what follows, and lists each checksum\n");
    }
    if more && !all.iter().any(|changes| changes.asked) && unchecked(all) > 0 {
        text.push_str("`--online` asks the registries who vouches for the new checksums\n");
    }
    text
}

fn title(changes: &Changes, style: Style) -> String {
    let Some([old, new]) = &changes.sides else { return String::new() };
    let title = format!("{}: {old} -> {new}", slashed(&changes.path));
    paragraph("", &printable(&title), Paint::Strong, style)
}

/// A text in lines behind an indent.
pub(super) fn paragraph(indent: &str, what: &str, paint: Paint, style: Style) -> String {
    let room = style.room().min(if style.width.is_some() { PROSE } else { usize::MAX }) - indent.len();
    wrap(what, room, room).into_iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{indent}{}", style.paint(paint, line));
        text
    })
}

/// How wide the columns of addresses and of versions are.
pub(super) fn columns<'a>(changes: impl IntoIterator<Item = &'a Change>, style: Style) -> [usize; 2] {
    changes.into_iter().fold([0; 2], |[addr, version], change| {
        let widest =
            |most: usize, text: &str, limit: usize| most.max(Some(width(text)).filter(|it| *it <= limit).unwrap_or(0));
        [widest(addr, &style.addr(&change.address), WIDEST[0]), widest(version, &versions(change), WIDEST[1])]
    })
}

fn line(change: &Change, risk: Risk, columns: [usize; 2], style: Style) -> String {
    let (sign, paint) = sign(risk, change.kind);
    let pad = |cell: &str, column: usize| " ".repeat(column.saturating_sub(width(cell)));
    let (addr, versions) = (style.addr(&change.address), versions(change));
    let head = format!("{addr}{}  {versions}{}", pad(&addr, columns[0]), pad(&versions, columns[1]));
    let told = headline(change).join("; ");
    // What does not fit beside the columns goes on below, under its beginning if there is enough room.
    let room = style.room().saturating_sub(4 + width(&head));
    let widest = told.split(' ').map(width).max().unwrap_or(0);
    let below = if room >= widest.max(24) { room } else { style.room() - 8 };
    let lines = wrap(&printable(&told), room, below);
    let loud = risk == Risk::Dangerous;
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = style.paint(if loud { Paint::Bad } else { Paint::Aside }, line);
        let _ = match at {
            0 if lines[0].is_empty() => writeln!(text, "{} {}", style.paint(paint, sign), head.trim_end()),
            0 => writeln!(text, "{} {head}  {line}", style.paint(paint, sign)),
            _ => writeln!(text, "{}{line}", " ".repeat(style.room() - below)),
        };
    }
    text
}

fn sign(risk: Risk, kind: ChangeKind) -> (char, Paint) {
    match (risk, kind) {
        (Risk::Dangerous, _) => ('!', Paint::Bad),
        (_, ChangeKind::Added) => ('+', Paint::Good),
        (_, ChangeKind::Removed) => ('-', Paint::Bad),
        (Risk::Notable, _) => ('~', Paint::Careful),
        (Risk::Routine, _) => ('~', Paint::Aside),
    }
}

fn explanation(words: &Explanation, style: Style) -> String {
    let mut text = String::new();
    if !words.warning.is_empty() {
        text.push_str(&paragraph("    ", &printable(&words.warning), Paint::Bad, style));
    }
    for (label, words) in [("why: ", &words.cause), ("then:", &words.consequence)] {
        if !words.is_empty() {
            text.push_str(&labelled(label, &printable(words), style));
        }
    }
    text
}

/// A label, and beside it a text in lines.
fn labelled(label: &str, what: &str, style: Style) -> String {
    let indent = 4 + width(label) + 1;
    let room = style.room().min(if style.width.is_some() { PROSE } else { usize::MAX }) - indent;
    let mut text = String::new();
    for (at, line) in wrap(what, room, room).iter().enumerate() {
        let _ = match at {
            0 => writeln!(text, "    {label} {line}"),
            _ => writeln!(text, "{}{line}", " ".repeat(indent)),
        };
    }
    text
}

/// Who signed the release, and where its publisher tells about it; a URL is never broken.
fn release(text: &mut String, change: &Change, style: Style) {
    if let Some(signed) = signed(change) {
        text.push_str(&labelled("by:  ", &printable(&signed), style));
    }
    if let Some(link) = &change.link {
        let _ = writeln!(text, "    see:  {}", printable(link.as_str()));
    }
}

/// Each checksum that came or went, under what is known of it.
fn hashes(text: &mut String, change: &Change, style: Style) {
    let added: Vec<&PackageHash> = change.hashes_added.iter().map(|added| &added.hash).collect();
    let removed: Vec<&PackageHash> = change.hashes_removed.iter().collect();
    for (sign, word, paint, hashes) in [('+', "new", Paint::Good, added), ('-', "gone", Paint::Bad, removed)] {
        for (verdict, title) in groups(&hashes, change) {
            let _ = writeln!(text, "    {word}{title}:");
            for hash in hashes.iter().filter(|hash| verdict_of(change, hash) == verdict) {
                let platforms = change.judged.get(*hash).into_iter().flat_map(|judged| &judged.platforms);
                let words: Vec<&str> = [hash.as_str()].into_iter().chain(platforms.map(Platform::as_str)).collect();
                let line = format!("{sign} {}", words.join(" "));
                let _ = writeln!(text, "      {}", style.paint(paint, printable(&line)));
            }
        }
    }
}

fn groups(hashes: &[&PackageHash], change: &Change) -> Vec<(Option<Verdict>, String)> {
    let mut verdicts: Vec<Option<Verdict>> = hashes.iter().map(|hash| verdict_of(change, hash)).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    let title = |verdict: Option<Verdict>| {
        verdict.map(|verdict| format!(", {}", verdict_words(verdict, change))).unwrap_or_default()
    };
    verdicts.into_iter().map(|verdict| (verdict, title(verdict))).collect()
}

fn verdict_of(change: &Change, hash: &PackageHash) -> Option<Verdict> {
    change.judged.get(hash).map(|judged| judged.verdict)
}

//! What `diff` explains, for people: one line for each provider, the dangerous ones with what must be known.

use std::fmt::Write;

use crate::diff::{Explanation, Risk, explain, explain_text, headline, risk};
use crate::evidence::Verdict;
use crate::hash::PackageHash;
use crate::outcome::{Change, ChangeKind, Changes};
use crate::report::annotation::{signed, versions};
use crate::report::paint::Paint;
use crate::report::summary::{of_changes, unanswered, unchecked};
use crate::report::wrap::{width, wrap};
use crate::report::{Detail, Style, printable, slashed};

/// Lines are no wider, unless an address is.
const WIDTH: usize = 80;

/// The widest columns of addresses and of versions; what is wider pushes the rest aside.
const WIDEST: [usize; 2] = [34, 20];

pub(super) fn review(changes: &Changes, style: Style) -> String {
    let mut text = String::new();
    title(&mut text, changes, style);
    let columns = columns(changes, style);
    let mut told: Vec<Explanation> = Vec::new();
    for change in &changes.changes {
        line(&mut text, change, columns, style);
        let loud = risk(change) == Risk::Dangerous && style.detail > Detail::Quiet;
        if style.detail == Detail::Verbose {
            explanation(&mut text, &explain(change));
        } else if loud {
            // What holds for many is said once.
            let words = explain(change);
            if !told.contains(&words) {
                explanation(&mut text, &words);
                told.push(words);
            }
        }
        if style.detail == Detail::Verbose {
            release(&mut text, change);
            hashes(&mut text, change, style);
        }
    }
    if let Some((what, words)) = explain_text(changes.text) {
        let paint = if changes.text.removed { Paint::Bad } else { Paint::Aside };
        let _ = writeln!(text, "  {}", style.paint(paint, what));
        let loud = changes.text.removed && style.detail > Detail::Quiet;
        if loud || style.detail == Detail::Verbose {
            explanation(&mut text, &words);
        }
    }
    text
}

/// The last lines: how much of what, and how to see more.
pub(super) fn conclusion(changes: &Changes, style: Style) -> String {
    let mut text = String::new();
    let (unanswered, others) = unanswered(&changes.inconclusive);
    for error in unanswered {
        let told = format!("not checked: {}", printable(&error.message));
        paragraph(&mut text, "", &told, Paint::Careful, style);
        for hint in &error.hints {
            paragraph(&mut text, "  ", &printable(hint), Paint::Aside, style);
        }
    }
    if others > 0 {
        let _ = writeln!(text, "not checked either: {others} more for want of an answer");
    }
    paragraph(&mut text, "", &of_changes(changes), Paint::Strong, style);
    if !changes.changes.is_empty() && style.detail == Detail::Verbose {
        text.push_str("h1: a checksum over the contents of a package, zh: one over its archive\n");
    }
    let more = !changes.changes.is_empty() && style.detail == Detail::Normal;
    if more {
        text.push_str("`-v` tells why, what follows, and lists each checksum\n");
    }
    if more && !changes.asked && unchecked(changes) > 0 {
        text.push_str("`--online` asks the registries who vouches for the new checksums\n");
    }
    text
}

fn title(text: &mut String, changes: &Changes, style: Style) {
    let Some([old, new]) = &changes.sides else { return };
    let title = format!("{}: {old} -> {new}", slashed(&changes.path));
    paragraph(text, "", &printable(&title), Paint::Strong, style);
}

/// A text in lines behind an indent.
fn paragraph(text: &mut String, indent: &str, what: &str, paint: Paint, style: Style) {
    for line in wrap(what, WIDTH - indent.len(), WIDTH - indent.len()) {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{indent}{}", style.paint(paint, line));
    }
}

fn columns(changes: &Changes, style: Style) -> [usize; 2] {
    let widest = |of: &dyn Fn(&Change) -> usize, most: usize| {
        changes.changes.iter().map(of).filter(|width| *width <= most).max().unwrap_or(0)
    };
    [
        widest(&|change| width(&style.addr(&change.address)), WIDEST[0]),
        widest(&|change| width(&versions(change)), WIDEST[1]),
    ]
}

fn line(text: &mut String, change: &Change, columns: [usize; 2], style: Style) {
    let (sign, paint) = sign(change);
    let pad = |cell: &str, column: usize| " ".repeat(column.saturating_sub(width(cell)));
    let (addr, versions) = (style.addr(&change.address), versions(change));
    let head = format!("{addr}{}  {versions}{}", pad(&addr, columns[0]), pad(&versions, columns[1]));
    let told = headline(change).join("; ");
    // What does not fit beside the columns goes on below, under its beginning if there is enough room.
    let room = WIDTH.saturating_sub(4 + width(&head));
    let widest = told.split(' ').map(width).max().unwrap_or(0);
    let below = if room >= widest.max(24) { room } else { WIDTH - 8 };
    let lines = wrap(&printable(&told), room, below);
    let loud = risk(change) == Risk::Dangerous;
    for (at, line) in lines.iter().enumerate() {
        let line = style.paint(if loud { Paint::Bad } else { Paint::Aside }, line);
        let _ = match at {
            0 if lines[0].is_empty() => writeln!(text, "{} {}", style.paint(paint, sign), head.trim_end()),
            0 => writeln!(text, "{} {head}  {line}", style.paint(paint, sign)),
            _ => writeln!(text, "{}{line}", " ".repeat(WIDTH - below)),
        };
    }
}

fn sign(change: &Change) -> (char, Paint) {
    match (risk(change), change.kind) {
        (Risk::Dangerous, _) => ('!', Paint::Bad),
        (_, ChangeKind::Added) => ('+', Paint::Good),
        (_, ChangeKind::Removed) => ('-', Paint::Bad),
        (Risk::Notable, _) => ('~', Paint::Careful),
        (Risk::Routine, _) => ('~', Paint::Aside),
    }
}

fn explanation(text: &mut String, words: &Explanation) {
    for (label, words) in [("why: ", &words.cause), ("then:", &words.consequence)] {
        for (at, line) in wrap(&printable(words), WIDTH - 10, WIDTH - 10).iter().enumerate() {
            let _ = writeln!(text, "    {} {line}", if at == 0 { label } else { "     " });
        }
    }
}

/// Who signed the release, and where its publisher tells about it; a URL is never broken.
fn release(text: &mut String, change: &Change) {
    for (at, line) in signed(change).iter().flat_map(|signed| wrap(signed, WIDTH - 10, WIDTH - 10)).enumerate() {
        let _ = writeln!(text, "    {} {}", if at == 0 { "by:  " } else { "     " }, printable(&line));
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
                let platform = change.judged.get(*hash).and_then(|judged| judged.platform.as_ref());
                let platform = platform.map(|platform| format!(" {platform}")).unwrap_or_default();
                let line = format!("{sign} {hash}{platform}");
                let _ = writeln!(text, "      {}", style.paint(paint, printable(&line)));
            }
        }
    }
}

fn groups(hashes: &[&PackageHash], change: &Change) -> Vec<(Option<Verdict>, String)> {
    let mut verdicts: Vec<Option<Verdict>> = hashes.iter().map(|hash| verdict_of(change, hash)).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    let title = |verdict: Option<Verdict>| verdict.map(|verdict| format!(", {}", verdict.words())).unwrap_or_default();
    verdicts.into_iter().map(|verdict| (verdict, title(verdict))).collect()
}

fn verdict_of(change: &Change, hash: &PackageHash) -> Option<Verdict> {
    change.judged.get(hash).map(|judged| judged.verdict)
}

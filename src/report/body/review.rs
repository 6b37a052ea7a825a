//! The result of `diff` for users: one line for each change, with an explanation of dangerous ones. The lines of changed module locks
//! are those of every command.

use std::collections::HashSet;
use std::fmt::Write;

use crate::diff::{Change, Explanation, Risk, TextChange, explain_text, verdict_words};
use crate::modulelock::{ModuleChange, ModuleChangeKind};
use crate::report::change::{build_pages, checksums, release_facts, sign, versions};
use crate::report::groups::{ChangeGroup, Changed, RootSummary, root_modules, shared_items};
use crate::report::layout::{width, wrap};
use crate::report::opening::most_dangerous;
use crate::report::parts::{Part, TextLine};
use crate::report::style::{Detail, Paint, Style};
use crate::report::summary::unanswered;
use crate::report::{printable, shown};

/// The widest line of prose, even on wider terminals.
const PROSE: usize = 100;

/// The widest columns of addresses and of versions; longer values shift the rest of the line.
const WIDEST: [usize; 2] = [34, 20];

/// Each change once, with its root modules if there are several.
pub(super) fn review(changed: &Changed<'_>, naming: RootSummary, style: Style) -> String {
    let first = most_dangerous(changed, style).map(|(risk, line)| {
        let paint = if risk == Risk::Dangerous { Paint::Bad } else { Paint::Careful };
        paragraph("", &line, paint, style)
    });
    let mut text = first.unwrap_or_default() + &title(changed, style);
    let several = changed.files.len() > 1;
    let columns = columns(changed, style);
    let mut printed = HashSet::new();
    for group in &changed.groups {
        let line = line(group, columns, style);
        text.push_str(&line);
        if several {
            text.push_str(&within(&naming.each(&group.roots()), style));
        }
        if style.detail == Detail::Verbose {
            text.push_str(&explanation(&group.explanation(), style));
            release(&mut text, group, style);
            hashes(&mut text, &group.change, style);
        } else if group.risk == Risk::Dangerous && style.detail > Detail::Quiet {
            // An explanation that applies to several changes is printed once.
            let words = explanation(&group.explanation(), style);
            if printed.insert(words.clone()) {
                text.push_str(&words);
            }
        }
    }
    for (change, roots) in shared_items(changed.texts()) {
        let besides = besides(change, style);
        let named = several && !besides.is_empty();
        text.push_str(&besides);
        if named {
            text.push_str(&within(&naming.each(&roots), style));
        }
    }
    text
}

/// The root modules that have a change, on lines of their own.
fn within(names: &str, style: Style) -> String {
    paragraph("    ", &format!("in {names}"), Paint::Aside, style)
}

/// Changes besides the entries; empty if there are none.
fn besides(change: TextChange, style: Style) -> String {
    let Some((what, words)) = explain_text(change) else {
        return String::new();
    };
    let paint = if change.removed { Paint::Bad } else { Paint::Aside };
    let mut text = format!("  {}\n", style.paint(paint, what));
    let loud = change.removed && style.detail > Detail::Quiet;
    if loud || style.detail == Detail::Verbose {
        text.push_str(&explanation(&words, style));
    }
    text
}

/// The last lines: totals, and how to see more.
pub(super) fn conclusion(changed: &Changed<'_>, style: Style) -> String {
    let mut text = String::new();
    if changed.files.is_empty() {
        return text;
    }
    let (unanswered, others) = unanswered(changed.unanswered());
    for error in unanswered {
        let printed = format!("not checked: {}", printable(&error.message));
        text.push_str(&paragraph("", &printed, Paint::Careful, style));
        for hint in &error.hints {
            text.push_str(&paragraph("  ", &printable(&hint.to_string()), Paint::Aside, style));
        }
    }
    if others > 0 {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "not checked either: {others} more, for lack of an answer");
    }
    text.push_str(&paragraph("", &changed.total(), Paint::Strong, style));
    let any = !changed.groups.is_empty();
    if any && style.detail == Detail::Verbose {
        text.push_str("h1: a checksum over the contents of a package, zh: one over its archive\n");
    }
    let more = any && style.detail == Detail::Normal;
    if more {
        text.push_str("use -v for details and every checksum\n");
    }
    let online = changed.files.iter().any(|file| file.review.is_some_and(|review| review.online));
    if more && !online && changed.unchecked > 0 {
        text.push_str("use --online to check the new checksums with the registries\n");
    }
    text
}

/// The compared texts: `live/a/.terraform.lock.hcl: main -> the working tree`, or the number of lock files.
fn title(changed: &Changed<'_>, style: Style) -> String {
    let is_new = matches!(&changed.files[..], [file] if file.review.is_some_and(|review| review.is_new));
    let titles = changed.sides().into_iter().map(|([old, new], paths)| {
        let what = match &paths[..] {
            [one] if changed.files.len() == 1 => shown(one),
            all => format!("{} lock files", all.len()),
        };
        let title = if is_new { format!("{what}: new file") } else { format!("{what}: {old} -> {new}") };
        paragraph("", &printable(&title), Paint::Strong, style)
    });
    titles.collect()
}

fn paragraph(indent: &str, what: &str, paint: Paint, style: Style) -> String {
    let room = style.room().min(if style.width.is_some() { PROSE } else { usize::MAX }) - indent.len();
    wrap(what, room, room).into_iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{indent}{}", style.paint(paint, line));
        text
    })
}

fn columns(changed: &Changed<'_>, style: Style) -> [usize; 2] {
    changed.groups.iter().fold([0; 2], |[addr, version], group| {
        let widest =
            |most: usize, text: &str, limit: usize| most.max(Some(width(text)).filter(|it| *it <= limit).unwrap_or(0));
        let change = &group.change;
        [widest(addr, &style.addr(&change.address), WIDEST[0]), widest(version, &versions(change), WIDEST[1])]
    })
}

fn line(group: &ChangeGroup<'_>, columns: [usize; 2], style: Style) -> String {
    let (change, risk) = (&group.change, group.risk);
    let (sign, paint) = sign(change.kind, Some(risk));
    let pad = |cell: &str, column: usize| " ".repeat(column.saturating_sub(width(cell)));
    let (addr, versions) = (style.addr(&change.address), versions(change));
    let head = format!("{addr}{}  {versions}{}", pad(&addr, columns[0]), pad(&versions, columns[1]));
    // A headline that does not fit next to the columns continues below, under its beginning if there is enough room.
    let room = style.room().saturating_sub(4 + width(&head));
    let widest = group.headline.split(' ').map(width).max().unwrap_or(0);
    let below = if room >= widest.max(24) { room } else { style.room() - 8 };
    let lines = wrap(&printable(&group.headline), room, below);
    let loud = risk == Risk::Dangerous;
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let line = style.paint(if loud { Paint::Bad } else { Paint::Aside }, line);
        let _ = match at {
            0 if lines[0].is_empty() => {
                writeln!(text, "{} {}", style.paint(paint, sign), head.trim_end())
            }
            0 => writeln!(text, "{} {head}  {line}", style.paint(paint, sign)),
            _ => writeln!(text, "{}{line}", " ".repeat(style.room() - below)),
        };
    }
    text
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

/// A label with a wrapped text next to it.
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

/// The signer of the release, its age, what requires it, and the page of its publisher; a URL is never wrapped.
fn release(text: &mut String, group: &ChangeGroup<'_>, style: Style) {
    let change = &group.change;
    let mut facts = release_facts(change, style);
    facts.push(("for: ", group.required_by()));
    for (label, words) in facts.iter().filter(|(label, words)| !label.is_empty() && !words.is_empty()) {
        text.push_str(&labelled(label, &printable(words), style));
    }
    if let Some(link) = &change.link {
        let _ = writeln!(text, "    see:  {}", printable(link.as_str()));
    }
    for (name, url) in build_pages(change) {
        let _ = writeln!(text, "    {name}: {}", printable(&url));
    }
}

/// Each added or removed checksum, grouped by its verdict.
fn hashes(text: &mut String, change: &Change, style: Style) {
    let mut checksums = checksums(change);
    checksums.sort_by_key(|checksum| (!checksum.is_added, checksum.verdict));
    for group in checksums.chunk_by(|one, next| (one.is_added, one.verdict) == (next.is_added, next.verdict)) {
        let (word, paint) = if group[0].is_added { ("new", Paint::Good) } else { ("removed", Paint::Bad) };
        let verdict = group[0].verdict.map(|verdict| format!(", {}", verdict_words(verdict, change)));
        let _ = writeln!(text, "    {word}{}:", verdict.unwrap_or_default());
        for checksum in group {
            let _ = writeln!(text, "      {}", style.paint(paint, printable(&checksum.line())));
        }
    }
}

/// One line for each package whose lock changed, with the number of root modules if there are several.
pub(in crate::report) fn module_changes<'a>(changes: impl IntoIterator<Item = (&'a ModuleChange, usize)>) -> Part {
    let line = |(change, count): (&ModuleChange, usize)| {
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
        let line = TextLine::default().painted(paint, sign).plain(" module ").code(about);
        line.plain(format!("  {}{roots}", change.sentence()))
    };
    Part::Lines(changes.into_iter().map(line).collect())
}
